"""A quadruped with 16 joints, driven by 12 actuators with activations, through tendons."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._optional import mujoco
from .suite import SuiteTask, suite_file, unit
from .tolerance import tolerance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...environment.draws import Draws, Memory
    from ...environment.state import EnvironmentState as State

TOES = ("front_left", "front_right", "back_right", "back_left")
HEIGHT = 0.01  # initial heights are multiples of this [m]


class Quadruped(SuiteTask):
    """Move along the torso's x axis.

    action       (12,) setpoints of yaw, lift and extension of each leg: front left, front right, back right, back left
    observation  egocentric_state: angles and speeds of the joints [rad, rad/s], activations; torso_velocity: in its
                 axes [m/s]; torso_upright: z component of its z axis, in the world; imu: acceleration [m/s^2] and
                 angular velocity [rad/s] of the torso in its axes; force_torque: arsinh of forces [N], then torques
                 [N m] on the toes
    reward       a factor for an upright torso, from 1 upright to 0 upside down; times a factor for the forward speed

    speed        target speed [m/s]

    Accelerations and forces are those at the beginning of the last substep. An episode begins in free fall, with a
    uniformly drawn orientation, at the lowest multiple of 1 cm at which nothing touches the ground.
    """

    domain, dt = "quadruped", 0.02
    parts: Mapping[str, int] = {
        "egocentric_state": 44, "torso_velocity": 3, "torso_upright": 1, "imu": 6, "force_torque": 24,
    }  # fmt: skip

    def __init__(self, speed: float, **arguments: Any) -> None:
        self.speed = speed
        super().__init__(**arguments)

    @property
    def compiled(self) -> Any:
        return on_a_floor(self.seconds * self.speed)

    def reset(self, m: Memory, rng: Draws) -> Any:
        turn = unit(rng.normal(np.zeros(4)))
        reach = reach_below(self.compiled, vertical(turn))
        height = HEIGHT * np.ceil(reach / HEIGHT)
        q = np.concatenate([np.zeros(2), np.reshape(height, 1), turn, self.compiled.qpos0[7:]])
        return q, np.zeros(self.compiled.nv)

    def reward(self, x: State, a: Any, m: Memory) -> Any:
        upright = tolerance(x.rotation("torso")[2, 2], (1, np.inf), margin=2, value_at_margin=0, sigmoid="linear")
        forward = x.sensor("velocimeter")[0]
        return upright * tolerance(forward, (self.speed, np.inf), self.speed, value_at_margin=0.5, sigmoid="linear")

    def sees(self, x: State, m: Memory) -> dict[str, Any]:
        acceleration: Any = x.sensor("imu_accel")
        felt: Any = np.concatenate([x.sensor(f"{kind}_toe_{toe}") for kind in ("force", "torque") for toe in TOES])
        if x.begins:  # sensors show zero in free fall
            acceleration, felt = np.zeros(3), np.zeros(24)
        return {
            "egocentric_state": np.concatenate([x.q[7:], x.v[6:], x.act]),
            "torso_velocity": x.sensor("velocimeter"),
            "torso_upright": x.rotation("torso")[2, 2],
            "imu": np.concatenate([acceleration, x.sensor("imu_gyro")]),
            "force_torque": arsinh(felt),
        }


def arsinh(x: Any) -> Any:
    size = np.abs(x)
    return np.sign(x) * np.log(size + np.sqrt(size * size + 1))


def vertical(turn: Any) -> Any:
    """Return the world's z axis in the axes of a body with orientation w x y z."""
    w, x, y, z = (turn[k] for k in range(4))
    return np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z])


def reach_below(m: Any, up: Any) -> Any:
    """Return the depth of colliding geoms below the root's origin [m].

    Down is opposite to the direction `up` (3,), given in the root's axes. All joints have the positions of the file.

        max over geoms of s(-R^T up) - up . p,   with the position p, the axes R and the support function s of a geom
    """
    data = mujoco.MjData(m)
    data.qpos[:7] = 0, 0, 0, 1, 0, 0, 0
    mujoco.mj_kinematics(m, data)
    depths = []
    for geom in range(m.ngeom):
        if m.geom_bodyid[geom] == 0 or not (m.geom_contype[geom] or m.geom_conaffinity[geom]):
            continue
        along = up @ data.geom_xmat[geom].reshape(3, 3)
        depths.append(support(int(m.geom_type[geom]), m.geom_size[geom], along) - up @ data.geom_xpos[geom])
    return functools.reduce(np.maximum, depths)


def support(kind: int, size: Any, n: Any) -> Any:
    """Return max n . p over the points p of a symmetric geom, for a unit vector n in its axes."""
    shapes = mujoco.mjtGeom
    if kind == shapes.mjGEOM_SPHERE:
        return size[0]
    if kind == shapes.mjGEOM_CAPSULE:
        return size[0] + size[1] * np.abs(n[2])
    if kind == shapes.mjGEOM_CYLINDER:
        return size[0] * np.sqrt(n[0] * n[0] + n[1] * n[1]) + size[1] * np.abs(n[2])
    if kind == shapes.mjGEOM_ELLIPSOID:
        return np.linalg.norm(size * n)
    raise ValueError(f"support: a geom is of type {kind}, expected a sphere, capsule, cylinder or ellipsoid")


@functools.cache
def on_a_floor(size: float) -> Any:
    """Return the suite's quadruped as mujoco.MjModel, on a floor of size x size [m].

    Walls, terrain, ball, target and range finders are removed.
    """
    spec = mujoco.MjSpec.from_file(suite_file("quadruped"))
    spec.geom("floor").size = (size, size, 0.5)
    for geom in ("wall_px", "wall_py", "wall_nx", "wall_ny", "terrain"):
        spec.delete(spec.geom(geom))
    spec.delete(spec.body("ball"))
    spec.delete(spec.site("target"))
    for sensor in list(spec.sensors):
        if sensor.type == mujoco.mjtSensor.mjSENS_RANGEFINDER:
            spec.delete(sensor)
    return spec.compile()
