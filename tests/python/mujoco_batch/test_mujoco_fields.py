"""Fields of featherstorm.mujoco.Batch beside mjData, in double: generated models with one of everything, and files that people use."""

import warnings

import mujoco
import numpy as np
import pytest
from batch_agreement import model
from batch_models import MODELS as OWN
from states import random_states
from test_world import MODELS as GENERATED, files
from touching_models import MODELS as TOUCHING

from featherstorm._fields.table import COMPONENTS
from featherstorm.mujoco import DATA_FIELDS, Batch
from featherstorm.mujoco.robots import not_of_this_model

COUNT = 4
CLOSE = 1e-8  # of the greatest number of an array
GIVEN = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied")
COMPUTED = sorted(DATA_FIELDS - set(COMPONENTS) - {"solver_niter"})  # the engine's steps are its own
NO_CONTACTS = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
NO_ACTUATION = int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)


def prepared(m):
    m.opt.disableflags |= NO_CONTACTS
    m.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    m.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE  # MuJoCo 4.0.0 has a fault in its sparse factor
    m.opt.tolerance, m.opt.ls_tolerance, m.opt.iterations, m.opt.ls_iterations = 0, 1e-12, 200, 100
    return m


def wrong_fields(m, dtype="float64", close=CLOSE):
    """{(call, field): error} of those that are not close."""
    states = random_states(m, COUNT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        batch = Batch(m, COUNT, 1, dtype=dtype)
    for name in GIVEN:
        batch.bind(name)[...] = np.stack([getattr(d, name) for d in states])
    computed = [name for name in COMPUTED if not_of_this_model(m, name, batch._variants.own.model.robot) is None]
    for name in computed:
        batch.bind(name)

    def compare(call, names):
        for name in names:
            theirs = np.stack([np.asarray(getattr(d, name), float) for d in states])
            ours = np.array(batch.bind(name), float)
            known = np.isfinite(ours).all(axis=0) if name == "sensordata" else np.ones(ours.shape[1:], bool)
            ours, theirs = ours[:, known], theirs[:, known]
            error = np.abs(ours - theirs).max(initial=0) / max(np.abs(theirs).max(initial=0), 1e-3)
            if not error <= close:
                found[call, name] = error

    found = {}
    batch.forward()
    for d in states:
        mujoco.mj_forward(m, d), mujoco.mj_rnePostConstraint(m, d), mujoco.mj_subtreeVel(m, d)
    left_out = {"actuator_length"} if m.opt.disableflags & NO_ACTUATION else set()
    compare("forward", [name for name in computed if name not in left_out])
    batch.step()
    for d in states:
        mujoco.mj_step(m, d), mujoco.mj_subtreeVel(m, d)
    left_out |= {"cacc", "cfrc_ext", "cfrc_int"}  # MuJoCo does not renew them
    compare("step", [*(name for name in computed if name not in left_out), "time", "qpos", "qvel", "act"])
    return found


@pytest.mark.parametrize("name", [*OWN, *GENERATED])
def test_fields_of_a_generated_model_agree(name):
    assert wrong_fields(prepared(mujoco.MjModel.from_xml_string({**OWN, **GENERATED}[name]))) == {}


@pytest.mark.skipif(not files(), reason="no model files: pip install --no-deps gymnasium dm-control mjlab")
@pytest.mark.parametrize("path", files(), ids=lambda path: "/".join(path.parts[-2:]))
def test_fields_of_a_published_model_agree(path):
    try:
        m = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        pytest.skip(f"MuJoCo refuses it: {error}")
    assert wrong_fields(prepared(m)) == {}


ABOVE = """
<mujoco>
  <worldbody>
    <body name="ball" pos="1 2 .5"><joint type="slide" axis="0 0 1"/><geom size=".1"/>
      <camera pos="0 0 0" mode="targetbody" target="ball"/><light pos="0 0 0" mode="targetbody" target="ball"/></body>
    <camera pos="1 2 3" mode="targetbody" target="ball"/>
    <camera pos="1 2 -3" mode="targetbodycom" target="ball"/>
    <light pos="1 2 3" mode="targetbody" target="ball"/>
  </worldbody>
</mujoco>
"""


def test_cameras_and_lights_right_above_their_target_have_mujocos_axes():
    assert wrong_fields(prepared(mujoco.MjModel.from_xml_string(ABOVE))) == {}


def test_single_precision_is_close():
    m = prepared(mujoco.MjModel.from_xml_string(OWN["floating"]))
    assert wrong_fields(m, "float32", 2e-4) == {}


def test_only_what_is_bound_is_computed():
    m = prepared(mujoco.MjModel.from_xml_string(OWN["pendulum"]))
    batch = Batch(m, COUNT, 1)
    batch.step()
    made = batch._variants.own.fields.made
    assert made == {}
    batch.bind("xpos")
    batch.step(), batch.step()
    assert list(made) == [("xpos",)] and made[("xpos",)][0].given == ("qpos", "mocap_pos", "mocap_quat")


FORCES = ("ncon", "ne", "nf", "nl", "nefc", "cfrc_ext", "cfrc_int", "sensordata", "qfrc_constraint", "qacc")


# forces do not depend on how they are integrated
@pytest.mark.parametrize("name", [name for name in TOUCHING if name != "implicit"])
def test_forces_of_contacts_agree_along_a_fall(name):
    m = model(TOUCHING[name])
    rng = np.random.default_rng(0)
    states = [mujoco.MjData(m) for _ in range(COUNT)]
    batch = Batch(m, COUNT, 1, dtype="float64")
    for name in FORCES:
        batch.bind(name)
    for d in states:
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 0.05)
        d.qvel[:], d.xfrc_applied[1:] = 0.5 * rng.normal(size=m.nv), 0.01 * rng.normal(size=(m.nbody - 1, 6))
    met = np.zeros(m.nsensordata, bool)
    for _ in range(12):
        for k, d in enumerate(states):
            batch.qpos[k], batch.qvel[k], batch.xfrc_applied[k] = d.qpos, d.qvel, d.xfrc_applied
        batch.forward()
        for k, d in enumerate(states):
            mujoco.mj_forward(m, d), mujoco.mj_rnePostConstraint(m, d)
            for name in FORCES:
                theirs = np.asarray(getattr(d, name), float)
                error = np.abs(batch.bind(name)[k] - theirs).max() / max(np.abs(theirs).max(), 1)
                assert error < 1e-7, name
            met |= d.sensordata != 0
            for _ in range(25):
                mujoco.mj_step(m, d)
    assert met.sum() >= m.nsensordata - 3, np.flatnonzero(~met)  # nearly every sensor measured something


