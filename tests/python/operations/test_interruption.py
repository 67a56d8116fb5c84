"""Ctrl-C during a long call ends it with KeyboardInterrupt, soon and with its state whole; threads may outlive the interpreter."""

import gc
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import featherstorm as fs

WITHIN = 0.2  # [s]
BUSY = 0.5  # added on machines with other work [s]


def interrupted(call, after=0.3):
    """Seconds from a SIGINT during the call until it has ended with KeyboardInterrupt."""
    sent = []

    def send():
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(after, send)
    gc.disable()  # Python drops what is raised in callbacks of its collector
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            call()
        return time.perf_counter() - sent[0]
    finally:
        timer.join()
        gc.enable()


@pytest.fixture(params=[1, 2], ids=["1 thread", "2 threads"])
def go2(request):
    return fs.load("go2", threads=request.param)


def test_many_substeps_can_be_interrupted(go2):
    s = fs.Simulation(go2, 3, dt=1e-3, substeps=2**31 - 1)
    before = np.array(s.q), np.array(s.v), s.time
    assert interrupted(s.step) < WITHIN + BUSY
    np.testing.assert_array_equal(s.q, before[0])
    np.testing.assert_array_equal(s.v, before[1])
    assert s.time == before[2]


def test_a_batch_of_many_blocks_can_be_interrupted(go2):
    s = fs.Simulation(go2, 1000, dt=1e-3, substeps=100_000)
    before = np.array(s.q)
    assert interrupted(s.step) < WITHIN + BUSY
    np.testing.assert_array_equal(s.q, before)


def test_a_rollout_can_be_interrupted_and_called_again(go2):
    r = fs.Rollout(go2, dt=0.02, cost=lambda x, u, t, p: x[0] + u[0] ** 2)
    x0 = np.r_[go2.q0, np.zeros(18)].astype("float32")
    few = fs.Noise(5, np.zeros((10, 18)), sigma=1.0)
    first = r(x0, few).costs
    assert interrupted(lambda: r(x0, fs.Noise(2_000_000, np.zeros((100, 18)), sigma=1.0))) < WITHIN + BUSY
    np.testing.assert_array_equal(r(x0, few).costs, first)


def test_substeps_of_a_rollout_can_be_interrupted(go2):
    r = fs.Rollout(go2, dt=0.02, substeps=1_000_000, cost=lambda x, u, t, p: x[0])
    x0 = np.r_[go2.q0, np.zeros(18)]
    assert interrupted(lambda: r(x0, np.zeros((1, 50, 18)))) < WITHIN + BUSY


def test_parts_of_many_substeps_give_the_same_numbers():
    m = fs.load("go2", threads=1)
    many = fs.Simulation(m, 3, dt=1.0, substeps=20_000)
    one = fs.Simulation(m, 3, dt=1.0 / 20, substeps=1_000)
    many.v[:] = one.v[:] = np.linspace(-0.1, 0.1, 54).reshape(3, 18)
    many.step()
    for _ in range(20):
        one.step()
    np.testing.assert_array_equal(many.q, one.q)


