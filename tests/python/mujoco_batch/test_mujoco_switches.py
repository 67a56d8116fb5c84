"""What the state decides of a world: which equalities act, and where mocap bodies are to which something is tied."""

import mujoco
import mujoco.batch as theirs
import mujoco.rollout
import numpy as np
import pytest
from batch_agreement import assert_agree, assert_close

from featherstorm.mujoco import Batch
from featherstorm.mujoco.rollout import rollout

N = 7
XML = """
<mujoco>
  <option jacobian="dense" tolerance="0" iterations="200" integrator="{integrator}"/>
  <worldbody>
    <geom type="plane" size="5 5 1" pos="0 0 -1"/>
    <body name="hand" mocap="true" pos=".3 0 .5" quat=".9 .1 .2 0"><site name="palm" pos=".01 .02 0"/></body>
    <body name="table" mocap="true" pos="1 0 .2"><geom type="box" size=".3 .3 .05"/>
      <body pos="0 0 .1"><geom name="post" type="capsule" size=".03 .05"/></body>
    </body>
    <body name="pusher" mocap="true" pos="2 0 0"><geom type="sphere" size=".2"/></body>
    <body name="arm" pos="0 0 .5">
      <joint name="a" type="ball" damping=".1"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03" mass=".5" contype="0" conaffinity="0"/>
      <body name="tip" pos=".3 0 0">
        <joint name="b" axis="0 1 0" damping=".05"/><joint name="c" axis="0 0 1" damping=".05"/>
        <geom type="box" size=".05 .03 .02" mass=".1" contype="0" conaffinity="0"/><site name="end" pos=".05 0 0"/>
      </body>
    </body>
    <body name="ball" pos="1 .05 .3"><freejoint/><geom type="sphere" size=".05" mass=".2"/></body>
    <body name="block" pos="2.15 0 .2"><freejoint/><geom type="box" size=".05 .06 .04" mass=".3" condim="4"/></body>
  </worldbody>
  <tendon><spatial name="string" stiffness="5" damping=".2"><site site="palm"/><site site="end"/></spatial></tendon>
  <equality>
    <weld name="grip" body1="tip" body2="hand" relpose=".02 0 0 1 0 0 0"/>
    <weld name="turned" body1="hand" body2="tip" anchor=".01 0 0" torquescale=".4" active="false"/>
    <connect name="pin" body1="ball" body2="table" anchor="0 0 .05" active="false"/>
    <joint joint1="b" joint2="c" polycoef="0 .5 0 0 0" active="false"/>
  </equality>
  <sensor><framepos objtype="site" objname="palm"/><touch site="end"/><accelerometer site="end"/></sensor>
</mujoco>
"""
OBSERVED = ("qacc", "sensordata", "qfrc_constraint", "ne", "ten_length", "geom_xpos")
EQ_ACTIVE = int(mujoco.mjtState.mjSTATE_EQ_ACTIVE)
MOCAP = int(mujoco.mjtState.mjSTATE_MOCAP_POS) | int(mujoco.mjtState.mjSTATE_MOCAP_QUAT)


def batches(integrator="Euler"):
    m = mujoco.MjModel.from_xml_string(XML.format(integrator=integrator))
    b, reference = Batch(m, N, 1, dtype="float64"), theirs.Batch(m, N, 1)
    rng = np.random.default_rng(1)
    v = 0.3 * rng.normal(size=b.qvel.shape)
    for x in (b, reference):
        x.qvel[...] = v
    return m, b, reference


def moved(b, rng):
    """Other poses of mocap bodies, quaternions of any length."""
    position = b.mocap_pos + 0.05 * rng.normal(size=b.mocap_pos.shape)
    return position, b.mocap_quat + 0.2 * rng.normal(size=b.mocap_quat.shape)


