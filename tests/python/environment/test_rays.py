"""Rays in traced functions against MuJoCo's."""

import mujoco
import numpy as np
import pytest

import featherstorm as fs

GEOMS = ("plane", "sphere", "capsule", "ellipsoid", "cylinder", "box")
XML = """
<mujoco>
  <worldbody>
    <geom name="plane" type="plane" size="2 3 1" pos="0 0 -.6" euler="10 5 0"/>
    <geom name="endless" type="plane" size="0 0 1" pos="0 0 -.8"/>
    <body name="carrier" pos="0 0 .1">
      <joint name="turn" type="ball"/>
      <geom name="sphere" size=".2" pos=".5 0 0"/>
      <geom name="capsule" type="capsule" size=".1 .3" pos="-.5 .1 .2" euler="30 40 0"/>
      <geom name="ellipsoid" type="ellipsoid" size=".1 .2 .3" pos="0 .6 0" euler="0 20 50"/>
      <geom name="cylinder" type="cylinder" size=".15 .25" pos="0 -.6 .1" euler="70 0 10"/>
      <geom name="box" type="box" size=".2 .1 .3" pos="0 0 .6" euler="10 20 30"/>
      <geom name="hull" type="sphere" size=".01"/>
    </body>
  </worldbody>
</mujoco>
"""
FAR, RAYS = 50.0, 12


class Looking(fs.Env):
    """Its observation is what rays from points inside and outside of the geoms meet."""

    substeps = 1
    memory = {"rays": (RAYS, 2, 3)}

    def __init__(self, model, geoms):
        self.robot, self.geoms = model, geoms

    def model(self):
        return self.robot

    def reset(self, m, rng):
        m.rays = rng.normal(0, 0.6, (RAYS, 2, 3))
        return rng.normal(size=4), np.zeros(3)

    def reward(self, x, a, m):
        return 0.0

    def observe(self, x, m, rng):
        return [x.ray(m.rays[k, 0], m.rays[k, 1], self.geoms, FAR) for k in range(RAYS)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    file = tmp_path_factory.mktemp("rays") / "rays.xml"
    file.write_text(XML)
    return fs.load(str(file))


def expected(batch, geoms):
    """mj_ray against some geoms alone: the others are of a group that is not looked at."""
    m = mujoco.MjModel.from_xml_string(XML)
    m.geom_group[:] = 3
    for name in geoms:
        m.geom(name).group = 0
    d, group = mujoco.MjData(m), np.array([1, 0, 0, 0, 0, 0], np.uint8)
    found = np.full((batch.num_envs, RAYS), FAR)
    for i in range(batch.num_envs):
        d.qpos[:] = batch.q[i]
        mujoco.mj_forward(m, d)
        for k, (p, v) in enumerate(batch.memory("rays")[i]):
            length = np.linalg.norm(v)
            met = mujoco.mj_ray(m, d, p, v / length, group, 1, -1, np.zeros(1, np.int32))
            if met >= 0:
                found[i, k] = min(met / length, FAR)
    return found


@pytest.mark.parametrize("geoms", [(name,) for name in GEOMS] + [(*GEOMS, "endless")])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 1e-3)])
def test_rays_are_mujocos(model, geoms, dtype, tolerance):
    batch = Looking(model, geoms).batch(60, seed=4, dtype=dtype)
    obs, _ = batch.reset()
    theirs = expected(batch, geoms)
    assert 0.01 < (theirs < FAR).mean() < 0.99
    np.testing.assert_allclose(obs, theirs, rtol=tolerance, atol=tolerance)


def test_what_rays_do_not_meet_is_refused(model):
    with pytest.raises(ValueError, match="has no geom 'wall'"):
        Looking(model, ("wall",)).batch(2)
