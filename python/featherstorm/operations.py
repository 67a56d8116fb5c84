"""The operations as functions of a model and arrays: batch first, any array library, results in the same library.

Arrays are (n,) for one instance or (B, n); float32 or float64, the same for all arrays of a call. Results are views of
the engine's memory with strides (1, stride), instance fastest. Coordinates: `q` of a free joint is position, then the
quaternion w x y z; its `v` is the linear velocity in world axes, then the angular velocity in the body's axes.

Errors: ValueError for shapes, quaternions and devices; TypeError for dtypes; NotImplementedError for an operation that
this build lacks. NaN in an instance stays in that instance. `check=False` leaves out the check of quaternions.
"""

import warnings

import numpy as np

from . import _featherstorm
from .arrays import Arguments
from .model import Notice

QUATERNION_SLACK = 1e-2  # how far a norm may be from 1; integration renormalises


def evaluate(model, op, arguments, frame=None, uniforms=(), repeat=1, check=True, tails=None, caller=None):
    """Runs an operation; returns its Arguments and a Buffer per output."""
    row = model.row(op)
    label = caller or op
    if len(arguments) != len(row.inputs):
        names = ", ".join(name for name, _ in row.inputs)
        raise TypeError(f"{label}: got {len(arguments)} arrays, expected {len(row.inputs)}: {names}")
    batch = Arguments(label, arguments, row.inputs, tails)
    if check:
        for (name, n), array in zip(row.inputs, batch.arrays):
            if n == model.nq and name.startswith("q") and name != "qdd":
                check_quaternions(model, label, name, array)
    index = 0
    if row.uses_frame:
        if frame is None:
            raise TypeError(f"{label}: which frame? Give its name (model.frame_names) or index")
        index = model.frame(frame)
    dtype = batch.dtype.name
    buffers = [_featherstorm.Buffer(dtype, batch.instances, n) for _, n in row.outputs]
    model.evaluator.run(op, batch.arrays, buffers, [float(u) for u in uniforms], index, repeat)
    for notice in model.evaluator.take_notices():
        warnings.warn(notice, Notice, stacklevel=3)
    return batch, buffers


def check_quaternions(model, op, name, array):
    """ValueError for a quaternion whose norm is far from 1. NaN passes."""
    for joint, c in model.quaternions:
        quaternion = array[:, c:c + 4]
        norm2 = np.einsum("ij,ij->i", quaternion, quaternion)
        wrong = np.abs(norm2 - 1) > 2 * QUATERNION_SLACK
        if wrong.any():
            i = int(np.argmax(wrong))
            norm = float(np.sqrt(norm2[i]))
            hint = ("all zeros is not a valid q; begin with model.q0" if norm == 0
                    else "normalise it; the order is w x y z")
            raise ValueError(f"{op}: {name}[{i}, {c}:{c + 4}], the quaternion of joint '{joint}', has norm {norm:.4g}, "
                             f"expected 1: {hint}")


def run(model, op, *arrays, frame=None, check=True, **uniforms):
    """Any operation of the table `model.ops` by name: arrays in its order, numbers by keyword.

    Returns the output (B, components), or a tuple of them.
    """
    row = model.row(op)
    if set(uniforms) != set(row.uniforms):
        raise TypeError(f"{op}: got the numbers {sorted(uniforms)}, expected {sorted(row.uniforms)}")
    batch, buffers = evaluate(model, op, arrays, frame, [uniforms[u] for u in row.uniforms], check=check)
    results = tuple(batch.result(b.view([n])) for b, (_, n) in zip(buffers, row.outputs))
    return results[0] if len(results) == 1 else results


def rnea(model, q, v, a, f_ext=None, *, check=True):
    """Inverse dynamics: the forces at the joints that make the robot accelerate by `a`.

        tau = M(q) a + C(q, v)                                  RBDA Table 5.1

    in   q (B, nq), v (B, nv), a (B, nv)
    in   f_ext (B, nb, 6) or (B, 6 nb): moment about its origin [N m] and force [N] on each moving body, world axes
    out  tau (B, nv) [N m | N]
    Cost O(nb).
    """
    if f_ext is None:
        return single(model, "rnea", [q, v, a], check)
    batch, buffers = evaluate(model, "rnea_forces", [q, v, a, f_ext], check=check, caller="rnea",
                              tails={"f_ext": (model.nb, 6)})
    return batch.result(buffers[0].view([model.nv]))


