"""Episodes of Gymnasium's environments, and the same steps by featherstorm.tasks."""

import numpy as np

import featherstorm as fs

FREE = 0  # mjJNT_FREE


def environment(name, converged=False, **arguments):
    """Gymnasium's, without its wrappers. converged: the file's solver goes on where the file lets it stop."""
    import gymnasium

    made = gymnasium.make(name, **arguments).unwrapped
    if converged:
        made.model.opt.iterations, made.model.opt.tolerance = 500, 0.0
    return made


def begin(env, seed=None):
    """A reset, with the quaternion to which Gymnasium adds noise made unit; the observation, whose forces are those of a reset."""
    env.reset(seed=seed)
    q = env.data.qpos.copy()
    if env.model.jnt_type[0] == FREE:
        q[3:7] /= np.linalg.norm(q[3:7])
    env.set_state(q, env.data.qvel.copy())
    return np.array(env._get_obs())


def place(name, env):
    """What a task keeps in its memory: of what it computes a velocity."""
    m, d = env.model, env.data
    if name == "Ant-v5":
        return d.body(env._main_body).xpos[:2]
    if name == "Humanoid-v5":
        return (m.body_mass @ d.xipos / m.body_mass.sum())[:2]
    return d.qpos[: 2 if name == "Swimmer-v5" else 1]


def episodes(name, steps, seed=0, beyond=1.2, converged=False, **arguments):
    """Steps of Gymnasium's, each with the state that it begins with: arrays (steps, ...) by name. Actions are uniform in their range times
    `beyond`."""
    env, rng, told = environment(name, converged, **arguments), np.random.default_rng(seed), []
    low, high = beyond * env.model.actuator_ctrlrange.T
    begin(env, seed)
    for _ in range(steps):
        told.append(step_of(name, env, rng.uniform(low, high)))
        if told[-1]["terminated"]:
            begin(env)
    return {key: np.stack([x[key] for x in told]) for key in told[0]}


def step_of(name, env, action):
    """One of Gymnasium's: what it begins with, and what it tells."""
    d = env.data
    before = {"q": d.qpos, "v": d.qvel, "qacc": d.qacc_warmstart, "action": action, "before": place(name, env)}
    before = {key: np.array(x) for key, x in before.items()}
    obs, reward, terminated, _, info = env.step(action)
    after = {"obs": obs, "reward": reward, "terminated": terminated, **info}
    return {**before, **{key: np.array(x) for key, x in after.items()}}


def begun_at(task, q, v):
    """The task, whose episodes begin at one state."""
    task.reset = lambda m, rng: (q, v)
    return task


def steps_from(task, told, dtype="float64"):
    """The same steps: obs, reward, terminated and what info has, by name. Each instance makes one of the steps."""
    n = len(told["q"])
    env = begun_at(task, told["q"][0], told["v"][0]).batch(n, dtype=dtype, threads=1, autoreset="disabled")
    env.reset()
    for name in ("q", "v", "qacc"):
        env.view(name)[:] = told[name]
    if "before" in task.memory:
        env.memory("before")[:] = told["before"]
    obs, reward, terminated, _, info = env.step(told["action"].astype(dtype))
    found = {"obs": obs, "reward": reward, "terminated": terminated, **info.get("reward_terms", {})}
    return {**{key: x for key, x in info.items() if key in told}, **found}


def error(ours, theirs):
    """The greatest, of numbers greater than one relative to them."""
    theirs = np.asarray(theirs, float)
    return float(np.max(np.abs(np.asarray(ours, float) - theirs) / np.maximum(1.0, np.abs(theirs)), initial=0.0))


def errors(task, told, dtype="float64"):
    """Of each number that Gymnasium tells."""
    found = steps_from(task, told, dtype)
    names = [key for key in told if key not in ("q", "v", "qacc", "action", "before")]
    return {name: error(found[name], told[name]) for name in names}


def free_errors(name, steps, seed=0, dtype="float64", **arguments):
    """Errors of the observations and rewards of an episode that both run from its beginning with the same actions: (steps, 2)."""
    env, rng, found = environment(name, **arguments), np.random.default_rng(seed), []
    begin(env, seed)
    task = begun_at(fs.tasks.make(name, **arguments), env.data.qpos.copy(), env.data.qvel.copy())
    ours = task.batch(1, dtype=dtype, threads=1, autoreset="disabled")
    ours.reset()
    for _ in range(steps):
        action = rng.uniform(*env.model.actuator_ctrlrange.T)
        obs, reward, terminated, _, _ = env.step(action)
        x, r, ends, _, _ = ours.step(action[None].astype(dtype))
        found.append((error(x[0], obs), error(r[0], reward), float(ends[0] != terminated)))
        if terminated or ends[0]:
            break
    return np.array(found)
