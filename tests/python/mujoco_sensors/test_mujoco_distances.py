"""Sensors of distances between geoms, of projections into cameras, and of users beside MuJoCo's."""

import mujoco
import mujoco.batch as theirs
import numpy as np
import pytest
from batch_agreement import assert_close, model, stirred

import featherstorm as fs
from featherstorm.mujoco import Batch

N = 7
SHAPES = {
    "sphere": 'type="sphere" size=".1"',
    "capsule": 'type="capsule" size=".05 .1"',
    "ellipsoid": 'type="ellipsoid" size=".1 .06 .08"',
    "cylinder": 'type="cylinder" size=".07 .1"',
    "box": 'type="box" size=".1 .05 .07"',
    "mesh": 'type="mesh" mesh="wedge"',
}
CLOSED = [
    ("sphere", "sphere"),
    ("sphere", "capsule"),
    ("cylinder", "sphere"),
    ("sphere", "box"),
    ("capsule", "capsule"),
    ("box", "capsule"),
    *(("floor", shape) for shape in SHAPES),
]
LOOPS = [
    ("box", "box"),
    ("mesh", "sphere"),
    ("capsule", "mesh"),
    ("ellipsoid", "cylinder"),
    ("mesh", "mesh"),
    ("cylinder", "box"),
    ("hills", "sphere"),
    ("box", "hills"),
]
KINDS = ("distance", "normal", "fromto")


def scene(pairs, cutoff=2.0, contact="disable", more="", flags=""):
    """Free bodies, two of each shape, over a floor, and sensors of some pairs."""
    bodies = "".join(
        f'<body name="{shape}{k}" pos="{x} {0.5 * k} .5"><freejoint/><geom name="{shape}{k}" {geom} euler="20 30 40"/></body>'
        for x, (shape, geom) in zip((-0.5, -0.3, -0.1, 0.1, 0.3, 0.5), SHAPES.items())
        for k in range(2)
    )
    named = lambda k, shape: (  # noqa: E731
        f'body{k}="hills"' if shape == "hills" else f'geom{k}="{shape if shape == "floor" else f"{shape}{k - 1}"}"'
    )
    sensors = "".join(
        f'<{kind} name="{kind}_{a}_{b}" {named(1, a)} {named(2, b)} cutoff="{cutoff}"/>'
        for a, b in pairs
        for kind in KINDS
    )
    return model(f"""<mujoco>
      <option ccd_tolerance="1e-12" ccd_iterations="200"><flag contact="{contact}" {flags}/></option>
      <asset><mesh name="wedge" vertex="0 0 0  .2 0 0  0 .15 0  0 0 .1  .15 .1 .05"/>
        <hfield name="hills" nrow="3" ncol="3" size="2 2 .3 .1" elevation="0 1 0 1 0 1 0 .5 1"/></asset>
      <worldbody><geom name="floor" type="plane" size="5 5 1" euler="5 0 0"/>
        <body name="hills" pos="0 0 -1"><geom type="hfield" hfield="hills"/></body>{bodies}{more}</worldbody>
      <sensor>{sensors}</sensor></mujoco>""")


def placed(m, spread=0.3, seed=0):
    """Random states with bodies apart and in each other."""
    rng, rows = np.random.default_rng(seed), stirred(m, N, seed)
    q = rows[:, 1 : 1 + m.nq].reshape(N, -1, 7)
    q[:, :, :3] = np.array([0, 0, 0.4]) + rng.uniform(-spread, spread, (N, q.shape[1], 3))
    q[:, :, 3:] = rng.normal(size=(N, q.shape[1], 4))
    return rows


def sensed(b, rows):
    b.bind("sensordata")
    b.set_rows(rows) if isinstance(b, Batch) else b.state.__setitem__(slice(None), rows)
    b.forward()
    return np.array(b.sensordata)


@pytest.mark.parametrize("cutoff", [2.0, 0.1])
@pytest.mark.parametrize("pair", CLOSED, ids="-".join)
def test_distances_with_closed_forms_agree_with_mujoco(pair, cutoff):
    m = scene([pair], cutoff)
    rows = placed(m)
    b = Batch(m, N, 1, dtype="float64")
    assert not b._variants.own.apart.some
    assert_close(sensed(b, rows), sensed(theirs.Batch(m, N, 1), rows), tolerance=1e-8)


