"""One robot file in a process of its own, so that none hides another: ours beside Pinocchio's (URDF) or MuJoCo's (MJCF) answers.

python check_robot_file.py FILE     prints a line of JSON for each kind of base, {"base": ..., "errors": {...}} or why not
"""

import json
import sys
import warnings

import numpy as np

import featherstorm as fs

STATES = 3


def relative(x, y):
    """The largest difference over the largest number."""
    x, y = np.asarray(x), np.asarray(y)
    return float(np.abs(x - y).max() / max(np.abs(y).max(), 1e-300))


def against_pinocchio(path, floating):
    import pinocchio as pin

    from pinocchio_oracle import Oracle

    try:
        theirs = pin.buildModelFromUrdf(path, pin.JointModelFreeFlyer()) if floating else pin.buildModelFromUrdf(path)
    except Exception as refused:
        return {"skipped": f"Pinocchio refuses it: {refused}"}
    if theirs.nv == 0:
        return {"skipped": "nothing moves"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fs.Notice)
        model = fs.load(path, floating_base=floating)
    oracle = Oracle(model, path)
    q, v = fs.random_state(model, STATES, seed=1, dtype="float64")
    a = np.random.default_rng(1).uniform(-1, 1, v.shape)
    M, tau, kept = fs.crba(model, q), fs.rnea(model, q, v, a), fs.fd(model, q, v, a)
    errors = {"crba": [], "rnea": [], "fd": []}
    for k in range(STATES):
        exact = oracle.crba(q[k])
        errors["crba"].append(relative(M[k], exact))
        forces = oracle.rnea(q[k], v[k], a[k])
        errors["rnea"].append(relative(tau[k], forces))
        # accelerations by the forces that they stand for, beside the largest force of the robot in that state
        parts = np.abs(exact) @ np.abs(kept[k]) + np.abs(oracle.rnea(q[k], v[k], 0 * a[k])) + np.abs(a[k])
        errors["fd"].append(float((np.abs(oracle.rnea(q[k], v[k], kept[k]) - a[k]) / parts.max()).max()))
    return {
        "errors": {op: max(e) for op, e in errors.items()},
        "kernels": {op: model.specialised(op, "float64") for op in errors},
    }


def against_mujoco(path):
    import mujoco

    try:
        theirs = mujoco.MjModel.from_xml_path(path)
    except Exception as refused:
        return {"skipped": f"MuJoCo refuses it: {refused}"}
    if theirs.nv == 0:
        return {"skipped": "nothing moves"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fs.Notice)
        model = fs.load(path)
    for name in ("CONSTRAINT", "SPRING", "DAMPER", "ACTUATION", "PASSIVE"):
        theirs.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, "mjDSBL_" + name, 0))
    q, v = fs.random_state(model, STATES, seed=1, dtype="float64")
    tau = np.random.default_rng(1).uniform(-1, 1, v.shape)
    M, C, a = fs.crba(model, q), fs.bias(model, q, v), fs.fd(model, q, v, tau)
    data, errors = mujoco.MjData(theirs), {"crba": [], "bias": [], "fd": []}
    for k in range(STATES):
        data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q[k], v[k], tau[k]
        data.eq_active[:] = 0
        mujoco.mj_forward(theirs, data)
        exact = np.zeros((theirs.nv, theirs.nv))
        mujoco.mj_fullM(theirs, data, exact)
        errors["crba"].append(relative(M[k], exact))
        errors["bias"].append(float(np.abs(C[k] - data.qfrc_bias).max() / forces(exact, data.qfrc_bias, v[k], tau[k])))
        errors["fd"].append(
            float(np.abs(exact @ (a[k] - data.qacc_smooth)).max() / forces(exact, data.qfrc_bias, a[k], tau[k]))
        )
    return {
        "errors": {op: max(e) for op, e in errors.items()},
        "kernels": {op: model.specialised(op, "float64") for op in errors},
    }


def forces(M, bias, a, tau):
    """The largest sum of forces at a joint, which rounding is relative to."""
    return (np.abs(M) @ np.abs(a) + np.abs(bias) + np.abs(tau)).max()


def main(path):
    kinds = {"fixed": lambda: against_pinocchio(path, False), "floating": lambda: against_pinocchio(path, True)}
    if path.endswith(".xml"):
        kinds = {"as written": lambda: against_mujoco(path)}
    for base, compare in kinds.items():
        try:
            result = compare()
        except Exception as failed:
            result = {"refused": f"{type(failed).__name__}: {failed}"}
        print(json.dumps({"base": base, **result}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
