"""Env: a task, written for one robot and stepped for thousands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .batch import EnvBatch
from .task import Task

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ..model import Model


class Env(Task):
    """A task: its robot, and the functions of its episodes. Subclasses override members.

        class Upright(fs.Env):
            dt, steps = 0.02, 500
            memory = dict(last=1)                                   # rows of an environment, zero where an episode
                                                                    begins

            def model(self):
                return fs.load("pendulum.xml")

            def reset(self, m, rng):
                return rng.uniform(-0.1, 0.1, 1), np.zeros(1)       # q, v

            def reward(self, x, a, m):
                return dict(up=np.cos(x.q[0]), rate=-0.1 * (a[0] - m.last[0]) ** 2)

            def after(self, x, a, m, rng):
                m.last = a

            def observe(self, x, m, rng):
                return [np.sin(x.q[0]), np.cos(x.q[0]), x.v[0]]

        env = Upright().batch(4096, seed=1)
        obs, info = env.reset()
        obs, reward, terminated, truncated, info = env.step(actions)

    Each function is called once, with symbols for the numbers of one environment (featherstorm.symbols: numpy's
    functions, np.where for `if`), and compiled with the physics. Values it uses from outside are constants from then
    on.

    x    the state (environment.state.EnvironmentState; for a robot without a world symbols.State)
    a    the action (actions,), within its range where `clip` is true
    m    the environment's memory: m.name is read, and assigned for the next step
    rng  random numbers (environment.draws.Draws): functions of (seed, environment, episode, step, function, slot) alone
    p    nominal parameters of the model

    A control step runs: substeps of `actuate` and physics; terminate, truncate; reward (with the memory that the policy
    saw); after; observe. When an episode ends: randomise, reset, begin, observe.
    """

    def batch(
        self,
        num_envs: int,
        seed: int = 0,
        device: object = "cpu",
        dtype: npt.DTypeLike = "float32",
        autoreset: str = "same_step",
        threads: int | None = None,
        arrays: str | None = None,
        first: int = 0,
    ) -> EnvBatch:
        """Make a batch of `num_envs` environments.

        autoreset   at the end of an episode: "same_step" begins the next one at once (the last observation is
                    info["final_obs"]), "next_step" with the next step, whose action is ignored, "disabled" waits for
                    reset(mask=...)
        threads     of the CPU. None: the model's
        arrays      library of the results: "numpy", "torch", "jax". None: the library of the actions
        first       number of the first environment. The batch is environments first .. first + num_envs - 1 of a larger
                    whole, and has the bits that these have there
        """
        return EnvBatch(self, num_envs, seed, device, dtype, autoreset, threads, arrays, first=first)


def env(model: Model | Callable[[], Model], name: str = "Task", **members: Any) -> Env:
    """Make a task from functions.

    env(model, observe=..., reward=..., dt=0.02), the members of an Env subclass without `self`.
    """
    known = {key for key in dir(Env) if not key.startswith("_")} - {"batch", "model", "metadata"}
    if strange := sorted(set(members) - known):
        raise TypeError(f"env: unknown {', '.join(strange)}; there are {', '.join(sorted(known))}")
    made = {key: staticmethod(x) if callable(x) else x for key, x in members.items()}
    made["model"] = staticmethod(model if callable(model) else lambda: model)
    task: Env = type(name, (Env,), made)()
    return task
