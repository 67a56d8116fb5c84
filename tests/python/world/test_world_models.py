"""What models carry of their worlds: to other processes, with other numbers, or not at all; and what is refused."""

import importlib
import pathlib
import pickle
import sys

import numpy as np
import pytest

import featherstorm as fs
from featherstorm.planning import MPPI

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("mujoco.batch", reason="readings are texts of featherstorm.mujoco, which needs MuJoCo 4")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from face_models import (  # noqa: E402
    CLOSE,
    COUNT,
    FELT,
    MODELS,
    SWING,
    advance,
    compiled,
    contact_force,
    controls,
    leg,
    rows,
    sensed,
    starts,
)


def test_models_travel_with_their_worlds():
    model = fs.from_mujoco(leg())
    other = pickle.loads(pickle.dumps(model))
    roll = [
        fs.Rollout(each, observe=lambda x, u, t, p: [x.sensor("imu"), x.contact_force("floor")])
        for each in (model, other)
    ]
    d = starts(model.compiled)
    x0, U = rows(d, "qpos", "qvel", "act"), controls(model.compiled, 3)
    first, second = (r(x0, U).observations for r in roll)
    np.testing.assert_array_equal(first, second)


def test_what_a_file_does_not_have_is_no_obstacle():
    model = fs.from_mujoco(compiled(SWING))
    assert (model.n_ctrl, model.n_act) == (0, 0)
    d = mujoco.MjData(model.compiled)
    d.qpos[:] = 0.4
    sim = fs.Simulation(model, 1, dtype="float64")
    sim.reset(q=d.qpos)
    result = fs.Rollout(model, cost=lambda x, u, t, p: x.q[0])(np.array([0.4, 0.0]), np.zeros((1, 20, 0)))
    for _ in range(20):
        sim.step()
        mujoco.mj_step(model.compiled, d)
    np.testing.assert_allclose(sim.q[0], d.qpos, **CLOSE)
    np.testing.assert_allclose(result.final[0], [d.qpos[0], d.qvel[0]], **CLOSE)


def test_without_its_world_a_model_is_its_tree():
    model = fs.from_mujoco(leg())
    q, v = fs.random_state(model, 4)
    sim = fs.Simulation(model, 4, dt=1e-3, dtype="float64", ignore="world")
    sim.reset(q=q, v=v)
    tau = np.ones((4, model.nv))
    sim.step(tau)
    ours = fs.step(model, q, v, 1e-3, tau, ignore=("world",))
    np.testing.assert_array_equal(sim.v, ours[1])
    roll = fs.Rollout(model, 1e-3, ignore="world")(np.hstack([q, v]), tau[:, None])
    np.testing.assert_array_equal(roll.final[:, model.nq :], sim.v)
    with pytest.raises(ValueError, match="robot ignores its file's world, and no sensors"):
        sim.sensor("imu")


