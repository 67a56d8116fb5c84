"""State and computed fields of mjData, by stage of the forward dynamics, and the error of arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import mujoco
import mujoco.batch
import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt


class UsageError(ValueError, mujoco.FatalError):  # type: ignore[misc]  # mujoco has no types
    """An invalid call.

    MuJoCo raises ValueError in some of these cases and another error in others; this error is both.
    """

    __module__ = "featherstorm.mujoco"


# Fields of mjData by their bit of mjtState, in the order of the row.
COMPONENTS = {
    "time": mujoco.mjtState.mjSTATE_TIME,
    "qpos": mujoco.mjtState.mjSTATE_QPOS,
    "qvel": mujoco.mjtState.mjSTATE_QVEL,
    "act": mujoco.mjtState.mjSTATE_ACT,
    "history": mujoco.mjtState.mjSTATE_HISTORY,
    "qacc_warmstart": mujoco.mjtState.mjSTATE_WARMSTART,
    "ctrl": mujoco.mjtState.mjSTATE_CTRL,
    "qfrc_applied": mujoco.mjtState.mjSTATE_QFRC_APPLIED,
    "xfrc_applied": mujoco.mjtState.mjSTATE_XFRC_APPLIED,
    "eq_active": mujoco.mjtState.mjSTATE_EQ_ACTIVE,
    "mocap_pos": mujoco.mjtState.mjSTATE_MOCAP_POS,
    "mocap_quat": mujoco.mjtState.mjSTATE_MOCAP_QUAT,
    "userdata": mujoco.mjtState.mjSTATE_USERDATA,
    "plugin_state": mujoco.mjtState.mjSTATE_PLUGIN,
    "plastic": mujoco.mjtState.mjSTATE_PLASTIC,
}
# fields of keyframes by those of the state
KEYS = {
    "key_time": "time", "key_qpos": "qpos", "key_qvel": "qvel", "key_act": "act", "key_ctrl": "ctrl",
    "key_mpos": "mocap_pos", "key_mquat": "mocap_quat",
}  # fmt: skip
INTEGRATION = int(mujoco.mjtState.mjSTATE_INTEGRATION)
USER = int(mujoco.mjtState.mjSTATE_USER)
# Fields of a state that a step changes.
MOVED = ("time", "qpos", "qvel", "act", "qacc_warmstart")


class Layout:
    """The columns of each field in the state row of a model.

    size      numbers of a row
    columns   name -> its columns
    """

    def __init__(self, m: Any) -> None:
        self.m = m
        self.columns: dict[str, slice] = {}
        first = 0
        for name, bit in COMPONENTS.items():
            end = first + mujoco.mj_stateSize(m, int(bit))
            self.columns[name] = slice(first, end)
            first = end
        self.size = first
        if first != mujoco.mj_stateSize(m, INTEGRATION):
            raise RuntimeError("this version of mujoco has a state that featherstorm does not know")

    def width(self, name: str) -> int:
        columns = self.columns[name]
        return columns.stop - columns.start

    def columns_of(self, spec: int) -> npt.NDArray[np.intp]:
        """Return the columns of a row that make the state vector of mjtState bits."""
        parts = [np.arange(c.start, c.stop) for name, c in self.columns.items() if spec & int(COMPONENTS[name])]
        return np.concatenate([np.zeros(0, np.intp), *parts])

    def defaults(self) -> list[tuple[str, slice, npt.NDArray[np.intp]]]:
        """Fields of the model that decide the defaults, each with columns of a row and its numbers there."""
        bodies = mocap_bodies(self.m)[:, None]
        found = [
            ("qpos0", self.columns["qpos"], np.arange(self.m.nq)),
            ("body_pos", self.columns["mocap_pos"], (3 * bodies + np.arange(3)).ravel()),
            ("body_quat", self.columns["mocap_quat"], (4 * bodies + np.arange(4)).ravel()),
        ]
        return [one for one in found if one[2].size]

    def initial(self, keyframe: int = -1) -> npt.NDArray[np.float64]:
        """Return the row of the model's defaults, or of a keyframe."""
        data = mujoco.MjData(self.m)
        if keyframe >= 0:
            mujoco.mj_resetDataKeyframe(self.m, data, keyframe)
        return row_of(self.m, data)


def mocap_bodies(m: Any) -> npt.NDArray[np.intp]:
    """Return the numbers of mocap bodies, in the order of mocap_pos."""
    return np.argsort(m.body_mocapid)[np.sort(m.body_mocapid) >= 0]


def row_of(m: Any, data: Any) -> npt.NDArray[np.float64]:
    """Return the state of an MjData, in double."""
    row = np.empty(mujoco.mj_stateSize(m, INTEGRATION), mujoco.MJTNUM_DTYPE)
    mujoco.mj_getState(m, data, row, INTEGRATION)
    return row.astype(np.float64)


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
