"""MujocoEnv: one environment of a task, stepped by MuJoCo."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import viewing
from .._names import expect_shape
from .._robot.steps import step_op
from .._world.values import check_bound
from ..environment.batch import MOST_COUNT, EnvBatch
from ..environment.draws import Memory, numbers_of
from ..environment.kernels import Kernels, engine_of
from ..environment.recording import ACTION, BAD, KEY, MASK, MEMORY, SUMS, TAKEN, Stage
from ..environment.storage import Storage
from .simulated import Simulated, write

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ..environment.task import Task

WRONG_FACTOR = "4.0.0"  # MuJoCo version whose Newton's method has a wrong factor in sparse form (its issue 3767)


class MujocoEnv:
    """One environment of a task whose robot comes from a model file, stepped by mj_step.

    The task's functions are the compiled programs of an EnvBatch of one environment in float64.

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
    parameters, nominal   sizes of the model's parameters, and their values in the file, by name

    Errors: ValueError for a robot without a model file.
    """

    def __init__(self, task: Task, seed: int = 0, env: int = 0, converged: bool = False) -> None:
        name = type(task).__name__
        self.task, self.model = task, engine_of(task, None)
        if self.model.compiled is None or step_op(self.model, name) != "world":
            raise ValueError(
                f"{name}: MuJoCo cannot move its robot {self.model.name}, which has no model file; expected a task "
                "whose `model` returns fs.load of an MJCF file, fs.from_mujoco, or a URDF in a world (fs.UrdfWorld)"
            )
        check_bound(self.model, name)
        self.programs = Programs(task, self.model, "float64", "disabled")
        r = self.recording = self.programs.recording
        self.dt, self.substeps, self.actions, self.low, self.high = r.dt, r.substeps, r.actions, r.low, r.high
        self.groups, self.terms, self.parameters = r.groups, r.terms, r.parameters
        self.batch = EnvBatch(
            task, 1, seed, dtype="float64", autoreset="disabled", arrays="numpy", kernels=self.programs
        )
        sizes = {ACTION: r.actions, TAKEN: r.actions, BAD: 1, "ctrl": r.driven, **self.programs.measured}
        self.between = Storage(self.batch.library, "float64", 1, sizes, ())  # arrays that are stages' own in a batch
        for array in self.between.places:
            self.between.put(array, 0)
        self.select(None, env, 1)
        self.mj_model = adopted(self.model.compiled, converged)
        self.simulated = Simulated(self.mj_model)
        self.nominal = {name: self.parameter(name) for name in self.parameters}
        self.written = dict(self.nominal)
        self.ended = True
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

    @property
    def episode(self) -> int:
        return int(self.batch.episode[0])

    @property
    def steps(self) -> int:
        """Control steps since the episode began."""
        return int(self.batch.episode_length[0])

    @property
    def sums(self) -> list[float]:
        """The sum of the episode's rewards, then of each of the reward's terms."""
        return self.batch.view(SUMS)[0].tolist()

    def memory(self, name: str) -> Any:
        """Return a copy of rows of the memory."""
        return np.array(self.batch.memory(name)[0])

    def parameter(self, name: str) -> Any:
        """Return a copy of a model parameter, as drawn for the episode."""
        return np.reshape(np.array(self.batch.parameter(name)[0]), self.recording.parameter_shape(name))

    def put(self, **values: Any) -> None:
        """Set parameters by name, until they are drawn again, or rows of the memory by name."""
        for name, value in values.items():
            if name in self.parameters:
                spread = np.broadcast_to(value, self.recording.parameter_shape(name))
                self.batch.storage.put(name, spread.reshape(1, -1))
            else:
                self.remember(name, value)
        self.load()

    def remember(self, name: str, value: Any) -> None:
        rows = self.batch.view(MEMORY)[0] if self.recording.size else np.zeros(0)
        m = Memory(self.recording.shapes, rows.tolist())
        setattr(m, name, value)
        rows[:] = numbers_of(m)

    def push(self, velocity: Any) -> None:
        """Add to the first k velocities, between two control steps."""
        self.mj_data.qvel[: len(velocity)] += velocity

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
        coming = (1 if others else self.episode + 1) if episode is None else int(episode)
        self.select(seed, env, coming)
        begins = others or coming == 1
        if begins and self.recording.size:
            self.batch.storage.put(MEMORY, 0)
        for name, value in (kept or {}).items():
            self.remember(name, value)
        mujoco.mj_resetData(self.mj_model, self.mj_data)
        self.batch.storage.put(MASK, 1)
        draws_parameters = begins or self.task.randomise_at == "reset"
        self.run(self.programs.restarting if draws_parameters else self.programs.continuing)
        self.ended = False
        return alone(self.batch.results(None).observed()), {}

    def select(self, seed: int | None, env: int | None, episode: int) -> None:
        """Set the counters of the random numbers for the episode that begins next."""
        if (env is not None and not 0 <= int(env) < 2**32) or not 1 <= episode < MOST_COUNT:
            raise ValueError(f"reset: env is {env}, episode {episode}, expected numbers from 0 and from 1 on")
        key = self.batch.view(KEY)[0]
        if seed is not None:
            key[:4] = [int(seed) >> 16 * k & 0xFFFF for k in range(4)]
        if env is not None:
            key[4:] = [int(env) >> 16 * k & 0xFFFF for k in range(2)]
        self.batch.episode[:] = episode - 1

    def follow(self, batch: EnvBatch, number: int) -> None:
        """Continue from an environment in a batch of the same task: state, memory, parameters and random counters.

        Forces and accelerations of the last solve are not copied; the next step computes them.
        """
        mujoco.mj_resetData(self.mj_model, self.mj_data)
        for name in self.batch.state:
            self.batch.storage.put(name, np.asarray(batch.view(name))[number])
        self.load()
        if "qacc" in self.batch.storage:
            self.mj_data.qacc_warmstart[:] = self.batch.view("qacc")[0]
        self.mj_data.time, self.ended = self.steps * self.dt, False

    # -- a control step

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Make a control step with action (actions,). Return (obs, reward, terminated, truncated, info)."""
        if self.ended:
            raise RuntimeError(f"{type(self.task).__name__}: step() before reset()")
        given = np.asarray(action, float)
        expect_shape("step: action", given.shape, (self.actions,))
        for k in range(self.substeps):
            self.simulated.step(self.drive(given), k == self.substeps - 1)
        self.measure()
        self.run(self.programs.stepping)
        for name in self.programs.measured:  # `actuate` and `adapt` read zeros, as in an EnvBatch
            self.between.put(name, 0)
        obs, reward, terminated, truncated, info = alone(self.batch.results(None).step())
        final = info.pop("final_info")
        info = {name: value for name, value in info.items() if name not in ("final_obs", "_final_obs", "_final_info")}
        self.ended = terminated or truncated
        if self.ended:
            sums = {"return": final.pop("return"), "length": int(final.pop("length"))}
            info["final_info"] = {**sums, "reward_terms": final}
        return obs, reward, terminated, truncated, info

    def drive(self, action: Any) -> Any:
        """Return the controls of the next substep under an action."""
        if self.actions:
            self.between.put(ACTION, action)
        self.run(self.programs.driving)
        return self.between.view("ctrl")[0] if self.recording.driven else np.zeros(0)

    @np.errstate(all="ignore")  # the state may be not finite
    def measure(self) -> None:
        """Compute the forces and accelerations that the task's functions read, from mjData."""
        r, simulated = self.recording, self.simulated
        for quantities, data in ((r.at_solve, simulated.at_solve), (r.at_last_stage, simulated.at_last_stage)):
            for name, (size, function) in quantities.functions.items() if quantities else ():
                if size:
                    self.between.put(name, np.ravel(function(data)))  # type: ignore[arg-type]  # has Instance's methods

    def run(self, program: Any) -> None:
        """Run stages on the state of mjData; MuJoCo gets the state and the parameters that they return."""
        for name, x in self.state():
            self.batch.storage.put(name, x)
        arrays = [
            array
            for storage in (self.batch.storage, self.between)
            for array in storage.bound(name for name in storage.sizes if program.components(name) >= 0)
        ]
        program.run(1, 1, arrays, {}, arrays)
        self.load()

    def load(self) -> None:
        """Copy the state and changed parameters from the engine's arrays to MuJoCo."""
        for name, x in self.state():
            x[:] = self.batch.view(name)[0]
        present = {name: self.parameter(name) for name in self.parameters}
        write(self.mj_model, {name: x for name, x in present.items() if not np.array_equal(x, self.written[name])})
        self.written = present

    def state(self) -> Iterator[tuple[str, Any]]:
        d = self.mj_data
        state = (("q", d.qpos), ("v", d.qvel), ("act", d.act))
        return ((name, x) for name, x in state if name in self.batch.storage)

    # -- rendering

    def render(self, width: int = 640, height: int = 480, camera: Any = None) -> Any:
        """Return an image (height, width, 3) of the present state, by MuJoCo's renderer.

        camera   None: a camera that follows a robot with a moving root

        Errors: those of viewing.Frames.
        """
        if self.frames is None:
            from .scene import OneScene, along  # here: it imports the viewer, which pools of processes do not need

            self.frames = viewing.Frames(OneScene(self), None, width, height, camera or along(self))
        return self.frames.render()

    def close(self) -> None:
        """Release the resources of `render`; the next call allocates them again."""
        if self.frames is not None:
            self.frames.close()
            self.frames = None


