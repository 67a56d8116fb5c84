"""Operations as functions: every row of the table has a signature, a docstring with shapes, and its line in the docs."""

import importlib
import inspect
import pathlib
import re

import numpy as np
import pytest

import featherstorm as fs
from featherstorm import _featherstorm
from featherstorm.commands.operations import markdown, stub

TABLE = _featherstorm.operation_table()
ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCS, STUB = ROOT / "docs" / "operations.md", ROOT / "python" / "featherstorm" / "_table.pyi"


def test_the_package_lists_its_common_names_alone():
    assert len(dir(fs)) <= 72
    assert set(fs.__all__) < set(dir(fs))
    assert set(dir(fs)) & set(TABLE) <= set(fs.ops.__all__)


@pytest.mark.parametrize(("former", "name"), fs._FORMER.items())
def test_former_names_are_the_operations_with_a_notice(former, name):
    with pytest.warns(fs.Notice, match=f"fs.{former} is fs.{name} now"):
        assert getattr(fs, former) is getattr(fs.ops, name)


@pytest.mark.parametrize("name", TABLE)
def test_a_row_is_a_function_that_tells_its_arrays(name):
    function, row = getattr(fs, name), TABLE[name]
    assert name in dir(fs.ops) and getattr(fs.ops, name) is function
    parameters = list(inspect.signature(function).parameters)
    assert parameters[0] == "model"
    if name in fs.__all__:  # written by hand, with its equation
        doc = function.__doc__
        assert re.search(r"^ {8}\S.* = ", doc, re.MULTILINE), "an equation in a line of its own"
        assert row["source"] in " ".join(doc.split())
        for word in ("    in   ", "    out  ", "(B, "):
            assert word in doc
        assert "[" in doc or not any(array["unit"] for array in [*row["inputs"], *row["outputs"]])
        return
    arrays = [array["name"] for key in ("inputs", "uniforms") for array in row[key]]
    assert parameters[1:] == [
        *arrays[: len(row["inputs"])],
        *["frame"] * row["uses_frame"],
        *arrays[len(row["inputs"]) :],
        "ignore",
        "check",
    ]
    text = " ".join(function.__doc__.split())
    assert " ".join(row["equation"].split()) in text and row["source"] in text and row["cost"] in text
    for array in [*row["inputs"], *row["outputs"]]:
        assert f"{array['name']} (B, {array['shape']}): {array['meaning']}" in text
        assert not array["unit"] or f"[{array['unit']}]" in text
    for array in row["inputs"]:
        assert f"{array['unit']}]; {array['range']}" in text or not (array["unit"] and array["range"])


def test_arrays_may_be_named():
    model = fs.load("iiwa14")
    q, v = fs.random_state(model, 3)
    u = np.ones_like(q)
    by_place = fs.fd_second_derivatives(model, q, v, v, np.zeros((3, 7, 6), q.dtype), u, u, u)
    by_name = fs.fd_second_derivatives(
        model, q, v, tau=v, f_ext=np.zeros((3, 7, 6), q.dtype), q_direction=u, v_direction=u, tau_direction=u
    )
    assert all((a == b).all() for a, b in zip(by_place, by_name))
    assert by_place[0].shape == (3, 7, 7)
    without = fs.fd_second_derivatives(model, q, v, v, q_direction=u, v_direction=u, tau_direction=u)
    assert all((a == b).all() for a, b in zip(by_place, without))
    with pytest.raises(TypeError, match="fd_second_derivatives: q_direction, v_direction, tau_direction is missing"):
        fs.fd_second_derivatives(model, q, v, tau=v)
    with pytest.raises(TypeError, match="frame_acceleration: got 4 arrays, expected 3: q, v, a"):
        fs.frame_acceleration(model, q, v, v, v, frame=0)


@pytest.mark.parametrize("name", ["rnea", "aba", "fd", "fd_derivatives", "rnea_derivatives", "floating_id"])
def test_external_forces_may_be_left_out(name):
    model = fs.load("go2")
    q, v = fs.random_state(model, 4)
    function, zero = getattr(fs, name), np.zeros((4, model.nb, 6), q.dtype)
    pushed = zero + 1

    def arrays(result):
        return result if isinstance(result, tuple) else (result,)

    given, left_out, none = (arrays(function(model, q, v, v, *f)) for f in ((zero,), (), (None,)))
    for a, b, c in zip(given, left_out, none):
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-3 * abs(a).max())
        np.testing.assert_array_equal(b, c)
    assert any((a != b).any() for a, b in zip(given, arrays(function(model, q, v, v, pushed))))


def test_a_docstring_has_shapes_and_conditions():
    text = fs.contact_system.__doc__
    assert (
        "q (B, nq)" in text
        and "f_ext (B, nb, 6)" in text
        and "A (B, nc, nc)" in text
        and "For robots with contacts." in text
    )
    assert str(inspect.signature(fs.frame_acceleration)) == "(model, q, v, a, *, frame, ignore=(), check=True)"


def test_the_docs_have_every_operation():
    remedy = "write it anew: ./featherstorm operations --markdown > docs/operations.md"
    assert DOCS.read_text(encoding="utf-8").strip() == markdown(TABLE).strip(), remedy


@pytest.mark.parametrize("library", ["jax", "torch"])
def test_external_forces_may_be_left_out_with_gradients(library):
    pytest.importorskip(library)
    module = importlib.import_module(f"featherstorm.{library}")
    array = pytest.importorskip("jax.numpy").asarray if library == "jax" else pytest.importorskip("torch").as_tensor
    model = fs.load("iiwa14")
    q, v = (array(np.asarray(x, np.float32)) for x in fs.random_state(model, 3))
    pushed = array(np.ones((3, model.nb, 6), np.float32))
    for name in ("rnea", "fd"):
        for forces in ((), (pushed,)):
            expected = getattr(fs, name)(model, *(np.asarray(x) for x in (q, v, v, *forces)))
            np.testing.assert_allclose(
                np.asarray(getattr(module, name)(model, q, v, v, *forces)), expected, rtol=1e-3, atol=1e-3
            )
    assert len(module.fd_derivatives(model, q, v, v)) == 4


def test_editors_know_every_operation():
    remedy = "write it anew: ./featherstorm operations --stub > python/featherstorm/_table.pyi"
    assert STUB.read_text(encoding="utf-8").strip() == stub(TABLE).strip(), remedy


@pytest.mark.parametrize(("old", "new"), [("rnea_forces", "rnea"), ("aba_forces", "aba")])
def test_former_names_stay_for_one_release(old, new):
    with pytest.warns(fs.Notice, match=f"fs.{old} is fs.{new} now"):
        assert getattr(fs, old) is getattr(fs, new)
