"""Errors of float32 against float64: every operation, every built-in robot, kernels for any robot and assembled ones.

Both get the same inputs, rounded to float32. What does not solve with M errs by a multiple of epsilon times the scale
of its outputs, the largest of the batch; what does, by a multiple of the condition number of M times epsilon times the
largest acceleration of the instance (RBDA section 10.2). The second measure of forward dynamics, M (a32 - a64)
relative to the largest force that M a, C and tau are made of, is free of the condition number: the force that would
make the error.
"""

import functools

import numpy as np
import pytest

import featherstorm as fs
from featherstorm._robot.states import random_state
from featherstorm.commands.operation_count import deepest_frame

EPSILON = 2.0**-23
INSTANCES = 256
NUMBERS = {"dt": 0.002, "tolerance": 1e-5}  # others 0.1

STATES = {"remaining": 0.01, "step": 0.002, "error": 1.0}  # of an integration

# (by what the error grows, factor); the largest error seen on any robot is a half to a third of the bound.
#   scale   factor * epsilon * the largest output of the batch
#   kappa   factor * epsilon * condition number of M * the largest output of the instance
BOUNDS = {
    "rnea": ("scale", 6),
    "rnea_f_ext": ("scale", 6),
    "bias": ("scale", 7),
    "gravity": ("scale", 9),
    "id_delta": ("scale", 4),
    "crba": ("scale", 9),
    "ltdl": ("kappa", 0.6),
    "ltl": ("kappa", 0.4),
    "solve": ("kappa", 0.6),
    "mul": ("scale", 6),
    "aba": ("kappa", 2.5),
    "aba_f_ext": ("kappa", 3),
    "fd": ("kappa", 4),
    "forward_kinematics": ("scale", 4),
    "frame_velocity": ("scale", 6),
    "frame_acceleration": ("scale", 7),
    "jacobian": ("scale", 6),
    "jdot_v": ("scale", 7),
    "energy": ("scale", 5),
    "momentum": ("scale", 100),  # about the centre of mass: the difference of two larger ones
    "joint_wrenches": ("scale", 7),
    "integrate": ("scale", 1.2),
    "difference": ("scale", 4),
    "step": ("kappa", 4),
    # of the books; n x n results and rates are sums of larger terms that cancel at the base
    "rnea_derivatives": ("scale", 130),
    "fd_derivatives": ("kappa", 11),
    "fd_linearization": ("kappa", 11),
    "rnea_second_derivatives": ("scale", 230),
    "crba_rate": ("scale", 250),
    "coriolis_matrix": ("scale", 200),
    "coriolis_matrix_body_fixed": ("scale", 11),
    "coriolis_matrix_mass_centre": ("scale", 200),
    "coriolis_matrix_rate": ("scale", 450),
    "gravity_torques_rate": ("scale", 400),
    "jacobian_rate": ("scale", 13),
    "jacobian_second_rate": ("scale", 8),
    "centroidal_momentum_matrix": ("scale", 9),
    "centroidal_momentum_rate": ("scale", 200),
    "com_jacobian": ("scale", 6),
    "operational_space": ("scale", 2500),  # inverts J M^-1 J^T, which has no full rank on small robots
    "operational_inertia": ("kappa", 2.5),
    "regressor": ("scale", 10),
    "slotine_li_regressor": ("scale", 12),
    "slotine_li_regressor_body_fixed": ("scale", 12),
    "momentum_regressor": ("scale", 11),
    "energy_regressor": ("scale", 9),
    "hybrid_dynamics": ("kappa", 2.7),
    "rk4_step": ("scale", 10),
    "solve_ltl": ("kappa", 1.3),
    "solve_l": ("kappa", 0.5),
    "solve_lt": ("kappa", 0.4),
    "mul_l": ("scale", 3),
    "mul_lt": ("scale", 4),
    "fd_second_derivatives": ("kappa", 42),
    "fd_parameter_derivatives": ("kappa", 4.5),
    "hybrid_derivatives": ("kappa", 9),
    "inverse_inertia_rate": ("kappa", 42),
    "coriolis_matrix_rate_body_fixed": ("scale", 65),
    "coriolis_matrix_rate_mass_centre": ("scale", 450),
    "crba_second_rate": ("scale", 350),
    "gravity_torques_second_rate": ("scale", 260),
    "coriolis_matrix_second_rate": ("scale", 200),
    "rnea_rate": ("scale", 90),
    "rnea_second_rate": ("scale", 95),
    "elastic_feedforward": ("scale", 55),
    "id_mass_centres": ("scale", 6),
    "rnea_moving_base": ("scale", 9),
    "maximal_velocity": ("scale", 5),
    "generalised_velocity": ("kappa", 2.5),
    "generalised_velocity_inertia": ("kappa", 4),
    "generalised_force": ("scale", 4),
    "maximal_force": ("kappa", 2.5),
    "maximal_force_inertia": ("kappa", 2.5),
    "force_at_mass_centres": ("scale", 2.5),
    "joint_velocities": ("scale", 9),
    "forces_of_joints": ("scale", 4.5),
    "joint_wrenches_of": ("scale", 4),
    "operational_inertia_column": ("kappa", 2.5),
    "dormand_prince": ("scale", 2.5e5),  # the error of a step is the difference of two results that agree
    "rnea_timed": ("scale", 6),
    "fd_timed": ("kappa", 3),
    "forward_kinematics_timed": ("scale", 4.5),
    "rnea_timed_derivatives": ("scale", 150),
    "fd_timed_derivatives": ("scale", 300),
    "rk4_step_timed": ("scale", 65),
}
ANY = ("kappa", 4)  # a row without an entry
# Rows of loops and coupled joints, on the robots of closed_robots.
CLOSED = {
    "loop_constraints": ("scale", 7),
    "loop_forces": ("scale", 2),
    "loop_placements": ("scale", 3),
    "fd_loops": ("scale", 10),
    "hybrid_loops": ("scale", 400),  # the accelerations solve the square of K
    "independent_map": ("scale", 7),
    "id_loops": ("scale", 7),
    "id_loops_least_constraint": ("scale", 3),
    "loop_step": ("scale", 8),
    "coupled_velocity": ("scale", 1),
    "coupled_position": ("scale", 1),
    "coupled_force": ("scale", 0.7),
    "coupled_inertia": ("scale", 3),
    "coupled_id": ("scale", 2),
    "fd_coupled": ("kappa", 2.5),
    "coupled_step": ("scale", 5),
}
MARKS = {"prescribed": [0, 1, 0], "actuated": [1, 1, 0], "independent": [1, 0, 0]}
# The force that would make the error of an acceleration: factor * epsilon * the largest force.
FORCES = {"aba": 50, "aba_f_ext": 70, "fd": 180}


