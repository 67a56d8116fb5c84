"""Batches on a CUDA device whose simulations have models that differ: beside the CPU's."""

import ctypes

import mujoco
import numpy as np
import pytest
from batch_models import FLOATING, PENDULUM
from device_batches import N, assert_close, assert_same, both, compiled, fs_stream, states
from touching_models import legged, linked, linked_numbers, stirred, varied

import fake_cuda
from fake_cuda import CUDA, StandardArray, array, needs_device
from featherstorm._fields.inputs import MOST, OF_STATE, OF_TEXTS, TABLES, is_input
from featherstorm.device import DeviceArray
from featherstorm.mujoco import Batch, SimulationError
from featherstorm.mujoco.device_calls import MOST_MODELS

WARNING = mujoco.mjtWarning
FIELDS = ("xpos", "qacc", "sensordata", "qfrc_constraint", "qfrc_passive", "actuator_force", "M", "energy", "nf")
KINDS = {
    "options": "opt.",
    "bodies": "body_",
    "joints": ("dof_", "jnt_", "qpos"),
    "geoms": "geom_",
    "pairs and equalities": ("pair_", "eq_"),
    "tendons": "tendon_",
    "actuators": "actuator_",
    "sites, cameras, lights": ("site_", "cam_", "light_"),
}
NAMES = {
    kind: [name for name in sorted({*TABLES, *OF_TEXTS} - {*OF_STATE}) if name.startswith(words)]
    for kind, words in KINDS.items()
}
pytestmark = [needs_device, pytest.mark.usefixtures("played_compiler")]


def legged_both(dtype="float64", fields=FIELDS, **options):
    m = legged(**options)
    batches = [Batch(m, N, dtype=dtype, device=device) for device in ("cpu", CUDA)]
    stirred(*batches)
    for b in batches:
        for name in fields:
            b.bind(name)
    return batches


def differ(cpu, cuda, names, seed=2):
    """The same numbers for both; what they are."""
    rng, found = np.random.default_rng(seed), {}
    for name in names:
        found[name] = varied(name, np.array(cpu.expand(name)), rng)
        for b in (cpu, cuda):
            b.expand(name)[...] = found[name]
    return found


# inputs


def test_all_fields_that_are_inputs_have_a_kind():
    assert sorted(name for names in NAMES.values() for name in names) == sorted({*TABLES, *OF_TEXTS} - {*OF_STATE})


@pytest.mark.parametrize("kind", KINDS)
def test_fields_that_differ(kind):
    cpu, cuda = legged_both(cone="elliptic" if kind in ("options", "pairs and equalities") else "pyramidal")
    usual = np.array(cuda.qpos)
    for name, x in differ(cpu, cuda, NAMES[kind]).items():
        ours = cuda.expand(name)
        assert isinstance(ours, DeviceArray) == (x.size > 0 and is_input(cuda.model, name)), name
        assert ours.shape == x.shape, name
        np.testing.assert_array_equal(np.asarray(ours), x.astype(np.asarray(ours).dtype), name)
    for call, tolerance in (
        (lambda b: b.forward(), 1e-12),
        (lambda b: b.step(), 1e-12),
        (lambda b: b.step(nstep=3), 1e-10),
    ):
        call(cpu), call(cuda)
        assert_same(cuda, cpu, FIELDS, tolerance)
    assert np.ptp(np.asarray(cuda.qpos) - usual, axis=0).max() > 1e-6
    assert len(cuda._variants.engines) == 1


@pytest.mark.parametrize(("dtype", "integrator"), [("float32", "Euler"), ("float64", "RK4")])
def test_several_fields_together(dtype, integrator):
    cpu, cuda = legged_both(dtype, ("xpos", "qfrc_passive", "M"), integrator=integrator, density=0)
    names = "opt.gravity opt.timestep body_mass geom_friction dof_damping dof_frictionloss jnt_stiffness actuator_gainprm".split()
    differ(cpu, cuda, names)
    for b in (cpu, cuda):
        b.step()
    assert_same(cuda, cpu, ("xpos", "qfrc_passive", "M"), {"float64": 1e-12, "float32": 1e-4}[dtype])
    for b in (cpu, cuda):  # other numbers, the same kernels
        b.expand("body_mass")[...] = np.array(b.expand("body_mass")) * 1.1
        b.step()
    assert_same(cuda, cpu, ("xpos", "qfrc_passive", "M"), {"float64": 1e-11, "float32": 1e-3}[dtype])
    assert len(cuda._variants.engines) == 1
    np.testing.assert_allclose(cuda.rows()[:, 0], cpu.rows()[:, 0], rtol=1e-12)


