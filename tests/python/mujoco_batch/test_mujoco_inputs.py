"""Fields of a model that differ from simulation to simulation: one engine for all, MuJoCo's numbers."""

import pathlib
import re

import mujoco
import mujoco.batch as theirs
import numpy as np
import pytest
from batch_agreement import assert_agree, assert_close
from touching_models import LINKED_FIELDS, legged as model, linked, linked_numbers, stirred, varied

import featherstorm
from featherstorm._fields.inputs import LENSES, MOST, OF_STATE, REACHES, READ_HERE, TABLES, is_input
from featherstorm.mujoco import Batch
from featherstorm.mujoco.variants import MOST_MODELS, is_derived

N = 7
OBSERVED = ("qacc", "sensordata", "qfrc_constraint", "qfrc_passive", "actuator_force", "M", "cfrc_ext", "nf", "energy")
# what MuJoCo keeps other numbers of that do not follow at once: subtreemass, M0, boxes of geoms, which actuators damp joints
DERIVED_FROM = {"body_mass", "body_inertia", "geom_pos", "geom_quat"}
DERIVED_FROM |= {"actuator_armature", "actuator_damping", "actuator_dampingpoly"}
# boxes and spheres around geoms, which MuJoCo never makes anew: as large as anything
AROUND = {"geom_rbound": 10.0, "geom_aabb": 10.0, "body_margin": 1.0}
# what the model has none of, or what changes nothing at its states
WITHOUT_EFFECT = {
    "geom_gap",
    "pair_gap",
    "opt.magnetic",
    "qpos_spring",
    "tendon_length0",
    "actuator_lengthrange",
    "cam_pos",
    "cam_quat",
    "site_pos",
    "site_quat",
}


def both(m, n=N):
    """A batch of ours and MuJoCo's, in the same states near the ground."""
    batches = Batch(m, n, 1, dtype="float64"), theirs.Batch(m, n, 1)
    stirred(*batches)
    return batches


@pytest.mark.parametrize("name", sorted(set(TABLES) - set(OF_STATE)))
def test_a_field_is_an_input(name):
    m = model(cone="elliptic" if name.startswith(("pair", "opt.impratio")) else "pyramidal")
    if name in REACHES:
        m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_MIDPHASE)
    b, reference = both(m)
    usual = both(m)[0]
    rng = np.random.default_rng(2)
    numbers = varied(name, np.array(reference.expand(name)), rng)
    for x in (b, reference):
        x.expand(name)[...] = numbers
        for around, size in AROUND.items() if name in REACHES else ():
            x.expand(around)[...] = size
        if name == "geom_size":
            x.expand("geom_rbound")[:, 0] = 0  # of the plane
        if name in DERIVED_FROM:
            x.set_const()
    assert_agree(b, reference, (*OBSERVED, "ncon"))
    assert len(b._variants.engines) == 1
    usual.step(nstep=3)
    if name not in WITHOUT_EFFECT:
        change = float(np.abs(np.array(b.qvel) - usual.qvel).max())
        assert change > 1e-9


@pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast", "RK4"])
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_many_fields_are_inputs(integrator, cone):
    m = model(integrator, cone, density=0)
    b, reference = both(m)
    rng = np.random.default_rng(3)
    fields = """opt.gravity body_mass body_inertia body_ipos body_iquat geom_friction geom_pos geom_solref geom_solimp geom_solmix
    dof_damping dof_armature dof_frictionloss jnt_range jnt_stiffness actuator_gainprm actuator_biasprm actuator_gear tendon_stiffness
    pair_friction eq_solref""".split()
    for name in fields:
        numbers = varied(name, np.array(reference.expand(name)), rng)
        for x in (b, reference):
            x.expand(name)[...] = numbers
    for x in (b, reference):
        x.set_const()
    assert_agree(b, reference, ("qacc", "qfrc_constraint", "actuator_force") if integrator == "RK4" else OBSERVED)
    assert len(b._variants.engines) == 1


