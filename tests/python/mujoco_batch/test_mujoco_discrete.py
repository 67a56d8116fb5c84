"""The integrator discrete and the flag diagexact beside MuJoCo's own steps."""

from xml.etree import ElementTree

import actuator_models
import constraint_models
import mujoco
import mujoco.batch as theirs
import numpy as np
import passive_models
import pytest
import touching_models
from test_mujoco_implicit import XML as MOVING

from featherstorm.mujoco import Batch

N = 9
DISCRETE = mujoco.mjtIntegrator.mjINT_DISCRETE
SEARCH = 'tolerance="0" iterations="200" jacobian="dense"'

# springs of every joint, some of them stiffer than a step; dampers, dry friction, limits and equalities that a step cannot resolve
STIFF = """
<mujoco>
  <option integrator="{integrator}" timestep="0.01" {search} {options}><flag {flags}/></option>
  <default><geom contype="0" conaffinity="0"/><joint armature="{armature}"/></default>
  <worldbody>
    <body pos="0 0 1">
      <joint name="ball" type="ball" damping=".1" stiffness="40" range="0 20" limited="true" solreflimit=".002 1"/>
      <geom type="box" size=".2 .1 .05" mass="1"/>
      <body pos=".3 0 .1">
        <joint name="a" axis="0 1 0" damping=".2 .1 .02" stiffness="300 20 5" springref="20" frictionloss=".3"/>
        <joint name="b" axis="1 0 .3" range="-10 10" limited="true" solreflimit=".003 .8" solimplimit=".7 .99 .2" margin=".02"/>
        <geom type="capsule" size=".05 .2" pos="0 0 .2" mass=".2"/>
        <body name="tip" pos="0 0 .4">
          <joint name="c" type="slide" axis="0 1 .4" stiffness="2000" damping="1" frictionloss="1"/>
          <geom type="box" size=".05 .1 .02" pos="0 .1 0" mass=".2"/>
          <site name="end" pos="0 .2 0"/>
        </body>
      </body>
    </body>
    <body pos="0 0 2"><joint type="free" stiffness="30" damping=".3" armature="0"/><geom type="box" size=".1 .2 .05" mass=".7"/></body>
    <body name="far" pos="2 0 1"><freejoint/><geom type="box" size=".1 .02 .05" mass=".1"/></body>
  </worldbody>
  <tendon>
    <fixed name="t" stiffness="80" damping=".3" springlength="-.1 .2" frictionloss=".2" limited="true" range="-.3 .3">
      <joint joint="a" coef="1"/><joint joint="c" coef=".5"/>
    </fixed>
  </tendon>
  <equality>
    <joint joint1="b" joint2="a" polycoef="0 .3 .1 0 0" solref=".004 1"/>
    <connect body1="tip" anchor="0 .2 0" solref=".02 1"/>
    <tendon tendon1="t" polycoef=".1 0 0 0 0" solref="-1000 -30"/>
  </equality>
  <actuator>
    <position joint="a" kp="900" kv="3"/>
    <general joint="b" gainprm="5" biastype="affine" biasprm=".1 -300 -.2" forcerange="-3 3"/>
    <general joint="c" gaintype="affine" gainprm="5 -3 -.3" dyntype="filter" dynprm=".05" actearly="true"/>
    <muscle joint="a" lengthrange="-1 1" scale="30"/>
    <general tendon="t" gainprm="5" biastype="affine" biasprm="0 -40 1"/>
  </actuator>
</mujoco>
"""  # fmt: skip


def compiled(xml):
    return mujoco.MjModel.from_xml_string(xml)


def stiff(integrator="discrete", options="", flags="", armature="0.01"):
    return compiled(STIFF.format(integrator=integrator, search=SEARCH, options=options, flags=flags, armature=armature))


