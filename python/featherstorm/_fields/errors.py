"""Error of arguments."""

from __future__ import annotations

import mujoco


class UsageError(ValueError, mujoco.FatalError):  # type: ignore[misc]  # mujoco has no types
    """An invalid call.

    MuJoCo raises ValueError in some of these cases and another error in others; this error is both.
    """

    __module__ = "featherstorm.mujoco"
