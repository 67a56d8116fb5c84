"""Runs of the learner: a task is learnt, a checkpoint goes on bit for bit, and what cannot be is refused."""

import csv
import dataclasses
import errno
import os
import re
import subprocess
import sys
import time

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.__main__ import main
from featherstorm._memory import arrays
from featherstorm.learning import files, training
from featherstorm.learning.settings import Settings, of_table, settings_of
from featherstorm.learning.training import EVALUATED, Training, resume
from robots import CartTask

pytest.importorskip("mujoco")
pytest.importorskip("gymnasium")
TASK = "InvertedPendulum-v5"
SMALL = Settings(
    envs=16,
    horizon=16,
    epochs=2,
    minibatch=128,
    actor=(16,),
    critic=(16, 16),
    entropy=0.01,
    evaluate=4,
    steps=16 * 16 * 12,
)


CLIMBING = Settings(algorithm="shac", envs=16, horizon=8, actor=(16,), critic=(16,), steps=16 * 8 * 6, evaluate=4)


def rows(folder):
    """The curve, without times."""
    with open(folder / "curve.csv", newline="") as file:
        return [
            {k: v for k, v in row.items() if k not in ("seconds", "collect", "values", "update")}
            for row in csv.DictReader(file)
        ]


def learnt(training):
    numbers, arrays = training.learner.state()
    return {name: x for name, x in numbers.items() if name != "seconds"}, arrays


def same(a, b):
    assert a[0] == b[0] and a[1].keys() == b[1].keys()
    for name, x in a[1].items():
        np.testing.assert_array_equal(x, b[1][name], name)


@pytest.mark.parametrize("algorithm", ["ppo", "sac", "shac"])
def test_a_pole_is_balanced_within_seconds(tmp_path, capsys, algorithm):
    words = ["train", TASK, "--out", str(tmp_path / "run")]
    assert main([*words, "--algorithm", algorithm, "--until", "950", "--minutes", "2"]) == 0
    told = capsys.readouterr().out
    assert "the return is reached" in told and "reward_survive" in told
    policy = fs.learning.Policy.load(tmp_path / "run" / "policy.npz")
    assert policy.task == TASK and policy.squash == (algorithm == "sac")
    assert policy.origin["algorithm"] == algorithm.upper() and policy.origin["evaluation"] >= 950
    batch = fs.tasks.make(TASK).batch(50)
    obs, total = batch.reset(seed=99)[0], np.zeros(50)
    for _ in range(1000):
        obs, reward, *_ = batch.step(policy(obs))
        total += reward
    assert total.mean() >= 900
    last = rows(tmp_path / "run")[-1]
    assert float(last["evaluation"]) >= 950 and int(last["steps"]) == policy.origin["steps"]
    if algorithm == "ppo":
        assert float(last["fell"]) < 0.1 and float(last["length"]) > 900
    if algorithm == "sac":
        assert float(last["alpha"]) > 0
    assert main([*words, "--algorithm", "ppo", "--resume"]) == 1
    assert "no --algorithm, and" in capsys.readouterr().err


@pytest.mark.parametrize("algorithm", ["PPO", "SHAC"])
def test_a_checkpoint_goes_on_bit_for_bit(tmp_path, algorithm):
    settings = SMALL if algorithm == "PPO" else CLIMBING
    whole = Training(TASK, tmp_path / "whole", settings, seed=3, threads=2)
    assert whole.run() == "steps"
    torn = Training(TASK, tmp_path / "torn", settings, seed=3, threads=1)
    for _ in range(3):
        torn.iterate()
    torn.save()
    for _ in range(2):
        torn.iterate()  # lost: the checkpoint is of before
    again = resume(TASK, tmp_path / "torn", threads=2)
    assert again.learner.name == algorithm and again.learner.iterations == 3
    assert again.run() == "steps"
    same(learnt(whole), learnt(again))
    assert rows(tmp_path / "whole") == rows(tmp_path / "torn")
    assert len(rows(tmp_path / "whole")) == whole.learner.iterations
    obs = np.random.default_rng(0).normal(size=(9, 4))
    a, b = (fs.learning.Policy.load(tmp_path / name / "policy.npz") for name in ("whole", "torn"))
    np.testing.assert_array_equal(a(obs), b(obs))


