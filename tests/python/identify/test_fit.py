"""Numbers found by simulation, from logs of MuJoCo C."""

import mujoco
import numpy as np
import pytest
from logged_scenes import BALL, BOX

import featherstorm as fs
from featherstorm.identify import Log, LogNoise, Number, fit

ARM = """
<mujoco><option timestep="0.002" integrator="implicitfast"/>
  <default><joint damping="0.5" frictionloss="0.2" armature="0.02"/><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body pos="0 0 1"><joint name="shoulder" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
      <body pos=".3 0 0"><joint name="elbow" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".03"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="first" joint="shoulder" gear="10"/><position name="second" joint="elbow" kp="20"/></actuator>
  <sensor><actuatorfrc actuator="second"/></sensor>
</mujoco>"""
SUBSTEPS = 5


def compiled(xml):
    return mujoco.MjModel.from_xml_string(xml)


def logged(m, u, qvel=None, readings=False):
    """A log of MuJoCo C under controls (T, nu), each held for SUBSTEPS."""
    d, rows = mujoco.MjData(m), []
    if qvel is not None:
        d.qvel[:] = qvel
    for k in range(len(u) + 1):
        rows.append((d.qpos.copy(), d.qvel.copy(), d.sensordata.copy()))
        for _ in range(SUBSTEPS if k < len(u) else 0):
            d.ctrl[:] = u[k]
            mujoco.mj_step(m, d)
    q, v, sensors = (np.array(x) for x in zip(*rows))
    return Log(q, v, u, readings=sensors if readings else None)


def noisy(log, model, q, v, seed=0):
    rng = np.random.default_rng(seed)
    moved = q * rng.standard_normal(log.v.shape)
    return log._replace(
        q=np.array(fs.integrate(model, log.q, moved, 1.0)), v=log.v + v * rng.standard_normal(log.v.shape)
    )


def waves(T):
    t = np.arange(T) * 0.01
    return np.stack([0.6 * np.sin(5 * t) + 0.3 * np.sin(11 * t), 0.8 * np.sin(7 * t + 1)], axis=1)


TRUE = {
    "dof_damping[shoulder]": 0.8, "dof_damping[elbow]": 0.3, "dof_frictionloss[shoulder]": 0.4,
    "dof_frictionloss[elbow]": 0.15, "dof_armature[shoulder]": 0.05, "dof_armature[elbow]": 0.01,
}  # fmt: skip
JOINTS = [
    Number(f"dof_{x}", j, upper=5) for x in ("damping", "frictionloss", "armature") for j in ("shoulder", "elbow")
]


@pytest.fixture(scope="module")
def arm():
    m = compiled(ARM)
    m.dof_damping[:], m.dof_frictionloss[:], m.dof_armature[:] = [0.8, 0.3], [0.4, 0.15], [0.05, 0.01]
    model = fs.from_mujoco(compiled(ARM))
    return model, m, logged(m, waves(300), readings=True)


def test_damping_friction_and_armature_of_an_exact_log(arm):
    model, _, log = arm
    found = fit(fs.Rollout(model, substeps=SUBSTEPS), log._replace(readings=None), JOINTS)
    assert found.values == pytest.approx(TRUE, rel=1e-6)
    assert found.rank == 6 and found.history[-1] < 1e-12 * found.history[0]
    np.testing.assert_allclose(found.model.parameter("dof_armature"), [0.05, 0.01], rtol=1e-6)


def test_a_noisy_log_gives_numbers_within_their_deviations(arm):
    """1 mrad and 10 mrad/s: without their starts, segments begin at wrong states, and numbers are off by more."""
    model, _, log = arm
    log = noisy(log._replace(readings=None), model, 1e-3, 1e-2)
    roll, noise = fs.Rollout(model, substeps=SUBSTEPS), LogNoise(1e-3, 1e-2)
    found = fit(roll, log, JOINTS, noise=noise, starts=True)
    for name, value in found.values.items():
        assert abs(value - TRUE[name]) < 3.5 * found.deviation[name] and abs(value / TRUE[name] - 1) < 0.03
    np.testing.assert_allclose(found.residual, 1, atol=0.1)
    fixed = fit(roll, log, JOINTS, noise=noise)
    assert fixed.residual.max() > 1.2
    errors = [[abs(f.values[k] - TRUE[k]) / f.deviation[k] for k in TRUE] for f in (found, fixed)]
    assert max(errors[0]) < max(errors[1])


