#!/usr/bin/env python3
"""Times Pinocchio, MuJoCo and featherstorm side by side on this machine, after their answers were compared.

    python -m pip install pin mujoco cmeel-eigen
    python bench/peers.py --build build/release [--robots iiwa14 go2 atlas] [--repetitions 15]

Every library runs in a program of its own (bench/peers/), compiled at its best; one repetition of each in turn, the same
random states for all, medians. Writes bench/results/<machine>/<date>-peers.json and .md.
"""
from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import machine

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent

# Pinocchio's fastest builds; g++ is 1.4 to 1.8 times slower
PINOCCHIO_BUILDS = {"clang-v3": ["-march=x86-64-v3"], "clang-native": ["-march=native"]}
# what bench/peers/serve.h calls it -> our operations for it, the fastest counts
OURS = {"rnea": ["rnea"], "crba": ["crba"], "fd": ["fd", "forward_dynamics", "aba"], "step": ["step"]}
PINOCCHIO = {"rnea": ["rnea"], "crba": ["crba"], "fd": ["aba", "fd_factor"], "kinematics": ["kinematics"],
             "aba_derivatives": ["aba_derivatives"]}
MUJOCO = {"rnea": ["rnea"], "crba": ["crba"], "fd": ["fd"], "step": ["step"], "kinematics": ["kinematics"]}
PATHS = [f"{dtype}/{path}" for dtype in ("double", "float") for path in ("run-time", "assembled", "compiled")]
# relative to the largest entry of a state's answer
TOLERANCE = {"double": 1e-9, "float": 1e-1}

# nanoseconds that stand behind the goals: Pinocchio's on the machine they were set on, and ours
GOAL_PEER = {"rnea": {"iiwa14": 390, "go2": 730, "atlas": 1820}, "crba": {"iiwa14": 240, "go2": 460, "atlas": 1350},
             "fd": {"iiwa14": 790, "go2": 1770, "atlas": 4090}}
GOAL = {"without a compiler": {"rnea": {"iiwa14": 12, "go2": 20, "atlas": 50},
                               "crba": {"iiwa14": 12, "go2": 20, "atlas": 60},
                               "fd": {"iiwa14": 25, "go2": 45, "atlas": 120}},
        "specialised": {"rnea": {"iiwa14": 4.5, "go2": 11, "atlas": 30},
                        "crba": {"iiwa14": 2.8, "go2": 7.5, "atlas": 27},
                        "fd": {"iiwa14": 7, "go2": 20, "atlas": 60}}}


class Server:
    """A program of bench/peers/ and what was asked of it."""

    def __init__(self, label: str, command: list, states: dict, folder: Path):
        self.label, self.folder = label, folder
        file = folder / f"{label}.states"
        with open(file, "wb") as f:
            np.array([len(states["q"]), states["q"].shape[1], states["v"].shape[1]], np.int64).tofile(f)
            for name in ("q", "v", "a", "tau"):
                np.ascontiguousarray(states[name], np.float64).tofile(f)
        self.process = subprocess.Popen([*map(str, command), str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def ask(self, line: str) -> str:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline().strip()
        if not reply:
            raise RuntimeError(f"{self.label} ended on '{line}'")
        return reply

    def answer(self, op: str) -> np.ndarray | None:
        file = self.folder / "answer"
        size = self.ask(f"answer {op} {file}")
        return None if size == "none" else np.fromfile(file).reshape(-1, int(size))

    def time(self, op: str, seconds: float) -> float:
        return float(self.ask(f"time {op} {seconds}"))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


# ---- building ----

def package(name: str) -> Path:
    spec = importlib.util.find_spec(name)
    if spec is None:
        sys.exit(f"{name} is not installed: python -m pip install pin mujoco cmeel-eigen")
    return Path(next(iter(spec.submodule_search_locations)))


def compile_peer(compiler: str, source: str, output: Path, arguments: list) -> str:
    command = [compiler, "-std=c++17", "-O3", "-DNDEBUG", f"-I{ROOT}", str(HERE / "peers" / source), "-o", str(output),
               *map(str, arguments)]
    text = " ".join(command)
    stamp = output.with_suffix(".command")
    newest = max((HERE / "peers" / f).stat().st_mtime for f in (source, "serve.h"))
    if not (output.exists() and stamp.exists() and stamp.read_text() == text and output.stat().st_mtime > newest):
        print("compiling", output.name, flush=True)
        subprocess.run(command, check=True)
        stamp.write_text(text)
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    flags = [a for a in arguments if str(a).startswith(("-march", "-m"))]
    return f"{version}, -O3 -DNDEBUG {' '.join(map(str, flags))}".strip()


def build_pinocchio(folder: Path) -> dict[str, tuple[Path, str]]:
    prefix = package("pinocchio")
    while prefix.name != "cmeel.prefix":
        prefix = prefix.parent
    # the definitions that the package's own CMake target has
    arguments = ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
                 "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-isystem", prefix / "include", "-isystem",
                 prefix / "include/eigen3"]
    compiler = shutil.which("clang++")
    builds = PINOCCHIO_BUILDS
    if compiler is None:
        print("clang++ is missing: Pinocchio is slower with g++, its ratios are too good")
        compiler, builds = "g++", {"gcc-v3": ["-march=x86-64-v3"], "gcc-native": ["-march=native"]}
    result = {}
    for label, flags in builds.items():
        program = folder / f"pinocchio-{label}"
        result[label] = program, compile_peer(compiler, "pinocchio.cpp", program, flags + arguments)
    return result


def build_mujoco(folder: Path) -> Path:
    root = package("mujoco")
    library = sorted(root.glob("libmujoco.so*"))[-1]
    program = folder / "mujoco-peer"
    compile_peer("g++", "mujoco.cpp", program, ["-isystem", root / "include", f"-Wl,-rpath,{root}", library])
    return program


# ---- the robot in each library's conventions ----

def rotation(quaternion: np.ndarray) -> np.ndarray:
    """(N, 4) wxyz -> (N, 3, 3)"""
    w, x, y, z = quaternion.T
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]).transpose(2, 0, 1)


