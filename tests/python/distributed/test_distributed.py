"""Environments and PPO on the workers of a Ray cluster: the bits of one process, whatever happens to the workers."""

import contextlib
import dataclasses

import numpy as np
import pytest
import ray

import featherstorm as fs
from featherstorm.__main__ import main
from featherstorm.learning import Training, resume
from featherstorm.learning.settings import Settings

pytest.importorskip("gymnasium")

from featherstorm.distributed import Workers
from featherstorm.distributed.workers import begin_ray

TASK = "InvertedPendulum-v5"
# chunks of 2 and 3 environments, minibatches of unequal size; lessons change the environments
SMALL = Settings(
    envs=20, horizon=8, epochs=2, minibatch=50, chunks=7, actor=(16,), critic=(16,), steps=20 * 8 * 4, evaluate=100
)
GO1 = dataclasses.replace(
    SMALL, envs=9, chunks=4, mirror=True, anneal=True, lessons=(0.5,), lesson=9 * 8, critic=(8,), entropy=0.01
)
ITERATIONS = 3


def numbers_of(training):
    """All numbers that further iterations depend on, as bytes by name."""
    numbers, arrays = training.learner.state()
    found = {name: np.ascontiguousarray(x).tobytes() for name, x in arrays.items()}
    return {**found, **{name: numbers[name] for name in ("steps", "iterations", "rate", "updates")}}


def trained(folder, task=TASK, settings=SMALL, workers=None, each=lambda k: None, threads=None):
    """Numbers and the last row of a training after a few iterations; each(k) is called before iteration k."""
    training = Training(task, folder, settings, seed=3, threads=threads, workers=workers)
    rows = []
    for k in range(ITERATIONS):
        each(k)
        training.iterate(rows.append)
    return numbers_of(training), rows[-1]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Numbers of the run in this process."""
    return trained(tmp_path_factory.mktemp("alone"))[0]


@pytest.mark.parametrize("count", [1, 2, 4])
def test_a_run_has_the_bits_of_one_process(cluster, tmp_path, expected, count):
    with Workers(count) as workers:
        found, row = trained(tmp_path, workers=workers)
        assert found == expected
        assert (row["workers"], row["retries"]) == (count, 0) and row["slowest"] >= 1
        assert workers.sent > 0 and workers.received > 0


def test_a_quadruped_with_lessons_has_the_bits_of_one_process(cluster, tmp_path):
    """Two groups of observations, symmetric networks, and other environments after the first lesson."""
    expected = trained(tmp_path / "alone", "Go1JoystickFlat", GO1, threads=1)[0]
    with Workers(2) as workers:
        assert trained(tmp_path / "workers", "Go1JoystickFlat", GO1, workers)[0] == expected


@pytest.mark.parametrize("call", ["restore", "steps", "prepare", "gradients"])
def test_a_worker_that_ends_in_an_iteration_is_replaced(cluster, tmp_path, expected, ending, call):
    """Its environments are computed again from the snapshot of the iteration's beginning."""
    with Workers(2) as workers:
        ended = ending(workers, call, 1, when=lambda: workers.held is not None and len(workers.journal) > 2)

        def other_state(k):
            if call == "restore" and k == 1:  # else the workers have the state, and nothing is restored
                workers.held = object()

        found, row = trained(tmp_path, workers=workers, each=other_state)
        assert ended and found == expected
        assert (row["workers"], row["retries"]) == (2, 1)


def test_a_node_that_joins_gets_environments_and_one_that_leaves_loses_them(cluster, tmp_path, expected):
    joined = []

    with Workers("auto") as workers:

        def change(k):
            if k == 1:
                assert len(workers.actors) == 2
                joined.append(cluster.add_node(num_cpus=2, object_store_memory=10**8, wait=False))
                cluster.wait_for_nodes(timeout=300)
            if k == 2:
                assert len(workers.actors) == 3
                cluster.remove_node(joined[0])
                workers.patience = 5.0  # for another place

        found, row = trained(tmp_path, workers=workers, each=change)
        assert found == expected
        assert row["workers"] == 2


