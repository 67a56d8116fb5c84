"""A record of peers.py as tables in Markdown."""

from __future__ import annotations

from .goals import GOAL, GOAL_PEER
from .measure import DERIVED, OURS, PATHS

LABELS = [p.replace("/", " ") for p in PATHS]
# Builds of Pinocchio and their column heads; ratios and goals use the first one
PINOCCHIO = {
    "pinocchio/double/": "Pinocchio double",
    "pinocchio/float/": "float",
    "pinocchio/double-lanes/": "double, lanes",
    "pinocchio/float-lanes/": "float, lanes",
    "pinocchio/codegen-double/": "double, generated code",
}
# Libraries whose calls take many states, and their column heads
BATCHED = {
    "mjx/double": "MJX double",
    "mjx/float": "MJX float",
    "frax/double": "frax double",
    "frax/float": "frax float",
}
AS_USED = next(iter(PINOCCHIO))
SHOWN = ["double/assembled", "float/assembled"]  # of derivatives


def fastest(result: dict, library: str, kind: str, op: str | None = None) -> dict | None:
    rows = [
        t for t in result["times"] if t["library"].startswith(library) and t["kind"] == kind and op in (None, t["op"])
    ]
    return min(rows, key=lambda t: t["median"], default=None)


def number(x: float | None) -> str:
    return "-" if x is None else f"{x:.1f}" if x < 100 else f"{x:.0f}"


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    return [
        "| " + " | ".join(heads) + " |",
        "|" + "---|" * len(heads),
        *("| " + " | ".join(row) + " |" for row in rows),
        "",
    ]


def head(record: dict) -> list[str]:
    lines = [
        f"# Pinocchio, MuJoCo and featherstorm on {record['machine']}, {record['date']}",
        "",
        f"{record['cpu']}, {record['cores']} cores, one thread each; commit {record['commit']}.",
        "",
    ]
    lines += [f"- {name}: {text}" for name, text in record["versions"].items()]
    return [
        *lines,
        (
            f"- load average before {record['load_before']}, after {record['load_after']} (1, 5 minutes); "
            f"stolen by other machines {record['stolen']:.1%}"
        ),
        (
            f"- {record['states']} random states, {record['repetitions']} interleaved repetitions of {record['seconds']} s; "
            f"medians of processor time, nanoseconds per evaluation"
        ),
        (
            "- Pinocchio double: its faster build and, for FD, its faster of ABA and CRBA + UDU^T + solve; ratios for FD use ABA, as the "
            "goals do. MuJoCo: kinematics included, contacts, limits and dry friction off."
        ),
        "",
    ]


def times(robots: dict) -> list[str]:
    rows = []
    for kind in ("rnea", "crba", "fd", "step", "kinematics"):
        for robot, r in robots.items():
            cells = [
                fastest(r, library, kind) for library in (*PINOCCHIO, "mujoco", *("featherstorm/" + p for p in PATHS))
            ]
            if not any(cells):
                continue
            text = [number(c and c["median"]) for c in cells]
            if cells[0] and kind == "fd":
                text[0] += f" ({cells[0]['op']}; aba {number(fastest(r, AS_USED, kind, 'aba')['median'])})"
            first = len(PINOCCHIO) + 1
            for k in [*range(1, len(PINOCCHIO)), *range(first, len(cells))]:
                if cells[k] and kind == "fd":
                    text[k] += f" ({cells[k]['op'].split('/')[0]})"
            ours = cells[first + PATHS.index("float/assembled")]
            spread = "-" if not ours else f"{number(ours['quartiles'][0])} to {number(ours['quartiles'][1])}"
            rows.append([kind, robot, *text, spread])
    return table(["", "robot", *PINOCCHIO.values(), "MuJoCo", *LABELS, "spread of float assembled"], rows)


def goals(robots: dict) -> list[str]:
    rows = []
    for kind in GOAL_PEER:
        for robot in GOAL_PEER[kind]:
            r = robots.get(robot)
            base = r and fastest(r, AS_USED, kind, "aba" if kind == "fd" else None)
            if not base:
                continue
            mine = [fastest(r, "featherstorm/float/" + path, kind) for path in ("assembled", "compiled")]
            wanted = [GOAL[which][kind][robot] for which in GOAL]
            rows.append(
                [
                    kind,
                    robot,
                    *(number(m and m["median"]) for m in mine),
                    *(f"{g:g}" for g in wanted),
                    *(f"**{base['median'] / m['median']:.0f}**" if m else "-" for m in mine),
                    " and ".join(f"{GOAL_PEER[kind][robot] / g:.0f}" for g in wanted),
                ]
            )
    return [
        (
            "Against the goals, in float: nanoseconds here and the goals' (set on a faster machine, docs/measuring.md), and "
            "Pinocchio's time over ours here beside Pinocchio's time there over the goal. Assembled kernels need no compiler."
        ),
        "",
        *table(
            [
                "",
                "robot",
                "assembled",
                "compiled",
                "goal without a compiler",
                "goal specialised",
                "Pinocchio / assembled",
                "/ compiled",
                "goals, without a compiler and specialised",
            ],
            rows,
        ),
    ]


