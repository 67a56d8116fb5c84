"""Range finders of featherstorm.mujoco.Batch beside MuJoCo's."""

import warnings

import mujoco
import numpy as np
import pytest

import featherstorm as fs
from featherstorm.mujoco import Batch, rollout

WHOLE = "dist dir origin point normal depth"
SCENE = """
<mujoco>
  <option integrator="{integrator}" timestep=".01"/>
  <asset><hfield name="hills" nrow="4" ncol="5" size="3 3 .5 .1" elevation="0 1 2 0 1  1 0 1 2 0  2 1 0 1 1  0 2 1 0 0"/></asset>
  <worldbody>
    <geom type="hfield" hfield="hills" pos="0 0 -1"/>
    <geom type="box" size=".3 .3 1" pos="2 0 0"/>
    <body name="mast"><site name="still" pos=".1 .2 2" euler="180 0 0"/></body>
    <body name="rover" pos="0 0 1">
      <freejoint/>
      <geom type="box" size=".2 .1 .1" mass="1"/>
      <site name="nose" pos=".1 0 0" euler="0 90 0"/>
      <site name="belly" euler="170 10 0"/>
      <camera name="eye" resolution="5 3" fovy="60" euler="30 0 10"/>
      <camera name="lens" resolution="4 4" focal=".02 .03" sensorsize=".04 .03" principal=".002 -.001" euler="-10 0 0"/>
      <camera name="flat" resolution="3 4" projection="orthographic" fovy="1" euler="20 0 0"/>
      <body pos="0 0 -.3"><joint name="arm" axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 .2 0 0" mass=".1"/></body>
    </body>
    <body name="cloud" mocap="true" pos="0 .5 .3"><geom type="sphere" size=".2" contype="0" conaffinity="0"/></body>
    <body name="probe" mocap="true" pos="1.1 .9 1"><site name="held" euler="180 0 0"/></body>
  </worldbody>
  <sensor>
    <gyro site="nose"/>
    <rangefinder site="nose"/>
    <rangefinder site="belly" data="{whole}"/>
    <rangefinder site="still" cutoff="1.5"/>
    <rangefinder site="held" data="point"/>
    <rangefinder camera="eye"/>
    <rangefinder camera="eye" data="{whole}"/>
    <rangefinder camera="lens" data="dist normal"/>
    <rangefinder camera="flat" data="origin depth"/>
    <clock/>
  </sensor>
</mujoco>
"""


def scene(integrator="Euler"):
    return mujoco.MjModel.from_xml_string(SCENE.format(integrator=integrator, whole=WHOLE))


def batch(m, nsim, dtype="float64"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # contacts of some shapes are left out
        b = Batch(m, nsim, 1, dtype=dtype)
    rng = np.random.default_rng(0)
    b.qpos[:, :3] = [0, 0, 1] + 0.3 * rng.normal(size=(nsim, 3))
    turn = [1.0, 0, 0, 0] + 0.4 * rng.normal(size=(nsim, 4))
    b.qpos[:, 3:7] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    b.mocap_pos[:] += 0.2 * rng.normal(size=b.mocap_pos.shape)
    return b


def of_rays(m):
    """Columns of range finders, and of those of cameras."""
    kind = mujoco.mjtSensor.mjSENS_RANGEFINDER
    own = [i for i in range(m.nsensor) if m.sensor_type[i] == kind]
    columns = [np.arange(m.sensor_adr[i], m.sensor_adr[i] + m.sensor_dim[i]) for i in own]
    return np.concatenate(columns)


def expected(m, b):
    found = []
    for i in range(b.nsim):
        d = b.get_data(i)
        mujoco.mj_forward(m, d)
        found.append(d.sensordata.copy())
    return np.array(found)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 2e-5)])
def test_range_finders_find_what_mujocos_do(dtype, tolerance):
    m = scene()
    b = batch(m, 30, dtype)
    data = b.sensordata
    b.forward()
    columns, theirs = of_rays(m), expected(m, b)
    assert len(columns) > 200 and np.isfinite(data).all()
    wrong = np.abs(data - theirs)[:, columns] > tolerance * np.maximum(1, np.abs(theirs[:, columns]))
    # a ray along an edge may meet it in one precision and not in the other
    assert wrong.mean() <= (0 if dtype == "float64" else 2e-3)
    nose = theirs[:, m.sensor_adr[1]]
    assert (nose < 0).any() and (nose > 0).any() and theirs[:, m.sensor_adr[3]].max() == 1.5


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_ranges_after_a_step_are_those_of_mj_step(integrator):
    m = scene(integrator)
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    b, data = batch(m, 4), []
    for i in range(4):
        data.append(b.get_data(i))
        mujoco.mj_step(m, data[i], 3)
    sensed = b.sensordata
    b.step(nstep=3)
    np.testing.assert_allclose(sensed, [d.sensordata for d in data], rtol=1e-8, atol=1e-8)


