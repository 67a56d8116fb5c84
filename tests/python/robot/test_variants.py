"""Models of one topology as one Model: each instance has the steps of its own model."""

import mujoco
import numpy as np
import pytest

import featherstorm as fs


def leg(thigh=0.25, shin=0.25, radius=0.02, mass=2.0, friction=0.8, stiction=0.0, foot=(0.0, 0.0), gear=1.0):
    """A leg on a rail over the ground, as a designer would vary it."""
    spec = mujoco.MjSpec.from_string(
        f"""
        <mujoco>
          <option timestep="0.002" integrator="implicitfast"/>
          <worldbody>
            <geom name="floor" type="plane" size="0 0 1" friction="{friction}"/>
            <body name="hip" pos="0 0 0.75">
              <joint name="rail" type="slide" axis="0 0 1"/>
              <geom type="box" size="0.05 0.05 0.05" mass="{mass}"/>
              <body name="thigh">
                <joint name="hip" axis="0 1 0" damping="0.1" frictionloss="{stiction}"/>
                <geom type="capsule" fromto="0 0 0 0 0 {-thigh}" size="{radius}"/>
                <body name="shin" pos="0 0 {-thigh}">
                  <joint name="knee" axis="0 1 0" range="-150 -10" damping="0.1"/>
                  <geom type="capsule" fromto="0 0 0 {foot[0]} 0 {-shin}" size="{0.8 * radius}"/>
                  <geom name="foot" type="sphere" pos="{foot[0]} 0 {foot[1] - shin}" size="{1.2 * radius}"/>
                  <site name="sole" type="sphere" pos="{foot[0]} 0 {foot[1] - shin}" size="0.06"/>
                </body>
              </body>
            </body>
          </worldbody>
          <actuator>
            <position joint="hip" kp="40" kv="2" gear="{gear}"/>
            <position joint="knee" kp="40" kv="2"/>
          </actuator>
          <sensor><touch name="sole" site="sole"/></sensor>
        </mujoco>
        """
    )
    return spec.compile()


def designs(n, seed=0):
    rng = np.random.default_rng(seed)
    ranges = {
        "thigh": (0.15, 0.35),
        "shin": (0.15, 0.35),
        "radius": (0.015, 0.03),
        "mass": (1, 4),
        "friction": (0.4, 1.0),
        "gear": (0.8, 1.2),
    }
    return [
        leg(**{name: rng.uniform(*x) for name, x in ranges.items()}, foot=rng.uniform(-0.03, 0.03, 2)) for _ in range(n)
    ]


def run(model, n, u, steps=60):
    sim = fs.Simulation(model, n, dt=0.01, dtype="float64")
    touched = np.zeros(n)
    for t in range(steps):
        sim.step(u[t])
        touched = np.maximum(touched, sim.sensor("sole")[:, 0])
    return np.concatenate([sim.q, sim.v, sim.site("sole"), touched[:, None]], 1)


def test_a_thousand_designs_have_the_steps_of_separately_loaded_models():
    models = designs(1000)
    model = fs.from_mujoco(models, "legs")
    assert {"body_pos", "body_mass", "body_inertia", "geom_size", "geom_pos", "geom_friction"} < set(model.parameters)
    u = np.random.default_rng(1).uniform([-0.3, -1.8], [0.9, -0.6], (60, 1000, 2))
    found = run(model, 1000, u)
    assert np.isfinite(found).all() and (found[:, -1] > 1).mean() > 0.9, "legs fall on the ground"
    assert np.ptp(found[:, 0]) > 0.1
    for i in (0, 1, 127, 128, 500, 999):
        alone = run(fs.from_mujoco(models[i]), 1, u[:, i : i + 1])
        np.testing.assert_allclose(found[i : i + 1], alone, rtol=1e-9, atol=1e-9)


def test_a_rollout_scores_designs_in_one_call():
    models = designs(6, seed=3)
    u = np.random.default_rng(2).uniform([-0.3, -1.8], [0.9, -0.6], (6, 40, 2))

    def cost(x, u, t, p):
        return x.q[0] ** 2 + 1e-3 * u @ u

    def costs(model, u):
        x0 = np.zeros((len(u), 6))
        return fs.Rollout(model, cost=cost, substeps=5)(x0, u).costs

    found = costs(fs.from_mujoco(models), u)
    alone = np.concatenate([costs(fs.from_mujoco(m), u[i : i + 1]) for i, m in enumerate(models)])
    np.testing.assert_allclose(found, alone, rtol=1e-10)
    assert np.ptp(found) > 0.1


