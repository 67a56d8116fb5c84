"""Derivatives of a world's step beside differences of it, and beside MuJoCo's differences of its own."""

import functools

import contact_models
import mujoco
import numpy as np
import pytest
from compare import prepared
from compare_contacts import close_states
from touching_models import hard_feet

import featherstorm as fs
from featherstorm import _featherstorm

# of what is left of a difference of second order, beside the greatest number of the instance's derivatives
DIFFERENCES = 2e-5
WIDTH = 1e-7
ARM = """<mujoco><option integrator="{integrator}" timestep="0.01" cone="{cone}" {option}/>
  <worldbody><geom type="plane" size="5 5 1" friction=".8 .004 .0001"/><site name="wall" pos="1 0 .3"/>
    <body pos="0 0 .17"><freejoint/><geom type="box" size=".2 .15 .1" mass="3"/><site name="hook" pos=".2 0 0"/>
      <body pos=".3 0 0"><joint name="hip" type="ball" damping=".2" range="0 .4" limited="true"/>
        <geom type="capsule" contype="0" size=".04 .1" pos=".1 0 -.06" euler="0 90 0" mass=".5"/>
        <body pos=".22 0 0"><joint name="knee" axis="0 1 0" damping=".3" stiffness="2" frictionloss=".05" armature=".01"
            range="-.3 .3" limited="true"/><geom type="sphere" contype="0" size=".05" pos="0 0 -.11" mass=".4"/></body></body>
      <body pos="-.3 0 0"><joint name="tail" axis="0 1 0" damping=".1"/><geom type="cylinder" contype="0" size=".05 .06"
        pos="-.05 0 -.08" mass=".4"/></body></body></worldbody>
  <tendon><spatial name="rope" stiffness="30" springlength=".2" damping=".5"><site site="wall"/><site site="hook"/></spatial></tendon>
  <equality><joint joint1="knee" joint2="tail" polycoef="0 .5 0 0 0"/></equality>
  <actuator><position joint="knee" kp="20" kv="1"/><general joint="tail" dyntype="filter" dynprm=".1" gainprm="2"
    biastype="affine" biasprm="0 -1 -.2"/></actuator></mujoco>"""
INTEGRATORS = ["Euler", "implicitfast", "implicit", "RK4"]


def arm(integrator="Euler", cone="pyramidal", option=""):
    return mujoco.MjModel.from_xml_string(ARM.format(integrator=integrator, cone=cone, option=option))


