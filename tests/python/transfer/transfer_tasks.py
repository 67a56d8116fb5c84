"""Tasks that see everything, and steps of the engine beside MuJoCo's."""

import copy

import mujoco
import numpy as np

import featherstorm as fs
from featherstorm.transfer import MujocoEnv

XML = """
<mujoco>
  <option timestep="0.005" integrator="{integrator}"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <geom name="post" type="box" pos="0.5 0 0.2" size=".05 .3 .2"/>
    <body name="ball" pos="0 0 .12">
      <freejoint name="root"/>
      <geom name="ball" type="sphere" size=".1" mass="2"/>
      <site name="inside" size=".12"/>
      <site name="top" pos="0 .02 .1"/>
      <body name="arm" pos="0 0 .1">
        <joint name="arm" axis="0 1 0" damping=".05" range="-60 60"/>
        <geom name="arm" type="capsule" fromto="0 0 0 0 0 .3" size=".03" mass=".5"/>
        <site name="tip" pos="0 0 .3"/>
      </body>
    </body>
    <body name="block" pos="-.5 0 .3">
      <joint name="block" type="slide" axis="0 0 1"/>
      <geom name="block" type="sphere" size=".05" mass=".3"/>
    </body>
  </worldbody>
  <actuator>
    <position name="arm" joint="arm" kp="5" ctrlrange="-1 1" timeconst=".02"/>
    <motor name="block" joint="block" gear="2"/>
  </actuator>
  <sensor>
    <accelerometer name="accelerometer" site="top"/><gyro name="gyro" site="top"/><velocimeter name="velocimeter" site="tip"/>
    <touch name="touch" site="inside"/><framepos name="tip" objtype="site" objname="tip"/><force name="force" site="tip"/>
    <actuatorfrc name="effort" actuator="arm"/><subtreecom name="centre" body="ball"/><jointvel name="rate" joint="arm"/>
  </sensor>
</mujoco>
"""


