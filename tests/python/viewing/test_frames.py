"""Images and videos: something is seen, what moves moves in them, and what is wrong is said."""

import os
import sys

import mujoco
import numpy as np
import pytest
from view_scenes import BALL, SPINNER, batch, need_drawing, red

import featherstorm as fs
from featherstorm import viewing
from featherstorm.__main__ import main


@pytest.fixture(autouse=True)
def drawing():
    need_drawing()


def test_an_image_shows_the_scene():
    image = viewing.render(batch(BALL, 1), width=160, height=120, camera="side")
    assert image.shape == (120, 160, 3) and image.dtype == np.uint8
    assert image.std() > 10
    row, column, count = red(image)
    assert abs(column - 80) < 3 and 20 < row < 60 and count > 100


def test_what_falls_goes_down_in_images():
    one = batch(BALL, 1)
    with viewing.Frames(one, width=160, height=120, camera="side") as frames:
        before, _, count = red(frames.render())
        one.step(nstep=40)  # a fall of 0.8 m
        after, _, still = red(frames.render())
    # the camera is 4 m away and sees 45 degrees
    fall = 0.5 * 9.81 * 0.4 * 0.41
    assert after - before == pytest.approx(fall * 60 / (4 * np.tan(np.pi / 8)), rel=0.1)
    assert still == pytest.approx(count, rel=0.2)


def test_several_robots_are_seen_side_by_side():
    several = batch(BALL, 4)
    several.qpos[:, 2] = 0.5
    one = viewing.render(several, [2], width=320, height=240)
    four = viewing.render(several, width=320, height=240, spacing=1.5)
    share = red(four)[2] / red(one)[2]
    assert 1 < share < 4  # four that are farther away
    with viewing.Frames(several, width=320, height=240, spacing=1.5) as frames:
        several.qpos[1, 2] = 50
        assert red(frames.render())[2] == pytest.approx(0.75 * red(four)[2], rel=0.1)


def test_a_camera_of_ones_own():
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance, camera.elevation, camera.azimuth = (0, 0, 1.5), 2, 0, 90
    row, column, _ = red(viewing.render(batch(BALL, 1), width=160, height=120, camera=camera))
    assert abs(row - 60) < 3 and abs(column - 80) < 3


@pytest.mark.parametrize(("name", "joint"), [("go2", 8), ("ur5", 1), ("cartpole", 1), ("atlas", 8)])
def test_robots_of_a_simulation_are_seen_and_move(name, joint):
    model = fs.load(name, threads=1)
    sim = fs.Simulation(model, 2, 1e-3)
    with viewing.Frames(sim, [1], width=160, height=120) as frames:
        before = frames.render().astype(int)
        assert np.count_nonzero(before[:, :, 0] >= before[:, :, 2]) > 50  # the sky is bluer
        sim.q = sim.q + np.eye(1, model.nq, joint, dtype="float32")
        after = frames.render().astype(int)
    assert 10 < np.count_nonzero(np.abs(after - before).max(axis=2) > 30) < before.shape[0] * before.shape[1] / 4


def test_links_are_drawn_where_forward_kinematics_has_them():
    model = fs.load("go2", threads=1)
    q, _ = fs.random_state(model, 1)
    sim = fs.Simulation(model, 1, 1e-3, dtype="float64")
    sim.q = q
    with viewing.Frames(sim, width=16, height=16) as frames:
        position, rotation = fs.forward_kinematics(model, q, "RL_foot")
        frames.render()
        number = frames.scene._picture._m.body("RL_foot").id
        shown = frames.data.body(f"0/{number}")
        np.testing.assert_allclose(shown.xpos, position[0], atol=1e-12)
        np.testing.assert_allclose(shown.xmat.reshape(3, 3), rotation[0], atol=1e-12)


