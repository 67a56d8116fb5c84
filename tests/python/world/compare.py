"""The world of a model file beside MuJoCo, in double.

smooth_errors(m)        every smooth term, the sensors and a step, without constraints
constrained_errors(m)   a step with its constraints, without contacts
contact_errors(m)       a step with all of it, from states where geoms touch

All return {name of MuJoCo's array: greatest error in random states, beside the greatest number of the array}.
"""

import mujoco
import numpy as np
from compare_contacts import is_iterated, touching_states
from states import error, random_states, stack

import featherstorm as fs
from featherstorm import _featherstorm

NO_CONSTRAINTS = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
NO_ACTUATION = int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
NO_CONTACTS = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
# arrays of a world's sequence, and what they are in MuJoCo
NAMES = {
    "q": "qpos", "v": "qvel", "act": "act", "qacc": "qacc_warmstart", "ctrl": "ctrl",
    "qfrc_applied": "qfrc_applied", "xfrc_applied": "xfrc_applied",
}  # fmt: skip
SUPPORTED = (0, 1, 2, 3)  # integrators: Euler, RK4, implicit, implicitfast
OPEN = ("TOUCH", "RANGEFINDER", "JOINTLIMIT", "TENDONLIMIT")  # sensors without a text yet


def prepared(m, flags):
    m.opt.disableflags |= flags
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE  # MuJoCo 4.0.0 has a fault in its sparse factor
    m.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    m.opt.noslip_tolerance = 0  # as many sweeps as iterations, whatever they gain
    m.opt.tolerance, m.opt.ls_tolerance, m.opt.iterations, m.opt.ls_iterations = 0, 1e-12, 200, 100
    return m


def open_sensors(m):
    """Which numbers of sensordata are of sensors without a text."""
    is_open = np.zeros(m.nsensordata, bool)
    for s in range(m.nsensor):
        name = mujoco.mjtSensor(m.sensor_type[s]).name.split("_", 1)[1]
        if name.startswith(OPEN):
            is_open[m.sensor_adr[s] : m.sensor_adr[s] + m.sensor_dim[s]] = True
    return is_open


def smooth_errors(m, count=20, seed=0, dtype=np.float64):
    model = fs.from_mujoco(prepared(m, NO_CONSTRAINTS))
    states = random_states(m, count, seed)
    q, v, act, ctrl = (stack(states, name).astype(dtype) for name in ("qpos", "qvel", "act", "ctrl"))
    qfrc, xfrc = stack(states, "qfrc_applied").astype(dtype), stack(states, "xfrc_applied").astype(dtype)
    xfrc = xfrc.reshape(count, m.nbody, 6)
    for d in states:
        mujoco.mj_forward(m, d)
    found = {}

    def compare(names, ours):
        for name, array in zip(names, ours):
            found[name] = error(np.asarray(array).reshape(count, -1), stack(states, name))

    compare(("ten_length", "ten_velocity"), fs.tendons(model, q, v)[:2])
    compare(
        ("actuator_length", "actuator_velocity", "act_dot", "actuator_force", "qfrc_actuator"),
        fs.actuators(model, q, v, act, ctrl),
    )
    compare(("qfrc_spring", "qfrc_damper", "qfrc_gravcomp", "qfrc_fluid"), fs.passive_forces(model, q, v))
    compare(("qacc_smooth",), fs.smooth_acceleration(model, q, v, act, ctrl, qfrc, xfrc)[:1])
    if m.nsensordata:
        qacc = stack(states, "qacc").astype(dtype)
        sensed = np.array(fs.sensors(model, q, v, qacc, act, ctrl, np.zeros((count, 1), dtype), xfrc))
        theirs = stack(states, "sensordata")
        known = ~open_sensors(m)
        for s in range(m.nsensor):
            at = slice(m.sensor_adr[s], m.sensor_adr[s] + m.sensor_dim[s])
            if known[at].all():
                name = "sensor " + mujoco.mjtSensor(m.sensor_type[s]).name.split("_", 1)[1]
                found[name] = max(found.get(name, 0), error(sensed[:, at], theirs[:, at]))
    if m.opt.disableflags & NO_ACTUATION:  # the world has no actuators then; MuJoCo still computes their lengths
        for name in ("actuator_length", "actuator_velocity", "act_dot"):
            del found[name]
    if m.opt.integrator in SUPPORTED:
        after = fs.smooth_step(model, q, v, act, ctrl, qfrc, xfrc)
        for d in states:
            mujoco.mj_step(m, d)
        compare(("qpos", "qvel", "act"), after)
    return found


