"""Picture: a model for drawing one robot or a grid of robots, for MuJoCo's renderers and viewers.

Each visible body becomes one mocap body for each robot, so the state of a picture consists of the poses of bodies. A
picture has one floor and one set of lights; other fixed geometry is copied beside every robot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

if TYPE_CHECKING:
    from ..typing import NumpyArray as Array


Kind = mujoco.mjtGeom
ROOM = 1.1  # distance between robots divided by their largest side, so that they can lie down
ROLES = int(mujoco.mjtTextureRole.mjNTEXROLE)
# fields of geoms, sites, materials and lights with the same names in mjModel and in mjSpec
LOOKS = {
    "geom": ("size", "rgba", "group"),
    "site": ("size", "rgba", "group"),
    "mat": ("emission", "metallic", "reflectance", "rgba", "roughness", "shininess", "specular", "texrepeat", "texuniform"),
    "light": ("ambient", "attenuation", "bulbradius", "castshadow", "cutoff", "diffuse", "exponent", "intensity", "range", "specular", "type"),
}  # fmt: skip


def grid(n: int, spacing: float) -> Array:
    """Return positions (n, 3) on the ground, row by row about the origin."""
    columns = max(int(np.ceil(np.sqrt(n))), 1)
    rows = max(-(-n // columns), 1)
    k = np.arange(n)
    x, y = k % columns - (columns - 1) / 2, (rows - 1) / 2 - k // columns
    return np.stack([spacing * x, spacing * y, np.zeros(n)], axis=1)


class Picture:
    """A drawing model of n robots that look like a compiled model.

    m         the compiled model; bodies are identified by their numbers
    spacing   distance between robots [m]; None: by their size at the start; 0: all at the same position
    model     the model that MuJoCo draws
    """

    def __init__(self, m: Any, n: int, spacing: float | None = None) -> None:
        if n < 1:
            raise ValueError(f"a picture of {n} robots, expected 1 or more")
        self.n, self._m = n, m
        self._start = mujoco.MjData(m)
        mujoco.mj_kinematics(m, self._start)
        mujoco.mj_comPos(m, self._start)
        mujoco.mj_camlight(m, self._start)
        carried = np.asarray(m.body_mocapid)[np.asarray(m.body_rootid)] >= 0
        self.still = (np.asarray(m.body_weldid) == 0) & ~carried
        self._low, self._high = self._box()
        self._side = float((self._high - self._low).max())
        self.spacing = (ROOM * self._side if n > 1 else 0.0) if spacing is None else float(spacing)
        self.places = grid(n, self.spacing)
        self._spec = mujoco.MjSpec()
        self._look()
        self._assets()
        self._stand_still()
        self.bodies = [b for b in range(1, m.nbody) if not self.still[b] and self._seen(b)]
        for robot in range(n):
            for b in self.bodies:
                self._body(robot, b)
        self.model = self._spec.compile()

    def place(self, data: Any, xpos: Array, xquat: Array) -> None:
        """Set the poses of bodies: xpos (n, nbody, 3) and xquat (n, nbody, 4), in the world of each robot."""
        moved = xpos[:, self.bodies] + self.places[:, None]
        data.mocap_pos[:] = moved.reshape(-1, 3)
        data.mocap_quat[:] = xquat[:, self.bodies].reshape(-1, 4)

    # geometry

    def _box(self) -> tuple[Array, Array]:
        """Return the corners of a box about the robot and its fixed surroundings, in the first state."""
        m = self._m
        seen = [g for g in range(m.ngeom) if not self._is_floor(g) and m.geom_rbound[g] > 0]
        if not seen:
            return np.zeros(3), np.ones(3)
        centres, radii = self._start.geom_xpos[seen], np.asarray(m.geom_rbound)[seen, None]
        return (centres - radii).min(axis=0), (centres + radii).max(axis=0)

    def _is_floor(self, g: int) -> bool:
        level = abs(self._start.geom_xmat[g][8]) > 0.999
        return bool(self._m.geom_type[g] == Kind.mjGEOM_PLANE and level and self.still[self._m.geom_bodyid[g]])

    def _seen(self, b: int) -> bool:
        m = self._m
        return any((np.asarray(m_of) == b).any() for m_of in (m.geom_bodyid, m.site_bodyid, m.cam_bodyid))

    def _look(self) -> None:
        """Copy colours and quality, and set the distance of the free camera."""
        m, spec = self._m, self._spec
        for part in ("headlight", "map", "quality", "rgba", "scale", "global_"):
            given, taken = getattr(m.vis, part), getattr(spec.visual, part)
            for name in dir(given):
                value = getattr(given, name)
                if not name.startswith("_") and name != "cameraid" and np.size(value):
                    setattr(taken, name, value)
        spec.stat.center, spec.stat.extent = np.asarray(m.stat.center), m.stat.extent
        if self.n > 1:
            spec.stat.center = (self._low + self._high) / 2
            spec.stat.extent = self._side + 0.85 * np.ptp(self.places, axis=0).max()
        spec.stat.meansize = m.stat.meansize
        spec.option.disableflags = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)

    def _assets(self) -> None:
        m, spec = self._m, self._spec
        for t in range(m.ntex):
            size = m.tex_width[t] * m.tex_height[t] * m.tex_nchannel[t]
            texture = spec.add_texture(name=f"texture{t}", type=m.tex_type[t], colorspace=m.tex_colorspace[t])
            texture.width, texture.height, texture.nchannel = m.tex_width[t], m.tex_height[t], m.tex_nchannel[t]
            texture.data = np.asarray(m.tex_data[m.tex_adr[t] : m.tex_adr[t] + size]).tobytes()
        for k in range(m.nmat):
            material = spec.add_material(name=f"material{k}")
            self._copy("mat", k, material)
            material.textures = ["" if t < 0 else f"texture{t}" for t in m.mat_texid[k][:ROLES]]
        used = {int(m.geom_dataid[g]) for g in range(m.ngeom) if m.geom_type[g] == Kind.mjGEOM_MESH}
        for k in sorted(used):
            self._mesh(k)
        for k in range(m.nhfield):
            begin, size = m.hfield_adr[k], m.hfield_nrow[k] * m.hfield_ncol[k]
            field = spec.add_hfield(
                name=f"hfield{k}", nrow=m.hfield_nrow[k], ncol=m.hfield_ncol[k], size=m.hfield_size[k]
            )
            field.userdata = np.asarray(m.hfield_data[begin : begin + size], float)

    def _mesh(self, k: int) -> None:
        m = self._m
        vertices = slice(m.mesh_vertadr[k], m.mesh_vertadr[k] + m.mesh_vertnum[k])
        normals = slice(m.mesh_normaladr[k], m.mesh_normaladr[k] + m.mesh_normalnum[k])
        faces = slice(m.mesh_faceadr[k], m.mesh_faceadr[k] + m.mesh_facenum[k])
        # the mass is 0, and shell inertia permits surfaces that are not closed
        mesh = self._spec.add_mesh(name=f"mesh{k}", inertia=mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL)
        mesh.uservert, mesh.userface = np.asarray(m.mesh_vert[vertices]).ravel(), np.asarray(m.mesh_face[faces]).ravel()
        mesh.usernormal = np.asarray(m.mesh_normal[normals]).ravel()
        mesh.userfacenormal = np.asarray(m.mesh_facenormal[faces]).ravel()
        if m.mesh_texcoordadr[k] >= 0:
            coordinates = slice(m.mesh_texcoordadr[k], m.mesh_texcoordadr[k] + m.mesh_texcoordnum[k])
            mesh.usertexcoord = np.asarray(m.mesh_texcoord[coordinates]).ravel()
            mesh.userfacetexcoord = np.asarray(m.mesh_facetexcoord[faces]).ravel()

    def _stand_still(self) -> None:
        m, start, world = self._m, self._start, self._spec.worldbody
        for k in range(m.nlight):
            light = world.add_light(name=f"light{k}", pos=start.light_xpos[k], dir=start.light_xdir[k])
            self._copy("light", k, light)
            light.active = m.light_active[k]
        beside = np.unique(self.places, axis=0)  # only once if all robots are at the same position
        for g in range(m.ngeom):
            if self.still[m.geom_bodyid[g]]:
                quat = turn(start.geom_xmat[g])
                if self._is_floor(g):
                    floor = self._geom(world, g, start.geom_xpos[g], quat)
                    wider = np.ptp(self.places, axis=0).max() / 2
                    floor.size = [x + wider if x > 0 else x for x in m.geom_size[g][:2]] + [m.geom_size[g][2]]
                    continue
                for place in beside:
                    self._geom(world, g, start.geom_xpos[g] + place, quat)
        for c in range(m.ncam):
            if self.still[m.cam_bodyid[c]]:
                self._camera(world, c, start.cam_xpos[c], turn(start.cam_xmat[c]))

    def _body(self, robot: int, b: int) -> None:
        m = self._m
        where = self._start.xpos[b] + self.places[robot]
        body = self._spec.worldbody.add_body(name=f"{robot}/{b}", mocap=True, pos=where, quat=self._start.xquat[b])
        for g in np.flatnonzero(np.asarray(m.geom_bodyid) == b):
            self._geom(body, int(g), m.geom_pos[g], m.geom_quat[g])
        for s in np.flatnonzero(np.asarray(m.site_bodyid) == b):
            site = body.add_site(type=m.site_type[s], pos=m.site_pos[s], quat=m.site_quat[s])
            self._copy("site", int(s), site)
            if m.site_matid[s] >= 0:
                site.material = f"material{m.site_matid[s]}"
        for c in np.flatnonzero(np.asarray(m.cam_bodyid) == b) if robot == 0 else ():
            self._camera(body, int(c), m.cam_pos[c], m.cam_quat[c])

    def _geom(self, body: Any, g: int, pos: Array, quat: Array) -> Any:
        m = self._m
        geom = body.add_geom(type=m.geom_type[g], pos=pos, quat=quat, contype=0, conaffinity=0, mass=0)
        self._copy("geom", g, geom)
        if m.geom_type[g] == Kind.mjGEOM_MESH:
            geom.meshname = f"mesh{m.geom_dataid[g]}"
        if m.geom_type[g] == Kind.mjGEOM_HFIELD:
            geom.hfieldname = f"hfield{m.geom_dataid[g]}"
        if m.geom_matid[g] >= 0:
            geom.material = f"material{m.geom_matid[g]}"
        return geom

    def _camera(self, body: Any, c: int, pos: Array, quat: Array) -> None:
        name = mujoco.mj_id2name(self._m, mujoco.mjtObj.mjOBJ_CAMERA, c) or f"camera{c}"
        camera = body.add_camera(name=name, pos=pos, quat=quat, fovy=self._m.cam_fovy[c])
        camera.resolution = self._m.cam_resolution[c]

    def _copy(self, kind: str, k: int, into: Any) -> None:
        for name in LOOKS[kind]:
            setattr(into, name, getattr(self._m, f"{kind}_{name}")[k])


def turn(matrix: Array) -> Array:
    """Return the quaternion of a rotation matrix (9,)."""
    quat = np.zeros(4)
    mujoco.mju_mat2Quat(quat, matrix)
    return quat
