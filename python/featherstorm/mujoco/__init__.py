"""featherstorm.mujoco: MuJoCo's interfaces for many simulations, computed by featherstorm.

    from featherstorm.mujoco import Batch       # the interface of mujoco.batch.Batch
    from featherstorm.mujoco import rollout     # the interface of mujoco.rollout

Needs the package mujoco, 4.0 or later. docs/mujoco.md lists the supported features.
"""

try:
    import mujoco.batch  # noqa: F401
except ImportError as error:
    raise ImportError("featherstorm.mujoco needs MuJoCo 4.0 or later: python -m pip install 'mujoco>=4'") from error

from .._fields.table import DATA_FIELDS, MODEL_FIELDS
from .._robot.closures import Rigid
from . import rollout
from .arguments import SimulationError, UsageError
from .batch import Batch

__all__ = ["DATA_FIELDS", "MODEL_FIELDS", "Batch", "Rigid", "SimulationError", "UsageError", "rollout"]
