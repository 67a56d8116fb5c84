"""Fields of mjData as algorithms on one simulation's traced numbers, and their kernels.

Modules of this folder import MuJoCo 4. `import featherstorm` must not import it, so rooms that this imports write
`from .. import _fields` and name a module at its use, `_fields.sensors`; this imports the module.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._optional import at_first_use

__all__ = ["apart", "constraints", "inputs", "instance", "kernels", "sensors", "table"]

if TYPE_CHECKING:
    from . import apart, constraints, inputs, instance, kernels, sensors, table
else:
    __getattr__ = at_first_use(
        __name__,
        dict.fromkeys(__all__, ""),
        (
            "mujoco.batch",
            "readings and parameters of a world need MuJoCo 4.0 or later: python -m pip install 'mujoco>=4'",
        ),
    )
