"""Policies: what they compute, their files, and those that are no such files."""

import contextlib
import io
import json
import zipfile

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.environment.networks import LEARNT
from featherstorm.learning.acting import Normaliser
from featherstorm.learning.network import Network, orthogonal

N, M = 5, 3


def policy(activation="tanh", bounded=False, **more):
    rng = np.random.default_rng(3)
    weights = [w + rng.normal(0, 0.1, w.shape) for w in orthogonal(rng, (N, 16, 8, M), 1.0)]
    low, high = np.array([-0.4, -np.inf, -1]), np.array([0.4, np.inf, 0.2])
    if bounded:
        low, high = np.array([-0.4, 2, -1]), np.array([0.4, 5, 0.2])
    return fs.learning.Policy(
        weights, activation, rng.normal(size=N), rng.uniform(0.1, 4, N), np.full(M, -1.0), low, high, **more
    )


def observations():
    x = np.random.default_rng(4).normal(0, 3, (50, N))
    x[0] = 1e3  # beyond what is normalised
    return x


SLOW = {
    "tanh": np.tanh,
    "elu": lambda x: np.array([[v if v > 0 else np.expm1(v) for v in row] for row in x]),
    "relu": lambda x: x * (x > 0),
    "silu": lambda x: x / (1 + np.exp(-x)),
}


@pytest.mark.parametrize("activation", LEARNT)
def test_an_action_is_the_networks_within_its_range(activation):
    p, obs = policy(activation), observations()
    x = np.clip((obs - p.mean) / np.sqrt(p.variance + 1e-8), -10, 10)
    for k in range(3):
        x = x @ p.weights[2 * k].astype(float).T + p.weights[2 * k + 1]
        x = SLOW[activation](x) if k < 2 else x
    got = p(obs)
    assert got.dtype == np.float32 and got.shape == (50, M)
    assert np.abs(got - np.clip(x, p.low, p.high)).max() < 1e-5
    assert (got[:, 0] == p.low[0]).any() and np.abs(got[:, 1]).max() > 0.5
    assert np.abs(p(obs.reshape(5, 10, N)).reshape(50, M) - got).max() < 1e-6
    assert np.abs(p(obs[7]) - got[7]).max() < 1e-6


def test_a_squashed_action_is_tanh_of_the_networks_over_its_range():
    p, obs = policy(bounded=True, squash=True), observations()
    y, _ = p.network.forward(np.clip((obs - p.mean) / np.sqrt(p.variance + 1e-8), -10, 10))
    share = (p(obs) - p.low) / (p.high - p.low)
    assert np.abs(share - (np.tanh(y) + 1) / 2).max() < 1e-5
    assert (p(1e6 * obs) >= p.low).all() and (p(1e6 * obs) <= p.high).all()
    with pytest.raises(ValueError, match="expected a finite range with squash"):
        policy(squash=True)


def test_squashed_policies_are_told_in_files_that_earlier_versions_refuse(tmp_path):
    p, path = policy(bounded=True, squash=True), tmp_path / "p.npz"
    p.save(path)
    q = fs.learning.Policy.load(path)
    assert q.squash and np.array_equal(q(observations()), p(observations()))
    with np.load(path) as found:
        assert json.loads(str(found["header"]))["format"] == 2
    # files of before have no word of it
    policy().save(path)
    with np.load(path) as found:
        arrays = {name: found[name] for name in found.files}
    told = json.loads(str(arrays["header"]))
    assert told["format"] == 1 and told.pop("squash") is False
    np.savez(path, **{**arrays, "header": np.array(json.dumps(told))})
    q = fs.learning.Policy.load(path)
    assert not q.squash and np.array_equal(q(observations()), policy()(observations()))


def test_groups_of_observations_are_told_by_name():
    p, obs = policy(group="actor"), observations()
    assert np.array_equal(p({"actor": obs, "critic": obs[:, :2]}), p(obs))
    with pytest.raises(ValueError, match="observations are critic, expected 'actor' among them"):
        p({"critic": obs})
    with pytest.raises(ValueError, match=r"observations have shape \(50, 4\), expected \(..., 5\)"):
        p(obs[:, :4])


@pytest.mark.parametrize("activation", LEARNT)
def test_a_file_holds_all_of_a_policy(activation, tmp_path):
    p = policy(activation, group="actor", task="Ant-v5", settings={"a": [1, 2]}, origin={"seed": 3, "version": "x"})
    p.save(tmp_path / "p.npz")
    q = fs.learning.Policy.load(tmp_path / "p.npz")
    assert np.array_equal(q(observations()), p(observations()))
    assert (q.activation, q.group, q.task, q.settings, q.origin) == (
        activation,
        "actor",
        "Ant-v5",
        {"a": [1, 2]},
        p.origin,
    )
    assert np.array_equal(q.log_std, p.log_std) and q.sizes == [N, 16, 8, M]
    assert [x.name for x in tmp_path.iterdir()] == ["p.npz"]


class Evil:
    def __reduce__(self):
        return (exec, ("raise SystemExit",))


def changed(path, header=None, drop=(), **arrays):
    """A policy's file with some of its contents replaced."""
    with np.load(path) as found:
        kept = {name: found[name] for name in found.files if name not in drop}
    told = json.loads(str(kept["header"]))
    kept["header"] = np.array(json.dumps({**told, **(header or {})}))
    np.savez(path, **{**kept, **arrays})


