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
    return {"errors": {op: max(e) for op, e in errors.items()}, "kernels": kernels(model)}


def kernels(model):
    return {op: model.specialised(op, "float64") for op in ("crba", "rnea", "fd")}


if __name__ == "__main__":
    path = sys.argv[1]
    for floating in (False, True):
        try:
            result = against_pinocchio(path, floating)
        except Exception as failed:
            result = {"refused": f"{type(failed).__name__}: {failed}"}
        print(json.dumps({"base": "floating" if floating else "fixed", **result}), flush=True)