def stirred(*batches, seed=1, turn=0.3, speed=1.0):
    rng = np.random.default_rng(seed)
    first = batches[0]
    q = np.array(first.qpos)
    q += turn * rng.uniform(-1, 1, q.shape)
    m = first.model
    for j in range(m.njnt):
        if m.jnt_type[j] in (0, 1):
            at = m.jnt_qposadr[j] + (3 if m.jnt_type[j] == 0 else 0)
            q[:, at : at + 4] /= np.linalg.norm(q[:, at : at + 4], axis=1, keepdims=True)
    v, u = speed * rng.normal(size=first.qvel.shape), rng.uniform(-1, 1, first.ctrl.shape)
    act = rng.uniform(0, 0.5, first.act.shape)
    for x in batches:
        x.qpos[...], x.qvel[...], x.ctrl[...], x.act[...] = q, v, u, act


def error(ours, reference):
    ours, reference = np.array(ours), np.array(reference)
    return float(np.abs(ours - reference).max(initial=0)) / max(1.0, float(np.abs(reference).max(initial=0)))


def assert_steps_agree(m, nstep=5, bound=1e-8, observed=("qacc", "qacc_smooth", "qfrc_constraint"), **how):
    b, reference = Batch(m, N, 1, dtype="float64"), theirs.Batch(m, N, 1)
    stirred(b, reference, **how)
    for x in (b, reference):
        for name in observed:
            x.bind(name)
        x.forward()
    for name in observed:
        assert error(getattr(b, name), getattr(reference, name)) < bound, name
    for x in (b, reference):
        x.step(nstep=nstep)
    for name in ("qpos", "qvel", "act", *observed):
        assert error(getattr(b, name), getattr(reference, name)) < bound, name
    return b


@pytest.mark.parametrize("shape", ["none", "ellipsoid"])
@pytest.mark.parametrize(("density", "viscosity"), [(0, 0), (100, 1)])
def test_free_bodies_and_the_medium(density, viscosity, shape):
    numbers = {"density": density, "viscosity": viscosity, "shape": shape}
    m = compiled(MOVING.format(integrator="discrete", **numbers))
    b = assert_steps_agree(m, nstep=20, turn=0, speed=3)
    other = Batch(compiled(MOVING.format(integrator="Euler", **numbers)), N, 1, dtype="float64")
    stirred(other, turn=0, speed=3)
    other.step(nstep=20)
    assert error(other.qvel, b.qvel) > 1e-4


@pytest.mark.parametrize(
    "flags", ["", 'refsafe="disable"', 'diagexact="enable"', 'spring="disable"', 'actuation="disable"']
)
def test_springs_and_rows_that_a_step_cannot_resolve(flags):
    b = assert_steps_agree(stiff(flags=flags))
    other = Batch(stiff("implicitfast", flags=flags), N, 1, dtype="float64")
    stirred(other)
    other.step(nstep=5)
    assert not error(other.qvel, b.qvel) < 1e-3  # explicit springs blow up


def alone(xml):
    """The model with each of its actuators and no other."""
    for k in range(len(ElementTree.fromstring(xml).find("actuator"))):
        tree = ElementTree.fromstring(xml)
        actuators = tree.find("actuator")
        kept = list(actuators)[k]
        for other in list(actuators):
            if other is not kept:
                actuators.remove(other)
        yield ElementTree.tostring(tree, encoding="unicode")


def discrete(xml):
    m = compiled(xml)
    m.opt.integrator, m.opt.tolerance, m.opt.iterations, m.opt.jacobian = DISCRETE, 0, 200, 0
    return m


def test_actuators_tendons_and_passive_forces_of_every_kind():
    names = {
        name: xml
        for models in (actuator_models, passive_models, constraint_models)
        for name, xml in models.models()
        if name not in ("servos", "dc_motors")  # all together these act across branches
    }
    for name, xml in names.items():
        m = discrete(xml)
        try:
            assert_steps_agree(m, nstep=3, observed=("qacc",))
        except AssertionError as wrong:
            raise AssertionError(name) from wrong


@pytest.mark.parametrize("name", ["servos", "dc_motors"])
def test_actuators_with_several_inputs(name):
    xml, agreed, refused = dict(actuator_models.models())[name], 0, 0
    for k, one in enumerate(alone(xml)):
        if 'quat" forcerange' in one or (name == "servos" and "ball" in one and k >= 24):
            continue  # where a servo is at its limit hangs on MuJoCo's last digit; servos of angles of a ball go unstable
        m = discrete(one)
        try:
            assert_steps_agree(m, nstep=3, observed=("qacc",))
            agreed += 1
        except ValueError as error:
            assert "several branches" in str(error)  # noqa: PT017
            refused += 1
        except AssertionError as wrong:
            raise AssertionError(one[one.index("<actuator") :]) from wrong
    assert agreed > 10 and agreed > refused / 2


