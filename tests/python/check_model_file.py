"""One MJCF file in a process of its own: a Batch of it beside MuJoCo, from states along MuJoCo's own trajectories where geoms touch.

python check_model_file.py FILE [STATES]     prints the result as JSON (`check`)
"""

import contextlib
import json
import pathlib
import sys
import time
import warnings

import mujoco
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "world"))

from compare_contacts import is_iterated, touching_states

from featherstorm._fields.table import COMPONENTS
from featherstorm.mujoco import DATA_FIELDS, Batch
from featherstorm.mujoco.robots import not_of_this_model

SPEC = mujoco.mjtState.mjSTATE_INTEGRATION
# of all candidates of contacts, which costs most in files with thousands of pairs
OF_CONTACTS = ("ncon", "ne", "nf", "nl", "nefc", "cfrc_ext", "cfrc_int", "sensordata", "qfrc_constraint")
COMPUTED = sorted(DATA_FIELDS - set(COMPONENTS) - {"solver_niter", *OF_CONTACTS})
# a contact this near to where it begins is found by one of both alone
EDGE, EDGE_OF_LOOPS = 1e-11, 1e-8
LEAST = 1e-3  # arrays whose greatest number is less are compared with this


def prepared(m, disable=()):
    """MuJoCo's solver to the last digits, by dense Jacobians: MuJoCo 4.0.0 has a fault in its sparse factor.

    disable   names of flags, such as "multiccd", or "noslip"
    """
    for name in disable:
        if name == "noslip":
            m.opt.noslip_iterations = 0
        else:
            m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, "mjDSBL_" + name.upper()))
    m.opt.jacobian, m.opt.solver = mujoco.mjtJacobian.mjJAC_DENSE, mujoco.mjtSolver.mjSOL_NEWTON
    m.opt.tolerance, m.opt.ls_tolerance, m.opt.iterations, m.opt.ls_iterations = 0, 1e-12, 200, 100
    m.opt.ccd_tolerance, m.opt.ccd_iterations = 1e-12, 500
    m.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    return m


def is_clear(m, d):
    """Whether no contact is where it just begins or ends."""
    mujoco.mj_fwdPosition(m, d)
    c = d.contact
    for i in range(d.ncon):
        edge = EDGE_OF_LOOPS if min(c.geom[i]) >= 0 and is_iterated(m, *c.geom[i]) else EDGE
        if abs(c.dist[i] - c.includemargin[i]) < edge:
            return False
    return bool(np.isfinite(d.qpos).all() and np.isfinite(d.qvel).all())


def trajectory_states(m, count, seed=0):
    """A list of MjData: up to `count` states of MuJoCo's trajectories, which begin low and in the joints' ranges, with random controls."""
    rng = np.random.default_rng(seed)
    low, high = np.where(
        np.ravel(m.actuator_ctrllimited)[:, None], np.reshape(m.actuator_ctrlrange, (-1, 2)), [-1, 1]
    ).T
    found = []
    for q in touching_states(m, 4 * count, seed):
        d = mujoco.MjData(m)
        d.qpos[:], d.qvel[:] = q, 0.3 * rng.normal(size=m.nv)
        d.ctrl[:] = rng.uniform(low, high)
        mujoco.mj_step(m, d, int(rng.integers(0, 30)))
        state = np.empty(mujoco.mj_stateSize(m, SPEC))
        mujoco.mj_getState(m, d, state, SPEC)
        if is_clear(m, d):
            mujoco.mj_setState(m, d, state, SPEC)
            found.append(d)
        if len(found) == count:
            break
    return found


def error(ours, theirs):
    """The greatest difference beside the greatest number, of what is not NaN in ours."""
    ours, theirs = np.array(ours, float), np.reshape(theirs, np.shape(ours)).astype(float)
    known = np.isfinite(ours)
    if not theirs.size or not known.any():
        return 0.0
    return float(np.abs(ours - theirs)[known].max() / max(np.abs(theirs[known]).max(), LEAST))


@contextlib.contextmanager
def measured(result, name):
    start = time.process_time()
    yield
    result[name] = time.process_time() - start
    result["peak"] = peak_memory() - result["before"] - result["model"]


