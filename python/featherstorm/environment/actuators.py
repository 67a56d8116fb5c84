"""Models of motors to call in an environment's `actuate`, before each substep. They are numpy code like a user's own.

    motor = actuators.dc_motor(kp=25.0, kd=0.5, saturation=23.7, limit=23.7, speed=30.0)
    lag = actuators.delay(0, 4, size=12)

    class Walk(fs.Env):
        memory = {"last": 12, **lag.memory}

        def reset(self, m, rng):
            lag.draw(m, rng)
            return q, v

        def actuate(self, x, a, m):
            return motor(stance + 0.25 * lag(m, a), x.q[7:], x.v[6:])

q, v are positions and velocities of the joints (n) [rad | m, rad/s | m/s], torques (n) [N m | N]. Numbers of a motor
are one for all joints or (n). Isaac Lab (isaaclab/actuators) and mjlab (mjlab/actuator) have the same models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .networks import TRACED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..typing import ArrayLike
    from .draws import Draws, Memory

    Torque = Callable[..., Any]

ACTIVATIONS = {name: TRACED[name] for name in ("tanh", "relu", "elu", "softsign")}


def pd(kp: ArrayLike, kd: ArrayLike, limit: ArrayLike = np.inf) -> Torque:
    """A proportional-derivative controller: torque(target, q, v, rate=0, feed=0).

        torque = clip(kp (target - q) + kd (rate - v) + feed, -limit, limit)

    kp [N m/rad], kd [N m s/rad], limit [N m] of a joint
    target, rate  desired position and velocity; feed  additional torque
    Isaac Lab's IdealPDActuator, mjlab's IdealPdActuator.
    """
    p, d, most = numbers("pd", kp=kp, kd=kd, limit=limit)

    def torque(target: Any, q: Any, v: Any, rate: Any = 0.0, feed: Any = 0.0) -> Any:
        return np.minimum(np.maximum(p * (target - q) + d * (rate - v) + feed, -most), most)

    return torque


def torque_speed(saturation: ArrayLike, limit: ArrayLike, speed: ArrayLike) -> Callable[[Any, Any], Any]:
    """The torque that a DC motor can produce at a velocity: clip(torque, v).

        least = max(saturation (-1 - v'/speed), -limit),  most = min(saturation (1 - v'/speed), limit)
        v' = clip(v, -w, w),  w = speed (1 + limit/saturation)

    saturation  stall torque [N m]; limit  of the continuous torque [N m]; speed  without load [rad/s]
    Beyond w the motor brakes with the limit. Isaac Lab's DCMotor, mjlab's DcMotorActuator.
    """
    stall, most, free = numbers("dc_motor", saturation=saturation, limit=limit, speed=speed)
    if not ((stall > 0).all() and (free > 0).all()):
        raise ValueError(
            f"dc_motor: saturation is {saturation!r}, speed is {speed!r}, expected numbers above 0 of both"
        )
    corner = free * (1 + most / stall)

    def clipped(torque: Any, v: Any) -> Any:
        part = np.minimum(np.maximum(v, -corner), corner) / free
        upper, lower = np.minimum(stall * (1 - part), most), np.maximum(stall * (-1 - part), -most)
        return np.minimum(np.maximum(torque, lower), upper)

    return clipped


def dc_motor(kp: ArrayLike, kd: ArrayLike, saturation: ArrayLike, limit: ArrayLike, speed: ArrayLike) -> Torque:
    """`pd` by a DC motor, whose torque falls linearly with speed: torque(target, q, v, rate=0, feed=0).

    See torque_speed.
    """
    wanted, clipped = pd(kp, kd), torque_speed(saturation, limit, speed)

    def torque(target: Any, q: Any, v: Any, rate: Any = 0.0, feed: Any = 0.0) -> Any:
        return clipped(wanted(target, q, v, rate, feed), v)

    return torque


class delay:
    """Actions that arrive some substeps late.

    lag(m, a) is the action from `lag` substeps ago, at the beginning of an episode its first action.

    least, most  substeps; each episode draws a whole number from least to most (`draw`, called in `reset`)
    size         of an action
    name         of its rows in the environment's memory, which `memory` declares
    Isaac Lab's DelayedPDActuator, mjlab's delayed actuators with one lag per episode. Cost: one comparison per number
    and substep of delay.
    """

    def __init__(self, least: int, most: int, size: int, name: str = "delay") -> None:
        if not (0 <= least <= most and size >= 1 and int(least) == least and int(most) == most):
            raise ValueError(
                f"delay: from {least} to {most} passes of {size} numbers, expected 0 <= least <= most, 1 <= size"
            )
        self.least, self.most, self.size, self.name = int(least), int(most), int(size), name
        self.memory = {name: (self.most + 1, self.size), f"{name}_passes": 1, f"{name}_filled": 1}

    def draw(self, m: Memory, rng: Draws) -> None:
        setattr(m, f"{self.name}_passes", rng.integers(self.least, self.most + 1))

    def __call__(self, m: Memory, a: Any) -> Any:
        rows = pushed(m, self.name, a)
        lag, found = getattr(m, f"{self.name}_passes")[0], rows[0]
        for k in range(1, self.most + 1):
            found = np.where(lag > k - 0.5, rows[k], found)
        return found


class net:
    """A small network trained on a motor, the same for each joint: torque(m, target, q, v).

    Its inputs are the errors of position and the velocities of the last substeps.

        torque = torque_scale MLP([position_scale e_0 .. e_k, velocity_scale v_0 .. v_k]),  e = target - q, 0 the latest

    layers       (weights (out, in), biases (out)) of each, the last with one output; the others are followed by
                 `activation` (tanh, relu, elu, softsign)
    size         joints; history: substeps that it reads; order: "position_velocity" or "velocity_position"
    name         of its rows in the environment's memory, which `memory` declares
    At the beginning of an episode the first substep fills the whole history. mjlab's LearnedMlpActuator; Isaac Lab's
    ActuatorNetMLP begins with zeros. `torque_speed` clips torques that a DC motor cannot produce.
    """

    def __init__(
        self,
        layers: Sequence[tuple[ArrayLike, ArrayLike]],
        size: int,
        history: int = 3,
        activation: str = "softsign",
        position_scale: float = 1.0,
        velocity_scale: float = 1.0,
        torque_scale: float = 1.0,
        order: str = "position_velocity",
        name: str = "net",
    ) -> None:
        if activation not in ACTIVATIONS:
            raise ValueError(f"net: activation is {activation!r}, expected one of {', '.join(ACTIVATIONS)}")
        if order not in ("position_velocity", "velocity_position"):
            raise ValueError(f"net: order is {order!r}, expected 'position_velocity' or 'velocity_position'")
        self.layers = [(np.array(w, float), np.array(b, float)) for w, b in layers]
        width = 2 * history
        for k, (w, b) in enumerate(self.layers):
            rows = 1 if k == len(self.layers) - 1 else len(b)
            if w.shape != (rows, width) or b.shape != (rows,):
                raise ValueError(
                    f"net: layer {k} has weights {w.shape} and biases {b.shape}, expected ({rows}, {width}), ({rows},)"
                )
            width = rows
        self.size, self.history, self.activation, self.order, self.name = size, history, activation, order, name
        self.position_scale, self.velocity_scale, self.torque_scale = position_scale, velocity_scale, torque_scale
        self.memory = {name: (history, 2 * size), f"{name}_filled": 1}

    def __call__(self, m: Memory, target: Any, q: Any, v: Any) -> Any:
        rows = pushed(m, self.name, np.concatenate([target - q, v]))
        errors, rates = self.position_scale * rows[:, : self.size], self.velocity_scale * rows[:, self.size :]
        parts = (errors, rates) if self.order == "position_velocity" else (rates, errors)
        found = np.concatenate(parts)  # (2 history, size)
        for k, (w, b) in enumerate(self.layers):
            found = w @ found + b[:, None]
            if k < len(self.layers) - 1:
                found = ACTIVATIONS[self.activation](found)
        return self.torque_scale * found[0]


def pushed(m: Memory, name: str, row: Any) -> Any:
    """Add a row to a memory whose latest row is first; the first row of an episode fills all rows."""
    filled, before = getattr(m, f"{name}_filled")[0] > 0, getattr(m, name)
    rows = np.stack([row, *(np.where(filled, older, row) for older in before[:-1])])
    setattr(m, name, rows)
    setattr(m, f"{name}_filled", 1.0)
    return rows


def numbers(what: str, **given: ArrayLike) -> list[Any]:
    """Return arrays of a motor's numbers. Errors: ValueError for one below 0 or not a number."""
    found = {name: np.asarray(x, float) for name, x in given.items()}
    for name, x in found.items():
        if not (x >= 0).all():
            raise ValueError(f"{what}: {name} is {given[name]!r}, expected numbers of 0 or more")
    return list(found.values())
