"""Which pushes end an episode of G1JoystickFlat under a policy.

    python bench/learning_pushes.py [--episodes 600] POLICY

A push is what the task adds to the root's velocity between two control steps, as far as the difference over the step shows it [m/s]; `sideways`: within 45
degrees of the pelvis's left or right. An episode that ends is counted for the last push before.
"""

import argparse

import numpy as np

import featherstorm as fs

HELD_OUT, LATE = 2**40, 200  # control steps after a push


def first_ends(policy, episodes):
    """Rows (speed [m/s], whether the episode ended before the next push, control steps since, whether sideways), and of ends the cosine of the pelvis's tilt."""
    batch = fs.tasks.make("G1JoystickFlat").batch(episodes, seed=1)
    obs, _ = batch.reset(seed=HELD_OUT)
    going, last = np.ones(episodes, bool), np.full(episodes, -1)
    speed, side, rows, upright = np.full(episodes, -1.0), np.zeros(episodes, bool), [], []
    for k in range(batch.task.steps):
        v, (w, x, y, z) = np.array(batch.v[:, :2]), np.array(batch.q[:, 3:7]).T
        obs, _, terminated, truncated, _ = batch.step(policy(obs))
        change = np.array(batch.v[:, :2]) - v
        heading = np.arctan2(change[:, 1], change[:, 0]) - np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        pushed = (np.ravel(batch.memory("push")) == np.ravel(batch.memory("interval"))) & ~terminated & ~truncated
        for e in np.flatnonzero(going & (terminated | truncated | pushed)):
            if terminated[e]:
                upright.append(1 - 2 * (x[e] ** 2 + y[e] ** 2))
            if terminated[e] or last[e] >= 0:
                rows.append((speed[e], terminated[e], k - last[e], side[e]))
            last[e], speed[e], side[e] = k, np.hypot(*change[e]), abs(np.sin(heading[e])) > np.sqrt(0.5)
        going &= ~(terminated | truncated)
        if not going.any():
            break
    return np.array(rows, float), np.array(upright)


def share(x):
    return f"{100 * x.mean():.0f} %" if len(x) else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policy")
    parser.add_argument("--episodes", type=int, default=600)
    options = parser.parse_args()
    rows, upright = first_ends(fs.learning.Policy.load(options.policy), options.episodes)
    speed, ended, since, side = rows.T
    ends, side = ended > 0, side > 0
    print(
        f"{ends.sum()} ends, {(ends & (speed < 0)).sum()} before any push, {(ends & (speed >= 0) & (since > LATE)).sum()} more than {LATE} steps after one"
    )
    print(f"tilt's cosine a step before: median {np.median(upright):.2f}, above 0.7 in {share(upright > 0.7)}\n")
    print("| push | pushes | ended | sideways | forward or back |\n|---|---|---|---|---|")
    for low in np.arange(0, 2.25, 0.25):
        at = (speed >= low) & (speed < low + 0.25)
        cells = (str(at.sum()), share(ended[at]), share(ended[at & side]), share(ended[at & ~side]))
        print(f"| {low:g} to {low + 0.25:g} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
