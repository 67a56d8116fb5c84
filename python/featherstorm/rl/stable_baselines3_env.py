"""Environments as a VecEnv of stable-baselines3."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecEnv

from .gymnasium_env import Camera, check_render_mode
from .spaces import action_space, copied, last_observations, observation_space

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from ..environment.batch import EnvBatch

    Indices = int | Iterable[int] | None


class StableBaselines3Env(VecEnv):
    """See featherstorm.rl.stable_baselines3.

    batch   the environments
    seed    for the next reset: with a number s, environment i draws the numbers of (s, i)
    get_attr, set_attr and env_method use attributes and methods of this object, which are the same for all
    environments.
    """

    def __init__(self, batch: EnvBatch, render_mode: str | None) -> None:
        check_render_mode("stable_baselines3", render_mode)
        self.batch, self.render_mode = batch, render_mode
        super().__init__(batch.num_envs, observation_space(batch), action_space(batch))
        self.metadata["render_fps"] = round(1 / batch.dt)
        self.camera = Camera(batch, 480, 480, None)
        self.asked_seed: int | None = None
        self.actions: npt.NDArray[Any] | None = None
        self.begun = time.time()

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        self.asked_seed = int(np.random.default_rng().integers(2**32)) if seed is None else int(seed)
        return [self.asked_seed] * self.num_envs

    def reset(self) -> Any:
        obs, _ = self.batch.reset(seed=self.asked_seed)
        self.asked_seed = None
        self.reset_infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        self._reset_options()
        return copied(obs)

    def step_async(self, actions: npt.NDArray[Any]) -> None:
        self.actions = np.asarray(actions, self.batch.dtype)

    def step_wait(self) -> tuple[Any, npt.NDArray[Any], npt.NDArray[Any], list[dict[str, Any]]]:
        obs, reward, terminated, truncated, info = self.batch.step(self.actions)
        done = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if done.any():
            last, end = last_observations(self.batch, info, done), info["final_info"]
            passed = round(time.time() - self.begun, 6)
            for i in np.flatnonzero(done).tolist():
                infos[i]["terminal_observation"] = last[i]
                infos[i]["TimeLimit.truncated"] = bool(truncated[i] and not terminated[i])
                infos[i]["episode"] = {"r": float(end["return"][i]), "l": int(end["length"][i]), "t": passed}
        return copied(obs), reward.astype(np.float32), done, infos

    def get_images(self) -> list[Any]:
        if self.render_mode is None:
            raise ValueError("render: render_mode is None, expected 'rgb_array' where the environment is made")
        return [self.camera.image(i) for i in range(self.num_envs)]

    def close(self) -> None:
        self.camera.close()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        return [getattr(self, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        if indices is not None and len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"set_attr: {attr_name} is one for all environments, expected indices=None")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        found = getattr(self, method_name)(*method_args, **method_kwargs)
        return [found for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: Any, indices: Indices = None) -> list[bool]:
        """Return True for Monitor, since infos has its figures of episodes."""
        return [wrapper_class is Monitor for _ in self._get_indices(indices)]
