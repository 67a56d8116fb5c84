"""`simulate` of a model file's world, with small sizes."""

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.__main__ import main
from featherstorm.commands import simulate_world

BALL = """
<mujoco>
  <option timestep="0.004"/>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <body name="ball" pos="0 0 .1">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <geom type="sphere" size=".1" mass="1"/>
    </body>
  </worldbody>
  <actuator><motor joint="x" ctrlrange="-2 2" ctrllimited="true"/></actuator>
  <keyframe><key qpos="0.5 0.02" ctrl="1.5"/></keyframe>
</mujoco>
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "ball.xml"
    path.write_text(BALL)
    return str(path)


def run(capsys, *arguments):
    code = main(["simulate", *arguments])
    return code, *capsys.readouterr()


@pytest.fixture
def seen(monkeypatch):
    """The simulations of which something was reported."""
    found, report = [], simulate_world.report
    monkeypatch.setattr(simulate_world, "report", lambda sim: (found.append(sim), report(sim)))
    return found


def test_a_file_is_stepped_with_all_it_says(capsys, tmp_path, file, seen):
    arguments = [file, "--instances", "20", "--steps", "50", "--substeps", "2", "--plot", str(tmp_path / "a.png")]
    code, out, err = run(capsys, *arguments, "--threads", "1")
    assert code == 0, err
    for word in ("throughput:", "status: 0 of 20", "contacts: ", "solver: ", "energy: kinetic", "agreement:", "plot: "):
        assert word in out
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    (sim,) = seen
    assert sim.dt == 0.008 and sim.time == pytest.approx(0.4)
    # the floor holds what would have fallen by 0.8 m
    assert np.abs(sim.q[:, 1]).max() < 0.05 and (sim.report().contacts <= 1).all()


def test_controls_are_those_that_are_asked_for(capsys, file, seen):
    short = [file, "--instances", "6", "--steps", "100", "--threads", "1"]
    for arguments in ([], ["--controls", "random"], ["--controls", "keyframe", "--keyframe", "0"]):
        assert run(capsys, *short, *arguments)[0] == 0
    zero, random, key = (np.array(sim.ctrl) for sim in seen)
    assert not zero.any() and (key == 1.5).all()
    assert len(np.unique(random)) == 6 and (np.abs(random) <= 2).all()
    assert np.abs(seen[2].q[:, 0] - 0.5).max() < 0.1


def test_the_law_and_the_tree_can_be_chosen(capsys, file, seen):
    short = [file, "--instances", "3", "--steps", "5", "--threads", "1"]
    code, out, _ = run(capsys, *short, "--law", "rigid")
    assert code == 0 and seen[-1].law == "rigid" and "contacts: " in out
    code, out, _ = run(capsys, *short, "--ignore", "world")
    assert code == 0 and len(seen) == 1 and "contacts:" not in out and "energy: changes by" in out


def test_a_urdf_lies_on_the_ground(capsys, seen):
    code, out, err = run(capsys, "go2", "--ground", "--instances", "3", "--steps", "300", "--threads", "1")
    assert code == 0 and "contacts: " in out, err
    (sim,) = seen
    assert sim.model.n_ctrl == 12 and (sim.q[:, 2] > 0.03).all() and (sim.q[:, 2] < 0.4).all()
    model = fs.load("go2", world=fs.UrdfWorld(ground=True))
    assert simulate_world.on_the_ground(model)[2] == pytest.approx(0.448, abs=0.01)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["FILE", "--drive", "pd"], "--drive is for robots without a world; --ignore world steps the tree of"),
        (
            ["FILE", "--dt", "0.003"],
            "Simulation: dt is 0.003, expected a multiple of 0.004, the timestep of ball's file",
        ),
        (["FILE", "--keyframe", "1"], "--keyframe is 1, FILE has those from 0 to 0"),
        (["FILE", "--controls", "keyframe"], "--keyframe is -1, FILE has those from 0 to 0"),
        (["FILE", "--ground"], "world is for URDF; an MJCF file has its own"),
        (["go2", "--controls", "random"], "--controls is for the world of a model file, but go2 runs without one"),
        (["go2", "--law", "rigid"], "--law is for the world of a model file, but go2 runs without one"),
    ],
)
def test_what_does_not_fit_is_named(capsys, file, arguments, message):
    code, _, err = run(capsys, *(file if x == "FILE" else x for x in arguments), "--instances", "2", "--steps", "2")
    assert code != 0 and message.replace("FILE", file) in err
