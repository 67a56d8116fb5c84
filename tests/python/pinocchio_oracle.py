"""Pinocchio's answers in featherstorm's conventions: the only place where the two are converted in the tests.

With v_p = T(q) v for the velocities (free joint: its linear half turned into the body's axes; joints in Pinocchio's
order), forces are tau = T^T tau_p, M = T^T M_p T, J = J_p T, and accelerations a_p = T a + Td v.
"""

import numpy as np
import pinocchio as pin

import featherstorm as fs
from featherstorm import _featherstorm


def swapped(motion):
    """(linear; angular) to (angular; linear), along the first axis."""
    return np.concatenate([motion[3:], motion[:3]])


class Oracle:
    def __init__(self, robot, path=None):
        path = path or _featherstorm.robot_directory() + "/" + file_of(robot.name)
        self.robot = robot
        floating = robot.bodies[0]["type"] == "free"
        self.model = (
            pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(path)
        )
        self.data = self.model.createData()
        order = self.tangent(robot.q0)
        if floating:
            order[:6, :6] = np.eye(6)
        self.model.armature = order @ robot.armature

    def state(self, q, v):
        return fs.to_pinocchio(self.robot, q, v, self.model)

    def tangent(self, q):
        """T(q), (nv, nv)."""
        n = self.robot.nv
        return fs.to_pinocchio(self.robot, np.tile(q, (n, 1)), np.eye(n), self.model)[1].T

    def tangent_rate(self, q, v):
        """Td v: of the free joint -w × (R^T v_linear)."""
        rate = np.zeros(self.robot.nv)
        if self.robot.bodies[0]["type"] == "free":
            u = self.state(q, v)[1]
            first = self.model.joints[1].idx_v
            rate[first : first + 3] = -np.cross(u[first + 3 : first + 6], u[first : first + 3])
        return rate

    def rnea(self, q, v, a):
        T = self.tangent(q)
        p, u = self.state(q, v)
        return T.T @ pin.rnea(self.model, self.data, p, u, T @ a + self.tangent_rate(q, v))

    def crba(self, q):
        T = self.tangent(q)
        M = pin.crba(self.model, self.data, self.state(q, np.zeros(self.robot.nv))[0])
        M = np.triu(M) + np.triu(M, 1).T
        return T.T @ M @ T

    def aba(self, q, v, tau):
        T = self.tangent(q)
        p, u = self.state(q, v)
        a = pin.aba(self.model, self.data, p, u, np.linalg.solve(T.T, tau))
        return np.linalg.solve(T, a - self.tangent_rate(q, v))

    def frame_id(self, frame):
        return self.model.getFrameId(frame, pin.FrameType.BODY)

    def placement(self, q, frame):
        pin.framesForwardKinematics(self.model, self.data, self.state(q, np.zeros(self.robot.nv))[0])
        X = self.data.oMf[self.frame_id(frame)]
        return X.translation.copy(), X.rotation.copy()

    def jacobian(self, q, frame):
        p = self.state(q, np.zeros(self.robot.nv))[0]
        J = pin.computeFrameJacobian(self.model, self.data, p, self.frame_id(frame), pin.LOCAL_WORLD_ALIGNED)
        return swapped(J) @ self.tangent(q)

    def frame_acceleration(self, q, v, a, frame):
        p, u = self.state(q, v)
        pin.forwardKinematics(self.model, self.data, p, u, self.tangent(q) @ a + self.tangent_rate(q, v))
        found = pin.getFrameClassicalAcceleration(self.model, self.data, self.frame_id(frame), pin.LOCAL_WORLD_ALIGNED)
        return swapped(found.vector)

    def energy(self, q, v):
        p, u = self.state(q, v)
        pin.computeAllTerms(self.model, self.data, p, u)
        return 0.5 * u @ self.tangent_mass(p) @ u, pin.computePotentialEnergy(self.model, self.data, p)

    def tangent_mass(self, p):
        M = pin.crba(self.model, self.data, p)
        return np.triu(M) + np.triu(M, 1).T

    def momentum(self, q, v):
        """com, com velocity, angular momentum about the centre of mass, linear momentum."""
        p, u = self.state(q, v)
        pin.centerOfMass(self.model, self.data, p, u)
        h = pin.computeCentroidalMomentum(self.model, self.data, p, u)
        return self.data.com[0].copy(), self.data.vcom[0].copy(), h.angular.copy(), h.linear.copy()

    def integrate(self, q, v, dt):
        """By Pinocchio, but for the position of a free joint, which moves along its world-axes velocity."""
        p, u = self.state(q, v)
        found = fs.from_pinocchio(self.robot, pin.integrate(self.model, p, dt * u), pinocchio_model=self.model)
        if self.robot.bodies[0]["type"] == "free":
            found[:3] = q[:3] + dt * v[:3]
        return found


def file_of(name):
    return next(
        file for robot, file, *_ in _featherstorm.robots() if file.removesuffix(".urdf") == name or robot == name
    )
