"""Env: a task, written for one robot, stepped for thousands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from ..model import Model
    from ..typing import ArrayLike, Names
    from .batch import EnvBatch
    from .draws import Draws
    from .memory import Memory, Parameters
    from .state import EnvironmentState as State


class Env:
    """A task: its robot, and what its episodes are made of. Subclasses say what differs.

        class Upright(fs.Env):
            dt, steps = 0.02, 500
            memory = dict(last=1)                                   # rows of an environment, zero where an episode begins

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

    Each function is called once, with symbols for the numbers of one environment (featherstorm.symbols: numpy's functions, np.where for
    `if`), and compiled with the physics. What it takes from elsewhere is fixed then.

    x    the state (environment.state.EnvironmentState; of a robot without a world symbols.State)
    a    the action (actions,), within its range where `clip` is true
    m    the environment's memory: m.name is read, and assigned for the next step
    rng  numbers that are drawn (environment.draws.Draws): functions of (seed, environment, episode, step, function, place) alone
    p    nominal parameters of the model

    A control step: passes of `actuate` and physics; terminate, truncate; reward (with the memory that the policy saw); after; observe.
    Where an episode ends: randomise, reset, begin, observe.
    """

    dt: float | None = None
    """Time of a control step [s]; of a world a multiple of its file's timestep. None: `substeps` of that."""
    substeps: int | None = None
    """Passes of the physics in a control step. None: as many as dt has of the file's timestep."""
    steps: int | None = 1000
    """Control steps after which an episode is truncated. None: never."""
    memory: Mapping[str, Any] = {}
    """name -> how many numbers, or their shape."""
    kept: Names = ()
    """Names of the memory that stay when an episode ends, such as the level of a curriculum."""
    actions: int | None = None
    """Numbers of an action. None: the controls of the file's actuators, of a robot without a world nv."""
    action_range: tuple[ArrayLike, ArrayLike] | None = None
    """Lowest and highest action. None: ranges of the file's actuators where it is their controls, else -1 to 1."""
    clip: bool = True
    """Whether actions beyond their range are taken at its end; an action that is not finite ends the episode in any case."""
    parameters: Names = ()
    """Parameters of the model that `randomise` draws, by MuJoCo's names; see Model.bind."""
    randomise_at: str = "reset"
    """When they are drawn: "reset", for each episode, or "start", when EnvBatch.reset() is called."""
    reward_scale: float = 1.0
    """Of all terms, such as dt."""
    reward_floor: float | None = None
    """The least reward of a step. None: none."""
    observation_range: tuple[ArrayLike, ArrayLike] | None = None
    """Lowest and highest numbers of an observation, for spaces. None: unbounded."""
    law: object = "mujoco"
    """Of contacts and constraints; see Rollout."""
    metadata: ClassVar[dict[str, Any]] = {}

    def model(self) -> Model:
        """The robot. Called once for a task's object."""
        raise NotImplementedError(f"{type(self).__name__} has no method `model`, which returns a robot")

    randomise: Callable[[Draws, Parameters], Mapping[str, Any]] | None = None
    """randomise(rng, p): parameters by name, of the model's shapes, for an episode."""
    reset: Callable[[Memory, Draws], Any] | None = None
    """reset(m, rng): q and v, or q, v and act, where an episode begins. None: as the model has it, at rest."""
    begin: Callable[[State, Memory, Draws], None] | None = None
    """begin(x, m, rng): memory that depends on where an episode begins."""
    actuate: Callable[[State, Any, Memory], Any] | None = None
    """actuate(x, a, m): controls of the file's actuators, of a robot without a world torques (nv), before each pass. None: a."""
    terminate: Callable[[State, Memory], Any] | None = None
    """terminate(x, m): a condition that ends the episode."""
    metrics: Callable[[State, Any, Memory], Mapping[str, Any]] | None = None
    """metrics(x, a, m): numbers by name that are told in step()'s info, of the moment of the reward."""
    after: Callable[[State, Any, Memory, Draws], Any] | None = None
    """after(x, a, m, rng): what changes between the reward and the observation: counters, commands. It may return dict(q=..., v=...),
    which take the place of the state's, as a push does."""

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        """A number, or terms by name, whose sum is the reward and which are summed over the episode."""
        raise NotImplementedError(f"{type(self).__name__} has no method `reward`")

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        """Numbers, or groups of them by name, such as dict(actor=..., critic=...)."""
        raise NotImplementedError(f"{type(self).__name__} has no method `observe`")

    def batch(
        self,
        num_envs: int,
        seed: int = 0,
        device: object = "cpu",
        dtype: npt.DTypeLike = "float32",
        autoreset: str = "same_step",
        threads: int | None = None,
    ) -> EnvBatch:
        """So many environments of the task, side by side.

        autoreset   where an episode ends: "same_step" begins the next one at once (the last observation is info["final_obs"]),
                    "next_step" with the next step, whose action counts for nothing, "disabled" waits for reset(mask=...)
        threads     of the CPU. None: the model's
        """
        from .batch import EnvBatch

        return EnvBatch(self, num_envs, seed, device, dtype, autoreset, threads)


def env(model: Model | Callable[[], Model], name: str = "Task", **members: Any) -> Env:
    """An environment of functions: env(model, observe=..., reward=..., dt=0.02), what a subclass of Env has, without `self`."""
    known = {key for key in dir(Env) if not key.startswith("_")} - {"batch", "model", "metadata"}
    if strange := sorted(set(members) - known):
        raise TypeError(f"env: unknown {', '.join(strange)}; there are {', '.join(sorted(known))}")
    made = {key: staticmethod(x) if callable(x) else x for key, x in members.items()}
    made["model"] = staticmethod(model if callable(model) else lambda: model)
    task: Env = type(name, (Env,), made)()
    return task