class Description:
    """Our robot: joints, where their numbers stand, rotors."""

    def __init__(self, program: Path, robot: str):
        text = subprocess.run([program, robot, "describe"], check=True, capture_output=True, text=True).stdout
        fields = {line.split()[0]: line.split()[1:] for line in text.splitlines()}
        self.joints, self.ops, self.isa = fields["joints"], fields["ops"], fields["isa"][0]
        self.build = " ".join(fields["build"])
        self.q, self.v = [int(x) for x in fields["q"]], [int(x) for x in fields["v"]]
        self.armature = np.array([float(x) for x in fields["armature"]])
        self.floating = self.joints[0] == "root"
        self.file = ROOT / "host" / "robots" / f"{robot}.urdf"
        self.nv = len(self.armature)
        self.nq = self.nv + self.floating

    def random_states(self, count: int, seed: int = 1) -> dict[str, np.ndarray]:
        random = np.random.default_rng(seed)
        s = {name: random.uniform(-1, 1, (count, self.nv)) for name in ("v", "a", "tau")}
        s["q"] = random.uniform(-np.pi, np.pi, (count, self.nq))
        if self.floating:
            s["q"][:, :3] = random.uniform(-1, 1, (count, 3))
            quaternion = random.normal(size=(count, 4))
            s["q"][:, 3:7] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
        return s


class Order:
    """Where a library keeps our numbers: its q and v in our order, by joint name."""

    def __init__(self, ours: Description, q_of: dict[str, int], v_of: dict[str, int]):
        self.q, self.v = np.zeros(ours.nq, int), np.zeros(ours.nv, int)
        for name, q, v in zip(ours.joints, ours.q, ours.v):
            wide = name == "root"
            self.q[q:q + (7 if wide else 1)] = q_of[name] + np.arange(7 if wide else 1)
            self.v[v:v + (6 if wide else 1)] = v_of[name] + np.arange(6 if wide else 1)

    def give(self, x: np.ndarray, index: np.ndarray) -> np.ndarray:
        y = np.empty_like(x)
        y[:, index] = x
        return y

    def states(self, s: dict) -> dict:
        return {name: self.give(x, self.q if name == "q" else self.v) for name, x in s.items()}

    def back(self, kind: str, x: np.ndarray) -> np.ndarray:
        if kind != "crba":
            return x[:, self.v]
        n = len(self.v)
        return x.reshape(-1, n, n)[:, self.v][:, :, self.v].reshape(-1, n * n)


