"""Models of motors in an environment, against plain numpy code beside MuJoCo's passes."""

import mujoco
import numpy as np
import pytest

import featherstorm as fs
from featherstorm.environment import actuators

ARM = """<mujoco><option timestep="0.002"/><worldbody>
  <body><joint name="a" axis="0 1 0" armature=".01"/><geom type="capsule" size=".03" fromto="0 0 0 0 0 -.3"/>
    <body pos="0 0 -.3"><joint name="b" axis="0 1 0" armature=".01"/><geom type="capsule" size=".03" fromto="0 0 0 0 0 -.3"/></body>
  </body></worldbody>
  <actuator><motor joint="a"/><motor joint="b"/></actuator></mujoco>"""
PASSES, STEPS = 4, 30


class Arm(fs.Env):
    """An arm whose actions and motors a test says."""

    dt, actions, clip, steps = 0.002, 2, False, None

    def __init__(self, **members):
        self.__dict__.update(members)

    def model(self):
        return fs.from_mujoco(mujoco.MjModel.from_xml_string(ARM))

    def reward(self, x, a, m):
        return x.ctrl[0]

    def observe(self, x, m, rng):
        return x.q


def beside_mujoco(actuate, expected, memory=(), scale=1.0, begin=None):
    """Runs an environment and MuJoCo with controls expected(pass, action, q, v); both have to stay together."""
    compiled = mujoco.MjModel.from_xml_string(ARM)
    env = Arm(dt=PASSES * 0.002, memory=dict(memory), actuate=actuate).batch(1, dtype="float64", threads=1)
    env.reset()
    if begin:
        begin(env)
    data, rng, torques = mujoco.MjData(compiled), np.random.default_rng(3), []
    for step in range(STEPS):
        a = scale * rng.uniform(-1, 1, 2)
        env.step(a[None])
        for k in range(PASSES):
            data.ctrl = expected(PASSES * step + k, a, data.qpos.copy(), data.qvel.copy())
            torques.append(data.ctrl.copy())
            mujoco.mj_step(compiled, data)
        np.testing.assert_allclose(env.q[0], data.qpos, atol=1e-9)
        np.testing.assert_allclose(env.v[0], data.qvel, atol=1e-8)
    return np.array(torques)


def test_pd_is_clipped_at_its_limit():
    motor = actuators.pd([20.0, 15.0], 0.5, [3.0, 2.0])
    torques = beside_mujoco(
        lambda x, a, m: motor(a, x.q, x.v, 0.1, 0.2),
        lambda k, a, q, v: np.clip(np.array([20, 15]) * (a - q) + 0.5 * (0.1 - v) + 0.2, [-3, -2], [3, 2]),
    )
    assert (np.abs(torques) == [3, 2]).any() and (np.abs(torques) < [3, 2]).any()


def test_a_limit_may_be_infinite_for_some_joints():
    torque = actuators.pd(kp=[100, 100], kd=0, limit=[10, np.inf])

    def observe(x, u, t, p):
        return torque(np.array([1.0, 1.0]), x.q, x.v)

    model = fs.load("double_pendulum")
    result = fs.Rollout(model, 1e-9, observe=observe)(np.zeros(4), np.zeros((1, 1, 2)))
    np.testing.assert_allclose(result.observations[0, 0], [10, 100], rtol=1e-6)


def of_dc_motor(effort, v, saturation, limit, speed):
    """Isaac Lab's DCMotor and mjlab's dc_motor_clip."""
    corner = speed * (1 + limit / saturation)
    clipped = np.clip(v, -corner, corner)
    top, bottom = saturation * (1 - clipped / speed), saturation * (-1 - clipped / speed)
    return np.clip(effort, np.clip(bottom, -limit, None), np.clip(top, None, limit))


def test_the_torque_of_a_dc_motor_falls_with_speed():
    motor = actuators.dc_motor(8.0, 0.1, saturation=6.0, limit=4.0, speed=5.0)
    bounds = []

    def expected(k, a, q, v):
        wanted = 8 * (a - q) - 0.1 * v
        found = of_dc_motor(wanted, v, 6.0, 4.0, 5.0)
        bounds.append(np.stack([found == wanted, np.abs(found) == 4, (np.abs(found) < 4) & (found != wanted)]))
        return found

    beside_mujoco(lambda x, a, m: motor(a, x.q, x.v), expected, scale=2.0)
    assert np.any(bounds, axis=(0, 2)).all()  # free, at the limit, and on the line


@pytest.mark.parametrize("v", [0.0, 3.0, 5.0, 8.0, 9.0, 100.0, -7.0])
def test_the_ends_of_the_torque_speed_line(v):
    """Also beyond the speed where the line crosses the limit."""
    clipped = actuators.torque_speed(6.0, 4.0, 5.0)
    for effort in (-50.0, -1.0, 0.0, 2.0, 50.0):
        assert clipped(effort, v) == pytest.approx(of_dc_motor(effort, v, 6.0, 4.0, 5.0))
    assert clipped(50.0, 100.0) == pytest.approx(-4.0)  # it brakes


