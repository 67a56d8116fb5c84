"""Images and videos of simulations, by MuJoCo's renderer."""

from __future__ import annotations

import ctypes.util
import importlib.util
import os
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .._optional import av
from .scene import Scene, scene_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..environment.batch import EnvBatch
    from ..mujoco import Batch
    from ..simulation import Simulation

    Image = npt.NDArray[np.uint8]

LARGEST = 8192  # largest width and height [pixels]
PACKAGES = {
    "egl": "EGL needs libEGL and a driver (on Debian: apt-get install libegl1 libegl-mesa0 libgl1-mesa-dri)",
    "osmesa": "OSMesa needs libOSMesa (on Debian: apt-get install libosmesa6)",
}


class Frames(AbstractContextManager["Frames"]):
    """Images of simulations.

        with Frames(batch, ids=range(16)) as frames:
            image = frames.render()                  # (height, width, 3) of uint8

    simulation   a featherstorm.mujoco.Batch, a featherstorm.Simulation, the EnvBatch of an environment, or a Scene
    ids          numbers of the simulations to show, one or a grid; None: all
    camera       name of a camera of the model, a mujoco.MjvCamera, or None: a camera that shows the whole first state
    spacing      distance between robots of a grid [m]; None: by their size; 0: all at the same position
    file         URDF file of a Simulation's robot, for its shapes
    OpenGL draws through EGL or OSMesa, whichever is installed; MUJOCO_GL=egl, osmesa or glfw chooses.
    Errors: ImportError with installation advice if neither is installed; ValueError for an invalid size, camera or
    number.
    """

    def __init__(
        self,
        simulation: Batch | Simulation | EnvBatch | Scene,
        ids: npt.ArrayLike | None = None,
        width: int = 640,
        height: int = 480,
        camera: Any = None,
        spacing: float | None = None,
        file: str | None = None,
    ) -> None:
        self._gl: Any = None
        self._context: Any = None
        for side in (width, height):
            if isinstance(side, bool) or not isinstance(side, (int, np.integer)) or not 0 < side <= LARGEST:
                raise ValueError(f"the size is {width} x {height}, expected whole numbers from 1 to {LARGEST}")
        self.width, self.height = int(width), int(height)
        self.scene = scene_of(simulation, ids, spacing, file)
        self.model = self.scene.model
        self.data = mujoco.MjData(self.model)
        self.scene.read(self.data)
        self.camera = camera_of(self.model, camera)
        visual = self.model.vis.global_
        visual.offwidth, visual.offheight = max(visual.offwidth, self.width), max(visual.offheight, self.height)
        self._gl = opengl(self.width, self.height)
        self._gl.make_current()
        self._context = mujoco.MjrContext(self.model, int(mujoco.mjtFontScale.mjFONTSCALE_150))
        mujoco.mjr_setBuffer(int(mujoco.mjtFramebuffer.mjFB_OFFSCREEN), self._context)
        self._drawn = mujoco.MjvScene(self.model, maxgeom=10000 + 4 * self.model.ngeom)
        self._option, self._perturb = mujoco.MjvOption(), mujoco.MjvPerturb()

    def render(self) -> Image:
        """Return the image (height, width, 3) of the present state."""
        if self._gl is None:
            raise ValueError("Frames: closed")
        self.scene.read(self.data)
        everything = int(mujoco.mjtCatBit.mjCAT_ALL)
        mujoco.mjv_updateScene(self.model, self.data, self._option, self._perturb, self.camera, everything, self._drawn)
        image = np.zeros((self.height, self.width, 3), np.uint8)
        rectangle = mujoco.MjrRect(0, 0, self.width, self.height)
        self._gl.make_current()
        mujoco.mjr_render(rectangle, self._drawn, self._context)
        mujoco.mjr_readPixels(image, None, rectangle, self._context)
        return np.ascontiguousarray(image[::-1])

    def close(self) -> None:
        if self._gl is not None:
            self._gl.make_current()
            if self._context is not None:
                self._context.free()
            self._gl.free()
            self._gl = self._context = None

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_gl", None) is not None:
            self.close()


def render(simulation: Batch | Simulation | EnvBatch, ids: npt.ArrayLike | None = None, **options: Any) -> Image:
    """Return one image (height, width, 3) of simulations; `options` are those of Frames."""
    with Frames(simulation, ids, **options) as frames:
        return frames.render()