class PinocchioRobot:
    """Base velocity [linear; angular] in the base's axes, quaternion xyzw:  v_pin = T v,  T = blkdiag(R^T, 1)."""

    def __init__(self, ours: Description, folder: Path):
        import pinocchio
        model = (pinocchio.buildModelFromUrdf(str(ours.file), pinocchio.JointModelFreeFlyer()) if ours.floating
                 else pinocchio.buildModelFromUrdf(str(ours.file)))
        if model.nq != ours.nq or model.nv != ours.nv:
            raise RuntimeError(f"Pinocchio has nq {model.nq}, nv {model.nv}")
        index = {("root" if n == "root_joint" else n): k for k, n in enumerate(model.names)}
        self.order = Order(ours, {n: model.idx_qs[k] for n, k in index.items()}, {n: model.idx_vs[k] for n, k in index.items()})
        self.floating = ours.floating
        # its reader of URDF files has no rotors
        model.armature = self.order.give(ours.armature[None], self.order.v)[0]
        turned = [np.eye(3) for _ in range(model.njoints)]
        self.file = folder / "robot.pinocchio"
        with open(self.file, "w") as f:
            for k in range(1, model.njoints):
                kind = model.joints[k].shortname()
                if kind in ("JointModelRevoluteUnaligned", "JointModelPrismaticUnaligned"):
                    # its joints about a coordinate axis are faster: the body's frame is turned until this is one
                    joint = model.joints[k].createData()
                    model.joints[k].calc(joint, pinocchio.neutral(model))
                    turns = "Revolute" in kind
                    axis = np.asarray(joint.S).ravel()[3 * turns:][:3]
                    n = int(np.argmax(np.abs(axis)))
                    turned[k] = -np.eye(3)
                    turned[k][n - 1, n - 1] = 1
                    if np.any(turned[k][:, n] != axis):
                        raise RuntimeError(f"bench/peers/pinocchio.cpp does not know joints about {axis}")
                    kind = f"JointModel{'R' if turns else 'P'}{'XYZ'[n]}"
                if not re.fullmatch("JointModel([RP][XYZ]|FreeFlyer)", kind):
                    raise RuntimeError(f"bench/peers/pinocchio.cpp does not know {kind}")
                X, I, F = model.jointPlacements[k], model.inertias[k], turned[k]
                P = turned[model.parents[k]].T
                at = model.idx_vs[k]
                numbers = np.concatenate([(P @ X.rotation @ F).ravel(), P @ X.translation, [I.mass], F.T @ I.lever,
                                          (F.T @ I.inertia @ F).ravel(), model.armature[at:at + model.nvs[k]]])
                print(model.names[k], kind, model.parents[k], *map(repr, map(float, numbers)), file=f)

    def states(self, s: dict) -> dict:
        if self.floating:
            s = {name: x.copy() for name, x in s.items()}
            self.R = rotation(s["q"][:, 3:7])
            s["q"][:, 3:7] = s["q"][:, [4, 5, 6, 3]]
            for name in ("v", "a", "tau"):
                s[name][:, :3] = np.einsum("nji,nj->ni", self.R, s[name][:, :3])
            # the derivative of T v:  R^T a - w x R^T v
            self.wxv = np.cross(s["v"][:, 3:6], s["v"][:, :3])
            s["a"][:, :3] -= self.wxv
        return self.order.states(s)

    def back(self, kind: str, x: np.ndarray) -> np.ndarray:
        x = self.order.back(kind, x)
        if not self.floating:
            return x
        if kind == "crba":
            n = len(self.order.v)
            M = x.reshape(-1, n, n).copy()
            M[:, :3] = self.R @ M[:, :3]
            M[:, :, :3] = M[:, :, :3] @ self.R.transpose(0, 2, 1)
            return M.reshape(-1, n * n)
        linear = x[:, :3] + self.wxv if kind == "fd" else x[:, :3]
        return np.concatenate([np.einsum("nij,nj->ni", self.R, linear), x[:, 3:]], 1)


class MujocoRobot:
    """Our conventions; joints by name."""

    def __init__(self, ours: Description, folder: Path):
        import mujoco
        # no geoms: their poses would cost time that is not the dynamics'; no mimic joints: ours are independent
        text = re.sub(r"<(collision|visual)\b.*?</\1>|<mimic\b[^>]*/>", "", ours.file.read_text(), flags=re.S)
        spec = mujoco.MjSpec.from_string(text)
        if ours.floating:
            spec.worldbody.first_body().add_freejoint(name="root")
        model = spec.compile()
        if model.nq != ours.nq or model.nv != ours.nv:
            raise RuntimeError(f"MuJoCo has nq {model.nq}, nv {model.nv}")
        self.order = Order(ours, {n: int(model.joint(n).qposadr[0]) for n in ours.joints},
                           {n: int(model.joint(n).dofadr[0]) for n in ours.joints})
        model.dof_armature[:] = self.order.give(ours.armature[None], self.order.v)[0]
        self.file = folder / "robot.mjb"
        mujoco.mj_saveModel(model, str(self.file), None)

    def states(self, s: dict) -> dict:
        return self.order.states(s)

    def back(self, kind: str, x: np.ndarray) -> np.ndarray:
        return self.order.back(kind, x)


def error(x: np.ndarray, reference: np.ndarray) -> float:
    """Largest over states of max |x - r| / max |r|."""
    return float(np.max(np.max(np.abs(x - reference), 1) / np.max(np.abs(reference), 1)))


