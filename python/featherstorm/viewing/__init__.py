"""featherstorm.viewing: simulations as images, as a video, and as they run in MuJoCo's web viewer.

    from featherstorm.viewing import Video, render, view

    image = render(batch, ids=range(16))
    view(batch, ids=range(16))              # a page in the browser, until Ctrl-C

Needs MuJoCo 4.0 or later, videos the package av: python -m pip install 'featherstorm[view]'. docs/viewing.md.
"""

from .frames import Frames, render
from .video import Video
from .web import view

__all__ = ["Frames", "Video", "render", "view"]
