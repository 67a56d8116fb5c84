"""Random states of a compiled MuJoCo model, and MuJoCo's own numbers of them."""

import mujoco
import numpy as np

NO_CONSTRAINTS = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)


def random_states(m, count, seed=0):
    """A list of MjData with random state, controls and applied forces; nothing is computed yet."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        d = mujoco.MjData(m)
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 0.5)
        d.qvel[:] = rng.normal(size=m.nv)
        limited = np.asarray(m.actuator_ctrllimited, bool).reshape(-1)
        low, high = np.asarray(m.actuator_ctrlrange).reshape(-1, 2).T if m.nu else (np.zeros(0), np.zeros(0))
        # beyond the range as well
        within = low + (high - low) * rng.uniform(-0.2, 1.2, m.nu)
        d.ctrl[:] = np.where(limited, within, rng.normal(size=m.nu))
        d.act[:] = rng.uniform(0, 1, m.na)
        scale = np.maximum(m.body_mass.sum(), 1e-3)
        d.qfrc_applied[:] = rng.normal(size=m.nv) * 0.1 * scale
        d.xfrc_applied[1:] = rng.normal(size=(m.nbody - 1, 6)) * 0.1 * scale
        found.append(d)
    return found


def stack(states, name):
    return np.stack([np.ravel(getattr(d, name)) for d in states])


def error(ours, theirs):
    """The greatest difference, beside the greatest number of the array in any state."""
    ours, theirs = np.reshape(ours, theirs.shape), np.asarray(theirs)
    if not theirs.size:
        return 0.0
    assert np.isfinite(ours).all()
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-6))
