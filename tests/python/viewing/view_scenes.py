"""Models to look at, and whether this machine can draw."""

import mujoco
import numpy as np
import pytest

from featherstorm import viewing
from featherstorm.mujoco import Batch

BALL = """
<mujoco>
  <option timestep="0.01"/>
  <visual><headlight diffuse=".8 .8 .8"/></visual>
  <worldbody>
    <light pos="0 0 4"/>
    <camera name="side" pos="0 -4 1" xyaxes="1 0 0 0 0 1"/>
    <geom type="plane" size="3 3 .1" rgba=".2 .3 .4 1"/>
    <body name="ball" pos="0 0 1.5">
      <freejoint/>
      <geom type="sphere" size=".3" rgba="1 0 0 1"/>
    </body>
  </worldbody>
  <keyframe><key qpos="0 0 1 1 0 0 0"/></keyframe>
</mujoco>
"""

SPINNER = """
<mujoco>
  <option gravity="0 0 0"/>
  <worldbody>
    <light pos="0 0 5"/>
    <body name="spinner" pos="0 0 1">
      <joint name="spin" axis="0 0 1"/>
      <geom type="box" size=".6 .15 .1" rgba="1 0 0 1"/>
    </body>
  </worldbody>
  <actuator><velocity joint="spin" kv="10" ctrlrange="-4 4"/></actuator>
  <keyframe><key ctrl="3" qvel="3"/></keyframe>
</mujoco>
"""

# of everything that a picture copies: textures of all kinds, a mesh, a height field, a moving camera, a site, bodies that are carried
EVERYTHING = """
<mujoco>
  <visual><global offwidth="800" azimuth="140"/><rgba haze=".5 .2 .2 1"/></visual>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1=".3 .5 .7" rgb2="0 0 0" width="64" height="384"/>
    <texture name="squares" type="2d" builtin="checker" rgb1=".1 .2 .3" rgb2=".6 .5 .4" width="64" height="64"/>
    <texture name="cube" type="cube" builtin="flat" mark="cross" rgb1=".8 .6 .4" rgb2=".2 .2 .2" width="32" height="192"/>
    <material name="floor" texture="squares" texrepeat="4 4" texuniform="true" reflectance=".3"/>
    <material name="skin" texture="cube" specular=".7" shininess=".3" rgba=".9 .9 1 1"/>
    <mesh name="wedge" vertex="0 0 0  .4 0 0  0 .5 0  0 0 .6  .3 .3 .3"/>
    <hfield name="hills" nrow="5" ncol="4" size=".5 .5 .3 .05" elevation="0 1 2 0  1 0 1 2  2 1 0 1  0 2 1 0  1 1 0 2"/>
  </asset>
  <worldbody>
    <light pos="1 0 4" dir="-.2 0 -1" castshadow="true"/>
    <light type="directional" pos="0 0 4" dir="0 .3 -1" diffuse=".3 .3 .3"/>
    <geom type="plane" size="4 4 .1" material="floor"/>
    <geom type="hfield" hfield="hills" pos="1.2 .5 0" rgba=".4 .6 .3 1"/>
    <geom type="box" size=".1 .6 .2" pos="-1 0 .2" euler="0 0 30"/>
    <body name="cart" pos="0 0 .5">
      <joint name="slide" type="slide" axis="1 0 0"/>
      <geom type="box" size=".3 .2 .1" material="skin"/>
      <site name="corner" pos=".3 .2 .1" size=".05" rgba="1 1 0 1"/>
      <body name="arm" pos="0 0 .1">
        <joint name="hinge" axis="0 1 0"/>
        <camera name="aboard" pos="0 -2 .5" xyaxes="1 0 0 0 .2 1"/>
        <geom type="mesh" mesh="wedge" rgba=".2 .4 .9 1"/>
        <body name="tip" pos="0 0 .7"><geom type="capsule" size=".05 .2" euler="0 60 0"/></body>
      </body>
    </body>
    <body name="target" mocap="true" pos=".5 -.8 .6"><geom type="ellipsoid" size=".1 .2 .1" rgba="0 1 0 .5"/></body>
  </worldbody>
</mujoco>
"""

COVERED = 40  # least difference of a pixel that something else covers


def model(text):
    return mujoco.MjModel.from_xml_string(text)


def batch(text, nsim, **options):
    return Batch(model(text), nsim, 1, **options)


def need_drawing():
    try:
        viewing.render(batch(BALL, 1), width=16, height=16)
    except ImportError as error:
        pytest.skip(str(error))


def red(image):
    """Where the ball is: the mean row and column of red pixels, and how many there are."""
    r, g, b = (image[:, :, k].astype(int) for k in range(3))
    rows, columns = np.nonzero((r > 100) & (r > 2 * g) & (r > 2 * b))
    return rows.mean(), columns.mean(), len(rows)
