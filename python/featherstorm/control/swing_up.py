"""Pendulums that one motor swings up and balances: a pole on a cart, and an acrobot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import mujoco
import numpy as np

from .. import loading
from .._robot.urdf import UrdfWorld
from ..derivatives import linearize
from ..rollout import Rollout
from .task import Plant, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt

    from ..model import Model
    from ..symbols import State, Symbols
    from ..typing import Doubles as Array


UPRIGHT = 0.95  # least cosine of an angle from the vertical
ACROBOT = """
<mujoco model="acrobot">
  <option integrator="implicitfast"/>
  <default><geom type="capsule" size=".05" contype="0" conaffinity="0" mass="1"/><joint axis="0 1 0" damping=".05"/></default>
  <worldbody>
    <body pos="0 0 2">
      <joint name="shoulder"/>
      <geom fromto="0 0 0 0 0 1"/>
      <body pos="0 0 1">
        <joint name="elbow"/>
        <geom fromto="0 0 0 0 0 1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="elbow" ctrllimited="true" ctrlrange="-15 15"/></actuator>
</mujoco>
"""


class SwingUp(Task):
    """Base of the swing-ups. Success: the cosines of all angles from the vertical stay above 0.95 for 2 s, within 10 s.

    threads   of the planner
    """

    seconds, hold = 10.0, 2.0
    samples, horizon, knots = 256, 50, 10

    def __init__(self, *, threads: int = 1, **options: Any) -> None:
        super().__init__(**options)
        model = loading.from_mujoco(self.world(0.01), threads=threads)
        limits = np.array([model.ctrl_lower, model.ctrl_upper])
        self.lower, self.upper = np.where(np.isfinite(limits), limits, 0.0)  # the pole's motor has no effort
        self.rest, self.spread = np.zeros(len(self.lower)), 0.5 * (self.upper - self.lower)
        self.rollout = Rollout(model, self.dt, self.cost, control=self.control, law="planning")

    def world(self, timestep: float) -> Any:
        """Return the robot's MjModel."""
        raise NotImplementedError(f"{type(self).__name__} has no method `world`")

    def angles(self, q: Any) -> Any:
        """Return angles from the vertical."""
        raise NotImplementedError(f"{type(self).__name__} has no method `angles`")

    def control(self, x: State, u: Any, t: Any = None, p: Any = None) -> Any:
        """Return the controls of the actuators."""
        return u

    def cost(self, x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        raise NotImplementedError(f"{type(self).__name__} has no method `cost`")

    def plant(self, seed: int = 0, mass: float = 1.0, friction: float | None = None) -> Plant:
        """Return the robot, which hangs, within 0.3 rad and 0.3 m."""
        plant = Plant(self.world(0.002), mass, friction)
        plant.reset(self.hanging + np.random.default_rng(seed).uniform(-0.3, 0.3, len(self.hanging)))
        return plant

    hanging: Array

    def is_reached(self, plant: Plant) -> bool:
        return bool((np.cos(self.angles(plant.data.qpos)) > UPRIGHT).all())


class CartPole(SwingUp):
    """The task: swing up a pole by the force on its cart, at most 10 N. mass: of the cart and the pole."""

    hanging = np.array([0.0, np.pi])
    WEIGHTS: ClassVar[Mapping[str, float]] = {
        "upright": 5.0, "middle": 0.2, "rail": 100.0, "speed": 0.02, "force": 1e-3,
    }  # fmt: skip

    def world(self, timestep: float) -> Any:
        m: Any = loading.load("cartpole", world=UrdfWorld(motors=True, timestep=timestep)).compiled
        m.geom_contype[:] = m.geom_conaffinity[:] = 0
        return m

    def angles(self, q: Any) -> Any:
        return q[1:2]

    def cost(self, x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        w, beyond = self.weights, np.maximum(np.absolute(x.q[0]) - 1.5, 0.0)
        total = w["upright"] * (1 - np.cos(x.q[1])) + w["middle"] * x.q[0] ** 2 + w["rail"] * beyond**2
        return total + w["speed"] * (x.v @ x.v) + w["force"] * (u @ u)


class Acrobot(SwingUp):
    """The task: swing up two rods of 1 m and 1 kg by a motor between them, of at most 15 N m.

    Near the top a linear feedback acts in addition to the plan, on the robot and in the rollouts: open-loop samples of an
    unstable system tell a planner little. Its gains are those of a linear-quadratic regulator of the planner's model.
    """

    samples, horizon, knots = 512, 75, 15
    hanging = np.array([np.pi, 0.0])
    WEIGHTS: ClassVar[Mapping[str, float]] = {"energy": 0.02, "torque": 1e-3}
    top = 9.81 * 6.0  # energy of the rods at rest, upright: 1 kg at 2.5 m and 1 kg at 3.5 m [J]
    near = 8000.0  # cost-to-go of the feedback below which it acts: about 0.2 rad from the top

    def __init__(self, **options: Any) -> None:
        model = loading.from_mujoco(self.world(0.01))
        self.K, self.P = regulator(model, self.dt)
        super().__init__(**options)

    def world(self, timestep: float) -> Any:
        spec = mujoco.MjSpec.from_string(ACROBOT)
        spec.option.timestep = timestep
        return spec.compile()

    def angles(self, q: Any) -> Any:
        return np.array([q[0], q[0] + q[1]])

    def control(self, x: State, u: Any, t: Any = None, p: Any = None) -> Any:
        """Return the torque: that of the plan and, near the top, of the feedback."""
        d = from_top(x)
        return [u[0] - np.where(d @ self.P @ d < self.near, self.K @ d, 0.0)]

    def cost(self, x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        w, d = self.weights, from_top(x)
        energy = np.sum(x.run("energy", x.q, x.v)) - self.top
        return np.minimum(d @ self.P @ d / self.near, 10.0) + w["energy"] * energy**2 + w["torque"] * (u @ u)

    def plant(self, seed: int = 0, mass: float = 1.0, friction: float | None = None) -> Plant:
        return FedBack(super().plant(seed, mass, friction), self.control)


class FedBack(Plant):
    """A robot with a feedback in its motors. control: (state, u) -> the actuators' controls."""

    def __init__(self, plant: Plant, control: Callable[[Any, Any], Any]) -> None:
        self.model, self.data, self.control = plant.model, plant.data, control

    def step(self, control: npt.ArrayLike) -> None:
        super().step(self.control(self.state, control))


def from_top(x: Any) -> Any:
    """Return the state (4,) relative to the top, with angles from -pi to pi."""
    return np.concatenate([np.remainder(x[:2] + np.pi, 2 * np.pi) - np.pi, x[2:4]])


def regulator(model: Model, dt: float) -> tuple[Array, Array]:
    """Return K (4,) and P (4, 4): the feedback u = -K x about the top and its cost-to-go x' P x, for steps of dt [s]."""
    A, B = linearize(model, np.zeros(2), np.zeros(2), dt, law="planning")
    P = np.eye(4)
    for _ in range(2000):
        K = np.linalg.solve(0.1 * np.eye(1) + B.T @ P @ B, B.T @ P @ A)
        P = np.eye(4) + A.T @ P @ (A - B @ K)
    return K[0], P
