"""The robot in MuJoCo's conventions, which are ours."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from .robots import Description, Order


class MujocoRobot:
    """Our conventions; joints by name."""

    def __init__(self, ours: Description, folder: Path):
        import mujoco

        # no geoms: their poses would cost time that is not the dynamics'; no mimic joints: ours are independent
        text = re.sub(r"<(collision|visual)\b.*?</\1>|<mimic\b[^>]*/>", "", ours.file.read_text(), flags=re.DOTALL)
        spec = mujoco.MjSpec.from_string(text)
        if ours.floating:
            spec.worldbody.first_body().add_freejoint(name="root")
        model = spec.compile()
        if model.nq != ours.nq or model.nv != ours.nv:
            raise RuntimeError(f"MuJoCo has nq {model.nq}, nv {model.nv}")
        self.order = Order(
            ours,
            {n: int(model.joint(n).qposadr[0]) for n in ours.joints},
            {n: int(model.joint(n).dofadr[0]) for n in ours.joints},
        )
        model.dof_armature[:] = self.order.give(ours.armature[None], self.order.v)[0]
        self.model = model
        self.file = folder / "robot.mjb"
        mujoco.mj_saveModel(model, str(self.file), None)

    def states(self, s: dict) -> dict:
        return self.order.states(s)

    def back(self, kind: str, x: np.ndarray) -> np.ndarray:
        return self.order.back(kind, x)
