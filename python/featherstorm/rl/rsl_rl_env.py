"""Environments as a VecEnv of rsl_rl 5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from rsl_rl.env import VecEnv
from tensordict import TensorDict

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment.batch import EnvBatch

GROUP = "policy"  # rsl_rl's name for an observation without groups
UNLIMITED = 2**24  # control steps of an episode without a limit; upper limit of the engine's counter


class RslRlEnv(VecEnv):
    """VecEnv of rsl_rl; see featherstorm.rl.rsl_rl. The constructor begins the first episodes.

    batch                the environments
    bootstrap, gamma     may be set later: runner = OnPolicyRunner(env, ...); env.bootstrap = runner.alg.critic
    episode_length_buf   (N,) control steps of the episodes so far, a view of the engine's memory that may be written
    extras               "time_outs" (N,): 1 if only the time limit ended the episode; "log": means of the return, the
                         length and the sums of the reward terms, over the episodes that ended in this step
    An observation without groups is the group "policy".
    """

    def __init__(
        self, batch: EnvBatch, bootstrap: Callable[[Any], Any] | None = None, gamma: float = 0.99, cfg: Any = None
    ) -> None:
        self.batch, self.bootstrap, self.gamma = batch, bootstrap, gamma
        self.num_envs, self.num_actions = batch.num_envs, batch.recording.actions
        self.max_episode_length = UNLIMITED if batch.task.steps is None else int(batch.task.steps)
        self.device = torch.device(batch.device)
        self.cfg = {} if cfg is None else cfg
        self.dtype = getattr(torch, batch.dtype.name)
        self.lengths = as_tensor(batch.episode_length)
        self.observations = self.grouped(batch.reset()[0])

    @property
    def episode_length_buf(self) -> torch.Tensor:
        return self.lengths

    @episode_length_buf.setter
    def episode_length_buf(self, lengths: torch.Tensor) -> None:
        self.lengths.copy_(lengths)

    def grouped(self, obs: Any) -> TensorDict:
        groups = obs if isinstance(obs, dict) else {GROUP: obs}
        return TensorDict(
            {name: as_tensor(x) for name, x in groups.items()}, batch_size=[self.num_envs], device=self.device
        )

    def get_observations(self) -> TensorDict:
        return self.observations

    def reset(self, seed: int | None = None) -> TensorDict:
        """Begin an episode in every environment. The runner never calls this."""
        self.observations = self.grouped(self.batch.reset(seed=seed)[0])
        return self.observations

    def step(self, actions: torch.Tensor) -> tuple[TensorDict, torch.Tensor, torch.Tensor, dict[str, Any]]:
        obs, reward, terminated, truncated, info = self.batch.step(actions.detach().to(self.device, self.dtype))
        self.observations = self.grouped(obs)
        ended, limit = terminated | truncated, truncated & ~terminated
        extras: dict[str, Any] = {"time_outs": limit.to(self.dtype)}
        if bool(ended.any()):
            extras["log"] = self.log(info["final_info"], ended)
            if self.bootstrap is not None and bool(limit.any()):
                reward = reward.clone()
                last = self.grouped(info["final_obs"])[limit]
                with torch.no_grad():
                    values = self.bootstrap(last).reshape(-1)
                if values.shape != (len(last),):
                    raise ValueError(f"rsl_rl: bootstrap returned {len(values)} values for {len(last)} observations")
                reward[limit] += self.gamma * values.to(reward)
        if self.bootstrap is not None:
            extras["time_outs"].zero_()
        return self.observations, reward, ended.long(), extras

    def log(self, end: dict[str, torch.Tensor], ended: torch.Tensor) -> dict[str, torch.Tensor]:
        found = {f"Episode/{name}": end[name][ended].mean() for name in ("return", "length")}
        found.update({f"Episode_Reward/{name}": end[name][ended].mean() for name in self.batch.terms})
        return found


def as_tensor(x: Any) -> torch.Tensor:
    """Return a torch view of an array of the engine, or a given tensor."""
    return x if torch.is_tensor(x) else torch.from_dlpack(x)
