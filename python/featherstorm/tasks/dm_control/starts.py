"""First states with the suite's distributions, without loops of unknown length.

rng is environment.draws.Draws for symbols, or a numpy.random.Generator for numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..._optional import mujoco

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

FREE, BALL, HINGE = 0, 1, 3  # mjtJoint


def unit(x: Any) -> Any:
    return x / np.linalg.norm(x)


def joint_positions(m: Any, rng: Any) -> Any:
    """Draw joint positions q (nq) for a mujoco.MjModel, as the suite does.

    joints with a range      uniform in the range
    hinges without a range   uniform in -pi to pi
    slides without a range   as in the file
    free joints              quaternion x / |x|, x four numbers uniform in 0 to 1. (Uniform orientations would need
                             normal numbers.)
    Errors: ValueError for a ball joint, which no task here has.
    """
    low, high = np.array(m.qpos0), np.array(m.qpos0)
    turns = []
    for joint in range(m.njnt):
        at, kind = int(m.jnt_qposadr[joint]), int(m.jnt_type[joint])
        if kind == BALL:
            raise ValueError(f"joint_positions: {m.joint(joint).name} is a ball joint, expected others")
        if kind == FREE:
            low[at + 3 : at + 7], high[at + 3 : at + 7] = 0, 1
            turns.append(at + 3)
        elif m.jnt_limited[joint]:
            low[at], high[at] = m.jnt_range[joint]
        elif kind == HINGE:
            low[at], high[at] = -np.pi, np.pi
    q = rng.uniform(low, high)
    for at in turns:
        q = np.concatenate([q[:at], unit(q[at : at + 4]), q[at + 4 :]])
    return q


def first_free(tries: int, draw: Callable[[], Any], touches: Callable[[Any], Any]) -> Any:
    """Return the first of `tries` draws without contact, or the last draw if all touch.

    If a draw touches with probability p, all touch with probability p^tries. Otherwise the result equals drawing until
    nothing touches.
    """
    found = draw()
    for _ in range(tries - 1):
        found = np.where(touches(found), draw(), found)
    return found


def untouched(m: Any, draw: Callable[[np.random.Generator], Any], count: int, seed: int = 0) -> npt.NDArray[Any]:
    """Draw positions q (count, nq) without contacts, as found by MuJoCo."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(m)
    rows: list[npt.NDArray[Any]] = []
    while len(rows) < count:
        data.qpos[:] = draw(rng)
        mujoco.mj_fwdPosition(m, data)
        if not data.ncon:
            rows.append(np.array(data.qpos))
    return np.array(rows)


def settled(
    m: Any, draw: Callable[[np.random.Generator], Any], passes: int, count: int, seed: int = 0
) -> npt.NDArray[Any]:
    """Draw states at rest and simulate `passes` steps in MuJoCo without controls. Return (q, v) (count, nq + nv)."""
    rng, data = np.random.default_rng(seed), mujoco.MjData(m)
    rows = []
    for _ in range(count):
        mujoco.mj_resetData(m, data)
        data.qpos[:] = draw(rng)
        mujoco.mj_step(m, data, passes)
        rows.append(np.concatenate([data.qpos, data.qvel]))
    return np.array(rows)
