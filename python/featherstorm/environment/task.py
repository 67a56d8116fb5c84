"""Members of a task: its robot, its numbers, and the functions of its episodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ..model import Model
    from ..typing import ArrayLike, Names
    from .draws import Draws, Memory
    from .mirror import Mirror
    from .state import EnvironmentState as State


class Task:
    """Base of Env with the members that a subclass may override; see there."""

    dt: float | None = None
    """Time of a control step [s]; with a world a multiple of the file's timestep. None: `substeps` of it."""
    substeps: int | None = None
    """Number of substeps in a control step. None: dt over the file's timestep."""
    steps: int | None = 1000
    """Control steps after which an episode is truncated. None: never."""
    memory: Mapping[str, Any] = {}
    """name -> size or shape."""
    kept: Names = ()
    """Names of the memory that stay when an episode ends, such as the level of a curriculum."""
    actions: int | None = None
    """Size of an action. None: the number of the file's actuators' controls, for a robot without a world nv."""
    action_range: tuple[ArrayLike, ArrayLike] | None = None
    """Lowest and highest action, which may be infinite.

    None: the ranges of the file's actuators where actions are their controls, infinite for an actuator without a range;
    else -1 to 1."""
    clip: bool = True
    """True: clip actions to their range. An action that is not finite ends the episode in any case."""
    parameters: Names = ()
    """Parameters of the model that `randomise` draws, or `adapt` or `after` change, by MuJoCo's names (Model.bind)."""
    randomise_at: str = "reset"
    """Time of the draw: "reset", for each episode, or "start", when EnvBatch.reset() is called."""
    reward_scale: float = 1.0
    """Factor of all terms of the reward, such as dt."""
    reward_floor: float | None = None
    """Lower bound of the reward of a step. None: no bound."""
    observation_range: tuple[ArrayLike, ArrayLike] | None = None
    """Lowest and highest numbers of an observation, for spaces. None: unbounded."""
    law: object = "mujoco"
    """Law of contacts and constraints; see Rollout."""
    metadata: ClassVar[dict[str, Any]] = {}

    def __repr__(self) -> str:
        limit = "of any length" if self.steps is None else f"of at most {self.steps} control steps"
        return f"<featherstorm task {type(self).__name__}: episodes {limit}>"

    def model(self) -> Model:
        """Return the robot. Called once for a task's object."""
        raise NotImplementedError(f"{type(self).__name__} has no method `model`, which returns a robot")

    def look(self) -> Any:
        """Return a model for pictures: a mujoco.MjModel with the same bodies and joints, such as one with meshes.

        None: the model of the file.
        """
        return None

    randomise: Callable[..., Mapping[str, Any]] | None = None
    """randomise(rng, p), or randomise(rng, p, m): parameters by name, in the model's shapes, for an episode.

    m: the memory that `reset` receives afterwards, zero except for kept rows, such as the level of a curriculum."""
    reset: Callable[[Memory, Draws], Any] | None = None
    """reset(m, rng): q and v, or q, v and act, at the beginning of an episode. None: the model's defaults, at rest."""
    begin: Callable[[State, Memory, Draws], None] | None = None
    """begin(x, m, rng): sets memory that depends on the first state of an episode."""
    actuate: Callable[[State, Any, Memory], Any] | None = None
    """actuate(x, a, m): controls of the file's actuators before each substep. None: a.

    For a robot without a world it returns torques (nv)."""
    adapt: Callable[[State, Memory], Mapping[str, Any]] | None = None
    """adapt(x, m): parameters by name, in the model's shapes, from the next substep on.

    Runs before each substep, after `actuate`. Example: a plane that follows a foot over curved ground."""
    terminate: Callable[[State, Memory], Any] | None = None
    """terminate(x, m): a condition that ends the episode."""
    metrics: Callable[[State, Any, Memory], Mapping[str, Any]] | None = None
    """metrics(x, a, m): numbers by name for the info of step(), computed together with the reward."""
    after: Callable[[State, Any, Memory, Draws], Any] | None = None
    """after(x, a, m, rng): changes between the reward and the observation, such as counters and commands.

    It may return dict(q=..., v=...), which replaces the state's values, as for a push, and parameters by name, which apply
    from then on."""

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        """Return a number, or terms by name. The reward is their sum; each term is also summed over the episode."""
        raise NotImplementedError(f"{type(self).__name__} has no method `reward`")

    def observe(self, x: State, m: Memory, rng: Draws) -> Any:
        """Return numbers, or groups of them by name, such as dict(actor=..., critic=...)."""
        raise NotImplementedError(f"{type(self).__name__} has no method `observe`")

    def mirror(self) -> Mapping[str, Mirror]:
        """Return the mirror images, in the robot's middle plane, of each group of observations and of "action".

        For tasks that are symmetric. A single group is named "". Called after `model`.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no method `mirror`: its left is not known to be like its right"
        )