def test_a_robot_built_by_hand_is_sticks():
    builder = fs.RobotBuilder("pole")
    builder.add_link("rod", fs.inertia.rod(0.5, 1.0))
    builder.add_joint("hinge", "revolute", "", "rod", axis=[0, 1, 0], position=[0, 0, 2])
    builder.add_frame("tip", "rod", position=[0, 0, 0.5])
    sim = fs.Simulation(fs.Model(builder.build()), 1, 1e-3)
    with viewing.Frames(sim, width=160, height=120) as frames:
        assert mujoco.mjtGeom.mjGEOM_CAPSULE in list(frames.model.geom_type)
        upright = frames.render().astype(int)
        sim.q = np.full((1, 1), np.pi / 2, np.float32)
        assert np.abs(frames.render() - upright).max() > 30


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"width": 0}, ValueError, "the size is 0 x 480, expected whole numbers from 1 to 8192"),
        ({"height": 10000}, ValueError, "the size is 640 x 10000"),
        ({"width": 2.5}, ValueError, "the size is 2.5 x 480"),
        ({"camera": "top"}, ValueError, "there is no camera 'top'; there are: side"),
        ({"ids": [2]}, ValueError, "ids are [2], expected numbers from 0 to 1, one at least"),
        ({"ids": []}, ValueError, "ids are []"),
        ({"ids": [0.5]}, ValueError, "ids are [0.5]"),
        ({"spacing": -1}, ValueError, "spacing is -1, expected 0 or more"),
    ],
)
def test_what_is_wrong_with_an_image_is_said(options, error, text):
    with pytest.raises(error) as caught:
        viewing.render(batch(BALL, 2), **options)
    assert text in str(caught.value)


def test_what_cannot_be_shown_is_said():
    with pytest.raises(TypeError, match="a str cannot be shown, expected featherstorm.mujoco.Batch or"):
        viewing.render("scene.xml")
    with pytest.raises(ValueError, match="ids: 401 simulations are selected, expected 400 at most; choose fewer"):
        viewing.render(batch(BALL, 401))
    frames = viewing.Frames(batch(BALL, 1), width=16, height=16)
    frames.close()
    with pytest.raises(ValueError, match="closed"):
        frames.render()


def test_where_nothing_draws_it_is_said_what_to_install(monkeypatch):
    monkeypatch.delenv("PYOPENGL_PLATFORM", raising=False)
    for name in ("egl", "osmesa"):
        monkeypatch.setitem(sys.modules, f"mujoco.{name}", None)
        monkeypatch.setenv("MUJOCO_GL", name)
        with pytest.raises(ImportError, match=f"{name} does not work here: .*apt-get install lib{name}"):
            viewing.render(batch(BALL, 1))


# videos


def decoded(path):
    av = pytest.importorskip("av")
    with av.open(str(path)) as file:
        stream = file.streams.video[0]
        return [frame.to_ndarray(format="rgb24") for frame in file.decode(stream)], stream.average_rate


def test_a_video_has_what_was_added(tmp_path):
    pytest.importorskip("av")
    one = batch(BALL, 1)
    with viewing.Video(tmp_path / "ball.mp4", one, fps=25, width=160, height=120, camera="side") as video:
        for _ in range(10):
            video.add()
            one.step(nstep=4)
    frames, rate = decoded(tmp_path / "ball.mp4")
    assert len(frames) == video.count == 10 and rate == 25
    assert frames[0].shape == (120, 160, 3)
    rows = [red(frame)[0] for frame in frames]
    fallen = [0.5 * 9.81 * (0.04 * k) ** 2 * 60 / (4 * np.tan(np.pi / 8)) for k in range(10)]
    np.testing.assert_allclose(np.array(rows) - rows[0], fallen, atol=2.5)


def test_frames_of_a_video_are_due_by_its_rate(tmp_path):
    pytest.importorskip("av")
    with viewing.Video(tmp_path / "a.mkv", batch(BALL, 1), fps=10, width=32, height=32) as video:
        for time, count in ((0.0, 1), (0.05, 1), (0.1, 2), (0.55, 6), (0.55, 6)):
            video.until(time)
            assert video.count == count


@pytest.mark.parametrize(
    ("path", "options", "error", "text"),
    [
        ("a.gif", {}, ValueError, "a.gif does not end with .mp4, .mov or .mkv"),
        ("nowhere/a.mp4", {}, FileNotFoundError, "video: there is no folder"),
        ("folder.mp4", {}, IsADirectoryError, "folder.mp4"),
        ("a.mp4", {"width": 101}, ValueError, "video: the size is 101 x 480, expected even numbers"),
        ("a.mp4", {"fps": 0}, ValueError, "video: fps is 0, expected a whole number from 1 to 240"),
    ],
)
def test_what_is_wrong_with_a_video_is_said(tmp_path, path, options, error, text):
    pytest.importorskip("av")
    (tmp_path / "folder.mp4").mkdir()
    with pytest.raises(error) as caught:
        viewing.Video(tmp_path / path, batch(BALL, 1), **options)
    assert text in str(caught.value)


