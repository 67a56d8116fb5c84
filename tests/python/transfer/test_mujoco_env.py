"""MujocoEnv: its steps against those of a batch, its functions against NumPy, and its calls."""

import types

import numpy as np
import pytest

pytest.importorskip("mujoco")

import mujoco
from transfer_tasks import Everything, Seen, steps_beside

import featherstorm as fs
from featherstorm.transfer import MujocoEnv

STEPS = 25
EARLY = 8  # control steps in which no episode has gone its own way


class LiftedCube:
    """PandaPushCube's cube begins a hair above the floor: where it lies on it exactly, rounding says which corners touch."""

    def __call__(self):
        task = fs.tasks.make("PandaPushCube")
        reset = task.reset

        def lifted(m, rng):
            q, v = reset(m, rng)
            q[task.at + 2] += 1e-5
            return q, v

        task.reset = lifted
        return task


def task_of(name):
    needs = {"-v5": "gymnasium", "dm_control/": "dm_control", "Go1": "mjlab", "G1": "mjlab"}
    for part, package in needs.items():
        if part in name:
            import importlib.util

            if importlib.util.find_spec(package) is None:
                pytest.skip(f"no models: pip install {package}")
    return LiftedCube() if name == "PandaPushCube" else lambda: fs.tasks.make(name)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_all_that_functions_see_is_what_the_engine_shows_them(integrator):
    """Sensors, frames, fields, rays, contacts, operations, memory, curricula, pushes, parameters that are drawn and changed."""
    found = steps_beside(lambda: Everything(integrator), 30)
    assert found["obs"] < 1e-8 and found["reward"] < 1e-8 and found["ended"] >= 4, found
    assert max(found["alone"]) < 1e-8


@pytest.mark.parametrize(
    "name",
    [
        "InvertedPendulum-v5", "InvertedDoublePendulum-v5", "Reacher-v5", "Pusher-v5", "Swimmer-v5", "HalfCheetah-v5", "Hopper-v5",
        "Walker2d-v5", "Ant-v5", "Humanoid-v5",
        "dm_control/acrobot-swingup", "dm_control/ball_in_cup-catch", "dm_control/cartpole-swingup", "dm_control/finger-turn_hard",
        "dm_control/hopper-hop", "dm_control/pendulum-swingup", "dm_control/point_mass-hard", "dm_control/reacher-easy",
        "dm_control/walker-run", "dm_control/quadruped-walk",
        "PandaReach", "PandaPushCube", "Go1JoystickFlat", "Go1JoystickTerrain", "G1JoystickFlat", "Go1VelocityFlat",
        "Go1JoystickWaves", "Go2JoystickWaves",
    ],
)  # fmt: skip
def test_a_task_is_the_same_in_mujoco(name):
    """Each step from the engine's state; and episodes on their own while they have not gone apart."""
    found = steps_beside(task_of(name), STEPS)
    assert found["obs"] < 1e-8 and found["reward"] < 1e-8, found
    assert max(found["alone"][:EARLY]) < 1e-7, found["alone"]


def test_steps_on_a_height_field_are_the_same_where_mujocos_search_goes_on():
    """It ends at 1e-6 by default, which a step's velocities show; not where it ends at 1e-12."""

    def exact():
        task = task_of("Go2JoystickRough")()
        scene = task.scene

        def searching():
            m = scene()
            m.opt.ccd_tolerance, m.opt.ccd_iterations = 1e-12, 500
            return m

        task.scene = searching
        return task

    assert steps_beside(task_of("Go2JoystickRough"), 4 * STEPS)["obs"] > 1e-6
    found = steps_beside(exact, 4 * STEPS)
    assert found["obs"] < 1e-7 and found["reward"] < 1e-10, found


def test_an_environment_of_any_number_and_episode_begins_as_in_a_batch():
    """Seeds of 64 bits; the third episode of environment 70001 of them, with the level that it has come to."""
    make, seed, number = Everything, 2**63 + 12345, 70001
    batch = make().batch(1, dtype="float64", threads=1, seed=seed, autoreset="disabled")
    batch.view("env_key")[0, 4:] = number % 2**16, number // 2**16
    for _ in range(3):
        obs, _ = batch.reset()
    env = MujocoEnv(make())
    seen, _ = env.reset(seed=seed, env=number, episode=3, kept={"level": 2})
    np.testing.assert_allclose(seen["critic"], obs["critic"][0], atol=1e-12)
    assert env.memory("level") == 3 == batch.memory("level")[0]
    # and by going on from the first
    env.reset(seed=seed, env=number)
    env.reset()
    seen, _ = env.reset()
    assert env.episode == 3
    np.testing.assert_allclose(seen["critic"], obs["critic"][0], atol=1e-12)


def test_parameters_that_are_drawn_at_the_start_stay():
    class Once(Everything):
        randomise_at = "start"

    env = MujocoEnv(Once())
    env.reset(seed=3, env=1)
    first = env.parameter("body_mass")
    env.reset()
    np.testing.assert_array_equal(env.parameter("body_mass"), first)
    np.testing.assert_array_equal(env.mj_model.body_mass, first)
    env.reset(seed=3, env=2)
    assert (env.parameter("body_mass")[1:] != first[1:]).all()
    assert MujocoEnv(Everything()).mj_model.body_mass[1] == 2  # the file's own


