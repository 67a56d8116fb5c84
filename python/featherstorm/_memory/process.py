"""Objects that belong to one process, because they hold kernels and memory."""

from __future__ import annotations

from typing import NoReturn


def refuse_pickle(what: str, instead: str) -> NoReturn:
    """Raise TypeError for an object that was pickled or copied, naming what to send to another process instead."""
    raise TypeError(f"a {what} holds kernels and memory of its process and cannot be pickled or copied; {instead}")
