"""Robots of URDF files in a world, by the project's loader beside MuJoCo's compiler: the same bodies, geoms, pairs and numbers, the same
contacts, the same step."""

import pathlib
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import featherstorm as fs
from featherstorm._robot.mjcf import tables

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("mujoco.batch", reason="the steps are those of MuJoCo 4")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from compare import prepared  # noqa: E402
from compare_contacts import is_iterated  # noqa: E402
from urdf_files import BUILT_IN, by_featherstorm, by_mujoco, files, for_mujoco, name_of, packages  # noqa: E402

COUNT = 12
BOX = int(mujoco.mjtGeom.mjGEOM_BOX)
TOLERANCE = 1e-8  # of accelerations, beside the greatest
# cylinders of neighbours that are deep in each other at the defaults
DEEP = {"laikago.urdf": 0.5}
# why MuJoCo's compiler refuses files that are no worse for it
REFUSED = ("must satisfy A + B >= C", "positive eigenvalues", "must be positive in geom", "larger than mjMINVAL",
           "mesh volume is too small", "number of faces", "repeated name 'world'")  # fmt: skip
# tables that the two may write in different ways, all with the same meaning: where frames are the same up to rounding, axes of
# equal moments, places in memory
FREE = {
    "eq_objtype",
    "body_sameframe",
    "geom_sameframe",
    "body_bvhadr",
    "geom_dataid",
    "body_iquat",
    "eq_active",
    "names",
    "nmesh",
}


def loaded(path, floating, tmp_path):
    """By both ways, of the same text; skips what one of them refuses."""
    text = for_mujoco(path, packages())
    edited = tmp_path / path.name
    edited.write_text(text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fs.Notice)
        try:
            ours = by_featherstorm(edited, floating)
        except ValueError as error:
            pytest.skip(f"refused with a world or without: {error}")
        try:
            m = prepared(by_mujoco(text, floating), 0)
        except ValueError as error:
            if not any(reason in str(error) for reason in REFUSED):
                raise
            pytest.skip(f"MuJoCo refuses it: {str(error).splitlines()[0]}")
        if not m.nv:
            pytest.skip("nothing moves")
        if any("has no mass; kept" in odd for odd in ours.robot.odd):
            pytest.skip("has inertia without mass, which MuJoCo leaves out")
        return ours, m, fs.from_mujoco(m)


def standing(m, floating, seed=0):
    """States (COUNT, nq), (COUNT, nv) near the defaults, a floating base such that it stands a few millimetres deep."""
    rng, d = np.random.default_rng(seed), mujoco.MjData(m)
    q, v = np.tile(m.qpos0, (COUNT, 1)), 0.3 * rng.normal(size=(COUNT, m.nv))
    others = [g for g in range(m.ngeom) if m.geom_bodyid[g]]
    ground = int(np.flatnonzero(m.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)[0])
    for x in q:
        mujoco.mj_integratePos(m, x, 0.3 * rng.normal(size=m.nv), 1)
        if floating and others:
            x[2] = 5
            d.qpos[:] = x
            mujoco.mj_kinematics(m, d)
            x[2] -= min(mujoco.mj_geomDistance(m, d, ground, g, 20, None) for g in others) + rng.uniform(0, 0.005)
    return q, v


def sorted_rows(found, k):
    """Contacts of state k, (n, 13), in the order of their numbers."""
    distance, point, axes = (np.asarray(x)[k] for x in found)
    there = distance < 1e9
    rows = np.hstack([distance[there][:, None], point.reshape(-1, 3)[there], axes.reshape(-1, 9)[there]])
    return rows[np.lexsort(np.round(rows[:, 3::-1].T, 7))]


def agree(a, b):
    return a.shape == b.shape and np.abs(a - b).max(initial=0) < 1e-9


# every other file with a floating base; one whose root is MuJoCo's world cannot float
FLOATING = {path: bool(k % 2) and '<link name="world"' not in path.read_text("utf-8") for k, path in enumerate(files())}