def ratios(robots: dict) -> list[str]:
    rows = []
    for kind in ("rnea", "crba", "fd", "step"):
        for robot, r in robots.items():
            peers = [fastest(r, AS_USED, kind, "aba" if kind == "fd" else None), fastest(r, "mujoco", kind)]
            ours = [fastest(r, "featherstorm/" + path, kind) for path in PATHS]
            if any(peers):
                rows.append(
                    [
                        kind,
                        robot,
                        *(
                            f"{peer['median'] / mine['median']:.1f}" if peer and mine else "-"
                            for peer in peers
                            for mine in ours
                        ),
                    ]
                )
    heads = [f"{peer} / {path}" for peer in ("Pinocchio", "MuJoCo") for path in LABELS]
    return ["A peer's time over ours:", "", *table(["", "robot", *heads], rows)]


def beside_the_fastest(robots: dict) -> list[str]:
    """The time of the fastest peer of each precision over ours, assembled, which needs no compiler."""
    rows = []
    names = {name: f"Pinocchio {label}" for name, label in PINOCCHIO.items()}
    names |= {"pinocchio/double/": "Pinocchio double", "mujoco": "MuJoCo", "crocoddyl": "Crocoddyl", **BATCHED}
    peers = {
        "float": list(names),
        "double": [name for name in names if "float" not in name],  # float does not do the work of double
    }
    for kind in ("rnea", "crba", "fd", "step", "rnea_derivatives", "fd_derivatives"):
        for robot, r in robots.items():
            cells = []
            for precision, libraries in peers.items():
                ops = [f"{op}/{precision}/assembled" for op in OURS[kind] if not op.endswith("_vjp")]
                mine = [fastest(r, f"featherstorm/{precision}/assembled", kind, op) for op in ops]
                ours = min(filter(None, mine), key=lambda t: t["median"], default=None)
                found = {name: t for name in libraries if (t := fastest(r, name, kind))}
                if not (ours and found):
                    cells += ["-"] * 3
                    continue
                name = min(found, key=lambda n: found[n]["median"])
                peer = found[name]["median"]
                cells += [f"{names[name]} {number(peer)}", number(ours["median"]), f"**{peer / ours['median']:.1f}**"]
            if set(cells) != {"-"}:
                rows.append([kind, robot, *cells])
    return [
        (
            'Beside the fastest peer of each row: nanoseconds of an evaluation, and its time over ours. "Lanes": Pinocchio\'s '
            "templates with as many states side by side as a vector register holds, a scalar type of ours, with states that lie so in "
            "memory beforehand; ours reads and writes rows of states."
        ),
        "",
        *table(
            [
                "",
                "robot",
                "fastest in float or double",
                "ours, float",
                "ratio",
                "fastest in double",
                "ours, double",
                "ratio",
            ],
            rows,
        ),
    ]


def batched(robots: dict) -> list[str]:
    """MJX and frax beside ours, assembled: the fastest number of states a call of each, and all that were tried."""
    rows, tried = [], []
    for kind in ("rnea", "crba", "fd", "step"):
        for robot, r in robots.items():
            peers = {library: fastest(r, library, kind) for library in BATCHED}
            if not any(peers.values()):
                continue
            cells = []
            for library, t in peers.items():
                mine = fastest(r, f"featherstorm/{library.split('/')[1]}/assembled", kind)
                if not (t and mine):
                    cells += ["-"] * 3
                    continue
                size = t["op"].split("/")[1]
                cells += [f"{number(t['median'])} ({size})", f"**{t['median'] / mine['median']:.0f}**"]
                cells.append(f"{worst(r, library, kind):.0e}")
            rows.append([kind, robot, *cells])
    sizes = sorted({b for r in robots.values() for s in r.get("sweeps", {}).values() for b in s}, key=int)
    for robot, r in robots.items():
        for library, times in r.get("sweeps", {}).items():
            tried.append([robot, BATCHED[library], *(number(times.get(b)) for b in sizes)])
    if not rows:
        return []
    heads = [head for label in BATCHED.values() for head in (label, "over ours", "difference")]
    return [
        (
            "MJX and frax, by JAX on one core: nanoseconds of an evaluation (and states of a call, the number at which FD is "
            "fastest), their time over ours in the same precision, assembled, and their difference from ours in double. Inputs "
            "lie in JAX's arrays before the clock starts. frax has no rotors, so it is left out for robots that have them."
        ),
        "",
        *table(["", "robot", *heads], rows),
        "FD by the number of states of a call, least of three:",
        "",
        *table(["robot", "", *map(str, sizes)], tried),
    ]


