"""step and Simulation in the world of a model file on a CUDA device, against the CPU."""

import functools

import mujoco
import numpy as np
import pytest

import fake_cuda
import featherstorm as fs
from fake_cuda import CUDA, STREAMS, CupyArray, StandardArray, Tensor, array, bound, needs_device, needs_fake_cuda
from featherstorm import _featherstorm
from featherstorm._memory.device_libraries import Jax
from featherstorm.device import DeviceArray
from featherstorm.planning import MPPI

B = 17
TOLERANCES = {"float64": 1e-12, "float32": 1e-5}
pytestmark = [needs_device, pytest.mark.usefixtures("played_compiler")]

# a box with a leg on a floor, whose contacts are few and of closed forms; `egg` adds some that are found by loops
XML = """
<mujoco model="leg">
  <option timestep="0.002" integrator="{integrator}" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="trunk" pos="0 0 .1">
      <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>
      <geom name="trunk" type="box" size=".1 .1 .05"/>
      <site name="imu" pos=".02 0 0"/>
      <body pos=".15 0 0">
        <joint name="knee" axis="0 1 0" range="-60 60" stiffness="2" damping=".05"/>
        <geom name="shin" type="capsule" size=".03" fromto="0 0 0 .2 0 0"/>
        <geom name="foot" type="ellipsoid" size=".05 .04 .03" pos=".22 0 0"/>
        <site name="tip" pos=".25 0 0" size=".1"/>
        <site name="eye" pos=".1 0 .04" euler="180 0 0"/>
      </body>
    </body>
    {egg}
  </worldbody>
  <actuator>
    <motor name="push" joint="knee" ctrlrange="-2 2" ctrllimited="true"/>
    <general name="slow" joint="knee" dyntype="filter" dynprm="0.05" gainprm="0.5"/>
  </actuator>
  <sensor>
    <jointpos name="angle" joint="knee"/>
    <gyro name="gyro" site="imu"/>
    <clock name="clock"/>
    <accelerometer name="felt" site="imu"/>
    <touch name="touch" site="tip"/>
    <rangefinder name="ray" site="eye"/>
  </sensor>
  <keyframe><key name="home" qpos="0 -.045 .05 .1" qvel="0 0 .2 .1" act=".3" ctrl=".5 -.5"/></keyframe>
</mujoco>
"""
EGG = '<body name="egg" pos=".3 .02 .16"><freejoint/><geom name="egg" type="ellipsoid" size=".05 .04 .06" mass=".2"/></body>'


def xml(integrator="Euler", egg=""):
    text = XML.format(integrator=integrator, egg=egg)
    return text.replace(' qpos="0 -.045 .05 .1" qvel="0 0 .2 .1"', "") if egg else text


@functools.cache
def world(integrator="Euler", egg=""):
    """Kept, and its kernels with it: the fake CUDA library takes seconds for each."""
    return fs.from_mujoco(mujoco.MjModel.from_xml_string(xml(integrator, egg)))


def given(model, dtype):
    """q, v, act, ctrl near the floor, each instance another."""
    rng = np.random.default_rng(3)
    q = np.tile(np.array(model.compiled.qpos0), (B, 1))
    q[:, 1], q[:, 2] = -0.06 + 0.03 * rng.random(B), 0.1 * rng.normal(size=B)
    for _, c in model.quaternions:
        q[:, c : c + 4] += 0.1 * rng.normal(size=(B, 4))
        q[:, c : c + 4] /= np.linalg.norm(q[:, c : c + 4], axis=1, keepdims=True)
    v = 0.3 * rng.normal(size=(B, model.nv))
    act, ctrl = rng.normal(size=(B, model.n_act)), rng.normal(size=(B, model.n_ctrl))
    return [x.astype(dtype) for x in (q, v, act, ctrl)]


def assert_close(ours, theirs, tolerance):
    theirs = np.asarray(theirs)
    assert np.isfinite(theirs).all()
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=0, atol=bound(tolerance) * max(1, np.abs(theirs).max()))


def whole(x):
    return x.q, x.v, x.act, x.qacc


