"""MujocoEnv: one environment of a task, stepped by MuJoCo."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .._robot.steps import pass_count, step_op
from .._world.values import check_bound, parameter_sizes
from ..environment.kernels import engine_of
from ..environment.memory import Parameters, columns_of, shapes_of
from ..environment.recording import KEY, MEMORY, MOST, Recording, nominal_parameter
from .draws import NumberDraws
from .numbers import NumberMemory, Numbers, flat, numbers
from .parameters import write
from .simulated import Simulated
from .state import NumberState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..environment.batch import EnvBatch
    from ..environment.task import Task
    from ..model import Model

WRONG_FACTOR = "4.0.0"  # MuJoCo version whose Newton's method has a wrong factor in sparse form (its issue 3767)


class MujocoEnv:
    """One environment of a task whose robot comes from a model file, stepped by mj_step.

    The task's functions get numbers.

    env = MujocoEnv(fs.tasks.make("Go1JoystickFlat"))
    obs, info = env.reset(seed=1, env=42)                        # environment 42 of a batch of that seed
    obs, reward, terminated, truncated, info = env.step(action)  # action (actions,)

    converged   iterate MuJoCo's solver to convergence, as the engine does; else as the file says

    Random numbers equal the engine's: the same seed, environment and episode have the same first state, commands, noise
    and parameters.

    obs    (n,), or a dict of observation groups, float64
    info   as of EnvBatch.step, for one environment: "reward_terms", "non_finite", the outputs of `metrics`, and at the
           end of an episode "final_info" with its return, length and the sum of each term

    mj_model, mj_data   MuJoCo's objects; mj_data is as after mj_step
    model, dt, substeps, actions, low, high, groups, terms   as of an EnvBatch and its recording

    Errors: ValueError for a robot without a model file.
    """

    def __init__(self, task: Task, seed: int = 0, env: int = 0, converged: bool = False) -> None:
        name = type(task).__name__
        self.model = engine_of(task, None)
        self.task: Any = task  # its functions are called with numbers instead of symbols
        if self.model.compiled is None or step_op(self.model, name) != "world":
            raise ValueError(
                f"{name}: MuJoCo cannot move its robot {self.model.name}, which has no model file; expected a task whose `model` "
                "returns fs.load of an MJCF file, fs.from_mujoco, or a URDF in a world (fs.UrdfWorld)"
            )
        if task.randomise_at not in ("reset", "start"):
            raise ValueError(f"{name}: randomise_at is {task.randomise_at!r}, expected 'reset' or 'start'")
        check_bound(self.model, name)
        self.rules = Rules(task, self.model)
        self.dt, self.substeps, self.actions = self.rules.dt, self.rules.substeps, self.rules.actions
        self.low, self.high = self.rules.low, self.rules.high
        self.mj_model = adopted(self.model.compiled, converged)
        self.simulated = Simulated(self.mj_model)
        self.groups: dict[str, int] = {}
        self.terms: list[str] = []
        self.nominal = {
            name: nominal_parameter(self.model, name, self.rules.parameter_shape(name)).view(Numbers)
            for name in self.rules.parameters
        }
        self.parameters = {name: value.copy() for name, value in self.nominal.items()}
        self.seed, self.env, self.episode, self.steps = int(seed), int(env), 0, 0
        self.m = NumberMemory(self.rules.shapes, np.zeros(self.rules.size).tolist())
        self.ended, self.ctrl = True, np.zeros(self.mj_model.nu).view(Numbers)
        self.sums: list[float] = []
        self.taken: dict[str, int] = {}
        self.frames: Any = None

    @property
    def mj_data(self) -> Any:
        return self.simulated.data

    @property
    def q(self) -> Any:
        return np.array(self.mj_data.qpos)

    @property
    def v(self) -> Any:
        return np.array(self.mj_data.qvel)

    def memory(self, name: str) -> Any:
        """Return a copy of rows of the memory."""
        return np.array(getattr(self.m, name))

    def parameter(self, name: str) -> Any:
        """Return a copy of a model parameter, as drawn for the episode."""
        return np.array(self.parameters[name])

    def put(self, **values: Any) -> None:
        """Set parameters by name, until they are drawn again, or rows of the memory by name."""
        changed = {}
        for name, value in values.items():
            if name in self.parameters:
                self.parameters[name][...] = value
                changed[name] = self.parameters[name]
            else:
                setattr(self.m, name, value)
        write(self.mj_model, changed)

    def push(self, velocity: Any) -> None:
        """Add to the first k velocities, between two control steps."""
        v = self.v
        v[: len(velocity)] += velocity
        self.simulated.move(self.q, v)

    # -- episodes

    def reset(
        self,
        *,
        seed: int | None = None,
        env: int | None = None,
        episode: int | None = None,
        kept: Mapping[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode and return (obs, info).

        seed, env   draw the numbers of environment `env` in a batch with this seed. None: unchanged
        episode     number of the episode, from 1. None: 1 if seed or env is given, else the next one
        kept        values of the kept memory, by name. None: the present values
        """
        others = seed is not None or env is not None
        number = self.env if env is None else int(env)
        coming = (1 if others else self.episode + 1) if episode is None else int(episode)
        if not 0 <= number < 2**32 or not 1 <= coming < 2**24:
            raise ValueError(f"reset: env is {number}, episode {coming}, expected numbers from 0 and from 1 on")
        self.seed, self.env, self.episode = self.seed if seed is None else int(seed), number, coming
        begins = others or self.episode == 1
        m = NumberMemory(self.rules.shapes, np.zeros(self.rules.size).tolist())
        for name in self.rules.kept_names if not begins else ():
            setattr(m, name, getattr(self.m, name))
        for name, value in (kept or {}).items():
            setattr(m, name, value)
        task, rng = self.task, self.draws("reset", 0)
        if task.randomise is not None and (begins or task.randomise_at == "reset"):
            self.randomise(rng, m)
        q, v, act = (np.array(x, float) for x in self.rules.first_state(self.rules.call("reset", m, rng)))
        self.simulated.begin(q, v, act)
        self.m, self.steps, self.ended, self.sums = m, 0, False, []
        self.ctrl = np.zeros(self.mj_model.nu).view(Numbers)
        x = self.state()
        self.rules.call("begin", x, m, rng)
        return self.observed(task.observe(x, m, rng)), {}

    def follow(self, batch: EnvBatch, number: int) -> None:
        """Continue from an environment in a batch of the same task: state, memory, parameters and random counters.

        Forces and accelerations of the last solve are not copied; the next step computes them.
        """
        key = [int(x) for x in np.asarray(batch.view(KEY))[number]]
        self.seed, self.env = (sum(x << 16 * k for k, x in enumerate(part)) for part in (key[:4], key[4:]))
        self.episode, self.steps = int(batch.episode[number]), int(batch.episode_length[number])
        for name in self.parameters:
            self.parameters[name][...] = np.reshape(batch.parameter(name)[number], self.parameters[name].shape)
        write(self.mj_model, self.parameters)
        rows = np.asarray(batch.view(MEMORY))[number].tolist() if self.rules.size else []
        self.m = NumberMemory(self.rules.shapes, rows)
        state = {
            name: np.asarray(batch.view(name))[number] if name in batch.storage else []
            for name in ("q", "v", "act", "qacc")
        }
        self.simulated.begin(*(np.array(state[name], float) for name in ("q", "v", "act")))
        self.simulated.go_on(state["qacc"], self.steps * self.dt)
        self.ended, self.sums = False, []

    def randomise(self, rng: NumberDraws, m: NumberMemory) -> None:
        task = self.task
        asked = (rng, Parameters(self.nominal), m)
        drawn = task.randomise(*asked[: len(inspect.signature(task.randomise).parameters)])
        if not hasattr(drawn, "items"):
            raise TypeError(f"randomise returned a {type(drawn).__name__}, expected parameters by name")
        self.set_parameters("randomise", drawn)

    def set_parameters(self, what: str, values: Mapping[str, Any]) -> None:
        if strange := sorted(set(values) - set(self.parameters)):
            raise ValueError(
                f"{what} returned {strange[0]!r}, which is not among the environment's parameters: "
                f"{', '.join(self.parameters) or 'none'}"
            )
        for name, value in values.items():
            self.parameters[name][...] = numbers(value)
        write(self.mj_model, self.parameters)

    def draws(self, function: str, step: int) -> NumberDraws:
        return NumberDraws(self.seed, self.env, self.episode, step, function, self.taken)

    def state(self, ctrl: Any = None) -> NumberState:
        """Return the present state, as the task's functions see it."""
        given = self.ctrl if ctrl is None else ctrl
        return NumberState.of(self.simulated, self.model, float(self.steps), self.dt, self.parameters, given)

    # -- a control step

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make a control step with action (actions,). Return (obs, reward, terminated, truncated, info)."""
        if self.ended:
            raise RuntimeError(f"{type(self.task).__name__}: step() before reset()")
        given = np.asarray(action, float)
        if given.shape != (self.actions,):
            raise ValueError(f"step: action has shape {given.shape}, expected {(self.actions,)}")
        with np.errstate(all="ignore"):  # the state may be not finite
            fine = np.abs(given) < MOST
            a = np.where(fine, given, 0.0)
            if self.task.clip:
                a = np.clip(a, self.low, self.high)
            a = a.view(Numbers)
            for k in range(self.substeps):
                self.drive(a)
                self.simulated.step(self.ctrl, k == self.substeps - 1)
            return self.judge(a, bool(fine.all()))

    def drive(self, a: Any) -> None:
        found: Any = a
        if self.task.actuate is not None or self.task.adapt is not None:
            x = NumberState.of(self.simulated, self.model, float(self.steps), self.dt, self.parameters)
            if self.task.actuate is not None:
                found = self.task.actuate(x, a, self.m)
            if self.task.adapt is not None:
                self.put(**self.task.adapt(x, self.m))
        self.ctrl = listed(found, "actuate: ctrl", self.mj_model.nu)

    def judge(self, a: Any, fine: bool) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Compute the results of a control step: reward, ends, `after`, observation.

        The order is that of environment.recording.Recording.finish.
        """
        task, m, was = self.task, self.m, flat(self.m)
        self.steps += 1
        x = self.state()
        total, terms = self.rewards(task.reward(x, a, m))
        fine = fine and bool((np.abs(np.asarray(x)) < MOST).all()) and bool(abs(total) < MOST)
        ends = self.rules.call("terminate", x, m)
        terminated = not fine or (ends is not None and bool(one(ends, "terminate")))
        truncated = task.steps is not None and self.steps >= task.steps
        if task.reward_floor is not None:
            total = max(total, task.reward_floor)
        reward, shown_terms = (total, terms) if fine else (0.0, dict.fromkeys(terms, 0.0))
        info: dict[str, Any] = {
            "non_finite": not fine,
            **{
                name: y[0] if len(y := listed(value, f"metrics: {name}")) == 1 else y
                for name, value in (self.rules.call("metrics", x, a, m) or {}).items()
            },
        }
        if terms:
            info["reward_terms"] = shown_terms
        x = self.moved(self.rules.call("after", x, a, m, self.draws("after", self.steps - 1)), x)
        obs = self.observed(task.observe(x, m, self.draws("observe", self.steps - 1)), fine)
        if not fine:
            now = flat(m)
            kept = sorted(self.rules.kept())
            now[kept] = was[kept]
            self.m = NumberMemory(self.rules.shapes, now.tolist())
        row = [reward, *shown_terms.values()]
        self.sums = [a + b for a, b in zip(self.sums, row)] if self.sums else row
        self.ended = terminated or truncated
        if self.ended:
            info["final_info"] = {
                "return": self.sums[0], "length": self.steps, "reward_terms": dict(zip(self.terms, self.sums[1:])),
            }  # fmt: skip
        return obs, reward, terminated, truncated, info

    def rewards(self, found: Any) -> tuple[float, dict[str, float]]:
        """Return the reward and its terms, scaled."""
        scale = self.task.reward_scale
        if not hasattr(found, "items"):
            self.terms = []
            return scale * one(found, "reward"), {}
        terms = {name: one(value, f"reward: {name}") for name, value in found.items()}
        self.terms = list(terms)
        return scale * sum(terms.values()), {name: scale * value for name, value in terms.items()}

    def moved(self, found: Any, x: NumberState) -> NumberState:
        """Apply the changes that `after` returned, and return the state."""
        if found is None:
            return x
        sizes = {"q": self.model.nq, "v": self.model.nv, **self.rules.parameters}
        if not hasattr(found, "items") or set(found) - set(sizes):
            raise TypeError(f"after returned {found!r}, expected None or a dict of {', '.join(sizes)}")
        changed = {name: np.broadcast_to(numbers(found[name]), (sizes[name],)) for name in ("q", "v") if name in found}
        self.simulated.move(changed.get("q", self.q), changed.get("v", self.v))
        if drawn := {name: value for name, value in found.items() if name in self.parameters}:
            self.set_parameters("after", drawn)
        return self.state()

    def observed(self, found: Any, fine: bool = True) -> Any:
        """Return the observation, or its groups; zeros if the state is not finite."""
        named = hasattr(found, "items")
        groups = {
            str(name): np.asarray(listed(value, "observe"))
            for name, value in (found.items() if named else [("", found)])
        }
        sizes = {name: len(value) for name, value in groups.items()}
        if not sizes or not all(sizes.values()):
            raise ValueError("observe returned no numbers")
        if self.groups and sizes != self.groups:
            raise ValueError(f"observe returned {sizes} numbers, before {self.groups}")
        self.groups = sizes
        groups = groups if fine else {name: np.zeros(n) for name, n in sizes.items()}
        return groups if named else groups[""]

    # -- rendering

    def render(self, width: int = 640, height: int = 480, camera: Any = None) -> Any:
        """Return an image (height, width, 3) of the present state, by MuJoCo's renderer.

        camera   None: a camera that follows a robot with a moving root

        Errors: those of viewing.Frames.
        """
        if self.frames is None:
            from ..viewing.frames import Frames
            from .scene import OneScene, along

            self.frames = Frames(OneScene(self), None, width, height, camera or along(self))
        return self.frames.render()

    def close(self) -> None:
        """Release the resources of `render`; the next call allocates them again."""
        if self.frames is not None:
            self.frames.close()
            self.frames = None


