"""Environments on a CUDA device, against the CPU."""

import numpy as np
import pytest
from device_tasks import Falling, sent
from slider import Slider, model

import featherstorm as fs
from fake_cuda import Tensor, array, bound, counts, needs_device

ENVS = 33
pytestmark = [needs_device, pytest.mark.usefixtures("played_compiler")]


def actions(k, n):
    return np.random.default_rng(k).uniform(-2, 2, (ENVS, n))


def compare(task, dtype, autoreset, steps, n, tolerance):
    here = task.batch(ENVS, seed=3, dtype=dtype, autoreset=autoreset)
    there = task.batch(ENVS, seed=3, dtype=dtype, autoreset=autoreset, device="cuda:0")
    first, other = here.reset()[0], there.reset()[0]
    seen = [(first, other)] if not isinstance(first, dict) else list(zip(first.values(), other.values()))
    ended = 0
    for k in range(steps):
        a = actions(k, n).astype(dtype)
        ours, theirs = there.step(sent(a)), here.step(a)
        seen = [(ours[k], theirs[k]) for k in (1, 2, 3)]
        for found, expected in ((ours[0], theirs[0]), (ours[4]["final_obs"], theirs[4]["final_obs"])):
            seen += list(zip(found.values(), expected.values())) if isinstance(found, dict) else [(found, expected)]
        for found, expected in seen:
            found, expected = np.asarray(found, float), np.asarray(expected, float)
            assert found.shape == expected.shape
            scale = np.abs(expected).max(initial=1.0)
            assert np.abs(found - expected).max() <= bound(tolerance) * scale
        done = np.asarray(theirs[4]["_final_obs"])
        np.testing.assert_array_equal(np.asarray(ours[4]["_final_obs"]) > 0, done)
        for name in ("return", "length"):
            a, b = (np.asarray(x[4]["final_info"][name], float)[done] for x in (ours, theirs))
            np.testing.assert_allclose(a, b, rtol=1e-3)
        ended += done.sum()
        if autoreset == "disabled" and done.any():
            for batch in (here, there):
                batch.reset(mask=done)
    assert ended >= ENVS
    return there


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_a_task_is_the_same_on_a_device(tmp_path, autoreset):
    compare(Slider(model(tmp_path)), "float64", autoreset, 20, 1, 1e-11)


@pytest.mark.parametrize(("dtype", "steps", "tolerance"), [("float64", 14, 1e-6), ("float32", 13, 2e-2)])
def test_a_task_with_contacts_is_the_same_on_a_device(dtype, steps, tolerance):
    compare(Falling(), dtype, "same_step", steps, 1, tolerance)


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
def test_a_graph_does_two_steps_again(autoreset):
    task, stream = Falling(), fs.device.Stream("cuda:0")
    here, there = (
        task.batch(ENVS, seed=3, dtype="float64", autoreset=autoreset, device=device) for device in ("cpu", "cuda:0")
    )
    here.reset(), there.reset()
    a = actions(0, 1)
    given = sent(a, stream.number)
    for _ in range(2):  # kernels are made, memory is taken
        there.step(given), here.step(a)
    results = []

    def work():
        for _ in range(2):
            results.append(there.step(given))
            results[-1][0].__dlpack__(stream=stream.number)  # as a library takes it, which must not wait here

    graph = stream.capture(work)
    stream.synchronise()
    np.testing.assert_allclose(np.asarray(there.q), here.q, atol=1e-9, err_msg="captured, not done")
    ended, begins = 0, counts()
    for _ in range(8):
        graph.launch()
        expected = [tuple(map(np.copy, here.step(a)[:4])) for _ in range(2)]
        ended += sum(e[2].sum() + e[3].sum() for e in expected)
        # observations of both steps are there, of all else the last one's
        for found, wanted in ((results[0][0], expected[0][0]), *zip(results[1][:4], expected[1])):
            np.testing.assert_allclose(np.asarray(found, float), np.asarray(wanted, float), atol=1e-6)
        for name in here.state:
            np.testing.assert_allclose(np.asarray(there.view(name)), here.view(name), atol=1e-6, err_msg=name)
    assert ended >= ENVS
    now = counts()
    assert (now.driver_allocations, now.pool_allocations) == (begins.driver_allocations, begins.pool_allocations)


def test_a_warm_step_takes_no_memory_and_does_not_wait():
    there = Falling().batch(ENVS, device="cuda:0")
    there.reset()
    given, cold = sent(actions(0, 1).astype(np.float32)), counts()
    for _ in range(2):
        there.step(given)
    # before the first pass; before others, the first two alike, and the last, of which something is kept; behind it; and, each behind
    # draws, what judges and what begins episodes
    assert counts().live_programs - cold.live_programs == 6
    warm = counts()
    for _ in range(4):
        there.step(given)
    now = counts()
    for name in ("driver_allocations", "pool_allocations", "live_blocks", "live_programs", "waits"):
        assert getattr(now, name) == getattr(warm, name), name
    # seven of programs, four solutions, what after, observe and reset draw
    assert now.launches - warm.launches == 4 * (7 + 4 + 3)


def test_torch_keeps_its_arrays_on_the_device(tmp_path, torch):
    batch = Slider(model(tmp_path)).batch(ENVS, device="cuda:0", arrays="torch")
    obs, _ = batch.reset()
    assert type(obs["actor"]) is Tensor
    obs, reward, terminated, truncated, info = batch.step(array(Tensor, actions(0, 1).astype(np.float32)))
    for x in (obs["actor"], reward, terminated, truncated, info["_final_obs"], info["final_info"]["near"]):
        assert type(x) is Tensor
    assert terminated.dtype == bool


def test_what_lies_elsewhere_is_refused(tmp_path):
    batch = Slider(model(tmp_path)).batch(ENVS, device="cuda:0")
    batch.reset()
    with pytest.raises(ValueError, match="actions is on the CPU, expected CUDA device 0"):
        batch.step(np.zeros((ENVS, 1), np.float32))