def test_a_worker_without_an_answer_is_lost_and_a_slow_one_is_told(cluster):
    with Workers(3, limit=5.0) as workers:
        env = workers.batch(fs.tasks.make(TASK), 6, seed=1)
        env.reset()
        workers.slowest()
        seconds = {0: [1.0], 2: [0.0], 4: [0.0]}
        workers.call(workers.to_all("wait", own=lambda chunks: (seconds[chunks.first].pop(),)))
        assert workers.slowest() > 2
        seconds = {0: [0.0, 100.0], 2: [0.0], 4: [0.0]}
        workers.call(workers.to_all("wait", own=lambda chunks: (seconds[chunks.first].pop(),)))
        assert workers.retries == 1 and len(workers.actors) == 3


def test_collected_steps_are_those_of_one_batch(cluster):
    task = fs.tasks.make(TASK)
    alone = task.batch(11, seed=4, dtype="float64")
    weights = {"w": [[0.5, -2.0, 0.1, 0.3]]}

    def policy(obs, w, rng):
        return {"action": w.w @ obs + rng.normal(size=1), "double": 2 * obs[1]}

    def same(found, expected):
        for name, x, y in zip(expected._fields, found, expected):
            for key in y if isinstance(y, dict) else [None]:
                a, b = (x, y) if key is None else (x[key], y[key])
                assert (a is None and b is None) or np.array_equal(a, b), (name, key)

    with Workers(3) as workers:
        env = workers.batch(task, 11, seed=4, dtype="float64")
        with pytest.raises(RuntimeError, match=r"collect\(\) before reset\(\)"):
            env.collect(2, policy, weights)
        assert np.array_equal(env.reset()[0], alone.reset()[0])
        for finals in (True, False):
            same(env.collect(30, policy, weights, finals), alone.collect(30, policy, weights, finals))
        kept = env.snapshot()
        assert all(np.array_equal(kept[name], x) for name, x in alone.snapshot().items())
        env.episode_length[:] = alone.episode_length[:] = np.arange(11) + 900
        same(env.collect(30, policy, weights), alone.collect(30, policy, weights))
        env.restore(kept), alone.restore(kept)
        same(env.collect(3, policy, weights), alone.collect(3, policy, weights))
        assert np.array_equal(env.reset(seed=9)[0], alone.reset(seed=9)[0])
        some, seeds = np.arange(11) % 4 == 1, [None, *range(2**33, 2**33 + 10)]
        assert np.array_equal(env.reset(mask=some)[0], alone.reset(mask=some)[0])
        same(env.collect(3, policy, weights), alone.collect(3, policy, weights))
        for mask in (some, np.arange(11) < 2, None):
            assert np.array_equal(env.reset(seed=seeds, mask=mask)[0], alone.reset(seed=seeds, mask=mask)[0])
            same(env.collect(3, policy, weights), alone.collect(3, policy, weights))
        with pytest.raises(ValueError, match=r"reset: mask is bool of shape \(3,\), expected bool \(11,\)"):
            env.reset(mask=some[:3])
        with pytest.raises(ValueError, match="reset: seed has 3 numbers, expected one or 11"):
            env.reset(seed=[1, 2, 3])
        with pytest.raises(RuntimeError, match=r"reset\(\) with a mask before a reset of all"):
            workers.batch(task, 11).reset(mask=some)
        with pytest.raises(ValueError, match="the snapshot is not one of"):
            env.restore({})
        assert repr(workers) == "<featherstorm.distributed.Workers: 3 workers, 0 retries>"
        assert "11 environments" in repr(env)

        def wrong(obs, w, rng):
            return {"none": obs}

        with pytest.raises(ValueError, match="expected an action among them"):
            env.collect(2, wrong)
        same(env.collect(3, policy, weights), alone.collect(3, policy, weights))