def stepped(m, model, states, dtype, tolerance, **options):
    """A step of ours from MuJoCo's states: {array of the sequence: its numbers after it}."""
    sequence = _featherstorm.world_sequence(model.evaluator, dtype, 100, tolerance, **options)
    real, count = np.dtype(dtype), len(states)
    given = {ours: np.ascontiguousarray(stack(states, theirs), real) for ours, theirs in NAMES.items()}
    given = {name: array for name, array in given.items() if array.shape[1]}
    after = {name: np.empty_like(given[name]) for name in ("q", "v", "act", "qacc") if name in given}
    after["passes"] = np.empty((count, 1), real)
    columns = [(name, array, 0, array.shape[1], False) for name, array in given.items()]
    sequence.run(1, count, columns, {}, [(name, array, 0, array.shape[1], False) for name, array in after.items()])
    return after


def step_errors(m, after, states):
    for d in states:
        mujoco.mj_step(m, d)
    found = {NAMES[n]: error(after[n], stack(states, NAMES[n])) for n in ("q", "v", "act") if n in after}
    if m.opt.integrator != mujoco.mjtIntegrator.mjINT_RK4:  # MuJoCo's is of the first stage then, ours of the last
        found["qacc"] = error(after["qacc"], stack(states, "qacc"))
    return found


def constrained_errors(m, count=20, seed=0, dtype="float64", tolerance=1e-13):
    model = fs.from_mujoco(prepared(m, NO_CONTACTS))
    states = random_states(m, count, seed)
    after = stepped(m, model, states, dtype, tolerance)
    return step_errors(m, after, states), after["passes"].mean()


def is_comparable(m, d, pairs, loops=False):
    """Whether no geoms touch whose pair is left out, by the notice of the model, and none is where a contact just begins; with or
    without contacts that MuJoCo finds by iteration, to its tolerance."""
    mujoco.mj_fwdPosition(m, d)
    c = d.contact
    if np.abs(c.dist - c.includemargin).min(initial=1) < 1e-11:
        return False
    geoms = (tuple(int(g) for g in c.geom[i]) for i in range(d.ncon) if c.efc_address[i] >= 0)
    return all(g in pairs and (loops or not is_iterated(m, *g)) for g in geoms)


def contact_errors(m, positions, seed=0, dtype="float64", tolerance=1e-13, loops=False, **options):
    """Of the states among `positions` (count, nq) where only pairs touch that are supported; also how many contacts there were."""
    model = fs.from_mujoco(prepared(m, 0))
    pairs = {tuple(pair["geom"]) for pair in model.robot.contact_pairs}
    states = random_states(m, len(positions), seed)
    for d, q in zip(states, positions):
        d.qpos[:] = q
    states = [d for d in states if is_comparable(m, d, pairs, loops)]
    contacts = sum(d.ncon for d in states)
    if not states:
        return {}, 0, 0
    after = stepped(m, model, states, dtype, tolerance, **options)
    return step_errors(m, after, states), contacts, float(after["passes"].mean())


def of_file(path):
    """Both kinds of errors of a file, or why there are none."""
    try:
        m = mujoco.MjModel.from_xml_path(path)
    except ValueError as error:
        return {"skipped": f"MuJoCo refuses it: {error}"}
    if m.nv == 0:
        return {"skipped": "nothing moves"}
    smooth = smooth_errors(m)
    constrained, passes = constrained_errors(mujoco.MjModel.from_xml_path(path))
    touching, contacts, _ = contact_errors(mujoco.MjModel.from_xml_path(path), touching_states(m, 30))
    return {
        "smooth": smooth, "constrained": constrained, "passes": float(passes),
        "touching": touching, "contacts": contacts,
    }  # fmt: skip
