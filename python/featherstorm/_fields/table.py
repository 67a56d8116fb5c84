"""The fields of mjData that are computed for a batch, and at which stage of MuJoCo's forward dynamics."""

from __future__ import annotations

import mujoco
import mujoco.batch

from .state import COMPONENTS

POS, VEL, ACC = (
    int(s) for s in (mujoco.mjtStage.mjSTAGE_POS, mujoco.mjtStage.mjSTAGE_VEL, mujoco.mjtStage.mjSTAGE_ACC)
)
POSITIONS = """
xpos xquat xmat xipos xiquat ximat xanchor xaxis geom_xpos geom_xquat geom_xmat site_xpos site_xquat site_xmat cam_xpos cam_xmat
light_xpos light_xdir subtree_com cinert cdof crb M ten_length ten_J actuator_length ncon ne nf nl nefc
"""
VELOCITIES = """
cvel cdof_dot subtree_linvel subtree_angmom ten_velocity actuator_velocity qfrc_spring qfrc_damper qfrc_gravcomp qfrc_fluid
qfrc_passive qfrc_bias energy
"""
FORCES = """
act_dot actuator_force qfrc_actuator qfrc_smooth qacc_smooth qacc qfrc_constraint cacc cfrc_ext cfrc_int sensordata
solver_niter
"""
OF_CONTACTS = ("ncon", "nefc")  # which take contacts, that the solver finds
INTEGERS = ("ncon", "ne", "nf", "nl", "nefc", "solver_niter")

# name -> the stage that computes it
STAGES = {
    name: stage for stage, names in ((POS, POSITIONS), (VEL, VELOCITIES), (ACC, FORCES)) for name in names.split()
}
DATA_FIELDS = frozenset({*COMPONENTS, *STAGES})  # what Batch.bind takes
MODEL_FIELDS: frozenset[str] = mujoco.batch.MODEL_FIELDS  # what Batch.expand takes


def parts_of(names: list[str], stages: tuple[int, ...]) -> tuple[str, ...]:
    """Return the parts of some fields computed at some stages. sensordata has a part for each, "sensordata 1"."""
    parts = [name for name in names if name != "sensordata" and STAGES[name] in stages]
    if "sensordata" in names:
        parts += [f"sensordata {stage}" for stage in stages]
    return tuple(sorted(parts))
