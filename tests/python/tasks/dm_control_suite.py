"""dm_control's environments beside ours: their episodes, step by step, and their first states.

Where dm_control cannot be imported, because it is installed without what it needs itself, the tests are skipped.
"""

import functools
import os
from typing import Any, NamedTuple

import numpy as np
import pytest

GOAL_NOISE = 0.05
# domain -> velocity that the reward reads, and one beyond which it is 1
FORWARD = {"cheetah": (0, 10.0), "walker": (1, 8.0), "hopper": (0, 2.0), "humanoid": (0, 10.0), "quadruped": (0, 5.0)}
SLOW = {"walker-walk": 1.0, "humanoid-walk": 1.0, "humanoid-stand": 1.0, "quadruped-walk": 0.5}


@functools.cache
def suite():
    """dm_control.suite. Fields of a model or its data that this MuJoCo does not have are taken from its lists."""
    mujoco = pytest.importorskip("mujoco")
    before = os.environ.get("MUJOCO_GL")
    os.environ["MUJOCO_GL"] = "disable"  # nothing is drawn
    try:
        found = pytest.importorskip("dm_control.suite", exc_type=ImportError)
        from dm_control.mujoco.wrapper.mjbindings import sizes
    finally:
        del os.environ["MUJOCO_GL"]
        if before is not None:
            os.environ["MUJOCO_GL"] = before
    for struct, type_ in (("mjmodel", mujoco.MjModel), ("mjdata", mujoco.MjData)):
        for field in [field for field in sizes.array_sizes[struct] if not hasattr(type_, field)]:
            del sizes.array_sizes[struct][field]
    return found


def load(name, seed=0):
    """Their environment of a name such as dm_control/walker-walk. Its solver goes on to the end: by default MuJoCo's stops where it
    expects an improvement below 1e-8, which in one of hundreds of steps is 1e-6 of a velocity away."""
    domain, task = name.removeprefix("dm_control/").split("-")
    env = suite().load(domain, task, task_kwargs={"random": seed})
    env.physics.model.opt.tolerance = 0
    return env


def flat(observation):
    return np.concatenate([np.ravel(part) for part in observation.values()])


def drawn(env):
    """What their task draws into the model, as our memory has it."""
    model, data = env.physics.named.model, env.physics.named.data
    name = type(env.task).__name__
    if name == "Reacher":
        return {"target": model.geom_pos["target", :2].copy()}
    if name == "Turn":
        return {"target": model.site_pos["target"][[0, 2]] - data.xpos["spinner"][[0, 2]]}
    if name == "PointMass" and env.task._randomize_gains:
        return {"directions": env.physics.model.wrap_prm.reshape(2, 2).copy()}
    return {}


class Episode(NamedTuple):
    """Their steps: what each begins with, and what it gives. first: of their first observation and its state."""

    first: dict[str, Any]
    state: dict[str, Any]
    memory: dict[str, Any]
    actions: Any
    observed: Any
    rewards: Any
    observation: dict[str, tuple[int, ...]]


@functools.cache
def episode(name, count=60, seed=3):
    """So many steps with random actions, some beyond their range, then as many each from a state near the goal."""
    env, rng = load(name, seed), np.random.default_rng(seed)
    told = env.reset()
    data, spec = env.physics.data, env.action_spec()
    first = {"q": data.qpos.copy(), "v": data.qvel.copy(), "observed": flat(told.observation), **drawn(env)}
    rows, gives = [], []
    for k in range(2 * count):
        if k >= count:
            go_near_goal(name, env, rng)
        warm = data.qacc_warmstart.copy()
        rows.append({"q": data.qpos.copy(), "v": data.qvel.copy(), "act": data.act.copy(), "qacc": warm, **drawn(env)})
        action = rng.uniform(1.2 * spec.minimum, 1.2 * spec.maximum)
        told = env.step(action)
        gives.append((action, flat(told.observation), float(told.reward)))
    together = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    memory = {key: together.pop(key) for key in drawn(env)}
    shapes = {key: np.shape(value) for key, value in told.observation.items()}
    return Episode(first, together, memory, *(np.array(x) for x in zip(*gives)), shapes)


def go_near_goal(name, env, rng):
    """Sets their state to one where the reward has something to say."""
    physics = env.physics
    domain = name.removeprefix("dm_control/").split("-")[0]
    with physics.reset_context():
        data = physics.data
        data.qpos[:] += rng.normal(0, 0.02 if domain in ("point_mass", "ball_in_cup") else GOAL_NOISE, data.qpos.shape)
        data.qvel[:] = rng.normal(0, 0.1, data.qvel.shape)
        if data.act.size:
            data.act[:] = rng.uniform(-0.5, 0.5, data.act.shape)
        if domain in FORWARD:
            at, speed = FORWARD[domain]
            data.qvel[at] = rng.uniform(0, 1.3 * SLOW.get(name.removeprefix("dm_control/"), speed))
        if domain in ("humanoid", "quadruped"):
            data.qpos[3:7] /= np.linalg.norm(data.qpos[3:7])
        if domain == "quadruped":
            data.qpos[2] = rng.uniform(0.5, 0.8)
        if domain == "ball_in_cup":
            data.qpos[3] += 0.35
        if domain == "reacher":
            data.qpos[:] = rng.uniform(-2, 2, 2)
            physics.forward()
            finger = physics.named.data.geom_xpos["finger", :2]
            physics.named.model.geom_pos["target", :2] = finger + rng.normal(0, 0.03, 2)
        if name.endswith("finger-spin"):
            data.qvel[2] = rng.uniform(-25, 5)
        elif domain == "finger":
            x, z = drawn(env)["target"]
            data.qpos[2] = -np.arctan2(x, z) + rng.normal(0, 0.4)
        if domain == "finger" and rng.random() < 0.5:
            touch_lightly(physics, rng)


def touch_lightly(physics, rng):
    """Draws the finger's pose until it touches, by at most a centimetre."""
    model, data = physics.model, physics.data
    while True:
        data.qpos[:2] = rng.uniform(*model.jnt_range[:2].T)
        physics.forward()
        if data.ncon and data.contact.dist.min() > -0.01:
            return


def begin_at(task, first):
    """Lets our task begin with their first state."""

    def reset(m, rng):
        for key in task.memory:
            setattr(m, key, first[key])
        return first["q"], first["v"]

    task.reset = reset
    return task


def stepped(task, found, dtype):
    """One step of ours from each of their states: the first observation, then what the step gives."""
    env = begin_at(task, found.first).batch(len(found.actions), dtype=dtype, threads=1, autoreset="disabled")
    begun = np.array(env.reset()[0])
    for key, value in found.state.items():
        if value.shape[1]:
            env.view(key)[:] = value
    for key, value in found.memory.items():
        env.memory(key)[:] = value
    return begun, env.step(found.actions.astype(dtype))