class Everything(fs.Env):
    """Whatever a function may see, do and draw."""

    dt, steps = 0.02, 12
    parameters = ("body_mass", "geom_friction", "geom_size", "opt_gravity")
    memory = {"last": 2, "table": (2, 2), "level": 1, "ring": (2, 2), "first": 3}
    kept = ("level",)
    action_range = (-1.0, 1.0)
    reward_scale, reward_floor = 0.5, -40.0

    def __init__(self, integrator="Euler"):
        self.integrator = integrator

    def model(self):
        m = mujoco.MjModel.from_xml_string(XML.format(integrator=self.integrator))
        m.opt.tolerance, m.opt.iterations, m.opt.jacobian = 0, 100, mujoco.mjtJacobian.mjJAC_DENSE
        return fs.from_mujoco(m, "everything")

    def randomise(self, rng, p, m):
        mass, size, gravity = (np.array(x, object) for x in (p.body_mass, p.geom_size, p.opt_gravity))
        mass[1:] *= rng.uniform(0.5, 1.5, len(mass) - 1)
        size[1, :2] = size[1, :2] * rng.uniform(0.5, 1.0, 2)
        gravity[..., 2] = gravity[..., 2] * (1 + 0.01 * m.level[0])
        return {"body_mass": mass, "geom_size": size, "opt_gravity": gravity}

    def reset(self, m, rng):
        m.level = m.level + 1
        m.table = [[1.0, rng.exponential(2.0)], rng.choice([[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]])]
        turn = np.array([1.0, 0.0, 0.0, 0.0]) + rng.uniform(-0.2, 0.2, 4)
        q = np.concatenate([rng.uniform(-0.05, 0.05, 2), [0.115], turn, rng.normal(0, 0.1, 2)])
        return q, rng.normal(0, 0.3, 8)

    def begin(self, x, m, rng):
        m.first = x.position("tip") + 0.01 * rng.random(3)

    def actuate(self, x, a, m):
        m.ring = np.concatenate([a[None], m.ring[:1]])
        return m.ring[1] - 0.1 * x.sensor("rate")[0] * np.array([1.0, 0.0]) + 0.01 * x.position("block")[2]

    def terminate(self, x, m):
        return np.logical_or(x.q[2] < 0.05, x.position("ball")[0] > 0.4)

    def reward(self, x, a, m):
        return {
            "touch": x.touches("ball") + 0.1 * x.touches("ball", "floor") + 10 * x.touches("arm", "floor"),
            "force": -0.01 * x.contact_force("ball")[2] + x.contact_force("floor", "geom")[2] * 0.02,
            "rate": np.where(((a - m.last) ** 2).sum() > 0.5, -1.0, 0.5),
        }

    def metrics(self, x, a, m):
        return {"energy": x.run("energy", x.q, x.v), "control": x.ctrl, "qacc": x.qacc}

    def after(self, x, a, m, rng):
        m.last = a
        m.table = m.table + np.outer(a, a)
        push = np.where(rng.bernoulli(0.2), rng.uniform(-1, 1, 2), 0.0)
        friction = x.parameter("geom_friction")
        friction[0, 0] = 0.5 + 0.5 * rng.random()
        return {"v": np.concatenate([x.v[:2] + push, x.v[2:]]), "geom_friction": friction}

    def observe(self, x, m, rng):
        names = ("accelerometer", "gyro", "velocimeter", "touch", "tip", "force", "effort", "centre", "rate")
        sensors = np.concatenate([x.sensor(name) for name in names])
        frames = [x.rotation("arm").ravel(), x.position("ball"), x.velocity("tip"), x.velocity("arm"), x.site("top")]
        down = np.array([0.0, 0.0, -1.0])
        ahead = np.array([1.0, 0.0, 0.0])
        rays = [x.ray(x.site("tip"), down, ["floor", "post"]), x.ray(x.site("inside"), ahead, "post", far=3.0)]
        felt = [x.field("actuator_force"), x.field("qfrc_bias"), x.field("cvel").ravel(), x.field("cacc").ravel()]
        left = [x.left("xpos").ravel(), x.left("cfrc_ext").ravel(), x.field("subtree_com").ravel()]
        told = [x.time, x.act, x.q, x.v, m.last, m.table.ravel(), m.level, m.first]
        return {
            "actor": np.concatenate([sensors + 0.1 * rng.normal(size=len(sensors)), *frames]),
            "critic": [*rays, *felt, *left, *told, x.parameter("body_mass"), x.qacc],
        }


BODY, SITE = mujoco.mjtObj.mjOBJ_XBODY, mujoco.mjtObj.mjOBJ_SITE


class Seen:
    """The state of a MujocoEnv for a task's functions, with numbers from mjData in place of symbols."""

    def __init__(self, env):
        self.env, self.m, self.now, self.solved = env, env.mj_model, copy.copy(env.mj_data), env.simulated.at_solve
        mujoco.mj_forward(self.m, self.now)
        self.q, self.v, self.act, self.ctrl = self.now.qpos, self.now.qvel, self.now.act, self.now.ctrl
        self.time, self.qacc, self.parameter = env.steps * env.dt, env.mj_data.qacc, env.parameter

    def frame(self, name):
        k = mujoco.mj_name2id(self.m, BODY, name)
        return (BODY, k) if k >= 0 else (SITE, mujoco.mj_name2id(self.m, SITE, name))

    def position(self, name):
        kind, k = self.frame(name)
        return (self.now.xpos if kind == BODY else self.now.site_xpos)[k]

    def rotation(self, name):
        return self.now.body(name).xmat.reshape(3, 3)

    def velocity(self, name):
        found = np.zeros(6)
        mujoco.mj_objectVelocity(self.m, self.now, *self.frame(name), found, 0)
        return found

    def site(self, name):
        return self.now.site(name).xpos

    def sensor(self, name):
        k = self.m.sensor(name).id
        d = self.env.mj_data if self.m.sensor_needstage[k] == mujoco.mjtStage.mjSTAGE_ACC else self.now
        return d.sensor(name).data

    def ray(self, point, direction, geoms, far=100.0):
        found = [far]
        for g in (self.m.geom(name).id for name in np.atleast_1d(geoms)):
            place = self.now.geom_xpos[g], self.now.geom_xmat[g], self.m.geom_size[g]
            found.append(mujoco.mju_rayGeom(*place, point, direction, self.m.geom_type[g], None))
        return min(x for x in found if x >= 0)

    def touches(self, name, other=None):
        second = None if other is None else self.m.geom(other).id
        return min(self.solved.selected("geom", self.m.geom(name).id, second)[3], 1.0)

    def contact_force(self, name, kind="geom"):
        return self.solved.contact_force(kind, self.m.geom(name).id)

    def field(self, name):
        return self.solved.field(name) if name in ("actuator_force", "cacc") else getattr(self.now, name)

    def left(self, name):
        return self.env.simulated.at_last_stage.field(name)

    def run(self, op, q, v):
        mujoco.mj_energyPos(self.m, self.now)
        mujoco.mj_energyVel(self.m, self.now)
        return self.now.energy[::-1]  # the operation's first number is the kinetic energy


