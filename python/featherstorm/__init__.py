"""featherstorm: rigid-body dynamics of thousands of robots at once.

import featherstorm as fs
model = fs.load("go2")
tau = fs.rnea(model, q, v, a)              # q (B, nq), v (B, nv), a (B, nv): NumPy, PyTorch or JAX
sim = fs.Simulation(model, 4096, dt=1e-3)  # state that stays in the engine
sim.step(tau)
"""

import importlib as _importlib
import os as _os
import warnings as _warnings
from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

_folder = _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "robots")
if _os.path.isdir(_folder):
    _os.environ.setdefault("FEATHERSTORM_ROBOTS", _folder)

from . import inertia, ops, tasks
from ._evaluation.evaluation import run
from ._featherstorm import (  # type: ignore[attr-defined]  # a stub has no __version__
    Joint,
    RobotBuilder,
    __version__ as __version__,
    instruction_sets,
    operation_table as _operation_table,
)
from ._horizon.prepared import RolloutResult
from ._memory.arguments import zeros
from ._names import unknown_attribute as _unknown_attribute
from ._robot.closures import Contact, Coupling, Loop, Rigid
from ._robot.states import random_state
from ._robot.steps import Stepped
from ._robot.urdf import UrdfWorld
from ._world.gradients import StepCotangents, StepTangents, step_jvp, step_vjp
from ._world.linearization import Linearization
from .convert import from_pinocchio, to_pinocchio
from .derivatives import jvp, linearize, vjp
from .environment.env import Env, env
from .fleet import Fleet
from .loading import from_mujoco, load, robots
from .model import Model, Notice
from .noise import Noise
from .ops import *  # noqa: F403  # the common operations
from .rollout import Rollout, rollout
from .simulation import Simulation, Status

if _TYPE_CHECKING:
    from . import (
        control as control,
        distributed as distributed,
        identify as identify,
        jax as jax,
        learning as learning,
        mujoco as mujoco,
        planning as planning,
        rl as rl,
        torch as torch,
        transfer as transfer,
        viewing as viewing,
    )
    from ._table import *  # noqa: F403  # the functions that __getattr__ makes

# imported at first use: rarely needed, or importing other packages
_LATE = (
    "control", "distributed", "identify", "jax", "learning", "mujoco", "planning", "rl", "torch", "transfer", "viewing",
)  # fmt: skip
_MODULES = ("device", "symbols")
_FORMER = {"rnea_forces": "rnea", "aba_forces": "aba", "world_step": "smooth_step"}
_REMOVED = {
    "Batch": "operations write to arrays of fs.zeros by fs.run(model, op, ..., out=), and simulations of a model file "
    "are a fs.mujoco.Batch"
}

__all__ = [
    "Contact", "Coupling", "Env", "Fleet", "Joint", "Linearization", "Loop", "Model", "Noise", "Notice", "Rigid",
    "RobotBuilder", "Rollout", "RolloutResult", "Simulation", "Status", "StepCotangents", "StepTangents", "Stepped",
    "UrdfWorld", "env", "from_mujoco", "from_pinocchio", "inertia", "instruction_sets", "jvp", "linearize", "load",
    "ops", "random_state", "robots", "rollout", "run", "step_jvp", "step_vjp", "tasks", "to_pinocchio", "vjp", "zeros",
]  # fmt: skip
__all__ += ops.__all__


def __getattr__(name: str) -> _Any:
    """Return an operation of the table that has no function of its own; the table gives its signature and shapes."""
    if name in _LATE:
        return _importlib.import_module(f"{__name__}.{name}")
    if name in _FORMER:
        _warnings.warn(f"fs.{name} is fs.{_FORMER[name]} now, and goes with the next release", Notice, stacklevel=2)
        return getattr(ops, _FORMER[name])
    if name in _REMOVED:
        raise AttributeError(f"fs.{name} was removed: {_REMOVED[name]}")
    if name not in _operation_table():
        raise _unknown_attribute(__name__, name, (*__dir__(), *_operation_table()))
    globals()[name] = getattr(ops, name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*__all__, *_LATE, *_MODULES})
