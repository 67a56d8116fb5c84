"""A G1 and a humanoid in closed loops: rules of success on constructed motions, terms of the cost, and short runs."""

import mujoco
import numpy as np
import pytest

from featherstorm.control import G1Stand, G1Step, G1Walk, HumanoidStandUp, Run, drive
from featherstorm.control.biped import DUTY, LEGS, OMEGA, SIDES, STANCE, STRIDE, g1, in_turn, stepping, swing_of
from featherstorm.tasks.dm_control.suite import suite_file
from featherstorm.tasks.velocity_robots import mjlab_file


def has(file, *name):
    try:
        return bool(file(*name))
    except FileNotFoundError:
        return False


needs_g1 = pytest.mark.skipif(not has(mjlab_file, "g1"), reason="mjlab has the file of the G1")
needs_humanoid = pytest.mark.skipif(not has(suite_file, "humanoid"), reason="dm_control has the humanoid's file")


@pytest.fixture(scope="module")
def walk():
    return G1Walk(samples=32)


@needs_g1
def test_a_g1_walks(walk):
    run = drive(walk, seconds=2.6)
    assert run.fell is None and run.failed == 0 and run.velocities[:, 0].mean() == pytest.approx(0.4, abs=0.2)


@needs_g1
def test_the_planners_model_is_the_robot_with_a_rigid_upper_body(walk):
    plant, m = walk.plant(), g1(0.02, coarse=True).compile()
    q = plant.data.qpos.copy()
    q[3:7], q[7:] = [0.9, 0.1, 0.2, 0.3], STANCE
    q[7 : 7 + LEGS] += 0.1
    plant.reset(q)
    d = mujoco.MjData(m)
    d.qpos[:] = plant.state[: m.nq]
    mujoco.mj_forward(m, d)
    assert plant.state.shape == (m.nq + m.nv,) and m.nu == LEGS
    assert m.body_mass.sum() == pytest.approx(plant.model.body_mass.sum())
    assert np.allclose(d.sensor("com").data, plant.data.sensor("com").data, atol=1e-9)
    assert np.allclose(d.site("left_foot").xpos, plant.position("left_foot"), atol=1e-9)
    assert np.allclose(d.body("left_wrist_yaw_link").xpos, plant.position("left_wrist_yaw_link"), atol=1e-9)


@needs_g1
def test_costs_are_lower_for_the_commanded_velocity_and_an_upright_body(walk):
    def cost(v=0.4, pitch=0.0, rise=0.0, t=0.0):
        q = np.concatenate([[0, 0, 0.75 + rise, np.cos(pitch / 2), 0, np.sin(pitch / 2), 0], STANCE[:LEGS]])
        x = np.concatenate([q, [v], np.zeros(5 + LEGS)]).astype(np.float32)
        return walk.rollout(x, STANCE[None, None, :LEGS].astype(np.float32), p=walk.p, t0=t).costs[0]

    assert cost() < cost(v=0.0) and cost() < cost(v=0.8)
    assert cost() < cost(pitch=0.3) and cost() < cost(pitch=-0.3) and cost() < cost(rise=0.2)


@needs_g1
def test_a_fall_is_a_head_below_one_metre_ten(walk):
    plant = walk.plant()
    assert plant.head == pytest.approx(1.24, abs=0.02) and not walk.has_fallen(plant)
    q = plant.data.qpos.copy()
    q[3:7] = [np.cos(0.5), 0, np.sin(0.5), 0]  # bent forward
    plant.reset(q)
    assert walk.has_fallen(plant)


