"""Robots from MJCF against MuJoCo itself: the same coordinates, so that numbers compare directly."""

import mujoco
import numpy as np
import pytest

import featherstorm as fs
from robots import SHARED_MODELS

FILES = sorted((SHARED_MODELS / "mjcf").glob("*.xml"))

# one of everything: two hinges off the body's origin with references, a ball, a slide, fixed bodies, a site, bodies
# and joints without names
EVERYTHING = """
<mujoco model="everything">
  <compiler angle="radian"/>
  <option gravity="0.5 -1 -9"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="cart" pos="0.1 0.2 0.3" quat="0.9 0.1 0.2 -0.3">
      <joint name="slide" type="slide" axis="1 2 0" ref="0.2" damping="3" frictionloss="0.4" armature="0.1"/>
      <joint name="first" type="hinge" axis="0 1 1" pos="0.1 -0.2 0.05" ref="0.7" range="-1 2" limited="true"/>
      <joint name="second" type="hinge" axis="1 0 0.3" pos="-0.1 0.02 0.3" armature="0.02"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.02 0.01 0" euler="0.1 0.4 -0.2"/>
      <body pos="0 0 0.4" euler="0.3 0 0">
        <geom type="sphere" size="0.1" pos="0.1 0 0"/>
        <body pos="0.2 0 0.1">
          <joint name="ball" type="ball" pos="0 0.1 0.1"/>
          <geom type="capsule" size="0.05 0.2" pos="0 0 0.2"/>
          <site name="tip" pos="0.1 0.2 0.3" quat="0.5 0.5 0.5 0.5"/>
        </body>
      </body>
    </body>
    <body name="drone" pos="2 0 1">
      <freejoint name="free"/>
      <geom type="ellipsoid" size="0.3 0.2 0.1" pos="0.05 0.01 0.02" euler="0.3 0.2 0.1"/>
      <body pos="0 0 0.1"><joint axis="0 0 1" stiffness="3"/><geom type="box" size="0.2 0.02 0.01"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def random_state(m, instances, seed):
    rng = np.random.default_rng(seed)
    q, v, tau = (rng.normal(size=(instances, n)) for n in (m.nq, m.nv, m.nv))
    for j in range(m.njnt):
        if m.jnt_type[j] < 2:  # mjJNT_FREE, mjJNT_BALL
            c = m.jnt_qposadr[j] + (3 if m.jnt_type[j] == 0 else 0)
            q[:, c : c + 4] /= np.linalg.norm(q[:, c : c + 4], axis=1, keepdims=True)
    return q, v, tau


def smooth_only(m):
    """Without contacts, limits, springs, dampers and actuators."""
    for name in ("CONSTRAINT", "PASSIVE", "SPRING", "DAMPER", "ACTUATION"):
        m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, "mjDSBL_" + name, 0))


def full_matrix(m, d):
    M = np.zeros((m.nv, m.nv))
    if hasattr(d, "qM"):
        mujoco.mj_fullM(m, M, d.qM)
    else:  # from MuJoCo 4 on
        mujoco.mj_fullM(m, d, M)
    return M


def compare(model, m):
    smooth_only(m)
    assert (model.nq, model.nv) == (m.nq, m.nv)
    q, v, tau = random_state(m, 4, seed=3)
    M, C, a = fs.crba(model, q), fs.bias(model, q, v), fs.aba(model, q, v, tau)
    positions, rotations = fs.forward_kinematics(model, q)
    d = mujoco.MjData(m)
    for k in range(len(q)):
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = q[k], v[k], tau[k]
        mujoco.mj_forward(m, d)
        expected = full_matrix(m, d)
        assert np.abs(M[k] - expected).max() < 1e-9 * np.abs(expected).max()
        assert np.abs(C[k] - d.qfrc_bias).max() < 1e-9 * np.abs(d.qfrc_bias).max()
        assert np.abs(a[k] - d.qacc).max() < 1e-9 * np.abs(d.qacc).max()
        for kind, count, at, turned in (("body", m.nbody, d.xpos, d.xmat), ("site", m.nsite, d.site_xpos, d.site_xmat)):
            for i in range(count):
                name = mujoco.mj_id2name(m, getattr(mujoco.mjtObj, "mjOBJ_" + kind.upper()), i)
                if name in model.frame_names:
                    f = model.frame(name)
                    assert np.abs(positions[k, f] - at[i]).max() < 1e-8
                    assert np.abs(rotations[k, f] - turned[i].reshape(3, 3)).max() < 1e-8


@pytest.mark.skipif(not FILES, reason="no published MJCF files: neither ../shared/models nor FEATHERSTORM_MODELS")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_published_model_agrees(path):
    compare(fs.load(path), mujoco.MjModel.from_xml_path(str(path)))


def compare_step(model, m):
    """One step of MuJoCo's semi-implicit Euler, which is implicit in joint damping as ours is."""
    for name in ("CONSTRAINT", "SPRING", "ACTUATION"):
        m.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, "mjDSBL_" + name, 0))
    m.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
    m.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    m.opt.timestep = 2e-3
    numbers = {"limit_stiffness": 0, "limit_damping": 0, "friction_velocity": 1e12}  # neither stops nor dry friction
    sim = fs.Simulation(model, 4, 2e-3, dtype="float64", ignore="world", **numbers)
    q, v, tau = random_state(m, 4, seed=4)
    sim.reset(q=q, v=v)
    sim.step(tau)
    d = mujoco.MjData(m)
    for k in range(len(q)):
        d.qpos[:], d.qvel[:], d.qfrc_applied[:] = q[k], v[k], tau[k]
        mujoco.mj_step(m, d)
        assert np.abs(sim.v[k] - d.qvel).max() < 1e-9 * max(1, np.abs(d.qvel).max())
        assert np.abs(sim.q[k] - d.qpos).max() < 1e-9 * max(1, np.abs(d.qpos).max())