def test_an_element_that_only_some_models_have_is_there_for_these():
    models = [leg(stiction=x) for x in (0.0, 0.5, 0.0, 2.0)]
    u = np.full((60, 4, 2), [0.6, -1.2])
    found = run(fs.from_mujoco(models), 4, u)
    np.testing.assert_array_equal(found[0], found[2])
    for i in range(4):
        np.testing.assert_allclose(found[i : i + 1], run(fs.from_mujoco(models[i]), 1, u[:, :1]), rtol=1e-9, atol=1e-9)
    assert abs(found[0, 1] - found[3, 1]) > 1e-3


def test_frames_that_some_models_mark_as_equal_are_read_from_their_numbers():
    xml = "<mujoco><worldbody><body><freejoint/><geom type='sphere' size='{}' pos='{} 0 0' mass='1'/><geom type='sphere' size='0.1' pos='0 0 0' mass='1'/></body></worldbody></mujoco>"
    models = [mujoco.MjModel.from_xml_string(xml.format(r, x)) for r, x in ((0.1, 0.0), (0.1, 0.3), (0.2, 0.0))]
    assert len({bytes(m.geom_sameframe) for m in models}) > 1
    model = fs.from_mujoco(models)
    sims = [
        fs.Simulation(model, 3, dtype="float64"),
        *(fs.Simulation(fs.from_mujoco(m), 1, dtype="float64") for m in models),
    ]
    v = np.array([0, 0, 0, 1.0, 2.0, 3.0])
    for sim in sims:
        sim.v = np.tile(v, (sim.instances, 1))
        for _ in range(50):
            sim.step()
    np.testing.assert_allclose(sims[0].q, np.concatenate([sim.q for sim in sims[1:]]), rtol=1e-10, atol=1e-10)


def test_other_parameters_may_be_named_too():
    model = fs.from_mujoco([leg(), leg(mass=3.0)], parameters="opt_gravity")
    assert {"opt_gravity", "body_mass"} <= set(model.parameters)
    moon = model.bind(opt_gravity=[0, 0, -1.6])
    sims = [fs.Simulation(m, 2) for m in (model, moon)]
    for sim in sims:
        sim.step()
    assert (sims[1].v[:, 0] > sims[0].v[:, 0]).all()


def test_models_of_other_kinds_are_refused():
    more = mujoco.MjSpec.from_string(
        "<mujoco><worldbody><body><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    with pytest.raises(
        ValueError, match=r"models\[1\] has nq 7, models\[0\] has 3; models with other elements are groups"
    ):
        fs.from_mujoco([leg(), more])
    turned = leg()
    turned.jnt_axis[2] = [1, 0, 0]
    with pytest.raises(
        ValueError, match=r"models\[2\] differs from models\[0\] in jnt_axis, which is no input of steps"
    ):
        fs.from_mujoco([leg(), leg(mass=3.0), turned])
    with pytest.raises(ValueError, match="there are no models, expected 1 or more"):
        fs.from_mujoco([])
    with pytest.raises(TypeError, match=r"models\[0\] is a str, expected mujoco.MjModel or mujoco.MjSpec"):
        fs.from_mujoco(["leg.xml"])
    with pytest.raises(ValueError, match=r"has shape \(2, \d+\), expected \(5, "):
        fs.Simulation(fs.from_mujoco([leg(), leg(mass=3.0)]), 5)


def test_meshes_with_other_vertices_are_refused():
    xml = """<mujoco><asset><mesh name="m" vertex="0 0 0 {} 0 0 0 .1 0 0 0 .1"/></asset><worldbody><geom type="plane" size="1 1 1"/>
      <body><freejoint/><geom type="mesh" mesh="m"/></body></worldbody></mujoco>"""
    models = [mujoco.MjModel.from_xml_string(xml.format(x)) for x in (0.1, 0.2)]
    with pytest.raises(
        ValueError, match=r"models\[1\] differs from models\[0\] in mesh_\w+, which is no input of steps"
    ):
        fs.from_mujoco(models)
