"""Bodies that slide and roll."""

import numpy as np
import scenes
from runs import Run, tilted

G = 9.81


def incline(law, slope=26.5, friction=0.5, **how):
    """A brick on a slope just below the angle at which it would slide: tan 26.57 degrees is its friction."""
    run = Run(scenes.brick(friction), law, gravity=tilted(slope), **how)
    run.steps(0.5)
    before = run.position("brick")
    run.steps(2)
    moved = run.position("brick") - before
    return run, {
        "creep mm/s": 500 * float(np.linalg.norm(moved[0, :2])),
        "turned mrad": 1e3 * float(np.abs(run.q[0, 4:7]).max()),
    }


def sliding(law, slope=35, friction=0.5, **how):
    """A brick on a steeper slope: its acceleration is g (sin - friction cos)."""
    run = Run(scenes.brick(friction), law, gravity=tilted(slope), **how)
    run.steps(0.2)
    before = run.velocity("brick")
    run.steps(0.5)
    a = np.radians(slope)
    found = (run.velocity("brick") - before)[0, 0] / 0.5
    return run, {"acceleration / exact": found / (G * (np.sin(a) - 0.5 * np.cos(a)))}


def stopping(law, friction=0.5, speed=2.0, **how):
    """A brick that slides to rest, in four directions: after v^2 / (2 mu g), straight on."""
    directions = np.radians([0, 30, 45, 90])
    run = Run(scenes.brick(friction), law, nsim=len(directions), **how)
    heading = np.stack([np.cos(directions), np.sin(directions)], axis=1)
    run.v[:, :2] = speed * heading
    run.steps(1)
    moved = run.position("brick")[:, :2]
    along, across = (moved * heading).sum(1), moved[:, 1] * heading[:, 0] - moved[:, 0] * heading[:, 1]
    exact = speed**2 / (2 * 0.5 * G)
    found = dict(zip(("along x / exact", "at 30 / exact", "at 45 / exact", "along y / exact"), along / exact))
    return run, {**found, "aside mm": 1e3 * float(np.abs(across).max())}


def fast_cube(law, speed=6.0, lift=0.0, friction=0.5, **how):
    """A cube that is fast: friction acts below its centre, and it must not take off; it may tip a little."""
    run = Run(scenes.cube(friction), law, **how)
    run.v[0, 0], run.v[0, 2] = speed, lift
    highest = 0.0
    for _ in range(40):
        run.steps(0.02, 1)
        highest = max(highest, run.position("cube")[0, 2])
    return run, {"highest centre mm": 1e3 * highest}


def rolling(law, speed=2.0, friction="0.5 0.005 0.0001", **how):
    """A ball thrown along the ground slides, then rolls with 5/7 of its speed, and goes on so."""
    run = Run(scenes.rolling(friction), law, **how)
    run.v[0, 0] = speed
    run.steps(1)
    first = run.velocity("ball")[0, 0]
    run.steps(1)
    return run, {
        "speed / exact": first / (speed * 5 / 7),
        "lost in a second": 1 - run.velocity("ball")[0, 0] / first,
    }


def rolling_friction(law, friction="0.5 0.005 0.01", condim=6, **how):
    """A ball that rolls against a moment of 0.01 m times the normal force loses 0.01 g / (1.4 r) a second."""
    run = Run(scenes.rolling(friction, condim), law, **how)
    run.v[0, :6] = (1.5, 0, 0, 0, 15, 0)
    run.steps(0.1)
    before = run.velocity("ball")[0, 0]
    run.steps(0.5)
    lost = (before - run.velocity("ball")[0, 0]) / 0.5
    return run, {"deceleration / exact": lost / (0.01 * G / (1.4 * 0.1))}
