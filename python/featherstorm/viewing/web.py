"""Running simulations in MuJoCo's web viewer.

The viewer is MuJoCo's own (mujoco.studio): a page with the scene, its camera, pause, speed and reset, drawn by the
browser.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import mujoco

from .scene import Scene, scene_of
from .studio import Clock

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ..environment.batch import EnvBatch
    from ..mujoco import Batch
    from ..simulation import Simulation


def view(
    simulation: Batch | Simulation | EnvBatch | Scene,
    ids: npt.ArrayLike | None = None,
    step: Callable[[Any], object] | None = None,
    *,
    spacing: float | None = None,
    file: str | None = None,
    port: int = 0,
    host: str = "127.0.0.1",
    seconds: float | None = None,
    wait: bool = False,
    speed: float = 1.0,
    open_browser: bool = True,
    ready: Callable[[str], object] | None = None,
) -> None:
    """Show simulations on a page and step them in real time, until Ctrl-C.

    simulation   a featherstorm.mujoco.Batch, a featherstorm.Simulation, the EnvBatch of an environment, or a Scene of one's
                 own with dt [s], step() and reset()
    ids          numbers of the simulations to show, one or a grid; None: all. All simulations are stepped
    step         step(simulation) makes a step, including controls and pushes; None: simulation.step()
    spacing, file   as for Frames
    port         0: the first free port from 8080 on
    host         address that can open the page, which has no password: "127.0.0.1", this machine only; "::": every
                 machine that reaches the port. Requests by pages of other sites are refused
    seconds      end after this simulated time
    wait         begin when the page is first opened
    speed        initial ratio of simulated to real time; the page changes it
    ready        called with the page's address

    If one simulation of a Batch is shown, the page can push it and set its controls.
    Errors: ImportError if mujoco.studio is missing; OSError for a port in use.
    """
    for name, value in (("speed", speed), ("seconds", seconds)):
        if value is not None and not value > 0:
            raise ValueError(f"view: {name} is {value}, expected more than 0")
    if not 0 <= port < 2**16:
        raise ValueError(f"view: port is {port}, expected 0 to 65535")
    try:
        from .studio import Steps, launch  # here: its classes derive from those of mujoco.studio
    except ImportError as error:
        raise ImportError(
            "view needs mujoco.studio, which MuJoCo 4.0 or later brings for Python 3.11 or newer: "
            f"python -m pip install 'featherstorm[view]' ({error})"
        ) from error
    scene = scene_of(simulation, ids, spacing, file)
    data = mujoco.MjData(scene.model)
    scene.read(data)
    clock = Clock(simulation, step, speed, seconds)
    handle = launch(host, port, open_browser, Steps(clock, scene, wait), ready)
    try:
        handle.set_model(scene.model, data=data)
        with contextlib.suppress(KeyboardInterrupt):
            while handle.is_running() and not clock.is_over:
                handle.sync()
    finally:
        handle.close()
