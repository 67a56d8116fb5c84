"""Which tasks there are, by name."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..environment.env import Env

Maker = Callable[..., Env]

# modules of this folder that have a dict TASKS: name -> what makes the task, a class or a function. Each is imported when a name is
# first looked for
MODULES = [
    "gymnasium", "dm_control", "velocity_quadruped", "velocity_rough", "velocity_terrain", "velocity_waves", "velocity_humanoid",
    "velocity_mjlab", "panda",
]  # fmt: skip


class Registry(Mapping[str, Maker]):
    """name -> what makes the task."""

    def __init__(self) -> None:
        self.makers: dict[str, Maker] = {}
        self.filled: set[str] = set()

    def fill(self) -> dict[str, Maker]:
        for module in MODULES:
            if module not in self.filled:
                self.filled.add(module)
                found = importlib.import_module(f".{module}", __package__).TASKS
                self.makers = {**found, **self.makers}
        return self.makers

    def __getitem__(self, name: str) -> Maker:
        return self.fill()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self.fill()))

    def __len__(self) -> int:
        return len(self.fill())

    def __repr__(self) -> str:
        return f"<tasks {', '.join(self)}>"


NAMES = Registry()


def make(name: str, **arguments: Any) -> Env:
    """A task by its name, such as "Ant-v5"; NAMES has them all. arguments: of the task.

    Errors: ValueError for a name that there is not, naming those near it; TypeError for an unknown argument; what the task raises,
    such as FileNotFoundError where the package with its files is not installed.
    """
    if name not in NAMES:
        near = difflib.get_close_matches(str(name), list(NAMES), 3)
        known = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(NAMES)}"
        raise ValueError(f"make: there is no task {name!r}; {known}")
    return NAMES[name](**arguments)


def register(name: str, maker: Maker) -> None:
    """Adds a task: maker(**arguments) returns it. Errors: ValueError where the name is taken by another."""
    if name in NAMES and NAMES[name] is not maker:
        raise ValueError(f"register: there is a task {name!r} already")
    NAMES.makers[name] = maker
