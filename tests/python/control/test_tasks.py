"""Tasks of closed loops: each one runs, its rule of success is the one that its docstring says, and options are checked."""

import numpy as np
import pytest

pytest.importorskip("mujoco.batch", reason="featherstorm.control needs MuJoCo 4")

from featherstorm.control import Acrobot, CartPole, Climb, Loop, PushBox, StandUp, Trot, drive
from featherstorm.control.loop import LoopScene, Recorder
from featherstorm.control.quadruped import LEGS
from featherstorm.control.swing_up import from_top
from featherstorm.tasks.velocity_robots import mjlab_file


def has_go1():
    try:
        return bool(mjlab_file("go1"))
    except FileNotFoundError:
        return False


def test_a_pole_swings_up_and_the_run_ends_when_it_has_balanced():
    task = CartPole(samples=128)
    run = drive(task, seed=1)
    assert run.succeeded and run.fell is None and 0.5 < run.reached < 6.0
    assert run.seconds == pytest.approx(run.reached + task.hold, abs=0.01) and run.seconds < task.seconds
    assert not drive(task, seconds=0.5, seed=1).succeeded


def test_the_acrobots_feedback_holds_it_at_the_top():
    task = Acrobot(samples=64, iterations=1)
    plant = task.plant()
    plant.reset([0.04, -0.05])
    assert drive(task, plant=plant).reached < 1.0
    plant.reset([0.04, -0.05])
    plant.control = lambda x, u: u  # without it
    assert not drive(task, seconds=4.0, plant=plant).succeeded
    turned = np.array([2 * np.pi + 0.1, -2 * np.pi - 0.2, 0.3, 0.4])
    assert np.allclose(from_top(turned), [0.1, -0.2, 0.3, 0.4])


def test_a_quadruped_stands_up_from_its_belly():
    task = StandUp()
    plant = task.plant(seed=1)
    assert plant.time == 0 and plant.data.qpos[2] < 0.13 and np.abs(plant.data.qvel).max() < 0.1
    assert not task.is_reached(plant)
    assert drive(task, plant=plant).succeeded


def test_a_trot_plans_with_every_geom_of_the_file():
    trot = Trot(model="file")
    assert (trot.samples, Trot().samples, Trot(model="file", samples=64).samples) == (128, 256, 64)
    run = drive(trot, seconds=3.0)
    assert run.fell is None and run.error < 0.15
    assert trot.model.compiled.ngeom == trot.plant().model.ngeom > 17


def test_all_feet_are_on_the_step_or_it_is_not_reached():
    task = Climb(samples=16, iterations=1)
    plant = task.plant()
    on = plant.data.qpos.copy()
    on[:3] = [2.0, 0.0, task.robot.height + task.rise + 0.02]
    plant.reset(on)
    assert task.is_reached(plant)
    plant.reset(on - 0.9 * np.eye(len(on))[0])  # the rear feet are before the edge
    assert not task.is_reached(plant)
    plant.reset(on - 0.04 * np.eye(len(on))[2])  # as if the ground were hollow
    assert not task.is_reached(plant)
    x = np.array([0.5, 0.99, 1.03, 2.0])
    assert np.allclose(task.ground(x), [0, 0, task.rise, task.rise]) and (task.ahead_of(x) >= task.ground(x)).all()
    assert drive(task, seconds=0.3).failed == 0


def test_a_box_is_at_its_goal_within_two_centimetres_and_ten_degrees():
    task = PushBox((0.6, 0.05, 3.1), samples=16, iterations=1)
    plant = task.plant(seed=4)
    q = plant.data.qpos.copy()
    for x, yaw, reached in ((0.619, 3.1, True), (0.621, 3.1, False), (0.6, -3.02, True), (0.6, 2.92, False)):
        q[9:] = [x, 0.05, 0.04, np.cos(yaw / 2), 0, 0, np.sin(yaw / 2)]
        plant.reset(q)
        assert task.is_reached(plant) == reached
    begun = [PushBox.off(task, task.plant(seed)) for seed in range(5)]
    assert min(begun)[0] > 0.09 and max(begun)[0] < 0.21
    run = drive(task, seconds=0.3)
    assert run.failed == 0 and not run.succeeded


@pytest.mark.skipif(not has_go1(), reason="mjlab has the file of the Go1")
def test_a_go1_trots():
    run = drive(Trot(robot="go1"), seconds=2.5)
    assert run.fell is None and run.velocities[:, 0].mean() == pytest.approx(0.8, abs=0.15)


class Held:
    """A task whose goal holds at the times when `goal` says that."""

    hold = 0.1

    def __init__(self, goal):
        self.goal = goal

    def is_reached(self, plant):
        return self.goal(plant.time)

    def velocity(self, plant):
        return np.zeros(0)

    def error(self, plant):
        return 0.0

    def has_fallen(self, plant):
        return plant.time > 0.9

    def has_succeeded(self, run):
        return run.reached is not None


class Clock:
    time = 0.0


@pytest.mark.parametrize(
    ("goal", "reached"),
    [
        (lambda t: t > 0.295, 0.3),
        (lambda t: 0.095 < t < 0.175 or t > 0.395, 0.4),  # the first time it does not hold for long enough
        (lambda t: round(t / 0.01) % 10 != 0, None),  # never for long enough
    ],
)
def test_a_goal_holds_without_a_break(goal, reached):
    recorder, plant = Recorder(Held(goal), 0.01), Clock()
    for k in range(100):
        plant.time = (k + 1) * 0.01
        if not recorder.add(k, plant):
            break
    run = recorder.finish()
    assert run.reached == (reached if reached is None else pytest.approx(reached))
    assert run.succeeded == (reached is not None) == (run.fell is None)


def test_a_page_steps_a_loop_and_begins_it_anew():
    scene = LoopScene(CartPole(samples=16, iterations=1), 0.1, {"seed": 2})
    first = scene.plant.state
    for _ in range(60):  # more than the run has
        scene.step()
    assert scene.plant.time == pytest.approx(0.1) and scene.dt == pytest.approx(0.002)
    scene.reset()
    assert np.array_equal(scene.plant.state, first) and scene.loop.left == 50


def test_pushes_are_within_the_time_of_the_task():
    loop = Loop(StandUp(samples=16, iterations=1), push=1.0)
    assert [k * loop.dt for k in sorted(loop.pushes)] == pytest.approx([1.5, 2.5, 3.5])


def test_a_loop_that_is_stepped_is_the_one_of_drive():
    task = CartPole(samples=32, iterations=1)
    loop = Loop(task, 0.4, seed=3)
    while loop.step():
        pass
    plant = task.plant(seed=3)
    drive(task, 0.4, seed=3, plant=plant)
    assert np.array_equal(loop.plant.state, plant.state)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Climb(model="feet"), "Climb: model is 'feet', expected 'file' for a go2"),
        (lambda: drive(CartPole(samples=16), push=1.0), "push needs a floating root, and the first joint is not free"),
        (lambda: StandUp("go1"), "StandUp: robot is 'go1', expected go2"),
        (
            lambda: CartPole(weights={"middel": 1.0}),
            "CartPole: weights have 'middel', expected some of upright, middle",
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_feet_of_the_robot_are_where_the_planners_model_has_them():
    trot = Trot()
    plant = trot.plant()
    assert {leg: plant.position(f"{leg}_foot")[1] > 0 for leg in LEGS} == {leg: leg[1] == "L" for leg in LEGS}
