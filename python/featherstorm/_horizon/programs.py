"""Programs of a rollout: its functions, traced once with symbols."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any, Protocol

from .. import _featherstorm
from .._world.passes import solver
from .._world.state import SolveQuantities, WorldState
from ..symbols import State, Symbols, symbols, values_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._robot.closures import Rigid
    from ..model import Model

    Function = Callable[..., Any] | None


class RolloutFunctions(Protocol):
    """The functions of a rollout, and how its robot is stepped (featherstorm.Rollout)."""

    model: Model
    op: str
    dt: float
    substeps: int
    drives: bool
    law: Rigid | None
    numbers: dict[str, list[float]]
    control: Function
    observe: Function


def programs_of(
    roll: RolloutFunctions, dtype: str, nu: int, np_: int, shared: bool
) -> tuple[_featherstorm.RolloutPrograms, int | None]:
    """Trace the functions.

    Return them, and the number of observations; None where there is no function `observe`.
    """
    model = roll.model
    nq, nv = model.nq, model.nv
    world = roll.op == "world"
    driven, called = (model.n_ctrl, "n_ctrl") if world else (nv, "nv")
    if roll.control is None and nu != driven:
        raise ValueError(f"rollout: U has {nu} controls, expected {driven} ({called}), or a function `control`")
    at_solve = SolveQuantities(model)

    def trace(time: str, body: Callable[..., None]) -> _featherstorm.Trace:
        """Record body(x, u, t, p, trace)."""
        x: State
        with closing(_featherstorm.Trace()) as recorded:
            t = symbols(recorded.input(time, 1, True))[0]
            if world:
                x = WorldState.of(model, recorded, t, at_solve, has_ctrl=time == "t_next")
            else:
                x = State(model, recorded, recorded.input("q", nq), recorded.input("v", nv))
            u, p = symbols(recorded.input("u", nu)), symbols(recorded.input("p", np_, shared))
            body(x, u, t, p, recorded)
        return recorded

    traces: dict[str, Any] = {}
    sizes: list[int] = []
    controller = roll.control
    if world and model.n_ctrl:

        def steer(x: State, u: Symbols, t: Symbols, p: Symbols, recorded: _featherstorm.Trace) -> None:
            result = u if controller is None else controller(x, u, t, p)
            recorded.output("ctrl", values_of(result, "control: ctrl", model.n_ctrl))

        traces["control"] = trace("t", steer)
    elif controller is not None:

        def control(x: State, u: Symbols, t: Symbols, p: Symbols, recorded: _featherstorm.Trace) -> None:
            result = controller(x, u, t, p)
            both = isinstance(result, tuple)
            tau, target = result if both else (result, None)
            recorded.output("tau", values_of(tau, "control: tau", nv))
            if both:
                recorded.output("target", values_of(target, "control: q_target", nv))

        traces["control"] = trace("t", control)

    def add_cost(name: str, squares: str, of: Callable[..., Any]) -> None:
        """Trace a cost with half the square of its residual; and a residual alone. of(f, x, u, t, p): call f."""
        scalar, residual = getattr(roll, name), getattr(roll, squares)

        def total(x: State, u: Symbols, t: Symbols, p: Symbols, recorded: _featherstorm.Trace) -> None:
            value = symbols(recorded.input("total", 1))[0]
            if scalar is not None:
                value = value + values_of(of(scalar, x, u, t, p), name, 1)[0]
            if residual is not None:
                r = symbols([n for term in terms_of(of(residual, x, u, t, p), squares).values() for n in term])
                value = value + 0.5 * (r @ r)
            recorded.output("total_next", values_of(value, name))

        def noted(x: State, u: Symbols, t: Symbols, p: Symbols, recorded: _featherstorm.Trace) -> None:
            terms = terms_of(of(residual, x, u, t, p), squares).values()
            recorded.output(squares, [n for term in terms for n in term])

        if scalar is not None or residual is not None:
            traces[name] = trace("t_next", total)
        if residual is not None and scalar is None:  # its squares are the whole cost
            traces[squares] = trace("t_next", noted)

    add_cost("cost", "residual", lambda f, x, u, t, p: f(x, u, t, p))
    add_cost("terminal", "terminal_residual", lambda f, x, u, t, p: f(x, t, p))
    if (observer := roll.observe) is not None:

        def observe(x: State, u: Symbols, t: Symbols, p: Symbols, recorded: _featherstorm.Trace) -> None:
            values = values_of(observer(x, u, t, p), "observe")
            sizes.append(len(values))
            recorded.output("observation", values)

        traces["observe"] = trace("t_next", observe)
    if world:
        traces.update(solver(model, dtype, roll.law), at_solve=at_solve.record((roll.substeps - 1) * model.timestep))
    programs = _featherstorm.RolloutPrograms(
        roll.op, roll.substeps, roll.dt / roll.substeps, roll.drives, nu, np_, shared, roll.numbers, **traces
    )
    return programs, sizes[0] if sizes else None


def terms_of(value: Any, name: str) -> dict[str, Any]:
    """Return the terms of a residual, a list of values each."""
    if isinstance(value, dict):
        return {str(term): values_of(x, f"{name}: {term}") for term, x in value.items()}
    return {name: values_of(value, name)}


def squares_of(residual: Function, last: Function) -> tuple[Callable[..., Any], list[list[str]]]:
    """Return a function of half the squares of each term of the residuals, and, once it is traced, their names.

    The names are those of a step, and those of the last state.
    """
    names: list[list[str]] = [[], []]

    def squares(x: State, u: Symbols, t: Symbols, p: Symbols) -> Any:
        of_step = {} if residual is None else terms_of(residual(x, u, t, p), "residual")
        of_last = {} if last is None else terms_of(last(x, t, p), "terminal_residual")
        names[:] = list(of_step), list(of_last)
        return [0.5 * (symbols(r) @ symbols(r)) for r in (*of_step.values(), *of_last.values())]

    return squares, names