def test_a_checkpoint_goes_on_further_than_was_meant(tmp_path):
    Training(TASK, tmp_path, SMALL, seed=3).run()
    more = resume(TASK, tmp_path, steps=SMALL.steps + 256)
    before = learnt(more)[1]["actor/numbers"].copy()
    assert more.run() == "steps" and more.learner.iterations == 13
    assert (learnt(more)[1]["actor/numbers"] != before).any()


def test_a_run_goes_on_with_other_settings(tmp_path):
    half = SMALL.steps // 2
    first = Training(TASK, tmp_path, dataclasses.replace(SMALL, steps=half, noise=-1.0), seed=3)
    assert first.run() == "steps"
    words = ["train", TASK, "--resume", "--out", str(tmp_path), "--steps", str(SMALL.steps)]
    assert main([*words, "--set", "least_noise=-0.9", "--set", "rate=0.002", "--set", "kl=0"]) == 0
    again = resume(TASK, tmp_path)
    assert (
        again.settings == dataclasses.replace(SMALL, noise=-1.0, least_noise=-0.9, rate=0.002, kl=0.0)
        and again.learner.steps == SMALL.steps
    )
    np.testing.assert_array_equal(again.learner.log_std, np.float32(-0.9))
    assert {float(row["rate"]) for row in rows(tmp_path)[first.learner.iterations :]} == {0.002}


class Hovering(CartTask):
    """A cart that is to stay near a place that it does not see, with a penalty of what pushes it."""

    steps, action_range = 40, (-2.0, 2.0)
    memory = {"place": 1}

    def __init__(self):
        self.weights = {"near": 1.0, "cost": -10.0}

    def reset(self, m, rng):
        m.place = rng.uniform(-1, 1)
        return rng.uniform(-1, 1, 2), np.zeros(2)

    def reward(self, x, a, m):
        return {
            "near": self.weights["near"] * np.exp(-((x.q[0] - m.place[0]) ** 2)),
            "cost": self.weights["cost"] * a[0] ** 2,
        }

    def observe(self, x, m, rng):
        return [*x.q, *x.v]


def test_lessons_are_of_the_same_episodes_and_go_on_bit_for_bit(tmp_path, monkeypatch):
    """Three iterations with a tenth of the penalty, three with a half, then all of it."""
    monkeypatch.setitem(fs.tasks.NAMES.makers, "Hovering", Hovering)
    settings = Settings(
        envs=16,
        horizon=16,
        minibatch=128,
        actor=(8,),
        critic=(8,),
        evaluate=4,
        lessons=(0.1, 0.5),
        lesson=768,
        steps=2304,
    )
    whole = Training("Hovering", tmp_path / "whole", settings)
    factors, episodes = [], []
    for k in range(9):
        if k in (3, 6):  # the state goes over as it is
            before = whole.learner.env.snapshot()
            whole.next_lesson()
            assert whole.learner.env.snapshot().keys() == before.keys()
            for name, x in whole.learner.env.snapshot().items():
                np.testing.assert_array_equal(x, before[name])
        whole.iterate()
        factors.append(whole.factor)
        episodes.append(int(whole.learner.env.episode.max()))
        cost = whole.learner.env.task.weights["cost"]
        assert cost == pytest.approx(-10.0 * whole.factor) and whole.others.task.weights["cost"] == -10
    assert factors == [0.1] * 3 + [0.5] * 3 + [1.0] * 3 and episodes == sorted(episodes) and episodes[-1] > 2
    for stop in (2, 3, 5):
        again = Training("Hovering", tmp_path / str(stop), settings)
        for _ in range(stop):
            again.iterate()
        again.save()
        again = resume("Hovering", tmp_path / str(stop))
        assert again.run() == "steps"
        same(learnt(whole), learnt(again))


def test_another_seed_is_another_run(tmp_path):
    a, b = (Training(TASK, tmp_path / str(seed), SMALL, seed=seed) for seed in (0, 1))
    a.iterate(), b.iterate()
    assert (learnt(a)[1]["actor/numbers"] != learnt(b)[1]["actor/numbers"]).mean() > 0.5


