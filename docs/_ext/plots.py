"""Plots and tables of the checked-in results, bench/results; nothing is measured when the site is built."""

import json
import pathlib
import re

from texts import table

ROOT = pathlib.Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
KINDS = {"rnea": "RNEA", "crba": "CRBA", "fd": "forward dynamics", "step": "a time step"}
# patterns of bench/peers.py's names of libraries; the first three are peers
LIBRARIES = {
    "pinocchio/(?!float|double-lanes)": ("Pinocchio, float64", "#d0d0d0"),
    "pinocchio/float-lanes": ("Pinocchio in vectors, float32", "#a6a6a6"),
    "mujoco": ("MuJoCo, float64", "#7f7f7f"),
    "featherstorm/double/assembled": ("ours, float64", "#6baed6"),
    "featherstorm/float/assembled": ("ours, float32", "#08519c"),
}


def records():
    """The newest comparison with peers of each machine that was measured, with the file."""
    newest = {}
    for path in sorted(RESULTS.glob("*/*-peers.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        newest[record["machine"]] = (path, record)
    return newest


def median(result, library, kind):
    """The least median of the libraries whose names match."""
    found = [t["median"] for t in result["times"] if re.match(library, t["library"]) and t["kind"] == kind]
    return min(found, default=None)


def ratio(times):
    """The fastest peer's time over ours in float32, with the peer's name, from the times of LIBRARIES."""
    peers = {label.split(",")[0]: t for (label, _), t in zip(LIBRARIES.values(), times[:3]) if t}
    name = min(peers, key=peers.get)
    return f"{peers[name] / times[-1]:.1f} ({name})"


def where(path, record):
    """What a figure must say of itself."""
    return f"{record['cpu'].split(',')[0]}, {record['date']}, one core, random states; {path.relative_to(ROOT)}"


def number(x):
    return "-" if x is None else f"{x:.1f}" if x < 100 else f"{x:.0f}"


def peers_table():
    for machine, (path, record) in records().items():
        versions = "; ".join(name for name in record["versions"] if name != "featherstorm")
        load = f"load average {record['load_before'][0]} before and {record['load_after'][0]} after"
        yield from ("", f"**{machine}**: {where(path, record)}; commit {record['commit']}; {versions}; {load}.")
        rows = []
        for kind, name in KINDS.items():
            for robot, result in record["robots"].items():
                times = [median(result, library, kind) for library in LIBRARIES]
                if any(times[:3]) and times[-1]:
                    rows.append([name, robot, *map(number, times), ratio(times)])
        heads = [
            "ns per evaluation",
            "robot",
            *(label for label, _ in LIBRARIES.values()),
            "fastest peer / ours, float32",
        ]
        yield from table(heads, rows)
        yield from (
            f"```{{figure}} _generated/peers-{machine}.svg",
            f"Nanoseconds per evaluation. {where(path, record)}.",
            "```",
            "",
        )


def draw(folder):
    import matplotlib

    matplotlib.use("svg")
    # the same file for the same results
    matplotlib.rcParams.update(
        {"svg.hashsalt": "featherstorm", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    )
    folder.mkdir(exist_ok=True)
    for machine, (path, record) in records().items():
        draw_peers(folder / f"peers-{machine}.svg", path, record)
    draw_chain(folder / "chain.svg")


def figure(rows, columns, size):
    from matplotlib.figure import Figure

    fig = Figure(figsize=size, layout="constrained")
    return fig, fig.subplots(rows, columns, squeeze=False)


def save(fig, file):
    fig.savefig(file, metadata={"Date": None})


def draw_peers(file, path, record):
    robots = list(record["robots"])
    fig, axes = figure(1, len(KINDS), (2.4 * len(KINDS), 3))
    for axis, (kind, name) in zip(axes[0], KINDS.items()):
        for k, (library, (label, colour)) in enumerate(LIBRARIES.items()):
            times = [median(record["robots"][robot], library, kind) for robot in robots]
            places = [at + 0.17 * (k - 2) for at, t in enumerate(times) if t]
            axis.bar(places, [t for t in times if t], 0.16, color=colour, label=label)
        axis.set(title=name, yscale="log", ylim=(1, 2e4), xticks=range(len(robots)))
        axis.set_xticklabels(robots, rotation=30, ha="right")
    axes[0][0].set_ylabel("ns per evaluation")
    handles, labels = axes[0][0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside upper center", ncols=5, frameon=False)
    save(fig, file)


def draw_chain(file):
    """Time of a link against the length of a chain, from the table of 2026-11-21-chain.md."""
    text = (RESULTS / "epyc-zen4-2core" / "2026-11-21-chain.md").read_text(encoding="utf-8")
    rows = [[c.strip() for c in line.strip("|").split("|")] for line in text.splitlines() if re.match(r"\| \d", line)]
    fig, axes = figure(1, 1, (5, 3))
    axis = axes[0][0]
    for column, label, style in (
        (1, "RNEA, the robot's own kernel", "o-"),
        (2, "RNEA, kernel for any robot", "o--"),
        (3, "ABA, the robot's own kernel", "s-"),
        (4, "ABA, kernel for any robot", "s--"),
    ):
        points = [(int(row[0]), float(row[column])) for row in rows if row[column]]
        axis.plot(*zip(*points), style, label=label, color="#08519c" if column in (1, 3) else "#7f7f7f")
    axis.set(xscale="log", ylim=(0, 12), xlabel="links", ylabel="ns per link and instance")
    axis.legend(frameon=False)
    save(fig, file)
