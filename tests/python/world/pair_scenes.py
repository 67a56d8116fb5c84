"""Two geoms in MuJoCo, anywhere: what a pair of shapes returns is compared with its contacts.

    scene = Scene("capsule_box", rng)
    for poses in scene.poses("parallel", 100, rng):      # (2, 7): position and quaternion (w x y z) of each geom
        placements, contacts = scene.collide(poses)

Kinds of poses: uniform (up to far apart), touching (moved along the normal until the surfaces nearly meet), parallel
(axes along each other, exactly or up to a small angle) and degenerate (round positions and angles: coincident centres,
corners on edges, flat on top).
"""

import itertools

import mujoco
import numpy as np

SHAPES = ("plane", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
# pairs by loops: one contact each, or several where flat sides lie on each other
ROUND = tuple(
    f"{a}_{b}"
    for a, b in itertools.combinations_with_replacement(SHAPES[1:], 2)
    if "ellipsoid" in (a, b) or (a, b) == ("sphere", "mesh")
)
FLAT = (
    "capsule_cylinder", "capsule_mesh", "cylinder_cylinder", "cylinder_box", "cylinder_mesh", "box_mesh", "mesh_mesh",
)  # fmt: skip
FIELDS = tuple("hfield_" + shape for shape in SHAPES[1:])
PAIRS = (
    *("plane_" + shape for shape in SHAPES[1:]),
    *("sphere_" + shape for shape in ("sphere", "capsule", "cylinder", "box")),
    "capsule_capsule",
    "capsule_box",
    "box_box",
)
KINDS = ("uniform", "touching", "parallel", "degenerate")
MARGIN = 0.25


def random_size(shape, rng):
    count = {"plane": 0, "sphere": 1, "capsule": 2, "cylinder": 2, "mesh": 0, "hfield": 0}.get(shape, 3)
    return np.append(rng.uniform(0.05, 0.3, count), np.zeros(3 - count))


def reach(shape, size):
    """Half the largest extent."""
    return {"plane": 0.0, "capsule": size[0] + size[1], "mesh": 0.3, "hfield": 0.3}.get(shape, np.linalg.norm(size))


def random_quaternion(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def product(p, q):
    r = np.empty(4)
    mujoco.mju_mulQuat(r, p, q)
    return r


def rotated(q, v):
    r = np.empty(3)
    mujoco.mju_rotVecQuat(r, np.asarray(v, float), q)
    return r


# the 24 rotations that take axes to axes
AXIS_ROTATIONS = [
    np.array(q, float) / np.linalg.norm(q)
    for q in itertools.product((-1, 0, 1), repeat=4)
    if sum(map(abs, q)) in (1, 2, 4) and next(x for x in q if x) > 0
]


def random_vertices(rng):
    """A box, a prism of 3 to 9 sides, or the hull of a few random points."""
    kind, s = rng.integers(3), rng.uniform(0.05, 0.3, 3)
    if kind == 0:
        return np.array(list(itertools.product((-1, 1), repeat=3))) * s
    if kind == 1:
        angle = 2 * np.pi * (np.arange(rng.integers(3, 10)) + rng.random())
        rim = np.column_stack([np.cos(angle / len(angle)), np.sin(angle / len(angle))]) * s[:2]
        return np.vstack([np.column_stack([rim, np.full(len(rim), z)]) for z in (-s[2], s[2])])
    return rng.uniform(-0.2, 0.2, (rng.integers(6, 16), 3))


def add_height_field(spec, rng):
    field = spec.add_hfield(name="field")
    field.nrow, field.ncol = (int(n) for n in rng.integers(2, 8, 2))
    field.size = [*rng.uniform(0.2, 0.6, 2), rng.uniform(0.05, 0.3), rng.uniform(0.05, 0.2)]
    field.userdata = rng.random(field.nrow * field.ncol).tolist()


class Scene:
    """A model of two geoms, one on a mocap body and one on a free body; the sizes are random."""

    def __init__(self, pair, rng, margin=MARGIN, sizes=None, vertices=None):
        self.shapes = pair.split("_")
        self.sizes = [random_size(s, rng) for s in self.shapes] if sizes is None else sizes
        self.margin = margin
        if "mesh" in self.shapes and vertices is None:
            vertices = random_vertices(rng)
        spec = mujoco.MjSpec()
        if vertices is not None:
            mesh = spec.add_mesh(name="mesh")
            mesh.uservert = np.asarray(vertices, float).ravel().tolist()
        for k, (shape, size) in enumerate(zip(self.shapes, self.sizes)):
            body = spec.worldbody.add_body(mocap=k == 0)
            if k:
                body.add_freejoint()
            body.mass, body.inertia, body.explicitinertial = 1, [1, 1, 1], True
            geom = body.add_geom(type=getattr(mujoco.mjtGeom, "mjGEOM_" + shape.upper()))
            if shape == "mesh":
                geom.meshname = "mesh"
            elif shape == "hfield":
                add_height_field(spec, rng)
                geom.hfieldname = "field"
            elif shape == "plane":
                geom.size = [0, 0, 1]
            else:
                geom.size = size
            geom.margin = margin / 2
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def collide(self, poses):
        """Placements (2, 12) of the geoms, r and the rows of R; per contact distance, point and frame (n, 13)."""
        m, d = self.model, self.data
        d.mocap_pos[0], d.mocap_quat[0] = poses[0, :3], poses[0, 3:]
        d.qpos[:] = poses[1]
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_collision(m, d)
        placements = np.hstack([d.geom_xpos, d.geom_xmat])
        c = d.contact
        return placements, np.hstack([c.dist[:, None], c.pos, c.frame.reshape(-1, 9)]) if d.ncon else np.empty((0, 13))

    def poses(self, kind, n, rng):
        for _ in range(n):
            yield getattr(self, kind)(rng)

    def uniform(self, rng):
        far = sum(reach(s, size) for s, size in zip(self.shapes, self.sizes))
        poses = np.empty((2, 7))
        poses[0] = *rng.uniform(-1, 1, 3), *random_quaternion(rng)
        offset = rng.uniform(-1, 1, 3) * far
        poses[1] = *(poses[0, :3] + rotated(poses[0, 3:], offset)), *random_quaternion(rng)
        return poses

    def touching(self, rng):
        poses = self.uniform(rng)
        return self.moved_to_touch(poses, rng.choice([1e-12, 1e-9, 1e-6, 1e-3, 1e-2]) * rng.normal())

    def moved_to_touch(self, poses, gap):
        for _ in range(3):
            contacts = self.collide(poses)[1]
            if len(contacts) == 0:
                break
            deepest = contacts[np.argmin(contacts[:, 0])]
            poses[1, :3] += deepest[4:7] * (gap - deepest[0])
        return poses

    def parallel(self, rng):
        poses = self.uniform(rng)
        if rng.random() < 0.5:
            poses[0, 3:] = 1, 0, 0, 0
        q = product(poses[0, 3:], AXIS_ROTATIONS[rng.integers(24)])
        if rng.random() < 0.5:
            angle = 10 ** rng.uniform(-12, -2)
            axis = random_quaternion(rng)[1:]
            q = product(q, np.array([1, *(axis * angle / 2)]))
        poses[1, 3:] = q / np.linalg.norm(q)
        return self.moved_to_touch(poses, -0.01 * rng.random()) if rng.random() < 0.5 else poses

    def degenerate(self, rng):
        """Round numbers: geom 1 at the origin, geom 2 at sums of sizes, turned by multiples of 45 degrees."""
        lengths = np.concatenate([[0, 0, 0], *self.sizes])
        poses = np.zeros((2, 7))
        poses[0, 3] = 1
        poses[1, :3] = sum(rng.choice(lengths, 3) * rng.integers(-1, 2, 3) for _ in range(2))
        q = AXIS_ROTATIONS[rng.integers(24)]
        for _ in range(rng.integers(3)):
            axis = np.zeros(3)
            axis[rng.integers(3)] = np.sin(np.pi / 8)
            q = product(q, np.array([np.cos(np.pi / 8), *axis]))
        poses[1, 3:] = q / np.linalg.norm(q)
        return poses
