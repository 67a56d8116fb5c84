"""The command line with small sizes."""

import importlib
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import featherstorm as fs
from featherstorm import viewing
from featherstorm.__main__ import COMMANDS, main
from featherstorm.commands import doctor, standing
from featherstorm.mujoco.arguments import SimulationError


def run(capsys, *words):
    """Run the command line with these words, of which one text may have several."""
    code = main([word for text in words for word in text.split()])
    return code, *capsys.readouterr()


def test_simulate(capsys, tmp_path):
    plot = tmp_path / "a.png"
    code, out, err = run(capsys, f"simulate double_pendulum --instances 50 --steps 30 --substeps 2 --plot {plot}")
    assert code == 0, err
    for word in ("throughput:", "status: 0 of 50", "energy: changes by", "agreement:", f"plot: {plot}"):
        assert word in out
    assert plot.stat().st_size > 1000


@pytest.mark.parametrize("name", standing.STANCES)
def test_robots_with_feet_stand_and_are_drawn(capsys, tmp_path, name, monkeypatch):
    seen = []
    monkeypatch.setattr(standing, "report", lambda sim, pose, pushes: seen.append((sim, pose, pushes)))
    arguments = ["simulate", name, "--instances", "20", "--steps", "1000", "--plot", str(tmp_path / "a.png")]
    code, out, err = run(capsys, *arguments, "--threads", "1")
    assert code == 0 and "status: 0 of 20" in out and "no floor" in out, err
    ((sim, pose, pushes),) = seen
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert sim.time == pytest.approx(2.0) and pushes.count > 10
    # near the height of the pose, upright, and the floor carries the weight
    assert np.abs(sim.q[:, 2] - pose[2]).max() < 0.06 * pose[2]
    up = 1 - 2 * (sim.q[:, 4] ** 2 + sim.q[:, 5] ** 2)
    force = sim.impulse[:, :, 0].sum(axis=1) / sim.dt
    assert up.min() > 0.98 and np.median(force) == pytest.approx(9.81 * sim.model.total_mass, rel=0.02)


def test_simulate_says_how_many_stand(capsys):
    arguments = ["simulate", "go2", "--instances", "10", "--steps", "50", "--no-specialise", "--threads", "1"]
    _, out, _ = run(capsys, *arguments)
    assert "standing: 10 of 10 robots after 0.1 s, with their base above 0.22 m, and" in out
    _, out, _ = run(capsys, *arguments, "--no-floating-base")
    assert "standing:" not in out and "throughput:" in out


def test_a_push_is_seldom_and_horizontal():
    sim = fs.Simulation(fs.load("go2"), 1000, 0.01)
    pushes = standing.Pushes(0.5, seed=3)
    for _ in range(10):
        pushes(sim)
    assert 60 < pushes.count < 140  # 100 on average
    speed = np.hypot(sim.v[:, 0], sim.v[:, 1])
    assert 0.4 < speed.max() < 0.8 and not sim.v[:, 2:].any()


@pytest.mark.parametrize("drive", ["none", "pd"])
def test_simulate_every_kind(capsys, drive):
    more = f"--dtype float64 --no-specialise --drive {drive} --threads 1"
    code, out, err = run(capsys, "simulate go2 --instances 5 --steps 3", more)
    assert code == 0 and "1 threads" in out, err


def test_generate(capsys, tmp_path):
    code, _, err = run(capsys, "generate", "ur5", "--ops", "rnea", "jacobian:tool0", "--output", str(tmp_path / "a"))
    assert code == 0, err
    assert sorted(os.listdir(tmp_path / "a")) == ["ur5.h", "ur5_jacobian_tool0.cpp", "ur5_rnea.cpp"]
    text = (tmp_path / "a" / "ur5_rnea.cpp").read_text()
    assert "// body 3: forearm_link" in text and 'extern "C" void ur5_rnea_kernel' in text
    code, _, _ = run(capsys, "generate", "ur5", "--cuda", "--name", "arm", "--ops", "fd", "--output", str(tmp_path))
    assert code == 0 and "__global__" in (tmp_path / "arm_fd.cu").read_text()
    code, _, err = run(capsys, "generate", "ur5", "--ops", "nothing", "--output", str(tmp_path))
    assert code == 1 and "no operation 'nothing'" in err


