"""Worlds of model files beside MuJoCo: generated models with one of everything, and every file of packages that people use.

A process for each file, as in tests/python/robot/test_robot_files.py, so that none hides another.
"""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

mujoco = pytest.importorskip("mujoco")
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import actuator_models  # noqa: E402
import constraint_models  # noqa: E402
import passive_models  # noqa: E402
import sensor_models  # noqa: E402
from compare import constrained_errors, smooth_errors  # noqa: E402

TOLERANCE = 1e-9  # goals of a step are 1e-8
MODELS = {
    f"{module.__name__}-{name}": xml
    for module in (actuator_models, passive_models, sensor_models, constraint_models)
    for name, xml in module.models()
}
# folders of packages, and where in them the models are that are tasks and robots
PLACES = {"gymnasium": "envs/mujoco/assets", "dm_control": "suite", "mjlab": "asset_zoo"}


def files():
    found = []
    for package, place in PLACES.items():
        spec = importlib.util.find_spec(package)
        if spec and spec.submodule_search_locations:
            found += sorted((pathlib.Path(spec.submodule_search_locations[0]) / place).rglob("*.xml"))
    return found


def worst(errors):
    return {name: error for name, error in errors.items() if not error < TOLERANCE}


@pytest.mark.parametrize("name", MODELS)
def test_a_generated_world_agrees(name):
    m = mujoco.MjModel.from_xml_string(MODELS[name])
    assert worst(smooth_errors(m)) == {}


@pytest.mark.parametrize("name", MODELS)
def test_a_generated_world_agrees_with_its_constraints(name):
    m = mujoco.MjModel.from_xml_string(MODELS[name])
    errors, _ = constrained_errors(m)
    assert worst(errors) == {}


@pytest.mark.skipif(not files(), reason="no model files: pip install --no-deps gymnasium dm-control mjlab")
@pytest.mark.parametrize("path", files(), ids=lambda path: "/".join(path.parts[-2:]))
def test_a_published_world_agrees(path):
    program = "import sys, json, compare; print(json.dumps(compare.of_file(sys.argv[1])))"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout.splitlines()[-1])
    if "skipped" in result:
        pytest.skip(result["skipped"])
    assert worst(result["smooth"]) == {} and worst(result["constrained"]) == {}
