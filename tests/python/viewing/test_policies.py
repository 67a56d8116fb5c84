"""A policy's file is seen at work, in its task's look."""

import mujoco
import numpy as np
import pytest
from view_scenes import need_drawing

import featherstorm as fs
from featherstorm.__main__ import main
from featherstorm._world.values import compiled
from featherstorm.commands.view import begin_policy, command
from featherstorm.tasks.registry import NAMES
from featherstorm.tasks.velocity_robots import Scenery
from featherstorm.viewing.scene import drawn, scene_of

GO2 = "Go2JoystickFlat"


def policy(task, n, m, group="", bias=0.0):
    weights = [np.zeros((m, n)), np.full(m, bias)]
    return fs.learning.Policy(
        weights, "tanh", np.zeros(n), np.ones(n), np.zeros(m), -np.ones(m), np.ones(m), group=group, task=task
    )


@pytest.fixture
def file(tmp_path):
    policy(GO2, 48, 12, "actor").save(tmp_path / "policy.npz")
    return tmp_path / "policy.npz"


class Options:
    def __init__(self, robot, **others):
        self.__dict__.update(
            robot=str(robot), task=None, commands=None, instances=3, seed=5, dtype="float32", threads=1, **others
        )


def test_a_policy_is_filmed(file, tmp_path, capsys):
    av = pytest.importorskip("av")
    need_drawing()
    path = tmp_path / "go2.mp4"
    more = ["--seconds", "0.2", "--size", "160x120", "--threads", "1", "--fps", "10"]
    assert main(["view", str(file), "--commands", "0.5,0,0", "--video", str(path), *more]) == 0
    assert f"video: {path}, 2 frames" in capsys.readouterr().out
    with av.open(str(path)) as video:
        frames = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    assert len(frames) == 2 and frames[0].std() > 5


def test_its_steps_are_those_of_the_task(file):
    options = Options(file)
    options.commands = [(0.5, 0.0, 0.1), (0.0, 0.0, 1.0)]
    batch, step = begin_policy(options)
    first = np.array(batch.q)
    for _ in range(5):
        step(batch)
    np.testing.assert_allclose(batch.memory("command"), [options.commands[k % 2] for k in range(3)], rtol=1e-6)
    moved = np.array(batch.q)
    assert not np.allclose(moved, first, atol=1e-4)
    batch.reset(seed=5)  # as the page does
    for _ in range(5):
        step(batch)
    np.testing.assert_array_equal(batch.q, moved)


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--commands", "1,0"], "--commands: 1.0,0.0 has 2 numbers, expected 3"),
        (["--commands", "1,0,0", "--dt", "0.1"], "--dt is for a robot that is not an MJCF file's"),
        (["--task", "Nothing"], "Nothing"),
        (["--controls", "random"], "--controls is for an MJCF file"),
        (["--device", "cuda"], "--device is for an MJCF file"),
    ],
)
def test_what_is_wrong_with_it_is_said(file, capsys, more, text):
    assert main(["view", str(file), *more]) == 1
    assert text in capsys.readouterr().err


def test_policies_that_do_not_fit_are_refused(tmp_path, capsys):
    policy(GO2, 47, 12, "actor").save(tmp_path / "a.npz")
    assert main(["view", str(tmp_path / "a.npz")]) == 1
    assert "the policy takes 47 observations of 'actor'" in capsys.readouterr().err
    policy("", 48, 12, "actor").save(tmp_path / "b.npz")
    assert main(["view", str(tmp_path / "b.npz")]) == 1
    assert "has no task name, expected --task NAME" in capsys.readouterr().err
    assert main(["view", str(tmp_path / "c.npz")]) == 1
    assert "there is no file" in capsys.readouterr().err
    assert main(["view", "go2", "--commands", "1,0,0"]) == 1
    assert "--commands is for a policy" in capsys.readouterr().err
    with pytest.raises(Exception, match="expected numbers such as"):
        command("1,x")


def test_one_robot_that_walks_away_is_followed(file):
    from featherstorm.commands.view import camera_of

    options = Options(file)
    assert camera_of(begin_policy(options)[0]) is None
    options.instances = 1
    camera = camera_of(begin_policy(options)[0])
    assert camera.trackbodyid == 1 and 1 < camera.distance < 4


# ---- what a task looks like


def scenery():
    """Tasks whose models are made here, as far as their files are there."""
    for name in NAMES:
        try:
            task = fs.tasks.make(name)
            if isinstance(task, Scenery):
                yield pytest.param(task, compiled(task.model()), id=name)
        except (FileNotFoundError, ImportError):
            continue


@pytest.mark.parametrize(("task", "m"), list(scenery()))
def test_a_look_moves_as_the_task_does(task, m):
    look = drawn(task, task.model())
    body = [m.body(b).name for b in range(m.nbody)]
    assert [look.body(b).name for b in range(look.nbody)] == body
    assert [look.joint(j).name for j in range(look.njnt)] == [m.joint(j).name for j in range(m.njnt)]
    rng, data = np.random.default_rng(1), [mujoco.MjData(x) for x in (m, look)]
    q = m.qpos0.copy()
    mujoco.mj_integratePos(m, q, rng.normal(size=m.nv), 1.0)
    for x, d in zip((m, look), data):
        d.qpos[:] = q
        mujoco.mj_kinematics(x, d)
    np.testing.assert_allclose(data[1].xpos, data[0].xpos, atol=1e-12)
    np.testing.assert_allclose(data[1].xquat, data[0].xquat, atol=1e-12)
    # shapes of the robot, in groups that are shown
    shown = np.asarray(look.geom_group) < 3
    assert (shown & (np.asarray(look.geom_bodyid) > 0)).sum() >= min(m.nbody - 1, 2)


def test_another_robots_look_is_refused():
    class Other(fs.Env):
        dt = 0.02

        def model(self):
            return fs.from_mujoco(mujoco.MjModel.from_xml_string(
                "<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>"
            ))  # fmt: skip

        def look(self):
            return mujoco.MjModel.from_xml_string(
                "<mujoco><worldbody><body><joint/><joint/><geom size='.1'/></body></worldbody></mujoco>"
            )

        def reset(self, m, rng):
            return np.zeros(1), np.zeros(1)

        def observe(self, x, m, rng):
            return [x.q[0]]

        def reward(self, x, a, m):
            return {"up": x.q[0]}

    batch = Other().batch(2, threads=1)
    batch.reset()
    with pytest.raises(ValueError, match="Other: its look has nq = 2, expected 1 as the file has"):
        scene_of(batch, None, None)
