"""Models for tests of simulations and rollouts in the world of a model file, and MuJoCo's own steps of them."""

import importlib.util
import pathlib

import mujoco
import numpy as np
import pytest
from compare import prepared

import featherstorm as fs

LEG = """
<mujoco model="leg">
  <option timestep="0.004" {option}/>
  <default><geom density="800" friction="0.9 .01 .001"/><joint damping="0.3" armature="0.02"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="10 10 1"/>
    <site name="mark" pos="1 2 0.5"/>
    <body name="trunk" pos="0 0 0.75">
      <joint name="slide" type="slide" axis="1 0 0" damping="0"/>
      <joint name="rise" type="slide" axis="0 0 1" damping="0" armature="0"/>
      <joint name="pitch" axis="0 1 0" damping="0"/>
      <geom name="chest" type="capsule" fromto="-.15 0 0 .15 0 0" size=".06"/>
      <site name="imu" pos="0.05 0 0.02" euler="0 20 0"/>
      <site name="watch" pos="0.2 0 0" euler="0 120 0"/>
      <body name="thigh">
        <joint name="hip" axis="0 1 0" range="-60 60" limited="true"/>
        <geom name="upper" type="capsule" fromto="0 0 0 0 0 -.35" size=".04"/>
        <body name="foot" pos="0 0 -.35">
          <joint name="knee" axis="0 1 0" range="-80 80" limited="true" stiffness="3"/>
          <geom name="shin" type="capsule" fromto="0 0 0 0 0 -.33" size=".03"/>
          <geom name="sole" type="box" size=".08 .04 .02" pos="0.03 0 -.36"/>
          <site name="tip" pos="0.03 0 -.38" type="box" size=".1 .06 .03"/>
        </body>
      </body>
    </body>
    <body name="ball" pos="0.5 0 0.1"><freejoint name="free"/><geom name="ball" size=".1"/></body>
  </worldbody>
  <actuator>
    <motor name="hip" joint="hip" gear="40" ctrllimited="true" ctrlrange="-1 1"/>
    <position name="knee" joint="knee" kp="30"/>
    <general name="slow" joint="knee" dyntype="filter" dynprm="0.05" gainprm="8" ctrllimited="true" ctrlrange="-0.5 0.7"/>
  </actuator>
  <sensor>
    <framepos name="where" objtype="site" objname="tip"/>
    <velocimeter name="speed" site="imu"/>
    <gyro name="gyro" site="imu"/>
    <clock name="clock"/>
    <jointlimitpos name="left" joint="hip"/>
    <accelerometer name="imu" site="imu"/>
    <actuatorfrc name="effort" actuator="knee"/>
    <touch name="touch" site="tip"/>
    <force name="ankle" site="tip"/>
    <rangefinder name="eye" site="watch"/>
  </sensor>
  <keyframe>
    <key name="home" time="1" qpos="0 -0.035 0.1 0.3 -0.6 0.5 0 0.2 1 0 0 0" qvel="0.1 0 0 0 0 0 0 0 0 0 1" act="0.2" ctrl="0.1 -0.6 0.2"/>
  </keyframe>
</mujoco>
"""

MODELS = {
    "Euler": LEG.format(option=""),
    "implicitfast": LEG.format(option='integrator="implicitfast" cone="elliptic"'),
    "RK4": LEG.format(option='integrator="RK4"'),
}

# a pole on a cart that its motor keeps upright
CARTPOLE = """
<mujoco model="cartpole">
  <option timestep="0.01"/>
  <worldbody>
    <body name="cart">
      <joint name="slider" type="slide" axis="1 0 0" range="-1 1" limited="true" damping="0.05"/>
      <geom type="capsule" fromto="-.1 0 0 .1 0 0" size=".05" mass="1"/>
      <body name="pole">
        <joint name="hinge" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0 0 .6" size=".03" mass=".3"/>
        <site name="tip" pos="0 0 .6"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="slider" gear="20" ctrllimited="true" ctrlrange="-1 1"/></actuator>
</mujoco>
"""

# without actuators, contacts and activations
SWING = """
<mujoco><worldbody><body pos="0 0 1"><joint name="hinge" axis="0 1 0" stiffness="2"/><geom size=".1" pos="0 0 -.3"/></body></worldbody></mujoco>
"""

COUNT, STEPS = 6, 25
CLOSE = {"atol": 1e-9, "rtol": 1e-9}

FELT = ("imu", "effort", "touch", "ankle")
# folders of packages, and files in them
PUBLISHED = {
    "gymnasium": ("envs/mujoco/assets", ("half_cheetah", "hopper", "ant", "humanoid", "inverted_pendulum", "swimmer")),
    "dm_control": ("suite", ("cheetah", "walker", "fish", "ball_in_cup", "humanoid")),
}


def compiled(xml):
    return prepared(mujoco.MjModel.from_xml_string(xml), 0)


def leg(option=""):
    return compiled(LEG.format(option=option))


def starts(m, count=COUNT, seed=0):
    """MjData near the keyframe, each other."""
    rng, found = np.random.default_rng(seed), []
    for _ in range(count):
        d = mujoco.MjData(m)
        mujoco.mj_resetDataKeyframe(m, d, 0)
        d.time = 0
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 0.02)
        d.qvel[:] += 0.3 * rng.normal(size=m.nv)
        d.act[:] += 0.1 * rng.normal(size=m.na)
        found.append(d)
    return found


def rows(states, *names):
    return np.array([np.concatenate([np.ravel(getattr(d, name)) for name in names]) for d in states])


def controls(m, steps=STEPS, seed=1):
    return np.random.default_rng(seed).normal(size=(COUNT, steps, m.nu))


def advance(m, states, U, passes=1, push=None):
    for d, u in zip(states, U):
        d.ctrl[:] = u
        if push is not None:
            d.qfrc_applied[:] = push
        for _ in range(passes):
            mujoco.mj_step(m, d)


def sensed(m, d, name):
    s = m.sensor(name)
    return np.array(d.sensordata[s.adr[0] : s.adr[0] + s.dim[0]])


def at_its_state(m, d, name):
    """A sensor of MuJoCo's at the state that a step led to."""
    now = mujoco.MjData(m)
    for field in ("time", "qpos", "qvel", "act", "ctrl"):
        setattr(now, field, getattr(d, field)) if field == "time" else np.copyto(getattr(now, field), getattr(d, field))
    mujoco.mj_forward(m, now)
    return sensed(m, now, name), now


def contact_force(m, d, geoms):
    """On some geoms, by MuJoCo's own list."""
    total, force = np.zeros(3), np.zeros(6)
    for k in range(d.ncon):
        mujoco.mj_contactForce(m, d, k, force)
        world = d.contact[k].frame.reshape(3, 3).T @ force[:3]
        first, second = d.contact[k].geom
        total += world * (float(second in geoms) - float(first in geoms))
    return total


def simulation(m, states, **options):
    sim = fs.Simulation(fs.from_mujoco(m), len(states), dtype="float64", **options)
    sim.reset(q=rows(states, "qpos"), v=rows(states, "qvel"), act=rows(states, "act"))
    return sim


def published(package, name):
    spec = importlib.util.find_spec(package)
    if not spec or not spec.submodule_search_locations:
        pytest.skip(f"pip install --no-deps {package}")
    return pathlib.Path(spec.submodule_search_locations[0]) / PUBLISHED[package][0] / f"{name}.xml"
