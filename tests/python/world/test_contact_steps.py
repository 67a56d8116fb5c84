"""Steps of generated worlds with contacts beside MuJoCo: with the rows of what touches, and with those of all candidates."""

import pathlib
import sys

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.mujoco import Batch

mujoco = pytest.importorskip("mujoco")
theirs = pytest.importorskip("mujoco.batch", reason="needs MuJoCo 4.0 or later")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import contact_models  # noqa: E402
import pair_scenes  # noqa: E402
from compare import contact_errors, prepared, stepped  # noqa: E402
from compare_contacts import close_states  # noqa: E402
from states import random_states, stack  # noqa: E402
from test_world import worst  # noqa: E402

# in models of filters joints keep bodies apart; the numbers of contacts under the flag override are compared by
# test_geom_contacts.py; parameters at their ends make an ill-conditioned problem
LOOPS = tuple(f"{pair}-" for pair in (*pair_scenes.ROUND, *pair_scenes.FLAT, *pair_scenes.FIELDS))
# a foot with adhesion on a leg above the ground, near a ball and under a shelf; other bodies of the leg touch as well
FOOT = """<mujoco><option cone="{cone}" integrator="{integrator}"/><default><geom condim="{condim}" friction=".6 .01 .002"/></default>
  <worldbody><geom type="plane" size="2 2 1"/><geom type="box" size=".1 .3 .02" pos=".33 0 .16"/>
    <body pos="0 0 .35"><joint axis="0 1 0" damping=".1"/><geom type="capsule" size=".02" fromto="0 0 0 .3 0 -.2" mass=".4"/>
      <body name="foot" pos=".3 0 -.25"><joint name="sole" axis="1 0 .2" damping=".02"/>
        <geom type="box" size=".08 .05 .03" mass=".2" margin=".01" gap=".02"/><geom size=".02" pos="0 0 .06" mass=".01" gap=".01"/></body></body>
    <body name="ball" pos=".45 0 .08"><freejoint/><geom size=".06" mass=".1" margin=".02"/></body></worldbody>
  <actuator><adhesion name="stick" body="foot" ctrlrange="0 1" gain="3"/><motor joint="sole"/>
    <general name="drag" body="ball" gainprm="2" biastype="affine" biasprm=".3 0 {drag}" dyntype="filter" dynprm=".1"/></actuator>
  <sensor><actuatorfrc actuator="stick"/><actuatorvel actuator="drag"/><actuatorpos actuator="stick"/><jointactuatorfrc joint="sole"/></sensor>
</mujoco>"""
ADHESION = (
    "actuator_length",
    "actuator_velocity",
    "actuator_force",
    "qfrc_actuator",
    "sensordata",
    "qacc_smooth",
    "qacc",
)
MODELS = {
    name: xml
    for name, xml in contact_models.models()
    if not name.startswith(("filters", *LOOPS)) and "override" not in name
}
DOUBT = 1e-6
BALL = """<mujoco><option cone="{cone}" {option}/><worldbody><geom type="plane" size="1 1 1" friction="{friction}"/>
  <body pos="0 0 .099"><freejoint/><geom name="ball" size=".1" friction="{friction}" condim="{condim}" priority="1"/></body>
</worldbody></mujoco>"""


def compiled(xml, cone):
    spec = mujoco.MjSpec.from_string(xml)
    spec.option.cone = cone
    return spec.compile()


@pytest.mark.parametrize("cone", [0, 1], ids=["pyramids", "cones"])
@pytest.mark.parametrize("name", MODELS)
def test_a_step_of_generated_contacts_agrees(name, cone):
    m = compiled(MODELS[name], cone)
    positions = close_states(m, 30)
    for all_candidates in (False, True):
        errors, contacts, _ = contact_errors(m, positions, all_candidates=all_candidates)
        assert {name: error for name, error in errors.items() if not error < DOUBT} == {}
        assert contacts >= 3 or name.startswith("without"), "the test has nothing to compare"


@pytest.mark.parametrize("name", ["sphere_mesh-0", "capsule_mesh-2", "hfield_sphere-0", "hfield_capsule-2"])
def test_a_step_with_contacts_found_by_loops_agrees(name):
    m = compiled(dict(contact_models.models())[name], 0)
    m.opt.ccd_iterations, m.opt.ccd_tolerance = 400, 1e-11
    positions = close_states(m, 30)
    errors, contacts, _ = contact_errors(m, positions, loops=True)
    assert contacts >= 3 and {name: error for name, error in errors.items() if not error < 1e-4} == {}
    with pytest.raises(ValueError, match="found by loops, which are not unrolled"):
        contact_errors(m, positions, loops=True, all_candidates=True)


@pytest.mark.parametrize("condim", [1, 3, 4, 6])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
@pytest.mark.parametrize("option", ["", 'impratio="10"', 'timestep="0.01"'])
def test_a_ball_that_slides_and_spins_agrees(condim, cone, option):
    m = mujoco.MjModel.from_xml_string(BALL.format(cone=cone, option=option, condim=condim, friction="0.4 0.02 0.01"))
    positions = np.repeat(m.qpos0[None], 30, 0)
    positions[:, 2] -= np.random.default_rng(0).uniform(0, 0.003, 30)
    errors, contacts, _ = contact_errors(m, positions)
    assert contacts == 30 and worst(errors) == {}


