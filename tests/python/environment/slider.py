"""A task small enough to be written twice: with featherstorm, and for one environment with numbers and MuJoCo."""

import mujoco
import numpy as np

import featherstorm as fs

XML = """
<mujoco>
  <option timestep="0.01"/>
  <worldbody>
    <body name="block">
      <joint name="x" type="slide" axis="1 0 0" damping="0.2"/>
      <geom size="0.1" mass="1.5" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="x" gear="3" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
EDGE = 0.22


class Slider(fs.Env):
    """Stay in the middle; the edge ends an episode."""

    substeps, steps = 2, 9
    memory = {"last": 1, "sums": (2, 2), "episodes": 1}
    kept = ("episodes",)
    parameters = ("body_mass",)

    def __init__(self, model):
        self.robot = model

    def model(self):
        return self.robot

    def randomise(self, rng, p):
        return {"body_mass": p.body_mass * rng.uniform(0.5, 1.5)}

    def reset(self, m, rng):
        m.episodes = m.episodes + 1
        return rng.uniform(-0.2, 0.2, 1), rng.normal(0, 0.5, 1)

    def terminate(self, x, m):
        return np.abs(x.q[0]) > EDGE

    def reward(self, x, a, m):
        return {"near": 1 - np.abs(x.q[0]), "rate": -0.1 * (a[0] - m.last[0]) ** 2}

    def metrics(self, x, a, m):
        return {"speed": x.v[0], "both": [x.q[0], a[0]]}

    def after(self, x, a, m, rng):
        m.last = a
        m.sums = m.sums + x.q[0]

    def observe(self, x, m, rng):
        return {"actor": [x.q[0], x.v[0], m.last[0]], "critic": [x.time, m.sums[1, 1], x.parameter("body_mass")[1]]}


def model(folder):
    file = folder / "slider.xml"
    file.write_text(XML)
    return fs.load(str(file))


class One:
    """The same of one environment, with numbers."""

    def __init__(self):
        self.m = mujoco.MjModel.from_xml_string(XML)
        self.d = mujoco.MjData(self.m)

    def begin(self, q, v, mass):
        mujoco.mj_resetData(self.m, self.d)
        self.m.body_mass[1] = mass
        mujoco.mj_setConst(self.m, self.d)  # the inertia of a joint like this one is kept by MuJoCo
        self.d.qpos[:], self.d.qvel[:] = q, v
        self.steps, self.last, self.sum, self.total, self.terms = 0, 0.0, 0.0, 0.0, np.zeros(2)

    def observe(self):
        q, v = float(self.d.qpos[0]), float(self.d.qvel[0])
        return {"actor": [q, v, self.last], "critic": [self.steps * 0.02, self.sum, self.m.body_mass[1]]}

    def step(self, action):
        a = float(np.clip(action[0], -1, 1))
        self.d.ctrl[:] = a
        for _ in range(Slider.substeps):
            mujoco.mj_step(self.m, self.d)
        q = float(self.d.qpos[0])
        self.steps += 1
        terms = np.array([1 - abs(q), -0.1 * (a - self.last) ** 2])
        self.terms, self.total = self.terms + terms, self.total + terms.sum()
        self.last, self.sum = a, self.sum + q
        return self.observe(), terms.sum(), abs(q) > EDGE, self.steps >= Slider.steps
