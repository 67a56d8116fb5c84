"""Sizes, margins, places of bodies and time steps that differ from simulation to simulation, in models of many shapes."""

import mujoco
import mujoco.batch as theirs
import numpy as np
import pytest
from batch_agreement import assert_close
from test_mujoco_inputs import AROUND

import featherstorm as fs
from featherstorm.mujoco import Batch, Rigid

N = 11
ALONE = 'contype="0" conaffinity="2"'
SHAPES = {
    "sphere": 'size=".08"',
    "capsule": 'size=".05 .1"',
    "ellipsoid": 'size=".1 .08 .06"',
    "cylinder": 'size=".07 .09"',
    "box": 'size=".09 .07 .08"',
}


ITERATED = ("ellipsoid", "cylinder")


def falling(integrator="implicitfast", options="", loops=False):
    """A robot and one body of each shape above the ground, near each other. loops: whether those touch whose contacts MuJoCo finds up to
    its tolerance; else they meet the ground alone."""
    bodies = "".join(
        f'<body name="{shape}" pos="{0.14 * k} {0.02 * k} .1"><freejoint/><geom type="{shape}" {size} mass="1" '
        f"{'' if loops or shape not in ITERATED else ALONE}/></body>"
        for k, (shape, size) in enumerate(SHAPES.items())
    )
    return mujoco.MjModel.from_xml_string(f"""
<mujoco>
  <option integrator="{integrator}" tolerance="0" iterations="200" jacobian="dense" ccd_iterations="400" ccd_tolerance="1e-11" {options}>
    <flag midphase="disable" multiccd="disable"/>
  </option>
  <worldbody>
    <body name="block" pos="0 -.3 .02"><geom type="box" size=".2 .1 .02"/></body>
    <geom type="plane" size="3 3 .1" contype="3"/>
    {bodies}
    <body name="base" pos="0 -.3 .25" quat=".9 .1 .2 .3">
      <joint name="a" axis="0 1 .2" ref="20" stiffness="1" springref="10"/><joint name="b" type="slide" axis="0 0 1" ref=".1"/>
      <geom type="capsule" size=".03 .1" mass=".5"/>
      <body name="arm" pos=".1 0 -.1" quat="1 .2 0 .1">
        <geom type="sphere" size=".03" mass=".2"/>
        <body name="hand" pos="0 .1 -.05"><joint axis="1 0 0" pos=".01 .02 0" range="-40 40" ref="-5"/>
          <geom type="box" size=".03 .04 .02" mass=".2"/><site name="palm" pos="0 0 .03"/>
        </body>
      </body>
    </body>
  </worldbody>
  <sensor><framepos objtype="site" objname="palm"/><framequat objtype="site" objname="palm"/><rangefinder site="palm"/></sensor>
</mujoco>""")  # fmt: skip


def both(m, **options):
    b, reference = Batch(m, N, 1, dtype="float64", **options), theirs.Batch(m, N, 1)
    for x in (b, reference):
        for name, size in AROUND.items():
            x.expand(name)[...] = size
        x.expand("geom_rbound")[:, m.geom_type == 0] = 0
    return b, reference


def write(name, numbers, *batches):
    for x in batches:
        x.expand(name)[...] = numbers


def assert_same(b, reference, steps=20):
    for x in (b, reference):
        for name in ("qacc", "sensordata", "ncon", "xpos"):
            x.bind(name)
        x.forward()
    for name in ("qacc", "sensordata", "ncon", "xpos"):
        assert_close(getattr(b, name), getattr(reference, name), name)
    for x in (b, reference):
        x.step(nstep=steps)
    assert_close(b.qpos, reference.qpos, "qpos"), assert_close(b.time, reference.time, "time")
    assert len(b._variants.engines) == 1


def test_sizes_of_every_shape():
    m = falling()
    b, reference = both(m)
    rng = np.random.default_rng(1)
    # from half to twice as large: what is apart in some touches in others
    numbers = m.geom_size * np.exp(rng.uniform(-0.7, 0.7, (N, *m.geom_size.shape)))
    write("geom_size", numbers, b, reference)
    assert_same(b, reference)
    touching = np.array(b.ncon)
    assert touching.min() < touching.max()


