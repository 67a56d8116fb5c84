"""MuJoCo's own steps of a task's model, and tasks without numbers that are drawn."""

import mujoco
import numpy as np


def drawless(task, command=(0.5, 0.1, 0.2), **members):
    """An object of a task that begins as it is, keeps its command, and has no noise."""

    def reset(self, m, rng):
        m.command, m.renew = command, 1e9
        return self.start, np.zeros(len(self.start) - 1)

    own = dict(
        noise=0.0, randomise=None, reset=reset, steps_to_next=lambda self, rng: 1e9,
        next_command=lambda self, rng, command: command, **members,
    )  # fmt: skip
    return type(f"Drawless{task.__name__}", (task,), own)()


def exact(task):
    """The task with MuJoCo's solver run to its end."""

    def scene(self):
        m = task.scene(self)
        m.opt.tolerance, m.opt.iterations, m.opt.jacobian = 0, 100, mujoco.mjtJacobian.mjJAC_DENSE
        return m

    return type(task.__name__, (task,), {"scene": scene})


class Oracle:
    """One simulation by MuJoCo.

    old   its data as mj_step leaves it: forces, contacts and accelerations of the beginning of the last pass
    new   the same state with all of it computed anew
    """

    def __init__(self, m, q, v=None):
        self.m, self.old, self.new = m, mujoco.MjData(m), mujoco.MjData(m)
        self.old.qpos, self.old.qvel = q, np.zeros(m.nv) if v is None else v
        self.refresh()

    def refresh(self):
        self.new.qpos, self.new.qvel, self.new.ctrl = self.old.qpos, self.old.qvel, self.old.ctrl
        mujoco.mj_forward(self.m, self.new)

    def step(self, ctrl, passes):
        self.old.ctrl = ctrl
        for _ in range(passes):
            mujoco.mj_step(self.m, self.old)
        self.refresh()

    def touches(self, geom, other=None):
        ids = {self.m.geom(g).id for g in (geom, other) if g is not None}
        return float(any(ids <= set(c.geom.tolist()) for c in self.old.contact))
