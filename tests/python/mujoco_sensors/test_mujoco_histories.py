"""Delays and histories of controls and sensors beside MuJoCo's."""

import mujoco
import mujoco.batch as theirs
import numpy as np
import pytest
from batch_agreement import assert_close, model, stirred

import featherstorm as fs
from featherstorm.mujoco import Batch

N = 5
XML = """<mujoco><option timestep="0.01" integrator="{integrator}"/>
  <worldbody><geom type="plane" size="3 3 1"/>
    <body pos="0 0 .3"><joint name="a" axis="0 1 0" damping="0.1"/><geom type="capsule" size=".03 .1" pos=".1 0 0" euler="0 90 0"/><site name="s" pos=".2 0 0"/>
      <body pos=".2 0 0"><joint name="b" axis="0 1 0" range="-1 1" limited="true"/><geom size=".05" pos=".1 0 0"/></body></body></worldbody>
  <actuator>{actuators}</actuator><sensor>{sensors}</sensor></mujoco>"""
DELAYS = {
    "holds": 'nsample="8" delay="0.05"',
    "between": 'nsample="6" delay="0.034"',
    "linear": 'nsample="6" delay="0.034" interp="linear"',
    "cubic": 'nsample="6" delay="0.034" interp="cubic"',
    "one": 'nsample="1" delay="0.02"',
    "early": 'nsample="3" delay="0.1" interp="cubic"',
    "kept": 'nsample="4"',
}
INTERVALS = {
    "every": 'nsample="3" interval="0.035"',
    "late": 'nsample="5" interval="0.02" delay="0.033" interp="linear"',
    "phase": 'nsample="4" interval="0.03 -0.01" delay="0.041" interp="cubic"',
}


def compiled(actuators="", sensors="", integrator="Euler"):
    return model(XML.format(actuators=actuators, sensors=sensors, integrator=integrator))


def both(m, seed=0):
    ours, reference = Batch(m, N, 1, dtype="float64"), theirs.Batch(m, N, 1)
    rows = np.array(reference.state)
    moved = stirred(m, N, seed)
    rows[:, 1 : 1 + m.nq + m.nv] = moved[:, 1 : 1 + m.nq + m.nv]
    reference.state[:] = rows
    ours.set_rows(rows)
    for b in (ours, reference):
        b.bind("sensordata"), b.bind("actuator_force"), b.bind("qfrc_actuator")
    return ours, reference


def assert_same(ours, reference, what=""):
    for name in ("qpos", "qvel", "history", "sensordata", "actuator_force", "time"):
        assert_close(getattr(ours, name), getattr(reference, name), f"{name} {what}")


def driven(ours, reference, count=25):
    rng = np.random.default_rng(4)
    for k in range(count):
        u = rng.normal(size=ours.ctrl.shape)
        ours.ctrl[:], reference.ctrl[:] = u, u
        for b in (ours, reference):
            b.step()
        assert_same(ours, reference, f"step {k}")


@pytest.mark.parametrize("how", DELAYS)
def test_delayed_controls_agree_with_mujoco(how):
    m = compiled(
        f'<motor joint="a" {DELAYS[how]}/><position joint="b" kp="3"/><motor joint="b" ctrllimited="true" ctrlrange="-1 1" {DELAYS[how]}/>'
    )
    ours, reference = both(m)
    driven(ours, reference)
    ours.forward()
    before = np.array(ours.actuator_force)
    ours.ctrl[:, 0] += 5
    ours.forward()
    acts = bool((ours.actuator_force[:, 0] != before[:, 0]).any())
    assert acts == (how == "kept")  # else the newest control does not act yet


@pytest.mark.parametrize("how", {**DELAYS, **INTERVALS})
def test_delayed_sensors_agree_with_mujoco(how):
    words = {**DELAYS, **INTERVALS}[how]
    kinds = (
        'jointpos joint="a"',
        'velocimeter site="s"',
        'accelerometer site="s"',
        'touch site="s"',
        'jointlimitfrc joint="b"',
        "clock",
    )
    m = compiled(
        '<motor joint="a"/><motor joint="b"/>', "".join(f"<{kind} {words}/>" for kind in kinds) + '<gyro site="s"/>'
    )
    driven(*both(m))


@pytest.mark.parametrize("integrator", ["implicitfast", "implicit"])
def test_controls_and_sensors_are_delayed_together(integrator):
    m = compiled(
        f'<motor name="m" joint="a" {DELAYS["linear"]}/>',
        f'<actuatorfrc actuator="m" {DELAYS["cubic"]}/><jointvel joint="a" {INTERVALS["late"]}/>',
        integrator,
    )
    driven(*both(m))


def test_several_steps_at_once_and_rollouts_move_histories_on():
    m = compiled(f'<motor joint="a" {DELAYS["linear"]}/>', f'<jointpos joint="a" {INTERVALS["late"]}/>')
    ours, reference = both(m)
    for b in (ours, reference):
        b.ctrl[:] = np.arange(N)[:, None]
        b.step(nstep=7)
    assert_same(ours, reference)
    U = np.random.default_rng(0).normal(size=(N, 9, 1))
    found = [b.rollout(9, U, record=("qpos", "sensordata", "history")) for b in (ours, reference)]
    for name in found[0]:
        assert_close(found[0][name], found[1][name], name)


def test_resets_and_states_have_histories():
    m = compiled(f'<motor joint="a" {DELAYS["holds"]}/>', f'<jointpos joint="a" {INTERVALS["phase"]}/>')
    ours, reference = both(m)
    driven(ours, reference, 5)
    kept = ours.rows(int(mujoco.mjtState.mjSTATE_FULLPHYSICS))
    for b in (ours, reference):
        b.reset(np.array([1, 3]))
    assert_same(ours, reference)
    driven(ours, reference, 5)
    again = Batch(m, N, 1, dtype="float64")
    again.set_rows(kept, int(mujoco.mjtState.mjSTATE_FULLPHYSICS))
    np.testing.assert_array_equal(again.history, kept[:, -m.nhistory :])


def test_a_time_that_goes_back_fits_a_sample_in():
    m = compiled(f'<motor joint="a" {DELAYS["linear"]}/>', f'<jointpos joint="a" {DELAYS["cubic"]}/>')
    ours, reference = both(m)
    driven(ours, reference, 8)
    for b in (ours, reference):
        b.time[:] = np.array(b.time) - 0.027
    driven(ours, reference, 6)


def test_float32_takes_the_same_samples():
    m = compiled(f'<motor joint="a" {DELAYS["holds"]}/>')
    ours, reference = both(m)
    single = Batch(m, N, 1)
    single.set_rows(ours.rows())
    rng = np.random.default_rng(2)
    force = single.actuator_force
    for _ in range(60):
        u = rng.normal(size=(N, 1))
        for b in (single, reference):
            b.ctrl[:] = u
            b.step()
        assert_close(force, reference.actuator_force, tolerance=1e-5)


def test_what_has_no_histories_says_so():
    m = compiled(f'<motor joint="a" {DELAYS["holds"]}/>', f'<jointpos joint="a" {DELAYS["holds"]}/>')
    with pytest.raises(ValueError, match="delay are not supported under the integrator RK4"):
        Batch(compiled(f'<motor joint="a" {DELAYS["holds"]}/>', integrator="RK4"), 2, 1)
    notices = fs.from_mujoco(m).notices
    assert any("delays of actuators are not supported here, expected featherstorm.mujoco.Batch" in n for n in notices)