def test_as_many_inputs_as_a_kernel_takes():
    cpu, cuda = legged_both(fields=("qacc",))
    names = [name for name in sorted(set(TABLES) - set(OF_STATE)) if is_input(cpu.model, name)][: MOST + 1]
    differ(cpu, cuda, names[:-1])
    assert type(cuda.expand(names[-1])) is np.ndarray
    for b in (cpu, cuda):
        b.step()
    assert_same(cuda, cpu, ("qacc",), 1e-12)


def test_arrays_are_live():
    m = compiled(PENDULUM)
    b = Batch(m, N, device=CUDA)
    mass = b.expand("body_mass")
    assert mass is b.expand("body_mass") and mass.device == int(CUDA[-1]) and mass.dtype == np.float32
    assert b.expanded("body_mass") is mass and b.values("body_mass") is mass and b.values("body_pos") is None
    b.body("hand").mass = np.arange(1.0, N + 1)[:, None]
    np.testing.assert_array_equal(np.asarray(mass)[:, 2], np.arange(1, N + 1))
    np.testing.assert_array_equal(np.asarray(b.body("hand").mass)[:, 0], np.arange(1, N + 1))
    assert b.get_model(3).body_mass[2] == 4
    written = fake_cuda.adopt(StandardArray, mass)
    ctypes.c_float.from_address(written[3:, 2:].ctypes.data).value = 40.0  # by another library
    expected = Batch(m, N)
    for x in (b, expected):
        x.set_rows(states(m))
    b.step()
    expected.expand("body_mass")[:, 2] = [1, 2, 3, 40, 5, 6, 7]
    expected.step()
    assert_close(b.state, expected.state, 1e-4)


def test_a_graph_has_the_numbers_of_its_launch():
    stream = fs_stream()
    m = compiled(PENDULUM)
    b = Batch(m, N, dtype="float64", device=CUDA, stream=stream.number)
    b.bind("xpos")
    damping = b.expand("dof_damping")
    b.step(), b.forward(), b.reset(), b.rollout(2)
    b.set_rows(states(m))
    stream.synchronise()
    graph = stream.capture(lambda: [b.step(nstep=2), b.forward()])  # nothing in it may wait or take memory
    cpu = Batch(m, N, dtype="float64")
    cpu.set_rows(states(m))
    for k in (1, 3):
        x = np.linspace(0, k, N)[:, None] * [1.0, 0.5]
        damping[...] = x
        cpu.expand("dof_damping")[...] = x
        graph.launch()
        cpu.step(nstep=2)
        assert_close(b.state, cpu.state, 1e-12)


def test_which_simulations():
    cpu, cuda = both(PENDULUM, fields=("xpos", "sensordata"))
    differ(cpu, cuda, ["body_mass", "qpos0", "opt.timestep"])
    mask = (np.arange(N) % 3 == 0).astype(float)
    for ids in ([1, 4], mask > 0, None):
        for b in (cpu, cuda):
            b.step(ids, nstep=2), b.forward([2, 5])
        assert_same(cuda, cpu, ("xpos", "sensordata"))
    on = array(StandardArray, mask, 1)
    for b, ids in ((cpu, mask > 0), (cuda, on)):
        b.step(ids), b.reset(ids), b.step()
    assert_same(cuda, cpu, ("xpos", "sensordata"))
    for b in (cpu, cuda):
        b.reset([0, 3], keyframe=[0, -1]), b.step()
    assert_same(cuda, cpu, ("xpos", "sensordata"))
    for b in (cpu, cuda):
        b.reset()
    assert_same(cuda, cpu, ("xpos", "sensordata"))
    assert np.ptp(np.asarray(cuda.qpos), axis=0).min() > 1e-3


