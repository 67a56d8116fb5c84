"""Linearizations beside differences of their steps."""

import numpy as np
import pytest

import featherstorm as fs
from featherstorm._world.linearization import by_differences

DT, WIDTH = 5e-3, 1e-6
LEGS = ("FL", "FR", "RL", "RR")


def standing(count):
    """A Go2 on four declared feet, with states that stand, slide and fall."""
    model = fs.load("go2", contacts=[fs.Contact(f"{leg}_foot", radius=0.022, friction=0.6) for leg in LEGS], sweeps=30)
    rng = np.random.default_rng(1)
    q = np.tile(np.r_[0, 0, 0.29, 1, 0, 0, 0, np.tile([0.0, 0.8, -1.6], 4)], (count, 1))
    q[:, 7:] += 0.05 * rng.normal(size=(count, 12))
    q[-1, 2] += 0.5  # in the air
    v = 0.3 * rng.normal(size=(count, 18))
    target = np.c_[np.zeros((count, 6)), q[:, 7:]]
    return model, q, v, target


def differences(model, q, v, step):
    """A (B, 2 nv, 2 nv) of step(q, v), by both sides."""
    nv, columns = model.nv, []
    for k in range(2 * nv):
        e = np.zeros((len(q), nv))
        e[:, k % nv] = WIDTH
        ends = []
        for sign in (1, -1):
            at = (fs.integrate(model, q, sign * e, 1.0), v) if k < nv else (q, v + sign * e)
            ends.append(step(*at))
        change = fs.difference(model, ends[1][0], ends[0][0])
        columns.append(np.c_[change, ends[0][1] - ends[1][1]] / (2 * WIDTH))
    return np.stack(columns, 2)


def controlled(model, u, step):
    """B (B, 2 nv, nv) of step(u), by both sides."""
    columns = []
    for k in range(model.nv):
        e = np.zeros_like(u)
        e[:, k] = 10 * WIDTH
        (a, va), (b, vb) = (step(u + sign * e) for sign in (1, -1))
        columns.append(np.c_[fs.difference(model, b, a), va - vb] / (20 * WIDTH))
    return np.stack(columns, 2)


def agrees(ours, theirs, tolerance=1e-6):
    return np.abs(ours - theirs).max() < tolerance * np.abs(theirs).max()


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("name", ["cartpole", "panda", "go2"])
def test_a_tree_is_linearized_as_by_differences(name, substeps):
    model = fs.load(name)
    q, v = fs.random_state(model, 3, seed=2, speed=0.5)
    tau = np.random.default_rng(3).normal(size=(3, model.nv))
    found = fs.linearize(model, q, v, DT, tau, substeps)
    assert agrees(found.A, differences(model, q, v, lambda q, v: fs.step(model, q, v, DT, tau, substeps=substeps)))
    assert agrees(found.B, controlled(model, tau, lambda tau: fs.step(model, q, v, DT, tau, substeps=substeps)))
    alone = fs.linearize(model, q[0], v[0], DT, tau[0], substeps)
    assert np.allclose(alone.A, found.A[0], atol=1e-12) and np.allclose(alone.B, found.B[0], atol=1e-12)


@pytest.mark.parametrize("substeps", [1, 2])
def test_declared_contacts_are_linearized_as_by_differences(substeps):
    model, q, v, target = standing(4)
    numbers = {"kp": 30.0, "kd": 1.0}
    found = fs.linearize(model, q, v, DT, substeps=substeps, q_target=target, **numbers)

    def step(q, v, target=target):
        return fs.step(model, q, v, DT, q_target=target, substeps=substeps, **numbers)

    assert agrees(found.A, differences(model, q, v, step), 1e-5)
    assert agrees(found.B, controlled(model, target, lambda target: step(q, v, target)), 1e-5)
    free = fs.linearize(model, q, v, DT, substeps=substeps, q_target=target, ignore="contacts", **numbers)
    assert np.allclose(free.A[-1], found.A[-1], atol=1e-9) and not np.allclose(free.A[0], found.A[0], atol=1e-2)


LEG = """
<mujoco>
  <option timestep="0.005" integrator="{integrator}" cone="elliptic"/>
  <worldbody>
    <geom type="plane" size="1 1 .1"/>
    <body pos="0 0 .3">
      <freejoint/>
      <geom type="box" size=".1 .05 .05" mass="2"/>
      <body pos=".05 0 0">
        <joint name="hip" axis="0 1 0" damping=".1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".3"/>
        <geom type="sphere" pos="0 0 -.22" size=".03" mass=".1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="hip" gear="2"/></actuator>
</mujoco>
"""


def on_its_foot(integrator):
    mujoco = pytest.importorskip("mujoco")
    model = fs.from_mujoco(mujoco.MjModel.from_xml_string(LEG.format(integrator=integrator)))
    q = np.tile([0, 0, 0.249, 1, 0.02, 0.05, -0.03, 0.1], (3, 1))
    q[:, 3:7] /= np.linalg.norm(q[0, 3:7])
    q[1, 2] += 0.3  # in the air
    v = np.array([[0.3, 0.1, -0.1, 0.2, -0.1, 0.3, 0.5]] * 3)
    v[2, :2] = 1.0, -0.5  # slides
    return model, q, v, np.array([[0.3], [-0.2], [0.1]])


