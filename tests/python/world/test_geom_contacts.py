"""Contacts of model files beside MuJoCo's contact lists: generated models with every way to touch, and every file of packages
that people use, a process for each."""

import json
import pathlib
import pickle
import struct
import sys

import numpy as np
import pytest

import apart
import featherstorm as fs

mujoco = pytest.importorskip("mujoco")
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

import contact_models  # noqa: E402
from compare_contacts import close_states, contact_errors, touching_states  # noqa: E402
from test_world import files  # noqa: E402

MODELS = dict(contact_models.models())
LEFT_OUT = {name: (xml, said) for name, xml, said in contact_models.left_out()}


def compiled(xml):
    return mujoco.MjModel.from_xml_string(xml)


@pytest.mark.parametrize("name", MODELS)
def test_generated_contacts_agree(name):
    m = compiled(MODELS[name])
    errors, found = contact_errors(m, states=close_states(m, 100), full=True)
    assert errors == []
    assert found["contacts"] >= 10 or name.startswith("without"), "the test has nothing to compare"


@pytest.mark.skipif(not files(), reason="no model files: pip install --no-deps gymnasium dm-control mjlab")
@pytest.mark.parametrize("path", files(), ids=lambda path: "/".join(path.parts[-2:]))
def test_published_contacts_agree(path):
    done = apart.call("compare_contacts", HERE, "of_file", str(path))
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout.splitlines()[-1])
    if "skipped" in result:
        pytest.skip(result["skipped"])
    assert result["errors"] == []


@pytest.mark.parametrize("name", LEFT_OUT)
def test_pairs_without_contacts_are_one_notice(name, tmp_path):
    xml, said = LEFT_OUT[name]
    model = fs.from_mujoco(compiled(xml))
    assert model.robot.has_world
    notices = [n for n in model.notices if "of geoms are left out:" in n]
    assert len(notices) == 1 and all(part in notices[0] for part in said), notices
    assert contact_errors(compiled(xml), states=close_states(compiled(xml), 60)) == []
    path = tmp_path / "robot.xml"
    path.write_text(xml)
    assert fs.load(path).notices == model.notices
    with pytest.raises(ValueError, match="of geoms are left out:"):
        fs.load(path, strict=True)


def test_a_file_whose_pairs_are_all_there_has_no_such_notice(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_text(MODELS["box_box-0"])
    model = fs.load(path, strict=True)
    assert [n for n in model.notices if "geoms" in n] == []


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (lambda m: setattr(m.opt, "cone", 7), "option cone: 7 is not supported"),
        (lambda m: m.geom_condim.__setitem__(0, 5), "geom 0 and geom 1: condim is 5, expected 1, 3, 4 or 6"),
        (lambda m: m.geom_type.__setitem__(1, 100), "geom 1: shape 100 is not supported"),
        (lambda m: setattr(m.opt, "impratio", 0), "option impratio: 0"),
        (
            lambda m: setattr(m.opt, "enableflags", int(mujoco.mjtEnableBit.mjENBL_SPECULATIVE)),
            "flag speculative: speculative contacts are not supported",
        ),
    ],
)
def test_what_has_no_meaning_here_leaves_the_world_out(change, word):
    m = compiled(MODELS["plane_box-0"])
    change(m)
    model = fs.from_mujoco(m)
    assert not model.robot.has_world
    assert any("the file's world is left out" in notice and word in notice for notice in model.notices), model.notices


def test_friction_without_slip_has_neither_derivatives_nor_a_notice():
    m = compiled(MODELS["plane_box-0"])
    m.opt.noslip_iterations = 3
    model = fs.from_mujoco(m)
    assert model.robot.has_world and not any("noslip" in notice for notice in model.notices)
    with pytest.raises(ValueError, match="noslip_iterations is 3: steps with it have no derivatives, expected 0"):
        fs.step_vjp(model, m.qpos0[None], np.zeros((1, m.nv)), [np.ones((1, m.nq))])
    assert np.isfinite(fs.linearize(model, m.qpos0[None], np.zeros((1, m.nv))).A).all()


BELT = """
<mujoco>
  <option jacobian="dense" tolerance="0" iterations="100"/>
  <worldbody>
    <geom type="{shape}" size="1 1 .1" surfacevel=".3 -.1 .2 0 .1 .4"/>
    <body pos="{place}"><freejoint/><geom type="sphere" size=".1" surfacevel="0 .2 0 1 2 0" condim="4"/></body>
  </worldbody>
</mujoco>"""


