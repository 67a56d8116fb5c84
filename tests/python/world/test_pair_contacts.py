"""Two geoms anywhere: contacts of every pair of shapes beside MuJoCo's.

Closed forms have its numbers. Where MuJoCo iterates, its answer is as good as its tolerance, so it is asked for one as near to
the end as it gets (ccd_iterations, ccd_tolerance), and for one contact a pair (multiccd); several contacts of flat sides
are compared for themselves. FEATHERSTORM_POSES is how many poses of each kind each pair has.
"""

import os
import pathlib
import sys

import numpy as np
import pytest

import featherstorm as fs

mujoco = pytest.importorskip("mujoco")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

import pair_scenes  # noqa: E402
from pair_scenes import Scene  # noqa: E402

POSES = int(os.environ.get("FEATHERSTORM_POSES", "0"))
ONE = int(mujoco.mjtDisableBit.mjDSBL_MULTICCD)


def beside_the_first(poses):
    """The same with the first geom at the origin."""
    inverse = np.empty(4)
    mujoco.mju_negQuat(inverse, poses[0, 3:])
    at = pair_scenes.rotated(inverse, poses[1, :3] - poses[0, :3])
    return np.array([[0, 0, 0, 1, 0, 0, 0], [*at, *pair_scenes.product(inverse, poses[1, 3:])]])


