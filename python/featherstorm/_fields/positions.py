"""Fields of mjData that follow from positions, as traced quantities of one simulation whose numbers are not known yet.

Each field is a property of its name, or a part of one (instance.py), flat or in rows. Numbers of the compiled model
(`of`) are constant, unless they differ from simulation to simulation. Formulas and conventions are MuJoCo's: motions are
(turn, move), world axes, about the centre of mass of the whole tree that a body belongs to.

First come small vectors and turns: quaternions w x y z, matrices (3, 3), motions (turn, move).
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..symbols import is_symbol, symbols


def vector(*numbers: Any) -> Any:
    """An array of single numbers; of symbols where one of them is."""
    flat = [x.item() if isinstance(x, np.ndarray) else x for x in numbers]
    return symbols(flat) if any(map(is_symbol, flat)) else np.array(flat, float)


def joined(*arrays: Any) -> Any:
    """Arrays one behind the other, flat."""
    return vector(*(x for a in arrays for x in np.ravel(a)))


def cross(a: Any, b: Any) -> Any:
    return vector(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def dot(a: Any, b: Any) -> Any:
    return np.sum(a * b)


def outer(a: Any, b: Any) -> Any:
    return vector(*(x * y for x in a for y in b)).reshape(len(a), len(b))


def product(p: Any, q: Any) -> Any:
    """The turn q, then p."""
    return vector(
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    )


def turn_about(axis: Any, angle: Any) -> Any:
    """The quaternion of a turn about a unit axis."""
    half = angle * 0.5
    s = np.sin(half)
    return vector(np.cos(half), s * axis[0], s * axis[1], s * axis[2])


def unit(x: Any) -> Any:
    """x over its length."""
    return x * (1 / np.sqrt(dot(x, x)))


def direction(x: Any) -> Any:
    """x (3,) over its length; (1, 0, 0) where that is less than 1e-15, as MuJoCo has it."""
    square = dot(x, x)
    none = square < 1e-30
    return np.where(none, vector(1, 0, 0), x * (1 / np.sqrt(np.where(none, 1.0, square))))


def matrix(q: Any) -> Any:
    """The rotation matrix of a unit quaternion."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    ww, xx, yy, zz = w * w, x * x, y * y, z * z
    return vector(
        ww + xx - yy - zz, 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), ww - xx + yy - zz, 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), ww - xx - yy + zz,
    ).reshape(3, 3)  # fmt: skip


def cross_motion(v: Any, m: Any) -> Any:
    """v x m of two motions."""
    return joined(cross(v[:3], m[:3]), cross(v[:3], m[3:]) + cross(v[3:], m[:3]))


def cross_force(v: Any, f: Any) -> Any:
    """v x* f of a motion and a force (moment, force)."""
    return joined(cross(v[:3], f[:3]) + cross(v[3:], f[3:]), cross(v[:3], f[3:]))


FREE, BALL, SLIDE, HINGE = range(4)  # mjtJoint
FIXED, TRACK, TRACK_COM, TARGET, TARGET_COM = range(5)  # mjtCamLight
SAME_BODY, SAME_INERTIA, SAME_BODY_TURN = 1, 2, 3  # mjtSameFrame
LEAST = 1e-15  # mjMINVAL


class Pose:
    """A pose in the world: position (3), quaternion (4), rotation matrix (3, 3)."""

    def __init__(self, position: Any, quaternion: Any) -> None:
        self.position, self.quaternion = position, quaternion
        self.rotation = matrix(quaternion)

    def place(self, position: Any, quaternion: Any) -> Pose:
        """Return the pose of a frame fixed to this one."""
        return Pose(self.point(position), product(self.quaternion, quaternion))

    def point(self, position: Any) -> Any:
        return self.position + self.rotation @ position