def test_readings_gains_and_masses(arm):
    """A gain of an actuator and a mass, two logs, a sensor among the residuals."""
    model, m, _ = arm
    m = m.__copy__()
    m.actuator_gainprm[1, 0], m.actuator_biasprm[1, 1], m.body_mass[2] = 30, -30, 1.3 * m.body_mass[2]
    logs = [logged(m, waves(150), readings=True), logged(m, -waves(150), readings=True)]
    roll = fs.Rollout(model, substeps=SUBSTEPS, observe=lambda x, u, t, p: x.sensor(0))
    numbers = [
        *JOINTS, Number("actuator_gainprm", "second", lower=1, upper=100), Number("body_mass", 2, lower=0.01),
        Number("actuator_biasprm", "second", column=1, lower=-100, upper=-1),
    ]  # fmt: skip
    # MuJoCo's sensor of a force is that of the last substep's beginning, in both
    found = fit(roll, logs, numbers)
    assert found.values["actuator_gainprm[second]"] == pytest.approx(30, rel=1e-5)
    assert found.values["actuator_biasprm[second:1]"] == pytest.approx(-30, rel=1e-5)
    assert found.values["body_mass[2]"] == pytest.approx(m.body_mass[2], rel=1e-5)
    assert len(found.residual) == 5


def test_friction_of_a_sliding_box():
    """A box that rattles on its corners: a population, compared where friction acts."""
    m, model = compiled(BOX), fs.from_mujoco(compiled(BOX))
    m.geom_friction[:, 0] = 0.35
    log = noisy(logged(m, np.zeros((60, 0)), [2, 0.5, 0, 0, 0, 3]), model, 1e-4, 1e-3)
    far = np.inf
    found = fit(
        fs.Rollout(model, substeps=SUBSTEPS), log, [Number("geom_friction", ("floor", "box"), lower=0.05, upper=2)],
        segment=20, noise=LogNoise([1e-3, 1e-3, far, far, far, 1e-2], far), population=64,
    )  # fmt: skip
    assert found.values["geom_friction[floor,box]"] == pytest.approx(0.35, rel=0.02)


def test_stiffness_and_damping_of_a_bouncing_ball():
    m, model = compiled(BALL), fs.from_mujoco(compiled(BALL))
    m.geom_solref[1] = [0.015, 0.2]
    log = logged(m, np.zeros((120, 0)))
    numbers = [
        Number("geom_solref", "ball", column=k, lower=low, upper=up) for k, low, up in ((0, 0.004, 0.1), (1, 0.05, 1.5))
    ]
    roll = fs.Rollout(model, substeps=SUBSTEPS)
    found = fit(roll, log, numbers)
    assert list(found.values.values()) == pytest.approx([0.015, 0.2], rel=1e-6)
    rough = noisy(log, model, 5e-4, 5e-3)
    found = fit(roll, rough, numbers, noise=LogNoise(5e-4, 5e-3), starts=True)
    assert list(found.values.values()) == pytest.approx([0.015, 0.2], rel=0.03)


