"""Loading of models: by the name of a built-in robot, from files, and from MuJoCo's compiled models."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _featherstorm
from ._names import hint, with_hints
from ._optional import mujoco
from ._robot.mjcf import ModelFile, load_mjcf, robot_from_mujoco
from ._robot.urdf import UrdfWorld, load_urdf
from ._world.values import variants
from .model import Model, tell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ._robot.closures import Contact, Coupling, Loop
    from .typing import Names


@with_hints
def load(
    name_or_path: str | bytes | os.PathLike[Any],
    floating_base: bool | None = None,
    threads: int = 0,
    isa: str = "",
    assemble: bool = True,
    parameters: Names = (),
    loops: Iterable[Loop] = (),
    couplings: Iterable[Coupling] = (),
    mimic: str = "independent",
    contacts: Sequence[Contact] = (),
    sweeps: int = 8,
    relax: int = 2,
    strict: bool = False,
    armature: float = 0.0,
    world: bool | UrdfWorld = False,
) -> Model:
    """Load a robot: a built-in name (`robots()`), a .urdf file, or an MJCF .xml file through the package mujoco.

    floating_base   for URDF, which cannot say: True adds a free joint to the root link. None: as usual for a built-in
                    robot, False for a file. MJCF says it itself.
    threads         0: all cores
    isa             instruction set, "avx512", "avx2" or "base"; "": that of the environment variable FEATHERSTORM_ISA, or
                    the widest one available
    assemble        False: use the kernels for any robot (`Model`)
    parameters      names of the robot's numbers that can differ between instances (`Model.bind`)
    loops           joints that close kinematic loops, each a `Loop`; for `fd_loops`, `loop_step` and others
    couplings       joints that follow others, each a `Coupling`; for `fd_coupled`, `coupled_step` and others
    mimic           "independent": mimic joints of URDF move on their own, with a notice; "couple": they become
                    couplings
    contacts        featherstorm.Contact of each pair that may touch; sweeps, relax: see
                    featherstorm._robot.closures.with_contacts
    strict          True: oddities of a file that still have a meaning (an inertia that no body has, a mimic of no
                    joint) are errors; False: they are kept as written, and a Notice names them
    armature        for URDF, which has none: rotor inertia of each joint with one freedom [kg m^2 | kg]
    world           for URDF: True or a `UrdfWorld` makes a world with contacts of the file's collision elements, and
                    the ground where requested; mimic joints become its equalities. False: collision elements are
                    ignored

    `step`, `Simulation` and `Rollout` use all that the model carries: an MJCF file's world, with the file's actuators,
    contacts, constraints and timestep, or the loops, couplings and contacts given here. Other operations use the tree
    alone, with all joints free. Forward and inverse dynamics (fd, rnea and others) refuse a model with loops or
    couplings unless `ignore=` names them.

    Errors: FileNotFoundError; ValueError with file, element and reason, for an unknown parameter, or naming the loop,
    joint or contact and the reason.
    """
    text = os.fsdecode(name_or_path)
    if text.lower().endswith((".xml", ".mjcf")):
        if not os.path.exists(text):
            raise FileNotFoundError(f"there is no file {text}")
        if floating_base is not None:
            raise ValueError(f"{text}: floating_base is for URDF; an MJCF file says itself which bodies float")
        if mimic != "independent":
            raise ValueError(f"{text}: mimic is for URDF")
        if world:
            raise ValueError(f"{text}: world is for URDF; an MJCF file has its own")
        if armature:
            raise ValueError(f"{text}: armature is for URDF; an MJCF file says it itself")
        robot, file = load_mjcf(text, strict)
        tell_odd(text, robot)
        robot = robot.with_closures(loops, couplings)
        return Model(robot, threads, isa, assemble, parameters, contacts, sweeps, relax, file)
    if mimic not in ("independent", "couple"):
        raise ValueError(f"mimic is {mimic!r}, expected 'independent' or 'couple'")
    builtin = [name for name, *_ in _featherstorm.robots()]
    if text not in builtin and not os.path.exists(text):
        if os.sep in text or os.path.splitext(text)[1]:
            raise FileNotFoundError(f"there is no file {text}")
        more = hint(text, builtin, f"; there are: {', '.join(builtin)}")
        raise ValueError(f"'{text}' is neither a file nor a built-in robot{more}")
    of_world: ModelFile | None = None
    if not world:
        robot = _featherstorm.load(text, floating_base, mimic == "couple", strict, armature)
    else:
        if not isinstance(world, (bool, UrdfWorld)):
            raise TypeError(f"world is {world!r}, expected True, False or a UrdfWorld")
        asked = UrdfWorld() if world is True else world
        robot, of_world = load_urdf(text, floating_base, mimic == "couple", strict, armature, asked)
    tell_odd(text, robot)
    robot = robot.with_closures(loops, couplings)
    return Model(robot, threads, isa, assemble, parameters, contacts, sweeps, relax, of_world)


def tell_odd(name: str, robot: _featherstorm.Robot) -> None:
    """Warn with one Notice about oddities of the file that were kept as written."""
    if robot.odd:
        more = f"; and {len(robot.odd) - 3} more, see model.notices" if len(robot.odd) > 3 else ""
        tell(f"{name}: {'; '.join(robot.odd[:3])}{more}")


@with_hints
def from_mujoco(
    compiled: Any, name: str = "robot", threads: int = 0, isa: str = "", assemble: bool = True, parameters: Names = ()
) -> Model:
    """Make a Model from a mujoco.MjModel, or from a mujoco.MjSpec, which is compiled; or from a list of B of these.

    q, v and joints have MuJoCo's order.

        designs = fs.from_mujoco([leg(length) for length in np.linspace(0.15, 0.35, 1000)])     # each a MjSpec
        sim = fs.Simulation(designs, 1000)

    A list has models that differ in numbers alone; instance i of a call has the numbers of compiled[i]. Kernels are
    made once. The tables in which the models differ, such as body_pos, body_mass, geom_size and geom_pos, become
    parameters, whose numbers are bound (Model.bind). Numbers that MuJoCo's compiler derives (body_invweight0,
    actuator_acc0, ...) are those of each model.

    name  of the robot, for messages; the other arguments are those of `load`
    Steps simulate all that the file says (docs/reference/world.md). `notices` lists the omissions, such as pairs of
    geoms without contacts here. A step, a Simulation and a Rollout of the model are those of `compiled` as it is now.
    Armature of tendons is part of M and of the bias force in steps and in `mass_and_bias`. Operations on the tree, such
    as `crba` and `rnea`, leave it out, with a sentence in `notices`.
    Errors: ValueError for flexible bodies, which would make M and the bias force wrong, and for a spec that MuJoCo does
    not compile. For a list: ValueError for models that differ in their elements, or in a table that is no input of
    steps, such as the vertices of meshes. TypeError for another object.
    """
    if isinstance(compiled, (list, tuple)):
        names = (parameters,) if isinstance(parameters, str) else tuple(parameters)
        return variants(compiled, name, threads, isa, assemble, names)
    m = compiled.compile() if isinstance(compiled, mujoco.MjSpec) else compiled
    if not isinstance(m, mujoco.MjModel):
        raise TypeError(
            f"from_mujoco: compiled is a {type(m).__name__}, expected mujoco.MjModel or mujoco.MjSpec; load takes a "
            "file's path"
        )
    robot, file = robot_from_mujoco(m, name)
    return Model(robot, threads, isa, assemble, parameters, file=file)


def robots() -> list[str]:
    """Return the names of the built-in robots."""
    return [name for name, *_ in _featherstorm.robots()]