def test_new_numbers_make_no_engine():
    m = model()
    b, reference = both(m)
    rng = np.random.default_rng(4)
    for x in (b, reference):
        x.expand("geom_friction"), x.expand("body_mass")
    engines = set()
    for _ in range(4):
        for name in ("geom_friction", "body_mass"):
            numbers = rng.uniform(0.5, 1.5, reference.expand(name).shape) * getattr(m, name)
            for x in (b, reference):
                x.expand(name)[...] = numbers
        for x in (b, reference):
            x.step(nstep=2)
        assert_close(b.qvel, reference.qvel)
        engines |= {id(engine) for engine in b._variants.engines.values()}
    assert len(engines) == 1


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_what_is_more_than_a_kernel_takes_makes_engines(integrator):
    m = model(integrator)
    b, reference = both(m, 3)
    names = [name for name in sorted(set(TABLES) - set(OF_STATE)) if is_input(m, name)]
    assert len(names) > MOST
    for x in (b, reference):
        for name in names:
            x.expand(name)
        x.expand(names[0])[1] *= 1.1
        x.expand(names[-1])[2] *= 1.1
        x.step(nstep=2)
    assert_close(b.qvel, reference.qvel)
    assert len(b._variants.inputs) == MOST


def test_thousands_differ():
    m, n = model("Euler"), 4096
    b = Batch(m, n)
    stirred(b)
    rng = np.random.default_rng(5)
    for name in ("geom_friction", "body_mass", "dof_damping"):
        b.expand(name)[...] = varied(name, np.array(b.expand(name)), rng)
    state = np.array(b.state)
    b.step(nstep=5)
    for sim in (0, 1, 17, 4095):
        alone = Batch(m, 1)
        alone.state[...] = state[[sim]]
        for name in ("geom_friction", "body_mass", "dof_damping"):
            alone.expand(name)[...] = b.expand(name)[[sim]]
        alone.step(nstep=5)
        np.testing.assert_allclose(alone.qvel[0], b.qvel[sim], rtol=0, atol=1e-4)
        assert float(np.abs(b.qvel[sim] - b.qvel[(sim + 1) % n]).max()) > 1e-2
    assert len(b._variants.engines) == 1


def test_what_is_there_in_some_simulations_alone(pair):
    m = model()
    m.dof_frictionloss[:] = 0
    m.jnt_stiffness[:] = 0
    ours, reference = pair(m, OBSERVED)
    stirred(ours, reference)
    friction, stiffness = np.zeros((N, m.nv)), np.zeros((N, m.njnt))
    friction[[1, 4], 7], stiffness[2, 3] = (0.3, 0.1), 5
    for x in (ours, reference):
        x.expand("dof_frictionloss")[...], x.expand("jnt_stiffness")[...] = friction, stiffness
    assert_agree(ours, reference, OBSERVED)
    friction[2, 6] = 0.2  # another row: another engine
    for x in (ours, reference):
        x.expand("dof_frictionloss")[...] = friction
    assert_agree(ours, reference, OBSERVED)


def test_frames_are_renewed_by_set_const():
    m = model()
    b, reference = both(m)
    numbers = varied("body_ipos", np.array(reference.expand("body_ipos")), np.random.default_rng(6))
    numbers[:, 0] = 0  # of the world
    for x in (b, reference):
        x.expand("body_ipos")[...] = numbers
        x.set_const()
    assert_agree(b, reference, (*OBSERVED, "geom_xpos", "xipos"))


def test_a_rollout_takes_inputs_along():
    m = model("Euler")
    b, reference = both(m)
    for x in (b, reference):
        x.expand("geom_friction")[...] *= np.linspace(0.2, 1, N)[:, None, None]
    control = np.random.default_rng(7).uniform(-1, 1, (N, 6, m.nu))
    found = [x.rollout(6, control, record=("qpos", "sensordata")) for x in (b, reference)]
    for name in ("qpos", "sensordata"):
        assert_close(found[0][name], found[1][name], name)
    some = [x.rollout(3, control[[1, 4], :3], record=("qpos",), ids=[1, 4]) for x in (b, reference)]
    assert_close(some[0]["qpos"], some[1]["qpos"])


# set_const


def drawn_batches(drawn):
    """A batch of ours and one of MuJoCo's with drawn fields, after set_const."""
    m = linked()
    batches = Batch(m, N, 1, dtype="float64"), theirs.Batch(m, N, 1)
    for name, numbers in linked_numbers(drawn, N).items():
        for b in batches:
            b.expand(name)[...] = numbers
    for b in batches:
        b.set_const()
        b.reset()
        b.qvel[...] = 0.3 * np.random.default_rng(9).normal(size=(N, m.nv))
    return batches