def test_a_trajectory_stays_with_mujocos():
    """A ball falls, bounces and rolls: 400 steps, from each of which errors grow."""
    m = prepared(
        mujoco.MjModel.from_xml_string(BALL.format(cone="pyramidal", option="", condim=3, friction="0.6 0.005 0.0001")),
        0,
    )
    model = fs.from_mujoco(m)
    states = random_states(m, 4, seed=3)
    for d in states:
        d.qpos[:3], d.qfrc_applied[:], d.xfrc_applied[:] = (0, 0, 0.2), 0, 0
    for _ in range(400):
        after = stepped(m, model, states, "float64", 1e-13)
        for d in states:
            mujoco.mj_step(m, d)
    np.testing.assert_allclose(after["q"], stack(states, "qpos"), atol=1e-9)
    assert all(abs(d.qpos[2] - 0.1) < 0.01 for d in states), "the balls lie on the ground"


def test_in_single_precision_a_step_is_close():
    m = mujoco.MjModel.from_xml_string(MODELS[next(iter(MODELS))])
    errors, _, passes = contact_errors(m, close_states(m, 64), dtype="float32", tolerance=1e-6)
    assert worst({name: error / 1e6 for name, error in errors.items()}) == {} and passes < 10


def walking(condim=3, cone="pyramidal", integrator="Euler", drag=-0.5, n=24):
    """Ours and MuJoCo's batches of feet on the ground, above it by less than the gap, and away."""
    m = prepared(
        mujoco.MjModel.from_xml_string(FOOT.format(condim=condim, cone=cone, integrator=integrator, drag=drag)), 0
    )
    batches = Batch(m, n, 1, dtype="float64"), theirs.Batch(m, n, 1)
    rng = np.random.default_rng(condim)
    turned = np.linspace(-0.9, 0.25, n), 0.1 * rng.normal(size=n)
    placed, v = 0.05 * rng.normal(size=(n, 3)), 0.3 * rng.normal(size=(n, m.nv))
    ctrl, act = rng.uniform(0, 1, (n, m.nu)), rng.uniform(0, 1, (n, m.na))
    for b in batches:
        b.qpos[:, 0], b.qpos[:, 1] = turned
        b.qpos[:, 2:5] += placed
        b.qvel[...], b.ctrl[...], b.act[...] = v, ctrl, act
    return batches


def agree(ours, reference, names, tolerance=1e-9):
    for name in names:
        x, y = np.array(getattr(ours, name)), np.array(getattr(reference, name))
        assert np.abs(x - y).max() < tolerance * max(1.0, np.abs(y).max()), name


@pytest.mark.parametrize("condim", [1, 3, 4, 6])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_adhesion_pulls_a_body_to_what_it_touches(condim, cone):
    ours, reference = walking(condim, cone)
    for b in (ours, reference):
        for name in ADHESION:
            b.bind(name)
        b.forward()
    agree(ours, reference, ADHESION)
    pulled = np.abs(np.array(reference.qfrc_actuator)[:, 0]) > 0
    assert pulled.any() and not pulled.all(), "the foot is always or never near the ground"


@pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast", "RK4", "discrete"])
def test_steps_with_adhesion_agree(integrator):
    # a slope along a moment across branches is refused with `discrete`, by MuJoCo too
    ours, reference = walking(integrator=integrator, drag=0 if integrator == "discrete" else -0.5)
    for b in (ours, reference):
        b.step(nstep=3)
    agree(ours, reference, ("qpos", "qvel", "act"), 1e-8)


@pytest.mark.parametrize(("integrator", "shape"), [("Euler", "ellipsoid"), ("RK4", "mesh"), ("implicit", "cylinder")])
def test_adhesion_where_contacts_are_found_by_loops_agrees(integrator, shape):
    """Its step takes the robot as data; fields that moments of actuators enter are refused, with the reason."""
    xml = FOOT.format(condim=3, cone="pyramidal", integrator=integrator, drag=0).replace(
        '<geom size=".02" pos="0 0 .06"', f'<geom type="{shape}" {{}} pos="0 0 .06"'
    )
    corners = " ".join(f"{x} {y} {z}" for x in (-0.02, 0.02) for y in (-0.03, 0.025) for z in (-0.02, 0.02))
    size = 'mesh="block"' if shape == "mesh" else 'size=".02 .03 .02"'
    asset = f'<asset><mesh name="block" vertex="{corners}"/></asset><worldbody>'
    m = prepared(mujoco.MjModel.from_xml_string(xml.format(size).replace("<worldbody>", asset)), 0)
    m.opt.ccd_iterations, m.opt.ccd_tolerance = 400, 1e-11
    with pytest.warns(fs.Notice, match="actuators of a model with adhesion between shapes without a closed form"):
        ours = Batch(m, 24, 1, dtype="float64")
    reference = theirs.Batch(m, 24, 1)
    rng = np.random.default_rng(3)
    turned, v, ctrl = np.linspace(-0.5, -0.02, 24), 0.3 * rng.normal(size=(24, m.nv)), rng.uniform(0, 1, (24, m.nu))
    for b in (ours, reference):
        b.qpos[:, 0], b.qpos[:, 1] = turned, np.linspace(-0.4, 0.4, 24)
        b.qpos[:, 2:5] += 0.02
        b.qvel[...], b.ctrl[...] = v, ctrl
        b.bind("qacc")
    reference.bind("qfrc_actuator")
    for b in (ours, reference):
        b.forward()
    looped = 0
    for q in np.array(reference.qpos):
        d = mujoco.MjData(m)
        d.qpos[:] = q
        mujoco.mj_fwdPosition(m, d)
        looped += any(4 in pair and min(pair) > 0 for pair in d.contact.geom.tolist())
    assert looped > 3, "the toe touches nothing but the ground"
    agree(ours, reference, ("qacc",), 1e-5)
    for b in (ours, reference):
        b.step(nstep=3)
    agree(ours, reference, ("qpos", "qvel", "act"), 1e-5)
    with pytest.raises(ValueError, match="qfrc_actuator is not computed of models with adhesion between shapes"):
        ours.bind("qfrc_actuator")
