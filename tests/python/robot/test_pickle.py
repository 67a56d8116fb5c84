"""What is sent to other processes: the same numbers there, or an error that says what to send instead."""

import concurrent.futures
import copy
import multiprocessing
import pickle

import mujoco
import numpy as np
import pytest

import featherstorm as fs
from featherstorm.planning import MPPI

ARM = """
<mujoco>
  <worldbody>
    <geom type="plane" size="3 3 .1"/>
    <body name="goal" mocap="true" pos=".5 0 .5"/>
    <body pos="0 0 .5"><joint axis="0 1 0"/><geom name="bar" type="capsule" size=".05" fromto="0 0 0 .3 0 0"/><site name="tip" pos=".3 0 0"/></body>
  </worldbody>
  <actuator><motor joint="swing" ctrlrange="-1 1"/></actuator>
</mujoco>
""".replace("<joint ", '<joint name="swing" ')  # fmt: skip
URDF = """<robot name="arm"><link name="base"/>
<link name="rod"><inertial><origin xyz=".3 0 0"/><mass value="1"/><inertia ixx=".01" ixy="0" ixz="0" iyy=".01" iyz="0" izz=".01"/></inertial>
<collision><origin xyz=".3 0 0"/><geometry><sphere radius=".1"/></geometry></collision></link>
<joint name="j" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""


def of_file(folder, text, **options):
    path = folder / ("arm.urdf" if text is URDF else "arm.xml")
    path.write_text(text)
    return fs.load(path, world=fs.UrdfWorld(ground=True), **options) if text is URDF else fs.load(path, **options)


def cost(x, u, t, p):
    return x.site("tip")[0] + u[0] ** 2


def stepped(model):
    q, v = np.zeros((2, 1)), np.ones((2, 1))
    return fs.step(model, q, v, tau=np.array([[0.1], [0.2]])).v


def spawned(function, *arguments):
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


@pytest.mark.parametrize("text", [ARM, URDF], ids=["mjcf", "urdf"])
def test_a_model_with_tables_of_its_file_is_pickled(tmp_path, text):
    model = of_file(tmp_path, text, parameters=("body_mass", "geom_size", "opt_gravity"))
    heavy = model.bind(body_mass=model.parameter("body_mass") * np.array([[1.0], [2.0]]))
    assert np.ptp(stepped(heavy)[:, 0]) > 1e-5
    for one in (model, heavy):
        for twin in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one)):
            assert twin.parameters == one.parameters
            assert (stepped(twin) == stepped(one)).all()
            for name in one.parameters:
                np.testing.assert_array_equal(twin.parameter(name), one.parameter(name))
    assert pickle.dumps(pickle.loads(pickle.dumps(model)).robot) == pickle.dumps(model.robot)


CRATE = """<mujoco><option {option}/><worldbody><geom type="plane" size="3 3 .1" {surface}/>
  <body name="crate" pos="0 0 .099"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody>
  <actuator><adhesion body="crate" ctrlrange="0 1" gain="{gain}"/></actuator></mujoco>"""
PLAIN = {"option": 'cone="elliptic" gravity="1 0 -9.81"', "surface": "", "gain": 0}


def carried(model):
    """The velocity of a crate after twenty steps with its actuator on."""
    sim = fs.Simulation(model, 1, dtype="float64")
    for _ in range(20):
        sim.step(ctrl=np.ones((1, 1)))
    return sim.v[0].copy()


@pytest.mark.parametrize(
    "what",
    [
        {"surface": 'surfacevel="1 0 0 0 0 0"'},
        {"option": PLAIN["option"] + ' noslip_iterations="5"'},
        {"gain": 30},
    ],
    ids=["surface velocity", "noslip", "adhesion"],
)
def test_what_contacts_read_is_pickled(what):
    plain, model = (
        fs.from_mujoco(mujoco.MjModel.from_xml_string(CRATE.format(**values))) for values in (PLAIN, PLAIN | what)
    )
    assert np.abs(carried(model) - carried(plain)).max() > 1e-6
    assert (carried(pickle.loads(pickle.dumps(model))) == carried(model)).all()


def test_another_process_steps_the_same_world(tmp_path):
    model = of_file(tmp_path, ARM, parameters="body_mass")
    heavy = model.bind(body_mass=model.parameter("body_mass") * np.array([[1.0], [2.0]]))
    assert (spawned(stepped, heavy) == stepped(heavy)).all()


def test_bytes_whose_tables_are_cut_off_are_refused(tmp_path):
    function, (data,) = of_file(tmp_path, ARM).robot.__reduce__()
    assert function(data).has_world
    for wrong in (data[:-1], data[:-1000], data + b"x", data.replace(b"njnt", b"njnx")):
        with pytest.raises(ValueError, match="bytes|no table njnt"):
            function(wrong)


def test_a_rollout_and_a_planner_are_pickled(tmp_path):
    rollout = fs.Rollout(of_file(tmp_path, ARM), cost=cost)
    x0, U = np.zeros((1, 2)), np.linspace(-1, 1, 12).reshape(4, 3, 1)
    expected = rollout(x0, U).costs
    assert (pickle.loads(pickle.dumps(rollout))(x0, U).costs == expected).all()
    planner = MPPI(rollout, 5, samples=16, dtype="float64")
    planner.plan(x0[0])
    twin = pickle.loads(pickle.dumps(planner))
    assert (twin.plan(x0[0]) == planner.plan(x0[0])).all()


class Swing(fs.Env):
    """A task of the arm."""

    def __init__(self, model):
        self.robot = model

    def model(self):
        return self.robot

    def observe(self, x, m, rng):
        return [x.q[0], x.v[0]]

    def reward(self, x, a, m):
        return {"still": -(x.v[0] ** 2)}


def test_what_belongs_to_a_process_says_what_to_pickle_instead(tmp_path):
    from featherstorm.mujoco import Batch

    model = of_file(tmp_path, ARM)
    objects = [
        (fs.Simulation(model, 2), "Simulation.*pickle its model, q, v and ctrl"),
        (Batch(model.compiled, 2), r"Batch.*pickle its model and rows\(\)"),
    ]
    task = pickle.loads(pickle.dumps(Swing(model)))
    objects.append((task.batch(2), r"environments.*pickle its task, and call its batch\(...\) there"))
    for one, message in objects:
        for call in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match=message):
                call(one)


def test_environments_of_gymnasium_say_what_to_pickle_instead():
    pytest.importorskip("gymnasium")
    import gymnasium

    import featherstorm.rl  # noqa: F401  # its names

    environments = gymnasium.make_vec("featherstorm/InvertedPendulum-v5", num_envs=2)
    with pytest.raises(TypeError, match="pickle the arguments that it was made with"):
        pickle.dumps(environments)


def test_an_error_of_simulations_is_pickled():
    from featherstorm.mujoco import SimulationError

    error = SimulationError(np.array([1, 4]), "solver", 7)
    twin = pickle.loads(pickle.dumps(error))
    assert str(twin) == str(error) and twin.ids.tolist() == [1, 4]