def test_a_video_says_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ImportError, match=r"the package av is missing: python -m pip install 'featherstorm\[view\]'"):
        viewing.Video(tmp_path / "a.mp4", batch(BALL, 1))


# the command line


def test_view_writes_a_video(tmp_path, capsys):
    pytest.importorskip("av")
    (tmp_path / "ball.xml").write_text(BALL)
    path = tmp_path / "ball.mp4"
    arguments = ["view", str(tmp_path / "ball.xml"), "--instances", "2", "--seconds", "0.5", "--video", str(path)]
    assert main([*arguments, "--size", "160x120", "--fps", "20", "--keyframe", "0", "--threads", "1"]) == 0
    assert f"video: {path}, 10 frames" in capsys.readouterr().out
    frames, _ = decoded(path)
    assert len(frames) == 10 and red(frames[-1])[0] > red(frames[0])[0]


@pytest.mark.parametrize("command", ["view", "simulate"])
def test_built_in_robots_are_filmed(tmp_path, capsys, command):
    pytest.importorskip("av")
    path = tmp_path / "go2.mp4"
    more = {"view": ["--seconds", "0.1", "--size", "64x48"], "simulate": ["--steps", "50", "--shown", "2"]}[command]
    assert main([command, "go2", "--instances", "3", "--video", str(path), "--threads", "1", *more]) == 0
    assert f"video: {path}" in capsys.readouterr().out
    frames, _ = decoded(path)
    assert len(frames) in (3, 4) and frames[0].std() > 5


@pytest.mark.parametrize(
    ("more", "text"),
    [
        (["--keyframe", "1"], "--keyframe is 1, {file} has those from 0 to 0"),
        (["--controls", "keyframe"], "--keyframe is -1, {file} has those from 0 to 0"),
        (["--camera", "top", "--video", "{folder}/a.mp4"], "there is no camera 'top'; there are: side"),
        (["--video", "{folder}/a.png"], "a.png does not end with"),
        (["--device", "cuda"], "device"),
        (["--substeps", "2"], "--substeps is for a robot that is not an MJCF file's"),
        (["--no-floating-base"], "--floating-base is for a robot that is not an MJCF file's"),
        (["--fps", "25"], "--fps is for a video"),
        (["--video", "{folder}/a.mp4", "--port", "8080"], "--port is for the page"),
    ],
)
def test_view_says_what_is_wrong(tmp_path, capsys, more, text):
    pytest.importorskip("av")
    file = tmp_path / "ball.xml"
    file.write_text(BALL)
    assert main(["view", str(file), *(x.format(folder=tmp_path) for x in more)]) == 1
    assert text.format(file=file) in capsys.readouterr().err


def test_options_of_files_are_not_for_robots(capsys):
    assert main(["view", "go2", "--controls", "random"]) == 1
    assert "featherstorm view: --controls is for an MJCF file" in capsys.readouterr().err


def test_a_file_of_mujocos_is_simulated_and_filmed_in_its_own_shapes(tmp_path, capsys):
    pytest.importorskip("av")
    (tmp_path / "spinner.xml").write_text(SPINNER)
    path = tmp_path / "spinner.mp4"
    arguments = ["simulate", str(tmp_path / "spinner.xml"), "--steps", "100", "--shown", "1", "--instances", "2"]
    assert main([*arguments, "--dt", "0.002", "--threads", "1", "--video", str(path)]) == 0
    frames, _ = decoded(path)
    assert len(frames) == 7 and red(frames[0])[2] > 100


def test_view_takes_no_file_that_is_not_there(capsys):
    assert main(["view", "nowhere.xml", "--no-browser"]) == 1
    assert "featherstorm view: there is no file nowhere.xml" in capsys.readouterr().err
    assert not os.path.exists("nowhere.xml")
