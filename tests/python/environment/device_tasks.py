"""A small task and those that people train on, on a CUDA device beside the same on the CPU: for tests through the fake CUDA library (test_device_tasks.py),
for what the compiler makes of their kernels (tests/cuda/environments/budgets.py), and for a real GPU (tests/gpu/environments.py)."""

import itertools

import numpy as np

import featherstorm as fs
from featherstorm import _featherstorm
from featherstorm.device import DeviceArray
from featherstorm.environment.batch import EnvBatch
from featherstorm.environment.collecting import mlp
from featherstorm.environment.recording import observation

XML = """
<mujoco>
  <option timestep="0.005" cone="elliptic"/>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body name="trunk" pos="0 0 .3">
      <freejoint/>
      <geom name="trunk" type="box" size=".1 .1 .05"/>
      <body pos=".15 0 0">
        <joint name="knee" axis="0 1 0" range="-60 60" stiffness="2"/>
        <geom name="shin" type="capsule" size=".03" fromto="0 0 0 .2 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="knee" ctrlrange="-2 2"/></actuator>
</mujoco>
"""


class Falling(fs.Env):
    """A trunk with a leg falls on its face and begins anew: small, with all that an environment can have."""

    substeps, steps = 4, 12
    memory = {"last": 1}
    parameters = ("geom_friction",)

    def model(self):
        import mujoco

        return fs.from_mujoco(mujoco.MjModel.from_xml_string(XML))

    def randomise(self, rng, p):
        return {"geom_friction": p.geom_friction * rng.uniform(0.5, 1.5, (3, 1))}

    def reset(self, m, rng):
        height, turn = rng.uniform(0.1, 0.3), rng.normal(0, 0.3, 4) + np.array([1, 0, 0, 0])
        return [0, 0, height, *turn, 0], rng.normal(0, 0.5, 7)

    def terminate(self, x, m):
        return x.rotation("trunk")[2, 2] < 0.2

    def reward(self, x, a, m):
        return {"height": x.q[2], "rate": -0.1 * (a[0] - m.last[0]) ** 2, "touch": 1e-2 * x.contact_force("trunk")[2]}

    def after(self, x, a, m, rng):
        m.last = a
        return {"v": x.v + np.where(rng.bernoulli(0.1), 0.1, 0.0)}

    def observe(self, x, m, rng):
        return np.concatenate([x.q[2:], x.v, x.left("xpos")[1]]) + 0.01 * rng.normal(size=16)


KP, KD = 100.0, 2.0  # of the G1's joints [N m/rad, N m s/rad]


class Stand(fs.Env):
    """The built-in G1 holds a pose with bent knees on a plane; all of its collision elements may touch it and each other."""

    substeps, steps = 2, 500
    memory = {"last": 29}
    actions = 29

    def model(self):
        model = fs.load("g1", world=fs.UrdfWorld(ground=True, motors=True, timestep=0.005))
        names = [model.compiled.joint(k).name for k in range(1, model.compiled.njnt)]
        bend = {"hip_pitch": -0.3, "knee": 0.6, "ankle_pitch": -0.3}
        self.pose = np.array([next((x for part, x in bend.items() if part in name), 0.0) for name in names])
        return model

    def reset(self, m, rng):
        tilt = rng.uniform(-0.1, 0.1)
        q = [0, 0, 0.78, np.cos(tilt / 2), 0, np.sin(tilt / 2), 0, *(self.pose + rng.uniform(-0.1, 0.1, 29))]
        return q, rng.normal(0, 0.2, 35)

    def actuate(self, x, a, m):
        return KP * (self.pose + 0.25 * a - x.q[7:]) - KD * x.v[6:]

    def terminate(self, x, m):
        return x.q[2] < 0.4

    def reward(self, x, a, m):
        return {"upright": x.rotation("torso_link")[2, 2], "rate": -0.01 * ((a - m.last) ** 2).sum()}

    def after(self, x, a, m, rng):
        m.last = a

    def observe(self, x, m, rng):
        clean = np.concatenate([x.rotation("pelvis")[2], x.q[7:] - self.pose, x.v, m.last])
        return clean + 0.01 * rng.uniform(-1, 1, len(clean))


TASKS = {
    "Ant": lambda: fs.tasks.make("Ant-v5"),
    "Go1": lambda: fs.tasks.make("Go1JoystickFlat"),
    "G1": Stand,
}