def test_groups_and_time_limits_are_learnt_with(tmp_path):
    """A task with an observation of the critic's own, whose episodes are cut by a time limit alone."""

    class Cart(CartTask):
        steps, action_range = 10, (-2.0, 2.0)

        def reward(self, x, a, m):
            return {"near": -((x.q[0] - 1.0) ** 2), "cost": -0.01 * a[0] ** 2}

        def observe(self, x, m, rng):
            return {"actor": [x.q[0], x.v[0]], "critic": [*x.q, *x.v, x.q[0] * x.q[0]]}

    from featherstorm.learning.ppo import PPO

    ppo = PPO(Cart().batch(8), Settings(envs=8, horizon=16, minibatch=64, actor=(8,), critic=(8,), spread=False), 0)
    got = ppo.acting.collect(ppo.env, 16, ppo.actor, ppo.log_std, ppo.seen, True, True)
    assert got.truncated[9].all() and got.truncated.sum() == 8 and not got.terminated.any()
    assert np.abs(got.actions).max() <= 2
    np.testing.assert_allclose(got.actions[..., 0], np.clip(2 * got.more["chosen"], -2, 2), rtol=1e-6)
    ppo.ends(got)
    ppo.prepare(got, ppo.scale)
    samples = ppo.samples[0]
    # targets by the sum of what follows, step by step
    value = ppo.critic(np.clip(got.observations["critic"].reshape(-1, 5), -10, 10)).reshape(17, 8)
    last = ppo.critic(np.clip(got.final_observations["critic"][9], -10, 10))[:, 0]
    scale = 1 / np.sqrt(ppo.returns.variance[0] + 1e-8)
    s, target = ppo.settings, samples.target.reshape(16, 8)
    assert np.abs(target[9] - (got.reward[9] * scale + s.discount * last)).max() < 1e-4
    after = value[16]
    for t in range(15, 9, -1):
        expected = got.reward[t] * scale + s.discount * after
        assert np.abs(target[t] - expected).max() < 1e-4
        after = (1 - s.trace) * value[t] + s.trace * expected
    told = ppo.iteration()
    assert np.isfinite([told["kl"], told["loss"]]).all() and ppo.seen_by_critic.count == 16 * 8


def test_the_gradient_is_that_of_the_loss(tmp_path):
    t = Training(TASK, tmp_path, SMALL, seed=1)
    ppo, s = t.learner, SMALL
    ppo.iteration()
    got = ppo.acting.collect(ppo.env, 16, ppo.actor, ppo.log_std, ppo.seen, True, True)
    ppo.ends(got)
    ppo.prepare(got, ppo.scale)
    x = ppo.samples[0]
    rng = np.random.default_rng(0)
    x = x._replace(
        log_prob=x.log_prob + rng.normal(0, 0.1, len(x.log_prob)).astype(np.float32)
    )  # ratios of both sides of 1
    at = np.arange(len(x.x))

    def losses():
        mean = ppo.actor(x.x).astype(float)
        z = (x.chosen - mean) / np.exp(ppo.log_std.astype(float))
        log_prob = (-0.5 * z**2 - ppo.log_std - 0.5 * np.log(2 * np.pi)).sum(1)
        ratio = np.exp(log_prob - x.log_prob)
        surrogate = np.minimum(ratio * x.advantage, np.clip(ratio, 1 - s.clip, 1 + s.clip) * x.advantage)
        return -surrogate.sum() - s.entropy * len(at) * ppo.log_std.sum(), 0.5 * (
            (ppo.critic(x.xc)[:, 0] - x.target) ** 2
        ).sum()

    actor, critic, told = ppo.gradient(x, at, (np.float32(0), np.float32(1)))
    assert told[2] == pytest.approx(losses()[1], rel=1e-4) and 0 < told[1] < len(at)
    for adam, gradient, which in ((ppo.actor_adam, actor, 0), (ppo.critic_adam, critic, 1)):
        for k in [*rng.integers(0, len(gradient), 6), len(gradient) - 1]:
            kept, h = adam.numbers[k], np.float32(1e-3)
            adam.numbers[k] = kept + h
            above = losses()[which]
            adam.numbers[k] = kept - h
            below = losses()[which]
            adam.numbers[k] = kept
            assert gradient[k] == pytest.approx(
                (above - below) / (2 * float(h)), rel=3e-2, abs=2e-3 * float(np.abs(gradient).max())
            )


# ---- what is refused ----


