"""Videos of simulations."""

from __future__ import annotations

import importlib.util
import os
from typing import TYPE_CHECKING, Any

from .._optional import av
from .frames import Frames

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self

    from ..environment.batch import EnvBatch
    from ..mujoco import Batch
    from ..simulation import Simulation
    from .scene import Scene

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


class Video:
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

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