@pytest.mark.parametrize("cutoff", [2.0, 0.1])
@pytest.mark.parametrize("pair", LOOPS, ids="-".join)
def test_distances_that_loops_find_agree_with_mujoco(pair, cutoff):
    m = scene([pair], cutoff)
    rows = placed(m, 0.6)
    b = Batch(m, N, 1, dtype="float64")
    assert b._variants.own.apart.some
    ours, reference = sensed(b, rows), sensed(theirs.Batch(m, N, 1), rows)
    assert_close(ours[:, 0], reference[:, 0], tolerance=1e-8)
    # MuJoCo's points of round bodies are as exact as the root of its tolerance, and so are normals of narrow gaps
    is_round = not {"ellipsoid", "cylinder"}.isdisjoint(pair)
    clear = np.abs(reference[:, 0]) > (0.02 if is_round else 1e-9)
    assert clear.any()
    assert_close(ours[clear, 1:], reference[clear, 1:], tolerance=1e-4 if is_round else 1e-8)


def test_bodies_are_as_far_as_their_nearest_geoms():
    more = """<body name="hand" pos="0 0 1"><joint/><geom type="sphere" size=".05" pos="0 .3 0"/><geom type="box" size=".05 .1 .1" pos=".2 0 0"/>
      <geom type="capsule" size=".03 .1" pos="0 0 .3"/></body>"""
    spec = mujoco.MjSpec.from_string(scene_xml(more))
    for kind in ("GEOMDIST", "GEOMNORMAL", "GEOMFROMTO"):
        for other, of in (("capsule0", "BODY"), ("floor", "GEOM")):
            spec.add_sensor(
                type=getattr(mujoco.mjtSensor, f"mjSENS_{kind}"), objtype=mujoco.mjtObj.mjOBJ_BODY, objname="hand",
                reftype=getattr(mujoco.mjtObj, f"mjOBJ_{of}"), refname=other, cutoff=3,
            )  # fmt: skip
    m = spec.compile()
    rows = stirred(m, N)
    assert_close(sensed(Batch(m, N, 1, dtype="float64"), rows), sensed(theirs.Batch(m, N, 1), rows), tolerance=1e-8)


def unit(m, q):
    """Return configurations (n, nq) with quaternions of length one."""
    q = np.array(q)
    for x in q:
        mujoco.mj_normalizeQuat(m, x)
    return q


def scene_xml(more):
    return f"""<mujoco><option><flag contact="disable"/></option><worldbody><geom name="floor" type="plane" size="5 5 1"/>
      <body name="capsule0" pos="0 .2 .5"><freejoint/><geom type="capsule" size=".05 .1"/></body>{more}</worldbody></mujoco>"""


def test_sizes_of_geoms_that_differ_are_measured():
    m = scene([("sphere", "box"), ("box", "box")])
    hills = m.geom_type == int(mujoco.mjtGeom.mjGEOM_HFIELD)
    m.geom_contype[hills] = m.geom_conaffinity[hills] = 0  # sizes are no inputs where a height field may be touched
    rows = placed(m, 0.6)
    ours, reference = Batch(m, N, 1, dtype="float64"), theirs.Batch(m, N, 1)
    for b in (ours, reference):
        b.expand("geom_size")[...] *= np.linspace(0.5, 0.9, N)[:, None, None]
    found, expected = sensed(ours, rows), sensed(reference, rows)
    apart = (expected[:, 0] > 0) & (expected[:, 10] > 0)
    assert apart.any()
    assert_close(found[apart], expected[apart], tolerance=1e-8)
    assert len(ours._variants.engines) == 1


def test_a_step_tells_distances_of_its_beginning():
    m = scene([("sphere", "box"), ("mesh", "box")])
    rows = placed(m, 0.6)
    found = []
    for b in (Batch(m, N, 1, dtype="float64"), theirs.Batch(m, N, 1)):
        sensed(b, rows)
        b.step(nstep=3)
        found.append(np.array(b.sensordata))
    apart = (found[1][:, 0] > 0) & (found[1][:, 10] > 0)
    assert apart.any()
    assert_close(found[0][apart], found[1][apart], tolerance=1e-8)


