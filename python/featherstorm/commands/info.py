"""Show a robot: its tree, degrees of freedom, masses and limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import add_model_arguments, load, table

if TYPE_CHECKING:
    import argparse

    import numpy.typing as npt

    from ..model import Model


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_model_arguments(parser)


def main(options: argparse.Namespace) -> None:
    model = load(options)
    print(
        f"{model.name}: {model.nb} moving bodies, nq {model.nq}, nv {model.nv}, {model.nf} frames, "
        f"{model.total_mass:.4g} kg, gravity ({', '.join(f'{g:g}' for g in model.gravity)}) m/s^2"
    )
    print(
        f"inertia matrix: {model.nh} of {model.nv * (model.nv + 1) // 2} entries of the lower triangle are not zero\n"
    )
    for line in table(
        [row(model, body, label) for body, label in tree(model)],
        ["body", "joint", "type", "q", "v", "mass", "lower", "upper", "effort", "damping"],
    ):
        print(line)
    if model.notices:
        print()
    for notice in model.notices:
        print(f"note: {notice}")


def tree(model: Model) -> list[tuple[dict[str, Any], str]]:
    """Return pairs (body, its name drawn as a branch), depth first."""
    children: dict[int, list[tuple[int, dict[str, Any]]]] = {}
    for child, b in enumerate(model.bodies, 1):
        children.setdefault(b["parent"], []).append((child, b))
    lines = []
    stack: list[tuple[int, str, bool, dict[str, Any] | None]] = [(0, "", True, None)]
    while stack:
        number, prefix, last, body = stack.pop()
        if body is not None:
            lines.append((body, prefix + ("`- " if last else "|- ") + body["name"]))
            prefix += "   " if last else "|  "
        below = children.get(number, [])
        for k, (child, b) in reversed(list(enumerate(below))):
            stack.append((child, prefix, k == len(below) - 1, b))
    return lines


def row(model: Model, body: dict[str, Any], label: str) -> tuple[str, ...]:
    def span(pair: tuple[int, int]) -> str:
        return str(pair[0]) if pair[1] - pair[0] == 1 else f"{pair[0]}..{pair[1] - 1}"

    def number(array: npt.NDArray[np.float64]) -> str:
        values = array[body["v"][0] : body["v"][1]]
        if not np.isfinite(values).any():
            return "-"
        return f"{values[0]:.4g}" if np.ptp(values) == 0 else "various"

    return (
        label,
        body["joint"],
        body["type"],
        span(body["q"]),
        span(body["v"]),
        f"{body['mass']:.4g}",
        number(model.lower),
        number(model.upper),
        number(model.max_effort),
        number(model.damping),
    )
