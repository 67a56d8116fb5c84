"""Fleet: groups of different models with one clock have the bits of each group alone."""

import os
import threading

import mujoco
import numpy as np
import pytest

import fake_cuda
import featherstorm as fs
from fake_cuda import needs_device
from featherstorm import _featherstorm
from featherstorm._evaluation.groups import Together

BALL = """
<mujoco model="ball"><option timestep="0.002"/><worldbody><geom type="plane" size="0 0 1"/>
  <body pos="0 0 0.5"><freejoint/><geom size="0.1" mass="1"/></body></worldbody></mujoco>"""
ARM = """
<mujoco model="arm"><option timestep="0.001"/><worldbody>
  <body><joint name="a" axis="0 1 0" damping="0.1"/><geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/>
    <body pos="0.3 0 0"><joint name="b" axis="0 1 0" damping="0.1"/><geom type="capsule" size="0.02" fromto="0 0 0 0.3 0 0"/></body>
  </body></worldbody><actuator><motor joint="a"/><general joint="b" dyntype="filter" dynprm="0.1"/></actuator></mujoco>"""
SIZES = (150, 40, 300)
DT = 0.004


def world(xml):
    return fs.from_mujoco(mujoco.MjModel.from_xml_string(xml))


@pytest.fixture(scope="module")
def models():
    return world(BALL), world(ARM), fs.load("cartpole")


def fleet_of(models, **options):
    ball, arm, cart = models
    return fs.Fleet([(ball, 150), (arm, 40), (cart, 300, {"kp": 5.0, "kd": 0.5})], DT, **options)


def drives(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(40, 2)), rng.normal(size=(300, 2)), rng.normal(size=(300, 2)), rng.normal(size=(150, 6))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_groups_have_the_bits_of_simulations_alone(models, dtype):
    fleet = fleet_of(models, dtype=dtype)
    alone = [fs.Simulation(model, n, DT, dtype=dtype, **options) for model, n, options in zip(models, SIZES, ({}, {}, {"kp": 5.0, "kd": 0.5}))]  # fmt: skip
    for t in range(60):
        ctrl, tau, target, push = (x.astype(dtype) for x in drives(t))
        fleet.step([None, ctrl, tau], tau=[push, None, None], q_target=[None, None, target])
        alone[0].step(tau=push)
        alone[1].step(ctrl)
        alone[2].step(tau, q_target=target)
    for sim, one in zip(fleet.groups, alone):
        assert sim.q.tobytes() == one.q.tobytes() and sim.v.tobytes() == one.v.tobytes()
        assert np.isclose(sim.time, fleet.time) and np.isclose(fleet.time, 60 * DT)
    assert fleet.groups[1].act.tobytes() == alone[1].act.tobytes() and fleet.groups[1].act.any()


def test_padded_arrays_have_the_numbers_of_lists(models):
    lists, padded = (fleet_of(models) for _ in range(2))
    assert padded.mask("drive").sum(1).tolist() == [0] * 150 + [2] * 340
    for t in range(5):
        ctrl, tau, *_ = (x.astype("float32") for x in drives(t))
        lists.step([None, ctrl, tau])
        padded.step(np.concatenate([np.full((150, 2), np.nan, "float32"), ctrl, tau]))
    for name in ("q", "v", "act", "ctrl"):
        found, mask = padded.padded(name), padded.mask(name)
        assert found.shape == mask.shape and not found[~mask].any()
        np.testing.assert_array_equal(found, lists.padded(name))
    q = padded.padded("q")
    for sim, rows in zip(padded.groups, padded.rows):
        np.testing.assert_array_equal(q[rows, : sim.model.nq], sim.q)
    q[:, 0] += 1
    padded.put("q", q)
    np.testing.assert_array_equal(padded.padded("q")[:, 0], q[:, 0])
    padded.put("v", [None, np.ones((40, 2)), None])
    assert (padded.v[1] == 1).all() and (padded.v[0] == lists.v[0]).all()


def test_one_clock(models):
    ball, arm, cart = models
    with pytest.raises(
        ValueError, match=r"timestep of group 0 is 0.002 s, of group 1 0.001 s; expected dt, a multiple"
    ):
        fs.Fleet([(ball, 2), (arm, 2)])
    with pytest.raises(ValueError, match="group 1 has no timestep of its own, expected dt"):
        fs.Fleet([(ball, 2), (cart, 2)])
    assert fs.Fleet([(ball, 2), (ball, 3)]).dt == 0.002
    fleet = fs.Fleet([(ball, 2), (arm, 2)], dt=0.002)
    assert [sim.substeps for sim in fleet.groups] == [1, 2]
    fleet.groups[0].time = 5.0
    fleet.step()
    assert fleet.time == fleet.groups[0].time == fleet.groups[1].time == 0.002


def test_instances_of_all_groups_are_reset_by_a_mask(models):
    fleet = fleet_of(models)
    fleet.step()
    mask = np.zeros(490, bool)
    mask[[3, 160, 489]] = True
    fleet.reset(mask)
    at_start = np.concatenate([(abs(sim.q - sim.model.q0 if k == 2 else sim.q - np.array(sim.model.compiled.qpos0)) < 1e-7).all(1)
                               for k, sim in enumerate(fleet.groups)])  # fmt: skip
    assert at_start[mask].all() and fleet.time == DT and not at_start[:150][~mask[:150]].any()
    fleet.v[2][4] = np.nan
    assert fleet.status.nonzero()[0].tolist() == [194]
    fleet.reset(fleet.status != 0)
    assert not fleet.status.any()
    fleet.reset()
    assert fleet.time == 0


