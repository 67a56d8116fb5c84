"""Steps of Gymnasium's MuJoCo tasks beside Gymnasium's own: each begins with the state of a step of theirs."""

import inspect
import itertools

import numpy as np
import pytest

import featherstorm as fs

pytest.importorskip("mujoco")
pytest.importorskip("gymnasium.envs.mujoco.mujoco_rendering")  # what all of them import

from gymnasium_episodes import begin, begun_at, environment, episodes, error, errors, free_errors, step_of, steps_from

NAMES = (
    "Ant-v5 HalfCheetah-v5 Hopper-v5 Humanoid-v5 HumanoidStandup-v5 InvertedDoublePendulum-v5 InvertedPendulum-v5 Pusher-v5 Reacher-v5 "
    "Swimmer-v5 Walker2d-v5"
).split()
# within 100 steps
ENDING = ("Ant-v5", "Hopper-v5", "Humanoid-v5", "InvertedDoublePendulum-v5", "InvertedPendulum-v5", "Walker2d-v5")
HUMANOIDS = ("Humanoid-v5", "HumanoidStandup-v5")
# of every number, relative where it is greater than one. What is left is MuJoCo's: its solver stops at a tolerance of 1e-8, its search for
# contacts of cylinders at 1e-6
DOUBLE = 1e-7
# of observations (forces of contacts, where there are any), and of all else: a contact's stiffness times the rounding of a position
SINGLE = {
    "Ant-v5": (3e-4, 1e-5),
    "HalfCheetah-v5": (1e-3, 2e-5),
    "Hopper-v5": (1e-5, 1e-5),
    "Humanoid-v5": (1e-2, 2e-4),
    "HumanoidStandup-v5": (2e-2, 5e-5),
    "InvertedDoublePendulum-v5": (2e-5, 2e-6),
    "InvertedPendulum-v5": (1e-6, 1e-6),
    "Pusher-v5": (2e-5, 1e-6),
    "Reacher-v5": (1e-5, 1e-6),
    "Swimmer-v5": (1e-5, 1e-5),
    "Walker2d-v5": (3e-4, 1e-5),
}
# the humanoids' files name the solver PGS with 50 iterations, which have not converged: its numbers are this far from where they go
UNFINISHED = {"q": 1e-6, "v": 1e-4, "forces": 3e-2, "reward": 1e-5}


@pytest.fixture(scope="module", params=NAMES)
def told(request):
    """A task and 200 steps of Gymnasium's, of two episodes or more."""
    name = request.param
    parts = [episodes(name, 100, seed, converged=name in HUMANOIDS) for seed in (0, 1)]
    return name, {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}


def test_every_number_is_gymnasiums(told):
    name, steps = told
    found = errors(fs.tasks.make(name), steps)
    assert max(found.values()) < DOUBLE, found
    assert steps["terminated"].any() or name not in ENDING


def test_float32_is_as_near_as_it_can_be(told):
    name, steps = told
    found = errors(fs.tasks.make(name), steps, "float32")
    obs, others = SINGLE[name]
    assert found.pop("terminated") == 0
    assert found.pop("obs") < obs
    assert max(found.values()) < others, found


@pytest.mark.parametrize("name", HUMANOIDS)
def test_solvers_that_stop_early_are_near_by(name):
    steps = episodes(name, 100)
    found = steps_from(fs.tasks.make(name), steps)
    ours, theirs = found["obs"], steps["obs"]
    assert error(ours[:, :22], theirs[:, :22]) < UNFINISHED["q"]
    assert error(ours[:, 22:45], theirs[:, 22:45]) < UNFINISHED["v"]
    assert error(ours[:, 45:], theirs[:, 45:]) < UNFINISHED["forces"]
    assert error(found["reward"], steps["reward"]) < UNFINISHED["reward"]


