"""Armature of free and ball joints, of tendons and of actuators, beside MuJoCo."""

import mujoco
import numpy as np
import pytest
from batch_agreement import N, assert_agree, assert_close, both, model

import featherstorm as fs
from featherstorm.mujoco import Batch, SimulationError

INTEGRATORS = ["Euler", "implicit", "implicitfast", "RK4", "discrete"]
FIELDS = ("M", "qfrc_bias", "qacc_smooth", "energy", "qacc")

# a free body with a ball joint on it, and two arms apart; nothing touches
TREE = """
<mujoco>
  <option integrator="{integrator}" timestep="0.004"><flag energy="enable" contact="disable"/></option>
  <default><joint armature=".05" damping=".2"/></default>
  <worldbody>
    <site name="wall" pos=".5 .3 1.2"/>
    <body pos="0 0 .3" euler="10 20 30">
      <joint name="root" type="free"/>
      <geom type="box" size=".1 .2 .15"/><site name="hook" pos=".1 .05 .1"/>
      <body pos=".2 0 0">
        <joint name="a" axis="0 1 0"/><geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/><site name="a" pos=".3 .02 0"/>
        <body pos=".3 0 0"><joint name="neck" type="ball"/><geom type="capsule" size=".03" fromto="0 0 0 .2 .1 0"/>
          <site name="tip" pos=".2 .1 .02"/></body>
      </body>
      <body pos="-.2 0 0">
        <joint name="b" axis="1 1 0" stiffness="3"/><geom type="capsule" size=".03" fromto="0 0 0 -.3 0 .1"/><site name="b" pos="-.3 0 .1"/>
      </body>
    </body>
    <body pos="1 0 1"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/><geom size=".1"/></body>
  </worldbody>
  {rest}
</mujoco>
"""
CHAIN = '<fixed name="chain" {armature} stiffness="1"><joint joint="x" coef="1"/><joint joint="y" coef="-2"/></fixed>'
BRANCHES = '<fixed name="branches" {armature}><joint joint="a" coef="1"/><joint joint="b" coef="2"/><joint joint="x" coef=".5"/></fixed>'
ROPE = '<spatial name="rope" {armature} damping=".3"><site site="wall"/><site site="hook"/><site site="tip"/></spatial>'
PULLEY = """<spatial name="pulley" {armature}><site site="b"/><site site="wall"/><pulley divisor="2"/><site site="wall"/><site site="a"/>
  <pulley divisor="3"/><site site="a"/><site site="tip"/></spatial>"""
TENDONS = {"chain": CHAIN, "branches": BRANCHES, "rope": ROPE, "pulley": PULLEY}
OF_TENDON = '<motor tendon="{name}" armature=".4" gear="1.5"/><motor tendon="{name}" armature=".2" gear="-2"/>'
OF_JOINTS = """<motor joint="neck" armature=".1" gear="2 1 3"/><motor joint="root" armature=".2" gear="1 2 3 4 5 6"/>
  <motor jointinparent="neck" armature=".3" gear=".5 0 0"/>"""


def compiled(rest="", integrator="Euler"):
    m = model(TREE.format(integrator=integrator, rest=rest))
    free = m.joint("root").dofadr[0]
    m.dof_armature[free : free + 6] = [0.9, 0.2, 0.5, 0.04, 0.07, 0.01]  # of each coordinate its own
    return m


def with_tendon(name, integrator="Euler"):
    tendon = TENDONS[name].format(armature='armature=".3"')
    return compiled(f"<tendon>{tendon}</tendon>", integrator)


def with_actuators(name, integrator="Euler"):
    tendon = f"<tendon>{TENDONS[name].format(armature='')}</tendon>" if name in TENDONS else ""
    motors = OF_TENDON.format(name=name) if tendon else OF_JOINTS
    return compiled(f"{tendon}<actuator>{motors}</actuator>", integrator)