Z = np.zeros


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: fs.Simulation(m, 2, dt=0.005), ValueError, "Simulation: dt is 0.005, expected a multiple of 0.004, the timestep of robot's file"),
        (lambda m: fs.Simulation(m, 2, dt=0.008, substeps=1), ValueError, "dt is 0.008 in 1 substeps, expected a multiple of 0.004"),
        (lambda m: fs.Rollout(m, substeps=0), ValueError, "Rollout: substeps is 0"),
        (lambda m: fs.Simulation(m, 2, kp=3), TypeError, "^Simulation: kp: a model file's world is stepped by what the file says"),
        (lambda m: fs.Simulation(m, 2).step(q_target=Z(11)), TypeError, "^step: q_target: a model file's world"),
        (lambda m: fs.Simulation(m, 2).step(Z((2, 11))), ValueError, r"ctrl has shape \(2, 11\), expected \(2, 3\)"),
        (lambda m: fs.Simulation(m, 2).step(Z(3), ctrl=Z(3)), TypeError, "step: ctrl is given twice"),
        (lambda m: fs.Simulation(m, 2, ignore="world", dt=1e-3).step(ctrl=Z(3)), TypeError, "step: ctrl: only the step of a model file's world"),
        (lambda m: fs.Simulation(m, 2, ignore="world"), TypeError, "Simulation: dt is missing"),
        (lambda m: fs.Simulation(m, 2, device="cuda:99"), ValueError, "CUDA device 99 (does not exist|cannot be used)"),
        (lambda m: fs.Simulation(m, 2).sensor("imux"), ValueError, "robot has no sensor 'imux'; did you mean imu"),
        (lambda m: fs.Simulation(m, 2).sensor(99), ValueError, "sensor is 99, expected 0 to 9"),
        (lambda m: fs.Simulation(m, 2).contact_force("nothing"), ValueError, "robot has no geom or body 'nothing'"),
        (lambda m: fs.Simulation(m, 2).contact_force("sole", "site"), ValueError, "kind is 'site', expected 'geom' or 'body'"),
        (lambda m: fs.Simulation(m, 2).reset(key="away"), ValueError, "robot has no key 'away'; there are: home"),
        (lambda m: fs.Simulation(fs.load("go2"), 2, 1e-3).reset(key=0), ValueError, "go2 has no world of a model file, and no keyframes"),
        (lambda m: fs.step(m, m.q0, Z(11), 0.004, Z(11), Z(11)), TypeError, "^step: q_target: a model file's world"),
        (lambda m: fs.step(fs.load("cartpole"), Z(2), Z(2), 0.01, ctrl=Z(1)), TypeError, "step: ctrl: only the step of a model file's world"),
        (lambda m: fs.step(fs.load("cartpole"), Z(2), Z(2)), TypeError, "step: dt is missing"),
        (lambda m: fs.Rollout(m)(Z(25), Z((1, 2, 3))), ValueError, r"x0 has shape \(25,\), expected \(1, 24\)"),
        (lambda m: fs.Rollout(m)(x_of(m), Z((1, 2, 4))), ValueError, r"U has 4 controls, expected 3 \(n_ctrl\)"),
        (lambda m: fs.Rollout(m, control=lambda x, u, t, p: x.ctrl)(x_of(m), Z((1, 2, 3))), TypeError, "control makes x.ctrl"),
        (lambda m: fs.Rollout(m, cost=lambda x, u, t, p: x.sensor("eye")[0])(x_of(m), Z((1, 2, 3))), ValueError, "sensor eye is a range finder"),
        (lambda m: MPPI(fs.Rollout(m, control=lambda x, u, t, p: [0, 0, 0]), 5), TypeError, "MPPI: nu is missing"),
        (lambda m: fs.dormand_prince(m, m.q0, Z(11), 0.1), ValueError, "carries world, which dormand_prince does not take: call step, or say ignore"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named(call, error, message):
    with pytest.raises(error, match=message):
        call(fs.from_mujoco(leg()))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: fs.Simulation(m, 2), TypeError, "Simulation: dt is missing: the world of robot's file is left out .option cone: 7"),
        (lambda m: fs.Simulation(m, 2, dt=1e-3).ctrl, ValueError, "the world of robot's file is left out .option cone: 7.*, and no controls"),
        (lambda m: fs.step_vjp(m, m.q0, Z(m.nv), cotangents=[None] * 4), ValueError, "step_vjp: the world of robot's file is left out .option cone: 7"),
    ],
)  # fmt: skip
def test_the_reason_for_a_world_that_is_left_out_is_said(call, error, message):
    m = leg()
    m.opt.cone = 7
    with pytest.raises(error, match=message):
        call(fs.from_mujoco(m))


def test_a_spec_is_compiled():
    spec = mujoco.MjSpec.from_string(SWING)
    model = fs.from_mujoco(spec)
    assert (model.nq, model.has_world) == (fs.from_mujoco(compiled(SWING)).nq, True)
    with pytest.raises(TypeError, match="from_mujoco: compiled is a str, expected mujoco.MjModel or mujoco.MjSpec"):
        fs.from_mujoco(SWING)
    spec.worldbody.add_body().add_joint()
    with pytest.raises(ValueError, match="mass and inertia"):
        fs.from_mujoco(spec)


def x_of(model):
    return np.concatenate([model.compiled.qpos0, Z(model.nv + model.n_act)])


def test_parameters_are_tables_of_the_file(tmp_path):
    path = tmp_path / "leg.xml"
    path.write_text(MODELS["Euler"])
    model = fs.load(path, parameters=("mass",))
    with pytest.raises(
        ValueError, match="leg has the parameters mass, which the step of a model file's world does not take"
    ):
        fs.Simulation(model, 2)
    dry = fs.load(path, parameters=("dof_frictionloss",))
    fs.Simulation(dry, 2).step()
    with pytest.raises(ValueError, match="Rollout: cannot bind dof_frictionloss: it is zero in leg's file"):
        fs.Rollout(dry.bind(dof_frictionloss=np.ones(11)))
    wrong = fs.load(path, parameters=("body_mass",)).bind(body_mass=np.ones((3, 5)))
    with pytest.raises(ValueError, match=r"body_mass has shape \(3, 5\), expected \(2, 5\)"):
        fs.Simulation(wrong, 2)
    fs.Simulation(model, 2, dt=1e-3, ignore="world").step()


VARIED = ("body_mass", "geom_friction", "actuator_gainprm", "opt_gravity")


