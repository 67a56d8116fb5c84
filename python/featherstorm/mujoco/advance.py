"""Steps with mj_step's handling of bad numbers: they count as warnings and reset their simulation.

A step that starts from bad positions or velocities (NaN, infinite, beyond 1e10) starts from a reset instead. A step
that finds a bad acceleration is repeated from the model's defaults. Several steps run as one call; a simulation that is
bad at their end runs again from its old state, step by step.
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
    """Simulations during a run.

    state    (n, layout.size)
    time     (n,) in double
    warning  (n, mjNWARNING, 2) last information and number of each
    values   (n, k) by name, of fields of the model that differ between simulations; read only
    """

    state: Array
    time: Array
    warning: Array
    values: dict[str, Array]

    def taken(self, rows: Array) -> Rows:
        """Return copies of some of them."""
        values = {name: x[rows] for name, x in self.values.items()}
        return Rows(self.state[rows], self.time[rows], self.warning[rows], values)

    def put(self, rows: Array, other: Rows) -> None:
        for own, theirs in zip(self[:3], other[:3]):
            own[rows] = theirs


class Last(NamedTuple):
    """Data that determine the fields of a step: the state at the beginning of its last substep, and the solution there.

    moved   (n, columns up to the warm start) of the state
    found   of the solver's results; for Runge-Kutta's method at its last evaluation: qpos, qvel, act, and mass, b there
    """

    moved: Array
    found: dict[str, Array]


def begin_anew(engine: Engine, r: Rows, rows: Array, cause: int, x: Array) -> None:
    """Count a warning, and reset unless the model disables it. x: numbers (n, k) that are bad somewhere in `rows`."""
    first = (~(np.abs(x[rows]) <= MOST)).argmax(axis=1)
    if not int(engine.m.opt.disableflags) & NO_AUTORESET:
        values = {name: x[rows] for name, x in r.values.items()}
        r.state[rows], r.time[rows], r.warning[rows] = engine.defaults(values), 0.0, 0
    r.warning[rows, cause, NUMBER] += 1
    r.warning[rows, cause, LAST] = first


def check_controls(engine: Engine, r: Rows, nstep: int = 1) -> None:
    """Count bad controls; the step uses zeros for all controls of such a simulation (Engine.controls)."""
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
    """Run one step.

    Return the data of its fields if `watched` gives the sizes of the solver's arrays that they read.
    """
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
    """Allocate memory for the results of a watched step.

    These are the solver's results, and the state of the last evaluation of Runge-Kutta's method.
    """
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
    """Run nstep steps as one call."""
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
    """Run nstep steps, in place; return the data of fields if `watched` (see substep)."""
    with np.errstate(invalid="ignore", over="ignore"):
        last, before = None, nstep - (watched is not None)
        if before:
            several(engine, r, before)
        if watched is not None:
            last = substep(engine, r, watched)
        r.state[:, 0] = r.time
        return last