def bias(model, q, v, *, check=True):
    """The bias force C(q, v): gravity, Coriolis and centrifugal forces; rnea with a = 0.

    in   q (B, nq), v (B, nv)
    out  tau (B, nv) [N m | N]
    """
    return single(model, "bias", [q, v], check)


def crba(model, q, packed=False, *, check=True):
    """The joint-space inertia matrix M(q), symmetric and positive definite.          RBDA Table 6.2

    in   q (B, nq)
    out  M (B, nv, nv); with packed=True (B, nh), the branch-sparse lower triangle: entries row_start[i] to
         row_start[i + 1] of the model are row i, at the columns `model.column`
    """
    batch, buffers = evaluate(model, "crba", [q], check=check)
    M = buffers[0].view([model.nh])
    return batch.result(M if packed else dense(model, M))


def dense(model, packed):
    """The symmetric matrix (B, nv, nv) of a packed one (B, nh); entries of different branches are zero."""
    n, instances = model.nv, packed.shape[0]
    memory = _featherstorm.Buffer(packed.dtype.name, instances, n * n)
    M = memory.view([n, n])
    row = np.repeat(np.arange(n), np.diff(model.row_start))
    for k, (i, j) in enumerate(zip(row, model.column)):
        M[:, i, j] = packed[:, k]
        M[:, j, i] = packed[:, k]
    return M


def ltdl(model, M_packed):
    """The factorisation M = L^T D L without fill-in.          RBDA Table 6.3

    in   M (B, nh), from crba(packed=True)
    out  L (B, nh): L below the diagonal, 1/D on it
    """
    return single(model, "ltdl", [M_packed], False)


def solve(model, L, b):
    """x = M^-1 b with the factor of ltdl.          RBDA section 6.5

    in   L (B, nh), b (B, nv) or (B, nv, k) for k right-hand sides
    out  x like b
    """
    if len(np.shape(b)) < 3:
        return single(model, "solve", [L, b], False)
    columns = np.shape(b)[2]
    if columns == 0:
        return b
    parts = [evaluate(model, "solve", [L, b[:, :, k]]) for k in range(columns)]
    x = np.stack([buffers[0].view([model.nv]) for _, buffers in parts], axis=2)
    return parts[0][0].result(x)


def aba(model, q, v, tau, *, check=True):
    """Forward dynamics by articulated bodies: the acceleration under `tau`.          RBDA Table 7.1

        a = M(q)^-1 (tau - C(q, v))

    in   q (B, nq), v (B, nv), tau (B, nv) [N m | N]
    out  a (B, nv) [rad/s^2 | m/s^2]
    Cost O(nb).
    """
    return single(model, "aba", [q, v, tau], check)


def fd(model, q, v, tau, *, check=True):
    """Forward dynamics by the way that is fastest for this robot; arguments and result as `aba`."""
    return single(model, "fd", [q, v, tau], check)


def forward_kinematics(model, q, frame=None, *, check=True):
    """Where frames are in the world.

    in   q (B, nq); frame: name or index, None for all
    out  positions (B, nf, 3) [m] and rotations (B, nf, 3, 3) from frame axes to world axes; (B, 3) and (B, 3, 3) for
         one frame
    """
    batch, buffers = evaluate(model, "forward_kinematics", [q], check=check)
    pose = buffers[0].view([model.nf, 12])
    rotation = pose[:, :, 3:].reshape(batch.instances, model.nf, 3, 3)
    position = pose[:, :, :3]
    if frame is not None:
        k = model.frame(frame)
        position, rotation = position[:, k], rotation[:, k]
    return batch.result(position), batch.result(rotation)


def jacobian(model, q, frame, *, check=True):
    """The Jacobian of a frame: (angular velocity; velocity of the frame's origin) = J v, world axes.

    in   q (B, nq); frame: name or index
    out  J (B, 6, nv)
    """
    batch, buffers = evaluate(model, "jacobian", [q], frame, check=check)
    return batch.result(buffers[0].view([6, model.nv]))


