"""Policies in `view` and other commands: a policy's file, its task, and a simulation of both."""

from __future__ import annotations

import argparse
import functools
import os
from typing import TYPE_CHECKING, Any

from .._optional import mujoco
from .._world.values import compiled
from ..learning import Policy
from ..tasks.registry import make
from ..transfer.conditions import HELD, check_commands, prepared, root_axes
from ..transfer.episodes import check_policy
from ..viewing.camera import follower

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment.batch import EnvBatch
    from ..environment.env import Env


def command(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(x) for x in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}', expected numbers such as 1,0,0.5") from None


def load(path: str, task: str | None = None) -> tuple[Policy, str, Callable[[], Env]]:
    """Load a policy. Return it, its task's name, and a function that makes the task with the arguments of the training.

    task   name of a task to use instead of the policy's own
    Errors: FileNotFoundError; ValueError for a file that is not a policy, or has no task.
    """
    if not os.path.isfile(path):
        raise FileNotFoundError(f"there is no file {path}")
    policy = Policy.load(path)
    name = task or policy.task
    if not name:
        raise ValueError(f"{path} has no task name, expected --task NAME")
    arguments = policy.settings.get("task", {})
    return policy, name, functools.partial(make, name, **(arguments if isinstance(arguments, dict) else {}))


def begin_policy(options: argparse.Namespace) -> tuple[EnvBatch, Callable[[Any], object]]:
    """Return environments of the policy's task at the start of an episode, and a control step with its actions.

    With --commands, environment k keeps command k modulo their number.
    """
    policy, _, maker = load(options.robot, options.task)
    task = prepared(maker(), False, bool(options.commands))
    check_commands(task, options.commands)
    batch = task.batch(options.instances, options.seed, dtype=options.dtype, threads=options.threads or None)
    check_policy(policy, task, batch.groups, batch.recording.actions)
    if options.commands:
        batch.memory(HELD)[:] = [options.commands[k % len(options.commands)] for k in range(options.instances)]
    batch.reset(seed=options.seed)

    def step(batch: EnvBatch) -> None:
        batch.step(policy(batch.results(None).observed()))  # the page may have reset the batch

    return batch, step


def camera_of(batch: EnvBatch) -> Any:
    """Return a camera that follows a single robot with a moving root; otherwise None, for a fixed camera."""
    if batch.op != "world" or batch.num_envs > 1 or not root_axes(batch.model):
        return None
    m = compiled(batch.model)
    data = mujoco.MjData(m)
    data.qpos[:] = batch.q[0]
    mujoco.mj_kinematics(m, data)
    return follower(m, data)
