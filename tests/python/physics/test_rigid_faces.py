"""The rigid law in Simulation, step and Rollout: that of Batch, and what the law is for."""

import mujoco
import numpy as np
import pytest

import featherstorm as fs
from featherstorm.mujoco import Batch

SLIDING = """
<mujoco>
  <option timestep="0.002"/>
  <worldbody>
    <geom name="ground" type="plane" size="9 9 .1" friction="0.5"/>
    <body pos="0 0 .05"><freejoint/><geom name="cube" type="box" size=".05 .05 .05" mass="1" friction="0.5"/></body>
  </worldbody>
</mujoco>
"""
RK4 = SLIDING.replace("<option ", '<option integrator="RK4" ')


@pytest.fixture(scope="module")
def m():
    return mujoco.MjModel.from_xml_string(SLIDING)


@pytest.mark.parametrize("law", ["mujoco", "rigid", fs.Rigid(frequency=120, sweeps=16)], ids=["mujoco", "rigid", "own"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_simulation_is_a_batch(m, law, dtype):
    model, speed = fs.from_mujoco(m), np.linspace(1, 6, 4)
    sim, batch = fs.Simulation(model, 4, dtype=dtype, law=law), Batch(m, 4, dtype=dtype, law=law)
    start = np.zeros((4, 6), dtype)
    start[:, 0] = speed
    sim.v = start
    batch.qvel[:] = start
    for _ in range(100):
        sim.step()
        batch.step()
    np.testing.assert_allclose(sim.q, batch.qpos, atol=1e-5 if dtype == "float32" else 1e-12)
    np.testing.assert_allclose(sim.v, batch.qvel, atol=1e-4 if dtype == "float32" else 1e-11)


def test_only_the_rigid_law_keeps_a_sliding_cube_down(m):
    model, heights = fs.from_mujoco(m), {}
    for law in ("mujoco", "rigid"):
        sim = fs.Simulation(model, 1, dtype="float64", law=law)
        sim.v = np.array([[6.0, 0, 0, 0, 0, 0]])
        heights[law] = 0
        for _ in range(300):
            sim.step()
            heights[law] = max(heights[law], sim.q[0, 2])
    assert heights["mujoco"] > 0.06 and heights["rigid"] < 0.051


def test_forces_are_read_by_the_rigid_law(m):
    sim = fs.Simulation(fs.from_mujoco(m), 2, dtype="float64", law="rigid")
    for _ in range(200):
        sim.step()
    np.testing.assert_allclose(sim.contact_force("cube"), [[0, 0, 9.81]] * 2, atol=1e-6)
    report = sim.report()
    assert (report.contacts == 4).all() and (report.residual < 1e-6).all()
    assert (report.gap < 0).all() and (report.gap > -1e-3).all() and (report.iterations >= 0).all()


def test_steps_and_rollouts_follow_the_law(m):
    model = fs.from_mujoco(m)
    q, v = np.array([[0, 0, 0.0499, 1, 0, 0, 0]]), np.array([[6.0, 0, 0, 0, 0, 0]])
    by_law = {law: fs.step(model, q, v, law=law) for law in ("mujoco", "rigid")}
    sim = fs.Simulation(model, 1, dtype="float64", law="rigid")
    sim.reset(q=q, v=v)
    sim.step()
    np.testing.assert_array_equal(by_law["rigid"].v, sim.v)
    assert np.abs(by_law["rigid"].v - by_law["mujoco"].v).max() > 1e-3
    x0, U = np.hstack([q, v])[0], np.zeros((1, 20, 0))
    by_call = [fs.rollout(model, x0, U, law=law).final for law in ("rigid", fs.Rigid(), fs.Rigid())]
    assert np.array_equal(by_call[0], by_call[1]) and len(model.__dict__["_rollouts"]) == 2
    final = {
        law: fs.Rollout(model, cost=lambda x, u, t, p: x.q[2], law=law)(x0, U).final for law in ("mujoco", "rigid")
    }
    for _ in range(19):
        sim.step()
    np.testing.assert_allclose(final["rigid"][:, :7], sim.q, atol=1e-12)
    assert np.abs(final["rigid"] - final["mujoco"]).max() > 1e-3


def test_planning_has_numbers_of_its_own(m):
    model = fs.from_mujoco(m)
    x0, U = np.array([0, 0, 0.0499, 1, 0, 0, 0, 6.0, 0, 0, 0, 0, 0]), np.zeros((1, 20, 0))
    own = fs.Rigid(look_ahead=0.01, tolerance=1e-3, sweeps=4, polishes=0)
    coarse, same, fine = (fs.Rollout(model, law=law)(x0, U).final for law in ("planning", own, "rigid"))
    assert np.array_equal(coarse, same) and not np.array_equal(coarse, fine)
    np.testing.assert_allclose(coarse, fine, atol=2e-2)


def test_what_does_not_fit_is_named(m):
    model, tree = fs.from_mujoco(m), fs.load("double_pendulum")
    wrong = "law is 'soft', expected 'mujoco', 'rigid', 'planning' or a Rigid"
    with pytest.raises(ValueError, match=f"Simulation: {wrong}"):
        fs.Simulation(model, 1, law="soft")
    with pytest.raises(ValueError, match=f"step: {wrong}"):
        fs.step(model, model.q0, np.zeros(6), law="soft")
    with pytest.raises(ValueError, match=f"Rollout: {wrong}"):
        fs.Rollout(model, law="soft")
    alone = "law is 'rigid', which the worlds of model files alone have"
    with pytest.raises(ValueError, match=f"Simulation: {alone}"):
        fs.Simulation(tree, 1, 1e-3, law="rigid")
    with pytest.raises(ValueError, match=f"step: {alone}"):
        fs.step(tree, np.zeros(2), np.zeros(2), 1e-3, law="rigid")
    with pytest.raises(ValueError, match=f"Rollout: {alone}"):
        fs.Rollout(tree, 1e-3, law="rigid")
    with pytest.raises(ValueError, match="RK4 is not supported"):
        fs.Simulation(fs.from_mujoco(mujoco.MjModel.from_xml_string(RK4)), 1, law="rigid")