class Rules(Recording):
    """The parts of a Recording that need no trace: times, sizes, ranges, first states."""

    def __init__(self, env: Task, model: Model) -> None:
        self.env, self.model, self.op, self.world = env, model, "world", True
        self.dt, self.substeps = pass_count(type(env).__name__, model, self.op, env.dt, env.substeps)
        self.pass_time = self.dt / self.substeps
        self.shapes = shapes_of(env.memory)
        self.size = sum(columns.stop - columns.start for columns in columns_of(self.shapes).values())
        self.driven = model.n_ctrl
        self.actions = self.driven if env.actions is None else int(env.actions)
        if env.actuate is None and self.actions != self.driven:
            raise ValueError(
                f"{type(env).__name__}: actions is {self.actions}, expected {self.driven}, or a method `actuate`"
            )
        self.low, self.high = self.action_range()
        self.parameters = parameter_sizes(model)
        self.kept_names = (env.kept,) if isinstance(env.kept, str) else tuple(env.kept)
        self.kept()


def adopted(compiled: Any, converged: bool) -> Any:
    """Return a copy of a compiled model for stepping.

    MuJoCo's automatic reset is disabled, since it would restart the simulation without a notice. The environment
    handles numbers that are not finite.
    """
    m = compiled.__copy__()
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    if converged or mujoco.__version__ == WRONG_FACTOR:
        m.opt.jacobian = int(mujoco.mjtJacobian.mjJAC_DENSE)
    if converged:
        m.opt.tolerance, m.opt.iterations = 0.0, max(int(m.opt.iterations), 100)
    return m


def listed(x: Any, what: str, size: int | None = None) -> Numbers:
    """Convert the result of a function to one row of numbers, and check its `size` if given."""
    if x is None:
        raise TypeError(f"{what} returned None, expected numbers")
    if isinstance(x, (tuple, list)):
        x = np.concatenate([np.ravel(numbers(part)) for part in x]) if len(x) else np.zeros(0)
    row: Numbers = np.ravel(numbers(x)).view(Numbers)
    if size is not None and len(row) != size:
        raise ValueError(f"{what} returned {len(row)} numbers, expected {size}")
    return row


def one(x: Any, what: str) -> float:
    return float(listed(x, what, 1)[0])
