"""`simulate` for a model file's world: controls, and the report of contacts, forces and energy; plots of a sample."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from .._optional import matplotlib, matplotlib_figure, mujoco, pyplot
from .._world.values import compiled
from ..simulation import Simulation
from . import expect_folder, refuse

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    import numpy.typing as npt

    from ..model import Model

# time; q, v, energy, and force of the floor or number of contacts, for each instance of a sample
Snapshot: TypeAlias = "tuple[float, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]"


def check_plot(path: str) -> None:
    """Raise ValueError for an invalid file before the simulation starts."""
    expect_folder("plot", path)
    if not os.path.splitext(path)[1]:
        raise ValueError(f"--plot: {path} has no ending such as .png, .svg or .pdf")
    matplotlib.use("Agg")
    ending = os.path.splitext(path)[1][1:].lower()
    if ending not in matplotlib_figure.Figure().canvas.get_supported_filetypes():
        raise ValueError(f"--plot: .{ending} is not supported; .png, .svg and .pdf are")


def draw(
    path: str, model: Model, history: Sequence[Snapshot], options: argparse.Namespace, world: bool = False
) -> None:
    """Plot the height of a floating base, the positions of the last joints, and the energy.

    Robots on a floor have the speed of the pushes and the force of the floor instead of the energy. A world has the
    number of contacts in addition.
    """
    # times (n,), q, v (n, instance, .), energies and forces (n, instance)
    times, q, v, energies, forces = (np.array(column) for column in zip(*history))
    curves = []
    if model.bodies[0]["type"] == "free":
        curves.append(("height of the base [m]", q[:, :, 2]))
    if model.nc:
        curves.append(("horizontal speed\nof the base [m/s]", np.hypot(v[:, :, 0], v[:, :, 1])))
        curves.append(("force of the floor [weight]", forces / (model.total_mass * np.linalg.norm(model.gravity))))
    else:
        curves.append(("energy [J]", energies))
    if world:
        curves.append(("contacts", forces))
    rows = 1 + len(curves)
    figure, axes = pyplot.subplots(rows, 1, sharex=True, figsize=(9, 1 + 2.4 * rows), constrained_layout=True)
    stands = " on their feet, pushed now and then" if model.nc else ""
    axes[0].set_title(f"{model.name}: {q.shape[1]} of {options.instances} instances{stands}")
    for place, (label, values) in zip(axes, curves):
        place.plot(times, values, lw=0.9)
        place.set_ylabel(label)
    if model.nc:
        axes[0].set_ylim(bottom=min(0, q[:, :, 2].min()))
    for color, k in enumerate([c for c in model.dof_q if c >= 0][-3:]):
        lines = axes[-1].plot(times, q[:, :, k], lw=0.8, color=f"C{color}", alpha=0.6)
        lines[0].set_label(model.q_names[k])
    axes[-1].set_ylabel("position [rad | m]")
    axes[-1].legend(fontsize="small", loc="center right")
    axes[-1].set_xlabel("time [s]")
    figure.savefig(path)
    pyplot.close(figure)


HOLD = 0.2  # time between changes of random controls [s]
SPEED = 0.1  # size of random initial velocities [rad/s | m/s]


def add_control_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--controls",
        choices=["zero", "random", "keyframe"],
        default="zero",
        help="of an MJCF file's actuators (default: %(default)s)",
    )
    parser.add_argument("--keyframe", type=int, default=-1, help="in which an MJCF file begins (default: its defaults)")


def check_keyframe(m: Any, options: argparse.Namespace) -> None:
    """Raise ValueError for a keyframe that the compiled model does not have."""
    if options.keyframe >= m.nkey or (options.controls == "keyframe" and options.keyframe < 0):
        raise ValueError(
            f"--keyframe is {options.keyframe}, {options.robot} has "
            + (f"those from 0 to {m.nkey - 1}" if m.nkey else "none")
        )


class Controls:
    """Writer of controls (n, nu) before each step of `dt` [s]."""

    def __init__(self, m: Any, options: argparse.Namespace, dt: float) -> None:
        self.random = np.random.default_rng(options.seed)
        limited = np.asarray(m.actuator_ctrllimited, bool)
        self.low, self.high = (np.where(limited, m.actuator_ctrlrange[:, k], side) for k, side in ((0, -1.0), (1, 1.0)))
        if options.controls == "keyframe":
            self.low = self.high = np.asarray(m.key_ctrl[options.keyframe])
        self.are_zero = options.controls == "zero" or m.nu == 0
        self.hold, self.count = max(round(HOLD / dt), 1), 0

    def write(self, ctrl: npt.NDArray[Any]) -> None:
        if not self.are_zero and self.count % self.hold == 0:
            ctrl[:] = self.random.uniform(self.low, self.high, ctrl.shape)
        self.count += 1


def begin(model: Model, options: argparse.Namespace) -> tuple[Simulation, Controls]:
    """Make the simulation at the file's defaults or a keyframe, with small random differences between instances."""
    remedy = f"--ignore world steps the tree of {options.robot} alone"
    refuse(options, {"drive": None, "no_specialise": False}, f"robots without a world; {remedy}")
    m = compiled(model)
    check_keyframe(m, options)
    substeps = options.substeps if options.dt is None or options.substeps > 1 else None
    sim = Simulation(model, options.instances, options.dt, substeps, dtype=options.dtype, law=options.law)
    options.dt, options.substeps = sim.dt, sim.substeps
    if options.keyframe >= 0:
        sim.reset(key=options.keyframe)
        sim.ctrl[:] = 0
    elif options.ground:
        sim.reset(q=on_the_ground(model))
    random = np.random.default_rng(options.seed)
    sim.v = (np.asarray(sim.v) + SPEED * random.normal(size=(options.instances, model.nv))).astype(sim.dtype)
    return sim, Controls(m, options, sim.dt)


