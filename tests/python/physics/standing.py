"""Stacks, boards that lean, a table, what is held, a robot on its feet."""

import numpy as np
import scenes
from runs import Run, tilted

from featherstorm.mujoco import Rigid

G = 9.81


def upright(run, name):
    """The cosine of how far a body leans."""
    _, x, y, _ = np.array(run.q[0, run.joint(name)[0]][3:7], np.float64)
    return 1 - 2 * (x * x + y * y)


def stacked(law, masses, aside=0.002, **how):
    run = Run(scenes.stack(masses, aside=aside), law, **how)
    begin = [run.position(f"box{k}")[0] for k in range(len(masses))]
    run.steps(2)
    end = [run.position(f"box{k}")[0] for k in range(len(masses))]
    return run, {
        "aside mm": 1e3 * max(float(np.linalg.norm((b - a)[:2])) for a, b in zip(begin, end)),
        "sunk mm": 1e3 * max(float((a - b)[2]) for a, b in zip(begin, end)),
        "leans": 1 - min(float(upright(run, f"box{k}")) for k in range(len(masses))),
    }


def equal_stack(law, masses=(1, 1, 1, 1, 1), **how):
    """Five equal boxes."""
    return stacked(law, masses, **how)


def ten_to_one(law, masses=(1, 10), **how):
    """One kilogram under ten."""
    return stacked(law, masses, **how)


def hundred_to_one(law, masses=(1, 100), **how):
    """One kilogram under a hundred. Springs of 60 Hz of the light one are too soft for that: it would be pressed flat."""
    return stacked(law, masses, rigid=Rigid(frequency=120), **how)


def dominoes(law, push=1.2, **how):
    """Six dominoes: the first falls on the second, and so on. All lie in the end."""
    run = Run(scenes.dominoes(), law, **how)
    run.v[0, run.joint("domino0")[1].start + 4] = push / 0.2
    run.steps(2)
    lean = [float(upright(run, f"domino{k}")) for k in range(6)]
    return run, {"fallen": float(sum(x < 0.7 for x in lean)), "finite": float(np.isfinite(run.q).all())}


def leaning_boards(law, friction=0.8, **how):
    """Two boards that lean on each other at 20 degrees stand by friction alone."""
    run = Run(scenes.leaning(friction), law, **how)
    run.steps(0.3)
    before = [run.position(f"board{k}")[0] for k in range(2)]
    run.steps(1)
    moved = max(float(np.linalg.norm(run.position(f"board{k}")[0] - before[k])) for k in range(2))
    return run, {"creep mm/s": 1e3 * moved, "height mm": 1e3 * float(run.position("board0")[0, 2])}


def table(law, **how):
    """Four feet share a table's weight in one of many ways: the sum is right, and nothing moves."""
    run = Run(scenes.table(), law, **how)
    force = run.batch.bind("qfrc_constraint")
    run.steps(1)
    before = run.position("table")[0]
    run.steps(1)
    return run, {
        "weight / exact": float(force[0, 2]) / (5.4 * G),
        "creep mm/s": 1e3 * float(np.linalg.norm(run.position("table")[0] - before)),
    }


def pinch(law, force=20, **how):
    """A box of 45 g between two fingers that press it with 20 N."""
    run = Run(scenes.pinch(), law, **how)
    run.batch.ctrl[:] = force
    run.steps(0.5)
    before = run.position("held")
    run.steps(2)
    return run, {"creep um/s": 5e5 * float(np.linalg.norm(run.position("held") - before))}


def quadruped(law, slope=15, friction=0.6, **how):
    """A robot on four feet, its joints held by motors, on a slope: it stands, and the ground carries its weight."""
    run = Run(scenes.quadruped(friction), law, gravity=tilted(slope), nsim=3, **how)
    run.v[1:, 0] = 1e-3, -1e-3  # others beside it
    force = run.batch.bind("qfrc_constraint")
    run.steps(1.5)
    before = run.position("trunk")
    run.steps(2)
    moved = run.position("trunk") - before
    weight = run.m.body_mass.sum() * np.array(tilted(slope))
    alone = Run(scenes.quadruped(friction), law, gravity=tilted(slope), **how)
    alone.steps(3.5, 20)
    return run, {
        "creep mm/s": 500 * float(np.linalg.norm(moved[0])),
        "forces / weight": float(np.linalg.norm(force[0, :3] + weight) / np.linalg.norm(weight)),
        "height mm": 1e3 * float(run.position("trunk")[0, 2]),
        "other bits": float(np.abs(alone.q[0] - run.q[0]).max()),
    }
