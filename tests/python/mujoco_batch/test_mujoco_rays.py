"""Rays of featherstorm.mujoco.Batch against every kind of geom, beside mj_ray."""

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("mujoco.batch", reason="needs MuJoCo 4.0 or later")

from featherstorm.mujoco import Batch  # noqa: E402

SCENE = """
<mujoco>
  <option><flag contact="disable"/></option>
  <asset>
    <mesh name="wedge" vertex="0 0 0  .3 0 0  0 .3 0  0 0 .3  .3 .3 .1"/>
    <material name="glass" rgba="1 1 1 0"/>
    <hfield name="hills" nrow="2" ncol="2" size="1 1 .1 .1" elevation="0 1 1 0"/>
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
      <geom type="sphere" size=".4" rgba="1 1 1 0" mass="0.01"/>
      <geom type="box" size=".5 .5 .5" material="glass" mass="0.01"/>
    </body>
    {hill}
  </worldbody>
</mujoco>
"""
NSIM, NRAY = 5, 400


def scene(hill=""):
    m = mujoco.MjModel.from_xml_string(SCENE.format(hill=hill))
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
        assert len(kinds) == 7 - (not static)  # every kind was met
    assert len(ours[0][geom < 0]) == (ours[0] < 0).sum()


def test_one_ray_stands_for_all():
    _, b = scene()
    one = b.ray([0, 0, 5], [0, 0, -1])
    many = b.ray(np.tile([0.0, 0, 5], (NSIM, 3, 1)), [0, 0, -1], bodyexclude=[-1, -1, 1])
    assert one[0].shape == (NSIM, 1) and many[0].shape == (NSIM, 3)
    np.testing.assert_array_equal(many[0][:, 0], one[0][:, 0])
    np.testing.assert_array_equal(many[1][:, 2], 0)


def test_what_rays_do_not_see_is_told():
    _, b = scene('<geom name="hill" type="hfield" hfield="hills" group="3"/>')
    with pytest.raises(ValueError, match="geom 'hill' is a height field"):
        b.ray([0, 0, 5], [0, 0, -1])
    assert (b.ray([0, 0, 5], [0, 0, -1], geomgroup=[1, 1, 1, 0, 1, 1])[1] >= 0).all()
    with pytest.raises(ValueError, match="no length"):
        b.ray([0, 0, 5], [0, 0, 0])
    with pytest.raises(ValueError, match="geomgroup has shape"):
        b.ray([0, 0, 5], [0, 0, -1], geomgroup=[1, 1])
