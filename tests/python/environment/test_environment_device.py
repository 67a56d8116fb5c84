"""Environments on a CUDA device, through the stand-in of the CUDA library, against the CPU."""

import os
import sys

import numpy as np
import pytest
from slider import Slider, model

import fake_cuda
import featherstorm as fs
from fake_cuda import Tensor, array, needs_stand_in
from featherstorm import _featherstorm
from featherstorm.device import DeviceArray

ENVS = 33
pytestmark = needs_stand_in

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
    substeps, steps = 4, 12
    memory = {"last": 1}
    parameters = ("geom_friction",)

    def __init__(self, robot):
        self.robot = robot

    def model(self):
        return self.robot

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


@pytest.fixture(autouse=True)
def compiler(monkeypatch, tmp_path):
    """The stand-in's run-time compiler; no test leaves work behind."""
    monkeypatch.setenv("FEATHERSTORM_NVRTC", os.path.join(os.environ["FEATHERSTORM_BACKENDS"], "libnvrtc.so"))
    monkeypatch.setenv("FEATHERSTORM_CACHE", str(tmp_path))
    yield
    fake_cuda.finish()


def actions(k, n):
    return np.random.default_rng(k).uniform(-2, 2, (ENVS, n))


def sent(a):
    """The engine's own array on the device."""
    x = DeviceArray(_featherstorm.Buffer(a.dtype.name, *a.shape, 0, 0), a.shape[1:], len(a), a.dtype, 0, 0)
    x.assign(a, "a")
    return x


def compare(task, dtype, autoreset, steps, n, tolerance):
    here = task.batch(ENVS, seed=3, dtype=dtype, autoreset=autoreset)
    there = task.batch(ENVS, seed=3, dtype=dtype, autoreset=autoreset, device="cuda:0")
    first, other = here.reset()[0], there.reset()[0]
    seen = [(first, other)] if not isinstance(first, dict) else list(zip(first.values(), other.values()))
    ended = 0
    for k in range(steps):
        a = actions(k, n).astype(dtype)
        ours, theirs = there.step(sent(a)), here.step(a)
        seen = [(ours[k], theirs[k]) for k in (1, 2, 3)]
        for found, expected in ((ours[0], theirs[0]), (ours[4]["final_obs"], theirs[4]["final_obs"])):
            seen += list(zip(found.values(), expected.values())) if isinstance(found, dict) else [(found, expected)]
        for found, expected in seen:
            found, expected = np.asarray(found, float), np.asarray(expected, float)
            assert found.shape == expected.shape
            scale = np.abs(expected).max(initial=1.0)
            assert np.abs(found - expected).max() <= tolerance * scale
        done = np.asarray(theirs[4]["_final_obs"])
        np.testing.assert_array_equal(np.asarray(ours[4]["_final_obs"]) > 0, done)
        for name in ("return", "length"):
            a, b = (np.asarray(x[4]["final_info"][name], float)[done] for x in (ours, theirs))
            np.testing.assert_allclose(a, b, rtol=1e-3)
        ended += done.sum()
        if autoreset == "disabled" and done.any():
            for batch in (here, there):
                batch.reset(mask=done)
    assert ended >= ENVS
    return there


@pytest.mark.parametrize("autoreset", ["same_step", "next_step", "disabled"])
def test_a_task_is_the_same_on_a_device(tmp_path, autoreset):
    compare(Slider(model(tmp_path)), "float64", autoreset, 20, 1, 1e-11)


@pytest.mark.parametrize(("dtype", "steps", "tolerance"), [("float64", 14, 1e-6), ("float32", 13, 2e-2)])
def test_a_task_with_contacts_is_the_same_on_a_device(tmp_path, dtype, steps, tolerance):
    file = tmp_path / "falling.xml"
    file.write_text(XML)
    compare(Falling(fs.load(str(file))), dtype, "same_step", steps, 1, tolerance)


def test_torch_keeps_its_arrays_on_the_device(tmp_path, monkeypatch):
    torch = fake_cuda.torch_like()
    torch.from_dlpack = lambda x: fake_cuda.adopt(Tensor, x)
    monkeypatch.setitem(sys.modules, "torch", torch)
    batch = Slider(model(tmp_path)).batch(ENVS, device="cuda:0", arrays="torch")
    obs, _ = batch.reset()
    assert type(obs["actor"]) is Tensor
    obs, reward, terminated, truncated, info = batch.step(array(Tensor, actions(0, 1).astype(np.float32)))
    for x in (obs["actor"], reward, terminated, truncated, info["_final_obs"], info["final_info"]["near"]):
        assert type(x) is Tensor
    assert terminated.dtype == bool


def test_what_lies_elsewhere_is_refused(tmp_path):
    batch = Slider(model(tmp_path)).batch(ENVS, device="cuda:0")
    batch.reset()
    with pytest.raises(ValueError, match="actions is on the CPU, expected CUDA device 0"):
        batch.step(np.zeros((ENVS, 1), np.float32))