def found(pair, kind, count, margin, converged=True, one=False, sizes=8, lacks=None):
    """Of `count` poses of a few random sizes: (ours, MuJoCo's), contacts (n, 13) each."""
    rng = np.random.default_rng([len(kind), *map(ord, pair)])
    all_found = []
    for _ in range(sizes):
        scene = Scene(pair, rng, margin=margin)
        if converged:
            scene.model.opt.ccd_iterations, scene.model.opt.ccd_tolerance = 400, 1e-11
        scene.model.opt.disableflags |= ONE if one else 0
        poses = [beside_the_first(p) for p in scene.poses(kind, -(-count // sizes), rng)]
        theirs = [scene.collide(p)[1] for p in poses]
        model = fs.from_mujoco(scene.model)
        dist, pos, frame = (np.asarray(x) for x in fs.contacts(model, np.array([p[1] for p in poses])))
        n = dist.shape[1]
        rows = np.concatenate([dist[..., None], pos.reshape(-1, n, 3), frame.reshape(-1, n, 9)], 2)
        all_found += [(r[r[:, 0] < 1e9], t) for r, t in zip(rows, theirs)]
        if lacks is not None:
            lacks += [lack(scene, p, r[0], rng) for p, r in zip(poses, rows) if r[0, 0] < 1e9]
    return all_found


def worst(ours, theirs):
    """Of distances, points and frames, each contact beside the nearest of the other list; in the order of lists they say nothing."""
    left, most = list(theirs), np.zeros(3)
    for x in ours:
        k = min(range(len(left)), key=lambda k: np.abs(left[k][:4] - x[:4]).max())
        d = np.abs(left.pop(k) - x)
        most = np.maximum(most, [d[0], d[1:4].max(), d[4:].max()])
    return most


def reach(scene, k, R, n):
    """How far geom k, with axes R about its place, goes along n."""
    shape, s, m = scene.shapes[k], scene.sizes[k], R.T @ n
    if shape == "mesh":
        return (scene.model.mesh_vert @ m).max()
    return {
        "sphere": lambda: s[0],
        "capsule": lambda: s[0] + s[1] * abs(m[2]),
        "ellipsoid": lambda: np.linalg.norm(s * m),
        "cylinder": lambda: s[0] * np.hypot(m[0], m[1]) + s[1] * abs(m[2]),
        "box": lambda: s @ np.abs(m),
    }[shape]()


def lack(scene, poses, contact, rng):
    """How far the distance of a contact is from the greatest along any direction, and from that along its own."""
    # MuJoCo moves the vertices of a mesh to its centre, and the geom with it
    scene.collide(poses)
    r, R = scene.data.geom_xpos, [x.reshape(3, 3) for x in scene.data.geom_xmat]
    apart = lambda n: n @ (r[1] - r[0]) - reach(scene, 0, R[0], n) - reach(scene, 1, R[1], -n)  # noqa: E731
    n = contact[4:7]
    others = n + rng.normal(size=(5, 3)) * 10.0 ** rng.uniform(-6, 0, (5, 1))
    return max(abs(apart(n) - contact[0]), *(apart(m / np.linalg.norm(m)) - contact[0] for m in others))


def at_edge(contacts, margin, edge):
    return any(abs(c[0] - margin) < edge for c in contacts)


CLOSED = [p for p in pair_scenes.PAIRS if not p.startswith("plane")]


@pytest.mark.parametrize("pair", CLOSED)
def test_closed_forms_have_mujocos_numbers(pair):
    for kind in ("uniform", "touching"):
        poses = found(pair, kind, POSES or 1000, 0.1)
        compared = [worst(o, t) for o, t in poses if len(o) == len(t) > 0]
        other = [(o, t) for o, t in poses if len(o) != len(t) and not at_edge([*o, *t], 0.1, 1e-9)]
        # of boxes that are apart across a corner the axes tell less than MuJoCo's boxes around them
        assert len(compared) > len(poses) / 10 and len(other) <= len(poses) // 200
        assert np.quantile([c.max() for c in compared], 0.995) < 1e-9


@pytest.mark.parametrize("pair", pair_scenes.ROUND + pair_scenes.FLAT)
def test_one_contact_of_convex_shapes_is_exact_and_mujocos_when_that_has_converged(pair):
    for kind in ("uniform", "touching", "parallel"):
        for margin in (0.0, 0.25):
            lacks = []
            poses = found(pair, kind, POSES or 60, margin, one=True, lacks=lacks)
            assert max(lacks, default=0) < 1e-7 and np.quantile(lacks or [0], 0.98) < 1e-9
            other = [(o, t) for o, t in poses if len(o) != len(t) and not at_edge([*o, *t], margin, 2e-6)]
            assert len(other) <= len(poses) // 500
            d = np.array([worst(o, t) for o, t in poses if len(o) == len(t) > 0])
            if len(d) < 10:
                continue
            # its distances err where an overlap is tiny beside a margin
            assert np.median(d[:, 0]) < 1e-10 and np.quantile(d[:, 0], 0.9) < 2e-6
            # directions are less well known than distances, and not where sides lie along each other
            if kind == "uniform":
                assert d[:, 0].max() < 2e-6
                assert np.quantile(d[:, 2], 0.95) < 2e-4 and np.quantile(d[:, 1], 0.95) < 1e-4


def how_uneven(m):
    """Of the only mesh of a model: how far polygons are from their planes, and how far corners of the hull that no polygon has are outside."""
    vertex, graph = m.mesh_vert.astype(float), m.mesh_graph[m.mesh_graphadr[0] :]
    polygons = [m.mesh_polyvert[a : a + n] for a, n in zip(m.mesh_polyvertadr, m.mesh_polyvertnum)]
    uneven = [np.ptp(vertex[p] @ n) for p, n in zip(polygons, m.mesh_polynormal)]
    left_out = set(graph[2 + graph[0] : 2 + 2 * graph[0]]) - set(np.concatenate(polygons))
    outside = [(vertex[i] - vertex[p[0]]) @ n for i in left_out for p, n in zip(polygons, m.mesh_polynormal)]
    return max(uneven), max(outside, default=0)


@pytest.mark.parametrize("kind", ["uneven", "left_out"])
def test_polygons_that_are_nearly_flat_leave_no_corner_out(kind):
    """MuJoCo makes one polygon of faces that are nearly in one plane: it has not all of their edges, and not always all of their corners."""
    rng, scenes = np.random.default_rng(17), 0
    while scenes < 5:
        scene = Scene("sphere_mesh", rng, margin=0.25, vertices=rng.uniform(-0.2, 0.2, (14, 3)))
        uneven, left_out = how_uneven(scene.model)
        if not (uneven > 1e-4 if kind == "uneven" else left_out > 1e-5):
            continue
        scenes += 1
        poses = [beside_the_first(p) for p in scene.poses("touching", 400, rng)]
        model = fs.from_mujoco(scene.model)
        dist, _, frame = (np.asarray(x) for x in fs.contacts(model, np.array([p[1] for p in poses])))
        contacts = np.concatenate([dist[:, :1], np.zeros((400, 3)), frame.reshape(400, -1)[:, :3]], 1)
        assert max(lack(scene, p, c, rng) for p, c in zip(poses, contacts) if c[0] < 1e9) < 1e-7


@pytest.mark.parametrize("pair", pair_scenes.ROUND + pair_scenes.FLAT)
def test_mujocos_tolerance_is_seen_in_its_answers_alone(pair):
    """With its own tolerance MuJoCo's contacts are ours up to what it stops at, and where they differ the depth there is too small."""
    poses = found(pair, "uniform", POSES or 200, 0.0, converged=False, one=True)
    d = [t[0, 0] - o[0, 0] for o, t in poses if len(o) == len(t) == 1]
    assert len(d) > 5 and np.median(np.abs(d)) < 2e-5 and min(d) > -1e-6


@pytest.mark.parametrize("pair", pair_scenes.FLAT)
def test_flat_sides_have_mujocos_contacts(pair):
    """The same number of them and the same points nearly always: MuJoCo's depend on where its search ends."""
    several = 0
    for kind in ("uniform", "parallel"):
        for margin in (0.0, 0.25):
            poses = [x for x in found(pair, kind, POSES or 200, margin) if len(x[0]) + len(x[1]) > 0]
            several += sum(len(t) > 1 for _, t in poses)
            same = [len(o) == len(t) and worst(o, t)[:2].max() < 1e-3 for o, t in poses]
            assert np.mean(same) > (0.95 if kind == "uniform" else 0.8), (kind, margin)
    assert several > 10


def prism(n, radius, half):
    angle = 2 * np.pi * (np.arange(n) + 0.3) / n
    rim = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return " ".join(f"{x} {y} {z}" for z in (-half, half) for x, y in rim)


LYING = """
<mujoco>
  <option ccd_tolerance="1e-12" ccd_iterations="500"/>
  <asset><mesh name="slab" vertex="{slab}"/><mesh name="brick" vertex="{brick}"/></asset>
  <worldbody><geom {below} margin="{margin}"/><body><freejoint/><geom {above}/></body></worldbody>
</mujoco>"""
BELOW = {
    "box": 'type="box" size=".02 .03 .01"',
    "mesh": 'type="mesh" mesh="slab"',
    "cylinder": 'type="cylinder" size=".02 .01"',
}
ABOVE = {
    "box": 'type="box" size=".015 .01 .02"',
    "mesh": 'type="mesh" mesh="brick"',
    "cylinder": 'type="cylinder" size=".012 .02"',
}


def tilted(rng, most=4.5):
    """A pose over the middle of what lies below, up to `most` degrees from flat."""
    across, turn, whole = rng.normal(size=3) * [1, 1, 0], np.empty(4), np.empty(4)
    mujoco.mju_axisAngle2Quat(turn, across / np.linalg.norm(across), np.radians(rng.uniform(0.05, most)))
    about = rng.uniform(0, np.pi)
    mujoco.mju_mulQuat(whole, turn, np.array([np.cos(about), 0, 0, np.sin(about)]))
    return [*rng.uniform(-0.01, 0.01, 2), 0.027, *whole]


@pytest.mark.parametrize("margin", [0, 0.004])
@pytest.mark.parametrize(("below", "above"), [(b, a) for b in BELOW for a in ABOVE if (b, a) != ("box", "box")])
def test_faces_that_are_tilted_have_mujocos_depths_and_points(below, above, margin):
    """Depths are along the contacts' normal, which is one face's, and the ends of each contact lie on the two faces."""
    vertices = {"slab": prism(5, 0.03, 0.01), "brick": prism(6, 0.015, 0.02)}
    m = mujoco.MjModel.from_xml_string(LYING.format(below=BELOW[below], above=ABOVE[above], margin=margin, **vertices))
    rng, d, same = np.random.default_rng(4), mujoco.MjData(m), []
    poses = np.array([tilted(rng) for _ in range(40)])
    found = (np.asarray(x) for x in fs.contacts(fs.from_mujoco(m), poses))
    for pose, dist, pos, frame in zip(poses, *found):
        d.qpos[:] = pose
        mujoco.mj_forward(m, d)
        theirs = np.column_stack([d.contact.dist, d.contact.pos])
        ours = np.column_stack([dist, pos.reshape(-1, 3)])[dist < 1]
        assert len(ours) == d.ncon == 4
        half = 0.5 * ours[:, :1] * frame.reshape(len(dist), -1)[dist < 1, :3]
        up = d.geom_xmat[1].reshape(3, 3)[:, 2]
        height = [[e[:, 2] - 0.01, (e - d.geom_xpos[1]) @ up + 0.02] for e in (ours[:, 1:] - half, ours[:, 1:] + half)]
        on_faces = np.abs(height)[[0, 1], [0, 1]].max(0), np.abs(height)[[0, 1], [1, 0]].max(0)
        assert np.minimum(*on_faces).max() < 1e-9
        same += [np.abs(theirs - x).max(1).min() < 1e-9 for x in ours]
    # of the corners of a round cap many are as good as others
    assert np.mean(same) > (0.3 if "cylinder" in (below, above) else 0.999)


@pytest.mark.parametrize("corners", [5, 7, 12])
def test_of_more_than_four_shared_corners_mujocos_four_are_kept(corners):
    """Four with a large area between them; the search for them begins at each corner."""
    rng, same = np.random.default_rng(corners), []
    for _ in range(8):
        rim = [np.sort(rng.uniform(0, 2 * np.pi, n)) for n in (corners, 5)]
        scale = [0.02 * rng.uniform(0.5, 1.5, 2) for _ in rim]
        slab, brick = (
            " ".join(f"{x * np.cos(t)} {y * np.sin(t)} {z}" for z in (-h, h) for t in angles)
            for angles, (x, y), h in zip(rim, scale, (0.01, 0.02))
        )
        m = mujoco.MjModel.from_xml_string(
            LYING.format(below=BELOW["mesh"], above=ABOVE["mesh"], margin=0, slab=slab, brick=brick)
        )
        d, poses = mujoco.MjData(m), np.array([tilted(rng) for _ in range(12)])
        for pose, dist, pos in zip(poses, *(np.asarray(x) for x in fs.contacts(fs.from_mujoco(m), poses)[:2])):
            d.qpos[:] = pose
            mujoco.mj_forward(m, d)
            theirs = np.column_stack([d.contact.dist, d.contact.pos])
            ours = np.column_stack([dist, pos.reshape(-1, 3)])[dist < 1]
            if d.ncon == 4:
                same += [len(ours) == 4 and max(np.abs(ours - x).max(1).min() for x in theirs) < 1e-9]
    assert len(same) > 40 and np.mean(same) > 0.97


PEBBLE = """
<mujoco>
  <option ccd_tolerance="1e-12" ccd_iterations="500"/>
  <asset><mesh name="pebble" vertex="{pebble}"/></asset>
  <worldbody><geom {below}/><body><freejoint/><geom type="mesh" mesh="pebble"/></body></worldbody>
</mujoco>"""


@pytest.mark.parametrize("below", ['type="mesh" mesh="pebble"', BELOW["box"]])
def test_of_many_faces_those_are_taken_that_are_nearest_to_flat(below):
    """A mesh as round as scanned ones are has at every place several faces within 5 degrees of the other body's."""
    turn = np.pi * (3 - np.sqrt(5)) * np.arange(2000)
    height = np.linspace(0.999, -0.999, 2000)
    radius = np.sqrt(1 - height**2)
    pebble = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), height]) * [0.05, 0.04, 0.03]
    text = " ".join(f"{x:.9g}" for x in pebble.ravel())
    m = mujoco.MjModel.from_xml_string(PEBBLE.format(below=below, pebble=text))
    rng, d, several, poses = np.random.default_rng(5), mujoco.MjData(m), 0, []
    while len(poses) < 60:
        pose, way = rng.normal(size=7), rng.normal(size=3)
        pose[:3], pose[3:] = 0.06 * way / np.linalg.norm(way), pose[3:] / np.linalg.norm(pose[3:])
        d.qpos[:] = pose
        mujoco.mj_forward(m, d)
        if d.ncon:
            poses.append(pose)
    for pose, dist, pos, frame in zip(poses, *(np.asarray(x) for x in fs.contacts(fs.from_mujoco(m), np.array(poses)))):
        d.qpos[:] = pose
        mujoco.mj_forward(m, d)
        theirs = np.column_stack([d.contact.dist, d.contact.pos, d.contact.frame[:, :3]])
        ours = np.column_stack([dist, pos.reshape(-1, 3), frame.reshape(len(dist), -1)[:, :3]])[dist < 1]
        assert len(ours) == d.ncon
        assert max(np.abs(theirs - x).max(1).min() for x in ours) < 1e-8
        several += d.ncon > 1
    assert several > 20


