"""Steps that take slopes of forces along, beside MuJoCo's: gyroscopic forces, the medium, actuators within their limits."""

import mujoco
import mujoco.batch as theirs
import numpy as np
import pytest

from featherstorm.mujoco import Batch

N = 9
XML = """
<mujoco>
  <option integrator="{integrator}" density="{density}" viscosity="{viscosity}" wind="1 .5 .2" timestep="0.01" jacobian="dense"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body pos="0 0 1"><freejoint/><geom type="box" size=".2 .1 .05" pos=".05 .02 0" mass="1" fluidshape="{shape}"/></body>
    <body pos="2 0 1">
      <freejoint/>
      <geom type="ellipsoid" size=".2 .1 .05" mass="1" fluidshape="{shape}"/>
      <body pos=".3 0 0"><geom size=".1" mass=".3"/></body>
    </body>
    <body pos="4 0 1">
      <freejoint/>
      <geom type="ellipsoid" size=".1 .2 .05" mass="1" fluidshape="{shape}"/>
      <body pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".1 .1" mass=".3"/></body>
    </body>
    <body pos="1 0 1">
      <joint type="ball" damping=".1"/>
      <geom type="ellipsoid" size=".2 .1 .05" mass=".5" fluidshape="{shape}"/>
      <body pos=".3 0 .1">
        <joint axis="0 1 0" damping=".2"/><joint axis="1 0 .3"/>
        <geom type="capsule" size=".05 .2" pos="0 0 .2" mass=".2"/>
        <body pos="0 0 .4">
          <joint name="a" axis="0 1 .4" actuatorfrcrange="-.5 .5"/>
          <geom type="box" size=".05 .1 .02" pos="0 .1 0" mass=".2" fluidshape="{shape}"/>
        </body>
      </body>
    </body>
    <body pos="3 0 1">
      <joint name="c" type="slide" axis="1 0 0"/><joint name="b" axis="0 0 1"/>
      <geom type="box" size=".05 .1 .02" pos="0 .1 0" mass=".2"/>
    </body>
  </worldbody>
  <tendon>
    <fixed name="t" damping=".3" actuatorfrcrange="-.4 .4"><joint joint="b" coef="1"/><joint joint="c" coef=".5"/></fixed>
  </tendon>
  <actuator>
    <general joint="a" gainprm="5" biastype="affine" biasprm=".1 -3 -2"/>
    <general joint="b" gainprm="5" biastype="affine" biasprm=".1 -3 -.2" forcerange="-2 2"/>
    <general tendon="t" gainprm="5" biastype="affine" biasprm=".1 -3 -.5"/>
    <general tendon="t" gainprm="3" biastype="affine" biasprm="0 0 -.1"/>
  </actuator>
</mujoco>
"""


@pytest.mark.parametrize("shape", ["none", "ellipsoid"])
@pytest.mark.parametrize(("density", "viscosity"), [(0, 0), (1.2, 0.1), (100, 1)])
@pytest.mark.parametrize("integrator", ["implicit", "implicitfast"])
def test_steps_are_those_of_mujoco(integrator, density, viscosity, shape):
    numbers = {"integrator": integrator, "density": density, "viscosity": viscosity, "shape": shape}
    m = mujoco.MjModel.from_xml_string(XML.format(**numbers))
    explicit = mujoco.MjModel.from_xml_string(XML.format(**{**numbers, "integrator": "Euler"}))
    b, reference, other = Batch(m, N, 1, dtype="float64"), theirs.Batch(m, N, 1), theirs.Batch(explicit, N, 1)
    rng = np.random.default_rng(1)
    v, u = 3 * rng.normal(size=b.qvel.shape), 0.3 * rng.uniform(-1, 1, b.ctrl.shape)
    v[0] = 0
    for x in (b, reference, other):
        x.qvel[...], x.ctrl[...] = v, u
        x.step()
    exact = np.array(reference.qvel)
    assert float(np.abs(b.qvel - exact).max()) < 1e-10 * float(np.abs(exact).max())
    for first in (3, 9):  # free bodies turn otherwise than by explicit steps
        assert float(np.abs(other.qvel - exact)[1:, first : first + 3].max()) > 1e-4
    for x in (b, reference):
        x.step(nstep=20)
    exact = np.array(reference.qvel)
    assert float(np.abs(b.qvel - exact).max()) < 1e-8 * float(np.abs(exact).max())
