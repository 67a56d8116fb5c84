"""Worlds of model files beside MuJoCo: generated models with one of everything, and every file of packages that people use.

A process for each file, as in tests/python/robot/test_robot_files.py, so that none hides another.
"""

import importlib.util
import json
import pathlib
import pickle
import sys
import time

import numpy as np
import pytest

import apart
import featherstorm as fs
from featherstorm import _featherstorm
from featherstorm._robot.mjcf import robot_from_mujoco

mujoco = pytest.importorskip("mujoco")
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import actuator_models  # noqa: E402
import constraint_models  # noqa: E402
import contact_models  # noqa: E402
import passive_models  # noqa: E402
import sensor_models  # noqa: E402
from compare import constrained_errors, prepared, smooth_errors, step_errors, stepped  # noqa: E402
from states import error, random_states  # noqa: E402

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
        fs.smooth_step(model, *(np.zeros((1, n)) for n in (m.nq, m.nv, m.na, m.nu)))

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
    for ours, theirs in zip(fs.smooth_step(model, *arguments), fs.smooth_step(other, *arguments)):
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


# ---- kernels that take the robot as data (host/simulation/world_stages.h) ----

INTEGRATORS = ("EULER", "RK4", "IMPLICIT", "IMPLICITFAST", "DISCRETE")
FAMILIES = {
    module.__name__: list(module.models())
    for module in (actuator_models, passive_models, constraint_models, contact_models)
}
SAMPLES = 4  # models of a family that an integrator steps
SAME = 1e-11  # of two forms of one text, in double, after steps that multiply rounding
# an orientation servo at its limit has a slope or none, as its clipped force is rounded
DECIDED_BY_ROUNDING = {("servos", "IMPLICIT"), ("servos", "IMPLICITFAST")}
AGREES = 1e-8  # with MuJoCo


def differences(m, model, count=9, seed=0, **options):
    """Between the two kinds of kernels: {array: greatest difference beside its greatest number}."""
    states = random_states(m, count, seed)
    own = stepped(m, model, states, "float64", 1e-13, **options)
    shared = stepped(m, model, states, "float64", 1e-13, most_traced=0, **options)
    return {name: error(shared[name], own[name]) for name in ("q", "v", "act", "qacc") if name in own}


def is_stepped(model):
    """Whether the integrator takes the file's actuators and tendons."""
    try:
        _featherstorm.world_sequence(model.evaluator, "float64")
    except ValueError:
        return False
    return True


def chain(links, joint, option=""):
    """Links one behind the other."""
    link = f'{joint}<geom type="capsule" size=".01" fromto="0 0 0 .1 0 0" mass=".01" contype="0" conaffinity="0"/>'
    bodies = "".join(f'<body pos="{0.1 if k else 0} 0 {0 if k else 2}">{link}' for k in range(links))
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><option jacobian='dense' {option}/><worldbody>{bodies}{'</body>' * links}</worldbody></mujoco>"
    )