def groups_of(obs):
    return obs if isinstance(obs, dict) else {"": obs}


def difference(a, b):
    """The greatest, relative where a number is greater than one."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    return float((np.abs(a - b) / np.maximum(1, np.abs(b))).max(initial=0))


def observed_difference(obs, batch_obs, k):
    found, wanted = groups_of(obs), groups_of(batch_obs)
    assert list(found) == list(wanted)
    return max(difference(found[name], wanted[name][k]) for name in found)


def steps_beside(make, steps, envs=2, seed=5, reach=0.6, limit=3.0):
    """Compare steps of a batch in float64 with MuJoCo's, from the batch's own states and in the first episodes alone.

    First states and parameters must be equal. Returns the largest differences: "obs" of steps from the batch's states, "reward" of
    their rewards and metrics, "alone" (T,) of observations of the first episodes; and the number of episodes that "ended".
    """
    batch = make().batch(envs, seed=seed, dtype="float64", threads=1)
    follower, alone = MujocoEnv(make(), converged=True), [MujocoEnv(make(), converged=True) for _ in range(envs)]
    obs, _ = batch.reset()
    for k, env in enumerate(alone):
        assert observed_difference(env.reset(seed=seed, env=k)[0], obs, k) == 0
        assert all((env.parameter(name).ravel() == batch.parameter(name)[k]).all() for name in env.parameters)
    rng = np.random.default_rng(seed)
    width = reach * np.minimum(follower.high, limit)
    found = {"obs": 0.0, "reward": 0.0, "alone": [], "ended": 0}
    for _ in range(steps):
        actions = rng.uniform(-width, width, (envs, follower.actions))
        follows = []
        for k in range(envs):
            follower.follow(batch, k)
            follows.append(follower.step(actions[k]))
        lone = {k: env.step(actions[k])[0] for k, env in enumerate(alone) if not env.ended}
        obs, reward, terminated, truncated, info = batch.step(actions)
        done = terminated | truncated
        last = [info["final_obs"] if ended else obs for ended in done]
        for k, (seen, earned, ends, is_late, told) in enumerate(follows):
            assert (ends, is_late, told["non_finite"]) == (terminated[k], truncated[k], info["non_finite"][k])
            found["obs"] = max(found["obs"], observed_difference(seen, last[k], k))
            metrics = [difference(told[name], info[name][k]) for name in batch.recording.metrics]
            found["reward"] = max(found["reward"], difference(earned, reward[k]), *metrics)
        away = {k: observed_difference(seen, last[k], k) for k, seen in lone.items()}
        assert all(alone[k].ended == done[k] or x > 1e-6 for k, x in away.items())
        found["alone"].append(max(away.values(), default=0.0))
        found["ended"] += done.sum()
    return found
