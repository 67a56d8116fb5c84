"""A planner in its own thread, and a robot in its own process: what holds however busy the machine is."""

import os
import signal  # noqa: F401  (read by a program of a test)
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("mujoco.batch", reason="featherstorm.control needs MuJoCo 4")

import featherstorm as fs
from featherstorm.control import CartPole, Receding, Trot, drive_live
from featherstorm.planning import ILQR, MPPI


def drives(x, u, t, p):
    return np.concatenate([u, np.zeros(1)])


def reach(x, u, t, p):
    return (x.q[0] - p[0]) ** 2 + 0.01 * x.v[0] ** 2


def planner(samples=64):
    roll = fs.Rollout(fs.load("cartpole", threads=1), 0.02, reach, control=drives, substeps=4)
    return MPPI(roll, 20, 1, samples=samples, sigma=3.0, knots=5, temperature=0.05, lower=-10, upper=10)


def wait_for(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.002)


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self):
        return self.now


def test_it_plans_from_the_newest_state_and_its_controls_act_in_time():
    one, clock = planner(), Clock()
    with Receding(one, clock=clock, latency=0.05, p=[1.0]) as receding:
        assert receding.control(0.0) == 0.0  # nothing is planned yet
        receding.submit(np.zeros(4), 0.0)
        wait_for(lambda: one.calls == 1)
        assert one.t0 == pytest.approx(0.05) and receding.control(0.05) > 0  # the first plan has the latency, too
        clock.now = 0.06
        receding.submit(np.array([0.1, 0, 0, 0]), 0.06)
        wait_for(lambda: one.calls == 2)
        assert one.t0 == pytest.approx(0.11)
    assert receding.times.late == 0 and len(receding.times.spent) == len(receding.times.age) == 1
    assert receding.times.age[0] == pytest.approx(0.0) and receding.times.spent[0] > 0
    receding.submit(np.zeros(4), 0.1)  # the thread has ended
    time.sleep(0.02)
    assert one.calls == 2
    with receding:  # and begins again
        receding.submit(np.zeros(4), 0.12)
        wait_for(lambda: one.calls >= 3)


def test_plans_that_are_ready_too_late_are_counted_and_the_expected_latency_follows():
    one, clock = planner(), Clock()
    command = one.command

    def slow(*given, **options):
        result = command(*given, **options)
        clock.now += 0.03
        return result

    one.command = slow
    with Receding(one, clock=clock, p=[1.0]) as receding:
        for k in range(12):
            receding.submit(np.zeros(4), clock.now)
            wait_for(lambda k=k: one.calls == k + 1 and len(receding.times.age) == k)
    assert receding.expected_latency == pytest.approx(0.03, abs=1e-6)
    assert receding.times.late == pytest.approx(1 / 11)  # the second; later ones are expected to take so long
    with Receding(planner(), clock=clock, latency=0.001) as receding:
        assert receding.expected_latency == 0.001


def test_a_plan_without_a_finite_cost_is_counted_and_the_last_goes_on():
    one, clock = planner(), Clock()
    with Receding(one, clock=clock, latency=0.0, p=[1.0]) as receding:
        receding.submit(np.zeros(4), 0.0)
        wait_for(lambda: one.calls == 1)
        before = receding.control(0.1)
        receding.submit(np.full(4, np.nan), 0.02)
        wait_for(lambda: receding.times.failed == 1)
        assert receding.control(0.1) == before
        receding.submit(np.zeros(4), 0.04)
        wait_for(lambda: one.calls == 2)


def test_an_error_of_the_thread_is_raised_by_the_next_submit():
    with Receding(planner(), p=[1.0]) as receding:
        receding.submit(np.zeros(7), 0.0)
        with pytest.raises(ValueError, match=r"x0 has shape \(7,\)"):
            for _ in range(2000):
                time.sleep(0.01)
                receding.submit(np.zeros(7), 0.1)
    with Receding(planner(), p=[1.0], clock=lambda: 1 / 0) as receding:
        receding.submit(np.zeros(4), 0.0)
        for _ in range(2):  # each time
            with pytest.raises(ZeroDivisionError):
                for _ in range(2000):
                    time.sleep(0.01)
                    receding.submit(np.zeros(4), 0.1)
    with pytest.raises(ValueError, match="latency is -1"):
        Receding(planner(), latency=-1)


def test_plans_by_gradients_and_for_several_robots_are_made_in_the_thread_too():
    roll = fs.Rollout(fs.load("cartpole", threads=1), 0.02, residual=lambda x, u, t, p: x.q - 1, control=drives)
    sampled = fs.Rollout(fs.load("cartpole", threads=1), 0.02, reach, control=drives)
    several = MPPI(sampled, 8, 1, samples=16, robots=2)
    for one, x, p in ((ILQR(roll, 8, 1), np.zeros(4), {}), (several, np.zeros((2, 4)), {"p": [1.0]})):
        with Receding(one, clock=Clock(), latency=0.02, **p) as receding:
            receding.submit(x, 0.0)
            wait_for(lambda one=one: one.calls == 1)
            assert np.all(receding.control(0.02) != 0)


PROGRAM = """
import sys, time
sys.path.insert(0, {folder!r})
from test_receding import *
receding = Receding(planner(), p=[1.0]).__enter__()
for _ in range(3):
    receding.submit(np.zeros(4), receding.clock())
    time.sleep(0.3)
assert receding.planner.calls
{end}
"""


@pytest.mark.parametrize(
    ("end", "status"), [("", 0), ("raise SystemExit(3)", 3), ("os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)", -2)]
)
def test_a_program_ends_while_its_thread_plans(end, status):
    program = PROGRAM.format(folder=os.path.dirname(__file__), end=end)
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert found.returncode == status, found.stderr
    assert status != -2 or "KeyboardInterrupt" in found.stderr


def test_a_robot_in_real_time_runs_to_its_end():
    run = drive_live(Trot(0.5), seconds=2.5)
    assert run.fell is not None or run.seconds == pytest.approx(2.5)
    assert len(run.plan_times) > 10 and 0 <= run.late <= 1 and run.slipped > 0
    if run.fell is None:
        assert run.velocities.shape == (250, 3) and np.isfinite(run.error)


def test_a_task_in_real_time_takes_its_own_time():
    task = CartPole(samples=16, iterations=1)
    task.seconds = 0.4
    run = drive_live(task)
    assert run.seconds == pytest.approx(0.4) and not run.succeeded
    with pytest.raises(ValueError, match="push needs a floating root"):
        drive_live(task, push=1.0)