def test_an_actuator_with_an_activation():
    m = compiled("""
        <mujoco><option timestep="0.002"/><worldbody>
          <body><joint name="j" axis="0 1 0" damping=".3"/><geom size=".1" pos=".3 0 0"/></body></worldbody>
        <actuator><general name="a" joint="j" dyntype="filter" dynprm=".05" gainprm="3"/></actuator></mujoco>""")
    roll = fs.Rollout(fs.from_mujoco(m), substeps=SUBSTEPS)
    m.actuator_dynprm[0, 0], m.actuator_gainprm[0, 0] = 0.12, 4
    d, rows, u = mujoco.MjData(m), [], np.random.default_rng(0).normal(size=(100, 1))
    for k in range(101):
        rows.append((d.qpos.copy(), d.qvel.copy(), d.act.copy()))
        d.ctrl[:] = u[min(k, 99)]
        mujoco.mj_step(m, d, SUBSTEPS)
    q, v, act = (np.array(x) for x in zip(*rows))
    numbers = [
        Number("actuator_dynprm", "a", lower=0.01, upper=1),
        Number("actuator_gainprm", "a", lower=0.1, upper=10),
    ]
    found = fit(roll, Log(q, v, u, act), numbers)
    assert list(found.values.values()) == pytest.approx([0.12, 4], rel=1e-6)
    with pytest.raises(ValueError, match=r"log 0 has no act, expected the activations \(101, 1\)"):
        fit(roll, Log(q, v, u), numbers)


def test_friction_under_the_rigid_law():
    """The log is that of the same law: MuJoCo has another one."""
    model = fs.from_mujoco(compiled(BOX.replace("0.8", "0.35")))
    start = np.concatenate([model.compiled.qpos0, [2, 0.5, 0, 0, 0, 0]])
    x = np.array(fs.Rollout(model, substeps=SUBSTEPS, law="rigid")(start, np.zeros((1, 40, 0)), states=True).states[0])
    x = np.concatenate([start[None], x])
    roll = fs.Rollout(fs.from_mujoco(compiled(BOX)), substeps=SUBSTEPS, law="rigid")
    number = Number("geom_friction", ("floor", "box"), lower=0.05, upper=2)
    found = fit(roll, Log(x[:, :7], x[:, 7:], np.zeros((40, 0))), [number], segment=5)
    assert found.values[number.name] == pytest.approx(0.35, rel=1e-3)


def test_a_robot_without_a_file():
    """Steps of a tree: damping by a joint's name, a mass by a factor."""
    model = fs.load("double_pendulum")
    name = model.joint_names[0]
    roll = fs.Rollout(model, dt=0.01, substeps=2)
    truth = fs.load("double_pendulum", parameters=("damping", "mass"))
    truth = truth.bind(damping=np.array([0.3, model.damping[1]]), mass=truth.parameter("mass") * [1, 1.5])
    U = np.random.default_rng(0).normal(0, 2, (1, 100, 2))
    x = np.concatenate(
        [np.zeros((1, 4)), np.array(fs.Rollout(truth, dt=0.01, substeps=2)(np.zeros(4), U, states=True).states)[0]]
    )
    numbers = [Number("damping", name, upper=2), Number("mass", model.body_names[2], lower=0.1, upper=10, factor=True)]
    found = fit(roll, Log(x[:, :2], x[:, 2:], U[0]), numbers)
    assert list(found.values.values()) == pytest.approx([0.3, 1.5], rel=1e-6)


def test_what_the_log_does_not_tell_is_said(arm):
    model, _, log = arm
    far = Number("geom_friction", 0, lower=0.1, upper=2)  # of a geom that touches nothing
    found = fit(fs.Rollout(model, substeps=SUBSTEPS), log._replace(readings=None), [*JOINTS, far])
    assert found.rank == 6 and np.isinf(found.deviation[far.name])
    assert found.values["dof_damping[elbow]"] == pytest.approx(0.3, rel=1e-5)


