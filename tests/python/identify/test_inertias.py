"""Inertial parameters from logs of joint forces, beside MuJoCo C and closed forms."""

import copy

import numpy as np
import pytest

import featherstorm as fs
from featherstorm import identify


def relative(x, y):
    """Rms of x - y over the rms of y, by columns."""
    return np.sqrt(np.mean((x - y) ** 2, axis=0) / np.mean(y**2, axis=0))


def states(model, n, seed=0):
    q, v = fs.random_state(model, n, seed)
    return q, v, fs.random_state(model, n, seed + 100)[1]


def other(model, seed=0):
    """The robot with other masses."""
    scale = np.random.default_rng(seed).uniform(0.7, 1.3, (model.nb, 1))
    return identify.with_inertias(model, identify.inertial_parameters(model) * scale)


# ---- regressors and base parameters ----


@pytest.mark.parametrize("name", ["panda", "go2", "anymal_c"])
def test_forces_are_linear_in_parameters_of_links(name):
    model = fs.load(name)
    q, v, a = states(model, 20)
    Y = identify.regressor(model, q, v, a, armature=True, viscous=True, coulomb=True, offset=True)
    joints = np.arange(6 if model.quaternions else 0, model.nv)
    numbers = [np.random.default_rng(k).normal(size=len(joints)) for k in range(4)]
    pi = np.concatenate([identify.inertial_parameters(model).ravel(), *numbers])
    expected = np.array(fs.rnea(model, q, v, a)) - model.armature * a
    for number, motion in zip(numbers, (a, v, np.sign(v), np.ones_like(v))):
        expected[:, joints] += number * motion[:, joints]
    np.testing.assert_allclose(Y @ pi, expected, atol=1e-10)
    assert len(identify.base_parameters(model, viscous=True).names) == 10 * model.nb + len(joints)


def test_parameters_of_a_body_with_an_anchor_are_those_of_the_file():
    """Joints with anchors away from the body's origin, two of them at one body, and a turned inertial frame."""
    mujoco = pytest.importorskip("mujoco")
    m = mujoco.MjModel.from_xml_string("""
        <mujoco><worldbody><body pos="0 .1 1" euler="10 20 30">
          <joint pos=".1 .2 .3" axis="1 1 0"/><joint pos="0 -.1 .2" axis="0 0 1"/>
          <inertial pos=".03 .02 -.05" mass="2" fullinertia=".02 .03 .04 .001 .002 .003"/>
        </body></worldbody></mujoco>""")
    model = fs.from_mujoco(m)
    q, v, a = states(model, 10)
    pi = identify.inertial_parameters(model)
    np.testing.assert_allclose(identify.regressor(model, q, v, a) @ pi.ravel(), fs.rnea(model, q, v, a), atol=1e-12)
    np.testing.assert_allclose(pi[-1, :4], [2, 0.06, 0.24, -0.5], atol=1e-12)  # m, m c from the anchor
    found = identify.inertias(model, q, v, a, np.array(fs.rnea(model, q, v, a)))
    np.testing.assert_array_equal(found.parameters[:10], 0)  # the link between the joints has no mass
    np.testing.assert_allclose(identify.with_inertias(model, pi).parameter("com"), model.parameter("com"), atol=1e-12)


def test_identified_numbers_in_mujocos_model():
    """Welded children, anchors away from the origin, a floating base."""
    mujoco = pytest.importorskip("mujoco")
    xml = """
        <mujoco><worldbody><body name="base" pos="0 0 1"><freejoint/><geom size=".1 .2 .05" type="box"/>
          <body pos="0 .1 1" euler="10 20 30"><joint pos=".1 .2 .3" axis="1 1 0" damping=".1"/>
            <inertial pos=".03 .02 -.05" mass="2" fullinertia=".02 .03 .04 .001 .002 .003"/>
            <body pos=".1 0 .2" euler="40 0 0"><geom size=".05 .1" type="capsule"/></body>
          </body></body></worldbody></mujoco>"""
    m = mujoco.MjModel.from_xml_string(xml)
    model = fs.from_mujoco(m)
    q, v, a = states(model, 40)
    tau = np.array(fs.rnea(other(model), q, v, a))
    tau[:, 6:] += 0.7 * v[:, 6:]
    found = identify.inertias(model, q, v, a, tau, viscous=True)
    written = identify.to_mujoco(found.model)
    assert written.dof_damping[6] == pytest.approx(0.7) and written.body_mass[3] == 0
    arm_log = pytest.importorskip("arm_log")
    expected = np.array(fs.rnea(found.model, q, v, a)) + written.dof_damping * v
    np.testing.assert_allclose(arm_log.inverse(written, q, v, a), expected, atol=1e-9)
    np.testing.assert_allclose(expected, tau, atol=1e-6)
    with pytest.raises(ValueError, match="was not made of a model file"):
        identify.to_mujoco(fs.load("ur5"))
    for name in ("position", "upper", "opt_timestep"):
        bound = fs.from_mujoco(m, parameters=(name,))
        with pytest.raises(ValueError, match=f"to_mujoco: {name} is bound, and an MjModel has no array of that name"):
            identify.to_mujoco(bound.bind(**{name: bound.parameter(name)}))
    stranger = copy.copy(found.model)
    vars(stranger)["compiled"] = mujoco.MjModel.from_xml_string(xml.replace('"base"', '"trunk"'))
    with pytest.raises(ValueError, match="has no frame 'trunk', a body of its file"):
        identify.to_mujoco(stranger)


