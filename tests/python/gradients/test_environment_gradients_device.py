"""Cotangents of control steps on a CUDA device, against the CPU."""

import numpy as np
import pytest
from episodes import GIVEN, B
from test_environment_gradients import Block, WideBlock
from test_plain_environment_gradients import Cart, Crank, Hand, Legs

import fake_cuda
from carrying import feet
from fake_cuda import Tensor, bound, counts, needs_device
from featherstorm.device import DeviceArray
from featherstorm.environment.batch import EnvBatch

T = 5
pytestmark = [needs_device, pytest.mark.usefixtures("kernels_once")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture
def kernels_once(played_compiler, folder, monkeypatch):
    """The kernels that a test made are there for the next."""
    monkeypatch.setenv("FEATHERSTORM_CACHE", str(folder))


class Short(Cart):
    """Ends at an end of the rail, and is cut."""

    rail, steps = 0.5, 4


def both(task, dtype="float64", **options):
    """The same environments on the CPU and on a device, some steps after their beginning."""
    here = task.batch(B, seed=3, dtype=dtype)
    there = EnvBatch(task, B, 3, "cuda:0", dtype, kernels=here.kernels, **options)
    for env in (here, there):
        env.reset()
        env.collect(3, GIVEN, {"a": np.full(env.recording.actions, 0.1)})
    return here, there


class Pulled:
    """T steps, pulled back with cotangents of all rewards, and of observations at the end and on the way."""

    def __init__(self, env, made=lambda x: x, times=None):
        rng = np.random.default_rng(0)
        self.got = env.collect(T, GIVEN, {"a": rng.uniform(-0.5, 0.5, env.recording.actions)}, True, True)
        self.back, (group, n), found = env.pull_back(self.got), *env.groups.items(), []
        assert group == ""
        for t in reversed(range(T)):
            by_reward, after, last = (made(rng.normal(size=s).astype(env.dtype)) for s in (B, (B, n), (B, n)))
            if times:
                after = after * np.linspace(0, 4, B, dtype=env.dtype)[:, None]  # some much longer than others
            found.append(self.back.step(by_reward, *((after, last) if t % 2 == 0 else (None, last))))
            if times:
                self.back.shorten(times)
        self.actions, self.state = found, dict(self.back.state)

    def arrays(self):
        return {**{f"step {T - 1 - k}": x for k, x in enumerate(self.actions)}, **self.state}


def assert_same(there, here, tolerance):
    there, here = there.arrays(), here.arrays()
    assert list(there) == list(here)
    assert max(np.abs(x).max() for x in here.values()) > 1e-3
    for name, expected in here.items():
        found = np.asarray(there[name], float)
        np.testing.assert_allclose(
            found, expected, rtol=0, atol=bound(tolerance) * np.abs(expected).max(), err_msg=name
        )


TASKS = {
    "world": Block,
    "world, contacts found, RK4": lambda: WideBlock("RK4"),
    "tree": Short,
    "contacts": lambda: Legs(feet()),
    "loop": Crank,
    "coupled joints": Hand,
}


@pytest.mark.parametrize("task", TASKS)
def test_cotangents_are_the_cpus(task):
    here, there = both(TASKS[task]())
    ours, theirs = Pulled(there), Pulled(here)
    ends = theirs.got.terminated | theirs.got.truncated
    assert ends[:-1].any() == (task == "tree")
    assert_same(ours, theirs, 1e-9)
    assert ours.back.lost == theirs.back.lost == 0
    for x in ours.arrays().values():
        assert type(x) is DeviceArray and x.shape[0] == B


# the cotangents of contacts are as long as they are stiff, and float32 keeps seven digits of them
@pytest.mark.parametrize(("task", "tolerance"), [("tree", 1e-5), ("world", 1e-3)])
def test_cotangents_in_float32_are_the_cpus(task, tolerance):
    here, there = both(TASKS[task](), "float32")
    assert_same(Pulled(there), Pulled(here), tolerance)


def test_what_each_step_begins_with_is_kept_there():
    here, there = both(Short())
    ours, theirs = (env.collect(T, GIVEN, {"a": [0.3]}, True, True).kept for env in (there, here))
    assert list(ours) == list(theirs) and "env_memory" in ours
    for name, expected in theirs.items():
        assert type(ours[name]) is DeviceArray
        np.testing.assert_allclose(np.asarray(ours[name]), expected, rtol=bound(1e-11), atol=bound(1e-11), err_msg=name)
    for name in here.lasting:
        np.testing.assert_allclose(
            np.asarray(there.view(name)), here.view(name), rtol=bound(1e-11), atol=bound(1e-11), err_msg=name
        )


def test_long_cotangents_are_shortened_there_too():
    here, there = both(Short())
    assert_same(Pulled(there, times=1.5), Pulled(here, times=1.5), 1e-9)


def test_what_is_not_finite_is_lost_there_too():
    here, there = both(Short())
    found = []
    for env in (there, here):
        back = env.pull_back(env.collect(2, GIVEN, {"a": [0.1]}, True, True))
        by = np.ones((B, env.groups[""]))
        by[2, 0], by[5, 1] = np.inf, np.nan
        found.append([back.step(np.ones(B), by, by), back.step(np.ones(B)), back.lost])
    assert found[0][2] == found[1][2] == 2
    for k in range(2):
        np.testing.assert_allclose(np.asarray(found[0][k]), found[1][k], rtol=0, atol=bound(1e-9))


def test_nothing_waits():
    _, there = both(Short())
    by = fake_cuda.array(Tensor, np.ones(B))  # numbers of the CPU would wait
    for _ in range(2):
        got = there.collect(2, GIVEN, {"a": [0.1]}, True, True)
        before = counts()
        back = there.pull_back(got)
        for _ in range(2):
            back.step(by)
        after = counts()
    assert after.waits == before.waits and after.launches > before.launches + 10


def test_arrays_of_torch_go_in_and_out(torch):
    here, there = both(Short(), arrays="torch")
    ours = Pulled(there, lambda x: fake_cuda.array(Tensor, x))
    assert all(type(x) is Tensor for x in ours.actions)
    fake_cuda.finish()
    assert_same(ours, Pulled(here), 1e-9)


def test_cotangents_of_another_place_or_dtype_are_refused():
    here, there = both(Short())
    back = there.pull_back(there.collect(1, GIVEN, {"a": [0.1]}, True, True))
    with pytest.raises(ValueError, match="reward_bar is on CUDA device 1, expected CUDA device 0"):
        back.step(fake_cuda.array(Tensor, np.ones(B), 1))
    with pytest.raises(TypeError, match="observation_bar is float32, expected float64"):
        back.step(None, fake_cuda.array(Tensor, np.ones((B, 11), np.float32)))
    with pytest.raises(ValueError, match=r"reward_bar has shape \(2,\), expected \(8,\)"):
        back.step(fake_cuda.array(Tensor, np.ones(2)))
    back = here.pull_back(here.collect(1, GIVEN, {"a": [0.1]}, True, True))
    with pytest.raises(ValueError, match="reward_bar is on CUDA device 0, expected the CPU"):
        back.step(fake_cuda.array(Tensor, np.ones(B)))


def test_what_was_collected_elsewhere_is_refused():
    here, there = both(Short())
    got = here.collect(1, GIVEN, {"a": [0.1]}, True, True)
    with pytest.raises(ValueError, match="what was collected is on the CPU, expected CUDA device 0"):
        there.pull_back(got)
