"""Batches of ours in random states, and whether two batches say the same, ours and MuJoCo's."""

import mujoco
import mujoco.batch as theirs
import numpy as np
from batch_models import PENDULUM

from fake_cuda import bound
from featherstorm.mujoco import Batch

N = 7
TOLERANCE = 1e-9  # of an array's greatest number


def model(xml=PENDULUM):
    m = mujoco.MjModel.from_xml_string(xml)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE  # MuJoCo 4.0.0 has a fault in its sparse factor
    m.opt.tolerance, m.opt.ls_tolerance, m.opt.iterations, m.opt.ls_iterations = 0, 1e-12, 200, 100
    return m


def stirred(m, n, seed=0, turn=0.3, speed=1.0, force=1.0, push=0.3):
    """Random states (n, nstate) of mjSTATE_INTEGRATION, mocap bodies where the model has them.

    turn, speed   of joints, from the model's defaults; force: qfrc_applied, push: xfrc_applied
    """
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        d = mujoco.MjData(m)
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), turn)
        d.qvel[:], d.ctrl[:], d.act[:] = (
            speed * rng.normal(size=m.nv),
            rng.uniform(-1.5, 1.5, m.nu),
            rng.normal(size=m.na),
        )
        d.qfrc_applied[:], d.xfrc_applied[1:] = force * rng.normal(size=m.nv), push * rng.normal(size=(m.nbody - 1, 6))
        row = np.empty(mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_INTEGRATION))
        mujoco.mj_getState(m, d, row, mujoco.mjtState.mjSTATE_INTEGRATION)
        found.append(row)
    return np.array(found)


def batch(m, n=N, seed=0, **options):
    b = Batch(m, n, 1, **{"dtype": "float64", **options})
    b.set_rows(stirred(m, n, seed))
    return b


def both(m, fields=(), dtype="float64", n=N, seed=0, persistent=False):
    """A batch of ours, always in double, and MuJoCo's, in the same random states, which compute the fields."""
    ours, reference = batch(m, n, seed), theirs.Batch(m, n, 1, persistent=persistent)
    reference.state[:] = stirred(m, n, seed)
    for b in (ours, reference):
        for name in fields:
            b.bind(name)
    return ours, reference


def assert_close(ours, reference, what="", tolerance=TOLERANCE):
    ours, reference = np.array(ours), np.array(reference)
    error = float(np.abs(ours - reference).max(initial=0)) / max(1.0, float(np.abs(reference).max(initial=0)))
    assert error < bound(tolerance), what


def assert_agree(b, reference, observed):
    """What is observed, then the states after three steps."""
    for x in (b, reference):
        for name in observed:
            x.bind(name)
        x.forward()
    for name in observed:
        assert_close(getattr(b, name), getattr(reference, name), name)
    for x in (b, reference):
        x.step(nstep=3)
    assert_close(b.qpos, reference.qpos, "qpos"), assert_close(b.qvel, reference.qvel, "qvel")
    assert_close(b.act, reference.act, "act")
