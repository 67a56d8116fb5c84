"""Contacts from Python: construction, steps, refusals. The physics are tested in tests/host and tests/core."""

import numpy as np
import pytest

import featherstorm as fs
from carrying import LEGS, SOFT, feet, stance


@pytest.fixture(scope="module")
def model():
    return fs.load("go2", contacts=feet())


def test_rows_have_shapes(model):
    q, v = stance(model, 3)
    assert model.nc == 4 and [c.link for c in model.contacts] == [f"{leg}_foot" for leg in LEGS]
    gap, margin, G = fs.contact_jacobian(model, q)
    assert gap.shape == margin.shape == (3, 4) and G.shape == (3, 12, 18)
    assert fs.contact_inertia(model, q).shape == (3, 12, 12)
    assert fs.contact_frames(model, q).shape == (3, 4, 12)
    rate, _ = fs.contact_rates(model, q, v + 0.1)
    np.testing.assert_allclose(rate, (G @ (v + 0.1)[:, :, None])[:, ::3, 0], atol=1e-12)
    position, _ = fs.forward_kinematics(model, q, "RL_foot")
    np.testing.assert_allclose(gap[:, 2], position[:, 2] - 0.022, atol=1e-12)


def test_a_step_without_touch_is_a_step(model):
    q, v = stance(model, 2, height=2.0)
    tau = np.full((2, model.nv), 0.3)
    found = fs.contact_step(model, q, v, 1e-3, tau, substeps=3)
    expected = fs.step(model, q, v, 1e-3, tau, substeps=3)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-10)
    np.testing.assert_allclose(found[1], expected[1], atol=1e-8)
    assert found[2].shape == (2, 4, 3) and not found[2].any()


def test_soft_contacts_carry_the_weight(model):
    q, v = stance(model, 2)
    drive = {"q_target": np.r_[np.zeros(6), q[0, 7:]], "kp": 60.0, "kd": 3.0, "friction_velocity": 1.0}
    deformation = None
    for _ in range(600):
        q, v, deformation = fs.soft_contact_step(
            model, q, v, 4e-3, deformation=deformation, substeps=16, **drive, **SOFT
        )
    f_ext, force, _ = fs.soft_contact_forces(model, q, v, deformation, np.zeros((2, model.nb, 6)), rolling=0.0, **SOFT)
    assert f_ext.shape == (2, model.nb, 6) and force.shape == (2, 4, 3)
    np.testing.assert_allclose(force[:, :, 0].sum(axis=1), 9.81 * model.total_mass, rtol=0.01)


def test_simulation_keeps_the_impulses(model):
    q, v = stance(model, 5, height=0.35)
    target = np.r_[np.zeros(6), q[0, 7:]]
    sim = fs.Simulation(model, 5, dt=4e-3, substeps=4, dtype="float64", kp=60.0, kd=3.0, slop=5e-4)
    sim.q = q
    impulse = None
    for _ in range(50):
        sim.step(q_target=target)
        q, v, impulse = fs.contact_step(
            model, q, v, 4e-3, q_target=target, impulse=impulse, substeps=4, kp=60.0, kd=3.0, slop=5e-4
        )
    np.testing.assert_array_equal(sim.q, q)
    np.testing.assert_array_equal(sim.impulse, impulse)
    assert impulse[:, :, 0].max() > 0
    sim.reset(np.arange(5) == 1)
    assert not sim.impulse[1].any() and sim.impulse[2].any()


def test_a_builder_takes_contacts():
    b = fs.RobotBuilder("ball")
    b.add_link("ball", mass=1.0, inertia=np.diag([0.004] * 3).tolist())
    b.float_root("ball")
    bowl = fs.Contact("ball", radius=0.1, surface="cavity", surface_radius=1.0, position=(0, 0, 1))
    model = fs.Model(b.build(), contacts=[bowl])
    q = np.array([[0.3, 0.0, 1.0, 1, 0, 0, 0]])
    gap, _, G = fs.contact_jacobian(model, q)
    np.testing.assert_allclose(gap, 1 - 0.1 - 0.3)
    np.testing.assert_allclose(G[0, 0, :3], [-1, 0, 0], atol=1e-12)


def test_what_is_wrong_is_named(model):
    with pytest.raises(ValueError, match="contact 'hoof': link 'hoof' does not exist"):
        fs.load("go2", contacts=[fs.Contact("hoof")])
    with pytest.raises(ValueError, match="contact 'left': friction is -1"):
        fs.load("go2", contacts=[fs.Contact("FL_foot", friction=-1, name="left")])
    with pytest.raises(ValueError, match="contact 'FL_foot': surface is 'cone', expected plane, sphere or cavity"):
        fs.load("go2", contacts=[fs.Contact("FL_foot", surface="cone")])
    with pytest.raises(ValueError, match="centre of contact 'FL_foot'.*2 numbers, expected 3"):
        fs.load("go2", contacts=[fs.Contact("FL_foot", centre=(1, 2))])
    with pytest.raises(ValueError, match="sweeps.*is 0, expected 1 to 1000"):
        fs.load("go2", contacts=feet(), sweeps=0)
    with pytest.raises(TypeError, match="got a str, expected a featherstorm.Contact"):
        fs.load("go2", contacts=["FL_foot"])
    bare = fs.load("go2")
    q, v = stance(bare, 1)
    assert "contact_step" not in bare.ops and "contact_step" in model.ops
    with pytest.raises(ValueError, match="contact_step: the robot has no contacts"):
        fs.contact_step(bare, q, v, 1e-3)
    with pytest.raises(TypeError, match="K_t, D_t must be given"):
        fs.soft_contact_step(model, q, v, 1e-3, K_n=1.0, D_n=1.0)
    with pytest.raises(TypeError, match="^contact_step: grip is not an argument"):
        fs.contact_step(model, q, v, 1e-3, grip=1.0)


def test_the_example_runs(capsys):
    from featherstorm.examples import falling_quadrupeds

    sim, rate = falling_quadrupeds.main(instances=33, seconds=2.0, threads=1)
    assert rate > 0 and "environment steps/s" in capsys.readouterr().out
    push = np.asarray(sim.impulse)[:, :, 0].sum(axis=1) / 1e-3
    np.testing.assert_allclose(push, 9.81 * sim.model.total_mass, rtol=0.02)
    assert not np.asarray(sim.status).any()
