"""Measurements of `bench --report`, as plain dictionaries.

Functions to compare are timed in rounds. Each round has one repetition of each function, in a changing order, so that
other load on the machine affects all of them. Times are processor time of the thread for one thread, else wall-clock
time.
"""

from __future__ import annotations

import importlib.util
import json
import re
import time
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ... import _featherstorm, loading, model as models
from ..._optional import pinocchio
from ..._robot.states import random_state
from ...convert import to_pinocchio
from ...operations import crba
from ...simulation import Simulation

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

Spread: TypeAlias = dict[str, float]  # median, low and high [ns]
Plan: TypeAlias = dict[str, Any]  # see report.PLAN
DTYPES = ("float32", "float64")
# error bound that every correct kernel meets, relative to the largest entry of an output; not a measure of accuracy
TOLERANCE = {"float32": 1e-1, "float64": 1e-8}
PARAMETER_SETS = (("mass",), ("mass", "com", "inertia"), ("friction", "armature"))
UNIFORMS = {"dt": 2e-3, "kp": 20.0, "kd": 0.5, "limit_stiffness": 20.0, "limit_damping": 0.5, "tolerance": 1e-5}


class Case:
    """An operation or a derivative, with arrays for a batch: random states, other inputs in [-1, 1].

    rounded   dtype to which input values are rounded, so that cases of different dtypes have equal inputs
    """

    def __init__(self, model: models.Model, op: str, instances: int, dtype: str, rounded: str | None = None) -> None:
        row = model.row(op)
        self.model, self.op, self.instances = model, op, instances
        self.frame = model.nf - 1 if row.uses_frame else 0
        self.uniforms = model.uniform_values(op, {name: UNIFORMS.get(name, 0.1) for name, _ in row.uniforms})
        self.inputs = [_featherstorm.Buffer(dtype, instances, n) for _, n in row.inputs]
        self.outputs = [_featherstorm.Buffer(dtype, instances, n) for _, n in row.outputs]
        for seed, ((name, n), buffer) in enumerate(zip(row.inputs, self.inputs)):
            rows_of(buffer, n)[:] = values(model, name, n, instances, seed).astype(rounded or dtype)

    def run(self) -> None:
        self.model.evaluator.run(self.op, self.inputs, self.outputs, self.uniforms, self.frame)

    def answers(self) -> list[npt.NDArray[np.float64]]:
        """Compute the outputs (B, n) into memory filled with NaN, and return them in float64."""
        sizes = [n for _, n in self.model.row(self.op).outputs]
        for buffer, n in zip(self.outputs, sizes):
            rows_of(buffer, n)[:] = np.nan
        self.run()
        return [rows_of(buffer, n).astype(np.float64) for buffer, n in zip(self.outputs, sizes)]


def rows_of(buffer: _featherstorm.Buffer, n: int) -> Any:
    """Return a buffer's memory as an array (B, n)."""
    return buffer.view([n])


def values(model: models.Model, name: str, n: int, instances: int, seed: int) -> npt.NDArray[np.float64]:
    """Return values for an array of an operation, by its name and size."""
    if name in model.parameters:
        own = model.parameter(name).reshape(-1)
        return own * np.random.default_rng(seed).uniform(0.9, 1.1, (instances, n))
    q, _ = random_state(model, instances, seed)
    if name.startswith("q") and n == model.nq and not name.endswith(("_bar", "_tan")):
        return q
    if name in ("M", "L"):
        M = models.Model(model.robot, threads=1, assemble=False)
        return chain(M, q, ("crba", "ltdl") if name == "L" else ("crba",))
    return np.random.default_rng(seed).uniform(-1, 1, (instances, n))


