"""Rays of featherstorm.mujoco.Batch against every kind of geom, beside mj_ray."""

import mujoco
import numpy as np
import pytest

from featherstorm.mujoco import Batch

SCENE = """
<mujoco>
  <option><flag contact="disable"/></option>
  <asset>
    <mesh name="wedge" vertex="0 0 0  .3 0 0  0 .3 0  0 0 .3  .3 .3 .1"/>
    <material name="glass" rgba="1 1 1 0"/>
    <hfield name="hills" nrow="9" ncol="6" size=".8 1.1 .3 .1"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1" pos="0 0 -1" group="1"/>
    <body pos="0 0 0">
      <freejoint/>
      <geom type="sphere" size=".2" pos=".8 0 0" mass="1"/>
      <geom type="capsule" size=".1 .3" pos="-.8 0 0" euler="30 20 10" group="2"/>
      <geom type="ellipsoid" size=".1 .2 .3" pos="0 .8 0" euler="10 50 0"/>
      <geom type="cylinder" size=".2 .15" pos="0 -.8 0" euler="70 0 20"/>
      <geom type="box" size=".1 .2 .15" pos="0 0 .8" euler="20 30 40"/>
      <geom type="mesh" mesh="wedge" pos="0 0 -.4"/>
      <geom name="hill" type="hfield" hfield="hills" pos=".3 .2 -.6" mass="1" group="3"/>
      <geom type="sphere" size=".4" rgba="1 1 1 0" mass="0.01"/>
      <geom type="box" size=".5 .5 .5" material="glass" mass="0.01"/>
    </body>
  </worldbody>
</mujoco>
"""
NSIM, NRAY = 5, 400


def scene():
    m = mujoco.MjModel.from_xml_string(SCENE)
    m.hfield_data[:] = np.random.default_rng(3).uniform(size=m.hfield_data.shape)
    b = Batch(m, NSIM, 1, dtype="float64")
    rng = np.random.default_rng(0)
    b.qpos[:, :3] = 0.2 * rng.normal(size=(NSIM, 3))
    turn = rng.normal(size=(NSIM, 4))
    b.qpos[:, 3:] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    return m, b


def rays(m, inside):
    """Origins and directions; many of them begin in a geom."""
    rng = np.random.default_rng(1)
    origin = rng.uniform(-1, 1, (NSIM, NRAY, 3)) * (0.9 if inside else 3)
    towards = rng.uniform(-1, 1, (NSIM, NRAY, 3))
    return origin, (towards - origin) * rng.uniform(0.2, 3, (NSIM, NRAY, 1)) if not inside else towards


