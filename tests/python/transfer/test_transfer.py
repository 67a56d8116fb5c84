"""A policy's episodes in both engines: figures, conditions, files, the command."""

import csv
import functools
import io
import json
import pathlib

import numpy as np
import pytest

pytest.importorskip("mujoco")

import mujoco
from transfer_tasks import Everything

import featherstorm as fs
from featherstorm.__main__ import main
from featherstorm.learning import Policy
from featherstorm.transfer.comparison import Comparison, compare
from featherstorm.transfer.conditions import Conditions, prepared, root_axes
from featherstorm.transfer.episodes import Episode, Late
from featherstorm.transfer.pool import Pool
from featherstorm.transfer.robustness import kinds_of, plot, sweep, table_of

CART = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" friction=".1"/>
    <body name="cart" pos="0 0 .1">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <geom name="cart" type="sphere" size=".1" mass="1" friction=".1"/>
    </body>
  </worldbody>
  <actuator><motor name="x" joint="x" gear="5" ctrlrange="-1 1"/></actuator>
</mujoco>
"""


class Follow(fs.Env):
    """A cart that slides on the floor follows a speed; far away it falls."""

    dt, steps = 0.02, 60
    reward_scale = 0.02
    memory = {"command": 1, "left": 1}
    weights = {"tracking_lin_vel": 2.0, "effort": -0.1}

    def model(self):
        return fs.from_mujoco(mujoco.MjModel.from_xml_string(CART), "cart")

    def next_command(self, rng, command=None):
        return rng.uniform(-1, 1, 1)

    def reset(self, m, rng):
        m.command, m.left = self.next_command(rng), 20
        return [rng.uniform(-0.1, 0.1), 0.0], np.zeros(2)

    def terminate(self, x, m):
        return np.abs(x.q[0]) > 0.3

    def reward(self, x, a, m):
        return {"tracking_lin_vel": 2.0 * np.exp(-((m.command[0] - x.v[0]) ** 2) / 0.25), "effort": -0.1 * a[0] ** 2}

    def after(self, x, a, m, rng):
        due = m.left[0] <= 1
        m.command = np.where(due, self.next_command(rng, m.command), m.command)
        m.left = np.where(due, 20, m.left - 1)

    def observe(self, x, m, rng):
        return [x.q, x.v, m.command]


def drives(obs):
    """Towards the commanded speed."""
    return np.clip(2.0 * (obs[:, 4:5] - obs[:, 2:3]), -1, 1)


def still(obs):
    return np.zeros((len(obs["actor"]), 2))


def test_episodes_are_the_same_in_both_engines():
    """Followers of the same commands in single precision here: terms, lengths, falls, how many commands."""
    found = compare(Follow, drives, 12, Conditions(seed=4))
    here, there = found.episodes["featherstorm"], found.episodes["mujoco"]
    assert [e.length for e in here] == [e.length for e in there]
    assert [(e.fell, e.commands) for e in here] == [(e.fell, e.commands) for e in there]
    assert 0 < sum(e.fell for e in here) < 12 and {e.commands for e in here} >= {2, 3}
    np.testing.assert_allclose([e.reward for e in here], [e.reward for e in there], rtol=1e-3)
    rows = {row.name: row for row in found.rows}
    falls, commands = sum(e.fell for e in here), sum(e.commands for e in here)
    assert rows["falls in 1000 commands"].ours == rows["falls in 1000 commands"].mujoco == 1000 * falls / commands
    tracked = sum(e.terms["tracking_lin_vel"] for e in here) / sum(e.length for e in here)
    assert rows["linear tracking, of its bound"].ours == pytest.approx(tracked / 0.04)
    assert 0.2 < tracked / 0.04 < 1
    assert found.within(0.01) and rows["effort"].kind == "term"


def test_commands_stay_for_whole_episodes():
    found = compare(Follow, drives, 4, Conditions(seed=4, commands=((0.1,), (-0.2,))))
    for episodes in found.episodes.values():
        assert {e.commands for e in episodes} == {1} and {e.length for e in episodes} == {60}
    terms = [[e.terms["tracking_lin_vel"] for e in episodes] for episodes in found.episodes.values()]
    np.testing.assert_allclose(*terms, rtol=1e-3)
    assert np.min(terms) > 0.8 * 60 * 0.04  # commands that it keeps
    with pytest.raises(ValueError, match="Everything has no commands, expected a task that follows a velocity"):
        compare(Everything, still, 1, Conditions(commands=((1.0,),)))
    with pytest.raises(ValueError, match=r"1.0,0.0 has 2 numbers, expected 1"):
        compare(Follow, drives, 1, Conditions(commands=((1.0, 0.0),)))


@pytest.mark.parametrize(
    "changed", [{"mass": 2.0}, {"friction": 0.1}, {"latency": 5}, {"push": 0.8}], ids=lambda c: next(iter(c))
)
def test_conditions_do_the_same_in_both_engines(changed):
    """And something."""

    class Slow(Follow):
        steps = 120

        def terminate(self, x, m):
            return np.abs(x.q[0]) > 3

    plain, other = (compare(Slow, drives, 3, Conditions(seed=1, **c)) for c in ({}, changed))
    for found in (plain, other):
        here, there = ([e.reward for e in found.episodes[name]] for name in ("featherstorm", "mujoco"))
        np.testing.assert_allclose(here, there, rtol=2e-3)
    away = [a.reward - b.reward for a, b in zip(plain.episodes["mujoco"], other.episodes["mujoco"])]
    assert np.abs(away).min() > 1e-3 * plain.rows[0].mujoco


def test_late_actions_begin_with_the_first():
    late = Late(2)
    assert [int(late(np.array(k))) for k in range(5)] == [0, 0, 0, 1, 2]
    assert [int(Late(0)(np.array(k))) for k in range(3)] == [0, 1, 2]


def test_roots_that_can_be_pushed():
    assert root_axes(Everything().model()) == 2 and root_axes(Follow().model()) == 1
    fixed = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint axis='0 1 0'/><geom size='.1'/></body></worldbody></mujoco>"
    )
    assert root_axes(fs.from_mujoco(fixed, "hinge")) == 0


def test_a_task_is_left_as_it_is_by_its_conditions():
    task = Everything()
    twin = prepared(task, True, False)
    assert twin.parameters == ("body_mass", "geom_friction", "geom_size", "opt_gravity", "body_inertia")
    assert task.parameters == Everything.parameters and "model" not in task.__dict__
    assert prepared(task, False, False) is task


def test_sweeps_are_tables_and_a_picture(tmp_path):
    made = []

    def make():
        made.append(Follow())
        return made[-1]

    with Pool(make, drives, 1) as pool:
        swept = sweep(
            make,
            drives,
            2,
            Conditions(seed=3),
            pool,
            sweeps={"mass": (1.0, 1.5), "latency": (0, 3), "push": (0.0, 0.5)},
        )
    table = table_of(swept)
    assert [row["value"] for row in table["mass"]] == [1.0, 1.5] and len(table["push"]) == 2
    firsts = [rows[0]["mujoco"]["return"] for rows in table.values()]
    assert firsts == [firsts[0]] * 3  # where nothing is changed it is run once
    assert table["latency"][1]["mujoco"]["return"] != firsts[0]
    assert len(made) == 5  # one to look at; for each engine one with masses as parameters, one without
    plot(str(tmp_path / "robust.png"), swept, "a cart")
    assert (tmp_path / "robust.png").read_bytes()[:4] == b"\x89PNG"
    assert "push" not in kinds_of(Pendulum())


class Pendulum(fs.Env):
    def model(self):
        text = "<mujoco><worldbody><body><joint axis='0 1 0'/><geom size='.1'/></body></worldbody></mujoco>"
        return fs.from_mujoco(mujoco.MjModel.from_xml_string(text), "pendulum")


def episode(reward, length=10, fell=False):
    return Episode(reward, length, fell, False, 0, {"only": reward})


def test_figures_are_written():
    found = Comparison(
        "Task", Conditions(seed=9), {"featherstorm": [episode(100), episode(120)], "mujoco": [episode(90), episode(108, 8, True)]}, {}
    )  # fmt: skip
    assert found.difference == pytest.approx(-0.1) and not found.within(0.05) and found.within(0.11)
    assert found.spread == pytest.approx(1 / 110)  # pairs are 10 and 12 apart
    assert found.markdown().splitlines()[2] == "| return | 110 | 10 | 99 | 9 | -10.00 % |"
    rows = list(csv.DictReader(io.StringIO(found.csv())))
    assert len(rows) == 4 and rows[3]["engine"] == "mujoco" and rows[3]["fell"] == "1" and float(rows[3]["only"]) == 108
    told = json.loads(found.json())
    assert told["seed"] == 9 and told["rows"][0]["difference"] == pytest.approx(-0.1)
    assert [e["return"] for e in told["runs"]["mujoco"]] == [90, 108]
    nothing = Comparison("T", Conditions(), {"featherstorm": [episode(0)] * 2, "mujoco": [episode(1)] * 2}, {})
    assert not nothing.within(0.05) and json.loads(nothing.json())["difference"] is None


# -- policies from files, and the command


@pytest.fixture
def balancer(tmp_path):
    """A policy of InvertedPendulum-v5 that balances."""
    pytest.importorskip("gymnasium")
    gains = np.array([[0.5, 8.0, 1.0, 2.0]])
    path = tmp_path / "policy.npz"
    policy(gains, "InvertedPendulum-v5").save(path)
    return str(path)


def policy(gains, task):
    """Linear."""
    n, m = gains.shape[1], len(gains)
    weights = [np.asarray(gains, np.float32), np.zeros(m, np.float32)]
    return Policy(
        weights, "tanh", np.zeros(n), np.ones(n), np.zeros(m), np.full(m, -3.0), np.full(m, 3.0), task=task, origin={"seed": 5}
    )  # fmt: skip


def test_the_command_shows_both_engines(balancer, tmp_path, capsys):
    files = {name: str(tmp_path / f"out.{name}") for name in ("json", "csv", "markdown")}
    arguments = [x for name, path in files.items() for x in (f"--{name}", path)]
    assert main(["transfer", balancer, "--episodes", "3", "--jobs", "1", "--seed", "5", *arguments]) == 0
    told = capsys.readouterr()
    assert "the policy was learnt with the seed 5" in told.err
    assert "InvertedPendulum-v5: 3 episodes, seed 5" in told.out and "within 5 %" in told.out
    texts = {name: pathlib.Path(path).read_text(encoding="utf-8") for name, path in files.items()}
    found = json.loads(texts["json"])
    assert found["rows"][0]["ours"] == pytest.approx(found["rows"][0]["mujoco"], rel=1e-3)
    assert found["rows"][0]["ours"] > 100 and found["policy"] == balancer
    assert texts["markdown"].startswith("|  | here |")
    assert len(texts["csv"].splitlines()) == 7


def test_several_processes_find_what_one_does(balancer):
    make = functools.partial(fs.tasks.make, "InvertedPendulum-v5")
    jobs = [(Conditions(seed=2), k) for k in range(3)]
    with Pool(make, Policy.load(balancer), 1) as one:
        alone = one.episodes(jobs)
    with Pool(make, None, 2, load=functools.partial(Policy.load, balancer)) as two:
        assert two.episodes(jobs) == alone
        with pytest.raises(ValueError, match="env is -1"):  # of a process, here
            two.episodes([(Conditions(), -1)])
        assert two.episodes(jobs[:1]) == alone[:1]
    with pytest.raises(
        TypeError,
        match="cannot be sent to other processes .*expected objects that a module defines by name, `load`, or",
    ):
        Pool(make, lambda obs: obs, 2)


def test_the_exit_code_says_whether_returns_agree(tmp_path, capsys, monkeypatch):
    from featherstorm.tasks.registry import NAMES
    from featherstorm.transfer import pool

    def better(*given):
        found = in_mujoco(*given)
        return found._replace(reward=1.2 * found.reward)

    in_mujoco = pool.in_mujoco
    monkeypatch.setattr(pool, "in_mujoco", better)
    monkeypatch.setitem(NAMES.fill(), "Follow", Follow)
    path = str(tmp_path / "policy.npz")
    policy(np.zeros((1, 5)), "Follow").save(path)
    assert main(["transfer", path, "--episodes", "2", "--jobs", "1"]) == 1
    assert "+20.00 %" in (told := capsys.readouterr().out) and "beyond 5 %" in told
    assert main(["transfer", path, "--episodes", "2", "--jobs", "1", "--within", "0.3"]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.npz"], "there is no file nowhere.npz"),
        (["POLICY", "--task", "Hopper-v5"], "the policy takes 4 observations and gives 1 actions; Hopper has 11 observations, 3 actions"),
        (["POLICY", "--task", "Hoper-v5"], "there is no task 'Hoper-v5'; did you mean Hopper-v5"),
        (["POLICY", "--json", "/nowhere/out.json"], "--json: there is no folder /nowhere"),
        (["POLICY", "--plot", "robust"], "--plot: robust has no ending"),
        (["POLICY", "--video", "walk.gif"], "walk.gif does not end with .mp4"),
        (["POLICY", "--commands", "1,0,0"], "InvertedPendulum has no commands"),
        (["POLICY", "--episode", "-1"], "--episode is -1, expected 0 or more"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_told(balancer, arguments, message, capsys):
    given = [balancer if x == "POLICY" else x for x in arguments]
    assert main(["transfer", *given, "--jobs", "1", "--episodes", "1"]) == 1
    assert message in capsys.readouterr().err


def test_a_file_that_is_no_policy_is_told(tmp_path, capsys):
    (tmp_path / "policy.npz").write_bytes(b"PK\x03\x04 something else")
    assert main(["transfer", str(tmp_path / "policy.npz")]) == 1
    assert "featherstorm transfer: " in (told := capsys.readouterr().err) and "policy.npz" in told


@pytest.mark.parametrize("option", [["--within", "-1"], ["--commands", "a,b"], ["--episodes", "0"]])
def test_options_that_are_no_numbers_are_refused(option, capsys):
    with pytest.raises(SystemExit):
        main(["transfer", "policy.npz", *option])
    assert "expected" in capsys.readouterr().err


def test_without_opengl_a_video_is_refused_before_the_episodes(balancer, tmp_path, capsys, monkeypatch):
    pytest.importorskip("av")

    def nothing(width, height):
        raise ImportError("images need OpenGL without a window, and egl does not work here")

    monkeypatch.setattr("featherstorm.viewing.frames.opengl", nothing)
    assert main(["transfer", balancer, "--video", str(tmp_path / "out.mp4"), "--jobs", "1"]) == 1
    assert "images need OpenGL without a window" in (told := capsys.readouterr()).err and not told.out
    assert not (tmp_path / "out.mp4").exists()


def test_a_video_has_the_frames_of_its_episode(balancer, tmp_path):
    av = pytest.importorskip("av")
    from featherstorm.viewing.frames import opengl

    try:
        opengl(64, 48).free()
    except ImportError as error:
        pytest.skip(str(error))
    path = str(tmp_path / "out.mp4")
    assert (
        main(["transfer", balancer, "--episodes", "1", "--jobs", "1", "--video", path, "--size", "64x48", "--fps", "5"])
        == 0
    )
    with av.open(path) as file:
        frames = sum(1 for _ in file.decode(video=0))
    assert frames > 10
    arguments = ["--episodes", "1", "--jobs", "1", "--size", "64x48", "--fps", "5", "--seconds", "1"]
    assert main(["transfer", balancer, *arguments, "--video", path]) == 0
    with av.open(path) as file:
        assert sum(1 for _ in file.decode(video=0)) == 6
