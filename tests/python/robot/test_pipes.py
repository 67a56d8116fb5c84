"""Files that cannot be read are refused, not waited for: named pipes, devices, compiled models with indices outside their arrays."""

import os
import subprocess
import sys

import mujoco
import pytest

import featherstorm as fs
from featherstorm.mujoco import Batch

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


@pytest.fixture
def pipe(tmp_path):
    def made(name):
        os.mkfifo(tmp_path / name)
        return str(tmp_path / name)

    return made


@pytest.mark.parametrize("name", ["robot.xml", "robot.mjcf", "robot.urdf"])
def test_a_pipe_is_no_model_file(pipe, name):
    if not name.endswith("urdf"):
        pytest.importorskip("mujoco")
    with pytest.raises(ValueError, match="named pipe, expected a regular file|not a regular file"):
        fs.load(pipe(name))


def test_a_device_is_no_model_file(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "zero.xml").symlink_to("/dev/zero")
    with pytest.raises(ValueError, match=r"zero.xml: is a device, expected a regular file"):
        fs.load(tmp_path / "zero.xml")


@pytest.mark.parametrize(
    "text",
    [
        '<mujoco><include file="{}"/><worldbody/></mujoco>',
        "<mujoco><include\n  file = '{}'/><worldbody/></mujoco>",
        '<mujoco><asset><mesh name="m" file="{}"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>',
        '<mujoco><asset><hfield name="h" file="{}" size="1 1 1 1"/></asset><worldbody/></mujoco>',
        '<mujoco><asset><texture name="t" type="cube" fileright="{}"/></asset><worldbody/></mujoco>',
        '<mujoco><asset><model name="m" file="{}"/></asset><worldbody/></mujoco>',
        '<mujoco><compiler strippath="true"/><asset><mesh name="m" file="far/away/{}"/></asset><worldbody/></mujoco>',
    ],
)
@pytest.mark.parametrize("folder", ["", "parts"])
def test_a_pipe_is_no_part_of_a_model_file(tmp_path, text, folder):
    pytest.importorskip("mujoco")
    if folder:
        if "far" in text:
            pytest.skip("a name without its folders")
        if "<include" in text or "<model" in text:
            text = text.replace("{}", "parts/{}")
        else:
            text = text.replace("<mujoco>", '<mujoco><compiler assetdir="parts"/>')
    (tmp_path / folder).mkdir(exist_ok=True)
    os.mkfifo(tmp_path / folder / "part.stl")
    (tmp_path / "robot.xml").write_text(text.format("part.stl"))
    with pytest.raises(ValueError, match=r"part.stl: is a named pipe, expected a regular file"):
        fs.load(tmp_path / "robot.xml")


def test_a_pipe_that_an_included_file_names_is_refused(tmp_path):
    pytest.importorskip("mujoco")
    (tmp_path / "parts").mkdir()
    (tmp_path / "robot.xml").write_text('<mujoco><include file="parts/more.xml"/><worldbody/></mujoco>')
    (tmp_path / "parts" / "more.xml").write_text('<mujoco><asset><mesh name="m" file="part.stl"/></asset></mujoco>')
    os.mkfifo(tmp_path / "part.stl")
    with pytest.raises(ValueError, match=r"part.stl: is a named pipe"):
        fs.load(tmp_path / "robot.xml")


def test_a_pipe_is_no_mesh_of_a_urdf(pipe, tmp_path):
    pipe("part.stl")
    shape = '<collision><geometry><mesh filename="part.stl"/></geometry></collision>'
    (tmp_path / "r.urdf").write_text(f'<robot name="r"><link name="a">{INERTIAL}{shape}</link></robot>')
    with pytest.raises(ValueError, match="it is not a regular file"):
        fs.load(tmp_path / "r.urdf", floating_base=True, world=True, strict=True)


def test_a_pipe_is_no_policy(pipe):
    with pytest.raises(ValueError, match=r"policy.npz: is a named pipe, expected a regular file"):
        fs.learning.Policy.load(pipe("policy.npz"))


def test_view_refuses_a_pipe(pipe):
    pytest.importorskip("mujoco")
    for name in ("robot.xml", "robot.urdf"):
        command = [sys.executable, "-m", "featherstorm", "view", pipe(name)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        assert done.returncode != 0
        assert "regular file" in done.stderr


@pytest.mark.parametrize(
    ("field", "value"), [("jnt_bodyid", 9), ("geom_dataid", 2**31 - 1), ("body_parentid", -5), ("eq_type", 40)]
)
def test_indices_outside_their_arrays_are_refused(field, value):
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint name="j"/><geom size=".1"/></body></worldbody><equality><joint joint1="j"/></equality></mujoco>'
    )
    getattr(model, field)[-1] = value
    for load in (fs.from_mujoco, lambda m: fs.from_mujoco([m, m]), lambda m: Batch(m, nsim=2)):
        with pytest.raises(ValueError, match=field):
            load(model)
