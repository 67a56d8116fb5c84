"""Jumps of a Go2: where they lead, what counts as one, and what the cost prefers."""

import numpy as np
import pytest

pytest.importorskip("mujoco.batch", reason="featherstorm.control needs MuJoCo 4")

from featherstorm.control import Crate, Jumps, drive
from featherstorm.control.jumps import PERIOD, below
from featherstorm.control.quadruped import LEGS


def standing(task, x=0.0, y=0.0, yaw=0.0, z=0.0):
    """Return the configuration of a robot that stands at a place."""
    root = [x, y, task.robot.height + z, np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]
    return np.concatenate([root, task.stance])


def cost_at(task, q, t):
    """Return the cost of a control step at the time t [s] that begins at rest."""
    state = np.concatenate([q, np.zeros(18)])
    return float(task.rollout(state, task.stance[None, None], t0=t - task.dt, p=task.p).costs[0])


def test_places_follow_one_another_in_the_frame_of_the_last():
    task = Jumps([(0.5, 0, np.pi / 2), (0.2, 0.1, 0)], samples=16)
    assert np.allclose(task.places, [[0, 0, 0, 0], [0.5, 0, np.pi / 2, 0], [0.4, 0.2, np.pi / 2, 0]])
    feet = [task.plant().position(f"{leg}_foot")[:2] for leg in LEGS]
    assert np.abs(feet - np.array([below(leg) for leg in LEGS])).max() < 0.05


def test_a_go2_jumps_half_a_metre():
    task = Jumps([(0.5, 0, 0.3)], samples=96)
    plant = task.plant(seed=1)
    heights = []
    run = drive(task, plant=plant, each_step=lambda plant: heights.append(plant.data.qpos[2]))
    assert run.succeeded and run.fell is None and run.seconds == pytest.approx(PERIOD)
    assert 0 < plant.landings[0] < 0.1 and max(heights[150:]) > 0.34  # in the air


def test_a_jump_needs_a_leap_and_feet_in_their_places():
    task = Jumps([(0.02, 0, 0)], samples=16)
    plant = task.plant()
    for _ in range(500):
        assert not task.is_reached(plant)
        plant.step(task.stance)
    assert 0 < plant.landings[0] < 0.09 and not plant.leapt  # it stood all the time
    assert not task.is_reached(plant)
    plant.leapt = True
    assert task.is_reached(plant)
    plant.landings[0] = 0.11
    assert not task.is_reached(plant)


def test_a_leap_counts_for_its_own_jump():
    task = Jumps([(0, 0, 0), (0, 0, 0)], samples=16)
    plant = task.plant()
    for k in range(1000):
        if k == 300:
            plant.data.qvel[2] = 1.5
        plant.step(task.stance)
        if k == 600:
            assert plant.jump == 1 and plant.leapt
    assert plant.jump == 2 and not plant.leapt


def test_the_cost_prefers_the_place_of_its_time_and_height_in_flight():
    task = Jumps([(0.5, 0, 0)], samples=16)
    here, there, above = (cost_at(task, standing(task, x), t) for x, t in ((0, 0.9), (0.5, 0.9), (0, 0.1)))
    assert there < here and above == pytest.approx(there, rel=0.05)  # the place before, the place after
    middle = [cost_at(task, standing(task, 0.25, z=z), 0.5) for z in (0.0, 0.11)]
    assert middle[1] < middle[0]
    assert cost_at(task, standing(task, 0.5, yaw=0.3), 0.9) > there


def test_all_feet_are_on_the_crate_or_it_is_not_reached():
    task = Crate(samples=16, iterations=1)
    plant = task.plant()
    assert plant.model.geom("crate").size[2] == pytest.approx(0.2)
    for x, z, reached in ((1.3, 0.4, True), (1.1, 0.4, False), (1.3, 0.37, False)):
        plant.reset(standing(task, x, z=z + 0.01))
        assert task.is_reached(plant) == reached
    assert not task.has_fallen(plant)
    plant.reset(np.concatenate([[0, 0, 0.3, 0, 1, 0, 0], task.stance]))
    assert task.has_fallen(plant)
    onto = [cost_at(task, standing(task, x, z=z), 3.0) for x, z in ((0.65, 0.0), (1.35, 0.4))]
    assert onto[1] < onto[0]
    assert drive(task, seconds=0.2).failed == 0


def test_feet_before_a_crate_are_lifted_above_it_only_during_the_second_jump():
    task = Crate(samples=16)
    assert task.clearance(0.9, 0.5) == task.clearance(1.1, 3.0) == 0.0
    assert task.clearance(0.9, 3.0) == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Jumps(robot="go1"), "Jumps: robot is 'go1', expected go2"),
        (lambda: Crate(model="feet"), "Crate: model is 'feet', expected 'file' for a go2"),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()