def test_tables_of_a_file_differ_between_instances(tmp_path):
    path = tmp_path / "leg.xml"
    path.write_text(MODELS["Euler"])
    model, rng = fs.load(path, parameters=VARIED), np.random.default_rng(5)
    values = {
        name: model.parameter(name) * rng.uniform(0.7, 1.3, (COUNT, *model.parameter(name).shape)) for name in VARIED
    }
    values["body_mass"][:, 4] = model.parameter("body_mass")[4]  # of the ball MuJoCo takes dof_M0 in place of the mass
    model = model.bind(**values)
    m, U = leg(), controls(leg(), 6)
    states = starts(m)
    own = []
    for k in range(COUNT):
        other = m.__copy__()
        for name in VARIED:
            table = getattr(other.opt, name[4:]) if name.startswith("opt_") else getattr(other, name)
            table[...] = values[name][k].reshape(table.shape)
        own.append(other)

    def observe(x, u, t, p):
        return [*(x.sensor(name) for name in FELT), x.contact_force("sole"), x.position("foot"), x.site("tip")]

    x0 = rows(states, "qpos", "qvel", "act")
    result = fs.Rollout(model, substeps=2, observe=observe)(x0, U, states=True)
    sim = fs.Simulation(model, COUNT, substeps=2, dtype="float64")
    sim.reset(q=x0[:, : m.nq], v=x0[:, m.nq : m.nq + m.nv], act=x0[:, m.nq + m.nv :])
    first = fs.step(model, sim.q.copy(), sim.v.copy(), ctrl=U[:, 0], act=sim.act.copy(), substeps=2)
    for k in range(6):
        sim.step(U[:, k])
        for other, d, u in zip(own, states, U[:, k]):
            advance(other, [d], [u], 2)
        theirs = rows(states, "qpos", "qvel", "act")
        np.testing.assert_allclose(result.states[:, k], theirs, **CLOSE)
        np.testing.assert_allclose(np.hstack([sim.q, sim.v, sim.act]), theirs, **CLOSE)
        felt = [[*(sensed(m, d, name) for name in FELT), contact_force(m, d, {m.geom("sole").id})] for d in states]
        felt = np.array([np.hstack(x) for x in felt])
        ours = np.hstack([*(sim.sensor(name) for name in FELT), sim.contact_force("sole")])
        for found in (ours, result.observations[:, k, : felt.shape[1]]):
            np.testing.assert_allclose(found, felt, atol=1e-8 * max(1, np.abs(felt).max()))
        np.testing.assert_allclose(result.observations[:, k, -3:], sim.site("tip"), **CLOSE)
        if k == 0:
            np.testing.assert_array_equal(first.v, sim.v)
    assert np.abs(felt).max() > 1


def test_contacts_by_hand_and_a_files_world_are_two_things(tmp_path):
    path = tmp_path / "leg.xml"
    path.write_text(MODELS["Euler"])
    model = fs.load(path, contacts=[fs.Contact("foot", radius=0.03)])
    with pytest.raises(
        ValueError, match="Simulation: leg carries contacts and the file's world, which no operation steps together"
    ):
        fs.Simulation(model, 2)
    assert fs.Simulation(model, 2, ignore="contacts").dt == 0.004
    assert fs.Simulation(model, 2, dt=1e-3, ignore="world").impulse.shape == (2, 1, 3)


def test_a_step_takes_and_returns_arrays_of_jax():
    jax = pytest.importorskip("jax")

    model = fs.from_mujoco(leg())
    q, v = jax.numpy.asarray(np.array([model.compiled.qpos0]), "float32"), jax.numpy.zeros((1, model.nv), "float32")
    act = np.zeros(model.n_act, "float32")
    x = fs.step(model, q, v, ctrl=jax.numpy.zeros(3, "float32"), act=jax.numpy.asarray(act))
    assert all(isinstance(array, jax.Array) for array in (x.q, x.v, x.act, x.qacc))
    np.testing.assert_array_equal(x.v, fs.step(model, np.array(q), np.array(v), act=act).v)


@pytest.mark.parametrize("library", ["numpy", "jax", "torch"])
def test_activations_are_a_part_of_the_state(library):
    module = (
        fs
        if library == "numpy"
        else pytest.importorskip(library) and importlib.import_module(f"featherstorm.{library}")
    )
    of = importlib.import_module("jax.numpy" if library == "jax" else library)
    array = of.as_tensor if library == "torch" else of.asarray
    model = fs.from_mujoco(leg())
    q, v, act = (array(np.zeros((2, n), "f4")) for n in (model.nq, model.nv, model.n_act))
    q = q + array(model.q0.astype("f4"))
    with pytest.raises(ValueError, match=rf"^step: act is missing, expected the activations \(..., {model.n_act}\) of"):
        module.step(model, q, v)
    x = module.step(model, q, v, act=act)
    x = module.step(model, x.q, x.v, act=x.act, qacc=x.qacc)
    assert [y.shape for y in (x.q, x.v, x.act, x.qacc)] == [(2, n) for n in (model.nq, model.nv, model.n_act, model.nv)]
    assert len(x) == 2 and x.q is x[0] and x.v is x[1]
