"""A record of peers.py as tables in Markdown."""
from __future__ import annotations

from .goals import GOAL, GOAL_PEER
from .measure import PATHS


def fastest(result: dict, library: str, kind: str, op: str | None = None) -> dict | None:
    rows = [t for t in result["times"] if t["library"].startswith(library) and t["kind"] == kind and op in (None, t["op"])]
    return min(rows, key=lambda t: t["median"], default=None)


def number(x: float | None) -> str:
    return "-" if x is None else f"{x:.1f}" if x < 100 else f"{x:.0f}"


def report(record: dict) -> str:
    lines = [f"# Pinocchio, MuJoCo and featherstorm on {record['machine']}, {record['date']}", "",
             f"{record['cpu']}, {record['cores']} cores, one thread each; commit {record['commit']}.", ""]
    lines += [f"- {name}: {text}" for name, text in record["versions"].items()]
    lines += [f"- load average before {record['load_before']}, after {record['load_after']} (1, 5 minutes); "
              f"stolen by other machines {record['stolen']:.1%}",
              f"- {record['states']} random states, {record['repetitions']} interleaved repetitions of {record['seconds']} s; "
              f"medians of processor time, nanoseconds per evaluation",
              "- Pinocchio: its faster build and, for FD, its faster of ABA and CRBA + UDU^T + solve; ratios for FD use ABA, as the "
              "goals do. MuJoCo: kinematics included, contacts, limits and dry friction off.", ""]
    robots = record["robots"]
    paths = ", ".join(PATHS).replace("/", " ").split(", ")
    lines += ["| | robot | Pinocchio | MuJoCo | " + " | ".join(paths) + " | spread of float assembled |",
              "|" + "---|" * (len(PATHS) + 5)]
    for kind in ("rnea", "crba", "fd", "step", "kinematics", "aba_derivatives"):
        for robot, r in robots.items():
            cells = [fastest(r, library, kind) for library in ("pinocchio", "mujoco", *("featherstorm/" + p for p in PATHS))]
            if not any(cells):
                continue
            text = [number(c and c["median"]) for c in cells]
            if cells[0] and kind == "fd":
                text[0] += f" ({cells[0]['op']}; aba {number(fastest(r, 'pinocchio', kind, 'aba')['median'])})"
            for k in range(2, len(cells)):
                if cells[k] and kind == "fd":
                    text[k] += f" ({cells[k]['op'].split('/')[0]})"
            ours = cells[2 + PATHS.index("float/assembled")]
            spread = "-" if not ours else f"{number(ours['quartiles'][0])} to {number(ours['quartiles'][1])}"
            lines.append(f"| {kind} | {robot} | " + " | ".join(text) + f" | {spread} |")
    lines += ["", "Against the goals, in float: nanoseconds here and the goals' (set on a faster machine, bench/README.md), and "
              "Pinocchio's time over ours here beside Pinocchio's time there over the goal. Assembled kernels need no compiler.", "",
              "| | robot | assembled | compiled | goal without a compiler | goal specialised | Pinocchio / assembled | "
              "/ compiled | goals, without a compiler and specialised |", "|" + "---|" * 9]
    for kind in GOAL_PEER:
        for robot in GOAL_PEER[kind]:
            r = robots.get(robot)
            base = r and fastest(r, "pinocchio", kind, "aba" if kind == "fd" else None)
            mine = [r and fastest(r, "featherstorm/float/" + path, kind) for path in ("assembled", "compiled")]
            if not base:
                continue
            goals = [GOAL[which][kind][robot] for which in GOAL]
            cells = [number(m and m["median"]) for m in mine] + [f"{g:g}" for g in goals]
            cells += [f"**{base['median'] / m['median']:.0f}**" if m else "-" for m in mine]
            cells.append(" and ".join(f"{GOAL_PEER[kind][robot] / g:.0f}" for g in goals))
            lines.append(f"| {kind} | {robot} | " + " | ".join(cells) + " |")
    lines += ["", "A peer's time over ours:", "",
              "| | robot | " + " | ".join(f"{peer} / {path}" for peer in ("Pinocchio", "MuJoCo") for path in paths) + " |",
              "|" + "---|" * (2 * len(PATHS) + 2)]
    for kind in ("rnea", "crba", "fd", "step"):
        for robot, r in robots.items():
            peers = [fastest(r, "pinocchio", kind, "aba" if kind == "fd" else None), fastest(r, "mujoco", kind)]
            ours = [fastest(r, "featherstorm/" + path, kind) for path in PATHS]
            if any(peers):
                lines.append(f"| {kind} | {robot} | " + " | ".join(
                    f"{peer['median'] / mine['median']:.1f}" if peer and mine else "-" for peer in peers for mine in ours) + " |")
    others = [p for p in PATHS if p != "double/run-time"]
    lines += ["", "Answers against ours in double, run-time path: largest over states of max \\|x - r\\| / max \\|r\\|.", "",
              "| | robot | Pinocchio | MuJoCo | " + " | ".join(p.replace("/", " ") for p in others) + " |",
              "|" + "---|" * (len(others) + 4)]
    for kind in ("rnea", "crba", "fd", "step"):
        for robot, r in robots.items():
            cells = []
            for library in ("pinocchio", "mujoco", *("featherstorm/" + p for p in others)):
                e = [a["error"] for a in r["answers"] if a["kind"] == kind and a["library"].startswith(library)]
                cells.append(f"{max(e):.0e}" if e else "-")
            if any(c != "-" for c in cells):
                lines.append(f"| {kind} | {robot} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
