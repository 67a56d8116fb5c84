"""Objects that belong to one process, as their kernels and their memory do."""

from __future__ import annotations

from typing import NoReturn


def refuse_pickle(what: str, instead: str) -> NoReturn:
    """Raise TypeError for an object that was pickled or copied, with what to send to another process in its place."""
    raise TypeError(f"a {what} holds kernels and memory of its process and cannot be pickled or copied; {instead}")
