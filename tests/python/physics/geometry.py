"""Distances of geoms against MuJoCo's general `mj_geomDistance`, which knows nothing of the closed forms."""

import mujoco
import numpy as np

import featherstorm as fs

SIZES = {
    "plane": "5 5 1",
    "sphere": ".1",
    "capsule": ".06 .12",
    "ellipsoid": ".1 .15 .07",
    "cylinder": ".08 .1",
    "box": ".1 .07 .13",
}
PAIRS = [
    *(("plane", shape) for shape in ("sphere", "capsule", "ellipsoid", "cylinder", "box")),
    *(("sphere", shape) for shape in ("sphere", "capsule", "cylinder", "box")),
    ("capsule", "capsule"),
    ("capsule", "box"),
    ("box", "box"),
]
MARGIN = 0.3
SHALLOW = 0.05  # deeper, closed forms of capsules and cylinders choose one of several ways out


def pair_model(first, second):
    geom = '<geom type="{}" size="{}" margin="{}"/>'
    a = geom.format(first, SIZES[first], MARGIN)
    if first != "plane":
        a = f'<body pos="0 0 1"><freejoint/>{a}</body>'
    b = f'<body pos="0 0 2"><freejoint/>{geom.format(second, SIZES[second], 0)}</body>'
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option ccd_tolerance="1e-9" ccd_iterations="200"/><worldbody>{a}{b}</worldbody></mujoco>'
    )


def poses(m, count, rng):
    """Positions (count, nq): near each other, some tiny distances, some turned by round angles, some far from the origin."""
    q = np.zeros((count, m.nq))
    for k in range(0, m.nq, 7):
        q[:, k : k + 3] = rng.uniform(-0.2, 0.2, (count, 3))
        q[:, k + 3 : k + 7] = rng.normal(size=(count, 4))
        q[::5, k + 3 : k + 7] = rng.choice([-1, 0, 1], (len(q[::5]), 4))
        q[:, k + 3] += np.where(np.abs(q[:, k + 3 : k + 7]).sum(1) == 0, 1, 0)
        q[:, k + 3 : k + 7] /= np.linalg.norm(q[:, k + 3 : k + 7], axis=1, keepdims=True)
    if m.nq == 14:
        q[1::7, 7:10] = q[1::7, :3]  # coincident
        q[2::7, :3] += 100
        q[2::7, 7:10] += 100
    return q


def distances(first, second, count=1500, seed=0):
    """Ours, theirs (count,): of the nearest slot, `MARGIN` where nothing is near."""
    m = pair_model(first, second)
    model, q = fs.from_mujoco(m), poses(m, count, np.random.default_rng(seed))
    ours = np.minimum(np.asarray(fs.contacts(model, q)[0]).min(axis=1), MARGIN)
    d, theirs = mujoco.MjData(m), np.empty(count)
    for row, at in zip(q, range(count)):
        d.qpos[:] = row
        mujoco.mj_kinematics(m, d)
        theirs[at] = mujoco.mj_geomDistance(m, d, 0, 1, MARGIN, None)
    return ours, theirs


def distances_by_coal(first, second, count=300, seed=1):
    """Ours, and those of the library coal, which searches them: (count,)."""
    import coal

    m = pair_model(first, second)
    model, q = fs.from_mujoco(m), poses(m, count, np.random.default_rng(seed))
    ours = np.minimum(np.asarray(fs.contacts(model, q)[0]).min(axis=1), MARGIN)
    shapes, theirs = [coal_shape(coal, name) for name in (first, second)], np.empty(count)
    for at, row in enumerate(q):
        placed = [placement(coal, row[7 * k : 7 * k + 7]) for k in range(2)]
        found = coal.DistanceResult()
        request = coal.DistanceRequest()
        request.enable_signed_distance = True
        theirs[at] = coal.distance(shapes[0], placed[0], shapes[1], placed[1], request, found)
    return ours, theirs


def coal_shape(coal, name):
    size = [float(x) for x in SIZES[name].split()]
    if name == "sphere":
        return coal.Sphere(size[0])
    if name == "capsule":
        return coal.Capsule(size[0], 2 * size[1])
    if name == "cylinder":
        return coal.Cylinder(size[0], 2 * size[1])
    return coal.Box(*(2 * x for x in size))


def placement(coal, pose):
    turn = np.empty(9)
    mujoco.mju_quat2Mat(turn, pose[3:7])
    return coal.Transform3s(turn.reshape(3, 3), pose[:3])
