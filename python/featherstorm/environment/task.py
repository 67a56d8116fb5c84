"""The definition of an environment: its robot, its numbers, and the functions of its episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..model import Model
    from ..typing import ArrayLike, Names
    from .draws import Draws
    from .memory import Memory
    from .mirror import Mirror
    from .state import EnvironmentState as State


class Task:
    """The definitions that a subclass of Env makes; see there."""

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
    """Lowest and highest action, which may be infinite. None: the ranges of the file's actuators where actions are their controls,
    infinite where an actuator has none; else -1 to 1."""
    clip: bool = True
    """Whether actions beyond their range are taken at its end; an action that is not finite ends the episode in any case."""
    parameters: Names = ()
    """Parameters of the model that `randomise` draws, or `adapt` or `after` change, by MuJoCo's names; see Model.bind."""
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

    def look(self) -> Any:
        """Return the model that pictures show in place of the model file: a mujoco.MjModel with the same bodies and joints, such as one that has its meshes as
        well. None: as the file has it."""
        return None

    randomise: Callable[..., Mapping[str, Any]] | None = None
    """randomise(rng, p), or randomise(rng, p, m): parameters by name, of the model's shapes, for an episode. m: the memory as `reset` has it
    afterwards, zero but for what is kept, such as the level of a curriculum."""
    reset: Callable[[Memory, Draws], Any] | None = None
    """reset(m, rng): q and v, or q, v and act, where an episode begins. None: as the model has it, at rest."""
    begin: Callable[[State, Memory, Draws], None] | None = None
    """begin(x, m, rng): memory that depends on where an episode begins."""
    actuate: Callable[[State, Any, Memory], Any] | None = None
    """actuate(x, a, m): controls of the file's actuators, of a robot without a world torques (nv), before each pass. None: a."""
    adapt: Callable[[State, Memory], Mapping[str, Any]] | None = None
    """adapt(x, m): parameters by name, of the model's shapes, as they are from the next pass on, before each pass and after `actuate`: a
    plane that follows a foot over curved ground."""
    terminate: Callable[[State, Memory], Any] | None = None
    """terminate(x, m): a condition that ends the episode."""
    metrics: Callable[[State, Any, Memory], Mapping[str, Any]] | None = None
    """metrics(x, a, m): numbers by name that are told in step()'s info, of the moment of the reward."""
    after: Callable[[State, Any, Memory, Draws], Any] | None = None
    """after(x, a, m, rng): what changes between the reward and the observation: counters, commands. It may return dict(q=..., v=...),
    which take the place of the state's, as a push does, and parameters by name, which are others from then on."""

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        """A number, or terms by name, whose sum is the reward and which are summed over the episode."""
        raise NotImplementedError(f"{type(self).__name__} has no method `reward`")

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        """Numbers, or groups of them by name, such as dict(actor=..., critic=...)."""
        raise NotImplementedError(f"{type(self).__name__} has no method `observe`")

    def mirror(self) -> Mapping[str, Mirror]:
        """Return, for a task whose left is like its right, how a mirror in the robot's middle plane shows each group of observations ("" where
        there are none) and the "action". Called after `model`."""
        raise NotImplementedError(
            f"{type(self).__name__} has no method `mirror`: its left is not known to be like its right"
        )
