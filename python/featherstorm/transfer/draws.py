"""Random numbers of an environment, equal to those of the engine: Philox4x32-10 by counter (core/scalar/draws.h).

w = philox(counter = (env, episode, step, 2^16 function + floor(slot / 4)), key = seed), 4 words of 32 bits
u = (floor(w[slot mod 4] / 2^9) + 1/2) / 2^23
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ..environment.draws import Draws
from ..environment.recording import FUNCTIONS
from .numbers import Numbers

if TYPE_CHECKING:
    from ..environment.draws import Size
    from .numbers import Array

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
TIMES = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
WEYL = 0x9E3779B9, 0xBB67AE85
FIRST = 64  # groups of four numbers drawn at once if the number that a function needs is unknown


def philox(counter: tuple[int, int, int], groups: Any, key: int) -> Any:
    """Return the words (n, 4) for the counters (a, b, c, groups (n,)) and a key of 64 bits."""
    a, b, c = (np.full(len(groups), x, np.uint64) for x in counter)
    d, low, high = np.asarray(groups, np.uint64), key & 0xFFFFFFFF, key >> 32
    for _ in range(10):
        p, q = TIMES[0] * a, TIMES[1] * c
        a, b, c, d = (q >> HALF) ^ b ^ np.uint64(low), q & LOW, (p >> HALF) ^ d ^ np.uint64(high), p & LOW
        low, high = (low + WEYL[0]) & 0xFFFFFFFF, (high + WEYL[1]) & 0xFFFFFFFF
    return np.stack([a, b, c, d], axis=1)


def uniforms(seed: int, env: int, episode: int, step: int, function: int, first: int, groups: int) -> Array:
    """Return the numbers of slots 4 first to 4 (first + groups) - 1, in (0, 1)."""
    counters = (function << 16) + np.arange(first, first + groups)
    words = philox((env, episode, step), counters, seed % 2**64).ravel()
    found: Array = ((words >> np.uint64(9)).astype(float) + 0.5) / 2**23
    return found


class NumberDraws(Draws):
    """environment.draws.Draws with numeric values: for one seed, environment, episode and step."""

    taken: dict[str, int]

    def __init__(self, seed: int, env: int, episode: int, step: int, function: str, taken: dict[str, int]) -> None:
        """Prepare the draws of one call of a function.

        function   "reset", "after", "observe" or "policy"
        taken      function -> number of groups that it used in its last call; updated here
        """
        self.where, self.function, self.taken = (seed, env, episode, step), function, taken
        self.count, self.drawn = 0, np.zeros(0)

    def random(self, size: Size = None) -> Any:
        """Draw uniform numbers in (0, 1): odd multiples of 2^-24."""
        shape = () if size is None else (size,) if isinstance(size, int) else tuple(size)
        first, self.count = self.count, self.count + math.prod(shape)
        if self.count > len(self.drawn):
            have, need = len(self.drawn) // 4, -(-self.count // 4)
            most = max(need, self.taken.get(self.function, FIRST))
            more = uniforms(*self.where, FUNCTIONS[self.function], have, most - have)
            self.drawn = np.concatenate([self.drawn, more])
            self.taken[self.function] = (
                most if self.function not in self.taken else max(need, self.taken[self.function])
            )
        return self.drawn[first : self.count].reshape(shape).view(Numbers)