@pytest.mark.parametrize(("integrator", "dtype"), [("Euler", "float64"), ("Euler", "float32"), ("RK4", "float64")])
def test_a_step_is_the_hosts(integrator, dtype):
    model = world(integrator)
    q, v, act, ctrl = given(model, dtype)
    for substeps in (1, 2) if integrator == "Euler" else (1,):
        expected = fs.step(model, q, v, ctrl=ctrl, act=act, substeps=substeps)
        got = fs.step(
            model,
            *(array(StandardArray, x, 1) for x in (q, v)),
            ctrl=array(StandardArray, ctrl, 1),
            act=array(StandardArray, act, 1),
            substeps=substeps,
        )
        for ours, theirs in zip(whole(got), whole(expected)):
            assert type(ours) is StandardArray and ours.number == 1 and ours.dtype == dtype
            assert_close(ours, theirs, 10 * TOLERANCES[dtype] if substeps > 1 else TOLERANCES[dtype])
    assert np.abs(expected.qacc).max() > 10, "something touches"


def test_a_step_gives_arrays_of_the_library_and_does_not_wait(torch, cupy):
    model = world(egg=EGG)
    q, v, act, ctrl = given(model, "float32")
    expected = fs.step(model, q, v, ctrl=ctrl, act=act, tau=np.ones(model.nv, "f4"))
    for kind, library in ((Tensor, torch), (CupyArray, cupy)):
        arrays = [array(kind, x) for x in (q, v, ctrl, act)]
        library.cuda.number = STREAMS[1]
        got = fs.step(model, *arrays[:2], ctrl=arrays[2], act=arrays[3], tau=[1.0] * model.nv)
        assert all(type(x) is kind and np.isnan(x).all() for x in whole(got)), "the work waits in the stream"
        _featherstorm.synchronise(0, STREAMS[1])
        for ours, theirs in zip(whole(got), whole(expected)):
            assert_close(ours, theirs, 1e-5)
        alone = fs.step(
            model,
            array(kind, q[2]),
            array(kind, v[2]),
            ctrl=array(kind, ctrl[2]),
            act=array(kind, act[2]),
            tau=[1.0] * model.nv,
        )
        _featherstorm.synchronise(0, STREAMS[1])
        assert alone.q.shape == (model.nq,)
        np.testing.assert_array_equal(np.asarray(alone.v), np.asarray(got.v)[2])
        library.cuda.number = 0


def test_a_step_gives_jax_copies(monkeypatch):
    jax = pytest.importorskip("jax")
    monkeypatch.setattr(StandardArray, "__module__", "jaxlib.fake")

    def take(self, x):
        _featherstorm.synchronise(x.device, x.stream)
        return jax.numpy.asarray(np.array(fake_cuda.adopt(fake_cuda.Array, x)))

    monkeypatch.setattr(Jax, "take", take)
    model = world()
    q, v, act, _ = given(model, "float32")
    got = fs.step(model, *(array(StandardArray, x) for x in (q, v)), act=array(StandardArray, act))
    assert all(isinstance(x, jax.Array) for x in whole(got))
    for ours, theirs in zip(whole(got), whole(fs.step(model, q, v, act=act))):
        assert_close(ours, theirs, 1e-5)


def test_tables_of_a_file_that_differ_are_sent():
    m = mujoco.MjModel.from_xml_string(xml())
    model = fs.from_mujoco(m, parameters=["body_mass", "geom_friction"])
    masses = np.array(m.body_mass) * np.linspace(0.5, 2, B)[:, None]
    model = model.bind(body_mass=masses)
    q, v, act, ctrl = given(model, "float64")
    for _ in range(2):  # the second one has them already
        x = [array(StandardArray, x) for x in (q, v, act, ctrl)]
        got = fs.step(model, *x[:2], act=x[2], ctrl=x[3])
        for ours, theirs in zip(whole(got), whole(fs.step(model, q, v, ctrl=ctrl, act=act))):
            assert_close(ours, theirs, 1e-12)
    assert not np.allclose(np.asarray(got.qacc), fs.step(world(), q, v, ctrl=ctrl, act=act).qacc)
    cpu, cuda = both(model, "float64", model=model)
    for sim in (cpu, cuda):
        sim.step()
        sim.sensor("felt")
    assert_close(cuda.v, cpu.v, 1e-12), assert_close(cuda.sensor("felt"), cpu.sensor("felt"), 1e-11)


