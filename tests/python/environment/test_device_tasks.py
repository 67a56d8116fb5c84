"""Ant, Go1 and G1 on a CUDA device, against the CPU."""

import os

import numpy as np
import pytest
from device_tasks import TASKS, Pair

import featherstorm as fs
from fake_cuda import needs_device

pytest.importorskip("mujoco")
pytestmark = [needs_device, pytest.mark.usefixtures("played_compiler")]
ON_GPU = os.environ.get("FEATHERSTORM_TEST_DEVICE") == "real"
ENVS = 515 if ON_GPU else 9


def task(name):
    try:
        made = TASKS[name]() if name in TASKS else fs.tasks.make(name)
        made.model()
    except FileNotFoundError as why:
        pytest.skip(str(why))
    return made


# Of one control step from the same state, relative to the largest number of an array. Between two solutions of a step are the solver's
# tolerance and rounding, which a contact that opens or closes within the step enlarges.
@pytest.mark.parametrize(
    ("name", "dtype", "tolerance"),
    [
        ("Ant", "float64", 1e-7),
        ("Go1", "float32", 5e-3),
        ("G1", "float32", 5e-3),
        ("Go1JoystickWaves", "float64", 1e-6),  # a ground that follows the robot within a step
    ],
)
def test_control_steps_are_the_cpus(name, dtype, tolerance):
    pair, ended, contacts = Pair(task(name), ENVS, dtype), 0, 0.0
    assert pair.errors().max() <= tolerance, "where episodes begin"
    pair.fall(20)
    for _ in range(2):
        contacts += pair.contacts()
        pair.step()
        worst = pair.errors()
        assert worst.max() <= tolerance, worst
        ended += pair.ended()
        pair.meet()
    assert ended >= ENVS // 3
    assert contacts > 0, "robots that touch nothing test no contacts"
    assert np.isfinite(pair.errors()).all()


def test_collected_steps_are_the_cpus():
    pair = Pair(task("Ant"), ENVS, "float64")
    pair.fall(20)
    assert pair.contacts() > 0
    assert pair.collected(3).max() <= 1e-6


@pytest.mark.skipif(not ON_GPU, reason="the fake CUDA library compiles the kernels of derivatives for minutes")
@pytest.mark.parametrize("name", ["Ant", "Go1"])
def test_episodes_are_pulled_back_as_on_the_cpu(name):
    pair = Pair(task(name), ENVS, "float64")
    pair.fall(20)
    assert np.quantile(pair.pulled(4), 0.9) <= 1e-6
