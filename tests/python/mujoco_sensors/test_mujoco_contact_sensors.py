"""Contact sensors and other readings of contacts in featherstorm.mujoco.Batch, beside mjData, in double."""

import itertools
import warnings

import mujoco
import numpy as np
import pytest
from batch_agreement import model as compiled

import featherstorm as fs
from featherstorm.mujoco import Batch

COUNT = 5
CLOSE = 1e-8  # of the greatest number of an array
FIELDS = ("found", "force", "torque", "dist", "pos", "normal", "tangent")
REDUCTIONS = ("none", "mindist", "maxforce", "netforce")
# each way to choose contacts; a chain lies on blocks, beside a ball that no sensor names
MATCHES = {
    "all": "",
    "geom": 'geom1="foot"',
    "second geom": 'geom2="floor"',
    "two geoms": 'geom1="foot" geom2="floor"',
    "two geoms in reverse": 'geom1="floor" geom2="foot"',
    "body": 'body1="base"',
    "two bodies": 'body1="base" body2="world"',
    "subtree": 'subtree1="base"',
    "second subtree": 'subtree2="base"',
    "subtree and body": 'subtree1="base" body2="block"',
    "both are of the subtree": 'subtree1="world" subtree2="base"',
    "site": 'site="zone"',
    "site and subtree": 'site="zone" subtree2="base"',
    "nothing": 'geom1="foot" geom2="ball"',
}
ZONES = {"sphere": ".35", "capsule": ".2 .2", "ellipsoid": ".3 .3 .2", "cylinder": ".3 .2", "box": ".25 .25 .1"}


def scene(sensors, options="", zone="box", dim=3):
    return f"""
<mujoco>
  <option timestep="0.002" {options}/>
  <default><geom condim="{dim}" friction="0.7 0.02 0.01" margin="0.01" gap="0.004"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="3 3 .1"/>
    <body name="block" pos=".39 .1 .06"><freejoint/><geom name="block" type="box" size=".2 .25 .05" mass="3"/></body>
    <body name="base" pos="0 0 .18">
      <freejoint/>
      <geom name="trunk" type="box" size=".15 .1 .05" mass="1"/>
      <site name="zone" type="{zone}" size="{ZONES[zone]}" pos=".05 0 -.1" euler="10 20 5"/>
      <body name="leg" pos=".15 0 0">
        <joint axis="0 1 0" damping=".1"/>
        <geom name="foot" type="capsule" size=".04 .1" pos=".08 0 -.06" euler="0 130 0" mass=".3"/>
      </body>
    </body>
    <body name="ball" pos="-.3 .2 .15"><freejoint/><geom name="ball" type="sphere" size=".1" mass="1"/></body>
  </worldbody>
  <sensor>{sensors}</sensor>
</mujoco>
"""


def states_of(m, count=COUNT):
    """States along falls, each of its own beginning."""
    rng = np.random.default_rng(3)
    states = [mujoco.MjData(m) for _ in range(count)]
    for k, d in enumerate(states):
        mujoco.mj_integratePos(m, d.qpos, rng.normal(size=m.nv), 0.05)
        d.qvel[:] = 0.5 * rng.normal(size=m.nv)
        mujoco.mj_step(m, d, 60 + 40 * k)
        mujoco.mj_forward(m, d), mujoco.mj_rnePostConstraint(m, d)
    return states


def batch_at(m, states, fields, dtype="float64"):
    with warnings.catch_warnings():
        warnings.simplefilter("error", fs.Notice)  # a sensor that is not measured has one
        b = Batch(m, len(states), 1, dtype=dtype)
    for k, d in enumerate(states):
        b.qpos[k], b.qvel[k] = d.qpos, d.qvel
    for name in fields:
        b.bind(name)
    b.forward()
    return b


def assert_close(ours, theirs, close=CLOSE):
    assert np.abs(ours - theirs).max() < close * max(1, np.abs(theirs).max())


def sensor(match, fields=FIELDS, reduction="none", num=3):
    return f'<contact {match} data="{" ".join(fields)}" reduce="{reduction}" num="{num}"/>'


@pytest.mark.parametrize("reduction", REDUCTIONS)
@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_contact_sensors_of_every_match_agree(reduction, cone):
    """All fields of three slots, for each way to choose contacts."""
    m = compiled(scene("".join(sensor(match, reduction=reduction) for match in MATCHES.values()), f'cone="{cone}"'))
    states = states_of(m)
    theirs = np.array([d.sensordata for d in states])
    measured = (theirs != 0).any(axis=0).reshape(len(MATCHES), -1).any(axis=1)
    assert measured[:-1].all(), "each sensor but the last measures something"
    assert_close(batch_at(m, states, ["sensordata"]).sensordata, theirs)


def test_contact_sensors_of_some_fields_agree():
    some = [tuple(f for f, chosen in zip(FIELDS, bits) if chosen) for bits in itertools.product((0, 1), repeat=7)][1:]
    m = compiled(scene("".join(sensor('subtree1="base"', f, REDUCTIONS[k % 4], 1 + k % 3) for k, f in enumerate(some))))
    states = states_of(m)
    assert_close(batch_at(m, states, ["sensordata"]).sensordata, np.array([d.sensordata for d in states]))