def frame_velocity(model, q, v, frame, *, check=True):
    """Angular velocity and velocity of the origin of a frame, world axes.

    in   q (B, nq), v (B, nv); frame: name or index
    out  (B, 6) [rad/s, m/s]
    """
    return single(model, "frame_velocity", [q, v], check, frame)


def energy(model, q, v, *, check=True):
    """Kinetic and potential energy [J]; the potential is zero where all mass is at the world's origin.

    in   q (B, nq), v (B, nv)
    out  kinetic (B,), potential (B,)
    """
    batch, buffers = evaluate(model, "energy", [q, v], check=check)
    columns = np.concatenate([b.view([n]) for b, (_, n) in zip(buffers, model.row("energy").outputs)], axis=1)
    return batch.result(columns[:, 0]), batch.result(columns[:, 1])


def momentum(model, q, v, *, check=True):
    """Momentum of the robot: the moment about and the force through a point, per second; see `model.ops["momentum"]`.

    in   q (B, nq), v (B, nv)
    out  (B, 6) [N m s, N s], world axes
    """
    return single(model, "momentum", [q, v], check)


def integrate(model, q, v, dt, *, check=True):
    """Where the constant velocity `v` leads from `q` in the time `dt`; quaternions are renormalised.

    in   q (B, nq), v (B, nv), dt [s]
    out  q (B, nq)
    """
    batch, buffers = evaluate(model, "integrate", [q, v], uniforms=[dt], check=check)
    return batch.result(buffers[0].view([model.nq]))


def difference(model, q0, q1, *, check=True):
    """The constant velocity that leads from `q0` to `q1` in unit time, turning by at most half a turn.

    in   q0 (B, nq), q1 (B, nq)
    out  v (B, nv)
    """
    return single(model, "difference", [q0, q1], check)


def step(model, q, v, dt, tau=None, substeps=1, *, check=True, **drive):
    """One or more equal time steps; see `step_arguments` for `drive`.

    in   q (B, nq), v (B, nv), dt [s] of one substep, tau (B, nv)
    out  q (B, nq), v (B, nv)
    """
    arguments, uniforms = step_arguments(model, {"q": q, "v": v, "tau": tau, **drive}, dt)
    batch, buffers = evaluate(model, "step", arguments, uniforms=uniforms, repeat=substeps, check=check)
    q_next, v_next = (b.view([n]) for b, (_, n) in list(zip(buffers, model.row("step").outputs))[:2])
    return batch.result(q_next), batch.result(v_next)


# numbers of a step that are the same for all joints
STEP_DEFAULTS = {"limit_stiffness": 0.0, "limit_damping": 0.0, "friction_velocity": 0.01}


def step_arguments(model, given, dt):
    """Arrays and numbers of the operation `step` in its order; an array that is not given is zero.

    given   q_target, kp, kd (nv): drives kp (q_target - q) - kd v, within max_effort, as implicit as can be;
            limit_stiffness, limit_damping: of the stops at joint limits; friction_velocity
    """
    row = model.row("step")
    numbers = {**STEP_DEFAULTS, "dt": dt}
    unknown = set(given) - {name for name, _ in row.inputs} - set(row.uniforms)
    if unknown:
        known = [name for name, _ in row.inputs] + list(row.uniforms)
        raise TypeError(f"step: unknown argument {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    numbers.update((name, given[name]) for name in row.uniforms if given.get(name) is not None)
    missing = [name for name in row.uniforms if name not in numbers]
    if missing:
        raise TypeError(f"step: {', '.join(missing)} is missing")
    arrays = [[0.0] * n if given.get(name) is None else given[name] for name, n in row.inputs]
    return arrays, [numbers[name] for name in row.uniforms]


def single(model, op, arguments, check, frame=None):
    """The only output of an operation."""
    batch, buffers = evaluate(model, op, arguments, frame, check=check)
    return batch.result(buffers[0].view([model.row(op).outputs[0][1]]))
