"""MuJoCo's callbacks, which the engine does not call."""

from __future__ import annotations

import mujoco

from .errors import UsageError

NAMES = ("act_bias", "act_dyn", "act_gain", "contactfilter", "control", "passive", "sensor")
GETTERS = tuple((name, getattr(mujoco, f"get_mjcb_{name}", None)) for name in NAMES)


def refuse_callbacks() -> None:
    """ValueError where one is installed: the simulations would leave out what it does."""
    for name, get in GETTERS:
        if get is not None and get() is not None:
            raise UsageError(f"mjcb_{name} is installed: the engine does not call MuJoCo's callbacks")