def both(of, dtype, model=None, **options):
    """A simulation on the CPU and one on a device, from the same states."""
    q, v, act, ctrl = given(of, dtype)
    sims = []
    for device in ("cpu", CUDA):
        sim = fs.Simulation(model or of, B, dtype=dtype, device=device, **options)
        sim.reset(q=q, v=v, act=act)
        sim.ctrl = ctrl
        sims.append(sim)
    return sims


@pytest.mark.parametrize(("egg", "dtype"), [("", "float32"), (EGG, "float64")], ids=["single", "loops"])
def test_a_simulation_is_the_hosts(egg, dtype):
    model = world(egg=egg)
    cpu, cuda = both(model, dtype, substeps=2)
    assert cuda.device == CUDA and isinstance(cuda.q, DeviceArray) and isinstance(cuda.ctrl, DeviceArray)
    loose = 100 * TOLERANCES[dtype]  # of forces, and of states after several steps
    assert (np.asarray(cuda.sensor("touch")) == 0).all(), "before the first step"
    push = np.linspace(-0.1, 0.1, model.nv).astype(dtype)
    for k in range(3):
        ctrl = np.sin(np.arange(2 * B) + k).reshape(B, 2).astype(dtype)
        for sim in (cpu, cuda):
            own = ctrl if sim is cpu else array(StandardArray, ctrl, 1)
            sim.step(own, tau=(push if sim is cpu else push.tolist()) if k == 1 else None)
        for name in ("q", "v", "act"):
            assert_close(getattr(cuda, name), getattr(cpu, name), loose)
        np.testing.assert_array_equal(np.asarray(cuda.ctrl), ctrl)
        for name in ("angle", "gyro", "clock", "ray", "felt", "touch"):
            assert isinstance(cuda.sensor(name), DeviceArray), name
            assert_close(cuda.sensor(name), cpu.sensor(name), loose if name != "felt" else 10 * loose)
        assert_close(cuda.site("tip"), cpu.site("tip"), loose)
        for name in ("foot", "trunk", "floor"):
            assert_close(cuda.contact_force(name), cpu.contact_force(name), 10 * loose)
        assert np.asarray(cuda.sensor("clock")).max() == pytest.approx(cuda.time) and cuda.time == cpu.time
    assert np.abs(np.asarray(cuda.contact_force("floor"))).max() > 1 and np.asarray(cuda.sensor("touch")).max() > 0.1
    reports = cuda.report(), cpu.report()
    np.testing.assert_array_equal(reports[0].contacts, reports[1].contacts)
    assert reports[1].contacts.max() > 0 and reports[0].iterations.max() > 0
    assert (reports[0].residual < 1e-3).all()
    assert_close(reports[0].gap, reports[1].gap, loose)
    assert_close(cuda.energy()[0], cpu.energy()[0], loose)


def test_resets_and_status():
    model = world()
    cpu, cuda = both(model, "float64")
    for sim in (cpu, cuda):
        sim.contact_force("floor")  # from now on steps keep what it needs
        sim.step()
        sim.v = np.where(np.arange(B)[:, None] == 2, np.nan, np.asarray(sim.v))
        sim.step()
    assert (cuda.status == cpu.status).all() and cuda.status[2] and cuda.status.sum() == 1
    for sim in (cpu, cuda):
        sim.reset(sim.status != 0, key="home")
    key = model.compiled.key("home")
    for ours, theirs in ((cuda.q, key.qpos), (cuda.v, key.qvel), (cuda.act, key.act), (cuda.ctrl, key.ctrl)):
        np.testing.assert_allclose(np.asarray(ours)[2], theirs, rtol=1e-12)
    assert (np.asarray(cuda.contact_force("floor"))[2] == 0).all() and (np.asarray(cuda.sensor("felt"))[2] == 0).all()
    others = np.arange(B) != 2
    assert_close(np.asarray(cuda.contact_force("floor"))[others], cpu.contact_force("floor")[others], 1e-10)
    for sim in (cpu, cuda):
        sim.step()
    for name in ("q", "v", "act", "qacc", "ctrl"):
        assert_close(getattr(cuda, name), getattr(cpu, name), 1e-10)
    assert not cuda.status.any()
    cuda.reset()
    assert (np.asarray(cuda.ctrl) == 0).all() and (np.asarray(cuda.act) == 0).all()


