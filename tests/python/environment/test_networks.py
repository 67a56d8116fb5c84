"""Networks within a policy, as stages by loops and traced, against numpy."""

import itertools

import numpy as np
import pytest
from slider import Slider

from featherstorm.environment.collecting import mlp, normal_action

B, T = 19, 12
ACTIVATIONS = {
    "tanh": np.tanh,
    "elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "relu": lambda x: np.maximum(x, 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "identity": lambda x: x,
}


def weights(name, sizes, seed, scale=1.0):
    rng = np.random.default_rng(seed)
    found = {}
    for k, (n, m) in enumerate(itertools.pairwise(sizes)):
        found[f"{name}_W{k}"] = rng.normal(0, scale / n**0.5, (m, n))
        found[f"{name}_b{k}"] = rng.normal(0, 0.1, m)
    return found


def scales(n, seed):
    rng = np.random.default_rng(seed)
    return {"obs_mean": rng.normal(0, 0.5, n), "obs_rate": rng.uniform(0.5, 4, n)}


def reference(x, w, name, layers, activation, clip=None):
    if clip is not None:
        x = np.clip((x - w["obs_mean"]) * w["obs_rate"], -clip, clip)
    for k in range(layers):
        x = x @ w[f"{name}_W{k}"].T + w[f"{name}_b{k}"]
        x = ACTIVATIONS[activation](x) if k + 1 < layers else x
    return x


def begun(robot, envs=B, **options):
    batch = Slider(robot).batch(envs, seed=6, **options)
    batch.reset()
    return batch


def policy_of(layers, **options):
    return lambda obs, w, rng: {"action": mlp(obs["actor"], w, "pi", layers, **options)}


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
@pytest.mark.parametrize("sizes", [(3, 1), (3, 1, 1), (3, 13, 7, 1), (3, 64, 33, 9, 1), (3, 8, 300, 1)])
@pytest.mark.parametrize("clip", [None, 1.0])
def test_a_network_is_numpys(robot, sizes, activation, clip):
    """In double to rounding; in single as far as the sums of single numbers are."""
    w = {**weights("pi", sizes, 1), **(scales(3, 2) if clip else {})}
    options = {"activation": activation, "form": "loops", **({"normaliser": "obs", "clip": clip} if clip else {})}
    for dtype, tolerance in (("float64", 1e-12), ("float32", 4e-6)):
        got = begun(robot, dtype=dtype).collect(T, policy_of(len(sizes) - 1, **options), w)
        x = got.observations["actor"][:-1].astype(float)
        expected = reference(x, w, "pi", len(sizes) - 1, activation, clip)
        np.testing.assert_allclose(got.actions, expected, atol=tolerance * max(1, abs(expected).max()))
        assert np.ptp(got.actions) > 1e-3


@pytest.mark.parametrize("activation", list(ACTIVATIONS))
def test_traced_and_loops_agree(robot, activation):
    w = {**weights("pi", (3, 16, 16, 1), 3, 2.0), **scales(3, 4)}
    found = [
        begun(robot, dtype="float64").collect(
            T, policy_of(3, activation=activation, normaliser="obs", clip=0.5, form=form), w
        )
        for form in ("traced", "loops")
    ]
    np.testing.assert_allclose(found[0].actions, found[1].actions, atol=1e-9)


def test_several_networks_read_what_the_policy_says(robot):
    """Two of observations, one of what the policy made of another's output and of an observation, one of two groups."""

    def policy(obs, w, rng):
        mean = mlp(obs["actor"], w, "pi", 2, "elu", form="loops", normaliser="obs", clip=2.0)
        value = mlp(obs["critic"], w, "vf", 3, "silu", form="loops")
        late = mlp(np.concatenate([np.sin(mean), obs["actor"][:1]]), w, "on", 2, "relu", form="loops")
        both = mlp(np.concatenate([obs["critic"], late]), w, "all", 1, form="loops")
        small = mlp(obs["actor"], w, "pi", 2, "elu", form="traced")
        found = normal_action(mean + 0.1 * late[:1] * obs["actor"][2], w.log_std, rng)
        return {**found, "value": value[0], "late": late, "both": both, "small": small}

    batch = begun(robot, dtype="float64")
    critic = batch.recording.groups["critic"]
    for seed in (0, 1):
        w = {
            **weights("pi", (3, 50, 1), seed), **weights("vf", (critic, 20, 11, 1), seed + 10), **weights("on", (2, 9, 5), seed + 20),
            **weights("all", (critic + 5, 3), seed + 30), **scales(3, seed), "log_std": np.array([-0.5]),
        }  # fmt: skip
        got = batch.collect(T, policy, w)
        actor, seen = got.observations["actor"][:-1], got.observations["critic"][:-1]
        mean = reference(actor, w, "pi", 2, "elu", 2.0)
        late = reference(np.concatenate([np.sin(mean), actor[..., :1]], -1), w, "on", 2, "relu")
        both = reference(np.concatenate([seen, late], -1), w, "all", 1, "tanh")
        close = {"atol": 1e-12}
        np.testing.assert_allclose(got.more["value"], reference(seen, w, "vf", 3, "silu")[..., 0], **close)
        np.testing.assert_allclose(got.more["late"], late, **close)
        np.testing.assert_allclose(got.more["both"], both, **close)
        np.testing.assert_allclose(got.more["small"], reference(actor, w, "pi", 2, "elu")[..., 0], **close)
        moved = mean + 0.1 * late[..., :1] * actor[..., 2:3]
        np.testing.assert_allclose(got.more["mean"], moved[..., 0], **close)
        z = (got.actions - moved) / np.exp(w["log_std"])
        assert len(np.unique(z)) == z.size and abs(z.mean()) < 5 / z.size**0.5
    assert len(batch.kernels.collecting) == 1, "other weights, the same kernels"