def test_base_parameters_reproduce_the_forces():
    model = fs.load("ur5")
    base = identify.base_parameters(model)
    assert base.rank == 36  # six revolute joints, the first one vertical: Gautier and Khalil 1990
    assert identify.base_parameters(fs.load("ur5", floating_base=True)).rank == 10 + 6 * 7
    q, v, a = states(model, 30, seed=3)
    Y = identify.regressor(model, q, v, a)
    np.testing.assert_allclose(Y[..., base.independent] @ base.combine, Y, atol=1e-9)
    still = identify.base_parameters(model, (q, 0 * v, 0 * a))
    assert still.rank < base.rank  # gravity alone tells less


# ---- an arm logged in MuJoCo C ----


@pytest.fixture(scope="module")
def arm():
    arm_log = pytest.importorskip("arm_log", reason="needs MuJoCo")
    model, compiled = arm_log.nominal()
    truth = arm_log.changed(compiled)
    motion = identify.exciting(model, viscous=True, max_velocity=2.0, iterations=5, period=5.0)
    q, v, a = states(model, 100, seed=9)
    tests = q, v, a, arm_log.inverse(truth, q, v, a)
    rows = motion(np.arange(150) / 30)
    exact = (*rows, arm_log.inverse(truth, *rows))
    return arm_log, model, truth, motion, exact, tests


def predicted(model, q, v, a):
    return np.array(fs.rnea(model, q, v, a)) + model.parameter("damping") * v


def test_an_exact_log_gives_the_robot(arm):
    _, model, truth, _, exact, (q, v, a, tau) = arm
    assert relative(np.array(fs.rnea(model, q, v, a)), tau).min() > 0.1  # the file's numbers are others
    found = identify.inertias(model, *exact, viscous=True)
    assert found.rank == found.base.rank == 36 + 6
    np.testing.assert_allclose(predicted(found.model, q, v, a), tau, atol=1e-6)
    np.testing.assert_allclose(found.model.parameter("damping"), truth.dof_damping, atol=1e-6)
    assert identify.is_physical(found.parameters[:60].reshape(-1, 10)).all()
    assert found.residual.max() < 1e-9


def test_a_noisy_log_gives_the_robot_within_its_deviations(arm):
    """2 % of noise in forces and 0.1 mrad in positions, velocities by differences."""
    arm_log, model, truth, motion, exact, (q, v, a, tau) = arm
    positions, forces = arm_log.driven(truth, motion, 5.0)
    rng = np.random.default_rng(1)
    positions = positions + 1e-4 * rng.standard_normal(positions.shape)
    forces = forces + 0.02 * np.sqrt(np.mean(forces**2, axis=0)) * rng.standard_normal(forces.shape)
    log = identify.differentiate(model, positions, 0.001, tau=forces, cutoff=10.0)
    few = slice(400, -400, 20)
    found = identify.inertias(model, log.q[few], log.v[few], log.a[few], log.tau[few], viscous=True)
    assert relative(predicted(found.model, q, v, a), tau).max() < 0.01
    base = identify.inertias(model, *exact, viscous=True).base_values
    assert np.linalg.norm(found.base_values - base) < 0.005 * np.linalg.norm(base)
    np.testing.assert_allclose(found.model.parameter("damping"), truth.dof_damping, atol=0.05)
    assert identify.is_physical(found.parameters[:60].reshape(-1, 10)).all()


# ---- physical consistency, and what the log does not tell ----


def test_little_data_gives_physical_bodies_which_least_squares_does_not():
    model, rng = fs.load("panda"), np.random.default_rng(0)
    truth = other(model)
    q, v, a = states(model, 12)
    tau = np.array(fs.rnea(truth, q, v, a))
    noisy = tau + 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * rng.standard_normal(tau.shape)
    plain = identify.inertias(model, q, v, a, noisy, consistent=False)
    found = identify.inertias(model, q, v, a, noisy)
    physical = found.parameters.reshape(-1, 10)
    assert not identify.is_physical(plain.parameters.reshape(-1, 10)).all()
    assert identify.is_physical(physical).all()
    inertia = found.model.parameter("inertia")  # about the centre of mass
    principal = np.array(
        [np.linalg.eigvalsh([[i[0], i[1], i[2]], [i[1], i[3], i[4]], [i[2], i[4], i[5]]]) for i in inertia]
    )
    assert (principal > 0).all() and (principal[:, 0] + principal[:, 1] > principal[:, 2]).all()
    new = states(model, 100, seed=5)
    expected = np.array(fs.rnea(truth, *new))
    error = [relative(np.array(fs.rnea(each, *new)), expected).mean() for each in (found.model, plain.model, model)]
    assert error[0] < error[1] and error[0] < error[2]