def test_a_cylinder_whose_axis_is_along_the_normal_touches_with_its_cap():
    """The line of its mantle lies within 5 degrees of a side of the box, but is not where they touch."""
    m = mujoco.MjModel.from_xml_string("""
      <mujoco>
        <option ccd_tolerance="1e-12" ccd_iterations="500"/>
        <worldbody>
          <geom type="cylinder" size=".02 .005"/><body><freejoint/><geom type="box" size=".0043 .0052 .08"/></body>
        </worldbody>
      </mujoco>""")
    rng, d, poses, upright = np.random.default_rng(3), mujoco.MjData(m), [], 0
    corners = np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, -1).T * m.geom_size[1]
    for _ in range(200):
        turn, R = rng.normal(size=4), np.empty(9)
        turn /= np.linalg.norm(turn)
        mujoco.mju_quat2Mat(R, turn)
        upright += np.abs(R[6:]).min() < 0.0888
        at = corners @ R.reshape(3, 3).T
        low = at[at[:, 2].argmin()]
        poses.append([*([*rng.uniform(-0.012, 0.012, 2), 0.005 - rng.uniform(0.0005, 0.003)] - low), *turn])
    others = 0
    for pose, dist in zip(poses, np.asarray(fs.contacts(fs.from_mujoco(m), np.array(poses))[0])):
        d.qpos[:] = pose
        mujoco.mj_forward(m, d)
        ours = dist[dist < 1]
        others += len(ours) != d.ncon or np.abs(np.sort(ours) - np.sort(d.contact.dist)).max() > 1e-9
    assert upright > 20
    assert others < 5  # where MuJoCo takes that line