@pytest.mark.parametrize("drawn", LINKED_FIELDS)
def test_set_const_derives_what_mujoco_does(drawn):
    b, reference = drawn_batches(drawn)
    numbers, changed = linked_numbers(drawn, N), 0
    for sim in range(N):
        ours, exact = b.get_model(sim), reference.get_model(sim)
        for name in theirs.MODEL_FIELDS:
            if name.startswith("opt.") or getattr(exact, name).dtype.kind != "f":
                continue
            assert_close(getattr(ours, name), getattr(exact, name), name, 1e-12)
            before = numbers[name][sim] if name in numbers else getattr(b.model, name)
            changed += not np.array_equal(getattr(exact, name), before)
    assert changed
    assert_agree(
        b, reference, ("qacc", "sensordata", "qfrc_constraint", "qfrc_passive", "actuator_force", "ten_length")
    )


def test_a_site_turns_what_is_welded_to_it():
    """By site_quat from set_const on: before that its frame is that of its body, as the compiler found it.

    At rest: with velocities MuJoCo's rate of the Jacobian takes site_quat as it is written, beside the site's frame in all else.
    """
    m = linked()
    m.eq_active0[3] = 1
    b, reference = Batch(m, N, 1, dtype="float64"), theirs.Batch(m, N, 1)
    turned = varied("site_quat", np.array(reference.expand("site_quat")), np.random.default_rng(12))
    for x in (b, reference):
        x.expand("site_quat")[...] = turned
        x.bind("qacc")
        x.forward()
    assert_close(b.qacc, reference.qacc)
    assert np.ptp(np.array(b.qacc), axis=0).max() < 1e-9
    for x in (b, reference):
        x.set_const()
    assert_agree(b, reference, ("qacc", "qfrc_constraint"))
    assert np.ptp(np.array(b.qacc), axis=0).max() > 1


def test_models_that_set_const_was_called_on_are_stepped_as_they_are():
    b, reference = drawn_batches("anchors")
    models = [reference.get_model(sim) for sim in range(N)]
    whole, exact = Batch(linked(), N, 1, dtype="float64"), theirs.Batch(linked(), N, 1)
    for x in (whole, exact):
        x.set_models(models)
        x.qvel[...] = reference.qvel
    assert_agree(whole, exact, ("qacc", "qfrc_constraint"))
    b.step(nstep=3)
    assert_close(whole.qpos, b.qpos)


def test_whatever_set_const_writes_is_derived():
    """Numbers of all fields are moved a little; fields that mj_setConst then writes are those that a batch renews."""
    m, rng, written = linked(), np.random.default_rng(10), set()
    fields = [
        name for name in theirs.MODEL_FIELDS if not name.startswith("opt.") and getattr(m, name).dtype.kind == "f"
    ]
    for k in range(5):
        other = m.__copy__()
        for name in fields:
            if name != "body_ipos" and not name.endswith("quat"):  # bodies stay simple
                getattr(other, name)[...] += 0.01 * rng.normal(size=getattr(other, name).shape)
        other.eq_data[1, 6:10] *= k % 2
        before = {name: getattr(other, name).copy() for name in fields}
        mujoco.mj_setConst(other, mujoco.MjData(other))
        written |= {name for name in fields if not np.array_equal(before[name], getattr(other, name))}
    assert {"eq_data", "geom_fluid", "geom_rbound", "tendon_length0", "dof_invweight0"} <= written
    assert all(is_derived(m, name) for name in written)


# fields that nothing reads


SMALL = """
<mujoco>
  <option {option}><flag override="{override}"/></option>
  <worldbody>
    <geom type="plane" size="3 3 .1"/>
    <body pos="0 0 .2"><freejoint/><geom size=".1"/><site name="s" size=".15"/></body>
    <body pos="1 0 .2"><joint axis="0 1 0"/><geom type="ellipsoid" size=".1 .05 .04" fluidshape="ellipsoid"/></body>
  </worldbody>
  <sensor>{sensor}</sensor>
  <keyframe><key qpos="0 0 .1 1 0 0 0 .3" qvel="0 .1 0 0 0 0 0"/></keyframe>
</mujoco>
"""


def small(option="", override="disable", sensor=""):
    return mujoco.MjModel.from_xml_string(SMALL.format(option=option, override=override, sensor=sensor))