def test_compiled_functions_return_what_numpy_computes():
    """The task's functions called with numbers from mjData, apart from those that draw."""

    class Quiet(Everything):
        def after(self, x, a, m, rng):
            m.last, m.table = a, m.table + np.outer(a, a)

        def observe(self, x, m, rng):
            return super().observe(x, m, types.SimpleNamespace(normal=lambda size: np.zeros(size)))

    env, task, rng = MujocoEnv(Quiet()), Quiet(), np.random.default_rng(2)

    def close(found, wanted):
        flat = np.concatenate([np.ravel(x) for x in wanted]) if isinstance(wanted, (list, tuple)) else wanted
        np.testing.assert_allclose(found, flat, rtol=1e-10, atol=1e-10)

    for episode in range(1, 4):
        env.reset(seed=6, episode=episode)
        while not env.ended:
            a = rng.uniform(-1, 1, 2)
            m = types.SimpleNamespace(**{name: env.memory(name) for name in env.task.memory})
            obs, reward, terminated, _, info = env.step(a)
            x = Seen(env)
            terms = task.reward(x, a, m)
            close(reward, max(0.5 * sum(terms.values()), -40))
            close(list(info["reward_terms"].values()), [0.5 * term for term in terms.values()])
            assert terminated == bool(task.terminate(x, m))
            for name, value in task.metrics(x, a, m).items():
                close(info[name], value)
            task.after(x, a, m, None)
            for group, numbers in task.observe(x, m, None).items():
                close(obs[group], numbers)
            m.ring = env.memory("ring")
        close(env.drive(a), task.actuate(Seen(env), a, m))


def test_a_state_that_runs_away_is_not_reset_by_mujoco():
    env = MujocoEnv(Everything())
    env.reset(seed=4)
    env.mj_data.qvel[0] = 1e9
    while not env.ended:
        *_, info = env.step([0.0, 0.0])
    assert info["non_finite"] or abs(env.q[0]) > 1e5
    env.reset()
    obs, reward, terminated, _, info = env.step([np.nan, 0.0])
    assert (reward, terminated, info["non_finite"]) == (0.0, True, True) and not np.any(obs["critic"])


def test_the_end_of_an_episode_is_told():
    env = MujocoEnv(Everything())
    env.reset(seed=1)
    rewards, done = [], False
    while not done:
        _, reward, terminated, truncated, info = env.step(np.zeros(2))
        rewards.append(reward)
        done = terminated or truncated
    told = info["final_info"]
    assert told["length"] == len(rewards) == env.steps
    assert told["return"] == pytest.approx(sum(rewards))
    assert list(told["reward_terms"]) == ["touch", "force", "rate"] == env.terms
    with pytest.raises(RuntimeError, match=r"Everything: step\(\) before reset\(\)"):
        env.step(np.zeros(2))


def test_joints_whose_inertia_mujoco_keeps_have_that_of_the_drawn_mass():
    """A block on a slide: its mass decides how it falls into a spring, and how it answers a force."""
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body name='b'><joint type='slide' axis='1 0 0'/><geom size='.1' mass='1'/></body></worldbody>"
        "<actuator><motor joint='b' gear='1'/></actuator></mujoco>".replace("<joint ", "<joint name='b' ")
    )

    class Heavy(fs.Env):
        substeps, steps, parameters = 1, 5, ("body_mass",)

        def model(self):
            return fs.from_mujoco(model, "block")

        def randomise(self, rng, p):
            return {"body_mass": 4 * p.body_mass}

        def reward(self, x, a, m):
            return x.qacc[0]

        def observe(self, x, m, rng):
            return x.v

    env = MujocoEnv(Heavy())
    env.reset()
    assert env.step([1.0])[1] == pytest.approx(0.25)


def test_a_robot_without_a_model_file_is_refused():
    class Arm(fs.Env):
        dt = 0.01

        def model(self):
            return fs.load("iiwa14")

        def reward(self, x, a, m):
            return 0.0

        def observe(self, x, m, rng):
            return x.q

    with pytest.raises(ValueError, match=r"Arm: MuJoCo cannot move its robot .*, which has no model file; expected"):
        MujocoEnv(Arm())


def test_a_urdf_in_a_world_is_not_refused():
    class Standing(fs.Env):
        substeps = 2

        def model(self):
            return fs.load("go2", world=True)

        def reward(self, x, a, m):
            return x.position("base")[2]

        def observe(self, x, m, rng):
            return [x.q, x.v]

    found = steps_beside(Standing, 4)
    assert found["obs"] < 1e-9 and found["reward"] < 1e-12


def test_wrong_calls_are_told():
    env = MujocoEnv(Everything())
    env.reset()
    with pytest.raises(ValueError, match=r"step: action has shape \(3,\), expected \(2,\)"):
        env.step(np.zeros(3))
    with pytest.raises(ValueError, match="env is -1, episode 1"):
        env.reset(env=-1)
    with pytest.raises(AttributeError, match="no memory 'lvel'; did you mean level"):
        env.reset(kept={"lvel": 1})