def test_simulations_measure_distances():
    m = scene([("sphere", "box"), ("mesh", "box")])
    rows = placed(m, 0.6)
    expected = sensed(theirs.Batch(m, N, 1), rows)
    sim = fs.Simulation(fs.from_mujoco(m), N, dtype="float64")
    sim.reset(q=unit(m, rows[:, 1 : 1 + m.nq]))
    for i in range(m.nsensor):
        name = mujoco.mj_id2name(m, mujoco.mjtObj.mjOBJ_SENSOR, i)
        columns = slice(m.sensor_adr[i], m.sensor_adr[i] + m.sensor_dim[i])
        apart = expected[:, columns.start // 10 * 10] > 0
        assert_close(np.array(sim.sensor(name))[apart], expected[apart, columns], name, 1e-8)


def test_functions_that_are_traced_measure_distances_with_closed_forms_alone():
    m = scene([("sphere", "box"), ("mesh", "box")])
    model_ = fs.from_mujoco(m)
    x0 = np.concatenate([unit(m, placed(m, 0.6)[:1, 1 : 1 + m.nq])[0], np.zeros(m.nv)])
    U = np.zeros((1, 1, 0))
    fs.Rollout(model_, cost=lambda x, u, t, p: x.sensor("distance_sphere_box")[0])(x0, U)
    with pytest.raises(ValueError, match="distance_mesh_box measures distances between shapes without a closed"):
        fs.Rollout(model_, cost=lambda x, u, t, p: x.sensor("distance_mesh_box")[0])(x0, U)


CAMERAS = """<mujoco><worldbody>
  <body name="target" pos="0 0 1"><freejoint/><geom size=".1"/><site name="seen" pos=".1 0 0"/>
    <body pos=".3 0 0"><joint axis="0 1 0"/><geom size=".1"/><site name="hand"/></body></body>
  <camera name="fixed" pos="0 -3 1" euler="90 0 0" fovy="40" resolution="64 48"/>
  <body name="carrier" pos="0 -2 1"><joint axis="0 0 1"/><geom size=".1"/>
    <camera name="tracking" mode="track" pos="0 -1 0" euler="90 0 0" resolution="32 16"/>
    <camera name="trackcom" mode="trackcom" pos="0 -1 0" euler="90 0 0" resolution="32 16"/>
    <camera name="aiming" mode="targetbody" target="target" pos="0 0 .3" resolution="320 200"/>
    <camera name="lens" pos=".1 0 0" euler="90 0 0" focal="0.02 0.03" sensorsize=".01 .01" resolution="100 80"/></body>
  <body name="stand" mocap="true" pos="1 -3 1"><camera name="held" euler="90 10 0" resolution="20 30"/><site name="mark"/></body>
  </worldbody><sensor>{}</sensor></mujoco>"""


def cameras(*names):
    sensors = "".join(f'<camprojection site="{s}" camera="{c}"/>' for c in names for s in ("seen", "hand", "mark"))
    for c in names:
        sensors += f'<framepos objtype="camera" objname="{c}"/><framexaxis objtype="camera" objname="{c}"/>'
        sensors += f'<framequat objtype="camera" objname="{c}"/><framepos objtype="site" objname="hand" reftype="camera" refname="{c}"/>'
    return model(CAMERAS.format(sensors))


@pytest.mark.parametrize("names", [("fixed", "lens"), ("tracking", "trackcom"), ("aiming",), ("held",)], ids="-".join)
def test_projections_into_cameras_agree_with_mujoco(names):
    m = cameras(*names)
    rows = stirred(m, N)
    columns = slice(rows.shape[1] - 7 * m.nmocap, rows.shape[1] - 4 * m.nmocap)
    rows[:, columns] += np.random.default_rng(1).normal(0, 0.1, (N, 3))
    assert_close(sensed(Batch(m, N, 1, dtype="float64"), rows), sensed(theirs.Batch(m, N, 1), rows))


def test_simulations_measure_projections():
    m = cameras("fixed", "tracking", "aiming")
    rows = stirred(m, N)
    expected = sensed(theirs.Batch(m, N, 1), rows)
    sim = fs.Simulation(fs.from_mujoco(m), N, dtype="float64")
    sim.reset(q=unit(m, rows[:, 1 : 1 + m.nq]))
    for i in range(m.nsensor):
        columns = slice(m.sensor_adr[i], m.sensor_adr[i] + m.sensor_dim[i])
        assert_close(sim.sensor(i), expected[:, columns], str(i))


def test_lenses_that_differ_are_seen():
    m = cameras("fixed")
    rows = stirred(m, N)
    ours, reference = Batch(m, N, 1, dtype="float64"), theirs.Batch(m, N, 1)
    for b in (ours, reference):
        b.expand("cam_fovy")[:, 0] = np.linspace(20, 60, N)
    assert_close(sensed(ours, rows), sensed(reference, rows))


def test_sensors_of_users_are_zero():
    m = model("""<mujoco><worldbody><body name="b"><joint/><geom size=".1" pos=".1 0 0"/></body></worldbody>
      <sensor><user dim="3" objtype="body" objname="b" needstage="vel"/><clock/></sensor></mujoco>""")
    b = Batch(m, 2, 1, dtype="float64")
    data = b.sensordata
    b.step(nstep=2)
    np.testing.assert_array_equal(data[:, :3], 0)
    assert (data[:, 3] > 0).all()