def test_fields_that_nothing_reads_make_no_engine():
    b, usual = (Batch(small(), MOST_MODELS + 1) for _ in range(2))
    names = """opt.tolerance opt.ls_tolerance opt.sleep_tolerance opt.o_margin opt.o_solref opt.ls_iterations site_size
    geom_fluid geom_rgba geom_rbound dof_M0""".split()
    for name in names:
        x = b.expand(name)
        x[...] = x + (np.arange(len(x)) % 300).reshape(-1, *[1] * (x.ndim - 1)).astype(x.dtype)
        for one in (b, usual):
            one.qvel[:, 0] = 0.3
            one.step(nstep=2)
        assert not b._variants.engines, name
        np.testing.assert_array_equal(b.state, usual.state, name)
    whole, alone = Batch(small(), b.nsim), Batch(small(), b.nsim)
    whole.set_models([b.get_model(sim) for sim in range(b.nsim)])
    for one in (whole, alone):
        one.qvel[:, 0] = 0.3
        one.step(nstep=2)
    np.testing.assert_array_equal(whole.state, alone.state)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("opt.o_margin", {"override": "enable"}),
        ("site_size", {"sensor": '<touch site="s"/>'}),
        ("geom_fluid", {"option": 'density="500"'}),
    ],
)
def test_it_does_where_something_reads_it(name, options):
    m = small(**options)
    b, reference = Batch(m, 3, dtype="float64"), theirs.Batch(m, 3)
    numbers = np.array(reference.expand(name)) * np.array([1, 0.1, 2]).reshape(
        -1, *[1] * (reference.expand(name).ndim - 1)
    )
    if name == "opt.o_margin":
        numbers = np.array([0, 0.005, 0.01])
    for x in (b, reference):
        x.expand(name)[...] = numbers
        x.qpos[:, 2], x.qvel[:, 7 - 1] = 0.09, 2
    assert_agree(b, reference, ("qacc", "sensordata"))
    assert len(b._variants.engines) == 2


def test_what_an_engine_reads_that_others_did_not_is_looked_at():
    """The medium is there in some simulations alone, where the numbers of its ellipsoids differ."""
    m = small()
    b, reference = Batch(m, 6, dtype="float64"), theirs.Batch(m, 6)
    fluid = np.array(reference.expand("geom_fluid")) * np.linspace(1, 2, 6)[:, None, None]
    for x in (b, reference):
        x.expand("geom_fluid")[...] = fluid
        x.expand("opt.density")[...] = [0, 0, 0, 300, 300, 300]
        x.qvel[:, 6] = 2
    assert_agree(b, reference, ("qacc", "qfrc_fluid"))


def test_keyframes_that_differ_make_no_engine():
    m, n = small(), MOST_MODELS + 1
    b, reference = Batch(m, n, dtype="float64"), theirs.Batch(m, n)
    rng = np.random.default_rng(11)
    for name in ("key_qpos", "key_qvel", "key_time"):
        numbers = np.array(reference.expand(name)) + 0.01 * rng.normal(size=reference.expand(name).shape)
        for x in (b, reference):
            x.expand(name)[...] = numbers
    ids = np.arange(0, n, 2)
    for x in (b, reference):
        x.reset(ids, keyframe=0)
    for name in ("qpos", "qvel", "time"):
        np.testing.assert_array_equal(getattr(b, name), getattr(reference, name), name)
    assert not b._variants.engines and np.ptp(np.array(b.qpos)[ids, 2]) > 1e-2


def test_python_reads_what_the_list_has():
    """Names of fields in the sources of batches are those of READ_HERE, but for some that are read where C++ reads them, or never."""
    beside = {"site_size", "site_type", "geom_fluid", "geom_aabb", "plugin", "name_sensoradr", "sensor_user"}
    drawing = {"geom_rgba", "mat_rgba", "body_subtreemass"}  # docs/mujoco.md: of the batch's model
    volumes = {"bvh_aabb", "body_bvhadr", "body_bvhnum"}  # sizes alone
    root = pathlib.Path(featherstorm.__file__).parent
    files = [*(root / "mujoco").rglob("*.py"), *(root / "_fields").glob("*.py"), *(root / "_robot").glob("mjcf*.py")]
    text = "\n".join(path.read_text() for path in files if path.name != "inputs.py")
    named = set(re.findall(r"opt\.\w+|(?<=[.\"])\w+", text)) & {*theirs.MODEL_FIELDS}
    assert named - READ_HERE == (beside | drawing | volumes | LENSES) & named
    assert "geom_type" in named and len(named) > 100
