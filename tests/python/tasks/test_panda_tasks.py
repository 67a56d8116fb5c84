"""The Panda's tasks against texts of their rewards and observations about MuJoCo's own steps."""

import numpy as np
import pytest
from velocity_oracle import NumpyDraws, Oracle, Rows, exact, nominal, numbers

from featherstorm.tasks.panda import HOME, PandaPushCube, PandaReach

STEPS = 50


def still(task, **members):
    """Without what is drawn."""

    def reset(self, m, rng):
        return self.start, np.zeros(self.nv)

    own = {"noise": 0.0, "randomise": None, "reset": reset, "next_target": lambda self, rng: [0.6, 0.1, 0.2], **members}
    return type(task.__name__, (task,), own)()


def test_reaching_is_as_its_definition_says():
    rng = np.random.default_rng(0)
    env = still(exact(PandaReach), patience=20, nv=9).batch(2, dtype="float64", threads=1)
    env.reset()
    home, targets = np.array(HOME), np.array([[0.4, -0.1, 0.3], [0.5, 0.15, 0.45]])
    env.memory("target")[:] = targets
    sims, last = [Oracle(env.model.compiled, np.array(q)) for q in env.q], np.zeros((2, 7))
    for step in range(STEPS):
        a = rng.uniform(-1, 1, (2, 7))
        obs, reward, terminated, _, info = env.step(a)
        assert not terminated.any()
        for k, sim in enumerate(sims):
            sim.step(home + 0.5 * a[k], 5)
            d = np.linalg.norm(sim.new.site("tcp").xpos - targets[k])
            v = sim.new.qvel[:7]
            change = np.sum((a[k] - last[k]) ** 2)
            expected = -0.2 * d + 0.1 * (1 - np.tanh(d / 0.1)) - 1e-4 * change - 1e-4 * np.sum(v**2)
            assert reward[k] == pytest.approx(0.02 * expected, abs=1e-6)
            assert info["distance"][k] == pytest.approx(d, abs=1e-6)
            if step % 20 == 19:
                targets[k] = [0.6, 0.1, 0.2]
            np.testing.assert_allclose(obs[k], [*(sim.new.qpos[:7] - home), *v, *targets[k], *a[k]], atol=1e-6)
        last = a


def test_motors_are_those_of_menageries_panda():
    """Stiffness and damping within the effort, 1 N m s/rad of damping beside it; the arm's inertia of rotors."""
    m = PandaReach().scene()
    np.testing.assert_array_equal(m.actuator_gainprm[:, 0], [4500, 4500, 3500, 3500, 2000, 2000, 2000])
    np.testing.assert_array_equal(m.actuator_biasprm[:, 1:3], m.actuator_gainprm[:, :1] * [-1, -0.1])
    np.testing.assert_array_equal(m.actuator_forcerange[:, 1], [87] * 4 + [12] * 3)
    assert (m.dof_damping[:7] == 1).all() and (m.dof_armature == 0.1).all() and not m.dof_frictionloss.any()
    np.testing.assert_array_equal(m.actuator_ctrlrange, m.jnt_range[:7])


def test_the_arm_goes_where_its_motors_are_told():
    """Against gravity it stays within 2 cm, its fingers shut."""
    env = still(PandaReach, nv=9).batch(1, threads=1)
    env.reset()
    there = Oracle(env.model.compiled, env.task.start).new.site("tcp").xpos.copy()
    env.memory("target")[:] = there
    for _ in range(100):
        info = env.step(np.zeros((1, 7), np.float32))[4]
    assert info["distance"][0] < 0.02 and np.abs(env.v[0]).max() < 0.01
    assert np.abs(env.q[0, 7:]).max() < 1e-3


def test_pushing_is_as_its_definition_says():
    """The second arm pushes its cube, which lies before its fingers; the third cube falls into its goal."""
    rng = np.random.default_rng(0)
    env = still(exact(PandaPushCube), nv=15).batch(3, dtype="float64", threads=1)
    env.reset()
    env.q[1, 9:11], env.q[2, 9:12] = [0.37, 0.004], [0.7, 0.02, 0.06]
    goals, aims = np.array([[0.7, 0.0], [0.52, 0.0], [0.7, 0.0]]), np.tile(env.task.home, (3, 1))
    env.memory("goal")[:], env.memory("aim")[:] = goals, aims
    sims = [Oracle(env.model.compiled, np.array(q)) for q in env.q]
    low, high = env.model.compiled.jnt_range[:7].T
    pushed, fallen = 0.0, []
    for _ in range(STEPS):
        a = rng.uniform(-0.2, 0.2, (3, 7))
        a[1] = [0, 0.6, 0, 0.8, 0, 0.2, 0]
        obs, reward, terminated, _, info = env.step(a)
        assert not terminated.any()
        for k, sim in enumerate(sims):
            aims[k] = np.clip(aims[k] + 0.04 * a[k], low, high)
            sim.step(aims[k], 5)
            d = sim.new
            tcp, cube = d.site("tcp").xpos, d.qpos[9:12]
            reach = np.linalg.norm(tcp - cube + [0.025, 0, 0])
            push = np.linalg.norm(cube[:2] - goals[k])
            expected = 1 - np.tanh(5 * reach) + (reach < 0.01) * (1 - np.tanh(5 * push))
            there = push < 0.1 and cube[2] < 0.025
            assert reward[k] == pytest.approx(1.0 if there else expected / 3, abs=1e-6)
            assert info["success"][k] == there
            rest = [*tcp, *cube, *(goals[k] - cube[:2]), *d.qvel[9:], *(aims[k] - d.qpos[:7]), there]
            np.testing.assert_allclose(obs[k], [*d.qpos[:7], *d.qvel[:7], *rest], atol=1e-5)
        pushed = max(pushed, sims[1].new.qpos[9] - 0.37)
        fallen.append(info["success"][2])
    assert pushed > 0.02
    assert fallen[0] == 0 and fallen[-1] == 1


def test_what_is_drawn():
    rng = NumpyDraws(2)
    reach, push = PandaReach(), PandaPushCube()
    reach.model()
    m = push.model().compiled
    rows, seen = Rows(reach.memory), []
    for _ in range(300):
        q, v = reach.reset(rows, rng)
        ratio = numbers(q)[[1, 3, 5, 6]] / np.array(HOME)[[1, 3, 5, 6]]
        assert (np.abs(ratio - 1) <= 0.5).all() and not numbers(v).any()
        seen.append(rows.target.copy())
    seen = np.array(seen)
    assert (seen >= reach.low).all() and (seen <= reach.high).all()
    assert (np.ptp(seen, axis=0) > 0.9 * np.subtract(reach.high, reach.low)).all()
    rows, p = Rows(push.memory), nominal(m, push.parameters)
    for _ in range(100):
        q, _ = push.reset(rows, rng)
        q = numbers(q)
        assert (np.abs(q[9:11] - [0.615, 0]) <= 0.1).all() and q[11] == push.half
        assert np.linalg.norm(q[12:]) == pytest.approx(1)
        np.testing.assert_allclose(rows.goal - q[9:11], [0.2, 0])
        drawn = {name: numbers(x) for name, x in push.randomise(rng, p).items()}
        cube = m.body("cube").id
        assert 0.7 <= drawn["body_mass"][cube] / 0.064 <= 1.3
        assert (np.delete(drawn["body_mass"], cube) == np.delete(m.body_mass, cube)).all()
        assert 0.5 <= drawn["geom_friction"][m.geom("cube").id, 0] <= 1.2