@pytest.mark.parametrize(
    ("integrator", "law"), [("discrete", "mujoco"), ("Euler", "rigid"), ("implicitfast", "planning")]
)
def test_what_has_no_derivatives_is_linearized_by_differences(integrator, law):
    model, q, v, ctrl = on_its_foot(integrator)
    found = fs.linearize(model, q, v, ctrl=ctrl, substeps=2, law=law)

    def step(q, v, u=ctrl):
        return fs.step(model, q, v, ctrl=u, substeps=2, law=law)[:2]

    assert agrees(found.A, differences(model, q, v, step), 1e-5)
    assert found.B.shape == (3, 14, 1) and (np.abs(found.B).max(1) > 1e-3).all()
    assert np.abs(found.A[0] - found.A[1]).max() > 1  # a contact acts
    alone = fs.linearize(model, q[2], v[2], ctrl=ctrl[2], substeps=2, law=law)
    assert np.allclose(alone.A, found.A[2], atol=1e-9)


def test_bound_parameters_are_those_of_their_instance_by_differences():
    model, q, v, ctrl = on_its_foot("Euler")
    model = fs.from_mujoco(model.compiled, parameters=("dof_damping",))
    damping = np.asarray(model.parameter("dof_damping")) * np.array([[1.0], [3.0], [1.0]])
    found = fs.linearize(model.bind(dof_damping=damping), q, v, ctrl=ctrl, law="rigid")
    one = fs.linearize(model.bind(dof_damping=damping[1]), q[1], v[1], ctrl=ctrl[1], law="rigid")
    assert np.allclose(found.A[1], one.A, atol=1e-9)
    assert np.abs(found.A[1] - fs.linearize(model, q[1], v[1], ctrl=ctrl[1], law="rigid").A).max() > 1e-3


def test_mujocos_law_is_linearized_as_by_differences_of_its_steps():
    model, q, v, ctrl = on_its_foot("implicitfast")
    exact = fs.linearize(model, q, v, ctrl=ctrl)
    other = by_differences(model, {"q": q, "v": v, "ctrl": ctrl}, None, None, None)
    assert agrees(other.A, exact.A, 1e-5) and agrees(other.B, exact.B, 1e-5)


def test_an_instance_that_is_not_finite_spoils_no_other():
    model, q, v, target = standing(2)
    v[0] = np.nan
    found = fs.linearize(model, q, v, DT, q_target=target, kp=30.0, kd=1.0)
    assert np.isnan(found.A[0]).any() and np.isfinite(found.A[1]).all()
    model, q, v, ctrl = on_its_foot("Euler")
    v[0] = np.nan
    found = fs.linearize(model, q, v, ctrl=ctrl, law="rigid")
    assert np.isnan(found.A[0]).any() and np.isfinite(found.A[1:]).all()


def test_bound_parameters_are_those_of_their_instance():
    model = fs.load("go2", parameters=("mass",))
    q, v = fs.random_state(model, 2, seed=4, speed=0.5)
    masses = np.asarray(model.parameter("mass")) * np.array([[0.7], [1.4]])
    found = fs.linearize(model.bind(mass=masses), q, v, DT)
    for k in range(2):
        one = fs.linearize(model.bind(mass=masses[k]), q[k : k + 1], v[k : k + 1], DT)
        assert np.allclose(found.A[k], one.A[0], atol=1e-12)
    assert not np.allclose(found.B[0], fs.linearize(fs.load("go2"), q, v, DT).B[0])


def test_no_instance_has_no_linearization():
    model, q, v, ctrl = on_its_foot("Euler")
    found = fs.linearize(model, q[:0], v[:0], ctrl=ctrl[:0], law="rigid")
    assert found.A.shape == (0, 14, 14) and found.B.shape == (0, 14, 1)
    found = fs.linearize(fs.load("go2"), np.zeros((0, 19)), np.zeros((0, 18)), DT)
    assert found.A.shape == (0, 36, 36) and found.B.shape == (0, 36, 18)


def test_messages():
    world, q, v, ctrl = on_its_foot("Euler")
    cart, rest, three, four = fs.load("cartpole"), np.zeros(2), np.zeros((3, 2)), np.zeros((4, 2))
    for error, message, call in (
        (ValueError, r"v has shape \(2, 7\), expected \(3, 7\)", lambda: fs.linearize(world, q, v[:2], ctrl=ctrl)),
        (ValueError, "linearize: law is 'hard'", lambda: fs.linearize(world, q, v, ctrl=ctrl, law="hard")),
        (TypeError, "linearize: dt is missing", lambda: fs.linearize(cart, rest, rest)),
        (
            ValueError,
            r"linearize: v has shape \(3, 2\), expected \(4, 2\)",
            lambda: fs.linearize(cart, four, three, DT),
        ),
        (TypeError, "ctrl: only the step of a model file's", lambda: fs.linearize(cart, rest, rest, DT, ctrl=rest)),
        (TypeError, "linearize: erp is for contact_step", lambda: fs.linearize(cart, rest, rest, DT, erp=0.1)),
    ):
        with pytest.raises(error, match=message):
            call()
