"""Fields of a model that are inputs of an engine's kernels: simulations may differ in them without new kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from .. import _featherstorm
from .._robot.mjcf import collides
from .apart import has_depth_images

if TYPE_CHECKING:
    from ..typing import NumpyArray as Array


# tables that are inputs -> True if an element exists only where a number is not zero, such as a row of dry friction
TABLES: dict[str, bool] = {
    name.replace("opt_", "opt."): decides for name, decides in _featherstorm.world_inputs().items()
}
# those that are fields of the state
OF_STATE = ("eq_active", "mocap_pos", "mocap_quat")
# fields that only the algorithms of fields read
OF_TEXTS = frozenset(
    {"cam_mat0", "cam_pos0", "cam_poscom0", "light_dir", "light_dir0", "light_pos", "light_pos0", "light_poscom0"}
)
# fields that Python reads when it makes or runs an engine; each world lists the fields that C++ reads (Engine.read)
READ_HERE = frozenset(
    {
        "M_colind", "M_rownnz", "actuator_armature", "actuator_ctrllimited", "actuator_delay", "actuator_gear",
        "actuator_outadr", "actuator_trnid", "actuator_trntype", "body_dofadr", "body_dofnum", "body_gravcomp",
        "body_inertia", "body_ipos", "body_iquat", "body_jntadr", "body_jntnum", "body_mass", "body_mocapid",
        "body_parentid", "body_pos", "body_quat", "body_rootid", "body_sameframe", "body_weldid", "cam_bodyid",
        "cam_mat0", "cam_mode", "cam_pos", "cam_pos0", "cam_poscom0", "cam_projection", "cam_quat", "cam_targetbodyid",
        "dof_armature", "dof_damping", "dof_frictionloss", "dof_jntid", "dof_parentid", "eq_active0", "eq_data",
        "eq_obj1id", "eq_obj2id", "eq_objtype", "eq_type", "geom_bodyid", "geom_conaffinity", "geom_contype",
        "geom_dataid", "geom_gap", "geom_group", "geom_margin", "geom_matid", "geom_pos", "geom_quat", "geom_sameframe",
        "geom_size", "geom_type", "jnt_actfrclimited", "jnt_actfrcrange", "jnt_actgravcomp", "jnt_axis", "jnt_bodyid",
        "jnt_dofadr", "jnt_limited", "jnt_margin", "jnt_pos", "jnt_qposadr", "jnt_range", "jnt_stiffness", "jnt_type",
        "key_act", "key_ctrl", "key_mpos", "key_mquat", "key_plastic", "key_qpos", "key_qvel", "key_time",
        "light_bodyid", "light_dir", "light_dir0", "light_mode", "light_pos", "light_pos0", "light_poscom0",
        "light_targetbodyid", "opt.cone", "opt.density", "opt.disableflags", "opt.enableflags", "opt.gravity",
        "opt.integrator", "opt.iterations", "opt.solver", "opt.timestep", "opt.viscosity", "pair_gap", "pair_geom1",
        "pair_geom2", "pair_margin", "qpos0", "sensor_adr", "sensor_cutoff", "sensor_datatype", "sensor_dim",
        "sensor_history", "sensor_intprm", "sensor_needstage", "sensor_objid", "sensor_objtype", "sensor_refid",
        "sensor_reftype", "sensor_type", "site_bodyid", "site_pos", "site_quat", "site_sameframe", "ten_J_colind",
        "ten_J_rownnz", "tendon_adr", "tendon_armature", "tendon_damping", "tendon_dampingpoly", "tendon_frictionloss",
        "tendon_length0", "tendon_limited", "tendon_margin", "tendon_range", "tendon_stiffness", "tendon_stiffnesspoly",
        "wrap_objid", "wrap_prm", "wrap_type",
    }
)  # fmt: skip
# fields that range finders of cameras read
LENSES = frozenset({"cam_fovy", "cam_intrinsic", "cam_resolution", "cam_sensorsize"})
# of an engine: a stage takes 48 arrays (host/memory/kernel.h), 12 of them its own and 3 of OF_STATE
MOST = 32
# frames that may equal another frame (mjtSameFrame)
FRAMES = frozenset({"body_ipos", "body_iquat", "geom_pos", "geom_quat", "site_pos", "site_quat"})
# poses of bodies in their parents
PLACES = frozenset({"body_pos", "body_quat"})
# extents of geoms, which decide the number of their contacts with a height field
REACHES = frozenset({"geom_size", "geom_margin", "geom_gap", "pair_margin", "pair_gap"})

DYN, GAIN, BIAS, TRN = mujoco.mjtDyn, mujoco.mjtGain, mujoco.mjtBias, mujoco.mjtTrn
HEIGHT_FIELD = int(mujoco.mjtGeom.mjGEOM_HFIELD)
BALL = int(mujoco.mjtJoint.mjJNT_BALL)


def array_name(field: str) -> str:
    """Return the engine's name of a field."""
    return field.replace(".", "_")


def is_input(m: Any, name: str) -> bool:
    """Return True if a field of a model may be an input."""
    if name in OF_TEXTS:
        return True
    if name not in TABLES or name == "eq_active":
        return False
    if name in REACHES:
        return not touches_height_fields(m)
    if name in ("actuator_gainprm", "actuator_biasprm", "actuator_dynprm", "actuator_gear"):
        return not has_odd_actuators(m)
    return True


def is_read_here(m: Any, name: str) -> bool:
    """Return whether Python reads a field of a model."""
    return name in READ_HERE or (name in LENSES and has_depth_images(m))


def touches_height_fields(m: Any) -> bool:
    return bool((collides(m) & (np.asarray(m.geom_type) == HEIGHT_FIELD)).any())


def has_odd_actuators(m: Any) -> bool:
    """Return True if actuator numbers decide the number of activations, or that setpoints are angles."""
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
    """Raise ValueError for numbers that the engine does not support."""
    for name in ("opt.timestep", "opt.impratio"):
        if name in values and not (values[name] > 0).all():
            raise ValueError(f"{name}: some are {values[name].min():g}, expected positive numbers")


def present(values: dict[str, Array]) -> dict[str, Array]:
    """For fields (nsim, n) that decide which elements exist, return which numbers are not zero in some simulation."""
    return {name: (x != 0).any(axis=0) for name, x in values.items() if TABLES.get(name, False)}