@functools.cache
def closed_robots():
    """A four-bar with loops, and a gripper with coupled fingers on a wrist."""
    robots = {}
    for name in ("four_bar", "gripper"):
        b = fs.RobotBuilder(name)
        for link, length in (("first", 0.3), ("second", 0.6), ("third", 0.5)):
            b.add_link(link, length, [length / 2, 0, 0.01], np.diag([0.01, 0.1, 0.1]) * length**2)
        b.add_joint("a", "revolute", "", "first")
        b.add_joint("b", "revolute", "", "second", position=[0.5, 0, 0])
        b.add_joint("c", "revolute", "first", "third", position=[0.3, 0, 0])
        pin = fs.Loop("third", "second", at=(0.5, 0, 0), on=(0.6, 0, 0))
        geared = [fs.Coupling("c", {"a": -2.0, "b": 0.5}, 0.3)]
        robots[name] = b.build(loops=[pin]) if name == "four_bar" else b.build(couplings=geared)
    return robots


@functools.cache
def models(name):
    robot = closed_robots()[name] if name in closed_robots() else fs.load(name, threads=1).robot
    return fs.Model(robot, threads=1, assemble=False), fs.Model(robot, threads=1)


@functools.cache
def inertia(name):
    """Random configurations with their M: q, M packed, M dense, condition numbers."""
    model = models(name)[0]
    q = random_state(model, INSTANCES, seed=3, dtype="float32")[0].astype("float64")
    packed = run(model, "crba", {"q": q}, "float64")["M"]
    dense = np.zeros((INSTANCES, model.nv, model.nv))
    for i in range(model.nv):
        for k in range(model.row_start[i], model.row_start[i + 1]):
            dense[:, i, model.column[k]] = dense[:, model.column[k], i] = packed[:, k]
    return q, packed, dense, np.linalg.cond(dense)


def inputs(name, op):
    """What an operation takes, rounded to float32, by name."""
    model = models(name)[0]
    random = np.random.default_rng(5)
    q, packed, _, _ = inertia(name)
    arrays = {}
    for array, n in model.row(op).inputs:
        if name == "four_bar" and array == "q":
            x = np.array([0.9, -0.6, 1.5]) + 0.1 * random.normal(size=(INSTANCES, n))  # far from dead centres
        elif array == "q":
            x = q
        elif array[0] == "q" and n == model.nq:
            x = random_state(model, INSTANCES, seed=4)[0]
        elif array == "M":
            x = packed
        elif array in ("L", "L_ltl"):
            x = run(model, "ltdl" if array == "L" else "ltl", {"M": packed}, "float64")["L"]
        elif array in STATES:
            x = np.full((INSTANCES, n), STATES[array])
        else:
            x = random.normal(size=(INSTANCES, n)) * (10 if array in ("tau", "f_ext", "tau_ff") else 1)
        arrays[array] = np.ascontiguousarray(x, dtype="float32").astype("float64")
    return arrays


