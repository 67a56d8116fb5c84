"""A task written twice: with featherstorm, and as a gymnasium.Env with numbers alone. Nothing is drawn; episodes begin elsewhere each time,
and end at the edge or with the time limit, some with both."""

import math

import numpy as np

import featherstorm as fs

XML = """
<mujoco>
  <option timestep="0.02" gravity="0 0 0"/>
  <worldbody>
    <light pos="0 0 3"/>
    <body name="block">
      <joint name="x" type="slide" axis="1 0 0"/>
      <geom type="box" size="0.1 0.1 0.1" mass="2" rgba="0.9 0.1 0.1 1"/>
    </body>
  </worldbody>
  <actuator><motor joint="x" gear="60" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>
"""
DT, ACCELERATION, EDGE, STEPS = 0.02, 30.0, 0.5, 7
# what rounding leaves of numbers of order 1
TOLERANCE = {"float32": 3e-6, "float64": 1e-12}


def rail_file(folder):
    file = folder / "rail.xml"
    file.write_text(XML)
    return str(file)


class Rail(fs.Env):
    steps = STEPS
    memory = {"last": 1, "episodes": 1}
    kept = ("episodes",)
    observation_range = (-1e3, 1e3)

    def __init__(self, file):
        self.file = file

    def model(self):
        return fs.load(self.file)

    def reset(self, m, rng):
        m.episodes = m.episodes + 1
        return 0.3 * np.sin(m.episodes), np.zeros(1)

    def terminate(self, x, m):
        return np.abs(x.q[0]) > EDGE

    def reward(self, x, a, m):
        return {"near": 1 - x.q[0] ** 2, "rate": -0.1 * (a[0] - m.last[0]) ** 2}

    def metrics(self, x, a, m):
        return {"speed": np.abs(x.v[0]), "both": [x.q[0], a[0]]}

    def after(self, x, a, m, rng):
        m.last = a

    def observe(self, x, m, rng):
        return [x.q[0], x.v[0], m.last[0], m.episodes[0]]


class GroupedRail(Rail):
    """Its observation has two groups, its reward no terms."""

    def reward(self, x, a, m):
        return 1 - x.q[0] ** 2

    def observe(self, x, m, rng):
        return {"actor": [x.q[0], x.v[0]], "critic": [x.q[0], m.last[0], m.episodes[0]]}


class Numbers:
    """One environment of Rail or GroupedRail: reset() -> obs; step(action) -> obs, reward, terminated, truncated, info."""

    def __init__(self, grouped=False):
        self.grouped, self.episodes = grouped, 0

    def reset(self):
        self.episodes += 1
        self.q, self.v, self.last, self.steps = 0.3 * math.sin(self.episodes), 0.0, 0.0, 0
        self.total, self.sums = 0.0, {"near": 0.0, "rate": 0.0}
        return self.observe()

    def observe(self):
        if self.grouped:
            return {"actor": np.array([self.q, self.v]), "critic": np.array([self.q, self.last, self.episodes])}
        return np.array([self.q, self.v, self.last, self.episodes])

    def step(self, action):
        a = float(np.clip(action[0], -1, 1))
        self.v += DT * ACCELERATION * a
        self.q += DT * self.v
        self.steps += 1
        terms = {"near": 1 - self.q**2, "rate": -0.1 * (a - self.last) ** 2}
        reward = terms["near"] if self.grouped else sum(terms.values())
        self.total += reward
        self.sums = {name: self.sums[name] + terms[name] for name in terms}
        self.last = a
        terminated, truncated = abs(self.q) > EDGE, self.steps >= STEPS
        info = {"speed": abs(self.v), "both": np.array([self.q, a])}
        if not self.grouped:
            info.update({f"reward_{name}": x for name, x in terms.items()})
        if terminated or truncated:
            info.update({"return": self.total, "length": self.steps})
            if not self.grouped:
                info.update({f"sum_reward_{name}": x for name, x in self.sums.items()})
        return self.observe(), reward, terminated, truncated, info


def one_of(gymnasium, grouped, with_info=True):
    """Numbers as a gymnasium.Env; `gymnasium`: the module, which tests import where it is installed. with_info=False: for
    learners that collect an episode's numbers themselves."""

    class One(gymnasium.Env):
        def __init__(self):
            box = {n: gymnasium.spaces.Box(-1e3, 1e3, (n,), np.float64) for n in (2, 3, 4)}
            self.observation_space = gymnasium.spaces.Dict({"actor": box[2], "critic": box[3]}) if grouped else box[4]
            self.action_space = gymnasium.spaces.Box(-1, 1, (1,), np.float64)
            self.numbers = Numbers(grouped)

        def reset(self, *, seed=None, options=None):
            return self.numbers.reset(), {}

        def step(self, action):
            *numbers, info = self.numbers.step(action)
            return *numbers, info if with_info else {}

    return One()