def test_rank_tells_what_a_log_does_not():
    model = fs.load("ur5")
    q, v, a = states(model, 3)
    few = identify.inertias(model, q, v, a, np.array(fs.rnea(other(model), q, v, a)))
    assert few.rank == 18 < few.base.rank
    still = identify.inertias(model, q, 0 * v, 0 * a, np.array(fs.rnea(other(model), q, 0 * v, 0 * a)))
    assert still.rank < few.rank
    prior = identify.inertial_parameters(model).ravel()
    turned = few.base.names.index("shoulder_link.Ixx")  # of a link that turns about z alone
    assert few.parameters[turned] == pytest.approx(prior[turned], rel=0.01)
    assert few.deviation[turned] > 0.1 * prior[turned]


def test_a_floating_base_and_forces_on_links():
    """Base wrench zero, forces of contacts known: masses of all links, the trunk's too."""
    model, rng = fs.load("go2"), np.random.default_rng(0)
    truth = other(model)
    q, v, a = states(model, 60)
    f_ext = rng.normal(0, 20, (60, model.nb, 6))
    tau = np.array(fs.rnea(truth, q, v, a, f_ext))
    found = identify.inertias(model, q, v, a, tau, f_ext)
    assert found.rank == found.base.rank
    new = states(model, 20, seed=5)
    np.testing.assert_allclose(fs.rnea(found.model, *new), fs.rnea(truth, *new), atol=1e-6)
    assert found.model.parameter("mass").sum() == pytest.approx(truth.parameter("mass").sum(), rel=1e-9)


def test_rotors_and_dry_friction():
    model = fs.load("ur5")
    q, v, a = states(model, 100)
    armature, coulomb = np.linspace(0.1, 0.6, 6), np.linspace(2, 0.5, 6)
    tau = np.array(fs.rnea(other(model), q, v, a)) + armature * a + coulomb * np.sign(v) + 0.3
    found = identify.inertias(model, q, v, a, tau, armature=True, coulomb=True, offset=True)
    np.testing.assert_allclose(found.model.parameter("friction"), coulomb, rtol=1e-6)
    np.testing.assert_allclose(found.parameters[-6:], 0.3, rtol=1e-6)
    # the rotors of the last joints are told apart from links; that of the first one is not
    np.testing.assert_allclose(found.model.parameter("armature")[2:], armature[2:], rtol=1e-5)


def test_wrong_logs_are_refused():
    model = fs.load("ur5")
    q, v, a = states(model, 5)
    tau = np.array(fs.rnea(model, q, v, a))
    bad, pushed = tau.copy(), np.zeros((5, 36))
    bad[3, 2], pushed[2] = np.nan, np.nan
    heavy = fs.load("ur5", parameters=("mass",))
    heavy = heavy.bind(mass=np.ones((5, 6)))

    def inertias(forces=tau, **options):
        identify.inertias(model, q, v, a, forces, **options)

    for message, call in (
        (r"inertias: tau has shape \(5, 5\), expected \(5, 6\)", lambda: inertias(tau[:, :5])),
        ("inertias: the log has no rows", lambda: identify.inertias(model, q[:0], v[:0], a[:0], tau[:0])),
        ("1 of 5 rows are not finite, first row 3", lambda: inertias(bad)),
        ("regularisation is 0", lambda: inertias(regularisation=0)),
        ("inertias: noise is 0, expected positive finite numbers", lambda: inertias(noise=0)),
        (r"inertias: noise has shape \(3,\), expected a number or \(6,\)", lambda: inertias(noise=np.ones(3))),
        ("prior is panda, expected a robot of 6 bodies and 6 coordinates", lambda: inertias(prior=fs.load("panda"))),
        ("inertias: f_ext: 1 of 5 rows are not finite, first row 2", lambda: inertias(f_ext=pushed)),
        (r"regressor: q has shape \(6,\), expected \(B, 6\)", lambda: identify.regressor(model, q[0], v[0], a[0])),
        ("1 of 5 rows are not finite, first row 3", lambda: identify.base_parameters(model, (q, v, bad))),
        ("bound masses that differ between instances", lambda: identify.inertial_parameters(heavy)),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    with pytest.raises(TypeError, match="got stiction, expected armature, viscous, coulomb, offset"):
        identify.regressor(model, q, v, a, stiction=True)