def engines(b):
    return {id(engine) for engine in b._variants.engines.values()}


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_equalities_are_switched_on_one_engine(integrator):
    m, b, reference = batches(integrator)
    rng = np.random.default_rng(2)
    seen = set()
    for _ in range(4):
        active = rng.uniform(size=(N, m.neq)) < 0.5
        active[0] = True
        for x in (b, reference):
            x.eq_active[...] = active
        assert_agree(b, reference, ("qacc", "qfrc_constraint") if integrator == "RK4" else OBSERVED)
        seen |= engines(b)
    assert len(seen) == 1
    assert integrator == "RK4" or len(set(np.array(reference.ne).ravel().tolist())) > 2
    for x in (b, reference):
        x.reset([1])
    np.testing.assert_array_equal(b.eq_active, reference.eq_active)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_mocap_bodies_carry_what_is_tied_to_them(integrator):
    m, b, reference = batches(integrator)
    rng = np.random.default_rng(3)
    still = theirs.Batch(m, N, 1)
    seen = set()
    for _ in range(3):
        position, quaternion = moved(reference, rng)
        for x in (b, reference):
            x.mocap_pos[...], x.mocap_quat[...] = position, quaternion
        assert_agree(b, reference, ("qacc", "qfrc_constraint") if integrator == "RK4" else OBSERVED)
        seen |= engines(b)
    assert len(seen) == 1
    still.step(nstep=9)
    for first in (0, 5, 11):  # arm, ball, block
        assert float(np.abs(still.qvel - np.array(reference.qvel))[:, first : first + 5].max()) > 1e-3


def test_both_beside_numbers_of_the_model():
    m, b, reference = batches()
    rng = np.random.default_rng(4)
    friction = rng.uniform(0.2, 1, (N, m.ngeom, 3))
    data = np.array(reference.expand("eq_data")) * rng.uniform(0.9, 1.1, (N, 1, 1))
    position, quaternion = moved(reference, rng)
    for x in (b, reference):
        x.expand("geom_friction")[...], x.expand("eq_data")[...] = friction, data
        x.mocap_pos[...], x.mocap_quat[...] = position, quaternion
        x.eq_active[3] = [0, 1, 1, 1]
    assert_agree(b, reference, OBSERVED)
    assert len(engines(b)) == 1


def test_rollouts_switch_and_move():
    m, b, reference = batches()
    rng = np.random.default_rng(5)
    spec = EQ_ACTIVE | MOCAP
    control = np.concatenate(
        [
            (rng.uniform(size=(N, 5, m.neq)) < 0.5).astype(float),
            np.array(reference.mocap_pos).reshape(N, 1, -1) + 0.02 * rng.normal(size=(N, 5, 3 * m.nmocap)),
            np.array(reference.mocap_quat).reshape(N, 1, -1) + 0.1 * rng.normal(size=(N, 5, 4 * m.nmocap)),
        ],
        axis=2,
    )
    found = [x.rollout(5, control, spec, record=("qpos", "sensordata")) for x in (b, reference)]
    for name in ("qpos", "sensordata"):
        assert_close(found[0][name], found[1][name], name)
    d = mujoco.MjData(m)
    initial = np.zeros((N, mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    mujoco.mj_getState(m, d, initial[0], mujoco.mjtState.mjSTATE_FULLPHYSICS)
    initial[:] = initial[0]
    ours = rollout(m, d, initial, control, control_spec=spec)
    exact = mujoco.rollout.rollout(m, mujoco.MjData(m), initial, control, control_spec=spec)
    assert_close(ours[0], exact[0], "state"), assert_close(ours[1], exact[1], "sensordata")


def test_places_of_bodies_are_inputs_beside_mocap_bodies():
    """Where mocap bodies are is the state's; their own places are where a reset puts them."""
    m, b, reference = batches()
    rng = np.random.default_rng(6)
    position = np.array(reference.expand("body_pos")) + 0.02 * rng.normal(size=(N, m.nbody, 3))
    quaternion = np.array(reference.expand("body_quat")) + 0.05 * rng.normal(size=(N, m.nbody, 4))
    quaternion /= np.linalg.norm(quaternion, axis=2, keepdims=True)
    for x in (b, reference):
        x.expand("body_pos")[...], x.expand("body_quat")[...] = position, quaternion
        x.eq_active[...] = True
    assert_agree(b, reference, OBSERVED)
    for x in (b, reference):
        x.reset([1, 4])
    np.testing.assert_array_equal(b.mocap_pos, reference.mocap_pos)
    np.testing.assert_array_equal(b.mocap_quat, reference.mocap_quat)
    assert np.ptp(reference.mocap_pos, axis=0).max() > 1e-2
    assert_agree(b, reference, OBSERVED)
    assert len(engines(b)) == 1
    models = [reference.get_model(sim) for sim in range(N)]
    whole, exact = Batch(m, N, 1, dtype="float64"), theirs.Batch(m, N, 1)
    for x in (whole, exact):
        x.set_models(models)
    assert_agree(whole, exact, OBSERVED)