def test_what_cannot_be_is_refused(tmp_path, capsys):
    def refused(sentence, *words):
        assert main(["train", *words]) == 1
        told = capsys.readouterr().err
        assert sentence in told, told

    out = str(tmp_path / "run")
    refused("there is no task 'Hoper-v5'; did you mean", "Hoper-v5", "--out", out)
    refused("no file", TASK, "--out", out, "--resume")
    refused("--minutes is 0", TASK, "--minutes", "0", "--out", out)
    refused("--set is 'envs', expected NAME=VALUE", TASK, "--set", "envs", "--out", out)
    refused("there is no 'cats'; there are algorithm, envs", TASK, "--set", "cats=3", "--out", out)
    refused("envs is 'many', expected a number", TASK, "--set", "envs=many", "--out", out)
    refused("anneal is 'maybe', expected yes or no", TASK, "--set", "anneal=maybe", "--out", out)
    refused("horizon is 0, expected 1 or more", TASK, "--set", "horizon=0", "--out", out)
    refused("activation is 'sin', expected one of tanh", TASK, "--set", "activation=sin", "--out", out)
    refused("lessons are (2.0,), expected factors above 0", TASK, "--set", "lessons=2", "--out", out)
    refused("InvertedPendulum-v5 has no `weights`", TASK, "--set", "lessons=0.1", "--out", out)
    refused("seed is -1", TASK, "--seed", "-1", "--out", out)
    assert not os.path.exists(out)
    (tmp_path / "file").write_text("")
    refused("is not a folder", TASK, "--out", str(tmp_path / "file"))
    Training(TASK, out, SMALL).save()
    refused("there is a run in", TASK, "--out", out)
    refused("a checkpoint of InvertedPendulum-v5, expected Hopper-v5", "Hopper-v5", "--out", out, "--resume")
    refused("expected no --algorithm", TASK, "--out", out, "--resume", "--algorithm", "ppo")
    refused("expected float32 (3, 2)", TASK, "--out", out, "--resume", "--set", "envs=3")


def test_a_training_that_needs_more_memory_than_is_free_is_refused_at_once(tmp_path, capsys, monkeypatch):
    for change in ("envs=1e9", "actor=9999999,99999", "memory=1e12"):
        words = ["--algorithm", "sac"] if change.startswith("memory") else []
        start = time.process_time()  # of this process, however busy the machine is
        assert main(["train", TASK, *words, "--set", change, "--out", str(tmp_path / "run")]) == 1
        assert time.process_time() - start < 1
        told = capsys.readouterr().err
        assert told.startswith("featherstorm train: train: ") and "GB of memory are needed, and" in told
        assert told.count("\n") == 1
    assert not (tmp_path / "run").exists()
    monkeypatch.setattr(arrays, "free_memory", lambda: 10**9)
    with pytest.raises(
        MemoryError, match="20000000 environments: .* GB of memory are needed, and 1 GB are free; make fewer"
    ):
        fs.tasks.make(TASK).batch(2 * 10**7)
    numbers = dataclasses.replace(SMALL, envs=10**6)
    assert numbers.least_memory(4, 1) > 4 * 10**6 * 16 * 9 > numbers.least_memory(1, 1)
    with pytest.raises(MemoryError, match="train: "):
        Training(TASK, tmp_path / "run", dataclasses.replace(SMALL, envs=1_000_000, horizon=30))


def test_a_torn_checkpoint_is_refused(tmp_path):
    Training(TASK, tmp_path, SMALL).save()
    path = tmp_path / "checkpoint.npz"
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="not a featherstorm checkpoint, or damaged"):
        resume(TASK, tmp_path)
    path.write_bytes(whole)
    with np.load(path) as found:
        arrays = {name: found[name] for name in found.files}
    del arrays["env/q"]
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match="cannot resume InvertedPendulum-v5 from this checkpoint: restore: arrays are"):
        resume(TASK, tmp_path)


def test_a_full_disk_is_told_and_the_old_file_stays(tmp_path, monkeypatch, capsys):
    t = Training(TASK, tmp_path, SMALL)
    t.save()
    before = (tmp_path / "checkpoint.npz").read_bytes()

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device while writing: '.*checkpoint.npz'"):
        t.save()
    assert (tmp_path / "checkpoint.npz").read_bytes() == before
    assert not list(tmp_path.glob("*.part"))
    assert main(["train", TASK, "--steps", "100", "--out", str(tmp_path / "other")]) == 1
    assert "No space left on device" in capsys.readouterr().err