ARGUMENTS = [
    ("InvertedPendulum-v5", {"frame_skip": 4}),
    ("InvertedDoublePendulum-v5", {"healthy_reward": 3.0, "frame_skip": 10}),
    ("Reacher-v5", {"reward_dist_weight": 2.5, "reward_control_weight": 0.3, "frame_skip": 4}),
    ("Pusher-v5", {"reward_near_weight": 1.5, "reward_dist_weight": 0.7, "reward_control_weight": 0.2}),
    ("Pusher-v5", {"xml_file": "pusher.xml"}),
    ("Swimmer-v5", {"forward_reward_weight": 3.0, "ctrl_cost_weight": 0.1, "frame_skip": 2}),
    ("Swimmer-v5", {"exclude_current_positions_from_observation": False}),
    ("HalfCheetah-v5", {"forward_reward_weight": 3.0, "ctrl_cost_weight": 0.3}),
    ("HalfCheetah-v5", {"exclude_current_positions_from_observation": False}),
    ("Hopper-v5", {"healthy_state_range": (-3.0, 3.0), "healthy_reward": 2.0, "ctrl_cost_weight": 0.1}),
    ("Hopper-v5", {"healthy_z_range": (1.1, 1.24), "healthy_angle_range": (-0.3, 0.01), "forward_reward_weight": 2.0}),
    ("Hopper-v5", {"terminate_when_unhealthy": False, "exclude_current_positions_from_observation": False}),
    ("Walker2d-v5", {"healthy_z_range": (1.1, 1.5), "healthy_angle_range": (-0.2, 0.3), "healthy_reward": 2.0}),
    ("Walker2d-v5", {"terminate_when_unhealthy": False, "exclude_current_positions_from_observation": False}),
    ("Walker2d-v5", {"xml_file": "walker2d.xml", "forward_reward_weight": 2.0, "ctrl_cost_weight": 0.1}),
    ("Ant-v5", {"healthy_z_range": (0.4, 0.8), "main_body": "front_left_leg", "contact_cost_weight": 0.1}),
    ("Ant-v5", {"contact_force_range": (-0.2, 3.0), "forward_reward_weight": 2.0, "healthy_reward": 0.5}),
    ("Ant-v5", {"exclude_current_positions_from_observation": False, "include_cfrc_ext_in_observation": False}),
    ("Ant-v5", {"terminate_when_unhealthy": False, "ctrl_cost_weight": 0.1, "main_body": 5, "frame_skip": 2}),
    ("Humanoid-v5", {"include_cinert_in_observation": False, "include_qfrc_actuator_in_observation": False}),
    ("Humanoid-v5", {"include_cvel_in_observation": False, "include_cfrc_ext_in_observation": False}),
    ("Humanoid-v5", {"contact_cost_weight": 1e-4, "contact_cost_range": (0.5, 2.0), "forward_reward_weight": 3.0}),
    ("Humanoid-v5", {"healthy_z_range": (1.3, 1.45), "healthy_reward": 1.0, "ctrl_cost_weight": 0.5}),
    ("Humanoid-v5", {"terminate_when_unhealthy": False, "exclude_current_positions_from_observation": False}),
    ("HumanoidStandup-v5", {"impact_cost_weight": 1e-4, "impact_cost_range": (1.0, 3.0), "ctrl_cost_weight": 0.5}),
    ("HumanoidStandup-v5", {"uph_cost_weight": 3.0, "include_cvel_in_observation": False, "frame_skip": 2}),
    ("HumanoidStandup-v5", {"exclude_current_positions_from_observation": False}),
]


@pytest.mark.parametrize(("name", "arguments"), ARGUMENTS, ids=lambda x: x if isinstance(x, str) else "-".join(x))
def test_arguments_mean_what_they_mean_there(name, arguments):
    steps = episodes(name, 40, converged=name in HUMANOIDS, **arguments)
    found = errors(fs.tasks.make(name, **arguments), steps)
    assert max(found.values()) < DOUBLE, found
    ranges = {"healthy_state_range", "healthy_z_range", "healthy_angle_range"}
    assert steps["terminated"].any() or not ranges & set(arguments)
    plain = environment(name)
    shown = inspect.signature(type(plain).__init__).parameters
    assert all(shown[key].default != value for key, value in arguments.items())


@pytest.mark.parametrize("name", NAMES)
def test_arguments_and_defaults_are_gymnasiums(name):
    import gymnasium

    theirs = dict(inspect.signature(type(environment(name)).__init__).parameters)
    ours = dict(inspect.signature(type(fs.tasks.make(name)).__init__).parameters)
    for other in ("self", "default_camera_config", "kwargs"):
        theirs.pop(other)
    assert ours.pop("max_episode_steps").default == gymnasium.spec(name).max_episode_steps
    assert {k: p.default for k, p in ours.items() if k != "self"} == {k: p.default for k, p in theirs.items()}


