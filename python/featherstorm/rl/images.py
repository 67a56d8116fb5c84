"""Images of single environments, drawn at first access."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

from .. import viewing

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..environment.batch import EnvBatch

    Image = npt.NDArray[np.uint8]

MODES = ("rgb_array",)


def check_render_mode(name: str, render_mode: str | None) -> None:
    if render_mode is not None and render_mode not in MODES:
        raise ValueError(f"{name}: render_mode is {render_mode!r}, expected {', '.join(map(repr, MODES))} or None")


class Camera:
    """Draws single environments. The first image makes the OpenGL context."""

    def __init__(self, batch: EnvBatch, width: int, height: int, camera: Any) -> None:
        self.batch, self.size, self.camera = batch, (width, height), camera
        self.frames: Any = None

    def image(self, env: int) -> Image:
        """Return the image (height, width, 3) of the present state of environment `env`."""
        if self.frames is None:
            self.frames = viewing.Frames(self.batch, [env], *self.size, camera=self.camera)
        self.frames.scene.sims[0] = env
        image: Image = self.frames.render()
        return image

    def close(self) -> None:
        if self.frames is not None:
            self.frames.close()
            self.frames = None


class Images(Sequence[Any]):
    """Sequence with an image of each environment, drawn at first access.

    After the next step, images that were not drawn raise a RuntimeError.
    """

    def __init__(self, camera: Camera, number: int) -> None:
        self.camera, self.number = camera, number
        self.drawn: dict[int, Image] = {}
        self.is_over = False

    def __len__(self) -> int:
        return self.number

    @overload
    def __getitem__(self, k: int) -> Image: ...
    @overload
    def __getitem__(self, k: slice) -> list[Image]: ...
    def __getitem__(self, k: int | slice) -> Image | list[Image]:
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(self.number))]
        if not -self.number <= k < self.number:
            raise IndexError(f"images: index is {k}, expected {-self.number} to {self.number - 1}")
        k %= self.number
        if k not in self.drawn:
            if self.is_over:
                raise RuntimeError(
                    "render: the environments have been stepped since, look at images before the next step"
                )
            self.drawn[k] = self.camera.image(k)
        return self.drawn[k]
