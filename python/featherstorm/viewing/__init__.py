"""featherstorm.viewing: images and videos of simulations, and MuJoCo's web viewer.

    from featherstorm.viewing import Video, render, view

    image = render(batch, ids=range(16))
    view(batch, ids=range(16))              # a page in the browser, until Ctrl-C

It needs MuJoCo 4.0 or later, and for videos the package av: python -m pip install 'featherstorm[view]'. See
docs/viewing.md.
"""

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["Frames", "Video", "render", "view"]

if TYPE_CHECKING:
    from .frames import Frames, opengl as opengl, render
    from .video import Video, check_video as check_video
    from .web import view
else:
    # name -> its module, which imports MuJoCo: rooms import this package without it
    _MODULES = {
        "Frames": "frames",
        "Video": "video",
        "check_video": "video",
        "opengl": "frames",
        "render": "frames",
        "view": "web",
    }

    def __getattr__(name: str) -> Any:
        if name not in _MODULES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(importlib.import_module(f".{_MODULES[name]}", __name__), name)
