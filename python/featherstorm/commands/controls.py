"""Controls of a model file's actuators, as `simulate` and `view` give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import argparse

    import numpy.typing as npt

HOLD = 0.2  # seconds that random controls stay the same


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--controls",
        choices=["zero", "random", "keyframe"],
        default="zero",
        help="of an MJCF file's actuators (default: %(default)s)",
    )
    parser.add_argument("--keyframe", type=int, default=-1, help="in which an MJCF file begins (default: its defaults)")


def check(m: Any, options: argparse.Namespace) -> None:
    """ValueError for a keyframe that the compiled model of a file has not."""
    if options.keyframe >= m.nkey or (options.controls == "keyframe" and options.keyframe < 0):
        raise ValueError(
            f"--keyframe is {options.keyframe}, {options.robot} has "
            + (f"those from 0 to {m.nkey - 1}" if m.nkey else "none")
        )


class Controls:
    """Writes controls (n, nu) before each step of `dt` [s]."""

    def __init__(self, m: Any, options: argparse.Namespace, dt: float) -> None:
        self.random = np.random.default_rng(options.seed)
        limited = np.asarray(m.actuator_ctrllimited, bool)
        self.low, self.high = (np.where(limited, m.actuator_ctrlrange[:, k], side) for k, side in ((0, -1.0), (1, 1.0)))
        if options.controls == "keyframe":
            self.low = self.high = np.asarray(m.key_ctrl[options.keyframe])
        self.are_zero = options.controls == "zero" or m.nu == 0
        self.hold, self.count = max(round(HOLD / dt), 1), 0

    def write(self, ctrl: npt.NDArray[Any]) -> None:
        if not self.are_zero and self.count % self.hold == 0:
            ctrl[:] = self.random.uniform(self.low, self.high, ctrl.shape)
        self.count += 1
