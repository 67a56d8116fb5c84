"""featherstorm.viewing: images and videos of simulations, and MuJoCo's web viewer.

    from featherstorm.viewing import Video, render, view

    image = render(batch, ids=range(16))
    view(batch, ids=range(16))              # a page in the browser, until Ctrl-C

It needs MuJoCo 4.0 or later, and for videos the package av: python -m pip install 'featherstorm[view]'. See
docs/viewing.md.
"""

from typing import TYPE_CHECKING

from .._optional import at_first_use

__all__ = ["Frames", "Video", "render", "view"]

if TYPE_CHECKING:
    from .frames import Frames, Video, check_video as check_video, opengl as opengl, render
    from .web import view
else:
    __getattr__ = at_first_use(__name__, {"frames": "Frames Video check_video opengl render", "web": "view"})
