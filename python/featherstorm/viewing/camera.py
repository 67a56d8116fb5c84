"""Cameras that go along."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np


def follower(m: Any, data: Any) -> Any:
    """A mujoco.MjvCamera that goes along with the body of the model's first joint, from the side, so far off that its robot is in view.

    data   with positions of bodies
    """
    camera = mujoco.MjvCamera()
    camera.type, camera.trackbodyid = int(mujoco.mjtCamera.mjCAMERA_TRACKING), int(m.jnt_bodyid[0])
    below = np.asarray(m.body_rootid) == m.body_rootid[camera.trackbodyid]
    reach = np.ptp(data.xipos[below], axis=0).max()
    camera.distance, camera.azimuth, camera.elevation = max(3.0 * reach, 1.5), 110.0, -15.0
    return camera
