"""Run a policy here and in MuJoCo C, and compare its returns.

Both engines use the same seeds, commands and parameters.

transfer policy.npz                              print a table; exit code 1 if the returns differ by more than 5 per
                                                 cent
transfer policy.npz --commands 1,0,0 0,0,1       for a velocity task: use these commands in turn, each for a whole
                                                 episode
transfer policy.npz --video walk.mp4             also draw an episode in MuJoCo, by its renderer
transfer policy.npz --plot robust.png            also plot returns over masses, friction, latency and pushes

POLICY is a file of `train` (featherstorm.learning.Policy). Episode k is the first one of environment k of the seed, in
both engines.
"""

from __future__ import annotations

import functools
import json
import os
import sys
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from .. import transfer, viewing
from ..learning import Policy
from ..transfer.conditions import Conditions, prepared
from . import expect_folder, positive, seconds, share, table
from .simulate_world import check_plot
from .view import add_commands, add_video_arguments, load

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from ..transfer.comparison import Comparison

SEED = 1_000_003  # default seed; `train` uses none of its episodes


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("policy", metavar="POLICY", help="a policy's file, such as runs/Hopper-v5-0/policy.npz")
    parser.add_argument("--task", metavar="NAME", help="default: the policy's own")
    parser.add_argument("--episodes", type=positive, default=20, help="in each engine (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=SEED, help="default: %(default)s")
    add_commands(parser, "a velocity task")
    parser.add_argument(
        "--within", type=share, default=0.05, help="of our return: beyond is exit code 1 (default: 0.05)"
    )
    parser.add_argument("--jobs", type=positive, help="processes that run MuJoCo (default: one a core)")
    parser.add_argument("--converged", action="store_true", help="MuJoCo's solver goes on to its end, as ours does")
    parser.add_argument("--json", metavar="FILE", help="writes figures and episodes, with --plot the sweeps too")
    parser.add_argument("--csv", metavar="FILE", help="writes a line of each episode")
    parser.add_argument("--markdown", metavar="FILE", help="writes the table")
    parser.add_argument("--video", metavar="FILE", help="writes a video of an episode in MuJoCo, such as walk.mp4")
    parser.add_argument("--episode", type=int, default=0, help="of the video (default: %(default)s)")
    parser.add_argument("--seconds", type=seconds, help="of the video (default: the whole episode)")
    add_video_arguments(parser, "goes along")
    parser.add_argument(
        "--plot", metavar="FILE", help="sweeps masses, friction, latency, pushes: a picture, such as .png"
    )
    parser.add_argument("--sweep-episodes", type=positive, default=8, help="of each point (default: %(default)s)")


def main(options: argparse.Namespace) -> int:
    compare, pool_of = transfer.comparison.compare, transfer.pool.Pool  # here: both need MuJoCo, --help does not
    check_files(options)
    policy, name, maker = load(options.policy, options.task)
    conditions = Conditions(options.seed, tuple(options.commands) if options.commands else None)
    if policy.origin.get("seed") == options.seed:
        print(f"note: the policy was learnt with the seed {options.seed}", file=sys.stderr)
    read = functools.partial(Policy.load, os.path.abspath(options.policy))
    with pool_of(maker, policy, options.jobs, options.converged, read) as pool:
        with tqdm(total=2 * options.episodes, unit="episode", disable=None, leave=False) as bar:
            found = compare(maker, policy, options.episodes, conditions, pool, bar.update)
        show(name, found, options)
        swept = swept_of(maker, policy, conditions, pool, options, name) if options.plot else None
    write(found, swept, options)
    if options.video:
        film(maker, policy, conditions, options)
    return 0 if found.within(options.within) else 1


def check_files(options: argparse.Namespace) -> None:
    """Raise errors for invalid files before the episodes start."""
    if not os.path.isfile(options.policy):
        raise FileNotFoundError(f"there is no file {options.policy}")
    for option in ("json", "csv", "markdown"):
        if path := getattr(options, option):
            expect_folder(option, path)
    if options.plot:
        check_plot(options.plot)
    if options.video:
        viewing.check_video(options.video, *options.size)
        viewing.opengl(*options.size).free()
    if options.episode < 0:
        raise ValueError(f"--episode is {options.episode}, expected 0 or more")


def show(name: str, found: Comparison, options: argparse.Namespace) -> None:
    print(f"{name}: {options.episodes} episodes, seed {options.seed}")
    print("\n".join(table(found.cells(), found.heads())))
    verdict = "within" if found.within(options.within) else "beyond"
    print(
        f"the return in MuJoCo is {100 * found.difference:+.2f} % from ours (+- {100 * found.spread:.2f} %, a standard error of "
        f"pairs), {verdict} {100 * options.within:g} %"
    )


def swept_of(
    maker: Callable[[], Any], policy: Any, conditions: Conditions, pool: Any, options: argparse.Namespace, name: str
) -> Any:
    total = 2 * options.sweep_episodes * transfer.robustness.count_of(maker())
    with tqdm(total=total, unit="episode", disable=None, leave=False) as bar:
        swept = transfer.robustness.sweep(maker, policy, options.sweep_episodes, conditions, pool, bar.update)
    transfer.robustness.plot(options.plot, swept, f"{name}: {options.sweep_episodes} episodes a point")
    print(f"plot: {os.path.abspath(options.plot)}")
    return swept


def write(found: Comparison, swept: Any, options: argparse.Namespace) -> None:
    texts = {"csv": found.csv, "markdown": found.markdown}
    if options.json:
        more = {} if swept is None else {"robustness": transfer.robustness.table_of(swept)}
        text = json.dumps({**found.table(), "policy": options.policy, **more}, indent=1) + "\n"
        texts["json"] = lambda: text
    for option, text_of in texts.items():
        if path := getattr(options, option):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text_of())
            print(f"{option}: {os.path.abspath(path)}")


def film(maker: Callable[[], Any], policy: Any, conditions: Conditions, options: argparse.Namespace) -> None:
    env = transfer.MujocoEnv(prepared(maker(), False, bool(conditions.commands)), converged=options.converged)
    of_video = options.episode, options.size, options.fps, options.camera, options.seconds
    transfer.video.film(options.video, env, policy, conditions, *of_video)
    print(f"video: {os.path.abspath(options.video)}")