def test_pgs_takes_tendons_and_actuators_as_they_are():
    """What MuJoCo's dual solver cannot have in its matrix."""
    m = stiff(flags='constraint="disable"')
    newton = assert_steps_agree(m)
    m.opt.solver = mujoco.mjtSolver.mjSOL_PGS
    dual = assert_steps_agree(m)
    assert error(dual.qvel, newton.qvel) > 1e-3


CONTACTS = {
    **{f"{cone}-{dim}": touching_models.touching(cone, dim) for cone in ("pyramidal", "elliptic") for dim in (1, 3, 4, 6)},
    "stiff": touching_models.touching("elliptic").replace("<geom condim", '<geom solref=".001 1" solimp=".2 .999 .01" condim'),
    "direct": touching_models.touching().replace("<geom condim", '<geom solref="-9000 -90" condim'),
    "welded": touching_models.MODELS["welded"],
    "connected": touching_models.MODELS["connected"],
}  # fmt: skip


@pytest.mark.parametrize("flags", ["", 'diagexact="enable"'])
@pytest.mark.parametrize("name", CONTACTS)
def test_contacts(name, flags):
    option = f'<option integrator="discrete" {SEARCH} impratio="2" '
    xml = CONTACTS[name].replace("<option ", option).replace("/>", f"><flag {flags}/></option>", 1)
    b = assert_steps_agree(compiled(xml), nstep=10, turn=0.02, speed=0.3)
    b.bind("ncon")
    b.forward()
    assert np.array(b.ncon).max() > 0


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
@pytest.mark.parametrize("name", ["pyramidal-3", "elliptic-4", "welded"])
def test_an_exact_diagonal_under_other_integrators(integrator, name):
    def of(flag):
        option = f'<option integrator="{integrator}" {SEARCH} '
        return compiled(
            CONTACTS[name].replace("<option ", option).replace("/>", f'><flag diagexact="{flag}"/></option>', 1)
        )

    observed = ("qfrc_constraint",)
    b = assert_steps_agree(of("enable"), nstep=10, turn=0.02, speed=0.3, observed=observed)
    other = Batch(of("disable"), N, 1, dtype="float64")
    stirred(other, turn=0.02, speed=0.3)
    other.step(nstep=10)
    assert error(other.qvel, b.qvel) > 1e-6


def test_a_body_on_its_own_turns_as_others_do_where_it_is_touched():
    xml = """<mujoco><option integrator="discrete" timestep="0.01" tolerance="0"/><worldbody>
    <geom type="plane" size="5 5 1" contype="1" conaffinity="1"/>
    <body pos="0 0 {z}"><freejoint/><geom type="box" size=".3 .1 .05" mass="1"/></body></worldbody></mujoco>"""
    for z in (1.0, 0.05, 0.12):  # free, touched in all, touched in some
        m = compiled(xml.format(z=z))
        assert_steps_agree(m, nstep=3, turn=0.2, speed=8)


def test_single_precision_follows():
    m = stiff()
    b, reference = Batch(m, N, 1), theirs.Batch(m, N, 1)
    stirred(b, reference)
    for x in (b, reference):
        x.step(nstep=5)
    assert error(b.qpos, reference.qpos) < 1e-4


def test_tendons_across_branches_are_refused_by_number():
    xml = """<mujoco><option integrator="discrete"/><worldbody>
    <body><joint name="a"/><geom size=".1"/></body><body pos="1 0 0"><joint name="b"/><geom size=".1"/></body></worldbody>
    <tendon><fixed stiffness="3"><joint joint="a" coef="1"/><joint joint="b" coef="1"/></fixed></tendon></mujoco>"""
    with pytest.raises(ValueError, match=r"integrator discrete: tendon 0 acts on joints of several branches"):
        Batch(compiled(xml), 1)
    slack = xml.replace('stiffness="3"', "")
    Batch(compiled(slack), 1).step()
