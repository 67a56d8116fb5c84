"""Operations as functions: every row of the table has a signature, a docstring with shapes, and its line in the docs."""

import inspect
import pathlib

import numpy as np
import pytest

import featherstorm as fs
from featherstorm import _featherstorm
from featherstorm.commands.operations import markdown

TABLE = _featherstorm.operation_table()
DOCS = pathlib.Path(__file__).resolve().parents[3] / "docs" / "operations.md"


@pytest.mark.parametrize("name", TABLE)
def test_a_row_is_a_function_that_tells_its_arrays(name):
    function, row = getattr(fs, name), TABLE[name]
    assert name in dir(fs)
    parameters = list(inspect.signature(function).parameters)
    assert parameters[0] == "model"
    if name in fs.__all__:  # written by hand, with its equation
        assert "\n" in function.__doc__
        return
    arrays = [array for key in ("inputs", "uniforms") for array, _ in row[key]]
    assert parameters[1:] == [
        *arrays[: len(row["inputs"])],
        *["frame"] * row["uses_frame"],
        *arrays[len(row["inputs"]) :],
        "ignore",
        "check",
    ]
    for array, shape in [*row["inputs"], *row["outputs"]]:
        assert f"{array} (B, {shape})" in " ".join(function.__doc__.split())


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
    with pytest.raises(
        TypeError, match="fd_second_derivatives: f_ext, q_direction, v_direction, tau_direction is missing"
    ):
        fs.fd_second_derivatives(model, q, v, tau=v)


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