@pytest.mark.parametrize("pair", pair_scenes.FIELDS)
def test_height_fields_have_mujocos_contacts(pair):
    # without a margin MuJoCo ends its search for the depth of a prism in a box or a mesh too early
    for margin in (1e-3, 0.1) if pair.endswith(("box", "mesh")) else (0.0, 0.1):
        poses = found(pair, "uniform", POSES or 80, margin)
        other = [(o, t) for o, t in poses if len(o) != len(t) and not at_edge([*o, *t], margin, 2e-6)]
        assert len(other) <= len(poses) // 100
        d = np.array([np.abs(o - t).max(0) for o, t in poses if len(o) == len(t) > 0])
        assert len(d) > len(poses) / 4
        assert d[:, 0].max() < 2e-6 and np.quantile(d[:, 1:7].max(1), 0.98) < 2e-4


@pytest.mark.parametrize("pair", ["hfield_box", "hfield_mesh"])
def test_prisms_are_not_less_deep_than_mujoco_finds(pair):
    poses = found(pair, "uniform", POSES or 80, 0.0)
    assert all(len(o) == len(t) for o, t in poses if not at_edge([*o, *t], 0, 2e-6))
    d = np.concatenate([t[:, 0] - o[:, 0] for o, t in poses if len(o) == len(t)])
    assert len(d) > 100 and d.min() > -1e-6


