"""Simulation: steps in time."""

import numpy as np
import pytest

import featherstorm as fs


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: fs.Simulation(m, 2, dt=0), ValueError, "Simulation: dt is 0"),
        (lambda m: fs.Simulation(m, 2, dt=0.1, substeps=0), ValueError, "Simulation: substeps is 0"),
        (
            lambda m: fs.Simulation(m, 2, dt=0.1, stiffness=1),
            TypeError,
            "^Simulation: stiffness is not an argument; did you mean limit_stiffness",
        ),
        (
            lambda m: fs.Simulation(m, 2, dt=0.1).step(np.zeros((3, 18), "f4")),
            ValueError,
            r"step: tau has shape \(3, 18\), expected \(2, 18\)",
        ),
        (
            lambda m: fs.Simulation(m, 2, dt=0.1).step(np.zeros((2, 18))),
            TypeError,
            "step: tau is float64, expected float32",
        ),
        (lambda m: fs.Simulation(m, 2, dt=0.1).step(kp=1.0), TypeError, "step: kp needs a q_target"),
        (lambda m: fs.Simulation(m, 2, dt=0.1).reset(np.ones(2)), ValueError, "reset: mask is float64"),
        (lambda m: fs.Simulation(m, 2, dt=0.1).reset(q=np.zeros(19, "f4")), ValueError, "reset: q.* has norm 0"),
    ],
)
def test_messages(go2, call, error, message):
    with pytest.raises(error, match=message):
        call(go2)


def test_step_is_semi_implicit_euler_with_implicit_damping(robot):
    q, v = fs.random_state(robot, 6, seed=2)
    tau, dt = np.sin(q[:, :1] + np.arange(robot.nv)), 1e-3
    q1, v1 = fs.step(robot, q, v, dt, tau)
    # (M + dt D) a = tau - C - D v, with dry friction as a damper of mu / sqrt(v^2 + eps^2)
    D = robot.damping + robot.friction / np.sqrt(v**2 + 0.01**2)
    M = fs.crba(robot, q) + dt * D[:, None, :] * np.eye(robot.nv)
    a = np.linalg.solve(M, (tau - fs.bias(robot, q, v) - D * v)[:, :, None])[:, :, 0]
    expected = v + dt * a
    assert np.abs(v1 - expected).max() < 1e-9 * np.abs(expected).max()
    assert np.abs(q1 - fs.integrate(robot, q, v1, dt)).max() < 1e-12


def test_a_simulation_steps_as_the_function_does(go2):
    q, v = fs.random_state(go2, 20, seed=3)
    sim = fs.Simulation(go2, 20, dt=4e-3, substeps=4, dtype="float64")
    sim.reset(q=q, v=v)
    target = np.tile(go2.q0, (20, 1))
    for _ in range(3):
        sim.step(np.cos(v), target, kp=30, kd=1.0)
        q, v_next = fs.step(go2, q, v, 4e-3, np.cos(v), target[:, 1:] * (go2.dof_q >= 0), substeps=4, kp=30, kd=1.0)
        assert np.array_equal(sim.q, q) and np.array_equal(sim.v, v_next)
        v = v_next
    assert sim.time == pytest.approx(12e-3)


def test_energy_of_an_undamped_robot_does_not_drift(robot):
    free = fs.Model(robot.robot.undamped())
    sim = fs.Simulation(free, 4, dt=1e-4, dtype="float64")
    sim.reset(None, *fs.random_state(free, 4, seed=6, speed=0.3))
    before = np.add(*sim.energy())
    swing = np.abs(sim.energy()[0])
    for _ in range(500):
        sim.step()
        swing = np.maximum(swing, sim.energy()[0])
    assert (np.abs(np.add(*sim.energy()) - before) < 2e-2 * swing).all()


def test_status_and_reset_of_single_instances(go2):
    sim = fs.Simulation(go2, 9, dt=1e-3)
    sim.v[3, 0] = np.inf
    sim.q[7, 12] = np.nan
    assert list(np.flatnonzero(sim.status)) == [3, 7]
    sim.step()
    assert list(np.flatnonzero(sim.status & fs.Status.NON_FINITE)) == [3, 7]
    sim.reset(sim.status != 0)
    assert not sim.status.any()
    assert np.array_equal(sim.q[3], go2.q0.astype(np.float32)) and not np.array_equal(sim.q[2], sim.q[3])


def test_an_empty_simulation(go2):
    sim = fs.Simulation(go2, 0, dt=1e-3)
    sim.step()
    assert sim.q.shape == (0, go2.nq) and sim.status.shape == (0,)
