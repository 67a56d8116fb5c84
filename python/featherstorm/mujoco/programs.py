"""Programs before and after a step, traced: mj_checkPos, mj_checkVel, mj_checkAcc, clocks.

On a device nothing waits for their results: bad numbers are counted there, and their simulations are reset there. On
the host `look` and `look_after` find bad numbers within the sequence of steps, and the others run where there are some.

Comparisons are written so that NaN fails them: x is good where |x| < bound. A condition must not be inverted (not bad =
good), because both are false for NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import _featherstorm
from .._fields.inputs import array_name
from ..symbols import symbols, values_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    from ..typing import NumpyArray as Array
    from .engine import Engine

    Trace = _featherstorm.Trace

NO_AUTORESET = int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
BAD_QPOS, BAD_QVEL = int(mujoco.mjtWarning.mjWARN_BADQPOS), int(mujoco.mjtWarning.mjWARN_BADQVEL)
BAD_QACC, BAD_CTRL = int(mujoco.mjtWarning.mjWARN_BADQACC), int(mujoco.mjtWarning.mjWARN_BADCTRL)
NUMBER = 1  # column of a warning; column 0 has its last information
MOST = 1e10  # mjMAXVAL: numbers beyond are bad
QUATERNION_SLACK = {"float32": 1e-5, "float64": 1e-10}  # largest difference of a squared length from 1
MOVED = ("qpos", "qvel", "act", "qacc_warmstart")  # fields of the state that a step changes

CAUSES = (BAD_QPOS, BAD_QVEL, BAD_QACC, BAD_CTRL)
# of a simulation: the time from which its steps are counted, their number, the time of its given state, the timestep
CLOCK = 4
# of a simulation: for each cause last information and number, then whether this step had some
WARNING = 2 * len(CAUSES) + 1


def recorded(program: Callable[[Trace], None]) -> Trace:
    trace = _featherstorm.Trace()
    try:
        program(trace)
    finally:
        trace.close()
    return trace


def numbers(trace: Trace, name: str, size: int, uniform: bool = False) -> Any:
    return symbols(trace.input(name, size, uniform) if size else [])


def give(trace: Trace, name: str, *parts: Any) -> None:
    trace.output(name, values_of(parts, name))


def first_bad(good: Any) -> Any:
    """Return the number of the first condition that does not hold, len(good) where all hold."""
    found: Any = float(len(good))
    for k in range(len(good) - 1, -1, -1):
        found = np.where(good[k], found, float(k))
    return found


def differing(trace: Trace, engine: Engine, name: str, same: Any) -> Any:
    """Return a field of the model: an input where simulations differ in it, else `same`."""
    if name not in engine.varied:
        return same
    return numbers(trace, array_name(name), int(np.size(same)))


def defaults(trace: Trace, engine: Engine) -> Any:
    """Return the row of the defaults."""
    if not any(name in engine.varied for name, *_ in engine.layout.defaults()):
        return engine.initial
    return with_defaults(trace, engine, symbols(engine.initial.tolist()))


def with_defaults(trace: Trace, engine: Engine, row: Any) -> Any:
    """Return `row` with the defaults that follow from fields of the model in which simulations differ."""
    for name, columns, places in engine.layout.defaults():
        if name in engine.varied:
            row[columns] = numbers(trace, array_name(name), int(np.size(getattr(engine.m, name))))[places]
    return row


class Simulated:
    """The numbers of one simulation within a program.

    state    (nstate) of mjSTATE_INTEGRATION
    """

    def __init__(self, engine: Engine, state: Any, clock: Any, warning: Any) -> None:
        self.engine, self.state, self.warning = engine, state.copy(), warning.copy()
        self.base, self.passed, self.length = clock[0], clock[1], clock[3]
        self.autoreset = not int(engine.m.opt.disableflags) & NO_AUTORESET

    def of(self, name: str) -> Any:
        return self.state[self.engine.layout.columns[name]]

    def count(self, cause: int, bad: Any, number: Any, first: Any) -> None:
        """Add `number` to a cause where bad > 0, with the information `first`."""
        k = 2 * CAUSES.index(cause)
        for at, x in ((k, first), (k + 1, self.warning[k + 1] + number), (-1, 1.0)):
            self.warning[at] = np.where(bad > 0, x, self.warning[at])

    def begin_anew(self, cause: int, bad: Any, first: Any, row: Any, passed: float) -> None:
        """Count a warning where bad > 0.

        Unless the model disables it, the state becomes `row`, `passed` steps from the beginning.
        """
        if self.autoreset:
            self.state = np.where(bad > 0, row, self.state)
            self.base = np.where(bad > 0, float(self.engine.initial[0]), self.base)
            self.passed = np.where(bad > 0, passed, self.passed)
            self.warning = np.where(bad > 0, 0.0, self.warning)
        self.count(cause, bad, 1.0, first)

    def give(self, trace: Trace, suffix: str) -> None:
        give(trace, f"state{suffix}", self.state)
        give(trace, f"clock{suffix}", self.base, self.passed, self.state[0], self.length)
        give(trace, f"warning{suffix}", self.warning)


def good_numbers(engine: Engine, x: Any) -> Any:
    """Return conditions that hold for numbers up to mjMAXVAL."""
    kind = np.dtype(engine.dtype).type
    return np.absolute(x) < float(np.nextafter(kind(MOST), kind(np.inf)))


def look(engine: Engine) -> Trace:
    """Find simulations with bad numbers before a step, and normalise quaternions.

    in   q, v, ctrl; odd: 1 where a number was bad before
    out  odd_next: 1 where a number is or was bad; q_unit, q_seen: q with quaternions of unit length, where the model
         has quaternions
    """

    def program(trace: Trace) -> None:
        m = engine.m
        q, v, ctrl = (numbers(trace, name, n) for name, n in (("q", m.nq), ("v", m.nv), ("ctrl", m.nu)))
        give_odd(trace, [*good_numbers(engine, q), *good_numbers(engine, v), *good_controls(engine, ctrl)])
        if engine.quaternions:
            unit = with_unit_quaternions(engine, q)
            give(trace, "q_unit", unit)
            give(trace, "q_seen", unit)

    return recorded(program)


def look_after(engine: Engine) -> Trace:
    """Find simulations with a bad acceleration after a step: qacc, odd -> odd_next."""

    def program(trace: Trace) -> None:
        give_odd(trace, good_numbers(engine, numbers(trace, "qacc", engine.m.nv)))

    return recorded(program)


def looks(engine: Engine) -> tuple[Any, Any]:
    """Return `look` and `look_after` as stages before and after each step of a sequence."""
    odd = [("odd", "odd_next")]
    before: Any = look(engine), odd + [("q", "q_unit")] * bool(engine.quaternions), "", [], []
    return before, (look_after(engine), odd, "", [], [])


def give_odd(trace: Trace, good: Iterable[Any]) -> None:
    """Give odd_next: 1 where one of some conditions does not hold, else `odd`."""
    found: Any = numbers(trace, "odd", 1)[0]
    for condition in good:
        found = np.where(condition, found, 1.0)
    give(trace, "odd_next", found)


def begin(engine: Engine, driven: Array) -> Trace:
    """Begin a step: read new times and controls, reset on bad positions or velocities, and make the step's inputs.

    driven   columns of the state that are given as `control`
    in   state, clock, warning, control; run > 0: the simulations that run
    in   resets, counts, the same for all: whether bad positions and velocities reset, how often bad controls are
         counted
    out  state_begun, clock_begun, warning_begun; q and ctrl as inputs of the step: quaternions of unit length, controls
         zero where one of them is bad
    """

    def program(trace: Trace) -> None:
        layout, m = engine.layout, engine.m
        run = numbers(trace, "run", 1)[0]
        resets, counts = (numbers(trace, name, 1, True)[0] for name in ("resets", "counts"))
        clock = numbers(trace, "clock", CLOCK)
        s = Simulated(engine, numbers(trace, "state", layout.size), clock, numbers(trace, "warning", WARNING))
        s.warning[-1] = np.where(run > 0, 0.0, s.warning[-1])
        time, shown = s.state[0], clock[2]
        written = np.where(time < shown, 1.0, np.where(shown < time, 1.0, 0.0))
        s.base, s.passed = np.where(written > 0, time, s.base), np.where(written > 0, 0.0, s.passed)
        control, row = numbers(trace, "control", len(driven)), defaults(trace, engine)
        if len(driven):
            s.state[driven] = np.where(run > 0, control, s.state[driven])
        for name, cause in (("qpos", BAD_QPOS), ("qvel", BAD_QVEL)):
            if len(x := s.of(name)):
                first = first_bad(good_numbers(engine, x))
                bad = np.where(first > len(x) - 0.5, 0.0, np.where(run > 0, resets, 0.0))
                s.begin_anew(cause, bad, first, row, 0.0)
        if m.nu:
            first = first_bad_control(engine, s.of("ctrl"))
            bad = np.where(first > m.nu - 0.5, 0.0, 1.0)
            times = np.where(run > 0, counts, 0.0)
            s.count(BAD_CTRL, np.where(bad > 0, times, 0.0), times, first)
        give_inputs(trace, s)
        s.give(trace, "_begun")

    return recorded(program)


def first_bad_control(engine: Engine, ctrl: Any) -> Any:
    return first_bad(good_controls(engine, ctrl))


def good_controls(engine: Engine, ctrl: Any) -> Any:
    """Return conditions that hold for good controls: up to mjMAXVAL, or within a range."""
    if not engine.m.nu:
        return []
    held = np.where(ctrl < 0, 1.0, np.where(ctrl > -1, 1.0, 0.0)) > 0.5  # a range holds all but NaN
    good = good_numbers(engine, ctrl)
    good[engine.clamps] = held[engine.clamps]
    return good


def give_inputs(trace: Trace, s: Simulated) -> None:
    """Give q and ctrl as a step reads them: quaternions of unit length, controls zero where one of them is bad."""
    if n := s.engine.m.nu:
        give(trace, "ctrl", np.where(first_bad_control(s.engine, s.of("ctrl")) > n - 0.5, s.of("ctrl"), 0.0))
    if s.engine.m.nq:
        give(trace, "q", with_unit_quaternions(s.engine, s.of("qpos")))


def begin_again(engine: Engine) -> Trace:
    """Reset simulations with a bad acceleration, before their step runs again.

    in   state_begun, clock_begun, warning_begun as `begin` has them, moved: the results of the step; run > 0: the
         simulations that run
    out  state_again, clock_again, warning_again; q and ctrl as in `begin`; anew: 1 where the step runs again
    """

    def program(trace: Trace) -> None:
        run = numbers(trace, "run", 1)[0]
        begun = numbers(trace, "state_begun", engine.layout.size)
        clock = numbers(trace, "clock_begun", CLOCK)
        s = Simulated(engine, begun, clock, numbers(trace, "warning_begun", WARNING))
        acceleration = numbers(trace, "moved", moved_size(engine))[moved_columns(engine)["qacc_warmstart"]]
        first = first_bad(good_numbers(engine, acceleration))
        anew = np.where(first > len(acceleration) - 0.5, 0.0, np.where(run > 0, 1.0, 0.0))
        s.begin_anew(BAD_QACC, anew, first, defaults(trace, engine), 0.0)
        give_inputs(trace, s)
        s.give(trace, "_again")
        give(trace, "anew", anew)

    return recorded(program)


def with_unit_quaternions(engine: Engine, qpos: Any) -> Any:
    """Return qpos with quaternions of unit length, 1 0 0 0 for those of zero length."""
    q = qpos.copy()
    for c in engine.quaternions:
        x = qpos[c : c + 4]
        norm2 = np.sum(x * x)
        norm = np.sqrt(norm2)
        unit = np.where(norm > 1e-15, x / np.where(norm > 1e-15, norm, 1.0), np.array([1.0, 0.0, 0.0, 0.0]))
        q[c : c + 4] = np.where(QUATERNION_SLACK[engine.dtype] < np.absolute(norm2 - 1), unit, x)
    return q


def end(engine: Engine, stepped: Array | None) -> Trace:
    """End a step; where the acceleration is bad, end one from the defaults.

        t = t_0 + n h,   counting starts again where h differs from the step before

    stepped   the row of the defaults a step later; None: accelerations were looked at before
    in   state_begun, clock_begun, warning_begun as `begin` has them, moved: the results of the step; run > 0: the
         simulations that run
    out  state, clock, warning; going: 1 where the step was run and had no warning; with `stepped` anew: 1 where the
         acceleration was bad
    """

    def program(trace: Trace) -> None:
        run = numbers(trace, "run", 1)[0]
        clock = numbers(trace, "clock_begun", CLOCK)
        begun = numbers(trace, "state_begun", engine.layout.size)
        s = Simulated(engine, begun, clock, numbers(trace, "warning_begun", WARNING))
        moved = numbers(trace, "moved", moved_size(engine))
        for name, columns in moved_columns(engine).items():
            s.state[engine.layout.columns[name]] = moved[columns]
        h, before = differing(trace, engine, "opt.timestep", [engine.timestep])[0], s.length
        other = np.where(before < h, 1.0, np.where(h < before, 1.0, 0.0))
        s.base = np.where(other > 0, s.base + s.passed * before, s.base)
        s.passed, s.length = np.where(other > 0, 0.0, s.passed) + 1.0, h
        anew: Any = 0.0
        if engine.moves and stepped is not None:
            acceleration = s.of("qacc_warmstart")
            first = first_bad(good_numbers(engine, acceleration))
            anew = np.where(first > len(acceleration) - 0.5, 0.0, np.where(run > 0, 1.0, 0.0))
            s.begin_anew(BAD_QACC, anew, first, stepped, 1.0)
        s.state[0] = s.base + s.passed * h
        # simulations that do not run stay
        own = (s.base, s.passed, s.length)
        s.base, s.passed, s.length = (np.where(run > 0, x, kept) for x, kept in zip(own, (*clock[:2], before)))
        s.state = np.where(run > 0, s.state, begun)
        s.give(trace, "")
        if stepped is not None:
            give(trace, "anew", anew if s.autoreset else 0.0)
        give(trace, "going", np.where(run > 0, np.where(s.warning[-1] > 0, 0.0, 1.0), 0.0))

    return recorded(program)


def moved_columns(engine: Engine) -> dict[str, slice]:
    """Return the columns of each field of the state in the results of a step, one after another."""
    if not engine.moves:
        return {}
    found, first = {}, 0
    for name in (*MOVED, "history"):
        found[name] = slice(first, first + engine.layout.width(name))
        first = found[name].stop
    return found


def moved_size(engine: Engine) -> int:
    """Return the number of results of a step."""
    return sum(engine.layout.width(name) for name in moved_columns(engine))


def put(engine: Engine, key: int) -> Trace:
    """Set simulations to the row of a keyframe, or of the defaults for -1, without warnings.

    in   state, clock, warning, row (nstate); run > 0: the simulations to set
    out  state_begun, clock_begun, warning_begun
    """

    def program(trace: Trace) -> None:
        run = numbers(trace, "run", 1)[0]
        state, row = (numbers(trace, name, engine.layout.size) for name in ("state", "row"))
        clock = numbers(trace, "clock", CLOCK)
        if key < 0:
            row = with_defaults(trace, engine, row)
        give(trace, "state_begun", np.where(run > 0, row, state))
        fresh = (row[0], 0.0, row[0], clock[3])
        give(trace, "clock_begun", *(np.where(run > 0, x, own) for x, own in zip(fresh, clock)))
        give(trace, "warning_begun", np.where(run > 0, 0.0, numbers(trace, "warning", WARNING)))

    return recorded(program)


def both() -> Trace:
    """run (1): above zero where `one` and `other` are."""

    def program(trace: Trace) -> None:
        one, other = (numbers(trace, name, 1)[0] for name in ("one", "other"))
        give(trace, "run", np.where(one > 0, np.where(other > 0, 1.0, 0.0), 0.0))

    return recorded(program)


def choose(n: int) -> Trace:
    """chosen (n): `new` where run > 0, else `old`."""

    def program(trace: Trace) -> None:
        run = numbers(trace, "run", 1)[0]
        give(trace, "chosen", np.where(run > 0, numbers(trace, "new", n), numbers(trace, "old", n)))

    return recorded(program)


def last_of_runge_kutta(engine: Engine) -> Trace:
    """Return the quantities of fields in the last evaluation of a step's equations.

        qfrc_constraint = M a - b,   qacc = (v_1 - v_0) / h

    in   mass (nh) packed, b (nv), a (nv) of the last evaluation; v_0 and v_1 (nv) of the step's beginning and end; q_i
         (nq)
    out  qfrc_constraint (nv), qacc (nv), qpos (nq) with quaternions of unit length
    """

    def program(trace: Trace) -> None:
        nv, start, column = engine.m.nv, engine.model.row_start, engine.model.column
        sizes = {"mass": engine.model.nh, "b": nv, "a": nv, "v_0": nv, "v_1": nv, "q_i": engine.m.nq}
        mass, b, a, v0, v1, q = (numbers(trace, name, n) for name, n in sizes.items())
        forces = -b
        for i in range(nv):
            for k in range(start[i], start[i + 1]):
                j = column[k]
                forces[i] = forces[i] + mass[k] * a[j]
                if j != i:
                    forces[j] = forces[j] + mass[k] * a[i]
        give(trace, "qfrc_constraint", forces)
        give(trace, "qacc", (v1 - v0) / differing(trace, engine, "opt.timestep", [engine.timestep])[0])
        give(trace, "qpos", with_unit_quaternions(engine, q))

    return recorded(program)


def warnings_of(found: Array, counted: npt.NDArray[np.int32]) -> npt.NDArray[np.int32]:
    """Write numbers (n, WARNING) of programs to warnings (n, mjNWARNING, 2)."""
    for k, cause in enumerate(CAUSES):
        counted[:, cause] = found[:, 2 * k : 2 * k + 2]
    return counted


def causes_in(counted: npt.NDArray[np.int32]) -> Array:
    """Return the numbers (n, WARNING) of programs for warnings (n, mjNWARNING, 2)."""
    found = np.zeros((len(counted), WARNING))
    for k, cause in enumerate(CAUSES):
        found[:, 2 * k : 2 * k + 2] = counted[:, cause]
    return found