def test_feet_swing_in_turn():
    t = np.linspace(0, STRIDE, 801)
    up = {side: np.array([0 < swing_of(x, side) < 1 for x in t]) for side in SIDES}
    assert not (up["left"] & up["right"]).any()
    assert up["left"].mean() == pytest.approx(1 - DUTY, abs=0.01) == up["right"].mean()
    bend = np.array([stepping(x, 1.0) for x in t])
    assert (bend[:, 3] >= 0).all() and (bend[up["right"], 3] == 0).all() and bend[:, 9].max() > 0.5
    assert np.array_equal(bend[:, 0], bend[:, 4]) and np.allclose(bend[:, 3], -2 * bend[:, 0])
    assert not np.any([stepping(x, 0.0) for x in t])


LEFT, RIGHT, DOWN = [[True, False]] * 3, [[False, True]] * 3, [[False, False]] * 2


@pytest.mark.parametrize(
    ("steps", "good"),
    [
        ((LEFT, DOWN, RIGHT, DOWN) * 3, True),
        ((RIGHT, LEFT) * 3, True),
        ((LEFT, DOWN, LEFT, DOWN, RIGHT, DOWN) * 3, False),
        ((LEFT, DOWN, RIGHT, DOWN, [[True, True]]), False),
        ((LEFT, DOWN) * 5, False),
        ((LEFT, DOWN, RIGHT, DOWN * 5) * 3, False),
        ((DOWN * 8,), False),
    ],
)
def test_steps_in_turn(steps, good):
    assert in_turn(np.array([row for part in steps for row in part]), 10) == good


@needs_g1
def test_stepping_in_place_needs_lifted_feet_and_no_drift():
    step = G1Step(samples=16)
    t = np.arange(2.0, 8.0, 0.002)
    rows = np.zeros((len(t), 7))
    rows[:, 5] = 0.08 * np.maximum(np.sin(2 * np.pi * t / STRIDE), 0)
    rows[:, 6] = 0.08 * np.maximum(-np.sin(2 * np.pi * t / STRIDE), 0)
    assert step.has_succeeded(Run(velocities=rows))
    assert not step.has_succeeded(Run(velocities=rows, fell=7.0))
    assert not step.has_succeeded(Run(velocities=rows * [1, 1, 1, 1, 1, 0.6, 0.6]))
    assert not step.has_succeeded(Run(velocities=rows + np.array([0, 0, 0, 0.2, 0.23, 0, 0])))


@needs_g1
def test_one_that_stands_steps_only_when_it_has_to():
    stand = G1Stand(samples=16)
    assert stand.size(0.03) == 0 and stand.size(0.06) == pytest.approx(0.5) and stand.size(0.2) == 1
    plant = stand.plant()
    still = plant.off
    plant.push([0.5, 0.0])
    mujoco.mj_forward(plant.model, plant.data)
    assert still < 0.03 and plant.off == pytest.approx(0.5 / OMEGA, abs=still + 0.01)
    run = drive(stand, seconds=1.0, plant=stand.plant(seed=1))
    assert run.fell is None and run.failed == 0


@needs_humanoid
def test_a_humanoid_lies_and_plans_to_stand_up():
    task = HumanoidStandUp(samples=16, iterations=1)
    for seed, front in ((0, 1), (1, -1)):  # x of the torso points up: on the back
        plant = task.plant(seed)
        assert plant.position("head")[2] < 0.4 and front * plant.data.body("torso").xmat[6] > 0.8
        assert not task.is_reached(plant)
    m, lying = plant.model, plant.state
    effort = np.array([40, 40, 40, 40, 40, 120, 80, 20, 20, 40, 40, 120, 80, 20, 20, 20, 20, 40, 20, 20, 40])
    assert np.array_equal(m.actuator_forcerange, np.stack([-effort, effort], 1)) and m.nu == 21
    run = drive(task, seconds=0.4, plant=plant)
    assert run.failed == 0 and not run.succeeded
    plant.reset(m.qpos0 - 0.2 * np.eye(m.nq)[2])
    assert task.is_reached(plant)
    costs = task.rollout(np.stack([lying, plant.state]).astype(np.float32), np.zeros((2, 1, 21), np.float32)).costs
    assert costs[1] < 0.2 * costs[0]
