"""Fields of a model that may differ from simulation to simulation on one engine: they are inputs of its kernels, so that new
numbers make no new kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import _featherstorm
from ..robot.mjcf import collides
from .fields.ranges import has_depth_images
from .fields.sensors import carried_by_mocap

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

# tables that the engine takes -> whether something is there where a number is not zero alone, such as a row of dry friction
TABLES: dict[str, bool] = {
    name.replace("opt_", "opt."): decides for name, decides in _featherstorm.world_inputs().items()
}
# of them those that are fields of the state
OF_STATE = ("eq_active", "mocap_pos", "mocap_quat")
# what nothing but texts of fields reads
OF_TEXTS = frozenset(
    {"cam_mat0", "cam_pos0", "cam_poscom0", "light_dir", "light_dir0", "light_pos", "light_pos0", "light_poscom0"}
)
# what nothing here reads
UNREAD = frozenset(
    {
        "D_diag", "actuator_length0", "actuator_user", "body_margin", "body_subtreemass", "body_user", "bvh_aabb", "cam_fovy", "cam_intrinsic", "cam_ipd",
        "cam_resolution", "cam_sensorsize", "cam_user", "dof_M0", "dof_length", "efm0_L", "geom_aabb", "geom_rbound", "geom_rgba",
        "geom_user", "jnt_user", "light_ambient", "light_attenuation", "light_bulbradius", "light_cutoff", "light_diffuse",
        "light_exponent", "light_intensity", "light_range", "light_softness", "light_specular", "mat_emission", "mat_metallic",
        "mat_reflectance", "mat_rgba", "mat_roughness", "mat_shininess", "mat_specular", "mat_texrepeat", "sensor_noise",
        "sensor_user", "site_rgba", "site_user", "tendon_rgba", "tendon_user", "tendon_width",
    }
)  # fmt: skip
# but range finders of cameras
LENSES = frozenset({"cam_fovy", "cam_intrinsic", "cam_sensorsize"})
# of an engine: a stage takes 48 arrays (host/memory/kernel.h), 12 of them its own and 3 of OF_STATE
MOST = 32
# frames of which some are taken from others (mjtSameFrame)
FRAMES = frozenset({"body_ipos", "body_iquat", "geom_pos", "geom_quat", "site_pos", "site_quat"})

# where bodies are in those that carry them
PLACES = frozenset({"body_pos", "body_quat"})
# how far geoms reach, on which it depends how many contacts a height field has with them
REACHES = frozenset({"geom_size", "geom_margin", "geom_gap", "pair_margin", "pair_gap"})

DYN, GAIN, BIAS, TRN = mujoco.mjtDyn, mujoco.mjtGain, mujoco.mjtBias, mujoco.mjtTrn
OBSTACLES = {int(mujoco.mjtWrap.mjWRAP_SPHERE), int(mujoco.mjtWrap.mjWRAP_CYLINDER)}
HEIGHT_FIELD = int(mujoco.mjtGeom.mjGEOM_HFIELD)
BALL, FREE = int(mujoco.mjtJoint.mjJNT_BALL), int(mujoco.mjtJoint.mjJNT_FREE)


def array_name(field: str) -> str:
    """What the engine calls a field."""
    return field.replace(".", "_")


def is_input(m: Any, name: str) -> bool:
    """Whether a field of a model may be an input."""
    if name in OF_TEXTS:
        return True
    if name not in TABLES or name == "eq_active":
        return False
    if name in FRAMES:
        return not decides(m, name)
    if name in PLACES:
        return not decides(m, name)
    if name in REACHES:
        return not (name == "geom_size" and wraps(m)) and not touches_height_fields(m)
    if name in ("actuator_gainprm", "actuator_biasprm", "actuator_dynprm", "actuator_gear"):
        return not has_odd_actuators(m)
    return True


def is_unread(m: Any, name: str) -> bool:
    if name in OF_STATE:
        return not decides(m, name)
    """Whether nothing that a batch of a model computes depends on a field."""
    return name in UNREAD and not (name in LENSES and has_depth_images(m))


def decides(m: Any, name: str) -> bool:
    """Return whether a field of places moves an object with a side site, on which it depends how a tendon passes."""
    sided = [w for w in range(m.nwrap) if int(m.wrap_type[w]) in OBSTACLES and m.wrap_prm[w] >= 0]
    if name in FRAMES:
        return bool(sided)
    bodies = [int(m.geom_bodyid[m.wrap_objid[w]]) for w in sided]
    bodies += [int(m.site_bodyid[round(m.wrap_prm[w])]) for w in sided]
    if name in PLACES:  # a body with a joint carries what is on it along
        return any(b > 0 and m.body_jntnum[b] == 0 for b in bodies)
    return bool(carried_by_mocap(m)[bodies].any())


def wraps(m: Any) -> bool:
    """Whether tendons go around objects."""
    return bool(np.isin(m.wrap_type, list(OBSTACLES)).any())


def touches_height_fields(m: Any) -> bool:
    return bool((collides(m) & (np.asarray(m.geom_type) == HEIGHT_FIELD)).any())


def has_odd_actuators(m: Any) -> bool:
    """Whether numbers of actuators decide how many activations they have, or that their setpoints are angles."""
    for a in range(m.nactuator):
        if int(m.actuator_dyntype[a]) in (DYN.mjDYN_DCMOTOR, DYN.mjDYN_PID):
            return True
        if int(m.actuator_gaintype[a]) in (GAIN.mjGAIN_DCMOTOR, GAIN.mjGAIN_PID):
            return True
        target, reference = m.actuator_trnid[a]
        at = int(m.actuator_trntype[a])
        if at == TRN.mjTRN_SITE and reference >= 0:
            return True
        if at in (TRN.mjTRN_JOINT, TRN.mjTRN_JOINTINPARENT) and int(m.jnt_type[target]) == BALL:
            return True
    return False


def check_values(m: Any, values: dict[str, Array]) -> None:
    """ValueError for numbers that the engine does not take."""
    free = [int(m.jnt_dofadr[j]) for j in range(m.njnt) if int(m.jnt_type[j]) == FREE]
    if free and "dof_armature" in values:
        columns = [k for first in free for k in range(first, first + 6)]
        if values["dof_armature"][:, columns].any():
            raise ValueError("dof_armature: a free joint has no armature")
    for name in ("opt.timestep", "opt.impratio"):
        if name in values and not (values[name] > 0).all():
            raise ValueError(f"{name}: some are {values[name].min():g}, expected positive numbers")


def present(values: dict[str, Array]) -> dict[str, Array]:
    """Of fields (nsim, n) that decide what there is: which of their numbers are not zero in some simulation."""
    return {name: (x != 0).any(axis=0) for name, x in values.items() if TABLES.get(name, False)}
