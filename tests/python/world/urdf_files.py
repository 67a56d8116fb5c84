"""URDF files as MuJoCo's compiler reads them, and which there are."""

import importlib.util
import os
import pathlib
import re
import xml.etree.ElementTree as ElementTree

import mujoco

import featherstorm as fs

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILT_IN = ROOT / "host" / "robots"
SHARED = ROOT.parent / "shared" / "models" / "urdf"
# of the package example-robot-data: meshes of both kinds, mimic joints, links without mass, a root that is called world
PUBLISHED = """
a1_description/urdf/a1.urdf double_pendulum_description/urdf/double_pendulum_simple.urdf go2_description/urdf/go2.urdf
g1_description/urdf/g1_29dof_rev_1_0.urdf iris_description/robots/iris.urdf panda_description/urdf/panda.urdf
pr2_description/urdf/pr2.urdf quadruped_description/urdf/quadruped.urdf solo_description/robots/solo12.urdf
talos_data/robots/talos_full_v2.urdf tiago_pro_description/robots/tiago_pro.urdf ur_description/urdf/ur5_gripper.urdf
xarm_description/urdf/xarm7.urdf z1_description/urdf/z1.urdf
""".split()


def packages():
    """The folder in which the package example-robot-data is; None where it is not installed."""
    try:
        spec = importlib.util.find_spec("cmeel")
    except ModuleNotFoundError:
        return None
    share = pathlib.Path(spec.submodule_search_locations[0]).parent / "cmeel.prefix" / "share" if spec else None
    return share if share and (share / "example-robot-data").is_dir() else None


def files():
    """All of them with FEATHERSTORM_URDF=all."""
    found = [*BUILT_IN.glob("*.urdf"), *SHARED.glob("*.urdf")]
    if folder := packages():
        robots = folder / "example-robot-data" / "robots"
        found += (
            robots.rglob("*.urdf") if os.environ.get("FEATHERSTORM_URDF") == "all" else map(robots.joinpath, PUBLISHED)
        )
    return sorted(found)


def name_of(path):
    return "/".join(path.parts[-3:])


def for_mujoco(path, share):
    """A URDF without what the two ways understand in different ways, meshes by their whole paths.

    Left out are visuals, meshes that MuJoCo has no reader for, limits of continuous joints, which URDF has none of, and `armature`, which
    is featherstorm's own.
    """
    robot = ElementTree.parse(path).getroot()
    for link in robot.findall("link"):
        for visual in link.findall("visual"):
            link.remove(visual)
        for collision in link.findall("collision"):
            mesh = collision.find("geometry/mesh")
            if mesh is None:
                continue
            name = re.sub("^package://", f"{share}/", mesh.get("filename"))
            file = path.parent / name
            mesh.set("filename", str(file))
            if file.suffix.lower() not in (".stl", ".obj", ".msh") or not file.is_file():
                link.remove(collision)
    for joint in robot.findall("joint"):
        if joint.get("type") == "continuous" and (limit := joint.find("limit")) is not None:
            for end in ("lower", "upper"):
                limit.attrib.pop(end, None)
        if (dynamics := joint.find("dynamics")) is not None:
            dynamics.attrib.pop("armature", None)
    compiler = {"strippath": "false", "inertiafromgeom": "false", "discardvisual": "true"}
    ElementTree.SubElement(ElementTree.SubElement(robot, "mujoco"), "compiler", compiler)
    return ElementTree.tostring(robot, encoding="unicode")


def by_mujoco(text, floating):
    """On the ground."""
    spec = mujoco.MjSpec.from_string(text)
    if floating:
        spec.worldbody.first_body().add_freejoint()
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1])
    return spec.compile()


def by_featherstorm(path, floating, **options):
    return fs.load(path, floating_base=floating, world=fs.UrdfWorld(ground=True, **options))