def test_parts_of_many_substeps_of_a_rollout_give_the_same_numbers():
    m = fs.load("go2", threads=1)
    x0 = np.r_[m.q0, np.linspace(-0.1, 0.1, 18)]
    last = []
    for steps in (1, 2000):
        r = fs.Rollout(m, dt=20.0 / steps, substeps=20_000 // steps, cost=lambda x, u, t, p: 0.0 * x[0])
        last.append(r(x0, np.zeros((3, steps, 18))).final)
    np.testing.assert_array_equal(*last)


def test_loading_can_be_interrupted(tmp_path):
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    links = "".join(f'<link name="l{i}">{inertial}</link>' for i in range(3000))
    joints = "".join(
        f'<joint name="j{i}" type="continuous"><parent link="l{i - 1}"/><child link="l{i}"/></joint>'
        for i in range(1, 3000)
    )
    (tmp_path / "chain.urdf").write_text(f'<robot name="c">{links}{joints}</robot>')
    assert interrupted(lambda: [fs.load(tmp_path / "chain.urdf") for _ in range(100)]) < WITHIN + BUSY


def compiler(folder):
    """A C++ compiler that works for ever, and writes its process number."""
    path = folder / "slow-c++"
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec c++ --version\necho $$ > {folder}/pid\nexec sleep 100\n')
    path.chmod(0o755)
    return str(path)


COMPILE = """
    import os, sys
    import numpy as np
    import featherstorm as fs
    m = fs.load("cartpole", threads=1)
    fs.Rollout(m, dt=0.02, cost=lambda x, u, t, p: x[0])(np.ones(4), np.ones((8, 3, 2)))
"""


def compiling(folder):
    """A process whose compiler is at work, and the process number of the compiler."""
    more = {"ASSEMBLE": "0", "CXX": compiler(folder), "CACHE": str(folder / "cache")}
    variables = {**os.environ, **{f"FEATHERSTORM_{k}": v for k, v in more.items()}, "TMPDIR": str(folder)}
    code = textwrap.dedent(COMPILE)
    p = subprocess.Popen([sys.executable, "-c", code], env=variables, stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        if (folder / "pid").exists() and (text := (folder / "pid").read_text().strip()):
            return p, int(text)
        time.sleep(0.1)
    p.kill()
    raise AssertionError(p.communicate()[1])


def ends(pid):
    """The process is gone, or has ended and waits to be collected."""
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                if ") Z " in file.read():
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_a_compiler_ends_with_its_parent(tmp_path, by):
    p, pid = compiling(tmp_path)
    p.send_signal(by)
    p.communicate()
    assert ends(pid)


def test_a_compilation_can_be_interrupted(tmp_path):
    p, pid = compiling(tmp_path)
    begin = time.perf_counter()
    p.send_signal(signal.SIGINT)
    _, errors = p.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors
    assert time.perf_counter() - begin < 2
    assert ends(pid)


DAEMONS = """
    import threading, time
    import featherstorm as fs
    m = fs.load("go2", threads=1)
    q, v = fs.random_state(m, 20_000)
    def run():
        while True: fs.fd(m, q, v, v)
    def step():
        s = fs.Simulation(m, 2000, dt=1e-3)
        while True: s.step()
    for f in (run, step): threading.Thread(target=f, daemon=True).start()
    time.sleep(1)
"""


def test_the_interpreter_ends_while_daemon_threads_are_in_calls():
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(DAEMONS)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


MANY = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="5 5 .1"/>{}</worldbody></mujoco>"""
ARM = '<body name="b{0}" pos="{0} 0 .3"><joint axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 .3 0 0"/></body>'


@pytest.mark.parametrize("threads", [1, 2])
def test_many_steps_of_a_mujoco_batch_can_be_interrupted(threads):
    mujoco = pytest.importorskip("mujoco")
    pytest.importorskip("mujoco.batch", reason="needs MuJoCo 4.0 or later")
    m = mujoco.MjModel.from_xml_string(MANY.format("".join(ARM.format(k) for k in range(6))))
    batch, other = (fs.mujoco.Batch(m, 700, threads) for _ in range(2))
    for b in (batch, other):
        b.qvel = np.linspace(0, 1, 700 * m.nv).reshape(700, m.nv)
        b.step()
    assert interrupted(lambda: batch.step(nstep=10**7)) < WITHIN + BUSY
    np.testing.assert_array_equal(batch.qpos, other.qpos)
    np.testing.assert_array_equal(batch.time, other.time)
    for b in (batch, other):
        b.step(nstep=3)
    np.testing.assert_array_equal(batch.qpos, other.qpos)


def test_making_a_kernel_can_be_interrupted_and_begins_anew():
    m = fs.load("atlas", threads=1)
    q, v = m.q0[None], np.zeros((1, m.nv))
    fd_derivatives = fs.fd_derivatives
    seconds = time.perf_counter()
    fd_derivatives(m, q, v, v)
    seconds = time.perf_counter() - seconds
    expected = fd_derivatives(m, q, v, v)
    for part in (0.1, 0.3, 0.5, 0.7):
        m = fs.load("atlas", threads=1)

        def call(m=m):
            for _ in range(100):
                fd_derivatives(m, q, v, v)
            time.sleep(5)

        assert interrupted(call, after=part * seconds) < WITHIN + BUSY
        for a, b in zip(fd_derivatives(m, q, v, v), expected):
            np.testing.assert_array_equal(a, b)
