"""Impacts."""

import numpy as np
import scenes
from runs import Run

from featherstorm.mujoco import Rigid

G = 9.81


def apex(run, seconds):
    """How high the ball's lowest point gets after it has first risen."""
    highest, rising = 0.0, False
    for _ in range(round(seconds / run.m.opt.timestep)):
        run.batch.step()
        z, speed = run.position("ball")[0, 2], run.velocity("ball")[0, 2]
        rising |= speed > 1e-3
        if rising:
            highest = max(highest, z - 0.1)
    return highest


def drop(law, height=0.3, **how):
    """A ball falls 0.3 m. Its contact takes speed and gives none: it does not rise again, and is not far in the ground."""
    run = Run(scenes.falling_ball(height), law, **how)
    deepest = 0.0
    for _ in range(round(1 / run.m.opt.timestep)):
        run.batch.step()
        deepest = max(deepest, 0.1 - run.position("ball")[0, 2])
    before = run.energy()
    run.steps(0.2)
    return run, {
        "deepest mm": 1e3 * deepest,
        "at rest mm": 1e3 * (0.1 - run.position("ball")[0, 2]),
        "energy gained J": float((run.energy() - before)[0]),
    }


def spring(loss):
    """A contact of MuJoCo's law without damping, or with some."""
    return f'solref="-40000 {-1000 * loss}" solimp=".99 .99 .001"'


def bounce(law, part=1.0, **how):
    """A ball that falls 0.3 m rises to e^2 of it, for e of 0, 0.5, 0.8 and 1."""
    found = {}
    for e in (0.0, 0.5, 0.8, 1.0):
        run = Run(scenes.falling_ball(0.3), law, rigid=Rigid(restitution=part * e), **how)
        found[f"apex {e:g} / height"] = apex(run, 0.25 + 0.25 * e) / 0.3
    run.steps(0.5)
    return run, found


def elastic(law, loss=0.0, **how):
    """A ball without loss comes back to where it fell from, and never above, in some twenty bounces."""
    how = {**how, "timestep": min(how.get("timestep", 0.002), 0.0005)}
    run = Run(scenes.falling_ball(0.3, spring(loss)), law, rigid=Rigid(restitution=1 - loss), **how)
    first = apex(run, 0.75)
    energy, greatest = 9.81 * 0.4, 0.0
    for _ in range(25):
        run.steps(0.2, 1)
        greatest = max(greatest, float(run.energy()[0]))
    return run, {"apex / height": first / 0.3, "greatest energy / first": greatest / energy}


def cradle(law, loss=0.0, **how):
    """The first of five balls meets four that touch. What comes out is the law's; momentum is kept. Springs of the rigid law take
    a blow and give nothing back, so here they are hard."""
    how = {**how, "timestep": min(how.get("timestep", 0.002), 0.0005)}
    run = Run(scenes.cradle(spring(loss)), law, rigid=Rigid(restitution=1 - loss, frequency=1e5), **how)
    run.v[0, 0] = 1
    run.steps(0.2)
    v = np.array(run.v[0], np.float64)
    return run, {
        "first": v[0],
        "last": v[4],
        "momentum": v.sum(),
        "energy / first": float((v * v).sum()),
    }


def painleve(law, friction=2.0, **how):
    """A rod that is pushed over the ground tip first, steep: with rigid bodies no force would do. It stays finite, and gains nothing."""
    run = Run(scenes.rod(friction), law, **how)
    angle = np.radians(30)
    run.q[0] = (0, 0.5 * np.sin(angle) + 0.01, angle)
    run.v[0] = (3, 0, 0)
    before = run.energy()[0]
    run.steps(0.1, 5)
    most, speed = float(run.energy()[0]), float(run.v[0, 0])
    for _ in range(45):
        run.steps(0.02, 1)
        most = max(most, float(run.energy()[0]))
    return run, {
        "finite": float(np.isfinite(run.q).all()),
        "greatest energy / first": most / before,
        "speed after 0.1 s": speed,
    }


def collision(law, **how):
    """Two chains meet in empty space: the forces between them cancel, and momentum is kept but for what the integrator loses."""
    run = Run(scenes.two_arms(), law, **how)
    force = run.batch.bind("qfrc_constraint")
    roots = [run.joint(name) for name in ("left", "right")]
    for (_, v), speed in zip(roots, (1.0, -0.7)):
        run.v[0, v.start], run.v[0, v.start + 2] = speed, 0.1 * speed
    before, most, sums = run.momentum()[0], 1e-9, np.zeros(6)
    for _ in range(round(0.5 / run.m.opt.timestep)):
        position = [run.position(name)[0] for name in ("left", "right")]
        turn = [rotation(run.q[0, q][3:7]) for q, _ in roots]
        run.steps(run.m.opt.timestep, 1)
        total = np.zeros(6)
        for (_, v), r, turned in zip(roots, position, turn):
            f = np.array(force[0, v], np.float64)
            total += np.hstack([f[:3], np.cross(r, f[:3]) + turned @ f[3:]])
            most = max(most, float(np.abs(f).max()))
        sums = np.maximum(sums, np.abs(total))
    after = run.momentum()[0]
    return run, {
        "greatest force N": most,
        "sum of forces / greatest": float(sums.max()) / most,
        "linear N s": float(np.abs(after - before)[:3].max()),
        "angular N m s": float(np.abs(after - before)[3:].max()),
    }


def rotation(q):
    w, x, y, z = np.array(q, np.float64)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