@pytest.mark.parametrize("pair", pair_scenes.ROUND + pair_scenes.FLAT + pair_scenes.FIELDS)
def test_degenerate_poses_have_finite_contacts_of_the_right_depth(pair):
    """Coincident centres, sides in one plane, corners on edges: directions are a matter of choice, depths are not."""
    poses = found(pair, "degenerate", POSES or 80, 0.05, one=True)
    assert all(np.isfinite(o).all() for o, _ in poses)
    one = [(o[0, 0], t[0, 0]) for o, t in poses if len(o) == len(t) == 1]
    if not pair.startswith("hfield"):
        assert len(one) > 10 and np.quantile([abs(x - y) for x, y in one], 0.9) < 1e-4


def test_a_batch_gives_the_bits_of_each_alone():
    rng = np.random.default_rng(3)
    for pair in ("ellipsoid_mesh", "cylinder_box", "hfield_capsule"):
        scene = Scene(pair, rng, margin=0.1)
        model = fs.from_mujoco(scene.model)
        q = np.array([beside_the_first(p)[1] for p in scene.poses("uniform", 33, rng)])
        for dtype in (np.float64, np.float32):
            together = [np.asarray(x) for x in fs.contacts(model, q.astype(dtype))]
            for i in (0, 7, 32):
                alone = [np.asarray(x) for x in fs.contacts(model, q[i : i + 1].astype(dtype))]
                for x, y in zip(together, alone):
                    np.testing.assert_array_equal(x[i], y[0])
