"""Model: a robot, what its coordinates are called, and the engine that evaluates it. Immutable but for its kernels."""

import difflib
import math
import os
import warnings
from typing import NamedTuple

import numpy as np

from . import _featherstorm


class Row(NamedTuple):
    """An operation of the table with its sizes for one model."""

    name: str
    summary: str
    inputs: tuple  # of (name, components)
    outputs: tuple
    uniforms: tuple  # (name, components) of what is the same for all instances
    uses_frame: bool
    carried: bool  # its outputs are the inputs of the next pass


class Notice(UserWarning):
    """Something fell back to a slower path; the results are the same."""


class Model:
    """A robot. Made by `load`, `from_mujoco` or a `RobotBuilder`.

    An operation's first use assembles its kernel for this robot, within milliseconds; `assemble=False`, or the
    environment's FEATHERSTORM_ASSEMBLE=0, leaves it to the kernels that serve any robot.

    nq, nv, nb, nf, nh   numbers of positions, velocities, moving bodies, frames, entries of a packed M
    joint_names, body_names, frame_names, q_names, v_names
    q0 (nq,)             neutral configuration: zeros and unit quaternions
    lower, upper (nv,)   position limits, infinite where there is none [rad | m]
    max_velocity, max_effort, damping, friction, armature (nv,)
    gravity (3,)         [m/s^2], world
    row_start, column    layout of a packed M: row i holds its ancestors from the root, then i
    notices              what the loader left out, a sentence each
    """

    def __init__(self, robot, threads=0, isa="", assemble=True):
        self.robot = robot
        self.evaluator = _featherstorm.Evaluator(robot, threads, isa, assemble)
        nv, nb = robot.nv, robot.nb
        squares = "C C_rate dtau_dq dtau_dv da_dq da_dv da_dtau by_q by_v".split()
        self.tails = {"f_ext": (nb, 6)}  # of inputs
        # of one name in several operations, the shape with as many components
        self._shapes = {
            "f_ext": [(nb, 6)],
            "wrench": [(nb, 6)],
            "J": [(6, nv), (3, nv), (6, nv - 6)],
            "J_rate": [(6, nv)],
            "J_second_rate": [(6, nv)],
            "J_bar": [(nv, 6)],
            "F": [(6, nv - 6)],
            "A": [(6, nv), (2 * nv, 2 * nv)],
            "A_rate": [(6, nv)],
            "B": [(2 * nv, nv)],
            "Y": [(nv, 10 * nb)],
            "pose": [(robot.nf, 12)],
            **{name: [(6, 6)] for name in ("Phi", "Lambda", "I0")},
            **{name: [(nv, nv)] for name in squares},
        }
        self._rows = {}
        for r in self.evaluator.ops:
            row = Row(r.name, r.summary, tuple(r.inputs), tuple(r.outputs), tuple(r.uniforms), r.uses_frame, r.carried)
            self._rows[r.name] = row
        for name in ("name", "nq", "nv", "nb", "nf", "nh"):
            setattr(self, name, getattr(robot, name))
        for name in ("joint_names", "body_names", "frame_names", "q_names", "v_names", "notices"):
            setattr(self, name, tuple(getattr(robot, name)))
        for name in (
            "q0",
            "gravity",
            "lower",
            "upper",
            "max_velocity",
            "max_effort",
            "damping",
            "friction",
            "armature",
            "row_start",
            "column",
            "dof_q",
            "dof_parent",
        ):
            array = np.array(getattr(robot, name))
            array.flags.writeable = False
            setattr(self, name, array)
        self.bodies = tuple(robot.bodies)
        self.total_mass = sum(body["mass"] for body in self.bodies)
        # (name of the joint, first column) of each quaternion in q
        self.quaternions = tuple(
            (b["joint"], b["q"][0] + (3 if b["type"] == "free" else 0))
            for b in self.bodies
            if b["type"] in ("free", "ball")
        )

    @property
    def ops(self):
        """The table of operations, by name."""
        return dict(self._rows)

    @property
    def isa(self):
        return self.evaluator.isa

    @property
    def threads(self):
        return self.evaluator.threads

    def row(self, op):
        if op not in self._rows:
            raise NotImplementedError(f"{op}: this build has no operation of that name; it has {', '.join(self._rows)}")
        return self._rows[op]

    def tail(self, name, components):
        """The shape behind the batch of an array of an operation: (components,), or more where rows have a meaning."""
        return next((t for t in self._shapes.get(name, ()) if math.prod(t) == components), (components,))

    def uniform_values(self, op, given, label=None):
        """The numbers of an operation's uniforms, one behind the other; a number stands for equal components."""
        row, values = self.row(op), []
        if given.keys() != {name for name, _ in row.uniforms}:
            expected = ", ".join(name for name, _ in row.uniforms) or "none"
            raise TypeError(f"{label or op}: got the numbers {', '.join(sorted(given)) or 'none'}, expected {expected}")
        for name, n in row.uniforms:
            value = given[name]
            if isinstance(value, (int, float)):
                values.extend([float(value)] * n)
                continue
            value = np.asarray(value, dtype=float)
            if value.shape not in ((), (n,)):
                raise ValueError(f"{label or op}: {name} has shape {value.shape}, expected ({n},) or a number")
            values.extend(np.broadcast_to(value, (n,)).tolist())
        return values

    def frame(self, frame):
        """The index of a frame given by name or index."""
        if isinstance(frame, str):
            if frame in self.frame_names:
                return self.frame_names.index(frame)
            near = difflib.get_close_matches(frame, self.frame_names, 3)
            hint = f"; did you mean {' or '.join(near)}?" if near else "; model.frame_names lists them"
            raise ValueError(f"{self.name} has no frame '{frame}'{hint}")
        if not -self.nf <= int(frame) < self.nf:
            raise ValueError(f"frame is {frame}, expected 0 to {self.nf - 1}")
        return int(frame) % self.nf

    def joint(self, name):
        """The slices of q and v of a joint: q[..., model.joint("knee").q]."""
        for body in self.bodies:
            if body["joint"] == name:
                return JointSlices(slice(*body["q"]), slice(*body["v"]))
        near = difflib.get_close_matches(name, self.joint_names, 3)
        raise ValueError(
            f"{self.name} has no joint '{name}'" + (f"; did you mean {' or '.join(near)}?" if near else "")
        )

    def specialise(self, ops=("rnea", "crba", "fd"), dtype="float32", frame=0):
        """Makes kernels for this robot now and uses them from now on; True where all of them could be made.

        Assembled where that can be done, as at an operation's first use; else compiled: that takes the compiler's
        seconds the first time, later they come from the cache on disk. Warns with a Notice where there is no compiler
        or the robot is too large; the kernels for any robot serve then.
        """
        names = [ops] if isinstance(ops, str) else list(ops)
        dtype = np.dtype(dtype).name
        for op in names:
            self.row(op)
        done = [self.evaluator.specialise(op, dtype, self.frame(frame)) for op in names]
        for notice in self.evaluator.take_notices():
            warnings.warn(notice, Notice, stacklevel=2)
        return all(done)

    def specialised(self, op, dtype="float32", frame=0):
        """Whether the operation runs with a kernel made for this robot."""
        self.row(op)
        return self.evaluator.specialised(op, np.dtype(dtype).name, self.frame(frame))

    def __repr__(self):
        return (
            f"<featherstorm.Model {self.name}: {self.nb} bodies, nq {self.nq}, nv {self.nv}, {self.total_mass:.4g} kg>"
        )