def test_rollouts_record_ranges():
    m = scene()
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    b = batch(m, 3)
    start = b.rows(mujoco.mjtState.mjSTATE_FULLPHYSICS)
    recorded = batch(m, 3)
    recorded.mocap_pos[:] = b.mocap_pos[:] = m.body_pos[m.body_mocapid >= 0]
    sensed = recorded.rollout(5, record=("sensordata",))["sensordata"]
    _, ours = rollout.rollout(m, mujoco.MjData(m), start, nstep=5)
    columns = of_rays(m)
    for i in range(3):
        d = b.get_data(i)
        for k in range(5):
            mujoco.mj_step(m, d)
            np.testing.assert_allclose(sensed[i, k, columns], d.sensordata[columns], rtol=1e-8, atol=1e-8)
            np.testing.assert_allclose(ours[i, k, columns], d.sensordata[columns], rtol=1e-8, atol=1e-8)


def test_ranges_where_nothing_moves_and_where_sensors_are_off():
    xml = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
      <body><site name="s" pos="0 0 2" euler="180 0 0"/></body></worldbody>
      <sensor><rangefinder site="s"/></sensor></mujoco>"""
    for flag, found in ((0, 2.0), (int(mujoco.mjtDisableBit.mjDSBL_SENSOR), 0.0)):
        m = mujoco.MjModel.from_xml_string(xml)
        m.opt.disableflags |= flag
        b = Batch(m, 2, 1)
        data = b.sensordata
        b.forward()
        np.testing.assert_allclose(data, found, atol=1e-6)


def test_ranges_are_of_the_positions_stage():
    m = scene()
    b = batch(m, 2)
    b.qvel[:] = 1
    data = b.sensordata
    b.forward(stage=1)
    columns = of_rays(m)
    theirs = expected(m, b)
    np.testing.assert_allclose(data[:, columns], theirs[:, columns], rtol=1e-9, atol=1e-9)
    assert theirs[:, :3].any() and not data[:, :3].any()  # the gyroscope is of another


@pytest.mark.parametrize("name", ["cam_fovy", "cam_intrinsic", "geom_size", "site_pos", "sensor_cutoff", "cam_pos"])
def test_ranges_are_of_the_fields_that_each_simulation_has(name):
    m = scene()
    b = batch(m, 3)
    # no geom grows: MuJoCo's depth images pass over what is beyond the bounds that its compiler found
    factor = np.array([0.7, 0.9]).reshape(2, *[1] * np.ndim(getattr(m, name)))
    b.expand(name)[1:] *= factor
    if name.endswith("pos"):
        b.expand(name)[1:] += 0.05 * factor
    data = b.sensordata
    b.forward()
    columns, theirs = of_rays(m), []
    for i in range(3):
        own, d = b.get_model(i), b.get_data(i)
        mujoco.mj_forward(own, d)
        theirs.append(d.sensordata[columns])
    np.testing.assert_allclose(data[:, columns], theirs, rtol=1e-9, atol=1e-9)
    one = batch(m, 3)
    shared = one.sensordata
    one.forward()
    assert (data[1:] != shared[1:]).any()


def test_ranges_do_not_depend_on_others():
    m = scene()
    many, one = batch(m, 50), batch(m, 50)
    data, some = many.sensordata, one.sensordata
    many.forward()
    one.forward(ids=[17, 40])
    np.testing.assert_array_equal(some[[17, 40]], data[[17, 40]])


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 1e-4)])
def test_a_simulation_measures_range_finders_of_sites_and_cameras(dtype, tolerance):
    m = scene()
    model = fs.from_mujoco(m)
    sim, d = fs.Simulation(model, 3, dtype=dtype), mujoco.MjData(m)
    d.qpos[:7] = [0.1, -0.2, 1.3, 0.9, 0.3, -0.2, np.sqrt(1 - 0.9**2 - 0.3**2 - 0.2**2)]
    mujoco.mj_forward(m, d)
    sim.q[:] = d.qpos
    for i in np.flatnonzero(m.sensor_type == mujoco.mjtSensor.mjSENS_RANGEFINDER):
        theirs = d.sensordata[m.sensor_adr[i] : m.sensor_adr[i] + m.sensor_dim[i]]
        for ours in np.asarray(sim.sensor(int(i))):
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)
