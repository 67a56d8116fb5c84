"""Batches under the rigid law: what they take, what they refuse, limits, equalities and dry friction, reports."""

import mujoco
import numpy as np
import pytest
import scenes
from test_physics import falling

from featherstorm.mujoco import Batch, Rigid

PENDULUM = """<mujoco><option timestep=".002" {option}/><worldbody><body pos="0 0 1">
  <joint axis="0 1 0" {joint}/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass="1"/>
</body></worldbody></mujoco>"""


def batch(xml, law="rigid", nsim=1, dtype="float64", **options):
    m = mujoco.MjModel.from_xml_string(xml)
    return Batch(m, nsim, 1, dtype=dtype, law=law, **options)


@pytest.mark.parametrize("law", ["soft", None, 1])
def test_another_law_is_refused(law):
    with pytest.raises(ValueError, match=r"Batch: law is .*, expected 'mujoco', 'rigid', 'planning' or a Rigid"):
        batch(scenes.brick(), law)


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"frequency": 0}, "frequency is 0, expected above 0"),
        ({"restitution": 1.5}, "restitution is 1.5, expected 0 to 1"),
        ({"push": -1}, "push is -1, expected at least 0"),
        ({"push": float("nan")}, "push is nan, expected at least 0"),
    ],
)
def test_numbers_of_the_law_are_looked_at(given, error):
    with pytest.raises(ValueError, match=error):
        Rigid(**given)


def test_sweeps_are_whole():
    with pytest.raises(TypeError, match="sweeps is 2.5, expected an integer"):
        Rigid(sweeps=2.5)


def test_runge_kutta_is_refused():
    with pytest.raises(ValueError, match="RK4 is not supported"):
        batch(PENDULUM.format(option='integrator="RK4"', joint=""))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_pendulum_rests_on_its_limit(dtype):
    b = batch(PENDULUM.format(option="", joint='range="-90 30" limited="true"'), dtype=dtype)
    b.step(nstep=2000)
    # as a spring of 60 Hz: moment / inertia / omega^2 beyond it
    beyond = b.qpos[0, 0] - np.radians(30)
    inertia = 0.5**2 / 3
    assert 0 < beyond < 2 * 9.81 * 0.25 * np.cos(np.radians(30)) / inertia / (2 * np.pi * 60) ** 2
    assert abs(b.qvel[0, 0]) < 1e-5


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_dry_friction_holds_and_gives_way(dtype):
    moment = 9.81 * 0.25
    for loss, holds in ((1.05 * moment, True), (0.95 * moment, False)):
        b = batch(PENDULUM.format(option="", joint=f'frictionloss="{loss}"'), dtype=dtype)
        b.step(nstep=500)
        assert (abs(b.qpos[0, 0]) < 1e-3) == holds
    # it takes its share of the moment where it slides
    b.reset()
    b.step(nstep=10)
    acceleration = 0.05 * moment / (0.5**2 / 3)
    assert abs(b.qvel[0, 0] / (0.02 * acceleration) - 1) < 0.03


def test_equalities_hold():
    xml = """<mujoco><worldbody>
      <body name="a" pos="0 0 1"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".02" mass="1"/></body>
      <body name="b" pos="1 0 1"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 -.5 0 0" size=".02" mass="2"
        contype="0" conaffinity="0"/><site name="end" pos="-.5 0 0"/></body>
      <body name="c" pos="0 1 1"><freejoint/><geom size=".1" mass="1"/></body>
    </worldbody><equality><connect body1="a" body2="b" anchor=".5 0 0"/><weld body1="c"/></equality></mujoco>"""
    b = batch(xml)
    place = b.bind("xpos")
    b.step(nstep=1000)
    assert np.abs(b.qpos[0, :2]).max() < 0.02, "two bars on two hinges are a strut"
    assert np.abs(place[0, 3] - (0, 1, 1)).max() < 2e-4
    assert b.report().residual.max() < 1e-6


def test_a_report_has_the_deepest_gap():
    b = batch(scenes.brick(), nsim=3)
    b.qpos[:, 2] = 0.05 - 1e-3, 0.05 + 2e-3, 5
    found = b.report()
    np.testing.assert_allclose(found.gap, [-1e-3, 2e-3, 1e10], atol=1e-12)
    np.testing.assert_array_equal(b.report([1]).gap, found.gap[1:2])
    assert (found.residual < 1e-9).all()
    b = batch(scenes.brick(), "mujoco", nsim=3)
    b.qpos[:, 2] = 0.05 - 1e-3, 0.05 + 2e-3, 5
    found = b.report()
    np.testing.assert_allclose(found.gap, [-1e-3, 1e10, 1e10], atol=1e-12)  # margins are 0: what is apart is no contact
    assert (found.residual < 1e-9).all()