def test_a_keyframe_moves_mocap_bodies():
    m = mujoco.MjModel.from_xml_string("""
    <mujoco>
      <worldbody>
        <body name="table" mocap="true"><geom name="top" type="box" size=".3 .3 .05"/><site name="aim" pos="0 0 .1"/></body>
        <body pos="0 0 .14"><freejoint/><geom size=".1"/></body>
      </worldbody>
      <keyframe><key name="low" qpos="0 0 -.06 1 0 0 0" mpos="0 .1 -.2" mquat="1 0 .1 0"/></keyframe>
    </mujoco>""")
    cpu, cuda = both(fs.from_mujoco(m), "float64")
    for sim in (cpu, cuda):
        sim.reset()
        sim.reset(np.arange(B) % 2 == 0, key="low")
        sim.step(), sim.step()
        sim.contact_force("top")
    assert_close(cuda.q, cpu.q, 1e-10), assert_close(cuda.site("aim"), cpu.site("aim"), 1e-10)
    assert_close(cuda.contact_force("top"), cpu.contact_force("top"), 1e-8)
    assert np.ptp(np.asarray(cpu.site("aim"))[:, 2]) > 0.1 and np.abs(np.asarray(cpu.contact_force("top"))).max() > 1


def test_the_rigid_law_is_there():
    cpu, cuda = both(world(), "float64", law="rigid")
    for sim in (cpu, cuda):
        for _ in range(3):
            sim.step()
    assert_close(cuda.q, cpu.q, 1e-10), assert_close(cuda.v, cpu.v, 1e-9)
    assert_close(cuda.contact_force("floor"), cpu.contact_force("floor"), 1e-8)


def test_a_step_does_not_wait_and_a_graph_does_it_again():
    model = world()
    q, v, act, ctrl = given(model, "float32")
    stream = fs.device.Stream(CUDA)
    cpu = fs.Simulation(model, B)
    sim = fs.Simulation(model, B, device=CUDA, stream=stream.number)
    sim.step()  # takes memory, makes kernels
    for s in (cpu, sim):
        s.reset(q=q, v=v, act=act)
        s.ctrl = ctrl
    graph = stream.capture(lambda: [sim.step() for _ in range(2)])
    stream.synchronise()
    np.testing.assert_array_equal(np.asarray(sim.q), q), "captured, not done"
    for _ in range(2):
        graph.launch()
        for _ in range(2):
            cpu.step()
    assert_close(sim.q, cpu.q, 1e-4), assert_close(sim.v, cpu.v, 1e-3)


def test_none_and_one():
    model = world()
    for n in (0, 1):
        sim = fs.Simulation(model, n, device="cuda", dtype="float64")
        sim.step()
        assert sim.site("tip").shape == (n, 3) and sim.contact_force("foot").shape == (n, 3)
        assert np.asarray(sim.q).shape == (n, model.nq) and np.isfinite(np.asarray(sim.q)).all()
        assert len(sim.report().gap) == n


# rollouts


def cost(x, u, t, p):
    force = x.contact_force("foot")
    return x.site("tip")[2] + 0.1 * x.qpos[1] + x.sensor("angle")[0] ** 2 + 1e-3 * (force @ force) + 0.01 * u[0] ** 2