def test_a_training_goes_on_when_the_disk_was_full_for_a_while(tmp_path, monkeypatch):
    """The first four files find no space: a policy, and checkpoints."""
    monkeypatch.setattr(training, "PAUSE", 0.0)
    fsync, full = os.fsync, []

    def sometimes(descriptor):
        if len(full) < 4:
            full.append(descriptor)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    monkeypatch.setattr(files.os, "fsync", sometimes)
    t = Training(TASK, tmp_path, dataclasses.replace(SMALL, evaluate=1))
    with pytest.warns(fs.Notice, match=r"policy.npz'; the policy is written with the next checkpoint") as told:
        assert t.run() == "steps"
    assert len(full) == 4 and any("policy.npz'; the training goes on" in str(w.message) for w in told)
    assert t.learner.iterations == 12 and t.unwritten is None
    assert fs.learning.Policy.load(tmp_path / "policy.npz").origin["evaluation"] == t.best
    assert len(rows(tmp_path)) == 12 and resume(TASK, tmp_path).learner.iterations == 12


def test_progress_tells_each_evaluation_where_there_is_no_terminal(tmp_path, capsys):
    t = Training(TASK, tmp_path, dataclasses.replace(SMALL, evaluate=4))
    assert re.fullmatch(rf"<featherstorm.learning.Training {TASK}: seed 0, 0 of [\d,]+ control steps, in .*>", repr(t))
    with fs.learning.progress(t) as told:
        t.run(told=told)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and all(
        re.fullmatch(r" *[\d.]+ s +[\d,]+ steps  evaluation +[\d.]+", line) for line in lines
    )


def test_a_short_training_leaves_a_policy(tmp_path, capsys):
    """Both end before an evaluation is due: one before its first iteration, and one after some."""
    assert main(["train", TASK, "--minutes", "1e-9", "--out", str(tmp_path / "none")]) == 0
    assert "best evaluation" in capsys.readouterr().out
    t = Training(TASK, tmp_path / "few", dataclasses.replace(SMALL, evaluate=1000, steps=10**9))
    assert t.run((time.perf_counter() - t.start) / 60 + 1e-3) == "minutes"
    for name in ("none", "few"):
        assert fs.learning.Policy.load(tmp_path / name / "policy.npz").task == TASK
    assert t.best == float(rows(tmp_path / "few")[-1]["evaluation"])


def test_a_second_training_in_a_folder_is_refused(tmp_path):
    """Another process trains there; after it was killed, its lock and its incomplete files do not matter."""
    code = f"import featherstorm as fs; fs.learning.Training({TASK!r}, {str(tmp_path)!r}).run(told=lambda row: print('.', flush=True))"
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == ".\n"
        with pytest.raises(FileExistsError, match=f"train: process {other.pid} is training in .*choose another folder"):
            Training(TASK, tmp_path, SMALL)
    finally:
        other.kill()
        other.communicate()
    (tmp_path / "checkpoint.npz.0123456789ab.part").write_text("torn")
    t = Training(TASK, tmp_path, SMALL)
    assert t.run() == "steps" and not list(tmp_path.glob("*.part"))
    assert Training(TASK, tmp_path, SMALL, going_on=True).run() == "steps"


def test_settings_are_what_their_texts_say():
    s = Settings().changed({"envs": "1e3", "actor": "128,64", "anneal": "yes", "rate": "3e-4", "activation": "elu"})
    assert (s.envs, s.actor, s.anneal, s.rate, s.activation) == (1000, (128, 64), True, 3e-4, "elu")
    assert of_table(s.as_table()) == s
    with pytest.raises(ValueError, match="there is no colour"):
        of_table({"colour": 3})
    assert settings_of("no such task") == Settings()


def test_evaluations_are_the_same_episodes_each_time(tmp_path):
    t = Training(TASK, tmp_path, SMALL, seed=3)
    a = t.evaluate()
    assert EVALUATED + 3 != 3 and a.returns.std() > 0
    np.testing.assert_array_equal(a.returns, t.evaluate().returns)
    t.policy().save(tmp_path / "policy.npz")
    b, terms = t.confirm()  # another seed, by numpy
    assert terms["reward_survive"] == pytest.approx(b.mean) and (b.returns != a.returns).any()
    assert abs(a.mean - b.mean) < 4 * a.returns.std() / 10 + 1