@pytest.mark.parametrize("name", NAMES)
def test_sizes_ranges_and_first_observations_are_gymnasiums(name):
    env, seed = environment(name), 3
    obs = begin(env, seed)
    q, v = np.array(env.data.qpos), np.array(env.data.qvel)
    ours = begun_at(fs.tasks.make(name), q, v).batch(2, dtype="float64", threads=1)
    first, _ = ours.reset()
    assert first.shape == (2, *env.observation_space.shape)
    assert error(first[1], obs) < 1e-12
    assert np.allclose(ours.recording.low, env.action_space.low) and np.allclose(
        ours.recording.high, env.action_space.high
    )
    assert np.isclose(ours.dt, env.dt)


def test_the_rails_end_pushes_the_cart():
    name, told = "InvertedDoublePendulum-v5", []
    env = environment(name, converged=True)
    for side, at, speed in itertools.product((1, -1), np.linspace(0.985, 0.993, 9), (0.02, 0.1, 0.3)):
        env.reset()
        env.set_state(side * np.array([at, 0.01, -0.02]), side * np.array([speed, 0.3, 0.1]))
        told.append(step_of(name, env, np.array([0.01 * side])))
    steps = {key: np.stack([x[key] for x in told]) for key in told[0]}
    found = errors(fs.tasks.make(name), steps)
    assert max(found.values()) < DOUBLE, found
    force = np.abs(steps["obs"][:, 8])
    assert ((force > 0) & (force < 10)).sum() >= 10 and (force == 10).any() and (force == 0).any()


# how many steps of an episode go by before the robots' chaos has made rounding visible
FREE = {
    "Ant-v5": 40, "HalfCheetah-v5": 30, "Hopper-v5": 100, "InvertedDoublePendulum-v5": 100, "InvertedPendulum-v5": 100, "Pusher-v5": 50,
    "Reacher-v5": 50, "Swimmer-v5": 300, "Walker2d-v5": 100,
}  # fmt: skip


@pytest.mark.parametrize("name", FREE)
def test_episodes_stay_together(name):
    """Until the episode ends or chaos shows."""
    for seed in (0, 1):
        found = free_errors(name, FREE[name], seed)
        assert found.max() < 1e-6, found.max(axis=0)


def test_episodes_are_truncated_where_gymnasium_does_it():
    task = fs.tasks.make("Reacher-v5")
    env = begun_at(task, np.zeros(4), np.zeros(4)).batch(2, threads=1)
    env.reset()
    still = np.zeros((2, 2), np.float32)
    ends = [env.step(still)[3].any() for _ in range(51)]
    assert np.flatnonzero(ends).tolist() == [49]
    short = begun_at(fs.tasks.make("Reacher-v5", max_episode_steps=3), np.zeros(4), np.zeros(4)).batch(2, threads=1)
    short.reset()
    assert [bool(short.step(still)[3].all()) for _ in range(4)] == [False, False, True, False]


@pytest.mark.parametrize("autoreset", ["same_step", "next_step"])
@pytest.mark.parametrize("name", ["HalfCheetah-v5", "Swimmer-v5"])
def test_velocities_of_a_new_episode_begin_where_it_begins(name, autoreset):
    env = fs.tasks.make(name, max_episode_steps=4).batch(3, dtype="float64", threads=1, autoreset=autoreset)
    env.reset()
    rng, ended, seen = np.random.default_rng(0), np.zeros(3, bool), 0
    for _ in range(12):
        before = np.array(env.q[:, 0])
        _, reward, _, truncated, info = env.step(rng.uniform(-1, 1, (3, env.recording.actions)))
        steps = (
            ~ended if autoreset == "next_step" else ~truncated
        )  # whose state after the step is that of the same episode
        speed = (env.q[:, 0] - before) / env.dt
        assert error(info["x_velocity"][steps], speed[steps]) < 1e-9
        assert error(info["reward_terms"]["reward_forward"][steps], speed[steps]) < 1e-9
        assert (
            error(sum(info["reward_terms"].values()), reward) < 1e-12
        )  # of the step that begins an episode both are zero
        ended, seen = np.array(truncated), seen + steps.sum()
    assert seen < 36 and truncated.all() == (autoreset == "same_step")
