"""Show running simulations on a page in the browser or as a video.

The argument is one of these:
  an MJCF file                        stepped with all its elements, by featherstorm.mujoco.Batch
  a built-in robot or a URDF file     simulated as by `simulate`
  a policy (.npz, of `train`)         runs in its task

The page is MuJoCo's own viewer, with pause, speed, reset and a free camera. A single simulation of an MJCF file can be
pushed. Ctrl-C ends the command.
"""

from __future__ import annotations

import argparse
import functools
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

from .. import viewing
from .._optional import mujoco
from .._robot.model_files import expect_files
from .._world.values import compiled
from ..learning import Policy
from ..tasks.registry import make
from ..transfer.conditions import HELD, check_commands, prepared, root_axes
from ..transfer.episodes import check_policy
from ..viewing.camera import follower
from . import add_engine_arguments, add_model_arguments, positive, refuse, seconds
from .simulate import add_run_arguments, begin, shape_file
from .simulate_world import Controls, add_control_arguments, check_keyframe

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..environment.batch import EnvBatch
    from ..environment.env import Env
    from ..mujoco import Batch
    from ..simulation import Simulation


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


KINDS = ("an MJCF file", "a robot that is not an MJCF file's", "a policy")
# options that apply only to some views
ONLY = {
    "an MJCF file": ("controls", "keyframe", "device"),
    "a robot that is not an MJCF file's": ("dt", "substeps", "drive", "floating_base", "no_specialise"),
    "a policy": ("commands", "task"), "a video": ("size", "fps", "camera"),
    "the page": ("port", "public", "no_browser"),
}  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser, more="; the .npz file of a policy")
    parser.add_argument("--instances", type=positive, default=1, help="robots, in a grid (default: %(default)s)")
    parser.add_argument("--spacing", type=float, help="between robots [m]; 0: all in one place (default: as they need)")
    add_control_arguments(parser)
    parser.add_argument("--task", metavar="NAME", help="of a policy (default: its own)")
    add_commands(parser, "a policy that follows velocities")
    add_run_arguments(parser)
    parser.add_argument("--speed", type=seconds, default=1.0, help="beside the clock (default: %(default)s)")
    parser.add_argument("--seconds", type=seconds, help="of simulation (default: 5 for a video, else until Ctrl-C)")
    parser.add_argument("--port", type=int, default=0, help="of the page (default: the first free one from 8080 on)")
    parser.add_argument("--public", action="store_true", help="whoever reaches the port may see and steer the page")
    parser.add_argument("--no-browser", action="store_true", help="only says where the page is")
    parser.add_argument("--video", metavar="FILE", help="writes a video, such as robots.mp4, in place of the page")
    add_video_arguments(parser, "sees everything")
    parser.add_argument("--device", default="cpu", help="default: %(default)s")
    add_engine_arguments(parser)


def add_commands(parser: argparse.ArgumentParser, follower: str) -> None:
    said = f"of {follower} [m/s, m/s, rad/s] (default: as its task draws them)"
    parser.add_argument("--commands", nargs="+", type=command, metavar="VX,VY,WZ", help=said)


def add_video_arguments(parser: argparse.ArgumentParser, camera: str) -> None:
    parser.add_argument("--size", type=size, default=(640, 480), metavar="WxH", help="of the video (default: 640x480)")
    parser.add_argument("--fps", type=positive, default=30, help="frames a second of the video (default: %(default)s)")
    parser.add_argument("--camera", metavar="NAME", help=f"of the video, one of the file's (default: {camera})")


def size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    try:
        return int(width), int(height)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}', expected a width and a height such as 640x480") from None


def main(options: argparse.Namespace) -> None:
    if options.video:
        viewing.check_video(options.video, *options.size)
    kind, begin_kind = kind_of(options.robot)
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    for other in sorted({*KINDS, "the page" if options.video else "a video"} - {kind}):
        refuse(options, {name: parser.get_default(name) for name in ONLY[other]}, other)
    simulation, step = begin_kind(options)
    file = shape_file(options) if begin_kind is begin_robot else None
    where: dict[str, Any] = {"spacing": options.spacing, "file": file}
    if not options.video:
        viewing.view(
            simulation,
            None,
            step,
            port=options.port,
            host="::" if options.public else "127.0.0.1",
            seconds=options.seconds,
            speed=options.speed,
            open_browser=not options.no_browser,
            **where,
        )
        return
    width, height = options.size
    camera = options.camera or (camera_of(simulation) if begin_kind is begin_policy else None)
    with viewing.Video(options.video, simulation, None, options.fps, width, height, camera=camera, **where) as video:
        dt = step_time(simulation)
        for k in range(round((options.seconds or 5.0) / dt)):
            video.until(k * dt / options.speed)
            step(simulation)
    print(f"video: {os.path.abspath(options.video)}, {video.count} frames")


def kind_of(robot: str) -> tuple[str, Callable[[argparse.Namespace], tuple[Any, Callable[[Any], object]]]]:
    """Return the kind of a robot by its file ending, as in KINDS, and the function that begins its simulation."""
    name = robot.lower()
    if name.endswith(".npz"):
        return "a policy", begin_policy
    if name.endswith((".xml", ".mjcf")):
        return "an MJCF file", begin_batch
    return "a robot that is not an MJCF file's", begin_robot


def step_time(simulation: Any) -> float:
    return float(getattr(simulation, "dt", 0) or simulation.model.opt.timestep)


def begin_robot(options: argparse.Namespace) -> tuple[Simulation, Callable[[Any], object]]:
    run = begin(options)
    return run.sim, lambda _: run.step()


def begin_batch(options: argparse.Namespace) -> tuple[Batch, Callable[[Any], object]]:
    from ..mujoco import Batch  # here: it imports mujoco, which --help does without

    if not os.path.exists(options.robot):
        raise FileNotFoundError(f"there is no file {options.robot}")
    expect_files(options.robot)
    try:
        m = mujoco.MjModel.from_xml_path(options.robot)
    except ValueError as error:
        raise ValueError(f"{options.robot}: {error}") from None
    check_keyframe(m, options)
    with warnings.catch_warnings(record=True) as notices:
        warnings.simplefilter("always")
        batch = Batch(m, options.instances, options.threads, dtype=options.dtype, device=options.device)
    for notice in notices:
        print(f"note: {notice.message}", file=sys.stderr)
    batch.reset(keyframe=options.keyframe)
    given = Controls(m, options, m.opt.timestep)

    def step(batch: Batch) -> None:
        given.write(batch.ctrl)
        batch.step()

    return batch, step
