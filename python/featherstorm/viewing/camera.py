"""Cameras that follow a robot."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._optional import mujoco


def follower(m: Any, data: Any) -> Any:
    """Return a mujoco.MjvCamera that follows the body of the model's first joint, from the side.

    The whole robot is in view.

    data   mjData with positions of bodies
    """
    camera = mujoco.MjvCamera()
    camera.type, camera.trackbodyid = int(mujoco.mjtCamera.mjCAMERA_TRACKING), int(m.jnt_bodyid[0])
    below = np.asarray(m.body_rootid) == m.body_rootid[camera.trackbodyid]
    reach = np.ptp(data.xipos[below], axis=0).max()
    camera.distance, camera.azimuth, camera.elevation = max(3.0 * reach, 1.5), 110.0, -15.0
    return camera