@pytest.mark.skipif(not FILES, reason="no published MJCF files: neither ../shared/models nor FEATHERSTORM_MODELS")
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_step_of_a_published_model_agrees(path):
    compare_step(fs.load(path), mujoco.MjModel.from_xml_path(str(path)))


def test_a_step_with_every_kind_of_joint_agrees():
    m = mujoco.MjModel.from_xml_string(EVERYTHING)
    compare_step(fs.from_mujoco(m), m)


def test_every_kind_of_joint_agrees(tmp_path):
    path = tmp_path / "everything.xml"
    path.write_text(EVERYTHING)
    model, m = fs.load(path), mujoco.MjModel.from_xml_string(EVERYTHING)
    compare(model, m)
    assert "tip" in model.frame_names and "drone" in model.frame_names
    slide, first = model.joint("slide"), model.joint("first")
    assert model.damping[slide.v] == 3 and model.friction[slide.v] == 0.4 and model.armature[slide.v] == 0.1
    assert (model.lower[first.v], model.upper[first.v]) == (-1, 2)
    assert not any("springs" in notice for notice in model.notices)  # the world has them


def test_integration_agrees():
    m = mujoco.MjModel.from_xml_string(EVERYTHING)
    model = fs.from_mujoco(m)
    q, v, _ = random_state(m, 3, seed=5)
    found = fs.integrate(model, q, v, 0.2)
    back = np.zeros(m.nv)
    for k in range(3):
        expected = q[k].copy()
        mujoco.mj_integratePos(m, expected, v[k], 0.2)
        assert np.abs(found[k] - expected).max() < 1e-9
        mujoco.mj_differentiatePos(m, back, 1.0, q[k], found[k])
        assert np.abs(fs.difference(model, q[k], found[k]) - back).max() < 1e-9


def test_a_free_joint_has_armature():
    m = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body><joint type="free" armature=".3"/><geom type="box" size=".1 .2 .3" pos=".1 0 0"/>'
        '<body pos=".2 0 0"><joint axis="0 1 0"/><geom size=".1" pos=".1 .2 0"/></body></body></worldbody></mujoco>'
    )
    m.dof_armature[:6] = [0.9, 0.2, 0.5, 0.04, 0.07, 0.01]
    model = fs.from_mujoco(m)
    assert model.armature[:6].tolist() == [0.9, 0.2, 0.5, 0.04, 0.07, 0.01]
    compare(model, m)


NAMES = """
<mujoco>
  <worldbody>
    <body><freejoint/><geom size=".1"/><site/><site name="body3"/></body>
    <body name="body1"><joint axis="0 1 0"/><joint name="joint1" axis="1 0 0"/><geom size=".1" pos=".2 0 0"/></body>
    <body><joint name="site0_fixed" axis="0 1 0"/><geom size=".1" pos=".2 0 0"/>
      <body name="site0"><geom size=".1" pos="0 0 .2"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def test_default_names_give_way_to_names_of_the_file():
    m = mujoco.MjModel.from_xml_string(NAMES)
    model = fs.from_mujoco(m)
    assert model.joint_names == ("joint0", "joint1_joint", "joint1", "site0_fixed")
    for name in ("body1", "site0", "body3"):
        assert name in model.frame_names
    assert {"body1_body", "body3_body", "site0_site"} <= set(model.frame_names)
    compare(model, m)


def test_errors_name_the_file(tmp_path):
    path = tmp_path / "broken.xml"
    path.write_text("<mujoco><worldbody><body><joint/></body></worldbody></mujoco>")
    with pytest.raises(ValueError, match="broken.xml"):
        fs.load(path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        fs.load(tmp_path / "none.xml")
    with pytest.raises(ValueError, match="floating_base is for URDF"):
        fs.load(path, floating_base=True)


@pytest.mark.parametrize(
    ("body", "geom", "text"),
    [
        ("pos='nan 0 0'", "", r"robot: body_pos of body 'b' is \[nan  0\.  0\.\], expected numbers"),
        ("", "friction='nan .1 .1'", r"robot: geom_friction of geom 0 is \[nan 0\.1 0\.1\], expected numbers"),
    ],
)
def test_numbers_that_are_nan_are_named(body, geom, text):
    m = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><body name='b' {body}><joint/><geom size='.1' {geom}/></body></worldbody></mujoco>"
    )
    with pytest.raises(ValueError, match=text):
        fs.from_mujoco(m)