# ---- measuring ----

def measure(robot: str, programs: dict, options: argparse.Namespace) -> dict:
    result = {"times": [], "answers": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        ours = Description(programs["featherstorm"], robot)
        result["ours"] = {"isa": ours.isa, "build": ours.build, "nv": ours.nv}
        states = ours.random_states(options.states)
        server = Server("featherstorm", [programs["featherstorm"], robot], states, folder)
        jobs = []  # (server, library, what, name of the op there)
        reference = {}
        for kind, names in OURS.items():
            for name in names:
                if name not in ours.ops:
                    continue
                for path in PATHS:
                    x = server.answer(f"{name}/{path}")
                    if x is None:
                        continue
                    if path == "double/run-time" and kind not in reference:
                        reference[kind] = x
                    jobs.append((server, "featherstorm/" + path, kind, f"{name}/{path}"))
        servers = [server]
        wrong = []

        def compare(library: str, op: str, kind: str, x: np.ndarray, precision: str):
            if kind not in reference or op == "aba_derivatives":
                return
            e = error(x, reference[kind])
            result["answers"].append({"library": library, "op": op, "kind": kind, "error": e})
            if not e < TOLERANCE[precision]:
                wrong.append(f"{robot}: {op} of {library} differs from ours by {e:.1e}")

        for _, library, kind, op in jobs:
            compare(library, op, kind, server.answer(op), op.split("/")[1])
        pinocchio, mujoco = PinocchioRobot(ours, folder), MujocoRobot(ours, folder)
        peers = [(f"pinocchio/{label}", program, pinocchio, PINOCCHIO) for label, (program, _) in programs["pinocchio"].items()]
        peers.append(("mujoco", programs["mujoco"], mujoco, MUJOCO))
        for library, program, adapter, kinds in peers:
            peer = Server(library.replace("/", "-"), [program, adapter.file], adapter.states(states), folder)
            servers.append(peer)
            for kind, names in kinds.items():
                for op in names:
                    x = peer.answer(op)
                    if x is None:
                        continue
                    if kind in reference:
                        compare(library, op, kind, adapter.back(kind, x), "double")
                    jobs.append((peer, library, kind, op))
        if wrong:
            sys.exit("\n".join(wrong))
        samples = [[] for _ in jobs]
        for repetition in range(options.repetitions):
            # another order every time, so that no one always follows the same neighbour
            for k in np.random.default_rng(repetition).permutation(len(jobs)):
                samples[k].append(jobs[k][0].time(jobs[k][3], options.seconds))
        for (_, library, kind, op), x in zip(jobs, samples):
            q = statistics.quantiles(x, n=4)
            result["times"].append({"library": library, "kind": kind, "op": op, "median": statistics.median(x),
                                    "least": min(x), "quartiles": [q[0], q[2]]})
        for s in servers:
            s.close()
    return result


# ---- the report ----

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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release", help="build folder of featherstorm")
    parser.add_argument("--robots", nargs="+", default=["iiwa14", "panda", "go2", "hyq", "g1", "atlas"])
    parser.add_argument("--states", type=int, default=1024)
    parser.add_argument("--repetitions", type=int, default=15)
    parser.add_argument("--seconds", type=float, default=0.02, help="length of a repetition")
    parser.add_argument("--output", type=Path, help="files to write, without .json or .md")
    options = parser.parse_args()

    folder = options.build / "peers"
    folder.mkdir(parents=True, exist_ok=True)
    programs = {"featherstorm": options.build / "bin" / "bench_peer_featherstorm", "pinocchio": build_pinocchio(folder),
                "mujoco": build_mujoco(folder)}
    record = machine.describe()
    record.update(states=options.states, repetitions=options.repetitions, seconds=options.seconds, load_before=machine.load())
    all_before, stolen_before = machine.steal()
    record["robots"] = {}
    for robot in options.robots:
        print("measuring", robot, flush=True)
        record["robots"][robot] = measure(robot, programs, options)
    all_after, stolen_after = machine.steal()
    record["load_after"] = machine.load()
    record["stolen"] = (stolen_after - stolen_before) / max(1, all_after - all_before)
    first = next(iter(record["robots"].values()))["ours"]
    record["versions"] = {
        f"Pinocchio {importlib.metadata.version('pin')}, float64": "; ".join(flags for _, flags in programs["pinocchio"].values()),
        f"MuJoCo {importlib.metadata.version('mujoco')}": "float64, the library of its wheel",
        "featherstorm": f"{first['build']}; kernels {first['isa']}",
    }
    output = options.output or machine.folder() / f"{record['date']}-peers"
    output.with_suffix(".json").write_text(json.dumps(record, indent=1) + "\n")
    text = report(record)
    output.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