@pytest.mark.parametrize("episodes", [100, 1])
def test_evaluations_are_those_of_one_process(cluster, tmp_path, monkeypatch, ending, episodes):
    """Also of a worker that is lost, and where there are more workers than episodes; lessons have another task."""
    monkeypatch.setattr("featherstorm.learning.training.EPISODES", episodes)
    settings = dataclasses.replace(GO1, envs=4, chunks=2, mirror=False, evaluate=1, steps=3 * 8 * 4)
    task = "Go1JoystickFlat"
    alone = Training(task, tmp_path / "alone", settings, seed=3)
    with Workers(2) as workers:
        training = Training(task, tmp_path / "run", settings, seed=3, workers=workers)
        ended = ending(workers, "evaluation", 1, after=1)
        first = training.evaluate()  # before the first iteration
        assert all(np.array_equal(x, y) for x, y in zip(first, alone.evaluate())) and len(first.returns) == episodes
        for k in range(3):
            rows = []
            for x in (training, alone):
                x.iterate(rows.append)
            assert all(rows[0][name] == rows[1][name] for name in ("evaluation", "evaluation_std", "length", "fell")), k
        assert ended and workers.retries == 1
        assert numbers_of(training) == numbers_of(alone)


def test_a_run_goes_on_in_one_process(cluster, tmp_path):
    """A checkpoint does not say how many workers there were."""
    alone = Training(TASK, tmp_path / "alone", SMALL, seed=3)
    alone.run()
    settings = dataclasses.replace(SMALL, steps=SMALL.steps // 2)
    with Workers(2) as workers:
        Training(TASK, tmp_path / "run", settings, seed=3, workers=workers).run()
    training = resume(TASK, tmp_path / "run", steps=SMALL.steps)
    training.run()
    assert numbers_of(training) == numbers_of(alone)


def test_the_command_trains_on_workers(cluster, tmp_path, capsys):
    settings = [f"--set={x}" for x in ("envs=16", "horizon=8", "minibatch=64", "chunks=2", "evaluate=1")]
    out = str(tmp_path / "run")
    assert main(["train", TASK, "--workers", "2", "--steps", "128", "--out", out, *settings]) == 0
    told = capsys.readouterr().out
    assert "workers 2  retries 0  slowest 1." in told
    header = (tmp_path / "run" / "curve.csv").read_text().splitlines()[0].split(",")
    assert {"workers", "retries", "slowest"} <= set(header)


@pytest.mark.parametrize("failures", [2, 3])
def test_a_cluster_that_does_not_start_is_tried_again(monkeypatch, failures):
    calls = []

    def init(**options):
        calls.append(options)
        if sum(x != "shutdown" for x in calls) <= failures:
            raise Exception("The current node timed out during startup")

    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    monkeypatch.setenv("RAY_gcs_server_port_wait_time_s", "300")
    monkeypatch.setattr(ray, "init", init)
    monkeypatch.setattr(ray, "shutdown", lambda: calls.append("shutdown"))
    refused = pytest.raises(ConnectionError, match="no Ray cluster started on this machine in 3 attempts")
    notice = pytest.warns(fs.Notice, match="Ray did not start .*; another attempt follows")
    with notice, refused if failures == 3 else contextlib.nullcontext():
        begin_ray(None)
    assert [x if x == "shutdown" else x["address"] for x in calls].count("local") == 3
    assert calls.count("shutdown") == failures


def test_what_cannot_be_is_refused(cluster, tmp_path, capsys):
    with pytest.raises(ValueError, match="Workers: count is 0, expected auto, or a number of 1 or more"):
        Workers(0)
    with Workers(8) as workers:
        with pytest.raises(ValueError, match="count is 8, expected at most 7, the chunks of the run"):
            Training(TASK, tmp_path / "many", SMALL, workers=workers)
        with pytest.raises(ValueError, match="Workers: algorithm is sac, expected ppo"):
            Training(TASK, tmp_path / "sac", dataclasses.replace(SMALL, algorithm="sac"), workers=workers)
    with pytest.raises(SystemExit):
        main(["train", TASK, "--workers", "many"])
    assert "--workers: 'many', expected auto or a whole number above 0" in capsys.readouterr().err
