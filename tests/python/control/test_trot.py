"""A Go2 in MuJoCo that a planner drives, and what the loop does with time, pushes and plans that fail."""

import numpy as np
import pytest

pytest.importorskip("mujoco.batch", reason="featherstorm.control needs MuJoCo 4")

from featherstorm.control import Trot, drive
from featherstorm.control.quadruped import LEGS
from featherstorm.control.trot import DUTY, PHASES, swing_of
from featherstorm.planning import PlanningError


@pytest.fixture(scope="module")
def trot():
    return Trot(0.8)


def test_it_trots_at_the_commanded_velocity(trot):
    run = drive(trot, seconds=6.0, seed=1)
    assert run.fell is None and run.error < 0.1 and run.failed == 0
    assert run.velocities[:, 0].mean() == pytest.approx(0.8, abs=0.05)
    assert len(run.plan_times) == 299 and run.seconds == pytest.approx(6.0)


def test_it_turns():
    run = drive(Trot(0.4, turn=0.5), seconds=5.0)
    assert run.fell is None
    assert run.velocities[:, 2].mean() == pytest.approx(0.5, abs=0.1)


def test_it_survives_pushes_a_heavier_body_and_slippery_ground(trot):
    run = drive(trot, seconds=6.5, push=1.0, mass=1.2, friction=0.5, seed=2)
    assert run.fell is None
    assert len(run.velocities) == pytest.approx(
        (6.5 - 2.0 - 2 * 1.0) / 0.002, abs=2
    )  # errors after pushes do not count


def test_the_same_seed_gives_the_same_run(trot):
    one, two = (drive(trot, seconds=2.5, seed=5) for _ in range(2))
    assert np.array_equal(one.velocities, two.velocities)
    assert not np.array_equal(one.velocities, drive(trot, seconds=2.5, seed=6).velocities)


def test_prediction_makes_up_for_latency(trot):
    late = {predict: drive(trot, seconds=4.0, latency=0.08, predict=predict) for predict in (True, False)}
    assert late[True].fell is None and late[True].error < 0.12
    assert late[False].fell is not None or late[False].error > 0.4


def test_a_plan_that_fails_leaves_the_last_one_in_force(trot):
    planners = []

    class Broken(Trot):
        def planner(self, seed=0):
            planner = super().planner(seed)
            command = planner.command

            def sometimes(x, t, **given):
                if planner.calls > 20 and round(t / 0.02) % 4 == 0:
                    raise PlanningError("no sample has a finite cost")
                return command(x, t, **given)

            planner.command = sometimes
            planners.append(planner)
            return planner

    run = drive(Broken(0.5), seconds=3.0)
    assert run.fell is None and run.failed > 20 and planners[0].calls < 150


def test_a_fall_ends_the_run(trot):
    plant = trot.plant()
    plant.reset(np.concatenate([[0, 0, 0.3, 0, 1, 0, 0], trot.stance]))
    run = drive(trot, seconds=3.0, plant=plant)
    assert run.fell == pytest.approx(plant.time) and run.fell < 0.1 and np.isnan(run.error)


def test_feet_follow_half_a_sine_while_they_swing():
    t = np.linspace(0, 1, 1001)
    for leg in LEGS:
        cycle = (2.0 * t + PHASES[leg]) % 1.0
        height = swing_of(t, leg)
        assert (height[cycle < DUTY] == 0).all() and height.max() == pytest.approx(1.0, rel=1e-3)
    assert np.array_equal(swing_of(t, "FL"), swing_of(t, "RR"))


def test_a_plant_measures_velocities_in_its_own_heading(trot):
    plant = trot.plant()
    yaw = 2.0
    plant.reset(np.concatenate([[0, 0, 0.32, np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)], trot.stance]))
    plant.data.qvel[:2] = 0.7 * np.array([np.cos(yaw), np.sin(yaw)]) + 0.2 * np.array([-np.sin(yaw), np.cos(yaw)])
    plant.data.qvel[5] = 0.3
    assert np.allclose(plant.heading_velocity, [0.7, 0.2, 0.3], atol=1e-12)
    assert plant.upright == pytest.approx(1.0)


def test_masses_and_friction_of_the_plant_alone_change():
    light, heavy = Trot().plant(), Trot().plant(mass=1.2, friction=0.4)
    assert np.allclose(heavy.model.body_mass, 1.2 * light.model.body_mass)
    assert np.allclose(heavy.model.body_subtreemass, 1.2 * light.model.body_subtreemass)
    assert (heavy.model.geom_friction[:, 0] == 0.4).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda trot: Trot(weights={"speed": 1.0}), "Trot: weights have 'speed', expected some of velocity, turn"),
        (lambda trot: drive(trot, seconds=0), "drive: seconds 0"),
        (lambda trot: drive(trot, latency=-0.1), "latency -0.1"),
        (lambda trot: trot.plant(mass=0), "Plant: mass is 0"),
        (lambda trot: Trot(robot="spot"), "Trot: robot is 'spot', expected go2 or go1"),
        (lambda trot: Trot(model="mesh"), "Trot: model is 'mesh', expected 'feet' or 'file' for a go2"),
    ],
)
def test_messages(trot, call, message):
    with pytest.raises(ValueError, match=message):
        call(trot)