def test_shapes_that_are_found_by_loops():
    """As each alone, on a model of its own."""
    m = falling(loops=True)
    b, rng = Batch(m, N, 1, dtype="float64"), np.random.default_rng(4)
    numbers = {
        "geom_size": m.geom_size * np.exp(rng.uniform(-0.3, 0.3, (N, *m.geom_size.shape))),
        "geom_margin": rng.uniform(0, 0.02, (N, m.ngeom)),
        "body_pos": m.body_pos + 0.02 * rng.normal(size=(N, *m.body_pos.shape)),
    }
    for name, x in numbers.items():
        b.expand(name)[...] = x
    b.bind("ncon"), b.bind("qacc")
    b.forward()
    ncon, qacc = np.array(b.ncon), np.array(b.qacc)
    b.step(nstep=20)
    assert len(b._variants.engines) == 1
    for sim in range(N):
        own = m.__copy__()
        for name, x in numbers.items():
            getattr(own, name)[...] = x[sim]
        alone = Batch(own, 1, 1, dtype="float64")
        alone.bind("ncon"), alone.bind("qacc")
        alone.forward()
        assert int(alone.ncon[0]) == ncon[sim]
        assert_close(qacc[sim], alone.qacc[0])
        alone.step(nstep=20)
        assert_close(b.qpos[sim], alone.qpos[0])


def test_what_is_large_in_one_simulation_alone_is_not_overlooked():
    """Ten times as large: far beyond what the model's own sizes reach."""
    m = falling()
    q = np.array(m.qpos0)
    q[2] += 0.6  # a sphere, high above all
    b, reference = both(m)
    numbers = np.repeat(m.geom_size[None], N, axis=0)
    numbers[4, 2] *= 10
    write("geom_size", numbers, b, reference)
    for x in (b, reference):
        x.qpos[...] = q
    assert_same(b, reference, steps=2)
    assert np.argmax(np.array(b.ncon)) == 4


@pytest.mark.parametrize("law", ["mujoco", Rigid()])
def test_rays_and_contacts_see_sizes(law):
    m = falling()
    b, reference = both(m, law=law)
    numbers = m.geom_size * np.linspace(0.5, 1.5, N)[:, None, None]
    write("geom_size", numbers, b, reference)
    points, ways = np.array([[-1.0, 0.02, 0.1], [0, 0, 1.0], [0.28, 0.04, 1.0], [0.3, 2, 0.1]]), np.eye(3)[[0, 2, 2, 1]]
    ways[1:] *= -1
    for x in (b, reference):
        x.forward()
    ours, exact = b.ray(points, ways), reference.ray(points, ways)
    assert_close(ours[0], exact[0]), assert_close(ours[1], exact[1])
    assert float(np.ptp(ours[0], axis=0).max()) > 0.01


@pytest.mark.parametrize("name", ["geom_margin", "geom_gap"])
def test_margins(name):
    m = falling()
    b, reference = both(m)
    write(name, np.random.default_rng(2).uniform(0, 0.02, (N, m.ngeom)), b, reference)
    assert_same(b, reference)
    counts = np.array(b.ncon)
    assert counts.min() < counts.max()


@pytest.mark.parametrize("integrator", ["Euler", "implicit", "RK4", "discrete"])
@pytest.mark.parametrize("names", [("body_pos",), ("body_quat",), ("qpos0",), ("body_pos", "body_quat", "qpos0")])
def test_places_of_bodies(integrator, names):
    m = falling(integrator)
    b, reference = both(m)
    rng = np.random.default_rng(3)
    for name in names:
        numbers = np.repeat(getattr(m, name)[None], N, axis=0)
        numbers += 0.05 * rng.normal(size=numbers.shape)
        if name == "body_quat":
            numbers /= np.linalg.norm(numbers, axis=-1, keepdims=True)
        if name == "qpos0":
            numbers[:, : m.nq - 3] = m.qpos0[: m.nq - 3]  # of free bodies
        write(name, numbers, b, reference)
    assert_same(b, reference, steps=10)
    usual = Batch(m, N, 1, dtype="float64")
    usual.step(nstep=10)
    assert float(np.abs(np.array(usual.qpos) - b.qpos).max()) > 1e-4