@pytest.mark.parametrize(
    ("path", "floating"), FLOATING.items(), ids=lambda x: name_of(x) if isinstance(x, pathlib.Path) else str(x)
)
def test_a_robot_has_the_same_world_by_either_way(path, floating, tmp_path):
    ours, m, theirs = loaded(path, floating, tmp_path)
    assert ours.q_names == theirs.q_names or floating
    known = tables(m)
    for name, numbers in ours.robot.world_tables.items():
        if name in FREE or name.startswith(("name_", "mesh_")):
            continue
        x, y = np.array(numbers), known[name]
        assert x.shape == y.shape, name
        if name.endswith("quat"):
            x = x.reshape(-1, 4) * np.sign(np.sum(x.reshape(-1, 4) * y.reshape(-1, 4), axis=1, keepdims=True))
            y = y.reshape(-1, 4)
        # a mesh's size is kept in single precision; MuJoCo's angles end where the file's do
        near = 1e-7 if name == "geom_size" else 1e-9
        np.testing.assert_allclose(x, y, rtol=near, atol=near * max(1, np.abs(y).max(initial=0)), err_msg=name)

    q, v = standing(m, floating)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fs.Notice)
        pairs = len(theirs.robot.contact_pairs)
        assert len(ours.robot.contact_pairs) == pairs
        found = [fs.run(model, "contacts", q, check=False) for model in (ours, theirs) if pairs]
    qacc = [fs.step(model, q, v).qacc for model in (ours, theirs)]
    error = np.abs(qacc[0] - qacc[1]).max(axis=1) / np.abs(qacc[1]).max(axis=1)
    # sides that lie flat on each other may have other points of contact by rounding alone
    flat = any(not p["closed_form"] or (m.geom_type[[*p["geom"]]] == BOX).all() for p in theirs.robot.contact_pairs)
    same = np.array([agree(*(sorted_rows(x, k) for x in found)) for k in range(COUNT)]) if pairs else np.ones(COUNT)
    assert same.mean() >= (0.4 if flat else 1), same
    assert (error < TOLERANCE).mean() >= (DEEP.get(path.name, 0.7) if flat else 1), error

    # and beside MuJoCo itself, where it does not iterate
    d, beside = mujoco.MjData(m), []
    for k in range(COUNT):
        d.qpos[:], d.qvel[:] = q[k], v[k]
        mujoco.mj_forward(m, d)
        if not any(is_iterated(m, *c.geom) for c in d.contact):
            beside.append(np.abs(qacc[0][k] - d.qacc).max() / np.abs(d.qacc).max())
    assert np.median(beside or [0]) < TOLERANCE and np.mean(np.array(beside or [0]) < TOLERANCE) > 0.8, beside


def test_some_of_them_touch(tmp_path):
    """The states are not in the air."""
    _, m, theirs = loaded(BUILT_IN / "go2.urdf", True, tmp_path)
    q, _ = standing(m, True)
    distance = fs.run(theirs, "contacts", q, check=False)[0]
    assert ((distance < 0).sum(axis=1) >= 1).all() and distance.min() > -0.05


def test_a_quadruped_stands_on_its_motors():
    model = fs.load("go2", world=fs.UrdfWorld(ground=True, motors=True))
    assert (model.n_ctrl, model.timestep) == (12, 0.002)
    np.testing.assert_array_equal(model.ctrl_upper, model.max_effort[6:])
    sim = fs.Simulation(model, 3, dtype="float64")
    pose = np.tile([0.0, 0.8, -1.6], 4)
    sim.reset(q=np.concatenate([[0, 0, 0.33, 1, 0, 0, 0], pose]))
    for _ in range(1000):
        sim.step(60 * (pose - sim.q[:, 7:]) - 3 * sim.v[:, 6:])
    assert (sim.q[:, 2] > 0.25).all() and np.abs(sim.v).max() < 1e-2
    report = sim.report()
    assert (report.contacts >= 4).all() and (report.gap < 0).all() and (report.gap > -0.01).all()
    weight = 9.81 * model.total_mass
    assert np.abs(sim.v).max() < 0.1
    np.testing.assert_allclose(-sim.contact_force("ground")[:, 2], weight, rtol=1e-3)
    feet = sum(sim.contact_force(f"{leg}_foot") for leg in ("FL", "FR", "RL", "RR"))
    np.testing.assert_allclose(feet[:, 2], weight, rtol=1e-3)


def test_rollouts_are_driven_by_the_motors():
    model = fs.load("go2", world=fs.UrdfWorld(ground=True, motors=True))
    roll = fs.Rollout(model, cost=lambda x, u, t, p: x.q[2] + 1e-3 * x.contact_force("ground")[2], substeps=2)
    x0 = np.concatenate([model.q0, np.zeros(18)])
    x0[2] = 0.3
    U = np.random.default_rng(0).normal(size=(4, 30, 12))
    result = roll(x0, U, states=True)
    sim = fs.Simulation(model, 4, substeps=2, dtype="float64")
    sim.reset(q=x0[:19])
    for k in range(30):
        sim.step(U[:, k])
    np.testing.assert_allclose(result.states[:, -1, :19], sim.q, atol=1e-9)


def test_a_robot_without_its_world_is_what_it_was():
    for path in sorted(BUILT_IN.glob("*.urdf")):
        plain, other = fs.load(path), fs.load(path, world=True)
        assert not plain.has_world and plain.file is None and other.has_world
        assert plain.robot.world_tables == {}
        np.testing.assert_array_equal(fs.crba(plain, plain.q0), fs.crba(other, other.q0))
        assert set(plain.ops) <= set(other.ops)


def test_meshes_are_found_by_their_packages(tmp_path):
    share = packages()
    if share is None:
        pytest.skip("no robot files: pip install --no-deps example-robot-data")
    path = share / "example-robot-data" / "robots" / "solo_description" / "robots" / "solo12.urdf"
    with warnings.catch_warnings():
        warnings.simplefilter("error", fs.Notice)
        model = by_featherstorm(path, True)
    assert len(model.robot.contact_pairs) > 100
    elsewhere = tmp_path / "solo12.urdf"
    elsewhere.write_bytes(path.read_bytes())
    with pytest.warns(fs.Notice, match=r"link 'base_link': mesh 'package://.*' touches nothing: there is no such file"):
        assert by_featherstorm(elsewhere, True).robot.contact_pairs == []
    same = by_featherstorm(elsewhere, True, packages=[share])
    assert len(same.robot.contact_pairs) == len(model.robot.contact_pairs)