def test_steps_over_moving_surfaces_have_mujocos_derivatives():
    m = compiled(BELT.format(shape="plane", place="0.2 0.1 0.095"))
    d, A = mujoco.MjData(m), np.empty((2 * m.nv, 2 * m.nv))
    d.qvel[:] = [0.2, 0.1, 0, 0.3, -0.2, 0.5]
    found = fs.linearize(fs.from_mujoco(m), d.qpos[None], d.qvel[None])
    mujoco.mjd_transitionFD(m, d, 1e-6, True, A, None, None, None)
    assert np.abs(np.asarray(found.A)[0] - A).max() < 1e-5 * np.abs(A).max()


def test_steps_over_moving_surfaces_have_no_derivatives_where_contacts_are_found_by_loops():
    m = compiled(BELT.format(shape="ellipsoid", place="0 0 0.199"))
    with pytest.raises(
        ValueError, match="surfaces move .geom surfacevel. has no derivatives, expected surfaces at rest"
    ):
        fs.step_vjp(fs.from_mujoco(m), m.qpos0[None], np.zeros((1, m.nv)), [np.ones((1, m.nq))])
    d, A = mujoco.MjData(m), np.empty((2 * m.nv, 2 * m.nv))
    found = fs.linearize(fs.from_mujoco(m), d.qpos[None], d.qvel[None])  # by differences
    mujoco.mjd_transitionFD(m, d, 1e-6, True, A, None, None, None)
    assert np.abs(found.A[0] - A).max() < 1e-3 * np.abs(A).max()


def test_inverse_weights_are_those_of_the_rows():
    m = compiled(MODELS["parameters-1"])
    model, d = fs.from_mujoco(m), mujoco.MjData(m)
    weight = {p["geom"]: p["invweight"][0] for p in model.robot.contact_pairs}
    seen = 0
    m.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    for q in close_states(m, 20):
        d.qpos[:] = q
        mujoco.mj_fwdPosition(m, d)
        for i in range(d.ncon):
            row = d.contact.efc_address[i]
            if row >= 0:
                seen += 1
                ours = weight[tuple(int(g) for g in d.contact.geom[i])]
                assert ours == pytest.approx(d.efc_diagA[row] if hasattr(d, "efc_diagA") else d.efc_diagApprox[row])
    assert seen > 20


def test_contacts_travel_with_their_model():
    m = compiled(MODELS["named_pairs-0"])
    model = fs.from_mujoco(m)
    other = pickle.loads(pickle.dumps(model))
    assert other.robot.contact_pairs == model.robot.contact_pairs and model.robot.contact_pairs
    q = close_states(m, 30)
    for ours, theirs in zip(fs.contacts(model, q), fs.contacts(other, q)):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("wrong", [(-1, 1, 4, 3), (0, 2, 4, 3), (0, 1, 8, 3), (0, 1, 4, 2), (1, 0, 4, 3)])
def test_bytes_with_wrong_pairs_are_refused(wrong):
    model = fs.from_mujoco(compiled(MODELS["plane_box-0"]))
    rebuild, (data,) = model.robot.__reduce__()
    right = struct.pack("<4i", 0, 1, 4, 3)  # geoms, slots, dimension
    assert data.count(right) == 1
    with pytest.raises(ValueError, match="are inconsistent"):
        rebuild(data.replace(right, struct.pack("<4i", *wrong)))
    rebuild(data)


def test_single_precision_finds_the_same_contacts():
    path = next((p for p in files() if p.name == "humanoid.xml"), None)
    if path is None:
        pytest.skip("no model files")
    m = mujoco.MjModel.from_xml_path(str(path))
    model, q = fs.from_mujoco(m), touching_states(m, 400)
    exact = [np.asarray(x) for x in fs.contacts(model, q)]
    single = [np.asarray(x) for x in fs.contacts(model, q.astype(np.float32))]
    found, same = exact[0] < 1e9, (exact[0] < 1e9) == (single[0] < 1e9)
    assert single[0].dtype == np.float32
    assert found.sum() > 1000 and (~same).sum() <= 0.01 * found.sum()
    both = found & same
    for x, y in zip(exact, single):
        x, y = (a.reshape(*found.shape, -1)[both] for a in (x, y))
        assert np.quantile(np.abs(x - y).max(axis=1), 0.99) < 2e-5


def test_models_without_geoms_that_touch_have_no_slots():
    m = compiled(MODELS["without_contact"])
    dist, pos, frame = fs.contacts(fs.from_mujoco(m), np.tile(m.qpos0, (3, 1)))
    assert np.shape(dist) == (3, 0) and np.shape(pos) == (3, 0, 3) and np.shape(frame) == (3, 0, 9)