def test_defaults_are_those_of_each_simulation():
    m = falling()
    b, reference = both(m)
    numbers = m.qpos0 + np.linspace(0, 0.3, N)[:, None] * (np.arange(m.nq) >= m.nq - 3)
    write("qpos0", numbers, b, reference)
    for x in (b, reference):
        x.reset()
    assert_close(b.qpos, reference.qpos)
    assert_close(b.qpos, numbers)
    b.qpos[3, 0] = np.nan
    reference.qpos[3, 0] = np.nan
    for x in (b, reference):
        x.step()
    assert_close(b.qpos, reference.qpos)


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4", "discrete"])
@pytest.mark.parametrize("law", ["mujoco", Rigid()])
def test_time_steps(integrator, law):
    if integrator == "RK4" and law != "mujoco":
        return
    m = falling(integrator)
    h = np.linspace(1e-3, 4e-3, N)
    b = Batch(m, N, 1, dtype="float64", law=law)
    b.expand("opt.timestep")[...] = h
    b.step(nstep=20)
    np.testing.assert_allclose(b.time, 20 * h, rtol=1e-12)
    assert len(b._variants.engines) == 1
    for sim in (0, 4, N - 1):
        alone = falling(integrator)
        alone.opt.timestep = h[sim]
        if law == "mujoco":
            d = mujoco.MjData(alone)
            for _ in range(20):
                mujoco.mj_step(alone, d)
            assert_close(b.qpos[sim], d.qpos)
        own = Batch(alone, 1, 1, dtype="float64", law=law)
        own.step(nstep=20)
        assert_close(b.qpos[sim], own.qpos[0])
    found = b.rollout(3, record=("time",))["time"]
    np.testing.assert_allclose(found[:, -1].ravel(), 23 * h, rtol=1e-9)
    b.expand("opt.timestep")[2] = 0
    with pytest.raises(ValueError, match=r"opt.timestep: some are 0, expected positive numbers"):
        b.step()


def test_time_steps_of_instances_are_refused_where_they_share_their_time():
    model = fs.from_mujoco(falling(), parameters=("opt_timestep",))
    with pytest.raises(
        ValueError, match="opt_timestep is a parameter of the model, but all instances share their time"
    ):
        fs.Simulation(model, 3).step()


def test_friction_beside_the_normal():
    m = falling(options='cone="elliptic"')
    b, reference = both(m)
    for x in (b, reference):
        x.qvel[:, 0:30:6] = 1
    write("opt.impratio", np.geomspace(0.1, 100, N), b, reference)
    assert_same(b, reference)


def test_where_a_height_field_is_touched_sizes_make_engines():
    m = mujoco.MjModel.from_xml_string("""
<mujoco><option ccd_iterations="400" ccd_tolerance="1e-11"/><asset><hfield name="f" nrow="4" ncol="4" size="1 1 .2 .1" elevation="0 0 0 0 0 .3 .3 0 0 .3 .3 0 0 0 0 0"/></asset>
<worldbody><geom type="hfield" hfield="f"/><body pos="0 0 .3"><freejoint/><geom size=".1" mass="1"/></body></worldbody></mujoco>""")
    b, reference = Batch(m, 3, 1, dtype="float64"), theirs.Batch(m, 3, 1)
    for x in (b, reference):
        x.expand("geom_size")[:, 1, 0] = [0.1, 0.2, 0.3]
        x.expand("geom_rbound")[:, 1] = 1
        x.qpos[:, 2] = [0.19, 0.29, 0.39]
        x.step(nstep=3)
    assert float(np.abs(np.array(b.qvel) - reference.qvel).max()) < 1e-4 < float(np.abs(b.qvel).max())
    assert len(b._variants.engines) == 2  # beside the model's own
