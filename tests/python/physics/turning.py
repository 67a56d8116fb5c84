"""What spins."""

import numpy as np
import scenes
from runs import Run

G = 9.81


def spinning(law, friction="0.5 0.01 0.0001", condim=4, **how):
    """A ball that spins on the spot against a moment of 0.01 m times the normal force: 0.01 m g / I."""
    run = Run(scenes.disc(friction, condim), law, **how)
    run.v[0, 5] = 40
    run.steps(0.1)
    before = float(run.v[0, 5])
    run.steps(0.5)
    inertia = 0.4 * 0.1**2
    exact = 0.01 * G / inertia
    return run, {
        "deceleration / exact": (before - float(run.v[0, 5])) / 0.5 / exact,
        "moved mm": 1e3 * float(np.linalg.norm(run.position("ball")[0, :2])),
    }


def stops_spinning(law, friction="0.5 0.01 0.0001", **how):
    """The same ball comes to rest and stays there."""
    run = Run(scenes.disc(friction), law, **how)
    run.v[0, 5] = 10
    run.steps(1)
    return run, {"spin rad/s": abs(float(run.v[0, 5]))}


def top(law, spin=100.0, tilt=0.1, push=0.0, **how):
    """A top on the end of its axle, on ice: it goes around its centre of mass at the slow root of
    I' cos rate^2 - I spin rate + m g l = 0, and does not fall."""
    how = {**how, "timestep": min(how.get("timestep", 0.002), 0.0005)}
    run = Run(scenes.top(), law, **how)
    run.q[0, 3:7] = (np.cos(tilt / 2), np.sin(tilt / 2), 0, 0)
    length = 0.03
    about_axle, across = 0.5 * 0.1 * 0.1**2, 0.25 * 0.1 * 0.1**2 + 0.1 * 0.01**2 / 12
    a, b, c = across * np.cos(tilt), about_axle * spin, 0.1 * G * length
    rate = (b - np.sqrt(b * b - 4 * a * c)) / (2 * a)
    run.v[0, 3:6] = (push, rate * np.sin(tilt), spin)
    # the centre of mass is at rest
    axle = axle_of(run)
    run.v[0, :3] = np.cross((0, 0, rate), -length * axle)
    turned, lean, last = 0.0, [], np.arctan2(axle[1], axle[0])
    for _ in range(100):
        run.steps(0.01, 1)
        axle = axle_of(run)
        now = np.arctan2(axle[1], axle[0])
        turned += (now - last + np.pi) % (2 * np.pi) - np.pi
        last = now
        lean.append(np.arccos(min(axle[2], 1.0)))
    return run, {"rate / exact": turned / rate, "greatest lean / first": max(lean) / tilt}


def axle_of(run):
    """The axis z of a floating body, world axes."""
    w, x, y, z = np.array(run.q[0, 3:7], np.float64)
    return np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