def begun(model, dtype):
    return np.concatenate(given(model, dtype)[:3], axis=1)


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 2e-2)])
def test_a_rollout_is_the_hosts(integrator, dtype, tolerance):
    model = world(integrator)
    roll = fs.Rollout(model, cost=cost)
    x0, U = begun(model, dtype), np.random.default_rng(0).normal(size=(B, 12, 2)).astype(dtype)
    expected = roll(x0, U, states=True)
    got = roll(array(StandardArray, x0, 1), array(StandardArray, U, 1), states=True)
    _featherstorm.synchronise(1)
    for name in ("states", "costs", "final"):
        ours, theirs = np.asarray(getattr(got, name)), getattr(expected, name)
        assert np.isfinite(theirs).all()
        scale = np.abs(theirs).max()
        assert np.median(np.abs(ours - theirs)) <= 1e-3 * tolerance * scale, name
        assert np.abs(ours - theirs).max() <= tolerance * scale, name
    assert np.asarray(got.states)[:, -1, 1].min() > -0.1, "the ground bears"


def test_a_planner_plans_on_a_device(torch):
    roll = fs.Rollout(world(), cost=cost)
    x0 = begun(roll.model, "float32")
    on_host, on_device = (MPPI(roll, 12, 2, samples=64, sigma=0.5, seed=4) for _ in range(2))
    u = on_device.command(array(Tensor, x0[0].copy()))
    expected = on_host.command(x0[0])
    torch.cuda.synchronize()
    assert np.allclose(u, expected, atol=2e-3) and np.allclose(on_device.U, on_host.U, atol=2e-3)
    assert np.abs(expected).max() > 1e-3


def on(values, number=1):
    return array(StandardArray, np.asarray(values), number)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda s: s.step(np.zeros((B, 2), "f4")), ValueError, "^step: ctrl is on the CPU, expected CUDA device 1 as v is$"),
        (lambda s: s.step(tau=np.zeros((B, 4), "f4")), ValueError, "^step: tau is on the CPU, expected CUDA device 1 as v is$"),
        (lambda s: s.step(on(np.zeros((B, 2), "f4"), 0)), ValueError, "^step: ctrl is on CUDA device 0, expected CUDA device 1 as v is$"),
        (lambda s: s.step(on(np.zeros((B, 2)))), TypeError, "^step: ctrl is float64, expected float32"),
        (lambda s: s.step(on(np.zeros((B, 3), "f4"))), ValueError, r"^step: ctrl has shape \(17, 3\), expected \(17, 2\)$"),
        (lambda s: s.step([1.0, 2.0, 3.0]), ValueError, r"^step: ctrl has shape \(3,\), expected \(17, 2\)$"),
        (lambda s: s.step(tau=on(np.zeros((3, 4), "f4"))), ValueError, r"^step: tau has shape \(3, 4\), expected \(17, 4\)$"),
        (lambda s: setattr(s, "q", on(np.zeros((B, 3), "f4"))), ValueError, r"q has shape \(17, 3\), expected \(17, 4\)"),
        (lambda s: s.q.__setitem__(2, 0), TypeError, r"written whole, by x\[:\] = "),
        (lambda s: fs.step(s.model, s.q, np.zeros((B, 4), "f4"), act=s.act), ValueError, "^step: v is on the CPU, expected CUDA device 1 as q is$"),
        (lambda s: fs.step(s.model, np.zeros((B, 4), "f4"), s.v, act=[0.0]), ValueError, "^step: q is on the CPU, expected CUDA device 1 as v is$"),
        (lambda s: fs.step(s.model, s.q, s.v, act=s.act, ctrl=on(np.zeros((B, 5), "f4"))), ValueError, r"^step: ctrl has shape \(17, 5\), expected \(17, 2\)$"),
    ],
)  # fmt: skip
@needs_fake_cuda
def test_what_is_wrong_is_named(call, error, message):
    sim = fs.Simulation(world(), B, device=CUDA)
    with pytest.raises(error, match=message):
        call(sim)


def test_without_the_compiler_a_step_says_so(monkeypatch):
    monkeypatch.setenv("FEATHERSTORM_NVRTC", "/nowhere/libnvrtc.so")
    model = world.__wrapped__()  # a kept one has its kernels
    q, v, act, _ = given(model, "float32")
    with pytest.raises(ValueError, match="needs a kernel of its own: FEATHERSTORM_NVRTC: /nowhere"):
        fs.step(model, on(q), on(v), act=on(act))
