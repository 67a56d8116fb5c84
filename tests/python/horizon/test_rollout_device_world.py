"""Rollouts in the world of a model file whose arrays lie on a CUDA device, against the CPU."""

import sys

import mujoco
import numpy as np
import pytest

import fake_cuda
import featherstorm as fs
from fake_cuda import StandardArray, Tensor, array, needs_device
from featherstorm import _featherstorm
from featherstorm.planning import MPPI

B, T = 33, 12
pytestmark = [needs_device, pytest.mark.usefixtures("played_compiler")]

XML = """
<mujoco>
  <option timestep="0.004" cone="elliptic" integrator="{integrator}"/>
  <worldbody>
    <geom type="plane" size="0 0 1"/>
    <body name="trunk" pos="0 0 .1">
      <freejoint/>
      <geom name="trunk" type="box" size=".1 .1 .05"/>
      <body pos=".15 0 0">
        <joint name="knee" axis="0 1 0" range="-60 60" stiffness="2"/>
        <geom name="shin" type="capsule" size=".03" fromto="0 0 0 .2 0 0"/>
        <geom name="foot" type="ellipsoid" size=".05 .04 .03" pos=".22 0 0"/>
        <site name="tip" pos=".25 0 0"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="knee" ctrlrange="-2 2"/></actuator>
  <sensor><jointpos name="angle" joint="knee"/></sensor>
</mujoco>
"""


def cost(x, u, t, p):
    force = x.contact_force("foot")
    return x.site("tip")[2] + 0.1 * x.qpos[2] + x.sensor("angle")[0] ** 2 + 1e-3 * (force @ force) + 0.01 * u[0] ** 2


def problem(model, dtype):
    rng = np.random.default_rng(0)
    x0 = np.zeros((B, model.nq + model.nv))
    x0[:, : model.nq] = model.q0
    x0[:, 2] = 0.05 + 0.1 * rng.random(B)
    x0[:, 3:7] += 0.3 * rng.normal(size=(B, 4))
    x0[:, 3:7] /= np.linalg.norm(x0[:, 3:7], axis=1, keepdims=True)
    return x0.astype(dtype), rng.normal(size=(B, T, 1)).astype(dtype)


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 2e-2)])
def test_a_world_with_contacts_is_the_hosts(integrator, dtype, tolerance):
    model = fs.from_mujoco(mujoco.MjModel.from_xml_string(XML.format(integrator=integrator)))
    roll = fs.Rollout(model, cost=cost)
    x0, U = problem(model, dtype)
    expected = roll(x0, U, states=True)
    got = roll(array(StandardArray, x0, 1), array(StandardArray, U, 1), states=True)
    _featherstorm.synchronise(1)
    for name in ("states", "costs", "final"):
        ours, theirs = np.asarray(getattr(got, name)), getattr(expected, name)
        assert np.isfinite(theirs).all()
        scale = np.abs(theirs).max()
        assert np.median(np.abs(ours - theirs)) <= 1e-3 * tolerance * scale, name
        assert np.abs(ours - theirs).max() <= tolerance * scale, name
    # the ground bears: without it all would be below it
    assert np.asarray(got.states)[:, -1, 2].min() > -0.05


def test_a_planner_with_a_world_plans_on_a_device(monkeypatch):
    torch = fake_cuda.torch_like()
    monkeypatch.setitem(sys.modules, "torch", torch)
    model = fs.from_mujoco(mujoco.MjModel.from_xml_string(XML.format(integrator="Euler")))
    roll = fs.Rollout(model, cost=cost)
    x0, _ = problem(model, "float32")
    on_host, on_device = (MPPI(roll, T, 1, samples=64, sigma=0.5, seed=4) for _ in range(2))
    u = on_device.command(array(Tensor, x0[0].copy()))
    expected = on_host.command(x0[0])
    torch.cuda.synchronize()
    assert np.allclose(u, expected, atol=2e-3) and np.allclose(on_device.U, on_host.U, atol=2e-3)
    assert np.abs(expected).max() > 1e-3
