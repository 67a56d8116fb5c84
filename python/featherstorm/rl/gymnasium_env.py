"""Environments as a gymnasium.vector.VectorEnv, and images of single environments."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn, overload

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from .. import viewing
from .._memory.arrays import refuse_pickle
from .._names import expect, expect_shape
from .spaces import action_space, check_names, copied, last_observations, observation_space, told

if TYPE_CHECKING:
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


MODE_OF = {
    "same_step": AutoresetMode.SAME_STEP,
    "next_step": AutoresetMode.NEXT_STEP,
    "disabled": AutoresetMode.DISABLED,
}
SHOWN = 8  # largest number of environments listed in a message


def mode_name(mode: object) -> str | None:
    """Return EnvBatch's name of an autoreset mode; the mode is this name, gymnasium's member, its value or None."""
    for name, member in MODE_OF.items():
        if mode in (name, member, member.value):
            return name
    expect(mode is None, "gymnasium: autoreset", repr(mode), f"one of {', '.join(map(repr, MODE_OF))}")
    return None


class GymnasiumEnv(VectorEnv[Any, Any, Any]):
    """VectorEnv of gymnasium; see featherstorm.rl.gymnasium.

    Transitions and infos equal those of SyncVectorEnv in each of its modes.

    batch   the environments
    reset   has the arguments seed and options.
            seed: with a number s, environment i draws the numbers of (s, i), not those of (s + i, 0); a list has a
            number or None for each environment; None begins the next episodes, at first with the seed of the batch.
            options: reset_mask (N,) of bool selects the environments that begin an episode
    """

    def __init__(
        self, batch: EnvBatch, copy: bool, render_mode: str | None, size: tuple[int, int], camera: Any
    ) -> None:
        check_render_mode("gymnasium", render_mode)
        check_names(batch)
        self.batch, self.copy, self.render_mode = batch, copy, render_mode
        self.num_envs = batch.num_envs
        self.autoreset_mode = MODE_OF[batch.autoreset]
        self.metadata = {
            "render_modes": list(MODES),
            "render_fps": round(1 / batch.dt),
            **batch.task.metadata,
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_action_space, self.single_observation_space = action_space(batch), observation_space(batch)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.ended = np.zeros(self.num_envs, bool)  # the episode ended in the last step, and no other has begun
        self.camera = Camera(batch, *size, camera)
        self.images: Images | None = None

    def __reduce__(self) -> NoReturn:
        refuse_pickle("batch of environments", "pickle the arguments that it was made with, and make it there")

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed if isinstance(seed, int) else None)
        mask = self.mask(dict(options or {}))
        self.forget_images()
        obs, info = self.batch.reset(seed=seed, mask=mask)
        self.ended[slice(None) if mask is None else mask] = False
        return self.own(obs), info

    def mask(self, options: dict[str, Any]) -> npt.NDArray[np.bool_] | None:
        mask = options.pop("reset_mask", None)
        if options:
            raise ValueError(f"reset: options has {next(iter(options))!r}, expected 'reset_mask' alone")
        if mask is None:
            return None
        if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_:
            raise TypeError(
                f"reset: reset_mask is {getattr(mask, 'dtype', type(mask).__name__)}, expected a numpy array of bool"
            )
        expect_shape("reset: reset_mask", mask.shape, (self.num_envs,))
        if not mask.any():
            raise ValueError("reset: reset_mask is False everywhere, expected an environment at least")
        return mask

    def step(self, actions: Any) -> tuple[Any, Any, Any, Any, dict[str, Any]]:
        if self.autoreset_mode == AutoresetMode.DISABLED and self.ended.any():
            which = np.flatnonzero(self.ended)
            raise ResetNeeded(
                f"step: episodes of environments {', '.join(map(str, which[:SHOWN].tolist()))}"
                f"{', ...' if len(which) > SHOWN else ''} have ended, expected reset(options=dict(reset_mask=...)) before"
            )
        self.forget_images()
        obs, reward, terminated, truncated, info = self.batch.step(np.asarray(actions, self.batch.dtype))
        done = terminated | truncated
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            infos = told(self.batch, info, ~done, np.zeros_like(done))
            if done.any():
                infos["final_obs"], infos["_final_obs"] = last_observations(self.batch, info, done), done.copy()
                infos["final_info"], infos["_final_info"] = told(self.batch, info, done, done), done.copy()
        else:  # environments that only began an episode have no infos
            infos = told(self.batch, info, ~self.ended, done)
        self.ended = done
        return self.own(obs), reward.astype(np.float64), terminated, truncated, infos

    def own(self, obs: Any) -> Any:
        """Return the observations for the user: copies if `copy` is set."""
        return copied(obs) if self.copy else obs

    def render(self) -> Any:
        """Return a sequence of images (height, width, 3), one for each environment.

        An image is drawn at first access, which must be before the next step.

        Without a render_mode the result is None, as in gymnasium, since learners call `render` in any case.
        """
        if self.render_mode is None:
            return None
        if self.images is None:
            self.images = Images(self.camera, self.num_envs)
        return self.images

    def call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Return an attribute, or the result of a method, for each environment; here all are equal."""
        found = getattr(self, name)
        found = found(*args, **kwargs) if callable(found) else found
        return found if isinstance(found, Images) else (found,) * self.num_envs

    def forget_images(self) -> None:
        if self.images is not None:
            self.images.is_over = True
            self.images = None

    def close_extras(self, **_: Any) -> None:
        self.camera.close()