BALL = '<joint type="ball" damping=".001"/>'
HINGE = '<joint axis="0 1 0" damping=".001" limited="true" range="-20 20"/>'


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("family", FAMILIES)
def test_kernels_of_all_robots_step_as_a_robots_own_do(family, integrator):
    models = FAMILIES[family]
    first = INTEGRATORS.index(integrator)
    for name, xml in models[first :: max(len(models) // SAMPLES, 1)]:
        m = prepared(mujoco.MjModel.from_xml_string(xml), 0)
        m.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
        if (name, integrator) not in DECIDED_BY_ROUNDING and is_stepped(model := fs.from_mujoco(m)):
            found = differences(m, model)
            assert all(x < SAME for x in found.values()), (name, found)


@pytest.mark.parametrize("integrator", ["EULER", "IMPLICITFAST", "DISCRETE"])
def test_kernels_of_all_robots_hold_by_the_rigid_law(integrator):
    for name, xml in list(constraint_models.models())[::40]:
        m = prepared(mujoco.MjModel.from_xml_string(xml), 0)
        m.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
        found = differences(m, fs.from_mujoco(m), rigid=_featherstorm.RigidLaw())
        assert all(x < 1e-9 for x in found.values()), (name, found)  # sweeps end at a tolerance


PARAMETERS = ("opt_gravity", "body_mass", "body_ipos", "dof_damping", "dof_armature", "eq_active", "opt_timestep")


@pytest.mark.parametrize("integrator", ["EULER", "RK4", "IMPLICIT"])
def test_numbers_that_differ_between_instances_differ_in_kernels_of_all_robots(integrator):
    xml = dict(constraint_models.models())["connect_limbs"]
    m = prepared(mujoco.MjModel.from_xml_string(xml), 0)
    m.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}")
    robot = fs.from_mujoco(m).robot
    model = fs.Model(robot, parameters=PARAMETERS)
    rng = np.random.default_rng(3)
    count = 11
    given = {}
    for name in PARAMETERS:
        usual = np.ravel(model.parameter(name))
        given[name] = np.repeat(usual[None], count, axis=0)
        if name == "eq_active":
            given[name][::2] = 0
        else:
            given[name] *= rng.uniform(0.5, 1.5, given[name].shape)
    after = []
    for most in (1 << 20, 0):
        sequence = _featherstorm.world_sequence(model.evaluator, "float64", 100, 1e-13, most_traced=most)
        states = random_states(m, count, 1)
        q, v = (np.stack([getattr(d, name) for d in states]) for name in ("qpos", "qvel"))
        columns = [(name, x, 0, x.shape[1], False) for name, x in {"q": q, "v": v, **given}.items()]
        q_next, v_next = np.empty_like(q), np.empty_like(v)
        outputs = [("q", q_next, 0, m.nq, False), ("v", v_next, 0, m.nv, False)]
        sequence.run(2, count, columns, {}, outputs)
        after.append((q_next, v_next))
    assert error(after[1][0], after[0][0]) < SAME and error(after[1][1], after[0][1]) < SAME
    assert error(after[0][1][:1], after[0][1][1:2]) > 1e-3  # the instances do differ


@pytest.mark.parametrize(("links", "joint", "option"), [(30, BALL, ""), (60, HINGE, "integrator='implicitfast'")])
def test_a_long_chain_moves_as_in_mujoco(links, joint, option):
    errors, _ = constrained_errors(chain(links, joint, option), count=3)
    assert all(x < AGREES for x in errors.values()), errors


def test_a_chain_of_300_freedoms_steps_soon_and_right():
    m = prepared(chain(100, BALL), 0)
    began = time.process_time()
    model = fs.from_mujoco(m)
    states = random_states(m, 2)
    after = stepped(m, model, states, "float64", 1e-13)
    assert time.process_time() - began < 10  # of a machine that does much else; seconds are in bench/results
    for d, qacc in zip(states, after["qacc"]):
        # of forces: M is so ill-conditioned that accelerations of either side lack two more digits
        mujoco.mj_forward(m, d)
        ours, theirs = np.empty(m.nv), np.empty(m.nv)
        mujoco.mj_mulM(m, d, ours, qacc), mujoco.mj_mulM(m, d, theirs, d.qacc)
        assert np.abs(ours - theirs).max() < AGREES * np.abs(theirs).max()
    assert step_errors(m, after, states)["qpos"] < AGREES


def test_the_choice_of_kernels_is_by_count():
    m = prepared(chain(6, BALL), 0)
    model = fs.from_mujoco(m)
    states = random_states(m, 3)
    few = stepped(m, model, states, "float64", 1e-13, most_traced=100)  # too few for its equations
    none = stepped(m, model, states, "float64", 1e-13, most_traced=0)
    assert all(np.array_equal(few[name], none[name]) for name in few)