@pytest.mark.parametrize("passes", [0, 1, 5])
def test_actions_arrive_late(passes):
    """By passes, not by control steps; until then the first action holds."""
    lag, motor = actuators.delay(0, 5, size=2), actuators.pd(10.0, 0.3)
    given = []

    def expected(k, a, q, v):
        given.append(a)
        return 10 * (given[max(0, k - passes)] - q) - 0.3 * v

    def begin(env):
        env.memory("delay_passes")[:] = passes

    beside_mujoco(lambda x, a, m: motor(lag(m, a), x.q, x.v), expected, lag.memory, begin=begin)


def late(lag, reset, steps):
    """An arm whose actions are late, as the first of an episode's numbers say."""

    def begin(m, rng):
        reset(m, rng)
        return np.zeros(2), np.zeros(2)

    return Arm(memory=lag.memory, steps=steps, reset=begin, actuate=lambda x, a, m: lag(m, a))


def test_each_episode_draws_its_delay():
    lag = actuators.delay(1, 4, size=2)
    env = late(lag, lag.draw, 3).batch(400, seed=2, threads=1)
    env.reset()
    first = np.array(env.memory("delay_passes")[:, 0])
    for _ in range(3):
        env.step(np.zeros((400, 2), np.float32))
    second = np.array(env.memory("delay_passes")[:, 0])
    for passes in (first, second):
        counts = {float(k): int((passes == k).sum()) for k in set(passes.tolist())}
        assert set(counts) == {1, 2, 3, 4} and min(counts.values()) > 60
    assert (first != second).any()


@pytest.mark.parametrize("activation", ["tanh", "relu", "elu", "softsign"])
@pytest.mark.parametrize("order", ["position_velocity", "velocity_position"])
def test_a_network_sees_the_last_passes(activation, order):
    rng = np.random.default_rng(5)
    sizes = [(8, 6), (5, 8), (1, 5)]
    layers = [(rng.normal(size=s) / np.sqrt(s[1]), rng.normal(size=s[0]) / 5) for s in sizes]
    network = actuators.net(layers, 2, 3, activation, 1.5, 0.2, 2.0, order)
    functions = {
        "tanh": np.tanh,
        "relu": lambda x: np.maximum(x, 0),
        "elu": lambda x: np.where(x > 0, x, np.expm1(x)),
        "softsign": lambda x: x / (1 + abs(x)),
    }
    past = []

    def expected(k, a, q, v):
        past.insert(0, (a - q, v))
        seen = [past[min(i, len(past) - 1)] for i in range(3)]
        torques = []
        for joint in range(2):
            errors, rates = [1.5 * e[joint] for e, _ in seen], [0.2 * r[joint] for _, r in seen]
            y = np.array(errors + rates if order == "position_velocity" else rates + errors)
            for k, (w, b) in enumerate(layers):
                y = w @ y + b
                y = functions[activation](y) if k < 2 else y
            torques.append(2.0 * y[0])
        return np.array(torques)

    torques = beside_mujoco(lambda x, a, m: network(m, a, x.q, x.v), expected, network.memory)
    assert np.ptp(torques) > 0.1


def test_an_episode_begins_with_an_empty_memory():
    """After the end of an episode the first action holds again."""
    lag = actuators.delay(2, 2, size=2)
    env = late(lag, lambda m, rng: setattr(m, "delay_passes", 2), 4).batch(1, dtype="float64", threads=1)
    env.reset()
    torques = [float(env.step(np.full((1, 2), 0.1 * k))[1][0]) for k in range(8)]
    np.testing.assert_allclose(torques, [0, 0, 0, 0.1, 0.4, 0.4, 0.4, 0.5], atol=1e-12)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: actuators.pd(-1, 0), "pd: kp is -1"),
        (lambda: actuators.pd(1, np.nan), "pd: kd is nan"),
        (lambda: actuators.dc_motor(1, 1, 0, 1, 1), "saturation is 0"),
        (lambda: actuators.dc_motor(1, 1, 1, 1, 0), "speed is 0"),
        (lambda: actuators.delay(3, 2, 1), "from 3 to 2 passes"),
        (lambda: actuators.delay(0, 2, 0), "of 0 numbers"),
        (lambda: actuators.net([], 1, activation="sine"), "activation is 'sine'"),
        (lambda: actuators.net([], 1, order="v"), "order is 'v'"),
        (lambda: actuators.net([(np.zeros((1, 5)), np.zeros(1))], 1), r"layer 0 has weights \(1, 5\)"),
    ],
)
def test_numbers_that_no_motor_has_are_told(make, told):
    with pytest.raises(ValueError, match=told):
        make()