def expected(m, b, origin, vector, group, static, exclude):
    dist, geom, normal = np.zeros((NSIM, NRAY)), np.zeros((NSIM, NRAY), np.int32), np.zeros((NSIM, NRAY, 3))
    d, found = mujoco.MjData(m), np.zeros(1, np.int32)
    for i in range(NSIM):
        d.qpos[:] = b.qpos[i]
        mujoco.mj_kinematics(m, d)
        for k in range(NRAY):
            dist[i, k] = mujoco.mj_ray(m, d, origin[i, k], vector[i, k], group, static, exclude, found, normal[i, k])
            geom[i, k] = found[0]
    return dist, geom, normal


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(
    ("group", "static", "exclude"), [(None, 1, -1), ([1, 0, 1, 0, 0, 0], 1, -1), (None, 0, -1), (None, 1, 1)]
)
def test_rays_agree_with_mujoco(inside, group, static, exclude):
    m, b = scene()
    group = None if group is None else np.array(group, np.uint8)
    origin, vector = rays(m, inside)
    dist, geom, normal = expected(m, b, origin, vector, group, static, exclude)
    before = np.array(b.state)
    ours = b.ray(origin, vector, group, bool(static), exclude, normal=True)
    np.testing.assert_array_equal(ours[1], geom)
    np.testing.assert_allclose(ours[0], dist, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours[2], normal, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(b.state, before)
    kinds = set(m.geom_type[geom[geom >= 0]])
    if group is None and exclude < 0:
        assert len(kinds) == 8 - (not static)  # every kind was met
    assert len(ours[0][geom < 0]) == (ours[0] < 0).sum()


def test_one_ray_stands_for_all():
    _, b = scene()
    one = b.ray([0, 0, 5], [0, 0, -1])
    many = b.ray(np.tile([0.0, 0, 5], (NSIM, 3, 1)), [0, 0, -1], bodyexclude=[-1, -1, 1])
    assert one[0].shape == (NSIM, 1) and many[0].shape == (NSIM, 3)
    np.testing.assert_array_equal(many[0][:, 0], one[0][:, 0])
    np.testing.assert_array_equal(many[1][:, 2], 0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_ray_that_is_not_finite_meets_nothing_and_leaves_others_as_they_are(bad):
    _, b = scene()
    origin, vector = np.tile([0.3, 0.2, 5.0], (NSIM, 4, 1)), np.tile([0.01, 0.02, -1.0], (NSIM, 4, 1))
    exact = b.ray(origin, vector, normal=True)
    origin[:, 1, 1], vector[:, 2, 0] = bad, bad
    found = b.ray(origin, vector, normal=True)
    assert (found[0][:, 1:3] == -1).all() and (found[1][:, 1:3] == -1).all() and not found[2][:, 1:3].any()
    for x, y in zip(found, exact):
        np.testing.assert_array_equal(x[:, [0, 3]], y[:, [0, 3]])
    assert (exact[0] >= 0).any()


def test_what_is_wrong_with_a_ray_is_told():
    _, b = scene()
    with pytest.raises(ValueError, match="no length"):
        b.ray([0, 0, 5], [0, 0, 0])
    with pytest.raises(ValueError, match="geomgroup has shape"):
        b.ray([0, 0, 5], [0, 0, -1], geomgroup=[1, 1])


def field(rows, columns):
    rng = np.random.default_rng(rows)
    spec = mujoco.MjSpec()
    hills = spec.add_hfield(name="hills", nrow=rows, ncol=columns, size=[1.0, 0.8, 0.4, 0.2])
    hills.userdata = rng.uniform(size=rows * columns)
    body = spec.worldbody.add_body(pos=[0.1, 0.2, 0.3], quat=[0.9, 0.2, -0.3, 0.1])
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="hills")
    spec.worldbody.add_body(mocap=True)
    m = spec.compile()
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    return m, d, rng


@pytest.mark.parametrize(("rows", "columns"), [(2, 2), (3, 40), (60, 30)])
def test_rays_meet_height_fields_where_mujocos_do(rows, columns):
    """From all around, from within, and along the axes of the field."""
    m, d, rng = field(rows, columns)
    axes = d.geom_xmat[0].reshape(3, 3)
    origin = rng.uniform(-1.5, 1.5, (2000, 3)) * np.repeat([1, 0.3], 1000)[:, None]
    vector = rng.uniform(-1, 1, origin.shape) - origin * rng.uniform(0, 1, (2000, 1))
    vector[:300] = np.repeat(axes.T, 100, axis=0) * np.where(rng.uniform(size=(300, 1)) < 0.5, -1, 1)
    dist, geom, normal = np.zeros(2000), np.zeros(1, np.int32), np.zeros((2000, 3))
    for k in range(2000):
        dist[k] = mujoco.mj_ray(m, d, origin[k], vector[k], None, 1, -1, geom, normal[k])
    ours = Batch(m, 1, 1, dtype="float64").ray(origin, vector, normal=True)
    assert 0.4 < (dist >= 0).mean() < 0.9
    np.testing.assert_allclose(ours[0][0], dist, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ours[2][0], normal, atol=1e-8)


def test_no_ray_falls_through_the_lines_of_a_height_field():
    """Straight down on them; some of MuJoCo's fall through to the bottom."""
    m, d, _ = field(5, 9)
    place = np.stack(np.meshgrid(np.linspace(-1, 1, 9)[1:-1], np.linspace(-0.8, 0.8, 5)[1:-1]), axis=-1).reshape(-1, 2)
    axes = d.geom_xmat[0].reshape(3, 3)
    origin = d.geom_xpos[0] + np.hstack([place, np.ones((len(place), 1))]) @ axes.T
    dist = Batch(m, 1, 1, dtype="float64").ray(origin, -axes[:, 2])[0][0]
    heights = 0.4 * m.hfield_data.reshape(5, 9)[1:-1, 1:-1].ravel()
    np.testing.assert_allclose(dist, 1 - heights, atol=1e-9)
