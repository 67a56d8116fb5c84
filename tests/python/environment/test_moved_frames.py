"""Parameters that say where things are: drawn, written, and changed before each pass."""

import mujoco
import numpy as np
import pytest

import featherstorm as fs
from featherstorm.transfer import MujocoEnv

XML = """
<mujoco><option timestep="0.002"/><worldbody>
  <geom name="ground" type="plane" size="0 0 1"/>
  <body name="ball"><freejoint/><geom name="ball" size=".05" mass=".5"/><site name="middle"/></body>
</worldbody><sensor><framepos name="middle" objtype="site" objname="middle"/></sensor></mujoco>
"""


class Lift(fs.Env):
    """A ball on a floor that rises by 0.1 mm in each pass."""

    dt, steps, actions = 0.006, 100, 0
    parameters = ("geom_pos", "site_pos")
    memory = {"passes": 1}

    def model(self):
        return fs.from_mujoco(mujoco.MjModel.from_xml_string(XML), "lift")

    def randomise(self, rng, p):
        place, site = (np.array(getattr(p, name), object) for name in self.parameters)
        place[0, 2], site[0, 0] = -0.3 - 0.1 * rng.random(), 0.01
        return {"geom_pos": place, "site_pos": site}

    def reset(self, m, rng):
        return [0, 0, -0.1, 1, 0, 0, 0], np.zeros(6)

    def actuate(self, x, a, m):
        m.passes = m.passes + 1
        return a

    def adapt(self, x, m):
        place = np.array(x.parameter("geom_pos"), object)
        place[0, 2] += 1e-4
        return {"geom_pos": place}

    def reward(self, x, a, m):
        return x.contact_force("ball", other="ground")[2]

    def observe(self, x, m, rng):
        return np.concatenate([x.q, x.sensor("middle"), x.parameter("geom_pos")[0]])


def test_frames_are_where_their_numbers_say():
    """Though the file has them in their bodies' frames, for which MuJoCo's steps do not look at the numbers: floors that are drawn, each
    elsewhere, and a site."""
    env = Lift().batch(3, dtype="float64", threads=1, seed=5)
    obs, _ = env.reset()
    floor = obs[:, 12].copy()
    assert np.ptp(floor) > 0.01 and ((floor < -0.3) & (floor > -0.4)).all()
    np.testing.assert_allclose(obs[:, 7:10] - obs[:, :3], [[0.01, 0, 0]] * 3, atol=1e-12)
    touched = np.zeros(3, bool)
    for step in range(1, 61):
        obs, reward, *_ = env.step(np.zeros((3, 0)))
        np.testing.assert_allclose(obs[:, 12], floor + 3e-4 * step, atol=1e-12)
        touched |= reward > 0
        assert (obs[:, 2] > obs[:, 12] + 0.03).all()
    assert touched.all() and (env.memory("passes") == 180).all()


def test_mujoco_has_the_same_floors():
    env = MujocoEnv(Lift(), converged=True)
    batch = Lift().batch(1, dtype="float64", threads=1, seed=5, autoreset="disabled")
    seen, (obs, _) = env.reset(seed=5)[0], batch.reset()
    np.testing.assert_allclose(seen, obs[0], atol=1e-12)
    for _ in range(60):
        told, here = env.step(np.zeros(0)), batch.step(np.zeros((1, 0)))
        np.testing.assert_allclose(told[0], here[0][0], atol=1e-9)
        assert told[1] == pytest.approx(here[1][0], rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("found", "message"), [(None, "adapt returned None"), ({"q": 0.0}, "expected a dict of geom_pos")]
)
def test_what_is_no_parameter_is_refused(found, message):
    task = type("Wrong", (Lift,), {"adapt": lambda self, x, m: found})()
    with pytest.raises(TypeError, match=message):
        task.batch(1)