def settled(m, count, seed=0, least=30, most=150):
    """States that MuJoCo comes to from random ones near the floor, with controls of the last step."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        d = mujoco.MjData(m)
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv) * 0.2, 0.5)
        d.qvel[:], d.ctrl[:] = rng.normal(size=m.nv) * 0.5, rng.uniform(-0.5, 0.5, m.nu)
        for _ in range(rng.integers(least, most)):
            mujoco.mj_step(m, d)
        found.append(d)
    return found


def arrays_of(m, states, rng):
    """What a step takes, of states; forces at the joints besides."""
    given = {of: np.stack([getattr(d, name) for d in states]) for of, name in
             (("q", "qpos"), ("v", "qvel"), ("act", "act"), ("ctrl", "ctrl"), ("qacc", "qacc_warmstart"))}  # fmt: skip
    return {**given, "tau": rng.normal(size=(len(states), m.nv)) * 0.1}


def stepped(model, given, substeps=1):
    rest = {name: given[name] for name in ("act", "ctrl", "qacc", "tau")}
    return fs.step(model, given["q"], given["v"], substeps=substeps, **rest)


def moved(m, given, name, way, by):
    if name != "q":
        return {**given, name: given[name] + by * way}
    q = given["q"].copy()
    for x, w in zip(q, way):
        mujoco.mj_integratePos(m, x, w, by)
    return {**given, "q": q}


def difference_along(m, model, given, name, way, width, substeps):
    """(q, v, act) of the next state [1 / width], and where both sides agree: nothing changes over to another piece there."""
    at = [stepped(model, moved(m, given, name, way, by), substeps) for by in (-width, 0, width)]
    low, middle, high = (np.concatenate([x.q, x.v, x.act], 1) for x in at)
    slope, bend = (high - low) / (2 * width), (high - 2 * middle + low) / width
    size = np.abs(slope).max(1)
    return slope, (np.abs(bend).max(1) < 1e-3 * np.maximum(size, 1e-3)) & (size > 0)


def compare(m, model, states, substeps=1, seed=0, tangents=True, width=WIDTH, allowed=DIFFERENCES, least=0.7):
    """Cotangents and tangents beside central differences of the step, along random ways of each input."""
    rng = np.random.default_rng(seed)
    given = arrays_of(m, states, rng)
    count, at = len(states), {name: x for name, x in given.items() if name not in ("q", "v")}
    bars = [rng.normal(size=(count, n)) for n in (m.nq, m.nv, m.na)]
    found = fs.step_vjp(model, given["q"], given["v"], bars, substeps=substeps, **at)
    smooth, asked = 0, 0
    for name in ("q", "v", "act", "ctrl", "tau"):
        if not given[name].size:
            continue
        way = rng.normal(size=(count, m.nv) if name == "q" else given[name].shape)
        slope, is_smooth = difference_along(m, model, given, name, way, width, substeps)
        rate = (moved(m, given, name, way, width)[name] - moved(m, given, name, way, -width)[name]) / (2 * width)
        by_hand = np.einsum("bi,bi->b", np.concatenate(bars, 1), slope)
        size = np.linalg.norm(np.concatenate(bars, 1), axis=1) * np.linalg.norm(slope, axis=1)
        wrong = np.abs(np.einsum("bi,bi->b", getattr(found, name), rate) - by_hand) / size
        assert not is_smooth.any() or wrong[is_smooth].max() < allowed, name
        if tangents:
            ways = [rate if name == other else None for other in ("q", "v", "act", "ctrl", "tau")]
            along = fs.step_jvp(model, given["q"], given["v"], ways, substeps=substeps, **at)
            wrong = np.abs(np.concatenate(along[:3], 1) - slope).max(1) / np.abs(slope).max(1)
            assert not is_smooth.any() or wrong[is_smooth].max() < allowed, name
        smooth, asked = smooth + is_smooth.sum(), asked + count
    assert smooth >= least * asked, "differences were smooth nowhere"
    return given, found


@pytest.fixture(params=["contacts found", "all candidates"])
def either_form(request, monkeypatch):
    """Both of the forms that derivatives have (docs/decisions/55-derivatives-through-contacts.md)."""
    made = functools.partial(_featherstorm.gradient_sequence, all_candidates=request.param == "all candidates")
    monkeypatch.setattr(_featherstorm, "gradient_sequence", made)


@pytest.mark.usefixtures("either_form")
@pytest.mark.parametrize(
    ("integrator", "cone"), [*((name, "pyramidal") for name in INTEGRATORS), ("Euler", "elliptic"), ("RK4", "elliptic")]
)
def test_derivatives_of_a_step_are_those_of_differences(integrator, cone):
    m = arm(integrator, cone)
    states = settled(m, 16)
    assert sum(d.ncon > 0 for d in states) >= 12
    compare(m, fs.from_mujoco(m), states)


@pytest.mark.usefixtures("either_form")
def test_derivatives_of_several_passes_are_those_of_differences():
    m = arm()
    compare(m, fs.from_mujoco(m), settled(m, 8), substeps=3)


PAIRS = [name for name, _ in contact_models.pairs() if name.endswith(("-1", "-2"))]


@pytest.mark.parametrize("name", PAIRS)
def test_every_pair_of_shapes_has_derivatives(name):
    m = prepared(mujoco.MjModel.from_xml_string(dict(contact_models.models())[name]), 0)
    loops = any(shape in name for shape in ("mesh", "hfield", "ellipsoid", "cylinder"))
    states = []
    for q in close_states(m, 12):
        d = mujoco.MjData(m)
        d.qpos[:] = q
        d.qvel[:] = np.random.default_rng(len(states)).normal(size=m.nv) * 0.3
        states.append(d)
    # loops find points to some digits, and their derivatives by differences
    bounds = {"width": 1e-5, "allowed": 1e-4, "least": 0.9} if loops else {"allowed": 1e-4, "least": 0.3}
    compare(m, fs.from_mujoco(m), states, **bounds)


def test_cotangents_and_tangents_of_a_robot_with_many_candidates_are_transposed():
    env = fs.tasks.make("Go1JoystickFlat").batch(16, seed=0, dtype="float64")
    env.reset(seed=0)
    rng = np.random.default_rng(0)
    for _ in range(30):
        env.step(rng.uniform(-1, 1, (16, 12)))
    model = env.model
    given = {
        "q": np.array(env.q),
        "v": np.array(env.v),
        "ctrl": np.array(model.q0)[7:] + rng.normal(size=(16, 12)) * 0.3,
    }
    names = ("q", "v", "act", "ctrl")
    tangents = [rng.normal(size=given[name].shape) if name in given else None for name in names]
    bars = [rng.normal(size=given[name].shape) for name in ("q", "v")]
    back, on = fs.step_vjp(model, cotangents=bars, **given), fs.step_jvp(model, tangents=tangents, **given)
    ours = sum((getattr(back, name) * x).sum(1) for name, x in zip(names, tangents) if x is not None)
    theirs = sum((x * y).sum(1) for x, y in zip(bars, on))
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8 * np.abs(theirs).max())


@pytest.mark.usefixtures("either_form")
@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_what_lengthens_a_quaternion_counts_for_nothing(integrator):
    m = arm(integrator)
    model, rng = fs.from_mujoco(m), np.random.default_rng(0)
    given = arrays_of(m, settled(m, 6), rng)
    at = {name: x for name, x in given.items() if name not in ("q", "v")}
    length = np.zeros((6, m.nq))
    for first in (3, 7):  # of the free joint and of the ball
        length[:, first : first + 4] = given["q"][:, first : first + 4]
    assert all(np.abs(x).max() < 1e-9 for x in fs.step_jvp(model, given["q"], given["v"], [length], **at))
    bars = [rng.normal(size=(6, n)) for n in (m.nq, m.nv, m.na)]
    back = fs.step_vjp(model, given["q"], given["v"], bars, **at).q
    assert np.abs((back * length).sum(1)).max() < 1e-9 * np.abs(back).max()


def test_contacts_that_are_as_deep_are_told_apart():
    box = '<body pos="{} 0 {}"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
    bodies = "".join(box.format(x, z) for x, z in ((0, 0.0995), (0.03, 0.299)))
    m = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{bodies}</worldbody></mujoco>'
    )
    model, rng = fs.from_mujoco(m), np.random.default_rng(0)
    q, v = np.tile(m.qpos0, (8, 1)), rng.normal(size=(8, m.nv)) * 0.05
    assert fs.step(model, q, v).qacc.any()
    bars, ways = ([rng.normal(size=(8, n)) for n in (m.nq, m.nv)] for _ in range(2))
    back, on = fs.step_vjp(model, q, v, bars), fs.step_jvp(model, q, v, ways)
    ours, theirs = ((x * a).sum(1) + (y * b).sum(1) for x, y, a, b in ((back.q, back.v, *ways), (on.q, on.v, *bars)))
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8 * np.abs(theirs).max())
    ends = [fs.step(model, q, v + by * ways[1]) for by in (-WIDTH, WIDTH)]
    slope = [(high - low) / (2 * WIDTH) for low, high in zip(*(x[:2] for x in ends))]
    along = fs.step_jvp(model, q, v, [None, ways[1]])
    for x, by_hand in zip(along, slope):
        np.testing.assert_allclose(x, by_hand, rtol=0, atol=1e-5 * np.abs(by_hand).max())


def test_a_linearization_is_mujocos():
    m = arm("implicitfast")
    model = fs.from_mujoco(m)
    states = settled(m, 12)
    given = {name: np.stack([getattr(d, of) for d in states]) for name, of in
             (("q", "qpos"), ("v", "qvel"), ("act", "act"), ("ctrl", "ctrl"), ("qacc", "qacc_warmstart"))}  # fmt: skip
    ours = fs.linearize(model, **given)
    m.opt.tolerance, m.opt.iterations = 0, 200
    close = 0
    for k, d in enumerate(states):
        n = 2 * m.nv + m.na
        A, B, back = np.zeros((n, n)), np.zeros((n, m.nu)), np.zeros((n, n))
        mujoco.mjd_transitionFD(m, d, 1e-7, True, A, B, None, None)
        mujoco.mjd_transitionFD(m, d, 1e-7, False, back, None, None, None)
        if np.abs(A - back).max() > 1e-3 * np.abs(A).max():
            continue  # something changes over
        assert np.abs(ours.A[k] - A).max() < 1e-5 * np.abs(A).max()
        assert np.abs(ours.B[k] - B).max() < 1e-5 * max(np.abs(B).max(), 1e-3)
        close += 1
    assert close >= 6


def slopes_by(m, model, given, bars, name, way, width=1e-6):
    """bars . d(q, v, act) along a way of a parameter, of each instance, and where both sides agree."""
    own, count = np.asarray(model.parameter(name), float), len(way)
    at = []
    for by in (-width, 0, width):
        bound = model.bind(**{name: (own.ravel() + by * way).reshape(count, *own.shape)})
        x = stepped(bound, given)
        at.append(np.concatenate([x.q, x.v, x.act], 1))
    slope, bend = (at[2] - at[0]) / (2 * width), (at[2] - 2 * at[1] + at[0]) / width
    is_smooth = np.abs(bend).max(1) <= 1e-3 * np.maximum(np.abs(slope).max(1), 1e-6)
    return np.einsum("bi,bi->b", np.concatenate(bars, 1), slope), is_smooth


def compare_parameters(m, names, states, allowed=1e-5, still=()):
    """Cotangents by parameters beside differences of the step, and tangents beside cotangents. still: (name, column) of what is held."""
    model = fs.from_mujoco(m, parameters=names)
    rng, count = np.random.default_rng(0), len(states)
    given = arrays_of(m, states, rng)
    at = {name: x for name, x in given.items() if name not in ("q", "v")}
    bars = [rng.normal(size=(count, n)) for n in (m.nq, m.nv, m.na)]
    found = fs.step_vjp(model, given["q"], given["v"], bars, **at).parameters
    assert len(found) == len(model.parameters) == len(names)
    for name, bar in zip(model.parameters, found):
        own = np.asarray(model.parameter(name), float)
        way = rng.normal(size=(count, *own.shape)) * (np.abs(own) + 0.01)
        for of, column in still:
            if of == name:
                way[..., column] = 0
        way = way.reshape(count, -1)
        by_hand, is_smooth = slopes_by(m, model, given, bars, name, way)
        ours = np.einsum("bi,bi->b", np.reshape(bar, (count, -1)), way)
        assert is_smooth.sum() > 0.7 * count, name
        assert np.abs(ours - by_hand)[is_smooth].max() < allowed * np.abs(by_hand).max() > 0, name
        ways = [way if name == other else None for other in model.parameters]
        along = fs.step_jvp(model, given["q"], given["v"], [None] * 5 + ways, **at)
        forward = np.einsum("bi,bi->b", np.concatenate(bars, 1), np.concatenate(along[:3], 1))
        np.testing.assert_allclose(forward, ours, rtol=1e-9, atol=1e-9 * np.abs(ours).max())


@pytest.mark.usefixtures("either_form")
def test_parameters_have_derivatives_where_contacts_have_some_too():
    m = arm()
    compare_parameters(m, ("body_mass", "geom_friction", "actuator_gainprm", "dof_damping"), settled(m, 8))


OF_CONTACTS = {
    "softness": ("geom_friction", "geom_solref", "geom_solimp", "geom_margin", "body_invweight0"),
    "shape": ("geom_pos", "geom_quat", "geom_size"),
}


@pytest.mark.usefixtures("either_form")
@pytest.mark.parametrize("names", OF_CONTACTS)
@pytest.mark.parametrize(("integrator", "cone"), [("implicitfast", "pyramidal"), ("RK4", "elliptic")])
def test_numbers_of_contacts_have_derivatives(integrator, cone, names):
    text = ARM.format(integrator=integrator, cone=cone, option="")
    # turned against their bodies, as MuJoCo has no other use of geom_quat
    text = text.replace('size="5 5 1"', 'size="5 5 1" pos="0 0 .002" euler="1 0 0"').replace('size=".2 .15 .1"', 'size=".2 .15 .1" euler="1 0 0"')  # fmt: skip
    m = mujoco.MjModel.from_xml_string(text)
    m.geom_margin[:], m.geom_solref[:, 0] = 0.003, 0.05  # away from twice the time step, where it bends
    # the power of the impedance is one of all instances
    compare_parameters(m, OF_CONTACTS[names], settled(m, 12), still=(("geom_solimp", 4),))


@pytest.mark.usefixtures("either_form")
def test_numbers_of_pairs_have_derivatives():
    m = mujoco.MjModel.from_xml_string(ARM.format(integrator="Euler", cone="elliptic", option="").replace(
        "<tendon>", '<contact><pair geom1="floor" geom2="trunk" condim="6" friction=".7 .5 .02 .01 .01" solref=".05 .9" '
        'solreffriction=".06 1.1" margin=".002"/></contact><tendon>').replace(
        '<geom type="plane"', '<geom name="floor" type="plane"').replace(
        '<geom type="box"', '<geom name="trunk" contype="0" conaffinity="0" type="box"'))  # fmt: skip
    names = ("pair_friction", "pair_solref", "pair_solreffriction", "pair_solimp", "pair_margin")
    compare_parameters(m, names, settled(m, 12), still=(("pair_solimp", 4),))


def test_sizes_of_pairs_without_a_closed_form_have_derivatives():
    m = mujoco.MjModel.from_xml_string("""<mujoco><option timestep="0.01"/><worldbody><geom type="box" size=".5 .4 .1" euler="2 3 0"/>
      <body pos="0 0 .2"><freejoint/><geom type="ellipsoid" size=".2 .15 .1" euler="10 20 0" mass="1"/></body></worldbody></mujoco>""")  # fmt: skip
    compare_parameters(m, ("geom_size", "geom_pos"), settled(m, 8, least=2, most=12), allowed=1e-3)


def test_float32_has_four_digits():
    m = arm()
    model = fs.from_mujoco(m)
    rng = np.random.default_rng(0)
    given = arrays_of(m, settled(m, 16), rng)
    bars = [rng.normal(size=(16, n)) for n in (m.nq, m.nv, m.na)]
    both = [
        fs.step_vjp(model, *(given[name].astype(dtype) for name in ("q", "v")), [x.astype(dtype) for x in bars],
                    **{name: given[name].astype(dtype) for name in ("act", "ctrl", "qacc", "tau")})
        for dtype in (np.float32, np.float64)
    ]  # fmt: skip
    for ours, exact in zip(both[0][:5], both[1][:5]):
        assert ours.dtype == np.float32
        wrong = np.abs(ours - exact).max(1) / np.abs(exact).max(1)
        assert np.median(wrong) < 1e-4


def test_hard_cones_in_float32_have_derivatives_near_those_in_float64():
    """Float32 bounds A D of tangents by 1e5 (contact_rows.h), as this impedance ratio does 10 cm in the ground."""
    rng = np.random.default_rng(0)
    results = []
    for ratio, dtype in ((100.0, np.float32), (1e5 * 1e-4 / 0.9999, np.float64)):
        m = mujoco.MjModel.from_xml_string(hard_feet(0.27, ratio))
        if not results:
            q = np.tile(m.qpos0, (16, 1)) + np.pad(0.02 * rng.normal(size=(16, m.nv - 6)), ((0, 0), (7, 0)))
            v, bars = 0.1 * rng.normal(size=(16, m.nv)), [rng.normal(size=(16, n)) for n in (m.nq, m.nv)]
        given = [x.astype(dtype) for x in (q, v)]
        results.append(fs.step_vjp(fs.from_mujoco(m), *given, [x.astype(dtype) for x in bars])[:2])
    for single, double in zip(*results):
        wrong = np.abs(single - double).max(1) / np.abs(double).max(1)
        assert np.median(wrong) < 0.03
        assert wrong.max() < 0.3


def test_an_instance_has_the_same_derivatives_beside_any_others():
    m = arm("RK4", "elliptic")
    model = fs.from_mujoco(m)
    rng = np.random.default_rng(0)
    given = arrays_of(m, settled(m, 19), rng)
    bars = [rng.normal(size=(19, n)) for n in (m.nq, m.nv, m.na)]

    def of(rows):
        at = {name: x[rows] for name, x in given.items()}
        return fs.step_vjp(model, at.pop("q"), at.pop("v"), [x[rows] for x in bars], **at)

    whole, order = of(np.arange(19)), rng.permutation(19)[:7]
    for x, y in zip(whole[:5], of(order)[:5]):
        assert np.array_equal(np.asarray(x)[order], y)


def test_one_instance_and_none():
    m = arm()
    model = fs.from_mujoco(m)
    q, v = np.array(m.qpos0), np.zeros(m.nv)
    bars = [np.ones(m.nq), np.ones(m.nv), np.ones(m.na)]
    one = fs.step_vjp(model, q, v, bars)
    many = fs.step_vjp(model, np.stack([q] * 3), np.stack([v] * 3), bars)
    assert one.q.shape == (m.nq,) and many.q.shape == (3, m.nq)
    assert np.array_equal(many.q, np.stack([one.q] * 3)) and one.parameters == ()
    empty = fs.step_vjp(model, q[None][:0], v[None][:0], [x[None][:0] for x in bars])
    assert empty.ctrl.shape == (0, m.nu)


def test_what_has_no_derivatives_is_refused_by_name():
    robot = fs.load("panda")
    with pytest.raises(ValueError, match="step_vjp: .* has no world of a model file"):
        fs.step_vjp(robot, robot.q0, np.zeros(robot.nv), [])
    model = fs.from_mujoco(arm())
    with pytest.raises(TypeError, match="got 5 cotangents, expected at most 4"):
        fs.step_vjp(model, model.q0, np.zeros(model.nv), [None] * 5)
    with pytest.raises(ValueError, match="q_next_bar has shape"):
        fs.step_vjp(model, model.q0, np.zeros(model.nv), [np.zeros(3)])
    with pytest.raises(ValueError, match="diagexact"):
        m = arm(option="")
        m.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_DIAGEXACT)
        fs.step_vjp(fs.from_mujoco(m), m.qpos0, np.zeros(m.nv), [None, np.ones(m.nv)])


def test_torch_goes_through_contacts():
    torch = pytest.importorskip("torch")
    import featherstorm.torch as fst

    m = arm()
    model = fs.from_mujoco(m, parameters=("body_mass",))
    rng = np.random.default_rng(0)
    given = arrays_of(m, settled(m, 4), rng)
    at = {name: torch.tensor(x, requires_grad=name in ("q", "v", "ctrl")) for name, x in given.items()}
    mass = torch.tensor(np.array(m.body_mass), requires_grad=True)
    x = fst.step(
        model.bind(body_mass=mass), at["q"], at["v"], **{name: at[name] for name in ("act", "ctrl", "tau", "qacc")}
    )
    after = x.q, x.v, x.act
    bars = [rng.normal(size=y.shape) for y in after]
    sum((torch.tensor(bar) * y).sum() for bar, y in zip(bars, after)).backward()
    found = fs.step_vjp(model, given["q"], given["v"], bars, **{n: given[n] for n in ("act", "ctrl", "tau", "qacc")})
    for name in ("q", "v", "ctrl"):
        np.testing.assert_allclose(at[name].grad, getattr(found, name), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mass.grad, found.parameters[0].sum(0), rtol=1e-9, atol=1e-12)


def test_jax_goes_through_contacts():
    jax = pytest.importorskip("jax")
    import featherstorm.jax as fsj

    m = arm()
    model = fs.from_mujoco(m)
    rng = np.random.default_rng(0)
    given = {name: x.astype(np.float32) for name, x in arrays_of(m, settled(m, 4), rng).items()}
    rest = {name: given[name] for name in ("act", "tau", "qacc")}
    bar = rng.normal(size=(4, m.nv)).astype(np.float32)

    def loss(ctrl):
        return (bar * fsj.step(model, jax.numpy.asarray(given["q"]), given["v"], ctrl=ctrl, **rest).v).sum()

    found = jax.jit(jax.grad(loss))(given["ctrl"])
    ours = fs.step_vjp(model, given["q"], given["v"], [None, bar], ctrl=given["ctrl"], **rest).ctrl
    np.testing.assert_allclose(found, ours, rtol=1e-5, atol=1e-7)