def test_what_is_no_policy_is_refused(tmp_path):
    path, load = tmp_path / "p.npz", fs.learning.Policy.load
    with pytest.raises(FileNotFoundError):
        load(path)

    def refused(sentence, **change):
        policy().save(path)
        changed(path, **change)
        with pytest.raises(ValueError, match=sentence) as error:
            load(path)
        assert str(path) in str(error.value)

    refused("'W1' is missing", drop=("W1",))
    refused("not a featherstorm policy", header={"kind": "soup"})
    refused("format is 99, expected 1 to 2", header={"format": 99})
    refused("layers is 1000000000", header={"layers": 10**9})
    refused("layers is 'three'", header={"layers": "three"})
    refused("activation is 'sin'", header={"activation": "sin"})
    refused("expected strings", header={"task": 7})
    refused("expected true or false for squash", header={"squash": 1})
    refused("expected a finite range with squash", header={"squash": True})
    refused("expected dicts", header={"settings": 7})
    refused(r"W_1 has shape \(3, 3\), expected \(8, 16\)", W1=np.ones((3, 3)))
    refused(r"mean has shape \(2,\), expected \(5,\)", mean=np.zeros(2))
    refused("weights has numbers that are not finite", b0=np.full(16, np.nan))
    refused("variance of 0 or more", variance=-np.ones(N))
    refused("damaged: Object arrays cannot be loaded", mean=np.array([Evil()], dtype=object))
    refused("expected numbers in mean", mean=np.array(["a"]))


def test_a_torn_file_is_refused(tmp_path):
    path = tmp_path / "p.npz"
    policy().save(path)
    whole = path.read_bytes()
    for n in (0, 1, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:n])
        with pytest.raises(ValueError, match="not a featherstorm policy, or damaged"):
            fs.learning.Policy.load(path)
    bad = bytearray(whole)
    bad[-6:-2] = (int.from_bytes(whole[-6:-2], "little") + 1000).to_bytes(4, "little")  # place of the directory
    path.write_bytes(bad)
    with pytest.raises(ValueError, match="not a featherstorm policy, or damaged"):
        fs.learning.Policy.load(path)
    rng = np.random.default_rng(0)
    for _ in range(200):
        bad = bytearray(whole)
        bad[rng.integers(len(bad))] ^= 1 << rng.integers(8)
        path.write_bytes(bad)
        with contextlib.suppress(ValueError):  # and no other error; a changed date hurts nobody
            fs.learning.Policy.load(path)


def test_a_file_that_would_fill_the_memory_is_refused(tmp_path):
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, {"descr": "<f4", "fortran_order": False, "shape": (2**27,)})
    with zipfile.ZipFile(tmp_path / "p.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("W0.npy", text.getvalue() + bytes(2**29))
    with pytest.raises(ValueError, match=r"its arrays have 536871040 bytes, expected 268435456 at most"):
        fs.learning.Policy.load(tmp_path / "p.npz")


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path):
    with pytest.raises(OSError, match="while writing.*nowhere"):
        policy().save(tmp_path / "nowhere" / "p.npz")


@pytest.mark.parametrize("squash", [False, True])
@pytest.mark.parametrize("activation", LEARNT)
def test_onnx_computes_the_same(activation, squash, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    p, obs = (
        policy(activation, squash, squash=squash, task="Hopper-v5", group="actor"),
        observations().astype(np.float32),
    )
    p.to_onnx(tmp_path / "p.onnx")
    session = runtime.InferenceSession(tmp_path / "p.onnx", providers=["CPUExecutionProvider"])
    (got,) = session.run(["action"], {"observation": obs})
    assert np.abs(got - p(obs)).max() < 1e-5
    assert session.run(None, {"observation": obs[:1]})[0].shape == (1, M)
    assert session.get_modelmeta().custom_metadata_map == {"task": "Hopper-v5", "group": "actor"}


@pytest.mark.parametrize("activation", LEARNT)
def test_gradients_are_those_of_differences(activation):
    rng = np.random.default_rng(1)
    weights = [w.astype(float) + rng.normal(0, 0.1, w.shape) for w in orthogonal(rng, (4, 7, 6, 2), 1.0)]
    net, x, g = Network(weights, activation), rng.normal(size=(9, 4)), rng.normal(size=(9, 2))
    y, kept = net.forward(x)
    assert np.allclose(y, net(x), rtol=0, atol=1e-12)
    gradients = net.backward(kept, g)
    for w, gw in zip(weights, gradients):
        for _ in range(4):
            at = tuple(rng.integers(n) for n in w.shape)
            value, h = w[at], 1e-6
            w[at] = value + h
            above = (net(x) * g).sum()
            w[at] = value - h
            below = (net(x) * g).sum()
            w[at] = value
            assert abs((above - below) / (2 * h) - gw[at]) < 1e-6 * max(1, abs(gw[at]))


def test_running_mean_and_variance_are_those_of_all_rows():
    x = np.random.default_rng(2).normal([3, -1, 1e3], [2, 0.1, 5], (1000, 3))
    running = Normaliser(3)
    for rows in np.split(x, [1, 10, 500]):
        running.update(rows)
    assert np.allclose(running.mean, x.mean(0), rtol=1e-12) and np.allclose(running.variance, x.var(0), rtol=1e-9)
    assert running.count == 1000
    assert np.abs(running(x) - (x - x.mean(0)) / x.std(0)).max() < 1e-4
