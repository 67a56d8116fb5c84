"""featherstorm.viewing: images and videos of simulations, and MuJoCo's web viewer.

    from featherstorm.viewing import Video, render, view

    image = render(batch, ids=range(16))
    view(batch, ids=range(16))              # a page in the browser, until Ctrl-C

It needs MuJoCo 4.0 or later, and for videos the package av: python -m pip install 'featherstorm[view]'. See
docs/viewing.md.
"""

from .frames import Frames, render
from .video import Video
from .web import view

__all__ = ["Frames", "Video", "render", "view"]