def test_bad_simulations_begin_anew_with_their_numbers():
    fields = ("xpos", "qacc", "qfrc_constraint", "actuator_force")
    cpu, cuda = legged_both(fields=fields, integrator="RK4", density=0)
    differ(cpu, cuda, ["body_mass", "qpos0", "opt.timestep", "geom_friction"])
    rows, layout = np.array(cpu.rows()), cpu._memory.layout.columns
    for row, name, x in ((1, "qpos", np.nan), (2, "qvel", np.inf), (3, "qfrc_applied", 1e20), (4, "qvel", 1e11)):
        rows[row, layout[name].start + 1] = x
    for nstep in (1, 3):
        for b in (cpu, cuda):
            b.set_rows(rows)
            b.step(nstep=nstep)
        assert_same(cuda, cpu, fields, 1e-10)
        assert cuda.warning[3, WARNING.mjWARN_BADQACC, 1] == 1 and cuda.warning[1, WARNING.mjWARN_BADQPOS, 1] == 1
        assert not cuda.warning[[0, 5]].any() and np.isfinite(np.asarray(cuda.state)).all()
        np.testing.assert_allclose(cuda.rows()[:, 0], cpu.rows()[:, 0], rtol=1e-12)
    ours, theirs = (b.rollout(3, record=("qpos",))["qpos"] for b in (cuda, cpu))
    assert_close(ours, theirs, 1e-10)


def test_time_of_timesteps_that_change_does_not_drift():
    b = Batch(compiled(PENDULUM), 2, device=CUDA)
    b.step(nstep=100)
    h = np.array([0.001, 0.003], np.float32)
    expected = np.full(2, 100 * b.model.opt.timestep)
    for k in (1, 2):
        b.expand("opt.timestep")[...] = k * h
        b.step(nstep=300)
        expected += 300 * (k * h).astype(float)
    np.testing.assert_allclose(b.rows()[:, 0], expected, rtol=2e-7)
    np.testing.assert_allclose(np.asarray(b.time), expected, rtol=3e-7)


# set_const, engines, whole models


def test_what_is_derived_follows_with_set_const():
    cpu, cuda = legged_both()
    differ(cpu, cuda, ["body_mass", "body_ipos", "qpos0"])
    for ids in ([1, 2], None):
        for b in (cpu, cuda):
            b.set_const(ids)
            b.step(nstep=2)
        assert_same(cuda, cpu, FIELDS, 1e-10)
    for name in ("dof_invweight0", "body_subtreemass"):
        assert_close(cuda.values(name), cpu.values(name), 1e-13)
    assert isinstance(cuda.values("dof_invweight0"), DeviceArray)
    np.testing.assert_allclose(cuda.get_model(4).dof_invweight0, cpu.get_model(4).dof_invweight0)


@pytest.mark.parametrize("drawn", ["anchors", "relative poses", "all"])
def test_equalities_follow_with_set_const(drawn):
    m = linked()
    cpu, cuda = (Batch(m, N, dtype="float64", device=device) for device in ("cpu", CUDA))
    for name, x in linked_numbers(drawn, N).items():
        for b in (cpu, cuda):
            b.expand(name)[...] = x
    for b in (cpu, cuda):
        b.set_const(), b.reset()
        b.qvel[...] = np.linspace(-0.3, 0.3, N)[:, None] * np.ones(m.nv)
        b.step(nstep=2)
    assert_same(cuda, cpu, (), 1e-10)
    assert_close(cuda.values("eq_data"), cpu.values("eq_data"), 1e-13)
    assert np.ptp(cpu.values("eq_data"), axis=0).max() > 1e-3


def test_other_fields_make_engines():
    cpu, cuda = legged_both(fields=("qacc", "xpos"))
    for b in (cpu, cuda):
        condim = b.expand("geom_condim")
        assert type(condim) is np.ndarray
        condim[[1, 4], 1:] = 1
        b.expand("opt.disableflags")[2] |= int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
        b.expand("geom_rgba")[...] = 0.5  # nothing reads it
    differ(cpu, cuda, ["geom_friction"])
    for call in (
        lambda b: b.step(nstep=2),
        lambda b: b.step([0, 2, 4]),
        lambda b: b.forward(),
        lambda b: b.reset([1, 2]),
    ):
        call(cpu), call(cuda)
        assert_same(cuda, cpu, ("qacc", "xpos"), 1e-10)
    mask = (np.arange(N) < 3).astype(float)
    cpu.step(mask > 0), cuda.step(array(StandardArray, mask, 1))
    assert_same(cuda, cpu, ("qacc", "xpos"), 1e-10)
    found = [b.rollout(3, record=("qpos", "qacc")) for b in (cpu, cuda)]
    for name in found[0]:
        assert_close(found[1][name], found[0][name], 1e-10, name)
    assert len(cuda._variants.engines) == 3
    for ours, theirs in zip(cuda.jac(2, np.zeros(3)), cpu.jac(2, np.zeros(3))):
        assert_close(ours, theirs, 1e-10)
    assert_close(cuda.report().gap, cpu.report().gap, 1e-10)


