"""The page of `featherstorm view`: who may see it, what runs on it, and how it looks in a browser."""

import contextlib
import io
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request

import numpy as np
import pytest
from browser import Browser, program, until
from view_scenes import BALL, SPINNER, batch

import featherstorm as fs
from featherstorm import viewing
from featherstorm.viewing.scene import One
from featherstorm.viewing.studio import Clock


def free_port():
    """Another for each test, for several run side by side."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def need_studio():
    pytest.importorskip("mujoco.studio.web_viewer", reason="mujoco.studio is not there", exc_type=ImportError)


@contextlib.contextmanager
def viewed(*arguments):
    """The page's address while the command runs."""
    need_studio()
    options = f"--no-browser --threads 1 --port {free_port()}".split()
    command = [sys.executable, "-m", "featherstorm", "view", *arguments, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    printed = []
    threading.Thread(target=lambda: printed.extend(process.stdout), daemon=True).start()

    def address():
        assert process.poll() is None, "".join(printed)
        return re.search(r"http://localhost:\d+/", "".join(printed))

    try:
        yield until(address, 60)[0]
    finally:
        process.kill()
        process.wait()


def test_a_view_ends_after_its_seconds_and_only_this_machine_sees_it():
    need_studio()
    one, seen = batch(BALL, 3), []

    def answer(address):
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=10) as page:
            return address, page.status, b"<canvas" in page.read()

    def ready(address):
        seen.append(until(lambda: answer(address), 20))
        port = int(re.search(r"\d+", address)[0])
        for name in {*socket.gethostbyname_ex(socket.gethostname())[2]} - {"127.0.0.1"}:
            with socket.socket() as other:
                seen.append(other.connect_ex((name, port)))

    viewing.view(one, [0, 2], port=free_port(), seconds=0.3, open_browser=False, ready=ready)
    (_, status, canvas), *elsewhere = seen
    assert status == 200 and canvas and 0 not in elsewhere
    np.testing.assert_allclose(one.time, 0.3, rtol=1e-5)


def test_pages_of_other_sites_are_refused():
    need_studio()
    from websockets.exceptions import InvalidStatus
    from websockets.sync.client import connect

    def status(port, path, **headers):
        host = headers.pop("Host", f"127.0.0.1:{port}")
        with socket.create_connection(("127.0.0.1", port)) as to:
            lines = [f"GET {path} HTTP/1.1", f"Host: {host}", *(f"{k}: {x}" for k, x in headers.items()), "", ""]
            to.sendall("\r\n".join(lines).encode())
            return int(to.recv(100).split()[1])

    def listens(port):
        try:
            return status(port, "/") == 200
        except OSError:
            return False

    def ready(address):
        port = int(re.search(r"\d+", address)[0])
        until(lambda: listens(port), 20)
        own = f"http://localhost:{port}"
        for path in ("/state?sid=a", "/ui?sid=a", "/drop?sid=a"):
            for headers in (
                {"origin": "http://evil.example"},
                {"origin": "null"},
                {"origin": f"http://localhost:{port + 1}"},
            ):
                with pytest.raises(InvalidStatus) as caught:
                    connect(f"ws://localhost:{port}{path}", **headers)
                assert caught.value.response.status_code == 403
        with connect(f"ws://localhost:{port}/state?sid=b", origin=own), connect(f"ws://127.0.0.1:{port}/state?sid=c"):
            seen.append(status(port, "/model", Origin="http://evil.example"))
            seen.append(status(port, "/model", Host="evil.example"))
            seen.append(status(port, "/model", Host=f"evil.example:{port}", Origin=f"http://evil.example:{port}"))
            seen.append(status(port, "/model", Host="[::1", Origin="http://[::1"))
            seen.append(status(port, "/", Host=f"[::1]:{port}", Origin=f"http://[::1]:{port}"))
            seen.append(status(port, "/", Host=socket.gethostname()))

    seen = []
    viewing.view(batch(BALL, 1), port=free_port(), seconds=0.1, open_browser=False, ready=ready)
    assert seen == [403, 403, 403, 403, 200, 200]