class Programs(Kernels):
    """The stages of a task around the substeps that MuJoCo makes.

    driving      stages before a substep: the action within its range, `actuate`, `adapt`
    stepping     stages after the last substep
    restarting   stages that begin an episode; continuing: the same with the parameters of the previous episode
    measured     sizes of the quantities of the last substep that these stages read, by name
    """

    def __init__(self, task: Task, model: Any, dtype: str, autoreset: str) -> None:
        super().__init__(task, model, dtype, autoreset)
        r = self.recording
        self.driving = self.made([], [], [*r.before, *r.each_pass])
        self.continuing = self.restarting
        if task.randomise_at == "start":
            self.continuing = self.made([], [], [r.restart(MASK, False)])
        self.measured = {
            name: size for kept in (r.at_solve, r.at_last_stage) if kept for name, size in kept.sizes.items() if size
        }

    def sequence(self, after: list[Stage], steps: bool, first: Sequence[Stage] = ()) -> Any:
        return self.made([], [], after)


def alone(x: Any) -> Any:
    """Return a copy of the results of one environment, from those of a batch of one."""
    if isinstance(x, dict):
        return {name: alone(value) for name, value in x.items()}
    if isinstance(x, tuple):
        return tuple(map(alone, x))
    return x[0].copy() if x.ndim > 1 else x[0].item()


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