def test_a_state_has_one_next_state():
    """Neither what ran before nor the others in the batch change a bit."""
    for dtype in ("float64", "float32"):
        all_of_them = falling(dtype, "rigid", 33)
        all_of_them.batch.step(nstep=150)
        begin = all_of_them.batch.rows()
        all_of_them.batch.step(nstep=20)
        end = np.array(all_of_them.batch.state)
        assert (all_of_them.batch.report().gap < 0).sum() > 10
        some = falling(dtype, "rigid", 3)
        for first in (0, 7, 30):
            some.batch.set_rows(begin[first : first + 3])
            for _ in range(20):
                some.batch.step()
            # the time of a row is of double
            np.testing.assert_array_equal(np.array(some.batch.state)[:, 1:], end[first : first + 3, 1:])


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_stiff_gains_do_not_bound_the_step(dtype):
    """The quadruped with gains that are unstable where they are explicit, at 20 ms."""
    m = mujoco.MjModel.from_xml_string(scenes.quadruped(gain=2000, damping=20))
    m.opt.timestep = 0.02
    explicit = Batch(m, 1, 1, dtype=dtype)
    explicit.step(nstep=100)
    assert not abs(explicit.qpos[0, 2] - 0.3) < 0.02, "the test has nothing to show"
    b = Batch(m, 1, 1, dtype=dtype, law="rigid")
    b.qvel[0, 2] = -1
    b.step(nstep=100)
    before = np.array(b.qpos[0, :3])
    b.step(nstep=50)
    assert abs(b.qpos[0, 2] - 0.3) < 0.01 and np.abs(b.qvel).max() < 1e-3
    assert np.abs(b.qpos[0, :3] - before).max() < 1e-3


def test_a_spring_is_taken_at_the_end_of_the_step():
    """A mass on a spring and a damper: (m + h d + h^2 k) a = -k q - (d + h k) v."""
    m = mujoco.MjModel.from_xml_string(
        """<mujoco><option timestep=".02" gravity="0 0 0"/><worldbody><body><joint type="slide" stiffness="900" damping="3"/>
        <geom size=".1" mass="2"/></body></worldbody></mujoco>"""
    )
    b = Batch(m, 1, 1, dtype="float64", law="rigid")
    q, v, h = 0.1, -0.4, 0.02
    b.qpos[0, 0], b.qvel[0, 0] = q, v
    b.step(nstep=3)
    for _ in range(3):
        v += h * (-900 * q - (3 + h * 900) * v) / (2 + h * 3 + h * h * 900)
        q += h * v
    np.testing.assert_allclose([b.qpos[0, 0], b.qvel[0, 0]], [q, v], rtol=1e-12)


def test_friction_differs_between_simulations():
    b = batch(scenes.brick(), nsim=4)
    friction = b.expand("geom_friction")
    friction[:, :, 0] = np.array([0.2, 0.3, 0.5, 0.7])[:, None]
    b.qvel[:, 0] = 2
    b.step(nstep=1000)
    np.testing.assert_allclose(b.qpos[:, 0], 4 / (2 * 9.81 * friction[:, 0, 0]), rtol=0.02)


def test_the_stiff_limit_is_that_of_mujoco():
    """The quadruped stands as in MuJoCo with stiff cones, near rest: the same forces, and positions to what springs give way."""
    m = mujoco.MjModel.from_xml_string(scenes.quadruped())
    m.opt.cone, m.opt.impratio, m.opt.timestep = mujoco.mjtCone.mjCONE_ELLIPTIC, 100, 0.001
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    m.geom_solref[:], m.geom_solimp[:, :2] = (0.002, 1), 0.99
    d = mujoco.MjData(m)
    ours = Batch(m, 1, 1, dtype="float64", law=Rigid(frequency=200))
    force = ours.bind("qfrc_constraint")
    d.qvel[:2] = ours.qvel[0, :2] = 0.2, 0.1
    for _ in range(200):
        mujoco.mj_step(m, d)
    ours.step(nstep=200)
    assert np.abs(ours.qpos[0] - d.qpos).max() < 1e-2
    for _ in range(2000):
        mujoco.mj_step(m, d)
    ours.step(nstep=2000)
    assert np.abs(ours.qpos[0] - d.qpos).max() < 5e-3
    np.testing.assert_allclose(force[0, 2], d.qfrc_constraint[2], rtol=1e-3)
