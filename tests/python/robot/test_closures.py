"""Kinematic loops and coupled joints from Python: how they are given, what is refused, rows on batches, physics."""

import numpy as np
import pytest

import featherstorm as fs
from carrying import PIN, closed, linkage, parallelogram


def test_a_parallelogram_turns_as_one():
    model = parallelogram()
    assert (model.nl, model.n_constraints, model.nu) == (1, 5, 0)
    q = closed(np.linspace(0.4, 2.0, 33))
    v = closed(np.linspace(-1, 1, 33))
    K, _, delta = fs.loop_constraints(model, q, v, rate=0.0)
    assert K.shape == (33, 5, 3)
    assert np.abs(delta).max() < 1e-6
    assert np.abs(np.einsum("nij,nj->ni", K, v)).max() < 1e-6
    tau, f_ext = np.zeros((33, 3)), np.zeros((33, 3, 6))
    a, _, rank = fs.fd_loops(model, q, v, tau, f_ext, rate=0.0, tolerance=1e-11)
    assert np.array_equal(rank, np.full((33, 1), 2.0))
    assert np.allclose(a[:, 1], -a[:, 0]) and np.allclose(a[:, 2], a[:, 0])
    # one freedom: (I_left + I_right + m_top r^2) angle'' = -dV/d angle; the top only shifts
    inertia = sum(m * 0.3**2 / 12 * 1.05 + m * 0.15**2 for m in (1.0, 1.2)) + 0.7 * 0.3**2
    weight = 9.81 * ((1.0 + 1.2) * 0.15 + 0.7 * 0.3)
    assert np.allclose(a[:, 0], -weight * np.cos(q[:, 0]) / inertia, rtol=1e-9)


def test_steps_keep_loops_closed_in_both_precisions_and_without_assembling():
    for dtype, bound in (("float64", 1e-5), ("float32", 1e-4)):
        ends = []
        for assemble in (True, False):
            model = parallelogram(assemble=assemble)
            q = closed(np.linspace(0.4, 2.0, 7)).astype(dtype)
            v = np.zeros_like(q)
            for _ in range(300):
                q, v = fs.loop_step(model, q, v, 1e-3, rate=100.0, tolerance=1e-5, friction_velocity=1.0)
            _, _, delta = fs.loop_constraints(model, q, v, rate=0.0)
            assert np.abs(delta).max() < bound
            assert np.abs(v).max() > 1
            ends.append(q)
        assert np.allclose(*ends, atol=1e-3)


def test_mimic_joints_of_a_file_are_coupled_when_asked():
    free, panda = fs.load("panda"), fs.load("panda", mimic="couple")
    assert free.nu == 0 and "fd_coupled" not in free.ops and free.u_names == ()
    assert panda.nu == 8 and panda.u_names == free.v_names[:8]
    assert not any("mimics" in notice for notice in panda.notices)
    u = np.arange(16.0).reshape(2, 8)
    assert np.array_equal(fs.coupled_velocity(panda, u), np.concatenate([u, u[:, 7:]], axis=1))
    M = fs.crba(panda, np.zeros((2, 9)), packed=True)
    assert fs.coupled_inertia(panda, M).shape == (2, 8, 8)
    same = fs.load("panda", couplings=[fs.Coupling("panda_finger_joint2", {"panda_finger_joint1": 1.0})])
    assert same.u_names == panda.u_names


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: linkage().build(loops=[fs.Loop("top", "rigth", name="pin")]),
            "loop joint 'pin': link 'rigth' does not exist",
        ),
        (
            lambda: linkage().build(loops=[fs.Loop("top", "top", name="pin")]),
            "loop joint 'pin': connects a body with itself",
        ),
        (
            lambda: linkage().build(loops=[fs.Loop("top", "right", "hinge", name="pin")]),
            "'pin': type 'hinge' is unknown; there are: fixed, ",
        ),
        (
            lambda: linkage().build(loops=[fs.Loop("top", "right", rotation=((1, 0, 0), (0, 1, 0), (0, 0, -1)))]),
            "'loop': placement is not a rotation",
        ),
        (lambda: linkage().build(loops=[fs.Loop("top", "right", at=(0, 0))]), "'at': has 2 numbers, expected 3"),
        (lambda: linkage().build(loops=[fs.Loop("top", "right", "helical")]), "parameter is zero"),
        (lambda: linkage().build(couplings=[fs.Coupling("b", {"d": 1})]), "coupling 'b': joint 'd' does not exist"),
        (lambda: linkage().build(couplings=[fs.Coupling("b")]), "coupling 'b': has no driver"),
        (
            lambda: linkage().build(couplings=[fs.Coupling("b", {"a": 1}), fs.Coupling("c", {"b": 1})]),
            "driver 'b' is coupled itself",
        ),
        (lambda: fs.load("iiwa14", loops=[fs.Loop("iiwa_link_9", "")]), "link 'iiwa_link_9' does not exist"),
        (lambda: fs.load("panda", mimic="copy"), "mimic is 'copy', expected 'independent' or 'couple'"),
        (
            lambda: fs.load("panda", mimic="couple", couplings=[fs.Coupling("panda_joint2", {"panda_joint1": 1})]),
            "robot 'panda': its mimic joints are coupled already",
        ),
        (
            lambda: fs.fd_coupled(parallelogram(), *[np.zeros((1, 3))] * 3, np.zeros((1, 3, 6))),
            "fd_coupled: the robot has no coupled joints",
        ),
    ],
)
def test_what_is_wrong_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_built_robot_can_have_both():
    robot = linkage().build(loops=[PIN], couplings=[fs.Coupling("b", {"a": 1.0}), fs.Coupling("c", {"a": -1.0})])
    model = fs.Model(robot, threads=1)
    assert (model.nl, model.nu, model.u_names) == (1, 1, ("a",))
    # the coupling says what the loop says
    q, u, tau, f = closed(np.array([0.9])), np.array([[0.6]]), np.array([[0.3, 0.1, 0.2]]), np.zeros((1, 3, 6))
    v = fs.coupled_velocity(model, u)
    _, a = fs.fd_coupled(model, q, u, tau, f)
    assert np.allclose(a, fs.fd_loops(model, q, v, tau, f, rate=0.0, tolerance=1e-11)[0], rtol=1e-9)
    assert {"fd_loops", "loop_step", "coupled_step"} <= model.ops.keys()
    assert not {"fd_loops", "coupled_step"} & fs.load("go2").ops.keys()