def test_info(capsys):
    code, out, _ = run(capsys, "info", "go2")
    assert code == 0 and "nv 18" in out
    assert all(name in out for name in fs.load("go2").joint_names)
    code, out, _ = run(capsys, "info", "go2", "--no-floating-base")
    assert code == 0 and "nv 12" in out


def test_robots(capsys):
    code, out, _ = run(capsys, "robots")
    assert code == 0 and all(name in out for name in fs.robots())


def test_bench(capsys):
    words = "bench rnea,solve,jacobian,step double_pendulum,go2 --instances 64 --repeats 2 --no-specialise"
    code, out, _ = run(capsys, words)
    assert code == 0 and "go2 (18)" in out and "jacobian" in out


def test_doctor(capsys):
    code, out, _ = run(capsys, "doctor")
    assert code == 0 and f"{len(fs.robots())} of {len(fs.robots())} in" in out and "trial" in out


def test_doctor_tells_what_robots_can_be_looked_at_with(monkeypatch):
    pytest.importorskip("mujoco.batch", reason="needs MuJoCo 4.0 or later")
    from featherstorm.viewing import frames

    monkeypatch.setattr(frames, "opengl", lambda *_: (_ for _ in ()).throw(ImportError("no driver")))
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    said = "no page (mujoco.studio is missing), no images (no driver), no videos (the package av is missing)"
    assert doctor.viewing() == said


def test_doctor_checks_the_kernels_of_a_robot(capsys):
    code, out, _ = run(capsys, "doctor", "iiwa14")
    assert code == 0
    for op in ("rnea", "crba", "fd", "step"):
        for dtype in ("float32", "float64"):
            assert re.search(rf"^{op} +{dtype}: \w+ differs by \d\.\de-\d+, allowed are", out, re.MULTILINE), (
                op,
                dtype,
                out,
            )
    assert "NOT USED" not in out


@pytest.mark.parametrize(
    ("devices", "line"),
    [
        (
            ([], "libfeatherstorm_cuda.so is not installed"),
            "none (libfeatherstorm_cuda.so is not installed); GPU and driver: ",
        ),
        (([("Some GPU", 9, 0, 132, 80_000_000_000)], ""), "device 0: Some GPU, compute capability 9.0, 132 multiproc"),
    ],
)
def test_doctor_tells_about_cuda(capsys, monkeypatch, devices, line):
    monkeypatch.setattr(fs._featherstorm, "cuda_devices", lambda: devices)
    code, out, _ = run(capsys, "doctor")
    assert code == 0 and f"cuda          {line}" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "go3"], "featherstorm info: 'go3' is neither a file nor a built-in robot; did you mean go2"),
        (["info", "none.urdf"], "featherstorm info: there is no file none.urdf"),
        (["simulate", "go2", "--plot", "/no/such/folder/a.png"], "there is no folder /no/such/folder"),
        (["simulate", "go2", "--plot", "a.exe"], "--plot: .exe is not supported"),
        (["simulate", "panda", "--drive", "stand"], "--drive stand: panda has no feet here, expected one of go2, hyq"),
        (["simulate", "go2", "--no-floating-base", "--drive", "stand"], "with a floating base"),
        (["simulate", "go2", "--threads", "-3"], "--threads is -3, expected 0 or more"),
        (["bench", "walk"], "there is no operation walk; there are rnea"),
        (["simulate", "double_pendulum", "--instances", "1000000000000"], "GB of memory are needed, and"),
        (["view", "double_pendulum", "--port", "80000"], "view: port is 80000, expected 0 to 65535"),
    ],
)
def test_errors(capsys, arguments, message):
    code, _, err = run(capsys, *arguments)
    assert code == 1 and message in err and "Traceback" not in err


