"""How the suite draws first states, without loops of unknown length.

rng is environment.draws.Draws, or a numpy.random.Generator for numbers at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

FREE, BALL, HINGE = 0, 1, 3  # mjtJoint


def unit(x: Any) -> Any:
    return x / np.linalg.norm(x)


def joint_positions(m: Any, rng: Any) -> Any:
    """q (nq) of a mujoco.MjModel: joints with a range uniform in it, hinges without one in -pi to pi, slides without one as the file has
    them; turns of free joints are x / |x|, x four numbers uniform in 0 to 1 as the suite has it (all turns alike would need normal ones).

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
    """The first of so many draws that touches nothing, which is what drawing until nothing touches gives; the last where all touch.

    With a probability p of a touch the latter happens with p^tries.
    """
    found = draw()
    for _ in range(tries - 1):
        found = np.where(touches(found), draw(), found)
    return found


def untouched(m: Any, draw: Callable[[np.random.Generator], Any], count: int, seed: int = 0) -> npt.NDArray[Any]:
    """q (count, nq) of those that are drawn and touch nothing, by MuJoCo's own contacts."""
    import mujoco

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
    """(q, v) (count, nq + nv) to which states at rest that are drawn have come after so many passes without controls, in MuJoCo."""
    import mujoco

    rng, data = np.random.default_rng(seed), mujoco.MjData(m)
    rows = []
    for _ in range(count):
        mujoco.mj_resetData(m, data)
        data.qpos[:] = draw(rng)
        mujoco.mj_step(m, data, passes)
        rows.append(np.concatenate([data.qpos, data.qvel]))
    return np.array(rows)
