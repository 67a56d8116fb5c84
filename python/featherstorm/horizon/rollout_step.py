"""The stages of a rollout's sequence that move its state on by a control step, for what the model carries.

The state is q and v, and what the operation keeps from pass to pass: impulses at contacts, or the velocities of the joints
that are not coupled (`independent`), from which v is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import _featherstorm
from ..robot.steps import independent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..model import Model, Row

NAMES = {"u": "independent", "u_next": "independent_next"}  # the sequence's u are controls


def declare(s: _featherstorm.Sequence, row: Row) -> None:
    """The arrays of an operation that steps, beside q, v, their successors and the drives."""
    kept = len(row.outputs)
    for name, n in (*row.inputs[:kept], *row.outputs):
        if name not in ("q", "v", "q_next", "v_next"):
            s.array(NAMES.get(name, name), n)


def append_step(s: _featherstorm.Sequence, row: Row, drive: Sequence[str], repeat: int) -> None:
    """The passes of a control step; drive: names of the arrays of torques and targets. Outputs are the first inputs of
    the next pass."""
    names = {**NAMES, "tau": drive[0], "target": drive[1]}
    inputs = [names.get(name, name) for name, _ in (*row.inputs, *row.uniforms)]
    outputs = [names.get(name, name) for name, _ in row.outputs]
    s.op(row.name, inputs, outputs, list(zip(inputs, outputs)), repeat)


def append_coupled_start(s: _featherstorm.Sequence, model: Model) -> None:
    """Coupled joints follow their drivers from the first state on: q, independent and v from q and v."""
    append_row(s, model.row("coupled_position"), "q_next", [("q", "q_next")])
    trace = _featherstorm.Trace()
    v = trace.input("v", model.nv)
    trace.output("independent", [v[c] for c in independent(model)])
    trace.close()
    s.trace(trace)
    append_coupled_velocity(s, model)


def append_coupled_velocity(s: _featherstorm.Sequence, model: Model) -> None:
    append_row(s, model.row("coupled_velocity"), "v", [])


def append_row(s: _featherstorm.Sequence, row: Row, output: str, swaps: Sequence[tuple[str, str]]) -> None:
    s.op(row.name, [NAMES.get(name, name) for name, _ in (*row.inputs, *row.uniforms)], [output], swaps)
