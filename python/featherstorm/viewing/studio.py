"""Extension of MuJoCo's web viewer: its address, and the steps between two of its frames."""

from __future__ import annotations

import ipaddress
import socket
import sys
import time
import urllib.parse
import weakref
from typing import TYPE_CHECKING, Any

from mujoco.studio import launch_thread, messages, plugin, sim, viewer_protocol, web_viewer
from mujoco.studio.app import plugins as app
from mujoco.studio.web import web_server

from ..mujoco import Batch

if TYPE_CHECKING:
    from collections.abc import Callable

    from .scene import Scene

BUDGET = 0.03  # largest time for steps between two frames [s]
LATE = 0.1  # delay that a simulation catches up at most [s]


class Clock:
    """Steps a simulation in real time.

    paused    True while the simulation is paused; set by the viewer
    speed     simulated time divided by real time
    is_over   True after `seconds` of simulated time; with seconds None never
    """

    def __init__(
        self, simulation: Any, step: Callable[[Any], object] | None, speed: float, seconds: float | None
    ) -> None:
        self.simulation, self.speed, self.paused = simulation, speed, False
        self.dt = float(simulation.model.opt.timestep if isinstance(simulation, Batch) else simulation.dt)
        self._step = step or (lambda simulation: simulation.step())
        self._owed = 0.0
        self._last: float | None = None
        self._left = None if seconds is None else max(round(seconds / self.dt), 1)

    @property
    def is_over(self) -> bool:
        return self._left == 0

    def hold(self) -> None:
        """Skip the time until the next call of `advance`."""
        self._last, self._owed = None, 0.0

    def advance(self) -> None:
        """Make the steps that are due in real time, for at most BUDGET seconds."""
        now = time.perf_counter()
        passed = 0.0 if self._last is None else now - self._last
        self._owed = min(self._owed + passed * self.speed, max(LATE * self.speed, 2 * self.dt))
        self._last = now
        while self._owed >= self.dt and not self.is_over and time.perf_counter() - now < BUDGET:
            self.once()
            self._owed -= self.dt

    def once(self) -> None:
        self._step(self.simulation)
        if self._left is not None:
            self._left -= 1

    def reset(self, key: int | None) -> None:
        """Reset all simulations to their defaults, or those of a Batch to a keyframe."""
        if isinstance(self.simulation, Batch):
            self.simulation.reset(keyframe=-1 if key is None else key)
        else:
            self.simulation.reset()


FIRST = messages.Priority.CRITICAL
REST = 0.004  # sleep in each frame, for the viewer's thread [s]


class Steps(plugin.SimPlugin):
    """Plugin that steps the simulations instead of MuJoCo.

    wait     begin when the page is first opened
    opened   True after the page was opened
    """

    def __init__(self, clock: Clock, scene: Scene, wait: bool) -> None:
        self.clock, self.scene, self.wait, self.opened = clock, scene, wait, False
        self._told = 1.0  # initial speed of the page

    @messages.handler(priority=FIRST)
    def on_step(self, event: messages.StepEvent) -> bool:
        self.scene.take(event.data)
        if self.clock.paused or (self.wait and not self.opened):
            self.clock.hold()
        else:
            self.clock.advance()
        self.scene.read(event.data)
        self.tell_speed()
        time.sleep(REST)
        return True

    def tell_speed(self) -> None:
        """Send a changed speed to the page, since the page sends its own speed with every pause."""
        if self.clock.speed != self._told:
            state = sim.PauseState.NORMAL_PAUSED if self.clock.paused else sim.PauseState.UNPAUSED
            self._told = self.clock.speed
            self.handle.send_to_viewer(messages.StepControlSnapshot(state, 100 * self._told))

    @messages.handler(priority=FIRST)
    def on_control(self, event: messages.StepControlSnapshot) -> None:
        self.clock.paused, self.clock.speed = event.pause_state != sim.PauseState.UNPAUSED, event.speed / 100

    @messages.handler(priority=FIRST)
    def on_pause(self, event: messages.RequestPauseEvent) -> None:
        self.clock.paused = event.pause_state != sim.PauseState.UNPAUSED

    @messages.handler(priority=FIRST)
    def on_single_step(self, _: messages.SingleStepEvent) -> None:
        self.clock.once()

    @messages.handler(priority=FIRST)
    def on_reset(self, event: messages.ResetEvent) -> bool:
        self.clock.reset(event.key)
        return True

    @messages.handler(priority=FIRST)
    def on_load(self, _: messages.LoadModelEvent) -> bool:
        print("view: another model needs a view of its own", file=sys.stderr)
        return True


guarded: weakref.WeakSet[Any] = weakref.WeakSet()  # sockets of viewers of ours
serve = web_server.serve


def serve_guarded(handler: Any, *, sock: Any, process_request: Any, **options: Any) -> Any:
    """Start MuJoCo's server; on a socket of ours, it refuses what a page of another site in the browser sends."""

    def checked(connection: Any, request: Any) -> Any:
        if is_own(request.headers.get_all("Host"), request.headers.get_all("Origin")):
            return process_request(connection, request)
        return web_server.Response(403, "Forbidden", web_server.Headers(), b"view: foreign Host or Origin\n")

    return serve(handler, sock=sock, process_request=checked if sock in guarded else process_request, **options)


web_server.serve = serve_guarded


def is_own(hosts: list[str], origins: list[str]) -> bool:
    """Return True for a request to an address or a name of this machine, by the page itself or by no page.

    Names alone are checked: a name of another site may lead here (DNS rebinding), an address may not.
    """
    try:
        pages = {urllib.parse.urlsplit(origin).netloc.lower() for origin in origins}
        name = urllib.parse.urlsplit(f"//{''.join(hosts)}").hostname or ""
    except ValueError:  # such as an address with one bracket
        return False
    if len(hosts) != 1 or pages - {hosts[0].lower()}:
        return False
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return name in ("localhost", socket.gethostname().lower(), socket.getfqdn().lower())
    return True


def launch(host: str, port: int, open_browser: bool, steps: Steps, ready: Callable[[str], object] | None) -> Any:
    """Start the viewer in a separate thread and return its handle."""
    config = viewer_protocol.ViewerConfig(title="featherstorm", gfx="web", http_port=port, open_browser=open_browser)

    class Viewer(web_viewer.WebViewer):
        # MuJoCo's viewer ignores the configured host and listens on all addresses of the machine.
        @property
        def _host(self) -> str:
            return host

        @_host.setter
        def _host(self, value: str) -> None:
            pass

        def _start_server(self) -> None:
            guarded.add(self._http_sock)
            super()._start_server()

        def prepare_next_frame(self) -> bool:
            opened = bool(super().prepare_next_frame())
            steps.opened |= opened
            return opened

    def run(endpoint: Any) -> None:
        try:
            viewer = Viewer(config, endpoint, plugins=[app.App()])
        except RuntimeError as error:
            raise OSError(f"view: {error}") from error
        if ready is not None:
            ready(f"http://localhost:{viewer._http_port}/")
        try:
            viewer_protocol.run_viewer_loop(viewer)
        finally:
            # Its destructor closes a resource that exists once per process; a later call would close that of another
            # viewer.
            viewer._headless_ui = None

    return launch_thread.launch_thread(run, sim_plugins=[steps])
