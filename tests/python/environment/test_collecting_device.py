"""Steps with the policy among the stages on a CUDA device, against the CPU."""

import itertools

import numpy as np
import pytest
from device_tasks import Falling
from slider import Slider, model

import featherstorm as fs
from fake_cuda import Tensor, bound, counts, needs_device
from featherstorm.device import DeviceArray
from featherstorm.environment.collecting import mlp, normal_action

B, T = 33, 17
pytestmark = [needs_device, pytest.mark.usefixtures("played_compiler")]


def weights(seed, *layers):
    rng = np.random.default_rng(seed)
    found = {"log_std": np.array([-0.5]), "x_mean": rng.normal(0, 0.1, layers[0]), "x_rate": np.full(layers[0], 0.5)}
    for k, (n, m) in enumerate(itertools.pairwise(layers)):
        found[f"pi_W{k}"], found[f"pi_b{k}"] = rng.normal(0, 0.5, (m, n)), rng.normal(0, 0.1, m)
    return found


def policy_of(form):
    def policy(obs, w, rng):
        x = obs["actor"] if hasattr(obs, "keys") else obs
        return normal_action(mlp(x, w, "pi", 2, normaliser="x", form=form), w.log_std, rng)

    return policy


def arrays_of(got):
    """All that was collected, by name."""
    found = dict(got.more)
    for name in ("observations", "actions", "reward", "terminated", "truncated", "final_observations"):
        value = getattr(got, name)
        found.update({f"{name} {g}": x for g, x in value.items()} if isinstance(value, dict) else {name: value})
    return found


def assert_same(ours, theirs, tolerance):
    there, here = arrays_of(ours), arrays_of(theirs)
    assert list(there) == list(here)
    for name, expected in here.items():
        found, expected = np.asarray(there[name], float), np.asarray(expected, float)
        assert found.shape == expected.shape, name
        np.testing.assert_allclose(
            found, expected, rtol=0, atol=bound(tolerance) * np.abs(expected).max(initial=1), err_msg=name
        )


def both(task, **options):
    batches = [task.batch(B, seed=3, device=device, **options) for device in ("cpu", "cuda:0")]
    for batch in batches:
        batch.reset()
    return batches


@pytest.mark.parametrize("form", ["traced", "loops"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-11), ("float32", 1e-4)])
def test_steps_are_those_of_the_cpu(tmp_path, form, dtype, tolerance):
    here, there = both(Slider(model(tmp_path)), dtype=dtype)
    policy, ended = policy_of(form), 0
    for seed in range(2):  # and on from there, with other weights
        w = weights(seed, 3, 8, 1)
        ours, theirs = there.collect(T, policy, w), here.collect(T, policy, w)
        assert_same(ours, theirs, tolerance)
        ended += (theirs.terminated | theirs.truncated).sum()
        for name in here.lasting:
            np.testing.assert_allclose(
                np.asarray(there.view(name)),
                here.view(name),
                atol=bound(tolerance) * np.abs(here.view(name)).max(),
                err_msg=name,
            )
    assert ended > B and type(ours.reward) is DeviceArray and ours.reward.shape == (T, B)


def test_a_task_with_contacts_is_collected_on_a_device():
    here, there = both(Falling(), dtype="float64")
    w, policy = weights(0, 16, 8, 1), policy_of("traced")
    ours, theirs = there.collect(14, policy, w), here.collect(14, policy, w)
    assert_same(ours, theirs, 1e-6)
    assert (theirs.terminated | theirs.truncated).sum() >= B


class Bare(fs.Env):
    """A cart without a world, where nothing is drawn."""

    substeps, steps, dt = 2, 9, 0.01
    memory = {"last": 1}

    def model(self):
        builder = fs.RobotBuilder("cart")
        builder.add_link("cart", 1.5, [0, 0, 0.1], np.eye(3).tolist())
        builder.add_joint("x", "prismatic", "", "cart", axis=[1, 0, 0])
        return fs.Model(builder.build())

    def reset(self, m, rng):
        return [0.2], [0.0]

    def actuate(self, x, a, m):
        return a

    def terminate(self, x, m):
        return np.abs(x.q[0]) > 0.22

    def reward(self, x, a, m):
        return {"near": 1 - np.abs(x.q[0]), "rate": -0.1 * (a[0] - m.last[0]) ** 2}

    def after(self, x, a, m, rng):
        m.last = a

    def observe(self, x, m, rng):
        return [x.q[0], x.v[0], m.last[0]]


def test_nothing_waits(tmp_path):
    there = Slider(model(tmp_path)).batch(B, device="cuda:0")
    there.reset()
    policy = policy_of("traced")
    for seed in range(2):
        cold = counts()
        there.collect(T, policy, weights(seed, 3, 8, 1))
        now = counts()
    assert (now.live_programs, now.waits) == (cold.live_programs, cold.waits)
    assert now.launches > cold.launches + T


def test_one_kernel_takes_all_steps_where_none_has_kernels_of_its_own():
    def policy(obs, w, rng):
        return mlp(obs, w, "pi", 2, normaliser="x")

    here, there = both(Bare(), dtype="float64")
    for seed in range(2):
        w, cold = weights(seed, 3, 8, 1), counts()
        ours = there.collect(T, policy, w)
        now = counts()
        assert_same(ours, here.collect(T, policy, w), 1e-11)
    assert now.launches - cold.launches == 3  # all steps, between copies of the observations before and behind them


def test_torch_gets_its_arrays_steps_first(tmp_path, torch):
    batch = Slider(model(tmp_path)).batch(B, device="cuda:0", arrays="torch")
    batch.reset()
    got = batch.collect(T, policy_of("traced"), weights(0, 3, 8, 1))
    for x in arrays_of(got).values():
        assert type(x) is Tensor and x.shape[1] == B
    assert got.observations["actor"].shape == (T + 1, B, 3) and got.terminated.dtype == bool