def crocoddyl(robots: dict) -> list[str]:
    rows, kind = [], "fd_derivatives"
    for robot, r in robots.items():
        mine = fastest(r, "featherstorm/double/assembled", kind, f"{kind}/double/assembled")
        peers = [fastest(r, "crocoddyl", kind, op) for op in ("calcDiff", "calc_and_calcDiff")]
        if mine and all(peers):
            times = (number(t["median"]) for t in (*peers, mine))
            ratios = (f"**{t['median'] / mine['median']:.1f}**" for t in peers)
            rows.append([robot, *times, *ratios, f"{worst(r, 'crocoddyl', kind):.0e}"])
    if not rows:
        return []
    return [
        (
            "Crocoddyl's derivatives of forward dynamics: `calcDiff` of DifferentialActionModelFreeFwdDynamics gives Fx and Fu "
            "(da/dq, da/dv and M^-1), and adds the derivatives of the motors' forces (zero here) and of a sum of costs (empty "
            "here). A solver calls `calc` first. Ours, `fd_derivatives`, gives the acceleration, too. Nanoseconds of a state, one "
            "thread, float64, their time over ours, and their difference from Pinocchio's."
        ),
        "",
        *table(
            [
                "robot",
                "calcDiff",
                "calc and calcDiff",
                "ours, assembled",
                "calcDiff / ours",
                "both / ours",
                "difference",
            ],
            rows,
        ),
    ]


def derivatives(robots: dict) -> list[str]:
    """Pinocchio's matrices beside our products with them, and our matrices where this build has their rows."""
    rows = []
    for kind in DERIVED:
        for robot, r in robots.items():
            base = fastest(r, AS_USED, kind)
            for op in OURS[kind]:
                mine = [fastest(r, "featherstorm/" + path, kind, f"{op}/{path}") for path in SHOWN]
                if base and any(mine):
                    rows.append(
                        [
                            kind,
                            robot,
                            f"{base['op']} {number(base['median'])}",
                            op,
                            *(number(m and m["median"]) for m in mine),
                            *(f"{base['median'] / m['median']:.1f}" if m else "-" for m in mine),
                            f"{worst(r, 'featherstorm/double/assembled', kind, op):.0e}",
                        ]
                    )
    heads = [
        "",
        "robot",
        "Pinocchio",
        "ours",
        *(p.replace("/", " ") for p in SHOWN),
        *("Pinocchio / " + p.replace("/", " ") for p in SHOWN),
        "difference, double",
    ]
    return [
        (
            "Derivatives. Pinocchio computes the matrices; `_vjp` gives their product with one vector, transposed, the gradient "
            "with respect to all inputs: enough for an optimiser, less than the matrices. Differences: ours from Pinocchio's on "
            "our tangent space, max \\|x - r\\| / max \\|r\\|."
        ),
        "",
        *table(heads, rows),
    ]


def worst(result: dict, library: str, kind: str, op: str | None = None) -> float:
    return max(
        (
            a["error"]
            for a in result["answers"]
            if a["kind"] == kind and a["library"].startswith(library) and (op is None or a["op"].startswith(op + "/"))
        ),
        default=float("nan"),
    )


def answers(robots: dict) -> list[str]:
    others, rows = [p for p in PATHS if p != "double/run-time"], []
    for kind in ("rnea", "crba", "fd", "step"):
        for robot, r in robots.items():
            e = [worst(r, library, kind) for library in (*PINOCCHIO, "mujoco", *("featherstorm/" + p for p in others))]
            cells = ["-" if x != x else f"{x:.0e}" for x in e]
            if any(c != "-" for c in cells):
                rows.append([kind, robot, *cells])
    return [
        "Answers against ours in double, run-time path: largest over states of max \\|x - r\\| / max \\|r\\|.",
        "",
        *table(["", "robot", *PINOCCHIO.values(), "MuJoCo", *(p.replace("/", " ") for p in others)], rows),
    ]


def rollouts(found: dict) -> list[str]:
    if "missing" in found:
        return [found["missing"], ""]
    base = found["times"]["mujoco"]["median"]
    rows = [
        [
            library,
            number(t["median"]),
            " to ".join(number(x) for x in t["quartiles"]),
            f"{base / t['median']:.1f}",
            f"{found['errors'][library]:.0e}",
        ]
        for library, t in found["times"].items()
    ]
    return [
        (
            f"Rollouts of {found['robot']} on {found['threads']} threads, {found['instances']} instances of {found['steps']} "
            "steps: mujoco.rollout and fs.Rollout from Python, every state returned, no contacts. Wall-clock nanoseconds per "
            "instance and step; differences of the last states from MuJoCo's."
        ),
        "",
        *table(["", "ns", "quartiles", "MuJoCo's time over it", "difference"], rows),
    ]


def gpu(found: dict) -> list[str]:
    rows = [[name, t["missing"]] if "missing" in t else [name, number(t["median"])] for name, t in found.items()]
    return ["A step on a GPU, float32, wall-clock nanoseconds per instance:", "", *table(["", "ns"], rows)]


def report(record: dict) -> str:
    robots = record["robots"]
    return "\n".join(
        [
            *head(record),
            *times(robots),
            *beside_the_fastest(robots),
            *goals(robots),
            *ratios(robots),
            *derivatives(robots),
            *crocoddyl(robots),
            *batched(robots),
            *answers(robots),
            *rollouts(record["rollouts"]),
            *gpu(record["gpu"]),
        ]
    )
