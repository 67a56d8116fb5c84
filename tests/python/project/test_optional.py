"""Packages that featherstorm imports at their first use."""

import subprocess
import sys

import pytest

from featherstorm import _fields, _optional

LATE = "av gymnasium jax matplotlib mujoco onnx pinocchio tensorboardX threadpoolctl torch tqdm"


def test_import_leaves_optional_packages_out():
    code = f"import sys, featherstorm; print({{name.partition('.')[0] for name in sys.modules}} & {set(LATE.split())})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "set()\n", done.stderr


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("mujoco", "the package mujoco is missing: python -m pip install mujoco"),
        ("onnx", "the package onnx is missing: python -m pip install 'featherstorm[learn]'"),
    ],
)
def test_a_missing_package_is_named(monkeypatch, name, text):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError) as caught:
        _ = getattr(_optional, name).anything
    assert str(caught.value) == text


def test_a_missing_dependency_of_a_package_is_not_taken_for_the_package(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import no_such_dependency")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such_dependency'"):
        _ = _optional.LazyModule("broken_package", "broken").anything


def test_fields_need_mujoco_4(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco.batch", None)
    with pytest.raises(ImportError, match=r"MuJoCo 4\.0 or later: python -m pip install 'mujoco>=4'"):
        _fields.__getattr__("table")
    with pytest.raises(AttributeError, match="has no attribute 'no_such_module'"):
        _ = _fields.no_such_module
