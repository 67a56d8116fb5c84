"""Numbers of steps: one list for signatures, docstrings and errors, which agrees with the engine."""

import importlib
import inspect

import numpy as np
import pytest

import featherstorm as fs
from featherstorm import _featherstorm, typing

TABLE = _featherstorm.operation_table()
KINDS = {
    "step": typing.DriveNumbers,
    "coupled_step": typing.DriveNumbers,
    "contact_step": typing.ContactNumbers,
    "loop_step": typing.LoopNumbers,
    "soft_contact_step": typing.SoftContactNumbers,
}


@pytest.mark.parametrize("op", KINDS)
def test_names_units_and_defaults_are_those_of_the_engine(op):
    described = {name: kind.__metadata__[0] for name, kind in KINDS[op].__annotations__.items()}
    rows = {row["name"]: row for row in TABLE[op]["uniforms"] if row["name"] != "dt"}
    assert described.keys() == rows.keys()
    for name, default in _featherstorm.step_defaults(op, 1.0):
        text, row = described[name], rows[name]
        assert not row["unit"] or f"[{row['unit']}]" in text
        assert (row["shape"] != "1") == text.startswith(f"({row['shape']},)")
        if np.isnan(default):
            assert name in KINDS[op].__required_keys__ and "default" not in text
        else:
            assert name in KINDS[op].__optional_keys__ and f"default {default:g}" in text


@pytest.mark.parametrize(
    "function", [fs.step, fs.Simulation, fs.Rollout, fs.rollout, fs.contact_step, fs.loop_step, fs.coupled_step, fs.soft_contact_step, fs.dormand_prince]
)  # fmt: skip
def test_signatures_name_the_numbers(function):
    parameters = inspect.signature(function).parameters
    assert {"kp", "kd", "limit_stiffness", "limit_damping", "friction_velocity"} <= parameters.keys()
    assert not any(p.kind == p.VAR_KEYWORD for p in parameters.values())
    assert parameters["kp"].default is None
    if inspect.isfunction(function):
        for name in {*typing.StepNumbers.__annotations__, *typing.Stiffness.__annotations__} & parameters.keys():
            assert f"\n             {name}  " in function.__doc__


def test_none_is_the_default(go2):
    q, v = fs.random_state(go2, 3)
    none = dict.fromkeys(typing.StepNumbers.__annotations__)
    for x, y in zip(fs.step(go2, q, v, 1e-3, **none), fs.step(go2, q, v, 1e-3)):
        assert np.array_equal(x, y)
    a, b = (fs.dormand_prince(go2, q, v, 1e-3, **given) for given in ({}, {"kp": None, "limit_damping": None}))
    assert np.array_equal(a.v, b.v)
    U = np.ones((3, 2, go2.nv))
    x0 = np.hstack([q, v])
    assert np.array_equal(fs.rollout(go2, x0, U, 1e-3, kp=None).final, fs.rollout(go2, x0, U, 1e-3).final)


Z = np.zeros(2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: fs.step(m, Z, Z, 0.1, limit_stifness=1.0), r"^step: limit_stifness is not an argument; did you mean limit_stiffness\?$"),
        (lambda m: fs.step(m, Z, Z, 0.1, substep=2), r"^step: substep is not an argument; did you mean substeps\?$"),
        (lambda m: fs.step(m, Z, Z, 0.1, zzz=None), "^step: zzz is not an argument; expected some of model, q, v, dt, tau"),
        (lambda m: fs.step(m, Z, Z, 0.1, erp=0.1), "^step: erp is for contact_step, but cartpole is stepped by step; leave it out$"),
        (lambda m: fs.step(m, Z, Z, 0.1, rate=0.1), "^step: rate is for loop_step, but cartpole is stepped by step; leave it out$"),
        (lambda m: fs.Simulation(m, 1, 0.1, erp=0.1), "^Simulation: erp is for contact_step, but cartpole is stepped by step"),
        (lambda m: fs.Simulation(m, 1, 0.1, ignores="loops"), r"^Simulation: ignores is not an argument; did you mean ignore\?$"),
        (lambda m: fs.Simulation(m, 1, 0.1, kp=[1.0, 2.0, 3.0]), r"^Simulation: kp has shape \(3,\), expected \(2,\) or a number$"),
        (lambda m: fs.Rollout(m, 0.1, observer=print), r"^Rollout: observer is not an argument; did you mean observe\?$"),
        (lambda m: fs.rollout(m, np.zeros(4), np.zeros((1, 2, 2)), 0.1, max_pusch=1.0), r"^Rollout: max_pusch is not an argument; did you mean max_push\?$"),
        (lambda m: fs.loop_step(m, Z, Z, 0.1, erp=0.1), "^loop_step: erp is not an argument"),
        (lambda m: fs.soft_contact_step(m, Z, Z, 0.1, K_n=1.0, D_n=1.0), "^soft_contact_step: K_t, D_t must be given$"),
    ],
)  # fmt: skip
def test_wrong_numbers_are_refused(call, message):
    error = ValueError if "shape" in message else TypeError
    with pytest.raises(error, match=message):
        call(fs.load("cartpole"))


@pytest.mark.parametrize("library", ["torch", "jax"])
def test_learning_libraries_name_the_same_numbers(library):
    zeros = pytest.importorskip("torch" if library == "torch" else "jax.numpy").zeros(2)
    step = importlib.import_module(f"featherstorm.{library}").step
    assert {*typing.StepNumbers.__annotations__} <= inspect.signature(step).parameters.keys()
    for name, hint in (("kdd", "; did you mean kd"), ("law", "; ")):
        with pytest.raises(TypeError, match=f"^{library}.step: {name} is not an argument{hint}"):
            step(fs.load("cartpole"), zeros, zeros, 0.1, **{name: 1.0})
    for x, y in zip(step(fs.load("cartpole"), zeros, zeros, 0.1, kd=1.0), (zeros, zeros)):
        assert x.shape == y.shape