def test_meshes_that_nobody_reads_are_named(tmp_path):
    (tmp_path / "hand.dae").write_text("<COLLADA/>")
    (tmp_path / "flat.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 2 3 4\n")
    one = "<collision><geometry><mesh filename='{}'/></geometry></collision>"
    inertial = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    for file, why in (("hand.dae", "hand.dae"), ("flat.obj", "flat.obj")):
        path = tmp_path / "one.urdf"
        path.write_text(f"<robot name='one'><link name='a'>{inertial}{one.format(file)}</link></robot>")
        with pytest.warns(fs.Notice, match=f"link 'a': mesh '{why}' touches nothing: .+"):
            assert by_featherstorm(path, True).has_world
        with pytest.raises(ValueError, match=f"one.urdf:1: link 'a': mesh '{why}' touches nothing"):
            fs.load(path, floating_base=True, world=True, strict=True)


def test_copies_of_a_model_are_the_same():
    model = by_featherstorm(BUILT_IN / "hyq.urdf", True)
    twin = pickle.loads(pickle.dumps(model))
    q, v = fs.random_state(model, 3, 0, "float64")
    np.testing.assert_array_equal(fs.step(model, q, v).qacc, fs.step(twin, q, v).qacc)
    assert twin.compiled.ngeom == model.compiled.ngeom


@pytest.mark.parametrize("robot", ["go2", "panda", "atlas"])
def test_mujocos_model_of_a_robot_has_its_inertia(robot):
    """Its compiled model is what MuJoCo steps: axes of inertia that are not the body's count there as well."""
    model = fs.load(robot, world=True)
    m, (q, _) = model.compiled, fs.random_state(model, 1, 0, "float64")
    data, M = mujoco.MjData(m), np.zeros((m.nv, m.nv))
    data.qpos[:] = q[0]
    mujoco.mj_forward(m, data)
    mujoco.mj_fullM(m, data, M)
    np.testing.assert_allclose(M, fs.crba(model, q)[0], atol=1e-12 * np.abs(M).max())


def test_steps_need_no_mujoco(tmp_path):
    """Without the package a robot has its world, but for meshes and readings."""
    program = tmp_path / "without.py"
    program.write_text(
        "import sys, numpy as np\nsys.modules['mujoco'] = None\nimport featherstorm as fs\n"
        "model = fs.load('go2', world=fs.UrdfWorld(ground=True))\nq = model.q0.copy()\nq[2] = 0.2\n"
        "print(repr(fs.step(model, q, np.zeros(18)).qacc.tolist()))\n"
        "try:\n    fs.Simulation(model, 1).contact_force('ground')\nexcept (ValueError, ImportError) as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    model = fs.load("go2", world=fs.UrdfWorld(ground=True))
    q = model.q0.copy()
    q[2] = 0.2
    np.testing.assert_array_equal(eval(lines[0]), np.ravel(fs.step(model, q, np.zeros(18)).qacc))
    assert "mujoco" in lines[1] or "model file" in lines[1]


def test_what_does_not_fit_is_named(tmp_path):
    scene = tmp_path / "scene.xml"
    scene.write_text("<mujoco/>")
    with pytest.raises(ValueError, match=r"scene\.xml: world is for URDF; an MJCF file has its own"):
        fs.load(scene, world=True)
    with pytest.raises(TypeError, match="world is 'ground', expected True, False or a UrdfWorld"):
        fs.load("go2", world="ground")
    with pytest.raises(TypeError, match="UrdfWorld: packages is '/opt', expected a list of folders"):
        fs.UrdfWorld(packages="/opt")
    with pytest.raises(ValueError, match="timestep is 0.000000, expected a positive number of seconds"):
        fs.load("go2", world=fs.UrdfWorld(timestep=0.0))


def test_geoms_without_a_name_give_way_to_names_of_the_file(tmp_path):
    mass = "<inertial><mass value='1'/><inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' iyz='0'/></inertial>"
    ball = "<collision{}><geometry><sphere radius='.1'/></geometry></collision>"
    named = ball.format(" name='world'")
    links = f"<link name='world'>{mass}{ball.format('')}</link><link name='world_link'>{mass}{named}</link>"
    joint = (
        "<joint name='j' type='continuous'><parent link='world'/><child link='world_link'/><axis xyz='0 1 0'/></joint>"
    )
    path = tmp_path / "pair.urdf"
    path.write_text(f"<robot name='pair'>{links}{joint}</robot>")
    m = fs.load(path, floating_base=True, world=True).compiled
    assert [m.geom(g).name for g in range(m.ngeom)] == ["world_", "world"]
    assert [m.body(b).name for b in range(m.nbody)] == ["world", "world_link_", "world_link"]
