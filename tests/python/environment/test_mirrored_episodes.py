"""Mirrors of tasks: an episode as a mirror shows it is an episode, as far as the robot's left is like its right."""

import importlib.util

import numpy as np
import pytest

pytest.importorskip("mujoco")

from featherstorm.environment.mirror import AXIAL, VECTOR, Mirror, joined
from featherstorm.tasks.velocity_humanoid import G1JoystickFlat
from featherstorm.tasks.velocity_mjlab import Go1VelocityFlat
from featherstorm.tasks.velocity_quadruped import Go1JoystickFlat, Go2JoystickFlat

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("mjlab") is None,
    reason="the robots' files are the package mjlab's, for Python 3.11 or newer (the extra `robots`)",
)
PLACE, VELOCITY = joined(VECTOR, Mirror(range(4), (1, -1, 1, -1))), joined(VECTOR, AXIAL)  # of the root
COMMAND, LEGS, FEET = Mirror(range(3), (1, -1, -1)), Mirror((1, 0, 3, 2)), Mirror((1, 0))
QUADRUPED = {"command": COMMAND, "air": LEGS, "contact": LEGS, "peak": LEGS}
# how the mirror shows a task's memory, beside actions of before; other numbers have no side
MEMORIES = {
    Go1JoystickFlat: QUADRUPED,
    Go2JoystickFlat: QUADRUPED,
    Go1VelocityFlat: {**QUADRUPED, "stand": LEGS, "heading": Mirror((0,), (-1,))},
    G1JoystickFlat: {"command": COMMAND, "air": FEET, "contact": FEET, "phase": FEET},
}


def still(base):
    """A task without noise, pushes, and models that differ, whose imu is in the middle: that of the Go1 is 7 cm to its right."""

    def spec(self, drawn=False):
        found = base.spec(self, drawn)
        for site in found.sites:
            if site.name.startswith("imu"):
                site.pos[1] = 0
        return found

    pushes = {"push_speed": tuple(0.0 for _ in base.push_speed)} if hasattr(base, "push_speed") else {}
    return type(base.__name__, (base,), {"spec": spec, "noise": 0.0, "randomise": None, **pushes})()


@pytest.mark.parametrize("base", MEMORIES, ids=lambda base: base.__name__)
def test_an_episode_in_the_mirror_is_an_episode(base):
    B = 32
    env = still(base).batch(2 * B, dtype="float64", autoreset="disabled")
    env.reset(seed=3)
    mirror, rng = env.task.mirror(), np.random.default_rng(3)
    joints = mirror["action"]
    q, v = env.storage.view("q"), env.storage.view("v")
    q[:B, 7:] += rng.uniform(-0.2, 0.2, (B, len(joints)))
    v[:B] = rng.normal(size=(B, v.shape[1]))
    q[B:], v[B:] = joined(PLACE, joints)(q[:B]), joined(VELOCITY, joints)(v[:B])
    memories = {**MEMORIES[base], "last": joints, "before": joints}
    for name in base.memory:
        rows = env.memory(name)
        rows[B:] = memories[name](rows[:B]) if name in memories else rows[:B]
    for _ in range(4):
        a = rng.uniform(-1, 1, (B, len(joints)))
        obs, reward, *_ = env.step(np.concatenate([a, joints(a)]))
        for group, x in obs.items():
            x = np.array(x)
            off, scale = np.abs(mirror[group](x[:B]) - x[B:]), np.abs(x).max(0)
            # half of the episodes; of the others some have a foot that touches a moment earlier
            assert (np.median(off, 0) < 0.03 * scale + 1e-3).all(), group
        assert np.median(np.abs(reward[:B] - reward[B:])) <= 0.01 * np.abs(reward).mean()
