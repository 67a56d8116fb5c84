"""How robots that stand change with their state and controls, beside MuJoCo's differences."""

import mujoco
import numpy as np
import pytest
from velocity_oracle import each, exact

import featherstorm as fs
from featherstorm.tasks.velocity_humanoid import G1JoystickFlat
from featherstorm.tasks.velocity_quadruped import Go1JoystickFlat, Go2JoystickFlat

# Of MuJoCo's differences at this width is left what bends, with the square of the width: 6e-8 of a row's greatest number was found;
# and rounding of a state of size 1, some 1e-16 / 1e-7
WIDTH, BENDS, ROUNDS = 1e-7, 2e-7, 1e-8
# One side agrees with both but for what bends, 1e-4 here; where a contact, a limit or a way of sliding changes over it does not
SIDES = 1e-3


def standing(task, count):
    """The task's model, and data of it on its feet: some just landed and sliding, some at rest."""
    task = exact(task)()
    task.model()  # sets where it begins
    m = task.scene()
    m.opt.ls_iterations, m.opt.ls_tolerance = 100, 1e-12
    rng = np.random.default_rng(0)
    found = []
    for _ in range(count):
        d = mujoco.MjData(m)
        d.qpos[:], d.ctrl[:] = task.start, task.pose + rng.uniform(-0.03, 0.03, m.nu)
        mujoco.mj_step(m, d, int(rng.uniform(0.05, 0.5) / m.opt.timestep))
        found.append(d)
    return m, found


def given_of(states):
    return {name: np.stack([getattr(d, of) for d in states]) for name, of in
            (("q", "qpos"), ("v", "qvel"), ("act", "act"), ("ctrl", "ctrl"), ("qacc", "qacc_warmstart"))}  # fmt: skip


def differences(m, d):
    """A and B of MuJoCo, and how far one side of A is from both."""
    n = 2 * m.nv + m.na
    A, B, of_one_side = np.zeros((n, n)), np.zeros((n, m.nu)), np.zeros((n, n))
    mujoco.mjd_transitionFD(m, d, WIDTH, True, A, B, None, None)
    mujoco.mjd_transitionFD(m, d, WIDTH, False, of_one_side, None, None, None)
    return A, B, np.abs(of_one_side - A).max() / np.abs(A).max()


def agrees(ours, theirs):
    allowed = BENDS * np.abs(theirs).max(1, keepdims=True) + ROUNDS
    return (np.abs(ours - theirs) < allowed).all()


@pytest.mark.parametrize("task", each([Go2JoystickFlat, Go1JoystickFlat, G1JoystickFlat]))
def test_a_robot_that_stands_is_linearized_as_by_differences(task):
    integrator = "Euler" if task is Go2JoystickFlat else "implicitfast"
    m, states = standing(task, 8)
    m.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    ours = fs.linearize(fs.from_mujoco(m), **given_of(states))
    smooth = 0
    for k, d in enumerate(states):
        assert d.ncon >= 4
        A, B, bend = differences(m, d)
        if bend > SIDES:
            continue
        assert agrees(ours.A[k], A), k
        assert agrees(ours.B[k], B), k
        smooth += 1
    assert smooth >= 6


def test_a_robot_without_activations_takes_those_it_has_none_of():
    m, states = standing(Go2JoystickFlat, 3)
    model, given = fs.from_mujoco(m), given_of(states)
    assert given["act"].shape == (3, 0)
    with_none = fs.linearize(model, **given)
    del given["act"]
    without = fs.linearize(model, **given)
    assert np.array_equal(with_none.A, without.A) and np.array_equal(with_none.B, without.B)