@pytest.mark.parametrize("zone", ZONES)
def test_contact_sensors_in_the_volume_of_a_site_agree(zone):
    m = compiled(scene(sensor('site="zone"', num=8) + sensor("", num=8), zone=zone))
    states = states_of(m)
    theirs = np.array([d.sensordata for d in states])
    inside, everywhere = theirs[:, 0], theirs[:, m.sensor_adr[1]]
    assert inside.any() and (inside < everywhere).any(), "some contacts are in the volume, some are not"
    assert_close(batch_at(m, states, ["sensordata"]).sensordata, theirs)


@pytest.mark.parametrize("dim", [1, 4, 6])
def test_contact_sensors_have_forces_and_torques_of_every_dimension(dim):
    """One slot: points of two boxes with the same criterion may come in another order than MuJoCo's."""
    m = compiled(scene("".join(sensor('subtree1="base"', reduction=r, num=1) for r in REDUCTIONS[1:]), dim=dim))
    states = states_of(m)
    assert_close(batch_at(m, states, ["sensordata"]).sensordata, np.array([d.sensordata for d in states]))


def test_contacts_in_the_gap_are_counted_without_a_force():
    """Nearer than margin + gap they are contacts; only those nearer than the margin have rows."""
    m = compiled(scene(sensor('geom1="ball"', ("found", "force", "dist"))))
    d = mujoco.MjData(m)
    d.qpos[m.jnt_qposadr[m.body("ball").jntadr[0]] + 2] = 0.1 + 2 * (0.01 + 0.003)
    mujoco.mj_forward(m, d)
    near = [c for c in d.contact if m.geom("ball").id in c.geom]
    assert len(near) == 1 and near[0].efc_address < 0
    b = batch_at(m, [d], ["sensordata", "ncon", "nefc"])
    assert int(b.ncon[0, 0] if b.ncon.ndim > 1 else b.ncon[0]) == d.ncon
    assert int(b.nefc[0, 0] if b.nefc.ndim > 1 else b.nefc[0]) == d.nefc
    assert b.sensordata[0, 0] == 1
    assert_close(b.sensordata[0], d.sensordata)


def test_contact_sensors_after_steps_are_those_of_their_last_evaluation():
    for integrator in ("Euler", "RK4"):
        m = compiled(scene(sensor('subtree1="base"') + sensor("", reduction="netforce"), f'integrator="{integrator}"'))
        states = states_of(m, 3)
        b = Batch(m, 3, 1, dtype="float64")
        b.bind("sensordata")
        for k, d in enumerate(states):
            b.qpos[k], b.qvel[k], b.bind("qacc_warmstart")[k] = d.qpos, d.qvel, d.qacc_warmstart
        b.step(nstep=3)
        for d in states:
            mujoco.mj_step(m, d, 3)
        assert_close(b.sensordata, np.array([d.sensordata for d in states]), 1e-7)


def test_contact_sensors_in_single_precision_are_close():
    m = compiled(scene("".join(sensor('subtree1="base"', reduction=r, num=1) for r in ("maxforce", "netforce"))))
    states = states_of(m)
    assert_close(
        batch_at(m, states, ["sensordata"], "float32").sensordata, np.array([d.sensordata for d in states]), 2e-3
    )


def test_instances_do_not_hang_on_their_neighbours():
    m = compiled(scene("".join(sensor("", reduction=r) for r in REDUCTIONS)))
    states = states_of(m, 7)
    together = np.array(batch_at(m, states, ["sensordata", "cfrc_ext"]).sensordata)
    for k in (0, 3, 6):
        np.testing.assert_array_equal(batch_at(m, [states[k]], ["sensordata"]).sensordata[0], together[k])


BLOCKS = "".join(
    f'<geom type="box" size=".1 .1 .05" pos="{i % 20 * 0.25 - 2.5} {i // 20 * 0.25 - 1.25} 0"/>' for i in range(200)
)
FEET = "".join(
    f'<body pos="{0.1 * np.cos(k):.3f} {0.1 * np.sin(k):.3f} 0"><joint axis="0 1 0"/><geom type="box" size=".02 .02 .1" pos="0 0 -.1"/>'
    f'<site name="s{k}" pos="0 0 -.2" size=".03"/></body>'
    for k in range(12)
)
TERRAIN = f"""<mujoco><worldbody>{BLOCKS}<body pos="0 0 .25"><freejoint/><geom type="box" size=".1 .1 .05"/>{FEET}</body></worldbody>
<sensor><touch site="s0"/><force site="s1"/><contact site="s2" data="found force" reduce="netforce"/></sensor></mujoco>"""


def test_readings_take_arrays_of_what_is_read_and_not_of_all_candidates():
    """13 boxes over 200 boxes: 20 800 places for contacts."""
    m = compiled(TERRAIN)
    d = mujoco.MjData(m)
    mujoco.mj_step(m, d, 100)
    mujoco.mj_forward(m, d), mujoco.mj_rnePostConstraint(m, d)
    assert d.ncon > 10
    fields = ("sensordata", "ncon", "nefc", "cfrc_ext", "cfrc_int")
    b = batch_at(m, [d, d], fields)
    for name in fields:
        assert_close(np.asarray(b.bind(name)[0], float), np.asarray(getattr(d, name), float))
    kernels = b._variants.own.fields
    for parts in list(kernels.made):
        assert sum(kernels.solved(parts).values()) < 300