def test_size_decides(robot):
    """The large one is a stage, the small one is traced; both are what they say."""
    kernels = begun(robot).kernels
    for width, stages in ((32, 0), (64, 1)):
        batch = begun(robot)
        w = weights("pi", (3, width, width, 1), 5)
        got = batch.collect(T, policy_of(3), w)
        ((made, _),) = batch.kernels.collecting.values()
        assert len(made.stage.networks) == stages
        expected = reference(got.observations["actor"][:-1].astype(float), w, "pi", 3, "tanh")
        np.testing.assert_allclose(got.actions, expected, atol=4e-6)
    assert kernels.collecting == {}
    own = begun(robot)
    own.collect(2, policy_of(3, activation=lambda x: x * x), weights("pi", (3, 64, 64, 1), 5))
    ((made, _),) = own.kernels.collecting.values()
    assert made.stage.networks == (), "a function of symbols is traced, whatever the size"


def test_a_weight_that_is_no_number_ends_its_episodes(robot):
    """An action that is not finite is none, and is told as it came."""
    w = weights("pi", (3, 50, 1), 0)
    w["pi_W0"][7, 1] = np.nan
    batch = begun(robot)
    got = batch.collect(3, policy_of(2, activation="relu", form="loops"), w)
    assert np.isnan(got.actions).all()
    assert got.terminated.all()
    assert np.isfinite(got.reward).all() and np.isfinite(got.observations["actor"]).all()


def call(batch, w, layers=2, **options):
    return batch.collect(2, policy_of(layers, **options), w)


GOOD = weights("pi", (3, 4, 1), 0)


@pytest.mark.parametrize(
    ("given", "options", "error", "message"),
    [
        ({}, {"activation": "sine"}, ValueError, "mlp: activation is 'sine', expected tanh, elu, relu, silu, identity or a function"),
        ({}, {"form": "large"}, ValueError, "mlp: form is 'large', expected auto, traced, loops"),
        ({}, {"form": "loops", "activation": np.sin}, ValueError, "mlp: activation of loops is a function, expected tanh"),
        ({}, {"layers": 0}, ValueError, "mlp: layers is 0, expected 1 or more"),
        ({}, {"layers": 3}, AttributeError, "asks for weights pi_W2; there are pi_W0, pi_b0, pi_W1, pi_b1"),
        ({}, {"clip": 0.0}, ValueError, "mlp: clip is 0.0, expected above 0"),
        ({}, {"normaliser": "obs"}, AttributeError, "asks for weights obs_mean"),
        ({"pi_W0": np.zeros((4, 5))}, {}, ValueError, r"mlp: pi_W0 has shape (4, 5), expected (4, 3)"),
        ({"pi_W1": np.zeros((1, 5))}, {}, ValueError, r"mlp: pi_W1 has shape (1, 5), expected (1, 4)"),
        ({"pi_b1": np.zeros(2)}, {}, ValueError, r"mlp: pi_b1 has shape (2,), expected (1,)"),
        ({"obs_mean": np.zeros(2), "obs_rate": np.ones(3)}, {"normaliser": "obs"}, ValueError, r"mlp: obs_mean has shape (2,), expected (3,)"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(robot, given, options, error, message):
    with pytest.raises(error) as raised:
        call(begun(robot, 4), {**GOOD, **given}, **options)
    assert message in str(raised.value)


def test_more_layers_than_loops_take_are_refused(robot):
    w = weights("pi", (3, *[4] * 16, 1), 0)
    with pytest.raises(ValueError, match="network: 17 layers, expected 1 to 16"):
        call(begun(robot, 4), w, layers=17, form="loops")
