"""Steps as mj_step takes them: bad numbers are counted as warnings, and their simulation begins anew.

A step with bad positions or velocities (NaN, infinite, beyond 1e10) begins anew before it, one that finds a bad acceleration is
taken again from the model's defaults. Several steps are run as one; a simulation that is bad at their end is run again from
where it was, step by step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import mujoco
import numpy as np

from .engine import LAST_STAGE, MOST, bad_rows

if TYPE_CHECKING:
    import numpy.typing as npt

    from .engine import Engine

    Array = npt.NDArray[Any]

NO_AUTORESET = int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
BAD_QPOS, BAD_QVEL = int(mujoco.mjtWarning.mjWARN_BADQPOS), int(mujoco.mjtWarning.mjWARN_BADQVEL)
BAD_QACC, BAD_CTRL = int(mujoco.mjtWarning.mjWARN_BADQACC), int(mujoco.mjtWarning.mjWARN_BADCTRL)
LAST, NUMBER = 0, 1  # columns of a warning


class Rows(NamedTuple):
    """Simulations while they are run.

    state    (n, layout.size)
    time     (n,) in double
    warning  (n, mjNWARNING, 2) last information and number of each
    values   (n, k) by name, of fields of the model that differ between simulations; read alone
    """

    state: Array
    time: Array
    warning: Array
    values: dict[str, Array]

    def taken(self, rows: Array) -> Rows:
        """Copies of some."""
        values = {name: x[rows] for name, x in self.values.items()}
        return Rows(self.state[rows], self.time[rows], self.warning[rows], values)

    def put(self, rows: Array, other: Rows) -> None:
        for own, theirs in zip(self[:3], other[:3]):
            own[rows] = theirs


class Last(NamedTuple):
    """The state at the beginning of the last substep, and the solver's outputs there: fields of a step follow from them.

    moved   (n, columns up to the warm start) of the state
    found   of the solver's findings; of Runge-Kutta's method where its last evaluation was: qpos, qvel, act, and its mass, b
    """

    moved: Array
    found: dict[str, Array]


def begin_anew(engine: Engine, r: Rows, rows: Array, cause: int, x: Array) -> None:
    """Counts a warning, and resets unless the model says otherwise. x: numbers (n, k) that are bad somewhere in `rows`."""
    first = (~(np.abs(x[rows]) <= MOST)).argmax(axis=1)
    if not int(engine.m.opt.disableflags) & NO_AUTORESET:
        values = {name: x[rows] for name, x in r.values.items()}
        r.state[rows], r.time[rows], r.warning[rows] = engine.defaults(values), 0.0, 0
    r.warning[rows, cause, NUMBER] += 1
    r.warning[rows, cause, LAST] = first


def check_controls(engine: Engine, r: Rows, nstep: int = 1) -> None:
    """Counts bad controls; zeros are taken for all of a simulation's (Engine.controls)."""
    if not engine.m.nu or not len(rows := engine.bad_controls(r.state)):
        return
    ctrl = r.state[rows][:, engine.layout.columns["ctrl"]]
    bad = ~(np.abs(ctrl) <= MOST) & (~engine.clamps | np.isnan(ctrl))
    r.warning[rows, BAD_CTRL, NUMBER] += nstep * (4 if engine.runs_rk4 else 1)
    r.warning[rows, BAD_CTRL, LAST] = bad.argmax(axis=1)


def check_state(engine: Engine, r: Rows) -> None:
    for name, cause in (("qpos", BAD_QPOS), ("qvel", BAD_QVEL)):
        x = r.state[:, engine.layout.columns[name]]
        if len(rows := bad_rows(x)):
            begin_anew(engine, r, rows, cause, x)


def substep(engine: Engine, r: Rows, watched: dict[str, int] | None = None) -> Last | None:
    """One step; what its fields follow from, where the sizes of what they take of the solver are given."""
    check_state(engine, r)
    check_controls(engine, r)
    moved = None if watched is None else r.state[:, : engine.moved].copy()
    if moved is not None:
        moved[:, 0] = r.time
    found = {} if watched is None else room(engine, len(r.state), watched)
    engine.step(r.state, r.values, 1, named(engine, found))
    acceleration = r.state[:, engine.layout.columns["qacc_warmstart"]]
    if len(rows := bad_rows(acceleration)):
        begin_anew(engine, r, rows, BAD_QACC, acceleration)
        again = r.taken(rows)
        if moved is not None:
            moved[rows] = again.state[:, : engine.moved]
        others = {name: x[rows] for name, x in found.items()}
        if not int(engine.m.opt.disableflags) & NO_AUTORESET:
            engine.step(again.state, again.values, 1, named(engine, others))
        r.put(rows, again)
        for name, x in found.items():
            x[rows] = others[name]
    r.time[:] += engine.step_length(r.values)
    return None if moved is None else Last(moved, found)


def room(engine: Engine, n: int, sizes: dict[str, int]) -> dict[str, Array]:
    """Memory for what a watched step tells besides the state: of the solver's findings, and where Runge-Kutta's method was."""
    sizes = {name: size for name, size in sizes.items() if name != "qacc"}
    if engine.runs_rk4:
        if "qfrc_constraint" in sizes:
            del sizes["qfrc_constraint"]
            sizes.update(mass=engine.model.nh, b=engine.m.nv)
        sizes.update(qpos=engine.m.nq, qvel=engine.m.nv, act=engine.m.na)
    return {name: np.zeros((n, size), engine.dtype) for name, size in sizes.items() if engine.moves}


def named(engine: Engine, found: dict[str, Array]) -> dict[str, Array]:
    return {LAST_STAGE.get(name, name): x for name, x in found.items()}


def several(engine: Engine, r: Rows, nstep: int) -> None:
    """nstep steps as one run."""
    if nstep == 1 or engine.histories is not None:
        for _ in range(nstep):
            substep(engine, r)
            r.state[:, 0] = r.time
        return
    check_state(engine, r)
    warning = r.warning.copy()
    check_controls(engine, r, nstep)
    moved = r.state[:, : engine.moved].copy()
    engine.step(r.state, r.values, nstep)
    rows = bad_rows(r.state[:, : engine.moved])
    if len(rows):
        r.warning[rows] = warning[rows]
        again = r.taken(rows)
        again.state[:, : engine.moved] = moved[rows]
        for _ in range(nstep):
            substep(engine, again)
    r.time[:] += nstep * engine.step_length(r.values)
    if len(rows):
        r.put(rows, again)


def advance(engine: Engine, r: Rows, nstep: int, watched: dict[str, int] | None) -> Last | None:
    """nstep steps, in place; what fields follow from, where `watched` (substep)."""
    with np.errstate(invalid="ignore", over="ignore"):
        last, before = None, nstep - (watched is not None)
        if before:
            several(engine, r, before)
        if watched is not None:
            last = substep(engine, r, watched)
        r.state[:, 0] = r.time
        return last