def camera_of(m: Any, camera: Any) -> Any:
    if isinstance(camera, mujoco.MjvCamera):
        return camera
    found = mujoco.MjvCamera()
    if camera is None:
        mujoco.mjv_defaultFreeCamera(m, found)
        return found
    number = mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_CAMERA, camera) if isinstance(camera, str) else -1
    if number < 0:
        names = [m.camera(k).name for k in range(m.ncam)]
        raise ValueError(
            f"there is no camera {camera!r}; {'there are: ' + ', '.join(names) if names else 'the model has none'}"
        )
    found.type, found.fixedcamid = int(mujoco.mjtCamera.mjCAMERA_FIXED), number
    return found


def opengl(width: int, height: int) -> Any:
    """Make an OpenGL context without a window. Errors: ImportError with installation advice if none is available."""
    asked = os.environ.get("MUJOCO_GL", "").lower().strip()
    if asked and asked not in PACKAGES:
        from mujoco.rendering.classic.gl_context import GLContext  # here: the import loads a driver

        return GLContext(width, height)
    there = [name for name, library in (("egl", "EGL"), ("osmesa", "OSMesa")) if ctypes.util.find_library(library)]
    # OpenGL's Python package supports one platform in a process
    name = asked or os.environ.get("PYOPENGL_PLATFORM") or (there or ["egl"])[0]
    try:
        if name == "osmesa":
            from mujoco.osmesa import GLContext  # here: the import loads a driver
        else:
            from mujoco.egl import GLContext  # here: the import loads a driver
        return GLContext(width, height)
    except Exception as error:  # drivers and loaders raise various exceptions
        other = "osmesa" if name != "osmesa" else "egl"
        raise ImportError(
            f"images need OpenGL without a window, and {name} does not work here: {type(error).__name__}: {error}. "
            f"{PACKAGES.get(name, '')}; or take the other with MUJOCO_GL={other}: {PACKAGES[other]}"
        ) from error


ENDINGS = (".mp4", ".mov", ".mkv")


def check_video(path: str | os.PathLike[str], width: int = 640, height: int = 480) -> None:
    """Check the arguments of a video and the encoding package.

    Errors appear here instead of after the simulation.
    """
    text = os.fspath(path)
    folder = os.path.dirname(os.path.abspath(text))
    if os.path.splitext(text)[1].lower() not in ENDINGS:
        raise ValueError(f"video: {text} does not end with {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"video: there is no folder {folder}")
    if width % 2 or height % 2:
        raise ValueError(f"video: the size is {width} x {height}, expected even numbers")
    if importlib.util.find_spec("av") is None:
        raise ImportError("video: the package av is missing: python -m pip install 'featherstorm[view]'")


class Video(AbstractContextManager["Video"]):
    """A video of simulations, H.264.

        with Video("robots.mp4", batch, ids=range(16)) as video:
            for _ in range(300):
                batch.step(nstep=10)
                video.add()

    fps       frames per second
    options   as for Frames
    Errors: ImportError if the extra `view` is missing; OSError if the file cannot be written; those of Frames.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        simulation: Batch | Simulation | EnvBatch | Scene,
        ids: npt.ArrayLike | None = None,
        fps: int = 30,
        width: int = 640,
        height: int = 480,
        **options: Any,
    ) -> None:
        check_video(path, width, height)
        if isinstance(fps, bool) or not isinstance(fps, int) or not 1 <= fps <= 240:
            raise ValueError(f"video: fps is {fps}, expected a whole number from 1 to 240")
        self.path, self.fps, self.count = os.fspath(path), fps, 0
        self.frames = Frames(simulation, ids, width, height, **options)
        try:
            with open(self.path, "wb"):
                pass
            self._file: Any = av.open(self.path, "w")
        except Exception:
            self.frames.close()
            raise
        self._stream = self._file.add_stream("libx264", rate=fps)
        self._stream.width, self._stream.height, self._stream.pix_fmt = width, height, "yuv420p"
        self._stream.options = {"crf": "20", "preset": "fast"}

    def add(self) -> None:
        """Draw the present state of the simulations as the next frame."""
        frame = av.VideoFrame.from_ndarray(self.frames.render(), format="rgb24")
        self._file.mux(self._stream.encode(frame))
        self.count += 1

    def until(self, time: float) -> None:
        """Add all frames that are due after `time` seconds of simulated time: none, one or several."""
        while self.count <= time * self.fps + 1e-6:
            self.add()

    def close(self) -> None:
        if self._file is not None:
            self._file.mux(self._stream.encode(None))
            self._file.close()
            self._file = None
            self.frames.close()

    def __exit__(self, *_: object) -> None:
        self.close()
