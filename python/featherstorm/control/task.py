"""Tasks: a robot in MuJoCo C, a planner with a model of its own, what counts as success, and the record of a run."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import mujoco
import numpy as np

from ..planning import DIAL

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ..planning import Planner
    from ..rollout import Rollout
    from ..typing import Doubles as Array


@dataclass
class Run:
    """A closed loop.

    seconds      simulated time [s];  fell  time of the fall [s], None without one
    reached      of a task with `hold`: the time at which its goal began to hold for as long [s], None if it never did.
                 The run ends there
    velocities   (n, k) Task.velocity after every step that counts: of a quadruped forward, to the left, turn rate
    error        root mean square of the task's error from SETTLED on, without RECOVERY after each push; NaN if the robot
                 fell before
    succeeded    by the rule of the task
    plan_times   (plans,) time that this computer took for each plan but the first [s]
    late         share of plans that took longer than a control step; in real time of those that were not ready in time
    failed       plans without a sample of finite cost, where the last plan went on
    slipped      in real time: the greatest delay of a step of the robot behind the clock [s]
    """

    seconds: float = 0.0
    fell: float | None = None
    reached: float | None = None
    velocities: Array = field(default_factory=lambda: np.zeros((0, 3)))
    error: float = float("nan")
    succeeded: bool = False
    plan_times: Array = field(default_factory=lambda: np.zeros(0))
    late: float = 0.0
    failed: int = 0
    slipped: float = 0.0


class Task:
    """Base of the tasks. A task has a `rollout` of the planner's model, bounds of its controls, and makes the robot.

    samples, iterations, horizon   of the planner, None: those of the class
    weights    of the terms of the cost, by their names in WEIGHTS; others have these values

    dt         time of a control step and period of the plans [s]
    seconds    time of a run [s]
    hold       time for which `is_reached` has to be true without a break, within `seconds` [s]. None: the task tracks a
               command, and its root mean square `error` has to be below `within`
    unit       of the error
    rest       (nu,) controls before the first plan;  lower, upper  (nu,) their bounds;  spread  (nu,) DIAL's sigma
    p          parameters of the cost
    """

    dt = 0.02
    seconds = 8.0
    hold: float | None = None
    within = 0.1
    unit = "m/s"
    samples, iterations, horizon, knots = 256, 2, 16, 5
    temperature = 0.1  # of DIAL
    WEIGHTS: ClassVar[Mapping[str, float]] = {}

    rollout: Rollout
    rest: Array
    lower: Array
    upper: Array
    spread: Array
    p: Array | None = None

    def __init__(
        self,
        *,
        samples: int | None = None,
        iterations: int | None = None,
        horizon: int | None = None,
        weights: Mapping[str, float] | None = None,
    ) -> None:
        weights = dict(weights or {})
        if unknown := set(weights) - set(self.WEIGHTS):
            name, known = type(self).__name__, ", ".join(self.WEIGHTS)
            raise ValueError(f"{name}: weights have {min(unknown)!r}, expected some of {known}")
        self.weights = {**self.WEIGHTS, **weights}
        self.samples = self.samples if samples is None else samples
        self.iterations = self.iterations if iterations is None else iterations
        self.horizon = self.horizon if horizon is None else horizon

    def planner(self, seed: int = 0) -> Planner:
        """Return a planner, which begins with the controls `rest`."""
        planner = DIAL(
            self.rollout, self.horizon, len(self.rest), samples=self.samples, iterations=self.iterations, knots=self.knots,
            sigma=self.spread, temperature=self.temperature, lower=self.lower, upper=self.upper, seed=seed,
        )  # fmt: skip
        planner.reset(np.tile(self.rest, (self.horizon, 1)))
        return planner

    def plant(self, seed: int = 0, mass: float = 1.0, friction: float | None = None) -> Plant:
        """Return the robot at the beginning of a run. seed: of its state; mass, friction: see Plant."""
        raise NotImplementedError(f"{type(self).__name__} has no method `plant`")

    def error(self, plant: Plant) -> float:
        """Return the error of a task that tracks a command."""
        return 0.0

    def is_reached(self, plant: Plant) -> bool:
        """Return whether the robot is where a task with `hold` wants it."""
        return False

    def has_fallen(self, plant: Plant) -> bool:
        """Return whether the run has failed for good."""
        return not bool(np.isfinite(plant.data.qpos).all())

    def velocity(self, plant: Plant) -> Array:
        """Return the numbers that Run.velocities records after a step."""
        return np.zeros(0)

    def has_succeeded(self, run: Run) -> bool:
        return run.fell is None and (run.error < self.within if self.hold is None else run.reached is not None)


class Plant:
    """A robot that MuJoCo simulates, under the controls of its actuators.

    model          a mujoco.MjModel; it is copied
    mass           factor of all masses and inertias
    friction       of all geoms and pairs; None: those of the model

    data   the mujoco.MjData;  time [s]
    """

    def __init__(self, model: Any, mass: float = 1.0, friction: float | None = None) -> None:
        self.model = copy.copy(model)
        if mass <= 0 or (friction is not None and friction < 0):
            raise ValueError(f"Plant: mass is {mass} and friction {friction}, expected a positive factor and 0 or more")
        self.data: Any = mujoco.MjData(self.model)
        if mass != 1.0:
            self.model.body_mass[:] *= mass
            self.model.body_inertia[:] *= mass
            mujoco.mj_setConst(self.model, self.data)
        if friction is not None:
            self.model.geom_friction[:, 0] = friction
            self.model.pair_friction[:, :2] = friction

    @property
    def time(self) -> float:
        return float(self.data.time)

    @property
    def state(self) -> Array:
        """(nq + nv) q, then v, as measured."""
        return np.concatenate([self.data.qpos, self.data.qvel])

    def reset(self, q: npt.ArrayLike, settle: float = 0.0, control: npt.ArrayLike = 0.0) -> None:
        """Begin at rest at q (nq), after some time [s] under a control."""
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = q
        self.data.ctrl[:] = control
        if settle:
            mujoco.mj_step(self.model, self.data, round(settle / self.model.opt.timestep))
            self.data.time = 0.0
        mujoco.mj_forward(self.model, self.data)

    def step(self, control: npt.ArrayLike) -> None:
        """Step once under controls (nu,)."""
        self.data.ctrl[:] = control
        mujoco.mj_step(self.model, self.data)

    def push(self, velocity: npt.ArrayLike) -> None:
        """Change the velocity of a floating root, (2,) [m/s] along x and y of the world.

        Errors: ValueError for a robot whose first joint is not free.
        """
        if self.model.jnt_type[0] != mujoco.mjtJoint.mjJNT_FREE:
            raise ValueError("Plant: push needs a floating root, and the first joint is not free; leave the pushes out")
        self.data.qvel[:2] += velocity

    def position(self, name: str) -> Array:
        """Return the position (3,) of a site, or of a body where no site has the name [m]."""
        d = self.data
        site = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_SITE, name)
        return np.array(d.site_xpos[site] if site >= 0 else d.body(name).xpos)

    @property
    def upright(self) -> float:
        """Vertical component of the trunk's z axis: 1 upright, 0 on its side."""
        w, x, y, z = self.data.qpos[3:7]
        return float(1 - 2 * (x * x + y * y) / (w * w + x * x + y * y + z * z))

    @property
    def heading_velocity(self) -> Array:
        """(3,) velocity of the trunk forward and to its left, in the plane [m/s], and its turn rate [rad/s]."""
        w, x, y, z = self.data.qpos[3:7]
        forward = np.array([1 - 2 * (y * y + z * z), 2 * (x * y + w * z)])
        forward /= max(float(np.hypot(*forward)), 1e-9)
        v, turn = self.data.qvel[:2], self.data.qvel[3:6]
        up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
        return np.array([forward @ v, forward[0] * v[1] - forward[1] * v[0], up @ turn])