class Positions:
    """Made by `Instance` (instance.py), which has the numbers of the state."""

    m: Any  # mujoco.MjModel

    def of(self, name: str) -> Any:
        """A field of the compiled model, "opt.NAME" of its options."""
        return getattr(self.m.opt, name[4:]) if name.startswith("opt.") else getattr(self.m, name)

    def state(self, name: str) -> Any:
        """A field of the state, symbols of its shape."""
        raise NotImplementedError

    def joints(self, body: int) -> range:
        first = self.m.body_jntadr[body]
        return range(first, first + self.m.body_jntnum[body])

    @cached_property
    def kinematics(self) -> tuple[list[Pose], list[Any], list[Any]]:
        """The pose of each body; the anchor and the axis of each joint."""
        m = self.m
        anchors, axes = [[np.zeros(3)] * m.njnt for _ in range(2)]
        poses = [Pose(np.zeros(3), vector(1, 0, 0, 0))]
        for b in range(1, m.nbody):
            joints = self.joints(b)
            if len(joints) == 1 and m.jnt_type[joints[0]] == FREE:
                first, q = m.jnt_qposadr[joints[0]], self.state("qpos")
                poses.append(Pose(q[first : first + 3], unit(q[first + 3 : first + 7])))
                anchors[joints[0]], axes[joints[0]] = poses[b].position, np.array(m.jnt_axis[joints[0]])
                continue
            mocap = m.body_mocapid[b]
            if mocap >= 0:
                position, quaternion = self.state("mocap_pos")[mocap], unit(self.state("mocap_quat")[mocap])
            else:
                position, quaternion = self.of("body_pos")[b], self.of("body_quat")[b]
            pose = poses[m.body_parentid[b]].place(position, quaternion)
            for j in joints:
                anchors[j], axes[j] = pose.point(self.of("jnt_pos")[j]), pose.rotation @ self.of("jnt_axis")[j]
                pose = self.moved(pose, j, anchors[j], axes[j])
            poses.append(pose)
        return poses, anchors, axes

    @property
    def bodies(self) -> list[Pose]:
        return self.kinematics[0]

    def moved(self, pose: Pose, joint: int, anchor: Any, world_axis: Any) -> Pose:
        """A body behind one of its joints; joints turn about their anchor."""
        first, axis, at = self.m.jnt_qposadr[joint], self.of("jnt_axis")[joint], self.of("jnt_pos")[joint]
        q, zero = self.state("qpos"), self.of("qpos0")
        if self.m.jnt_type[joint] == SLIDE:
            return Pose(pose.position + world_axis * (q[first] - zero[first]), pose.quaternion)
        turn = (
            unit(q[first : first + 4]) if self.m.jnt_type[joint] == BALL else turn_about(axis, q[first] - zero[first])
        )
        turned = Pose(pose.position, product(pose.quaternion, turn))
        return Pose(anchor - turned.rotation @ at, turned.quaternion)

    def fixed_to_bodies(self, body: Any, position: str, quaternion: str, same: Any = None) -> list[Pose]:
        """same: what of an object's frame is that of its body, or of its body's inertia (mjtSameFrame)."""
        places, turns = self.of(position), self.of(quaternion)
        poses = []
        for k, b in enumerate(body):
            of = 0 if same is None else int(same[k])
            if not of:
                poses.append(self.bodies[b].place(places[k], turns[k]))
                continue
            shared = self.bodies[b] if of in (SAME_BODY, SAME_BODY_TURN) else self.inertial[b]
            whole = of in (SAME_BODY, SAME_INERTIA)
            poses.append(Pose(shared.position if whole else self.bodies[b].point(places[k]), shared.quaternion))
        return poses

    @cached_property
    def inertial(self) -> list[Pose]:
        return self.fixed_to_bodies(range(self.m.nbody), "body_ipos", "body_iquat", self.m.body_sameframe)

    @cached_property
    def geoms(self) -> list[Pose]:
        return self.fixed_to_bodies(self.m.geom_bodyid, "geom_pos", "geom_quat", self.m.geom_sameframe)

    @cached_property
    def sites(self) -> list[Pose]:
        return self.fixed_to_bodies(self.m.site_bodyid, "site_pos", "site_quat", self.m.site_sameframe)

    @cached_property
    def subtree_com(self) -> list[Any]:
        """The centre of mass of each body with all that it carries."""
        m, mass = self.m, self.of("body_mass")
        moment = [p.position * mass[b] for b, p in enumerate(self.inertial)]
        total = [mass[b] for b in range(m.nbody)]
        for b in reversed(range(1, m.nbody)):
            moment[m.body_parentid[b]] = moment[m.body_parentid[b]] + moment[b]
            total[m.body_parentid[b]] = total[m.body_parentid[b]] + total[b]
        hollow = np.asarray(m.body_subtreemass) < LEAST
        return [self.inertial[b].position if hollow[b] else moment[b] * (1 / total[b]) for b in range(m.nbody)]

    def centre_of(self, body: int) -> Any:
        """The point that motions of a body are about."""
        return self.subtree_com[self.m.body_rootid[body]]

    @cached_property
    def cdof(self) -> list[Any]:
        """Return the motion (6) of each velocity coordinate."""
        m, (_, anchors, axes_of) = self.m, self.kinematics
        columns: list[Any] = []
        for j in range(m.njnt):
            body, anchor, axis = m.jnt_bodyid[j], anchors[j], axes_of[j]
            if m.jnt_type[j] == SLIDE:
                columns.append(joined(np.zeros(3), axis))
                continue
            lever = self.centre_of(body) - anchor
            if m.jnt_type[j] == HINGE:
                columns.append(joined(axis, cross(axis, lever)))
                continue
            if m.jnt_type[j] == FREE:
                columns += list(np.eye(6)[3:])
            axes = self.bodies[body].rotation
            columns += [joined(axes[:, k], cross(axes[:, k], lever)) for k in range(3)]
        return columns

    def path(self, body: int) -> list[int]:
        """The body and those that carry it, the world last."""
        found = [body]
        while found[-1]:
            found.append(int(self.m.body_parentid[found[-1]]))
        return found

    def last_velocity(self, body: int) -> int:
        """The last velocity that moves a body, -1 where nothing does."""
        above = next((b for b in self.path(body) if self.m.body_dofnum[b]), 0)
        return int(self.m.body_dofadr[above] + self.m.body_dofnum[above] - 1) if above else -1

    def jacobian(self, body: int, point: Any) -> tuple[Any, Any]:
        """(3, nv) each: the velocity of a point of the world on a body, and the body's turning, by each velocity."""
        S = self.cdof
        lever = point - self.centre_of(body)
        velocity: list[Any] = [np.zeros(3)] * self.m.nv
        turning: list[Any] = [np.zeros(3)] * self.m.nv
        k = self.last_velocity(body)
        while k >= 0:
            turning[k], velocity[k] = S[k][:3], S[k][3:] + cross(S[k][:3], lever)
            k = int(self.m.dof_parentid[k])
        return joined(*velocity).reshape(-1, 3).T, joined(*turning).reshape(-1, 3).T

    @cached_property
    def cinert(self) -> list[Any]:
        """The inertia of each body (10): about `centre_of`, xx yy zz xy xz yz; first moment; mass."""
        mass, moments = self.of("body_mass"), self.of("body_inertia")
        all_bodies: list[Any] = [np.zeros(10)]
        for b in range(1, self.m.nbody):
            R = self.inertial[b].rotation
            c = self.inertial[b].position - self.centre_of(b)
            turned = (R * moments[b]) @ R.T
            own = turned - mass[b] * outer(c, c)
            square = mass[b] * dot(c, c)
            diagonal = [own[k, k] + square for k in range(3)]
            all_bodies.append(vector(*diagonal, own[0, 1], own[0, 2], own[1, 2], *(mass[b] * c), mass[b]))
        return all_bodies

    @property
    def crb(self) -> Any:
        parent = self.m.body_parentid
        all_bodies = list(self.cinert)
        for b in reversed(range(1, self.m.nbody)):
            if parent[b] > 0:
                all_bodies[parent[b]] = all_bodies[parent[b]] + all_bodies[b]
        return all_bodies

    @cached_property
    def cameras(self) -> tuple[list[Any], list[Any]]:
        """Positions and rotations."""
        m = self.m
        fixed = self.fixed_to_bodies(m.cam_bodyid, "cam_pos", "cam_quat")
        positions, rotations = [], []
        for k, pose in enumerate(fixed):
            body, target, mode = m.cam_bodyid[k], m.cam_targetbodyid[k], m.cam_mode[k]
            position, rotation = pose.position, pose.rotation
            if mode == TRACK:
                position = self.bodies[body].position + self.of("cam_pos0")[k]
            if mode == TRACK_COM:
                position = self.subtree_com[body] + self.of("cam_poscom0")[k]
            if mode in (TRACK, TRACK_COM):
                rotation = np.reshape(self.of("cam_mat0")[k], (3, 3))
            if mode in (TARGET, TARGET_COM) and target >= 0:
                z = direction(position - (self.bodies[target].position if mode == TARGET else self.subtree_com[target]))
                x = direction(cross(vector(0, 0, 1), z))
                rotation = joined(x, direction(cross(z, x)), z).reshape(3, 3).T
            positions.append(position)
            rotations.append(rotation)
        return positions, rotations

    @cached_property
    def lights(self) -> tuple[list[Any], list[Any]]:
        """Positions and directions."""
        m = self.m
        positions, directions = [], []
        for k in range(m.nlight):
            body, target, mode = m.light_bodyid[k], m.light_targetbodyid[k], m.light_mode[k]
            pose = self.bodies[body]
            position, ahead = pose.point(self.of("light_pos")[k]), pose.rotation @ self.of("light_dir")[k]
            if mode == TRACK:
                position = pose.position + self.of("light_pos0")[k]
            if mode == TRACK_COM:
                position = self.subtree_com[body] + self.of("light_poscom0")[k]
            if mode in (TRACK, TRACK_COM):
                ahead = np.array(self.of("light_dir0")[k])
            if mode in (TARGET, TARGET_COM) and target >= 0:
                ahead = (self.bodies[target].position if mode == TARGET else self.subtree_com[target]) - position
            positions.append(position)
            directions.append(direction(ahead))
        return positions, directions
