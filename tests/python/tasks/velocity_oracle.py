"""MuJoCo's own steps of a task's model, and tasks without numbers that are drawn."""

import importlib.util

import mujoco
import numpy as np
import pytest

NEEDS_MJLAB = pytest.mark.skipif(
    importlib.util.find_spec("mjlab") is None, reason="no models of Go1 and G1: pip install --no-deps mjlab"
)


def each(tasks):
    """Parameters of a test of some tasks, or of their names; skipped are those whose robot's file is not there."""
    names = [getattr(task, "__name__", task) for task in tasks]
    marks = [(NEEDS_MJLAB,) if name.startswith(("Go1", "G1")) else () for name in names]
    return [pytest.param(task, marks=mark, id=name) for task, name, mark in zip(tasks, names, marks)]


def drawless(task, command=(0.5, 0.1, 0.2), **members):
    """An object of a task that begins as it is, keeps its command, has no noise, and is not pushed."""

    def reset(self, m, rng):
        first = {"command": command, "renew": 1e9, "push": 1e9, "phase": [0.0, np.pi], "pace": 0.1}
        for name in set(first) & set(self.memory):
            setattr(m, name, first[name])
        return self.start, np.zeros(len(self.start) - 1)

    own = {
        "noise": 0.0,
        "randomise": None,
        "reset": reset,
        "steps_to_next": lambda self, rng: 1e9,
        "next_command": lambda self, rng, command: command,
        "kick": lambda self, rng: np.zeros(2),
        **members,
    }
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
        """Whether a geom has a contact; of a height field, whether one of its contacts has a force."""
        ids, force = {self.m.geom(g).id for g in (geom, other) if g is not None}, np.zeros(6)
        for k, c in enumerate(self.old.contact):
            mujoco.mj_contactForce(self.m, self.old, k, force)
            if ids <= set(c.geom.tolist()) and (force[0] > 0 or not self.m.nhfield):
                return 1.0
        return 0.0


class NumpyDraws:
    """numpy's random numbers with the methods of an environment's."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)

    def __getattr__(self, name):
        return getattr(self.rng, name)

    def bernoulli(self, p, size=None):
        return self.rng.uniform(size=np.shape(p) if size is None else size) < p


class Rows:
    """A memory of numbers, of the shapes that a task declares."""

    def __init__(self, declared):
        self.__dict__.update({name: np.zeros(shape) for name, shape in declared.items()})

    def __setattr__(self, name, value):
        getattr(self, name)[...] = numbers(value)


def nominal(m, names):
    """Parameters of a model, as `randomise` has them."""
    return type("Parameters", (), {name: np.array(getattr(m, name)) for name in names})()


def numbers(x):
    return np.array(np.asarray(x).tolist(), float)
