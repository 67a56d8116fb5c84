"""Arithmetic operations of one evaluation, compared with the book's formulas and the prototype's counts.

The counts are those of the program from which kernels are made. Nothing is timed, so the table is the same on every
machine. Formulas: RBDA Table 10.1 for chains of n revolute joints with general parameters, without sines and cosines;
for the inertia matrix and its factor RBDA (10.12) and Table 6.6, evaluated on the given tree. A floating base counts as
six such joints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _featherstorm

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ..model import Model

COUNTS = ("mul", "add", "fused", "div", "sqrt", "sincos", "other", "loads", "stores", "max_live")

# Multiplies, adds and multiply-adds of the programs from the prototype of the tracing compiler, for the same URDF
# files. Each number is the smallest of the prototype's variants; a multiply-add counts once. The prototype has no
# sliders, so panda and cartpole are absent.
PROTOTYPE = {
    #            rnea crba aba  fd
    "ur5": (213, 110, 476, 383),
    "iiwa14": (304, 178, 715, 592),
    "go2": (959, 479, 2315, 2112),
    "hyq": (974, 492, 2332, 2140),
    "anymal_c": (1218, 886, 3164, 2770),
    "humanoid": (1379, 1572, 3749, 3771),
    "g1": (2537, 3035, 6911, 6780),
    "atlas": (2154, 2233, 5678, 5463),
}


def count(model: Model, op: str) -> dict[str, Any]:
    """Return the counts of an operation as a dictionary. An operation with a frame uses the deepest one."""
    frame = deepest_frame(model) if model.row(op).uses_frame else 0
    row = next(row for row in model.evaluator.ops if row.name == op)
    return _featherstorm.count_operations(model.robot, row, frame)


def deepest_frame(model: Model) -> int:
    """Return the last frame of a body with the largest number of joints before it."""
    depth = [0]
    for body in model.bodies:
        depth.append(depth[body["parent"]] + 1)
    return max(range(model.nf), key=lambda f: (depth[model.robot.frame_bodies[f]], f))


def branching(model: Model) -> tuple[tuple[int, int, int, int], tuple[int, int]]:
    """Return D0, D1 of RBDA (10.11) as (D0dh, D0g, D1dh, D1g), and D1, D2 of (6.26), on the tree of freedoms.

    If a freedom has several children, the first one with the most descendants has its frame in Denavit-Hartenberg form.
    """
    parent, n = model.dof_parent, model.nv
    size, depth = [1] * n, [1] * n
    for i in reversed(range(n)):
        if parent[i] >= 0:
            size[parent[i]] += size[i]
    favourite: dict[int, int] = {}
    for i in range(n):
        if parent[i] >= 0:
            depth[i] = depth[parent[i]] + 1
            if parent[i] not in favourite or size[i] > size[favourite[parent[i]]]:
                favourite[parent[i]] = i
    below = [i for i in range(n) if parent[i] >= 0]
    dh = [size[i] for i in below if favourite[parent[i]] == i]
    general = [size[i] for i in below if favourite[parent[i]] != i]
    d1, d2 = sum(d - 1 for d in depth), sum(d * (d - 1) // 2 for d in depth)
    return (len(dh), len(general), sum(dh), sum(general)), (d1, d2)


def formula(model: Model, op: str) -> tuple[int, int] | None:
    """Return (multiplies, adds) by the book, or None if the book has no formula."""
    n = model.nv
    (dh0, g0, dh1, g1), (d1, d2) = branching(model)
    rnea = (93 * n - 108, 81 * n - 100)
    aba = (224 * n - 259, 205 * n - 248)
    crba = (32 * dh0 + 47 * g0 + 20 * dh1 + 24 * g1, 43 * dh0 + 58 * g0 + 12 * dh1 + 18 * g1)
    factor, solve = (d1 + d2, d2), (2 * d1 + n, 2 * d1)
    by_inertia = (rnea[0] + crba[0] + factor[0] + solve[0], rnea[1] + crba[1] + factor[1] + solve[1])
    formulas = {
        "rnea": rnea, "bias": rnea, "crba": crba, "ltdl": factor, "ltl": factor, "solve": solve, "mul": solve, "aba": aba,
        "fd": min(aba, by_inertia, key=sum),
    }  # fmt: skip
    if n < 2 and op in ("rnea", "bias", "aba", "fd"):  # the formula is negative
        return None
    return formulas.get(op)


def prototype(model: Model, op: str) -> float | None:
    """Return the operations of the prototype's program for this robot, per freedom; None if there is no program."""
    counts = PROTOTYPE.get(model.name)
    ops = ("rnea", "crba", "aba", "fd")
    return counts[ops.index(op)] / model.nv if counts and op in ops else None


def rows(model: Model, ops: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of the table, a dictionary for each operation, in the order of the columns."""
    for op in ops:
        c = count(model, op)
        n, flops, together = model.nv, c["mul"] + c["add"], c["mul"] + c["add"] - c["fused"]
        book, before = formula(model, op), prototype(model, op)
        yield {
            "op": op,
            "robot": model.name,
            "nv": n,
            **{name: c[name] for name in COUNTS},
            "flops/dof": f"{flops / n:.1f}",
            "book": "" if book is None else f"{book[0]}m + {book[1]}a",
            "of it": "" if not book or not sum(book) else f"{flops / sum(book):.0%}",
            "fp/dof": f"{together / n:.1f}",
            "prototype": "" if before is None else f"{before:.1f}",
            "avx512/dof": "" if c["avx512"] is None else f"{c['avx512'][0] / n:.1f}",
            "spills": "" if c["avx512"] is None else c["avx512"][1],
            "avx2/dof": "" if c["avx2"] is None else f"{c['avx2'][0] / n:.1f}",
        }


LEGEND = """\
mul, add as traced, with the robot's constants folded; fused: of them, products that become part of a multiply-add.
div: reciprocals. sincos: angles. other: comparisons, selections, exp, atan2 and the like. loads, stores: numbers read
and written. max_live: most values held at once. flops/dof = (mul + add) / nv, fp/dof = (mul + add - fused) / nv.
book: RBDA's cheapest version for as many revolute joints with general parameters, in multiplies and adds, without sine
and cosine: Table 10.1; for crba (10.12), for factors, products and solutions Table 6.6, on the tree at hand; for fd the
cheaper of both ways; of it: flops over theirs. prototype: fp/dof of the prototype's program for the same robot, whose
crba was in the axes of the base; M in those of the world, as here, takes nine more for each column that reaches the base.
avx512/dof, avx2/dof: instructions of the assembled float32 kernel, loads, stores and spills among them, sine and cosine
written out, over nv; spills: stores of values that found no register (AVX-512). Each serves 16 or 8 instances.
"""


def markdown(models: Iterable[Model], ops: Iterable[str] | None = None) -> str:
    """Return the content of bench/results/operations.md."""
    common = [name for name, row in _featherstorm.operation_table().items() if row["common"]]
    lines = [
        "# Operations per evaluation",
        "",
        "Written by `featherstorm bench --count --markdown`: the operations that every instruction set has kernels of for any robot;",
        "`rnea_f_ext` is `rnea` that is given external forces.",
        "",
    ]
    lines += [*LEGEND.splitlines(), ""]
    head = None
    for model in models:
        forms = [form for op in common for form in (op, model.ops[op].given) if form]
        for row in rows(model, ops or forms):
            if head is None:
                head = list(row)
                lines += ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
            lines.append("| " + " | ".join(str(cell) for cell in row.values()) + " |")
    return "\n".join(lines) + "\n"
