"""Runs of a scene under a law, with what every run is judged by: the deepest penetration and what its solver leaves undone.

Both are taken with MuJoCo's functions at states along the way: distances by its collision, and what is left of the forces of its
law by its `mj_constraintUpdate` at our acceleration. Of the law "rigid" the residual is the engine's own [m/s].
"""

import mujoco
import numpy as np

from featherstorm.mujoco import Batch

NEARBY = 1e-7  # rounding of positions about 1 m in single precision
# law -> options of the file, arguments of Batch
LAWS = {
    "pyramids": ({"cone": mujoco.mjtCone.mjCONE_PYRAMIDAL}, {}),
    "cones": ({"cone": mujoco.mjtCone.mjCONE_ELLIPTIC, "impratio": 100.0}, {}),
    "rigid": ({}, {"law": "rigid"}),
}


def tilted(degrees, g=9.81):
    """Gravity on a slope that falls along x."""
    a = np.radians(degrees)
    return g * np.sin(a), 0.0, -g * np.cos(a)


class Run:
    """m, batch, q, v (live); deepest [m] and residual of the states that `steps` looked at."""

    def __init__(self, xml, law, dtype="float64", timestep=0.002, nsim=1, gravity=None, kind=Batch, rigid=None):
        options, given = LAWS[law]
        self.made = {"xml": xml, "law": law, "dtype": dtype, "timestep": timestep, "gravity": gravity, "rigid": rigid}
        self.m = m = mujoco.MjModel.from_xml_string(xml)
        m.opt.timestep, m.opt.jacobian = timestep, mujoco.mjtJacobian.mjJAC_DENSE
        for name, value in options.items():
            setattr(m.opt, name, value)
        if gravity is not None:
            m.opt.gravity[:] = gravity
        self.law, self.nsim = law, nsim
        arguments = {} if kind is not Batch else {**given, "dtype": dtype}
        if law == "rigid" and rigid is not None:
            arguments["law"] = rigid
        self.batch = kind(m, nsim, 1, **arguments)
        self.q, self.v = self.batch.bind("qpos"), self.batch.bind("qvel")
        self.acceleration = self.batch.bind("qacc")
        self.contacts = self.batch.bind("ncon") if law != "rigid" else None
        self.others = 0  # looks at which MuJoCo has another number of contacts, and at poses as near as rounding too
        self.data = mujoco.MjData(m)
        self.deepest = self.residual = 0.0

    def copies(self, nsim):
        """Many simulations of where the first one is."""
        many = Run(**self.made, nsim=nsim)
        many.batch.set_rows(self.state()[0])
        return many

    def joint(self, name):
        """Where the numbers of a body's joint are, or of a joint: slices of q and v."""
        j = self.m.body(name).jntadr[0] if name in self.bodies else self.m.joint(name).id
        q, v = self.m.jnt_qposadr[j], self.m.jnt_dofadr[j]
        wide = self.m.jnt_type[j] == 0
        return slice(q, q + (7 if wide else 1)), slice(v, v + (6 if wide else 1))

    @property
    def bodies(self):
        return {self.m.body(b).name for b in range(self.m.nbody)}

    def position(self, name):
        """Of a floating body, (nsim, 3) in double."""
        return np.array(self.q[:, self.joint(name)[0]][:, :3], np.float64)

    def velocity(self, name):
        return np.array(self.v[:, self.joint(name)[1]][:, :3], np.float64)

    def steps(self, seconds, looks=10):
        """Goes on, and looks at the state some times on the way."""
        count = max(round(seconds / self.m.opt.timestep), 1)
        for part in np.array_split(np.arange(count), min(looks, count)):
            if len(part) > 1:
                self.batch.step(nstep=len(part) - 1)
            before = self.state()
            self.batch.step()
            self.look(before)

    def state(self):
        return np.array(self.batch.state, np.float64)

    def look(self, before):
        """At all simulations, a few of many."""
        m, d = self.m, self.data
        for i in range(0, self.nsim, max(self.nsim // 4, 1)):
            mujoco.mj_setState(m, d, before[i], mujoco.mjtState.mjSTATE_INTEGRATION)
            mujoco.mj_forward(m, d)
            if d.ncon:
                self.deepest = max(self.deepest, float(-np.min(d.contact.dist)))
            if self.law != "rigid":
                self.residual = max(self.residual, self.left_undone(i))
        if self.law == "rigid":
            self.residual = max(self.residual, float(self.batch.report().residual.max()))

    def left_undone(self, i):
        """What is left of the forces of MuJoCo's law, beside the greatest."""
        m, d = self.m, self.data
        if self.contacts is not None:
            ours = int(np.asarray(self.contacts).reshape(self.nsim)[i])
            if ours != d.ncon:
                self.others += ours not in self.counts_nearby()
                return 0.0
        a = np.array(self.acceleration[i], np.float64)
        inertial, smooth = np.zeros(m.nv), d.qfrc_smooth.copy()
        mujoco.mj_mulM(m, d, inertial, a)
        if d.nefc:
            violation = np.zeros(d.nefc)
            mujoco.mj_mulJacVec(m, d, violation, a)
            mujoco.mj_constraintUpdate(m, d, violation - d.efc_aref, None, 0)
        forces = d.qfrc_constraint if d.nefc else np.zeros(m.nv)
        scale = max(np.abs(inertial).max(), np.abs(smooth).max(), np.abs(forces).max(), 1e-6)
        return float(np.abs(inertial - smooth - forces).max() / scale)

    def counts_nearby(self):
        """How many contacts MuJoCo has at poses that differ from this one by what single precision rounds: where sides lie on each other
        to the last bit, its clipping of them has other corners."""
        m, near = self.m, mujoco.MjData(self.m)
        rng = np.random.default_rng(0)
        found = set()
        for _ in range(8):
            near.qpos[:] = self.data.qpos + NEARBY * rng.normal(size=m.nq)
            mujoco.mj_fwdPosition(m, near)
            found.add(near.ncon)
        return found

    def energy(self):
        """Potential and kinetic of each simulation (nsim,), in double."""
        m, d, found = self.m, self.data, []
        m.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
        for q, v in zip(self.q, self.v):
            d.qpos[:], d.qvel[:] = q, v
            mujoco.mj_forward(m, d)
            found.append(d.energy.sum())
        return np.array(found)

    def momentum(self):
        """Linear and angular about the origin, of all that moves, (nsim, 6)."""
        m, d, found = self.m, self.data, []
        for q, v in zip(self.q, self.v):
            d.qpos[:], d.qvel[:] = q, v
            mujoco.mj_forward(m, d)
            mujoco.mj_subtreeVel(m, d)
            linear = d.subtree_linvel[0] * m.body_subtreemass[0]
            found.append(np.hstack([linear, d.subtree_angmom[0] + np.cross(d.subtree_com[0], linear)]))
        return np.array(found)