def test_wrong_arguments_advance_no_group(models):
    fleet = fleet_of(models)
    before = [sim.q.copy() for sim in fleet.groups]
    ctrl, tau, target, _ = (x.astype("float32") for x in drives())
    for error, said, arguments in (
        (ValueError, "drive has 2 arrays, expected 3, one for each group", {"drive": [ctrl, tau]}),
        (ValueError, r"drive has shape \(490, 3\), expected \(490, 2\), or a list", {"drive": np.zeros((490, 3))}),
        (ValueError, r"group 2: tau has shape \(300, 3\), expected \(300, 2\)", {"drive": [None, ctrl, np.zeros((300, 3), "f4")]}),
        (TypeError, "group 2: tau is float64, expected float32", {"drive": [None, ctrl, tau.astype("float64")]}),
        (TypeError, "group 1 has the world of a file, whose actuators have targets", {"q_target": [None, ctrl, None]}),
        (TypeError, "tau of group 2 is given twice", {"drive": [None, ctrl, tau], "tau": [None, None, tau]}),
    ):  # fmt: skip
        with pytest.raises(error, match=said):
            fleet.step(**arguments)
    bare = fs.Fleet([(models[2], 300)], DT)
    with pytest.raises(TypeError, match="q_target of group 0 needs its option kp"):
        bare.step(q_target=[target])
    assert all((sim.q == q).all() for sim, q in zip(fleet.groups, before)) and fleet.time == 0
    q = fleet.padded("q")
    q[0, 3:7] = 0
    q[200:] += 1
    with pytest.raises(ValueError, match="quaternion"):
        fleet.put("q", q)
    assert all((sim.q == q).all() for sim, q in zip(fleet.groups, before))
    with pytest.raises(ValueError, match="mask is bool of shape"):
        fleet.reset(np.ones(3, bool))
    with pytest.raises(ValueError, match="name is 'qpos', expected one of q, v, act, ctrl"):
        fleet.padded("qpos")


def test_wrong_groups_are_refused(models):
    for error, said, groups in (
        (ValueError, "there are no groups", []),
        (TypeError, r"group 0 is .*, expected \(model, instances\)", [models[0]]),
        (TypeError, "group 1 begins with a str", [(models[0], 2), ("go2", 2)]),
        (TypeError, "options of group 0 have dt, which all groups share", [(models[0], 2, {"dt": 0.1})]),
    ):
        with pytest.raises(error, match=said):
            fs.Fleet(groups, 0.004)
    with pytest.raises(ValueError, match="stream has 1 numbers, expected 2"):
        fs.Fleet([(models[0], 2), (models[1], 2)], 0.004, stream=[0])


def test_an_interrupted_step_asks_for_a_reset(models, monkeypatch):
    fleet = fleet_of(models)

    def interrupted(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr(fleet.groups[1], "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fleet.step()
    monkeypatch.undo()
    with pytest.raises(RuntimeError, match="the last step did not end, so groups are at different times; call reset"):
        fleet.step()
    fleet.reset()
    fleet.step()


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one processor")
def test_functions_run_at_the_same_time_and_the_longest_begins_first():
    together, order = Together([1.0, 5.0, 3.0], 2), []
    meet = threading.Barrier(2, timeout=60)
    at_once = Together([1.0, 1.0], 2)
    assert at_once([lambda: meet.wait() >= 0, lambda: meet.wait() >= 0]) == [True, True], "each waits for the other"
    one = Together([1.0, 5.0, 3.0], 1)
    assert one([lambda k=k: order.append(k) or k for k in range(3)]) == [0, 1, 2] == order
    order.clear()
    together([lambda k=k: order.append(k) for k in range(3)])
    assert order.index(0) == 2, "the shortest one begins last"
    assert set(together.costs) != {1.0, 5.0, 3.0} and all(0 < cost < 60 for cost in together.costs)


def test_an_error_of_a_function_is_raised_and_no_other_begins():
    begun = []

    def fails(k):
        begun.append(k)
        raise ValueError(f"number {k}")

    with pytest.raises(ValueError, match="number 0"):
        _featherstorm.run_together([lambda: fails(0), *(lambda k=k: begun.append(k) for k in range(1, 200))], 1)
    assert begun == [0]
    _featherstorm.run_together([], 4)


@needs_device
@pytest.mark.usefixtures("played_compiler")
def test_groups_on_a_device_have_the_numbers_of_simulations_there(models):
    def on_device(x):
        memory = fs.zeros(x.shape, dtype="float32", device=fake_cuda.CUDA)
        memory[:] = x.astype("float32")
        return memory

    fleet = fs.Fleet([(models[1], 17), (models[2], 5)], DT, device=fake_cuda.CUDA)
    alone = [fs.Simulation(m, n, DT, device=fake_cuda.CUDA) for m, n in ((models[1], 17), (models[2], 5))]
    for t in range(3):
        ctrl, tau = on_device(drives(t)[0][:17]), on_device(drives(t)[1][:5])
        fleet.step([ctrl, tau])
        alone[0].step(ctrl)
        alone[1].step(tau)
    for sim, one in zip(fleet.groups, alone):
        np.testing.assert_array_equal(np.array(sim.q), np.array(one.q))
        assert np.isfinite(np.array(sim.q)).all() and np.array(sim.q).any()
    with pytest.raises(ValueError, match="padded arrays are on the CPU"):
        fleet.padded("q")
    with pytest.raises(ValueError, match="arguments of step are lists"):
        fleet.step(np.zeros((22, 2), "float32"))
