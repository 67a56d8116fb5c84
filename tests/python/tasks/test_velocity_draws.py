"""What the quadrupeds' tasks draw: their functions, which are numpy code, with numpy's random numbers."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from velocity_oracle import NEEDS_MJLAB, NumpyDraws, Rows, nominal, numbers

from featherstorm.tasks.velocity_quadruped import Go1JoystickFlat
from featherstorm.tasks.velocity_rough import Go1JoystickRough
from featherstorm.tasks.velocity_terrain import KINDS, LEVELS, Go1JoystickTerrain

pytestmark = NEEDS_MJLAB
MANY = 600
REACH = np.array([1.5, 0.8, 1.2])


def prepared(task):
    task = task()
    return task, task.model().compiled, NumpyDraws(7)


def spread_over(x, low, high):
    """Uniform numbers of at least MANY rows: within their ends, near both, and their mean in the middle."""
    assert (x >= low - 1e-9).all() and (x <= high + 1e-9).all()
    wide = np.broadcast_to(np.subtract(high, low), x.shape[1:])
    assert (x.min(axis=0) < low + 0.03 * wide).all() and (x.max(axis=0) > high - 0.03 * wide).all()
    np.testing.assert_allclose(
        x.mean(axis=0), np.broadcast_to(np.add(low, high) / 2, x.shape[1:]), atol=0.06 * wide.max()
    )


def test_episodes_begin_as_the_definition_says():
    task, _, rng = prepared(Go1JoystickFlat)
    found = []
    for _ in range(MANY):
        m = Rows(task.memory)
        q, v = map(numbers, task.reset(m, rng))
        yaw = 2 * np.arctan2(q[6], q[3])
        assert q[2] == 0.278 and (q[4:6] == 0).all() and (q[7:] == task.stance).all() and (v[6:] == 0).all()
        found.append([*q[:2], yaw, *v[:6], *m.command, *m.renew])
    found = np.array(found)
    spread_over(found[:, :2], -0.5, 0.5)
    spread_over(found[:, 2:3], -3.14, 3.14)
    spread_over(found[:, 3:9], -0.5, 0.5)
    spread_over(found[:, 9:12], -REACH, REACH)
    wait = found[:, 12]
    assert (wait == np.round(wait)).all() and (wait >= 0).all()
    assert wait.mean() == pytest.approx(250, rel=0.2) and wait.std() == pytest.approx(250, rel=0.2)


def test_a_new_command_keeps_half_of_its_numbers():
    """Of the others 0.9, 0.25, 0.5 are not zero."""
    task, _, rng = prepared(Go1JoystickFlat)
    old = np.array([9.0, 9.0, 9.0])
    new = np.array([numbers(task.next_command(rng, old)) for _ in range(MANY)])
    np.testing.assert_allclose((new == 9).mean(axis=0), 0.5, atol=0.08)
    np.testing.assert_allclose((new == 0).mean(axis=0), [0.05, 0.375, 0.25], atol=0.06)
    drawn = np.abs(new[(new != 9).all(axis=1)])
    assert (drawn <= REACH).all() and (drawn.max(axis=0) > 0.9 * REACH).all()


def test_parameters_are_those_of_the_definition():
    task, m, rng = prepared(Go1JoystickFlat)
    p = nominal(m, task.parameters)
    drawn = [task.randomise(rng, p, None) for _ in range(MANY)]
    of = {name: np.array([numbers(d[name]) for d in drawn]) for name in task.parameters}
    assert {name: x.shape[1:] for name, x in of.items()} == {n: getattr(m, n).shape for n in task.parameters}
    floor, trunk = m.geom("floor").id, m.body("trunk").id
    spread_over(of["geom_friction"][:, floor, :1], 0.4, 1.0)
    others = np.delete(np.arange(m.ngeom), floor)
    assert (of["geom_friction"][:, others] == m.geom_friction[others]).all()
    spread_over(of["dof_frictionloss"][:, 6:] / m.dof_frictionloss[6:], 0.9, 1.1)
    spread_over(of["dof_armature"][:, 6:] / m.dof_armature[6:], 1.0, 1.05)
    assert not of["dof_armature"][:, :6].any() and not of["dof_frictionloss"][:, :6].any()
    spread_over(of["body_ipos"][:, trunk] - m.body_ipos[trunk], -0.05, 0.05)
    legs = [b for b in range(1, m.nbody) if b != trunk]
    assert (of["body_ipos"][:, legs] == m.body_ipos[legs]).all()
    spread_over(of["body_mass"][:, legs] / m.body_mass[legs], 0.9, 1.1)
    mass = of["body_mass"][:, trunk]
    assert (np.abs(mass - m.body_mass[trunk]) < 1 + 0.1 * m.body_mass[trunk]).all() and mass.std() == pytest.approx(
        np.hypot(1 / np.sqrt(3), 0.1 * m.body_mass[trunk] / np.sqrt(3)), rel=0.15
    )
    spread_over(of["qpos0"][:, 7:] - m.qpos0[7:], -0.05, 0.05)
    assert (of["qpos0"][:, :7] == m.qpos0[:7]).all()


def test_noise_is_that_of_the_definition():
    task, _, rng = prepared(Go1JoystickFlat)
    clean = {
        "linvel": np.ones(3),
        "gyro": np.zeros(3),
        "gravity": np.ones(3),
        "joint_pos": np.ones(12),
        "joint_vel": np.zeros(12),
    }
    seen = [task.noisy(rng, clean) for _ in range(MANY)]
    for name, wide in {"linvel": 0.1, "gyro": 0.2, "gravity": 0.05, "joint_pos": 0.03, "joint_vel": 1.5}.items():
        spread_over(np.array([numbers(s[name]) for s in seen]), clean[name] - wide, clean[name] + wide)


def test_rocks_lie_elsewhere():
    task, m, rng = prepared(Go1JoystickRough)
    p = nominal(m, task.parameters)
    places = np.array([numbers(task.randomise(rng, p, None)["geom_pos"]) for _ in range(MANY)])
    spread_over(places[:, m.geom("floor").id, :2], -2, 2)
    assert (places[:, m.geom("floor").id, 2] == 0).all()
    assert (places[:, 1:] == m.geom_pos[1:]).all()


def ground_of(task, m, drawn):
    floor = m.geom("floor").id
    place, size, quat = (numbers(drawn[n]) for n in ("geom_pos", "geom_size", "geom_quat"))
    return quat[floor], place[task.boxes], size[task.boxes]


def test_grounds_are_of_all_kinds_and_as_hard_as_their_level():
    task, m, rng = prepared(Go1JoystickTerrain)
    p = nominal(m, task.parameters)
    kinds, top = [], {}
    for _ in range(200):
        rows = Rows(task.memory)
        rows.levels[:] = [2, 4, 6, 8]
        drawn = task.randomise(rng, p, rows)
        quat, place, size = ground_of(task, m, drawn)
        k = int(rows.kind[0])
        kinds.append(k)
        friction = numbers(drawn["geom_friction"])[:, 0]
        assert (friction[task.boxes] == friction[m.geom("floor").id]).all()
        heights = place[:, 2] + size[:, 2]
        if KINDS[k] == "slope":
            found = np.tan(2 * np.arccos(quat[0])) / 0.4
            np.testing.assert_allclose(np.hypot(*rows.rise[1:]), 0.4 * found, rtol=1e-9)
        elif KINDS[k] == "obstacles":
            found = (heights.max() - 0.05) / 0.2  # of the highest, which is at most the bound
            away, half = np.abs(place[:, :2]), size[:, :2]
            assert (np.max(away - half, axis=1) >= 1.5 - 1e-9).all() and (away <= 4.0).all()  # a square of 3 m is flat
            assert (half >= 0.5).all() and (half <= 1.0).all()
            low = np.abs(heights - heights.max()) > 1e-9
            np.testing.assert_allclose(heights[low], heights.max() / 2)
        else:
            step = heights.min()
            np.testing.assert_allclose(np.unique(np.round(heights / step, 6)), 1 + np.arange(8 if k == 2 else 4))
            found = (step - 0.05) / 0.18
        assert (np.abs(quat[1:]).max() > 0) == (k == 0) and (heights.max() > 0) == (k > 0)
        assert rows.rise[0] == pytest.approx(heights.max() if k == 2 else 0)
        top.setdefault(k, []).append(found)
    np.testing.assert_allclose(np.bincount(kinds) / len(kinds), 0.25, atol=0.12)
    for k, (low, found) in enumerate(zip((0.2, 0.4, 0.6, 0.8), (top[k] for k in range(4)))):
        assert max(found) <= low + 0.1 + 1e-9
        assert KINDS[k] == "obstacles" or min(found) >= low - 1e-9


@pytest.mark.parametrize(
    ("walked", "level", "then"),
    [
        ((0, 0, 0, 0), 3, 3),  # no episode yet
        ((8, 10, 5, 0), 3, 4),
        ((8, 10, 1, 0), 3, 3),  # it did not come far
        ((6, 10, 5, 0), 3, 3),
        ((4, 10, 5, 0), 3, 2),
        ((8, 10, 5, 1), 3, 2),  # it fell
        ((0, 1, 0, 1), 0, 0),
        ((8, 10, 5, 0), 9, None),
    ],
)
def test_levels_go_up_and_down(walked, level, then):
    task, _, rng = prepared(Go1JoystickTerrain)
    seen = set()
    for _ in range(60):
        m = Rows(task.memory)
        m.levels[:], m.kind[:], m.walked[:] = [1, level, 1, 1], 1, walked
        found = numbers(task.next_levels(m, rng))
        assert found[[0, 2, 3]].tolist() == [1, 1, 1]
        seen.add(float(found[1]))
    assert seen == ({float(then)} if then is not None else set(map(float, range(LEVELS))))
