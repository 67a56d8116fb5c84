"""Packages that `import featherstorm` must not import, as module objects that import them at their first use.

    from .._optional import mujoco

Rooms import them this way because a package may be missing, or because its import takes 0.1 s to 1 s. A constant of
a module must not be made from one of them, as this would import the package with the module.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "av", "jax", "matplotlib", "matplotlib_figure", "mujoco", "onnx", "pinocchio", "pyplot", "ray", "tensorboardX",
]  # fmt: skip


class LazyModule(ModuleType):
    """A module that is imported when an attribute is first read.

    install   argument of pip that installs the package
    Errors: ImportError with installation advice if the package is missing.
    """

    def __init__(self, name: str, install: str) -> None:
        super().__init__(name)
        self._install = install

    def __getattr__(self, name: str) -> Any:
        try:
            module = importlib.import_module(self.__name__)
        except ModuleNotFoundError as error:
            if error.name != self.__name__:
                raise
            raise ImportError(
                f"the package {self.__name__} is missing: python -m pip install {self._install}"
            ) from error
        return getattr(module, name)


def at_first_use(package: str, modules: Mapping[str, str], needs: tuple[str, str] = ("", "")) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package of ours whose modules import optional packages.

    modules   module of the package -> names in it, with spaces between, which are attributes of the package too
    needs     a module to import first, and the message of the ImportError if that fails; "": none
    """

    def attribute(name: str) -> Any:
        found = name if name in modules else next((m for m, names in modules.items() if name in names.split()), None)
        if found is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if needs[0]:
            try:
                importlib.import_module(needs[0])
            except ImportError as error:
                raise ImportError(needs[1]) from error
        module = importlib.import_module(f".{found}", package)
        return module if name == found else getattr(module, name)

    return attribute


if TYPE_CHECKING:
    import av
    import jax
    import matplotlib
    import matplotlib.figure as matplotlib_figure
    import matplotlib.pyplot as pyplot
    import mujoco
    import onnx
    import pinocchio
    import ray
    import tensorboardX
else:
    av = LazyModule("av", "'featherstorm[view]'")
    jax = LazyModule("jax", "jax")
    matplotlib = LazyModule("matplotlib", "matplotlib")
    matplotlib_figure = LazyModule("matplotlib.figure", "matplotlib")
    mujoco = LazyModule("mujoco", "mujoco")
    onnx = LazyModule("onnx", "'featherstorm[learn]'")
    pinocchio = LazyModule("pinocchio", "pin")
    pyplot = LazyModule("matplotlib.pyplot", "matplotlib")
    ray = LazyModule("ray", "'featherstorm[distributed]'")
    tensorboardX = LazyModule("tensorboardX", "'featherstorm[learn]'")