def test_wrong_fits_are_refused(arm):
    model, _, log = arm
    log = log._replace(readings=None)
    roll = fs.Rollout(model, substeps=SUBSTEPS)
    one = [Number("dof_damping", "elbow", upper=5)]
    for wrong, text in (
        (log._replace(q=log.q[:, :1]), r"q of log 0 has shape \(301, 1\), expected \(301, 2\)"),
        (log._replace(u=log.u[:-1]), r"u of log 0 has shape \(299, 2\), expected \(300, 2\)"),
        (
            log._replace(v=np.where(np.arange(301)[:, None] == 7, np.nan, log.v)),
            "v of log 0 is not finite in 1 rows, first row 7",
        ),
        (log._replace(readings=np.zeros((301, 1))), "log 0 has readings if and only if the rollout has `observe`"),
        (Log(log.q[:5], log.v[:5], log.u[:4]), "no log has 20 control steps"),
        ([], "fit: logs are empty"),
    ):
        with pytest.raises(ValueError, match=text):
            fit(roll, wrong, one)
    for message, call in (
        ("no joint 'wrist'", lambda: fit(roll, log, [Number("dof_damping", "wrist")])),
        ("fit: population is 1, expected 0, or 2 or more", lambda: fit(roll, log, one, population=1)),
        ("fit: noise.q is 0, expected positive numbers or infinity", lambda: fit(roll, log, one, noise=LogNoise(0, 1))),
        ("starts needs a noise", lambda: fit(roll, log, one, starts=True)),
        ("lower is 2, upper 1", lambda: Number("dof_damping", lower=2, upper=1)),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(ValueError, match=r"dof_damping\[elbow\] starts at 0.5, expected 1 to 2"):
        fit(roll, log, [Number("dof_damping", "elbow", lower=1, upper=2)])
    with pytest.raises(ValueError, match="a population needs numbers with finite bounds"):
        fit(roll, log, [Number("dof_damping", "elbow")], population=8)
    with pytest.raises(ValueError, match=r"fit: noise.v has shape \(3,\), expected a number or \(2,\)"):
        fit(roll, log, one, noise=LogNoise(1, np.ones(3)))
    with pytest.raises(ValueError, match="IndexError .* a fit has no p"):
        fit(fs.Rollout(model, substeps=SUBSTEPS, control=lambda x, u, t, p: u * p[0]), log, one)
    with pytest.raises(ValueError, match="cannot bind jnt_stiffness: it is zero"):
        fit(roll, log, [Number("jnt_stiffness", "elbow", start=1.0)])


def test_segments_with_late_contacts_lose_their_weight():
    """Feet that land in other steps than the log's leave a local minimum, which Cauchy's cost passes."""
    model = fs.load("go2", world=fs.UrdfWorld(ground=True, motors=True, timestep=0.002))
    m, rng = model.compiled.__copy__(), np.random.default_rng(0)
    m.dof_damping[6:], m.dof_frictionloss[6:], m.geom_friction[:, 0] = 0.1, 0.2, 0.8
    model = fs.from_mujoco(m)
    m.dof_frictionloss[6:] *= rng.uniform(0.5, 2, 12)
    m.geom_friction[:, 0] = 0.6
    d, rows, u, stance = mujoco.MjData(m), [], [], np.tile([0.0, 0.8, -1.6], 4)
    d.qpos[2], d.qpos[7:], phase = 0.33, stance, rng.uniform(0, 2 * np.pi, 12)
    for k in range(61):
        rows.append((d.qpos.copy(), d.qvel.copy()))
        d.ctrl[:] = 60 * (stance + 0.1 * np.sin(0.09 * k + phase) - d.qpos[7:]) - 2 * d.qvel[6:]
        u.append(d.ctrl.copy())
        mujoco.mj_step(m, d, SUBSTEPS)
    q, v = (np.array(x) for x in zip(*rows))
    numbers = [Number("geom_friction", lower=0.1, upper=2)]
    numbers += [Number("dof_frictionloss", 6 + k, lower=0, upper=2) for k in range(12)]
    roll, log = fs.Rollout(model, substeps=SUBSTEPS), Log(q, v, np.array(u[:-1]))
    found = fit(roll, log, numbers, segment=5, robust=True)
    expected = [0.6, *m.dof_frictionloss[6:]]
    assert list(found.values.values()) == pytest.approx(expected, rel=1e-5)
    plain = fit(roll, log, numbers, segment=5, iterations=found.iterations)
    assert np.abs(np.array(list(plain.values.values())) / expected - 1).max() > 0.1
