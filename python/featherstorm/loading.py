"""Models of robots by name, of files, and of MuJoCo's compiled models."""

from __future__ import annotations

import difflib
import os
import warnings
from typing import TYPE_CHECKING, Any

from . import _featherstorm
from .model import Model, Notice

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ._robot.closures import Coupling, Loop
    from ._robot.contacts import Contact
    from ._robot.mjcf import ModelFile
    from ._robot.urdf import UrdfWorld
    from .typing import Names


def load(
    name_or_path: str | os.PathLike[str],
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
    """Loads a robot: a built-in name (`robots()`), a .urdf file, or an MJCF .xml file through the package mujoco.

        floating_base   for URDF, which cannot say: True adds a free joint to the root link. None: as usual for a built-in
                        robot, False for a file. MJCF says it itself.
        threads         0: all cores
        isa             instruction set, "avx512", "avx2" or "base"; "": the widest there is
        assemble        False: with the kernels that serve any robot (`Model`)
        parameters      names of the robot's numbers that can differ from instance to instance (`Model.bind`)
        loops           joints that close kinematic loops, of `Loop`; for `fd_loops`, `loop_step` and others
        couplings       joints that follow others, of `Coupling`; for `fd_coupled`, `coupled_step` and others
        mimic           "independent": mimic joints of URDF move on their own, with a notice; "couple": they are couplings
        contacts        featherstorm.Contact of what may touch what; sweeps, relax: see featherstorm._robot.contacts.with_contacts
        strict          what is odd in a file but has a meaning (an inertia that no body has, a mimic of no joint) is an error; else
                        it is kept as it is written, and a Notice says what
        armature        for URDF, which has none: rotor inertia of each joint with one freedom [kg m^2 | kg]
        world           for URDF: True or a `UrdfWorld`, what the file's collision elements touch, and the ground where it is asked for;
                        equalities of it hold mimic joints. False: collision elements are ignored
    `step`, `Simulation` and `Rollout` go by what the robot carries: an MJCF file's world, with the file's actuators, contacts,
        constraints and timestep, or what is given here. Other operations take its tree with all joints free; forward and inverse
        dynamics (fd, rnea and others) refuse one with loops or couplings unless they are told `ignore=`.
        Errors: FileNotFoundError; ValueError with file, element and reason, for an unknown parameter, or naming the loop,
        joint or contact and what is wrong with it.
    """
    text = os.fspath(name_or_path)
    if text.lower().endswith((".xml", ".mjcf")):
        if not os.path.exists(text):
            raise FileNotFoundError(f"there is no file {text}")
        if floating_base is not None:
            raise ValueError(f"{text}: floating_base is for URDF; an MJCF file says itself which bodies float")
        from ._robot.mjcf import load_mjcf

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
        near = difflib.get_close_matches(text, builtin, 3)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(builtin)}"
        raise ValueError(f"'{text}' is neither a file nor a built-in robot; {hint}")
    of_world: ModelFile | None = None
    if not world:
        robot = _featherstorm.load(text, floating_base, mimic == "couple", strict, armature)
    else:
        from ._robot.urdf import UrdfWorld, load_urdf

        if not isinstance(world, (bool, UrdfWorld)):
            raise TypeError(f"world is {world!r}, expected True, False or a UrdfWorld")
        asked = UrdfWorld() if world is True else world
        robot, of_world = load_urdf(text, floating_base, mimic == "couple", strict, armature, asked)
    tell_odd(text, robot)
    robot = robot.with_closures(loops, couplings)
    return Model(robot, threads, isa, assemble, parameters, contacts, sweeps, relax, of_world)


def tell_odd(name: str, robot: _featherstorm.Robot) -> None:
    """One Notice of what no robot has and was kept as it is written."""
    if robot.odd:
        more = f"; and {len(robot.odd) - 3} more, see model.notices" if len(robot.odd) > 3 else ""
        warnings.warn(f"{name}: {'; '.join(robot.odd[:3])}{more}", Notice, stacklevel=3)


def from_mujoco(
    compiled: Any, name: str = "robot", threads: int = 0, isa: str = "", assemble: bool = True, parameters: Names = ()
) -> Model:
    """A Model from a mujoco.MjModel, or from a mujoco.MjSpec, which is compiled; q and v have MuJoCo's layout, and joints its order.

    name  of the robot, for messages; the others as in `load`
    Steps have all that the file says (docs/reference/world.md); what they leave out is in `notices`, such as pairs of geoms that have no
    contacts here. A step, a Simulation and a Rollout of the model are those of `compiled` as it is now.
    Armature of tendons is part of M and of the bias force in steps and in `mass_and_bias`; operations on the tree, such as `crba`
    and `rnea`, leave it out, with a sentence in `notices`.
    Errors: ValueError for flexible bodies, which would make M and the bias force wrong; for a spec that MuJoCo does not compile.
    TypeError for another object.
    """
    import mujoco

    from ._robot.mjcf import robot_from_mujoco

    m = compiled.compile() if isinstance(compiled, mujoco.MjSpec) else compiled
    if not isinstance(m, mujoco.MjModel):
        raise TypeError(
            f"from_mujoco: compiled is a {type(m).__name__}, expected mujoco.MjModel or mujoco.MjSpec; load takes a file's path"
        )
    robot, file = robot_from_mujoco(m, name)
    return Model(robot, threads, isa, assemble, parameters, file=file)


def robots() -> list[str]:
    """Names of the built-in robots."""
    return [name for name, *_ in _featherstorm.robots()]
