"""Logs of an arm in MuJoCo C: a UR5 with other masses than its file's, driven along a motion."""

import mujoco
import numpy as np

import featherstorm as fs

STIFFNESS, DAMPING = np.array([2000, 2000, 1500, 300, 300, 300.0]), np.array([200, 200, 150, 30, 30, 30.0])


def nominal():
    """The arm as its file has it, and its MjModel without contacts and limits."""
    arm = fs.load("ur5", world=fs.UrdfWorld(motors=True, timestep=0.001))
    compiled = arm.compiled.__copy__()
    compiled.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT) | int(mujoco.mjtDisableBit.mjDSBL_LIMIT)
    return fs.load("ur5"), compiled


def changed(compiled, seed=0):
    """A robot like the file's: other masses, centres and inertias, with friction in its joints."""
    rng, m = np.random.default_rng(seed), compiled.__copy__()
    scale = rng.uniform(0.7, 1.3, m.nbody)
    m.body_mass[:] *= scale
    m.body_inertia[:] *= (scale * rng.uniform(0.9, 1.1, m.nbody))[:, None]
    m.body_ipos[:] += rng.uniform(-0.01, 0.01, m.body_ipos.shape)
    m.dof_damping[:] = rng.uniform(0.5, 2, m.nv)
    mujoco.mj_setConst(m, mujoco.MjData(m))
    return m


def inverse(m, q, v, a):
    """Joint forces of MuJoCo's inverse dynamics (B, nv)."""
    d, found = mujoco.MjData(m), []
    for row in zip(q, v, a):
        d.qpos[:], d.qvel[:], d.qacc[:] = row
        mujoco.mj_inverse(m, d)
        found.append(d.qfrc_inverse.copy())
    return np.array(found)


def driven(m, motion, seconds):
    """Positions and forces of a drive along a motion, each millisecond: q (T, nq), tau (T, nv) held to the next row."""
    d, q, tau = mujoco.MjData(m), [], []
    times = np.arange(0, seconds, m.opt.timestep)
    target, speed, _ = motion(times)
    d.qpos[:], d.qvel[:] = target[0], speed[0]
    for k in range(len(times)):
        mujoco.mj_forward(m, d)
        d.qfrc_applied[:] = d.qfrc_bias + STIFFNESS * (target[k] - d.qpos) + DAMPING * (speed[k] - d.qvel)
        q.append(d.qpos.copy())
        tau.append(d.qfrc_applied.copy())
        mujoco.mj_step(m, d)
    return np.array(q), np.array(tau)