def on_the_ground(model: Model) -> npt.NDArray[np.float64]:
    """Return the neutral position of a robot; a floating base is shifted so that its lowest geom touches the ground."""
    m, q = compiled(model), np.array(model.q0)
    if model.bodies[0]["type"] != "free":
        return q
    d = mujoco.MjData(m)
    high = 100.0  # [m]
    d.qpos[:] = q
    d.qpos[2] = high
    mujoco.mj_kinematics(m, d)
    ground = m.geom("ground").id
    gaps = [mujoco.mj_geomDistance(m, d, ground, g, 2 * high, None) for g in range(m.ngeom) if m.geom_bodyid[g]]
    q[2] = high - min(gaps, default=high)
    return q


def counts(sim: Simulation, sample: int) -> npt.NDArray[Any]:
    """Return the number of contacts for each of the first instances."""
    return np.asarray(sim.report().contacts)[:sample]


def report(sim: Simulation) -> None:
    """Print figures of the state at the end."""
    said = sim.report()
    good = sim.status == 0
    if not good.any():
        print("contacts: no instance is finite")
        return
    touching = np.asarray(said.contacts)[good]
    print(f"contacts: {touching.mean():.1f} of an instance, {touching.max()} at most")
    gap = np.asarray(said.gap)[good]
    deepest = f"the deepest {-1e3 * gap.min():.3g} mm deep" if gap.min() < 0 else "none of them deep"
    steps, residual = np.asarray(said.iterations)[good], np.asarray(said.residual)[good]
    print(f"solver: {steps.mean():.1f} iterations, {steps.max()} at most, residual {residual.max():.1e}; {deepest}")
    kinetic, potential = (np.asarray(x)[good] for x in sim.energy())
    print(f"energy: kinetic {kinetic.mean():.3g} J, of weights {potential.mean():.3g} J, means over the instances")


def agreement(sim: Simulation, sample: int) -> None:
    """Compare a step of a sample with the same step in double precision."""
    rows, errors = errors_of_step(sim, sample, sim.model, law=sim.law)
    if len(rows):
        print(
            f"agreement: one step of {len(rows)} instances is within {np.median(errors):.1e} of double precision in the median, "
            f"{errors.max():.1e} at most"
        )


def errors_of_step(sim: Simulation, sample: int, reference: Model, **options: Any) -> tuple[Any, npt.NDArray[Any]]:
    """Return the finite instances of a sample, and the errors of a step of theirs beside the reference in double.

    A sentence tells where no instance is finite.
    """
    rows = np.flatnonzero(sim.status[:sample] == 0)
    if len(rows) == 0:
        print("agreement: no finite instance in the sample")
        return rows, np.zeros(0)
    ends = []
    for model, dtype in ((sim.model, sim.dtype), (reference, np.dtype("float64"))):
        one = Simulation(model, len(rows), sim.dt, sim.substeps, dtype=dtype, **options)
        one.reset(q=np.asarray(sim.q)[rows].astype(dtype), v=np.asarray(sim.v)[rows].astype(dtype))
        if one._op == "world":
            one.ctrl = np.asarray(sim.ctrl)[rows].astype(dtype)
        one.step()
        ends.append((one.q.astype(np.float64), one.v.astype(np.float64)))
    return rows, np.array([np.abs(x - y).max(axis=1) / max(1.0, np.abs(y).max()) for x, y in zip(*ends)]).max(axis=0)