def pair(m, n=N):
    """A batch of ours and MuJoCo's in the same states."""
    return both(m, n=n, seed=3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_free_and_ball_joints_have_armature(integrator):
    m = compiled(integrator=integrator)
    assert_agree(*pair(m), FIELDS if integrator not in ("RK4", "discrete") else ("M", "qfrc_bias", "energy", "qacc"))


@pytest.mark.parametrize("tendon", TENDONS)
@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_tendons_have_armature(tendon, integrator):
    m = with_tendon(tendon, integrator)
    assert_agree(*pair(m), FIELDS if integrator not in ("RK4", "discrete") else ("M", "qfrc_bias", "energy", "qacc"))


@pytest.mark.parametrize("name", ["joints", *TENDONS])
def test_actuators_have_armature(name):
    m = with_actuators(name)
    assert_agree(*pair(m), FIELDS)


def test_tendons_couple_what_lies_on_one_path_alone():
    m = with_tendon("branches")
    b, _ = pair(m)
    M = fs.mass_and_bias(fs.from_mujoco(m), b.qpos, b.qvel)[0]
    tree = fs.crba(fs.from_mujoco(m), b.qpos, packed=True)
    assert np.count_nonzero(np.abs(M - tree).max(axis=0) > 1e-12) == 3  # the diagonal of three joints


@pytest.mark.parametrize("field", ["dof_armature", "tendon_armature"])
@pytest.mark.parametrize("integrator", ["Euler", "implicit"])
def test_armature_differs_between_simulations(field, integrator):
    m = with_tendon("rope", integrator)
    b, reference = pair(m)
    numbers = np.random.default_rng(4).uniform(0, 0.6, np.shape(reference.expand(field)))
    numbers[2] = 0
    for x in (b, reference):
        x.expand(field)[...] = numbers
        x.set_const()  # MuJoCo keeps the diagonal of simple bodies until then
    for name in ("dof_M0", "dof_invweight0", "tendon_invweight0"):
        assert_close(b.expand(name), reference.expand(name), name)
    assert_agree(b, reference, FIELDS)
    assert len(b._variants.engines) == 1


def test_a_tendon_takes_armature_in_some_simulations_alone():
    m = compiled(f"<tendon>{PULLEY.format(armature='')}{ROPE.format(armature='')}</tendon>")
    b, reference = pair(m)
    for x in (b, reference):
        x.expand("tendon_armature")[[1, 4], 1] = [0.3, 0.1]
    assert_agree(b, reference, FIELDS)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "implicit"])
def test_steps_have_derivatives_by_mass_along_tendons(integrator):
    m = with_tendon("rope", integrator)
    batch, _ = pair(m, 3)
    model_, q, v = fs.from_mujoco(m), np.array(batch.qpos), np.array(batch.qvel)
    rng = np.random.default_rng(6)
    bars, way = [rng.normal(size=(3, n)) for n in (m.nq, m.nv, 0)], rng.normal(size=v.shape)
    found = fs.step_vjp(model_, q, v, bars)
    ahead, behind = (fs.step(model_, q, v + h * way) for h in (1e-6, -1e-6))
    slope = (np.concatenate([ahead.q, ahead.v], 1) - np.concatenate([behind.q, behind.v], 1)) / 2e-6
    by_hand = np.sum(np.concatenate(bars[:2], 1) * slope, 1)
    np.testing.assert_allclose(np.sum(found.v * way, 1), by_hand, rtol=0, atol=1e-7 * np.abs(by_hand).max())


def test_wrapped_tendons_take_no_armature():
    tendon = '<spatial name="around"><site site="wall"/><geom geom="pole"/><site site="tip"/></spatial>'
    pole = '<geom name="pole" type="cylinder" size=".05 .3" pos=".8 .3 1"/><site name="wall"'
    xml = TREE.format(integrator="Euler", rest=f"<tendon>{tendon}</tendon>").replace('<site name="wall"', pole)
    b = Batch(mujoco.MjModel.from_xml_string(xml), 2)
    b.expand("tendon_armature")[1] = 0.1
    with pytest.raises(SimulationError, match="tendon 'around': armature is not supported for tendons that wrap"):
        b.step()


def test_operations_on_the_tree_say_that_they_leave_armature_of_tendons_out():
    said = fs.from_mujoco(with_tendon("rope")).notices
    assert any("tendon rope: operations on the tree" in notice for notice in said)
    assert not any("armature" in notice for notice in fs.from_mujoco(compiled()).notices)