class JointSlices(NamedTuple):
    q: slice
    v: slice


def load(name_or_path, floating_base=None, threads=0, isa="", assemble=True):
    """Loads a robot: a built-in name (`robots()`), a .urdf file, or an MJCF .xml file through the package mujoco.

    floating_base   for URDF, which cannot say: True adds a free joint to the root link. None: as usual for a built-in
                    robot, False for a file. MJCF says it itself.
    threads         0: all cores
    isa             instruction set, "avx512", "avx2" or "base"; "": the widest there is
    assemble        False: with the kernels that serve any robot (`Model`)
    Errors: FileNotFoundError; ValueError with file, element and reason.
    """
    text = os.fspath(name_or_path)
    if text.lower().endswith((".xml", ".mjcf")):
        if not os.path.exists(text):
            raise FileNotFoundError(f"there is no file {text}")
        if floating_base is not None:
            raise ValueError(f"{text}: floating_base is for URDF; an MJCF file says itself which bodies float")
        from .mjcf import load_mjcf

        return Model(load_mjcf(text), threads, isa, assemble)
    builtin = [name for name, *_ in _featherstorm.robots()]
    if text not in builtin and not os.path.exists(text):
        if os.sep in text or os.path.splitext(text)[1]:
            raise FileNotFoundError(f"there is no file {text}")
        near = difflib.get_close_matches(text, builtin, 3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(builtin)}"
        raise ValueError(f"'{text}' is neither a file nor a built-in robot; {hint}")
    return Model(_featherstorm.load(text, floating_base), threads, isa, assemble)


def from_mujoco(compiled, name="robot", threads=0, isa="", assemble=True):
    """A Model from a compiled mujoco.MjModel."""
    from .mjcf import robot_from_mujoco

    return Model(robot_from_mujoco(compiled, name), threads, isa, assemble)


def robots():
    """Names of the built-in robots."""
    return [name for name, *_ in _featherstorm.robots()]