def peak_memory(anew=False):
    """The most memory that this process has had [MB]; anew: forget what was before now."""
    if anew:
        pathlib.Path("/proc/self/clear_refs").write_text("5")
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def check(path, count=8, progress=None, disable=()):
    """Compare a Batch of a file with MuJoCo in float64, and measure what it costs. Returns a dict:

    refused       why MuJoCo does not compile the file, "skipped": why there is nothing to compare
    nv, pairs, states             freedoms, candidates of pairs, how many states there are
    contacts, iterated            MuJoCo's contacts in all states, and those that it finds by iteration
    load, step, fields, readings  seconds of the processor: Batch(...), its first step, first forward with all fields, with those of contacts
    peak          megabytes more than before Batch(...), without `model`
    model         megabytes of the compiled model, of which a Batch keeps a copy
    notices       what the Batch leaves out
    errors        name of MuJoCo's array -> greatest difference beside its greatest number; after a step with a "+"
    apart         how many states have accelerations that differ by more than 1e-8

    progress   a file that gets the result after each stage, for who has to stop this
    disable    what of the file is disabled in both (`prepared`)
    """
    result = {"errors": {}}

    def done(stage):
        result["stage"] = stage
        if progress:
            pathlib.Path(progress).write_text(json.dumps(result))

    try:
        m = prepared(mujoco.MjModel.from_xml_path(str(path)), disable)
    except ValueError as refused:
        return {"refused": " ".join(str(refused).split())}
    if m.nv == 0:
        return {"skipped": "nothing moves"}
    try:
        states = trajectory_states(m, count)
    except mujoco.FatalError as failed:
        return {"skipped": f"MuJoCo does not step it: {' '.join(str(failed).split())}"}
    if not states:
        return {"skipped": "every state is bad or has a contact that just begins"}
    count = len(states)
    rows = np.empty((count, mujoco.mj_stateSize(m, SPEC)))
    for row, d in zip(rows, states):
        mujoco.mj_getState(m, d, row, SPEC)
    result.update(nv=m.nv, states=count, model=mujoco.mj_sizeModel(m) / 2**20, before=peak_memory(anew=True))
    done("load")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with measured(result, "load"):
            batch = Batch(m, count, 1, dtype="float64")
    result["notices"] = [str(w.message) for w in told]
    robot = batch._variants.own.model.robot
    result["pairs"] = len(robot.contact_pairs)
    batch.set_rows(rows)
    done("step")
    with measured(result, "step"):
        batch.step()
    errors = result["errors"]
    after = {name: np.array(batch.bind(name)) for name in ("qpos", "qvel", "act", "qacc_warmstart")}
    for d in states:
        mujoco.mj_forward(m, d), mujoco.mj_rnePostConstraint(m, d), mujoco.mj_subtreeVel(m, d)
    computed = [name for name in (*COMPUTED, *OF_CONTACTS) if not_of_this_model(m, name, robot) is None]
    if m.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_ACTUATION):
        computed = [name for name in computed if name not in ("actuator_length", "actuator_velocity")]
    theirs = {name: np.stack([np.asarray(getattr(d, name), float) for d in states]) for name in computed}
    result["contacts"] = sum(d.ncon for d in states)
    pairs = [pair for d in states for pair in d.contact.geom.tolist()]
    result["iterated"] = sum(min(pair) >= 0 and is_iterated(m, *pair) for pair in pairs)
    for d, row in zip(states, rows):
        mujoco.mj_setState(m, d, row, SPEC)
        mujoco.mj_step(m, d)
    for name, x in after.items():
        errors[name + "+"] = error(x, np.stack([getattr(d, name) for d in states]))
    for stage, names in (("fields", COMPUTED), ("readings", OF_CONTACTS)):
        names = [name for name in names if name in theirs]
        done(stage)
        batch.set_rows(rows)
        with measured(result, stage):
            for name in names:
                batch.bind(name)
            batch.forward()
        for name in names:
            errors[name] = error(batch.bind(name), theirs[name])
    ours, scale = np.array(batch.qacc), max(np.abs(theirs["qacc"]).max(), LEAST)
    result["apart"] = int((np.abs(ours - theirs["qacc"]).max(axis=1) > 1e-8 * scale).sum())
    done("")
    return result


if __name__ == "__main__":
    print(json.dumps(check(sys.argv[1], *map(int, sys.argv[2:])), indent=1))