def run(model, op, arrays, dtype):
    row = model.row(op)
    given = [np.ascontiguousarray(arrays[name], dtype=dtype) for name, _ in row.inputs]
    out = {name: np.full((INSTANCES, n), np.nan, dtype=dtype) for name, n in row.outputs}
    numbers = []
    for name, n in row.uniforms:
        numbers += MARKS[name] if model.name in closed_robots() and name in MARKS else [NUMBERS.get(name, 0.1)] * n
    frame = deepest_frame(model) if row.uses_frame else 0
    model.evaluator.run(op, given, list(out.values()), numbers, frame)
    return {name: x.astype("float64") for name, x in out.items()}


def measure(name, op):
    """The largest factors (scale, kappa, force) over instances, outputs and both kinds of kernels."""
    reference, assembled = models(name)
    arrays = inputs(name, op)
    exact = run(reference, op, arrays, "float64")
    _, _, M, kappa = inertia(name)
    scale = by_kappa = force = 0.0
    for model in (reference, assembled):
        got = run(model, op, arrays, "float32")
        for output, x in exact.items():
            error = np.abs(got[output] - x)
            assert np.isfinite(error).all(), f"{op}: {output} is not finite"
            # what remains of the other outputs' terms is zero but for rounding
            remains = output in ("violation", "missing")
            largest = np.max([np.abs(y).max(axis=1) for y in (exact.values() if remains else [x])], axis=0)
            scale = max(scale, error.max() / max(largest.max(), 1e-30))
            by_kappa = max(by_kappa, (error.max(axis=1) / np.maximum(largest * kappa, 1e-30)).max())
            if op in FORCES:
                sizes = [np.abs(np.einsum("nij,nj->ni", M, x)), np.abs(arrays["tau"])]
                sizes.append(np.abs(run(reference, "bias", arrays, "float64")["tau"]))
                made = np.abs(np.einsum("nij,nj->ni", M, got[output] - x)).max(axis=1)
                force = max(force, (made / np.max(sizes, axis=(0, 2))).max())
    return scale / EPSILON, by_kappa / EPSILON, force / EPSILON


def rows(model):
    """The operations, and their forms that are given optional inputs."""
    return [*model.ops, *(row.given for row in model.ops.values() if row.given)]


ENGINE = {op for op, row in fs._featherstorm.operation_table().items() if row["common"]}
# of the humanoids; their books' results of n x n x n numbers take half of this file's time
LARGE = ("atlas", "g1")


@pytest.mark.parametrize("op", rows(fs.load("iiwa14")))
def test_error_of_float32(op):
    kind, factor = BOUNDS.get(op, ANY)
    for name in fs.robots():
        if name in LARGE and op.removesuffix("_f_ext") not in ENGINE:
            continue
        scale, kappa, force = measure(name, op)
        error = scale if kind == "scale" else kappa
        assert error <= factor, f"{name}: {error:.2f} epsilon, expected at most {factor} by {kind}"
        assert force <= FORCES.get(op, 0), f"{name}: a force of {force:.0f} epsilon would make the error"


@pytest.mark.parametrize("op", CLOSED)
def test_error_of_float32_on_closed_robots(op):
    kind, factor = CLOSED[op]
    for name in closed_robots():
        if op not in rows(models(name)[0]):
            continue
        scale, kappa, _ = measure(name, op)
        error = scale if kind == "scale" else kappa
        assert error <= factor, f"{name}: {error:.2f} epsilon, expected at most {factor} by {kind}"


def test_every_row_of_closed_robots_has_its_bound():
    tree = fs.load("iiwa14").ops.keys()
    assert set().union(*(models(name)[0].ops.keys() for name in closed_robots())) - tree == CLOSED.keys()


def test_the_bounds_are_for_operations_that_there_are():
    assert BOUNDS.keys() | FORCES.keys() <= set(rows(fs.load("iiwa14")))


def test_an_error_is_seen(monkeypatch):
    right = run

    def wrong(model, op, arrays, dtype):
        out = right(model, op, arrays, dtype)
        if dtype == "float32" and op == "crba":
            out["M"][17] *= 1 + 20 * EPSILON
        return out

    monkeypatch.setitem(globals(), "run", wrong)
    assert measure("iiwa14", "crba")[0] > BOUNDS["crba"][1]
