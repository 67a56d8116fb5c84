"""Rollouts with some of the pairs of geoms that may touch."""

import pickle

import numpy as np
import pytest

import featherstorm as fs

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("mujoco.batch", reason="worlds of model files need MuJoCo 4")

XML = """
<mujoco>
  <worldbody>
    <geom name="ground" type="plane" size="0 0 1"/>
    <geom name="wall" type="box" size=".1 1 1" pos="0.35 0 0"/>
    <body name="low" pos="0 0 .1"><freejoint/><geom name="low" type="box" size=".1 .1 .1"/></body>
    <body name="high" pos="0 0 .31"><freejoint/><geom name="ball" size=".1"/><geom name="arm" size=".02" pos=".14 0 0"/></body>
  </worldbody>
  <contact><exclude body1="low" body2="world"/></contact>
</mujoco>
"""


@pytest.fixture(scope="module")
def model():
    return fs.from_mujoco(mujoco.MjModel.from_xml_string(XML))


def names_of(model):
    m = model.compiled
    return {
        frozenset(mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_GEOM, g) for g in pair["geom"])
        for pair in model.robot.contact_pairs
    }


def of(*pairs):
    return {frozenset(pair) for pair in pairs}


@pytest.mark.parametrize(
    ("pairs", "expected"),
    [
        (None, of(("ground", "ball"), ("ground", "arm"), ("wall", "ball"), ("wall", "arm"), ("low", "ball"), ("low", "arm"))),
        ("floor", of(("ground", "ball"), ("ground", "arm"), ("wall", "ball"), ("wall", "arm"))),
        ([("ball", "ground")], of(("ground", "ball"))),
        ([("high", "low"), ("wall", "arm")], of(("low", "ball"), ("low", "arm"), ("wall", "arm"))),
        ([("arm", "floor")], of(("ground", "arm"), ("wall", "arm"))),
    ],
)  # fmt: skip
def test_only_the_named_pairs_are_left(model, pairs, expected):
    roll = fs.Rollout(model, pairs=pairs)
    assert names_of(roll.model) == expected
    assert names_of(pickle.loads(pickle.dumps(roll)).model) == expected
    assert len(model.robot.contact_pairs) == 6


def test_a_rollout_is_that_of_a_file_with_these_pairs(model):
    """The ball falls through the box below it, as in a file that excludes the pair."""
    excluded = fs.from_mujoco(
        mujoco.MjModel.from_xml_string(XML.replace("<contact>", '<contact><exclude body1="low" body2="high"/>'))
    )
    x0, U = np.r_[model.compiled.qpos0, np.zeros(12)], np.zeros((1, 60, 0))
    x0[14 + 6 + 2] = -1.0  # the ball falls faster than the box, which nothing holds
    free = fs.Rollout(model, pairs="floor")(x0, U).final
    np.testing.assert_array_equal(free, fs.Rollout(excluded)(x0, U).final)
    whole = fs.Rollout(model)(x0, U).final
    assert free[0, 9] < whole[0, 9] - 0.02
    np.testing.assert_array_equal(fs.rollout(model, x0, U, pairs="floor").final, free)


def test_bound_tables_keep_the_pairs():
    model = fs.from_mujoco(mujoco.MjModel.from_xml_string(XML), parameters=("geom_friction", "body_mass"))
    x0, U = np.r_[model.compiled.qpos0, np.zeros(12)], np.zeros((2, 100, 0))
    mass = np.asarray(model.parameter("body_mass")) * np.array([[1.0], [2.0]])
    bound = model.bind(body_mass=mass)
    found = fs.Rollout(bound, pairs="floor")(x0, U)
    one = fs.Rollout(model.bind(body_mass=mass[1]), pairs="floor")(x0, U[:1])
    np.testing.assert_array_equal(found.final[1], one.final[0])
    assert names_of(fs.Rollout(bound, pairs="floor").model) == names_of(fs.Rollout(model, pairs="floor").model)


def test_a_urdf_in_a_world_has_pairs_too():
    go2 = fs.load("go2", world=fs.UrdfWorld(ground=True, motors=True))
    feet = [(f"{leg}_foot", "floor") for leg in ("FL", "FR", "RL", "RR")]
    few = fs.Rollout(go2, pairs=feet)
    assert names_of(few.model) == {frozenset((f"{leg}_foot", "ground")) for leg in ("FL", "FR", "RL", "RR")}
    x0 = np.r_[0, 0, 0.3, 1, 0, 0, 0, np.tile([0.0, 0.8, -1.6], 4), np.zeros(18)]
    U = np.zeros((1, 60, 12))
    np.testing.assert_allclose(few(x0, U).final, fs.Rollout(go2)(x0, U).final, atol=1e-9)


def test_messages(model):
    with pytest.raises(ValueError, match="pairs is 'feet', expected 'floor' or pairs of names"):
        fs.Rollout(model, pairs="feet")
    with pytest.raises(ValueError, match="'bal'.*did you mean ball"):
        fs.Rollout(model, pairs=[("bal", "ground")])
    with pytest.raises(ValueError, match=r"\('low', 'ground'\), of which no geoms may touch"):
        fs.Rollout(model, pairs=[("low", "ground")])
    with pytest.raises(ValueError, match="expected two names"):
        fs.Rollout(model, pairs=[("low",)])
    with pytest.raises(ValueError, match="which the worlds of model files alone have"):
        fs.Rollout(fs.load("cartpole"), 0.01, pairs="floor")