ROPE = """
<mujoco>
  <option jacobian="dense" tolerance="0" iterations="200"/>
  <worldbody>
    <site name="post" pos=".3 1 1"/>
    <body pos="0 0 1">
      <joint name="arm" axis="0 1 0"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .3 0 0"/><site name="end" pos=".3 0 0"/>
    </body>
  </worldbody>
  <tendon>
    <spatial name="rope" limited="true" range="0 .9" frictionloss="1"><site site="post"/><site site="end"/></spatial>
    <spatial name="other"><site site="post"/><site site="end"/></spatial>
  </tendon>
  <equality>
    <tendon tendon1="rope" polycoef=".1 0 0 0 0"/><tendon tendon1="rope" tendon2="other" polycoef=".1 .5 .1 0 0"/>
  </equality>
  <sensor><tendonlimitfrc tendon="rope"/><tendonlimitpos tendon="rope"/><tendonlimitvel tendon="rope"/></sensor>
</mujoco>"""
COUNTS = ("ne", "nf", "nl", "nefc", "sensordata", "qfrc_constraint", "qacc")


@pytest.mark.parametrize("switched", [False, True])
def test_rows_with_a_zero_jacobian_do_not_exist(switched):
    """Where the arm is level with its post it lengthens no rope; a rope that nothing moves has no force."""
    m = mujoco.MjModel.from_xml_string(ROPE)
    batch, d = Batch(m, 2, 1, dtype="float64"), mujoco.MjData(m)
    if switched:
        batch.bind("eq_active")[0, 0] = d.eq_active[0] = False
    for name in COUNTS:
        batch.bind(name)
    rows = []
    for angle in (0.0, 0.2):
        batch.qpos[0], d.qpos[0] = angle, angle
        batch.forward(), mujoco.mj_forward(m, d)
        rows.append(d.nefc)
        # where the rope's rows exist they are as hard as rows can be, and several of them act on one coordinate
        for name in COUNTS if angle == 0 else ("ne", "nf", "nl", "nefc"):
            theirs = np.asarray(getattr(d, name), float)
            assert np.abs(batch.bind(name)[0] - theirs).max() <= CLOSE * max(np.abs(theirs).max(), 1), name
    assert rows == [0, 3 if switched else 4]


@pytest.mark.parametrize(
    ("geom", "contacts"),
    [('type="box" size=".25 .25 .125"', 4), ('type="cylinder" size=".2 .125"', 3), ('size=".125"', 1)],
)
def test_contacts_of_distance_zero_are_counted_and_have_no_rows(geom, contacts):
    m = mujoco.MjModel.from_xml_string(
        f"""<mujoco><worldbody><geom type="plane" size="3 3 .1"/>
        <body pos="0 0 .125"><freejoint/><geom {geom}/></body></worldbody></mujoco>"""
    )
    batch, d = Batch(m, 1, 1, dtype="float64"), mujoco.MjData(m)
    batch.bind("ncon"), batch.bind("nefc")
    batch.forward(), mujoco.mj_forward(m, d)
    assert (d.ncon, d.nefc) == (contacts, 0)
    assert (batch.ncon.item(), batch.nefc.item()) == (contacts, 0)