def test_simulations_that_fail_on_the_way_are_errors_and_no_traceback(capsys, monkeypatch, tmp_path):
    def fails(options):
        raise SimulationError(np.array([1]), "too far", 3)

    monkeypatch.setattr("featherstorm.commands.view.begin_batch", fails)
    assert main(["view", str(tmp_path / "a.xml"), "--no-browser"]) == 1
    assert capsys.readouterr().err == "featherstorm view: 1 of 3 simulations (1); simulation 1: too far\n"


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_is_the_first_line_of_its_docstring(name):
    module = importlib.import_module(f"featherstorm.commands.{name}")
    assert COMMANDS[name] == module.__doc__.partition("\n")[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_needs_no_optional_package(name):
    code = (
        f"import sys\nsys.modules['mujoco'] = None\nfrom featherstorm.__main__ import main\nmain([{name!r}, '--help'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert COMMANDS[name] in done.stdout


def test_a_command_without_its_package_says_so():
    code = "import sys\nsys.modules['mujoco'] = None\nfrom featherstorm.__main__ import main\nsys.exit(main(['transfer', 'a']))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr == (
        "featherstorm transfer: featherstorm.transfer needs MuJoCo: python -m pip install 'mujoco>=4'\n"
    )


@pytest.mark.parametrize(
    "arguments", [[], ["fly"], ["simulate"], ["simulate", "go2", "--steps", "0"], ["simulate", "go2", "--dt", "nan"]]
)
def test_wrong_arguments(arguments):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2


def test_as_a_program_on_a_dumb_terminal():
    env = {**os.environ, "TERM": "dumb", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}

    def printed(words):
        command = [sys.executable, "-m", "featherstorm", *words.split()]
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert "throughput" in printed("simulate double_pendulum --instances 10 --steps 5 --no-specialise")
    assert printed("--version") == f"featherstorm {fs.__version__}\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_who_reads_the_output_may_stop(unbuffered):
    read, write = os.pipe()
    os.close(read)
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(
        [sys.executable, "-m", "featherstorm", "info", "go2"],
        env=env,
        stdout=write,
        stderr=subprocess.PIPE,
        timeout=120,
    )
    os.close(write)
    assert done.returncode == 1 and done.stderr == b""


def test_control(capsys):
    code, out, err = run(capsys, "control", "go2", "--seconds", "3.5", "--speed", "0.5")
    assert code == 0, err
    for word in (
        "go2 trot: 1 of 1 runs succeeded, 0 falls",
        "velocity: error 0.0",
        "plans: 174 of 256 samples x 2",
        "(p99)",
    ):
        assert word in out
    code, out, err = run(capsys, "control", "go2", "--seconds", "2.5", "--within", "0.001")
    assert code == 1 and "0 falls" in out


def test_control_has_tasks_with_rules_of_their_own(capsys):
    code, out, err = run(capsys, "control", "cartpole", "--samples", "128")
    assert code == 0 and "cartpole swing-up: 1 of 1 runs succeeded" in out and "goal: held for 2 s from" in out, err
    code, out, err = run(capsys, "control", "cartpole", "--seconds", "0.5")
    assert code == 1 and "0 of 1 runs succeeded" in out
    for arguments, message in (
        (["go2", "--task", "hop"], "--task is 'hop', expected one of trot, stand-up, climb, jumps, crate for a go2"),
        (["go2", "--task", "stand-up", "--speed", "1"], "--speed is for trot, climb and walk, not for stand-up"),
        (["cartpole", "--model", "feet"], "--model is for trot and jumps, not for swing-up"),
        (["go2", "--model", "mesh"], "Trot: model is 'mesh', expected 'feet' or 'file' for a go2"),
        (["go2", "--view", "--clock"], "--clock has no video, no page"),
        (["go2", "--view", "--runs", "2"], "--view shows one run on a page: leave out --video, --runs"),
        (["panda", "--push", "1"], "--push is for trot, stand-up, climb, jumps, crate"),
    ):
        code, _, err = run(capsys, "control", *arguments)
        assert code == 1 and message in err


@pytest.mark.parametrize(("seconds", "code"), [("10", 0), ("0.5", 1)])
def test_control_on_a_page_ends_with_the_success_of_its_run(capsys, monkeypatch, seconds, code):
    monkeypatch.setattr(viewing, "view", lambda scene, **page: [scene.step() for _ in range(5000)])
    given = "control", "cartpole", "--view", "--samples", "128", "--seconds", seconds
    done, out, err = run(capsys, *given)
    assert done == code and f"{1 - code} of 1 runs succeeded" in out, err


def test_control_in_real_time(capsys):
    code, out, err = run(capsys, "control", "go2", "--clock", "--seconds", "2.2", "--within", "10")
    assert "plans a second" in out and (code == 0 or "fell after" in out), err
    code, _, err = run(capsys, "control", "go2", "--clock", "--video", "a.mp4")
    assert code == 1 and "--clock has no video" in err
