"""Appearance of a Simulation's robot: the shapes of its file, or sticks from joint to joint."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .._robot.mjcf import Names
from .._robot.model_files import expect_files
from ..operations import forward_kinematics

if TYPE_CHECKING:
    from ..model import Model
    from ..typing import NumpyArray as Array


Kind = mujoco.mjtGeom
THICKNESS = 0.12  # radius of a stick divided by the mean length of links
COLOUR = (0.75, 0.45, 0.2, 1.0)


def look(model: Model, file: str | None = None) -> tuple[Any, list[str]]:
    """Return a compiled model for a Picture, and for each of its bodies the robot frame that it follows ("" for none).

    file   the URDF or MJCF file; None: the file of the built-in robot with this name, or else only sticks
    """
    if file and file.lower().endswith((".xml", ".mjcf")):
        expect_files(file)
        m = mujoco.MjModel.from_xml_path(file)
        return m, Names(m).body
    places, turns = (x[0] for x in forward_kinematics(model, model.q0[None].astype(np.float64)))
    file = file or built_in(model.name)
    for with_meshes in (True, False):
        spec = of_urdf(file, model, with_meshes) if file else None
        if spec is not None:
            break
    if spec is None:
        spec = bare(model, places)
    add_sticks(spec, model, places, turns)
    add_surroundings(spec, floor=model.nc > 0)
    m = spec.compile()
    return m, [m.body(b).name for b in range(m.nbody)]


def built_in(name: str) -> str | None:
    file = os.path.join(os.path.dirname(os.path.dirname(__file__)), "robots", f"{name}.urdf")
    return file if os.path.exists(file) else None


def of_urdf(file: str, model: Model, with_meshes: bool) -> Any | None:
    """Return the file as read by MuJoCo's compiler, or None if the compiler cannot read it."""
    try:
        expect_files(file)
        spec = mujoco.MjSpec.from_file(file)
        compiler = spec.compiler
        compiler.discardvisual, compiler.fusestatic, compiler.balanceinertia = False, False, True
        compiler.boundmass, compiler.boundinertia = 1e-6, 1e-9
        for geom in list(spec.geoms):
            sized = geom.type in (Kind.mjGEOM_MESH, Kind.mjGEOM_PLANE) or geom.size[0] > 0
            if not sized or (geom.type == Kind.mjGEOM_MESH and not with_meshes):
                spec.delete(geom)
        for mesh in () if with_meshes else list(spec.meshes):
            spec.delete(mesh)
        if model.bodies[0]["type"] == "free":
            spec.body(model.bodies[0]["name"]).add_freejoint()
        spec.copy().compile()
    except (ValueError, RuntimeError, AttributeError):
        return None
    return spec


def bare(model: Model, places: Array) -> Any:
    """Make a model with one invisible body for each frame."""
    spec = mujoco.MjSpec()
    for name, place in zip(model.frame_names, places):
        spec.worldbody.add_body(name=name, mocap=True, pos=place)
    return spec


def add_sticks(spec: Any, model: Model, places: Array, turns: Array) -> None:
    """Add sticks to bodies without a shape.

    A stick goes from a joint to a joint on its body, or else to the farthest frame of the body.
    """
    frame = {name: k for k, name in enumerate(model.frame_names)}
    ends: list[list[Array]] = [[] for _ in model.bodies]
    own = [frame[body["name"]] for body in model.bodies]

    def seen_from(b: int, k: int) -> Array:
        found: Array = turns[own[b]].T @ (places[k] - places[own[b]])
        return found

    for b, body in enumerate(model.bodies):
        if body["parent"] > 0:
            ends[body["parent"] - 1].append(seen_from(body["parent"] - 1, own[b]))
    for b in range(len(model.bodies)):
        carried = [seen_from(b, k) for k, of in enumerate(model.robot.frame_bodies) if of == b + 1 and k != own[b]]
        if not ends[b] and carried:
            ends[b].append(max(carried, key=lambda x: float(np.linalg.norm(x))))
    lengths = [np.linalg.norm(end) for some in ends for end in some if np.linalg.norm(end) > 1e-6]
    radius = THICKNESS * float(np.mean(lengths)) if lengths else 0.05
    for b, body in enumerate(model.bodies):
        shown = spec.body(body["name"])
        if shown is None or len(shown.geoms):
            continue
        # sticks have no collisions and no mass
        style = {"rgba": COLOUR, "contype": 0, "conaffinity": 0, "mass": 0}
        shown.add_geom(type=Kind.mjGEOM_SPHERE, size=[1.3 * radius, 0, 0], **style)
        for end in ends[b]:
            if np.linalg.norm(end) > radius:
                shown.add_geom(type=Kind.mjGEOM_CAPSULE, fromto=[0, 0, 0, *end], size=[radius, 0, 0], **style)


def add_surroundings(spec: Any, floor: bool) -> None:
    sky = {"type": mujoco.mjtTexture.mjTEXTURE_SKYBOX, "builtin": mujoco.mjtBuiltin.mjBUILTIN_GRADIENT}
    spec.add_texture(name="sky", rgb1=[0.9, 0.95, 1.0], rgb2=[0.5, 0.6, 0.7], width=128, height=768, **sky)
    spec.worldbody.add_light(
        pos=[0, 0, 5], dir=[0.3, 0.2, -1], type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, castshadow=False
    )
    if floor:
        squares = {"type": mujoco.mjtTexture.mjTEXTURE_2D, "builtin": mujoco.mjtBuiltin.mjBUILTIN_CHECKER}
        spec.add_texture(
            name="squares", rgb1=[0.35, 0.4, 0.45], rgb2=[0.45, 0.5, 0.55], width=256, height=256, **squares
        )
        material = spec.add_material(name="floor", texrepeat=[1, 1], texuniform=True)
        material.textures[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] = "squares"
        spec.worldbody.add_geom(type=Kind.mjGEOM_PLANE, size=[0, 0, 0.1], material="floor")
