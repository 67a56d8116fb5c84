"""Worlds of model files beside MuJoCo: generated models with one of everything, and every file of packages that people use.

A process for each file, as in tests/python/robot/test_robot_files.py, so that none hides another.
"""

import importlib.util
import json
import pathlib
import pickle
import sys

import numpy as np
import pytest

import apart
import featherstorm as fs
from featherstorm.robot.mjcf import robot_from_mujoco

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


# a ball on rails at a distance of zero from the ground, where rounding says whether there is a contact
JUST_TOUCHING = ("point.xml",)


def files():
    found = []
    for package, place in PLACES.items():
        spec = importlib.util.find_spec(package)
        if spec and spec.submodule_search_locations:
            found += sorted((pathlib.Path(spec.submodule_search_locations[0]) / place).rglob("*.xml"))
    return found


def refused_models():
    """(name, xml, word of the notice) of models whose world has what is not supported."""
    for xml, word in actuator_models.REFUSED:
        yield f"actuator-{word}", xml, word


REFUSED_SENSORS = dict(enumerate(sensor_models.refused()))


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
    done = apart.call("compare", HERE, "of_file", str(path))
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout.splitlines()[-1])
    if "skipped" in result:
        pytest.skip(result["skipped"])
    assert worst(result["smooth"]) == {} and worst(result["constrained"]) == {}
    if path.name not in JUST_TOUCHING:
        assert worst(result["touching"]) == {}


@pytest.mark.parametrize("name", [name for name, *_ in refused_models()])
def test_what_is_not_supported_leaves_the_world_out(name):
    xml, word = next((xml, word) for n, xml, word in refused_models() if n == name)
    m = mujoco.MjModel.from_xml_string(xml)
    model = fs.from_mujoco(m)
    assert any("the file's world is left out" in notice and word in notice for notice in model.notices)
    with pytest.raises(ValueError, match="the robot has no world"):
        fs.world_step(model, *(np.zeros((1, n)) for n in (m.nq, m.nv, m.na, m.nu)))

    said = "\n".join(model.notices)
    assert "actuators are left out; tau acts at the joints" in said
    with pytest.raises(ValueError, match=word):
        robot_from_mujoco(m, strict=True)


@pytest.mark.parametrize("number", REFUSED_SENSORS)
def test_a_sensor_that_is_not_supported_is_left_out_alone(number, tmp_path):
    sensor, message = REFUSED_SENSORS[number]
    path = tmp_path / "robot.xml"
    path.write_text(sensor_models.file(f"refused{number}", sensor))
    model = fs.load(path)
    assert model.has_world and any(message in notice and "is not measured" in notice for notice in model.notices)
    assert [message in why for why in model.file.unmeasured.values()] == [True]
    fs.Simulation(model, 1).step()
    with pytest.raises(ValueError, match="is not measured"):
        fs.Simulation(model, 1).sensor(next(iter(model.file.unmeasured)))
    with pytest.raises(ValueError, match=message):
        fs.load(path, strict=True)


def test_a_world_travels_with_its_model():
    m = mujoco.MjModel.from_xml_string(next(xml for name, xml in MODELS.items() if name.startswith("actuator_models")))
    model = fs.from_mujoco(m)
    other = pickle.loads(pickle.dumps(model))
    q, v = np.array([m.qpos0]), np.ones((1, m.nv))
    arguments = q, v, np.zeros((1, m.na)), np.ones((1, m.nu))
    for ours, theirs in zip(fs.world_step(model, *arguments), fs.world_step(other, *arguments)):
        np.testing.assert_array_equal(ours, theirs)


def test_robots_without_a_file_have_no_world():
    with pytest.raises(ValueError, match="the robot has no world, expected one of an MJCF file"):
        fs.tendons(fs.load("iiwa14"), np.zeros((1, 7)), np.zeros((1, 7)))


def test_rotors_of_actuators_are_armature_of_their_joints():
    m = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint name='j' axis='0 1 0' armature='.1'/><geom size='.1' pos='0 0 .3'/></body></worldbody>"
        "<actuator><motor joint='j' gear='3' armature='.2'/><motor joint='j' gear='2' armature='.4'/></actuator></mujoco>"
    )
    assert fs.from_mujoco(m).armature[0] == pytest.approx(0.1 + 0.2 * 9 + 0.4 * 4)
    assert smooth_errors(m)["qacc_smooth"] < TOLERANCE
