"""Registry of tasks by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .._names import hint
from ..environment.env import Env

Maker = Callable[..., Env]

# Modules of this folder with a dict TASKS: name -> maker of the task, a class or a function. A module is imported when
# a name is first looked up.
MODULES = [
    "gymnasium", "dm_control", "velocity_quadruped", "velocity_rough", "velocity_terrain", "velocity_waves", "velocity_humanoid",
    "velocity_mjlab", "panda",
]  # fmt: skip


class Registry(Mapping[str, Maker]):
    """Mapping from a name to the maker of the task."""

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
    """Make a task by its name, such as "Ant-v5"; NAMES lists all names.

    arguments   arguments of the task
    Errors: ValueError for an unknown name, with similar names; TypeError for an unknown argument; errors of the task,
    such as FileNotFoundError if the package with its files is not installed.
    """
    if name not in NAMES:
        more = hint(str(name), NAMES, f"; there are: {', '.join(NAMES)}")
        raise ValueError(f"make: there is no task {name!r}{more}")
    return NAMES[name](**arguments)


def register(name: str, maker: Maker) -> None:
    """Register a task: maker(**arguments) returns it. Errors: ValueError if another task has this name."""
    if name in NAMES and NAMES[name] is not maker:
        raise ValueError(f"register: there is a task {name!r} already")
    NAMES.makers[name] = maker