def test_robots_of_a_simulation_are_viewed():
    need_studio()
    sim = fs.Simulation(fs.load("go2", threads=1), 2, 1e-2)
    viewing.view(sim, step=lambda sim: sim.step(), port=free_port(), seconds=0.1, open_browser=False)
    assert sim.time == pytest.approx(0.1)


def test_a_port_that_is_taken_is_said():
    need_studio()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(OSError, match=f"view: Port {taken.getsockname()[1]} is already in use"):
            viewing.view(batch(BALL, 1), port=taken.getsockname()[1], seconds=1, open_browser=False)
    with pytest.raises(ValueError, match="view: port is 80000, expected 0 to 65535"):
        viewing.view(batch(BALL, 1), port=80000)


def test_what_is_wrong_with_a_view_is_said(monkeypatch):
    for options, text in (({"speed": 0}, "view: speed is 0, expected more than 0"), ({"seconds": -1}, "seconds is -1")):
        with pytest.raises(ValueError, match=text):
            viewing.view(batch(BALL, 1), **options)
    monkeypatch.delitem(sys.modules, "featherstorm.viewing.studio", raising=False)
    monkeypatch.setitem(sys.modules, "mujoco.studio", None)
    with pytest.raises(ImportError, match=r"view needs mujoco.studio, .* python -m pip install 'featherstorm\[view\]'"):
        viewing.view(batch(BALL, 1))


class Counted:
    dt = 0.01

    def __init__(self):
        self.steps = 0

    def step(self):
        self.steps += 1


def test_steps_keep_to_the_clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    clock = Clock(Counted(), None, 1.0, None)
    clock.advance()
    assert clock.simulation.steps == 0
    for passed, steps in ((0.035, 3), (0.006, 4), (0.02, 6)):
        now[0] += passed
        clock.advance()
        assert clock.simulation.steps == steps
    now[0] += 60  # nobody watches a minute of steps in a burst
    clock.advance()
    assert clock.simulation.steps <= 16
    before, clock.speed = clock.simulation.steps, 0.5
    clock.hold()
    clock.advance()
    now[0] += 0.081
    clock.advance()
    assert clock.simulation.steps == before + 4


def test_steps_end_when_the_time_is_over(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    clock = Clock(Counted(), None, 1.0, 0.05)
    for _ in range(20):
        now[0] += 0.02
        clock.advance()
    assert clock.is_over and clock.simulation.steps == 5


def test_what_a_user_changes_is_the_simulations():
    import mujoco

    two = batch(SPINNER, 2, dtype="float64")
    scene = One(two, 1)
    data = mujoco.MjData(scene.model)
    scene.read(data)
    data.ctrl[0], data.xfrc_applied[1, 2] = 2.5, 7
    scene.take(data)
    assert two.ctrl[:, 0].tolist() == [0, 2.5] and two.xfrc_applied[1, 1, 2] == 7
    two.step()
    scene.read(data)
    assert data.qvel[0] == two.qvel[1, 0] > 0 and data.time == two.time[1]


@pytest.mark.skipif(program() is None, reason="no Chromium (on Debian: apt-get install chromium)")
def test_a_browser_shows_what_moves(tmp_path):
    (tmp_path / "spinner.xml").write_text(SPINNER)
    more = ["--instances", "4", "--keyframe", "0", "--controls", "keyframe"]
    with viewed(str(tmp_path / "spinner.xml"), *more) as address, Browser(address) as browser:

        def red():
            """Where the scene, right of the options and left of the inspector, is red."""
            r, g, b = pixels(browser.screenshot())[40:360, 220:720, :3].astype(int).transpose(2, 0, 1)
            return (r > 60) & (r > 2 * g) & (r > 2 * b)

        before = until(lambda: [image] if (image := red()).sum() > 500 else None, 90)[0]
        # four boxes, left and right of the middle and above and below it
        rows, columns = np.nonzero(before)
        assert np.ptp(columns) > 100 and np.ptp(rows) > 40
        until(lambda: (red() ^ before).sum() > 0.2 * before.sum(), 30)
        browser.press(" ", "Space")  # pauses
        until(lambda: (red() ^ red()).sum() < 0.01 * before.sum(), 30)


def pixels(png):
    from matplotlib import image

    return (255 * image.imread(io.BytesIO(png))).astype(np.uint8)
