"""Fields of mjData as algorithms on one simulation's traced numbers, and their kernels.

Modules of this folder import MuJoCo 4. `import featherstorm` must not import it, so rooms that this imports write
`from .. import _fields` and name a module at its use, `_fields.sensors`; this imports the module.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["contacts", "distances", "inputs", "instance", "kernels", "ranges", "sensors", "state", "table"]

if TYPE_CHECKING:
    from . import contacts, distances, inputs, instance, kernels, ranges, sensors, state, table
else:

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        try:
            importlib.import_module("mujoco.batch")
        except ImportError as error:
            raise ImportError(
                "readings and parameters of a world need MuJoCo 4.0 or later: python -m pip install 'mujoco>=4'"
            ) from error
        return importlib.import_module(f".{name}", __name__)