def test_models_of_the_callers():
    models = [compiled(FLOATING.replace('mass="2"', f'mass="{2 + k % 3}"').replace("<option", f'<option timestep="{0.001 * (1 + k % 3)}"')) for k in range(N)]  # fmt: skip
    cpu, cuda = both(FLOATING, fields=("qacc",))
    for b in (cpu, cuda):
        b.set_models(models)
        b.step(nstep=2)
    assert_same(cuda, cpu, ("qacc",), 1e-10)
    np.testing.assert_allclose(cuda.rows()[:, 0], cpu.rows()[:, 0], rtol=1e-12)
    for b in (cpu, cuda):
        b.set_models(None)
        b.step()
    assert_same(cuda, cpu, ("qacc",), 1e-10)


def test_a_simulation_whose_model_cannot_be_stepped_fails_alone():
    cpu, cuda = both(PENDULUM, fields=("xpos",))
    for b in (cpu, cuda):
        b.expand("opt.solver")[3] = 9
        with pytest.raises(SimulationError, match="simulation 3: .*solver") as raised:
            b.step()
        assert raised.value.ids.tolist() == [3] and "solver" in b.error(3)
        assert b.status.tolist() == [0, 0, 0, 1, 0, 0, 0]
    assert_same(cuda, cpu, ("xpos",))


# errors


def expanded(name, value, xml=PENDULUM):
    b = Batch(compiled(xml), N, device=CUDA)
    b.expand(name)[...] = value
    return b


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Batch(legged(), N, device=CUDA).expand("body_mas"), "body_mas is not an expandable MjModel field .did you mean 'body_mass'"),
        (lambda: Batch(legged(), N, device=CUDA).expand("qpos"), r"qpos is an MjData field: use bind\('qpos'\)"),
        (lambda: expanded("opt.timestep", 0).step(), "opt.timestep: some are 0, expected positive numbers"),
        (lambda: expanded("body_mass", np.ones((N, 2))), r"what is assigned has shape \(7, 2\), expected \(7, 4\)"),
        (lambda: expanded("body_mass", array(StandardArray, np.ones((N, 4), "f4"), 0)), "on CUDA device 0, expected CUDA device 1 or the CPU"),
        (lambda: expanded("body_mass", 1).set_models(None), None),
        (lambda: expanded("body_mass", 1).set_models([compiled(PENDULUM)] * N), "fields are per-simulation already"),
        (lambda: many_models().step(), f"^the simulations have more than {MOST_MODELS} different models; each has kernels of its own$"),
    ],
)  # fmt: skip
def test_errors_are_the_hosts(call, message):
    if message is None:
        call()
        return
    with pytest.raises(ValueError, match=message):
        call()


def many_models():
    b = Batch(compiled(PENDULUM), MOST_MODELS + 1, device=CUDA)
    b.expand("opt.iterations")[:] = np.arange(1, MOST_MODELS + 2)
    return b


def test_a_step_that_takes_the_robot_as_data_names_its_reason():
    m = mujoco.MjModel.from_xml_string("""<mujoco><worldbody><geom type="ellipsoid" size=".2 .2 .1"/>
      <body name="foot" pos="0 0 .16"><freejoint/><geom type="capsule" size=".05 .1"/></body></worldbody>
      <actuator><adhesion body="foot" ctrlrange="0 1"/></actuator></mujoco>""")
    with pytest.raises(
        ValueError, match="no step on a CUDA device.*closed form are found by loops.*step it on the CPU"
    ):
        Batch(m, 2, device=CUDA).step()