def chain(model: models.Model, x: npt.NDArray[np.float64], ops: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return the output of a chain of operations with one input each."""
    for op in ops:
        out = _featherstorm.Buffer("float64", len(x), model.nh)
        model.evaluator.run(op, [x], [out], [], 0)
        x = rows_of(out, model.nh).copy()
    return x


def error(case: Case, exact: Sequence[npt.NDArray[np.float64]]) -> float:
    """Return the largest difference from reference outputs r, over instances and outputs: max |x - r| / max |r|."""
    worst = 0.0
    for x, r in zip(case.answers(), exact):
        scale = np.maximum(np.abs(r).max(axis=1), 1e-300)
        relative = np.abs(x - r).max(axis=1) / scale
        worst = max(worst, float(np.where(np.isnan(relative), np.inf, relative).max(initial=0)))
    return worst


def rounds(
    jobs: Sequence[Callable[[], object]], plan: Plan, clock: Callable[[], int] = time.perf_counter_ns
) -> list[Spread]:
    """Time functions in turn. Return for each its Spread of nanoseconds per call.

    plan   `repeats`: number of rounds; `sample`: shortest time of a repetition [s]
    """
    passes = [calibrate(job, plan["sample"], clock) for job in jobs]
    samples: list[list[float]] = [[] for _ in jobs]
    for k in range(plan["repeats"]):
        for i in np.random.default_rng(k).permutation(len(jobs)):
            start = clock()
            for _ in range(passes[i]):
                jobs[i]()
            samples[i].append((clock() - start) / passes[i])
    return [spread(x) for x in samples]


def calibrate(job: Callable[[], object], sample: float, clock: Callable[[], int]) -> int:
    """Return the number of calls in a repetition, after two calls that make kernels and warm up caches."""
    job()
    job()
    start = clock()
    job()
    return max(1, int(np.ceil(sample * 1e9 / max(clock() - start, 1))))


def spread(samples: Sequence[float]) -> Spread:
    low, median, high = np.percentile(samples, [25, 50, 75])
    return {"median": float(median), "low": float(low), "high": float(high)}


def scaled(times: Spread, factor: float) -> Spread:
    return {name: value * factor for name, value in times.items()}


def clock_of(model: models.Model) -> Callable[[], int]:
    return time.thread_time_ns if model.threads == 1 else time.perf_counter_ns


def per_instance(cases: Sequence[Case], plan: Plan) -> list[Spread]:
    """Time cases in turn. Return the nanoseconds per instance of each."""
    times = rounds([case.run for case in cases], plan, clock_of(cases[0].model))
    return [scaled(t, 1 / case.instances) for t, case in zip(times, cases)]


def batch_sizes(model: models.Model, plan: Plan) -> list[dict[str, Any]]:
    """Return rows of op, dtype, instances and ns per instance."""
    keys = [(op, dtype, n) for op in plan["ops"] for dtype in DTYPES for n in plan["batches"]]
    times = per_instance([Case(model, op, n, dtype) for op, dtype, n in keys], plan)
    return [{"op": op, "dtype": dtype, "instances": n, "ns": t} for (op, dtype, n), t in zip(keys, times)]


def freedoms(names: Sequence[str], plan: Plan) -> list[dict[str, Any]]:
    """Return rows of robot, nv, op and ns per instance, float32, for every robot."""
    rows = []
    for name in names:
        model = loading.load(name, threads=1)
        ops = [op for op in plan["ops"] if op in model.ops]
        times = per_instance([Case(model, op, plan["instances"], "float32") for op in ops], plan)
        rows += [{"robot": name, "nv": model.nv, "op": op, "ns": t} for op, t in zip(ops, times)]
    return rows


def operations(model: models.Model, plan: Plan) -> list[dict[str, Any]]:
    """Return rows of op, ns per instance in both dtypes, and both errors against float64 kernels for any robot."""
    any_robot, rows = models.Model(model.robot, threads=1, assemble=False), []
    for op, row in model.ops.items():
        cases = {dtype: Case(model, op, plan["instances"], dtype) for dtype in DTYPES}
        exact = {dtype: Case(any_robot, op, plan["instances"], "float64", dtype).answers() for dtype in DTYPES}
        errors = {dtype: error(case, exact[dtype]) for dtype, case in cases.items()}
        wrong = [dtype for dtype in DTYPES if not errors[dtype] < TOLERANCE[dtype]]
        if wrong:
            raise ValueError(
                f"bench --report: {op} of {model.name} in {wrong[0]} differs by {errors[wrong[0]]:.1e} "
                "from the kernels for any robot in float64; nothing was written"
            )
        times = dict(zip(DTYPES, per_instance(list(cases.values()), plan)))
        made = all(model.specialised(op, dtype, cases[dtype].frame) for dtype in DTYPES)
        rows.append({"op": op, "summary": row.summary, "ns": times, "error": errors, "made": made})
    return rows


def derivatives(models_: Sequence[models.Model], plan: Plan) -> list[dict[str, Any]]:
    """Return rows of robot, op and ns per instance of the operation, its vjp and its jvp, float32."""
    rows = []
    for model in models_:
        for op in plan["ops"]:
            names = [op, op + "_vjp", op + "_jvp"]
            times = per_instance([Case(model, name, plan["instances"], "float32") for name in names], plan)
            rows.append({"robot": model.name, "op": op, **dict(zip(("ns", "vjp", "jvp"), times))})
    return rows


def parameters(name: str, plan: Plan) -> list[dict[str, Any]]:
    """Return rows of op, parameters and ns per instance, with parameters and with constants, float32."""
    rows = []
    for op in [op for op in plan["ops"] if op in ("fd", "step")] or plan["ops"][:1]:
        loaded = [loading.load(name, threads=1, parameters=chosen) for chosen in ((), *PARAMETER_SETS)]
        times = per_instance([Case(model, op, plan["instances"], "float32") for model in loaded], plan)
        rows += [
            {"op": op, "parameters": chosen, "ns": t, "constants": times[0]}
            for chosen, t in zip(PARAMETER_SETS, times[1:])
        ]
    return rows


def simulations(names: Sequence[str], options: argparse.Namespace, plan: Plan) -> list[dict[str, Any]]:
    """Return rows of robot, nv, dtype, ns per instance and step, and number of bad instances, with all threads."""
    rows = []
    for name in names:
        model = loading.load(name, threads=options.threads)
        for dtype in DTYPES:
            q, v = random_state(model, plan["instances"], dtype=dtype, speed=0.5)
            sim = Simulation(model, plan["instances"], dt=1e-3, dtype=dtype, ignore="world")
            sim.reset(q=q, v=v)
            (times,) = rounds([sim.step], plan, clock_of(model))
            rows.append(
                {
                    "robot": model.name,
                    "nv": model.nv,
                    "dtype": dtype,
                    "steps": round(sim.time / sim.dt),
                    "ns": scaled(times, 1 / plan["instances"]),
                    "bad": int(np.count_nonzero(sim.status)),
                }
            )
    return rows


KINDS = {"rnea": "inverse dynamics", "crba": "inertia matrix", "fd": "forward dynamics", "step": "a step"}
# patterns of names of libraries; Pinocchio evaluates one state a call in float64
COLUMNS = (
    "pinocchio/(?!float|double-lanes)",
    "mujoco",
    "featherstorm/double/assembled",
    "featherstorm/float/assembled",
)


def read(path: str) -> dict[str, Any]:
    """Read the record of a file and check it."""
    with open(path, encoding="utf-8") as file:
        try:
            record = json.load(file)
        except ValueError as error:
            raise ValueError(f"--peers: {path} is not JSON: {error}") from None
    missing = [name for name in ("machine", "date", "commit", "robots") if name not in record]
    if missing:
        raise ValueError(f"--peers: {path} has no {missing[0]}; expected a file that bench/peers.py wrote")
    return record


def recorded(record: dict[str, Any]) -> list[tuple[str, str, list[float | None]]]:
    """Return rows of kind, robot, and the fastest time of each of COLUMNS [ns], or None if there is no time."""
    rows = []
    for kind, what in KINDS.items():
        for robot, result in record["robots"].items():
            times = [
                min(
                    (t["median"] for t in result["times"] if t["kind"] == kind and re.match(library, t["library"])),
                    default=None,
                )
                for library in COLUMNS
            ]
            if any(t is not None for t in times[:2]) and any(t is not None for t in times[2:]):
                rows.append((what, robot, times))
    return rows


def here(name: str, plan: Plan) -> str | list[tuple[str, Spread, Spread]]:
    """Return rows of kind, and nanoseconds of Pinocchio and of featherstorm for one state from Python.

    If Pinocchio cannot be timed, the result is the reason as a string.
    """
    if importlib.util.find_spec("pinocchio") is None:
        return "Pinocchio is not installed here (the package pin)."
    path = {robot: (file, floating) for robot, file, _, floating in _featherstorm.robots()}.get(name)
    if path is None:
        return f"Pinocchio is not timed on {name}: it is not a built-in robot."
    file = f"{_featherstorm.robot_directory()}/{path[0]}"
    his = pinocchio.buildModelFromUrdf(file, *([pinocchio.JointModelFreeFlyer()] if path[1] else []))
    data, model = his.createData(), loading.load(name, threads=1)
    # Pinocchio's URDF reader has no rotors
    his.armature = np.abs(tangent(model, model.q0, his)) @ model.armature
    check_agreement(his, data, model)
    q, v = (x[0].copy() for x in to_pinocchio(model, *random_state(model, 1), his))
    tau = np.zeros(his.nv)
    calls = {
        "rnea": lambda: pinocchio.rnea(his, data, q, v, tau),
        "crba": lambda: pinocchio.crba(his, data, q),
        "fd": lambda: pinocchio.aba(his, data, q, v, tau),
    }
    times = rounds(list(calls.values()), plan, clock_of(model))
    ours = per_instance([Case(model, op, plan["instances"], "float64") for op in calls], plan)
    return [(KINDS[op], t, u) for op, t, u in zip(calls, times, ours)]


def tangent(model: models.Model, q: npt.NDArray[np.float64], his: Any) -> npt.NDArray[np.float64]:
    """Return T with v_pinocchio = T v."""
    return to_pinocchio(model, np.tile(q, (model.nv, 1)), np.eye(model.nv), his)[1].T


def check_agreement(his: Any, data: Any, model: models.Model) -> None:
    """Raise ValueError if the inertia matrices differ; they satisfy M = T^T M_pinocchio T."""
    q, _ = random_state(model, 4, seed=3)
    for row, p, mine in zip(q, to_pinocchio(model, q, None, his), crba(model, q)):
        T, M = tangent(model, row, his), pinocchio.crba(his, data, p)
        theirs = T.T @ (np.triu(M) + np.triu(M, 1).T) @ T
        if not np.abs(theirs - mine).max() < 1e-9 * np.abs(mine).max():
            raise ValueError(f"bench --report: the inertia matrices of Pinocchio and ours differ for {model.name}")