def sent(a, stream=0):
    """An array of the engine on device 0."""
    x = DeviceArray(_featherstorm.Buffer(a.dtype.name, *a.shape, 0, stream), a.shape[1:], len(a), a.dtype, 0, stream)
    x.assign(a, "a")
    return x


def network(batch, hidden=64):
    """A policy of two hidden layers as stages of their own, and weights for it: (policy, weights)."""
    groups, rng = batch.groups, np.random.default_rng(4)
    group = next(iter(groups))
    layers, weights = (groups[group], hidden, hidden, batch.recording.actions), {}
    for k, (n, m) in enumerate(itertools.pairwise(layers)):
        weights |= {f"pi_W{k}": rng.normal(0, n**-0.5, (m, n)), f"pi_b{k}": np.zeros(m)}

    def policy(obs, w, rng):
        return mlp(obs[group] if len(groups) > 1 or group else obs, w, "pi", 3, form="loops")

    return policy, weights


class Pair:
    """Environments of a task on the CPU, and the same on device 0.

    stream   of the device
    """

    def __init__(self, task, num_envs, dtype, stream=0):
        self.stream, self.rng = stream, np.random.default_rng(1)
        self.here = task.batch(num_envs, seed=3, dtype=dtype)
        self.there = EnvBatch(task, num_envs, 3, "cuda:0", dtype, kernels=self.here.kernels)
        self.here.reset(), self.there.reset()
        self.names = [name for name in (*self.here.state, *self.here.told) if name != "env_key"]

    def actions(self):
        return self.rng.uniform(-1, 1, (self.here.num_envs, self.here.recording.actions)).astype(self.here.dtype)

    def fall(self, steps):
        """Steps of the CPU alone, after which a third of the episodes are in their last step; then the device's state is the CPU's."""
        for _ in range(steps):
            self.here.step(self.actions())
        if self.here.task.steps is not None:
            self.here.episode_length[::3] = self.here.task.steps - 1
        self.meet()

    def meet(self):
        """The device's state becomes the CPU's."""
        for name in self.here.state:
            self.there.storage.put(name, self.here.view(name))

    def step(self):
        """One step of each, with the same actions."""
        a = self.actions()
        self.there.step(sent(a, self.stream)), self.here.step(a)

    def errors(self):
        """For each environment the largest difference of all that is kept and told, relative to an array's largest number or 1 (B,)."""
        worst = np.zeros(self.here.num_envs)
        for name in self.names:
            found, expected = (np.array(batch.view(name), float) for batch in (self.there, self.here))
            if not np.isfinite(expected).all():
                raise ValueError(f"{name} of the CPU is not finite")
            off = np.abs(found - expected).max(axis=1) / np.abs(expected).max(initial=1.0)
            worst = np.fmax(worst, np.where(np.isfinite(off), off, np.inf))
        return worst

    def collected(self, steps):
        """The same of rewards of so many steps in one call of each, from the CPU's state (B,)."""
        policy, weights = self.met_with_network()
        found, expected = (np.asarray(b.collect(steps, policy, weights).reward, float) for b in (self.there, self.here))
        return apart(found, expected)

    def pulled(self, steps):
        """The same of cotangents by actions, of the rewards of so many steps (B,)."""
        policy, weights = self.met_with_network()
        cotangents = []
        for batch in (self.there, self.here):
            back = batch.pull_back(batch.collect(steps, policy, weights, keep=True))
            ones = np.ones(batch.num_envs, batch.dtype)
            cotangents.append(np.stack([np.asarray(back.step(ones), float) for _ in range(steps)]))
        return apart(*cotangents)

    def met_with_network(self):
        """A policy with its weights, for both in the CPU's state."""
        self.meet()
        for group in self.here.groups:
            name = observation(group)
            self.there.storage.put(name, self.here.view(name))
        return network(self.here)

    def ended(self):
        return int((np.asarray(self.here.view("env_done")) > 0).sum())

    def contacts(self):
        """How many contacts an environment of the CPU has on average."""
        return float(np.mean(self.here.report().contacts))


def apart(found, expected):
    """The largest difference of each environment (B,), of arrays (T, B, ...), relative to the largest number or 1."""
    off = np.abs(found - expected).reshape(*found.shape[:2], -1).max(axis=(0, 2))
    return np.where(np.isfinite(off), off, np.inf) / np.abs(expected).max(initial=1.0)
