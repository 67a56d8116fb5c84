"""Tasks of other packages, by name: featherstorm.tasks.make("Ant-v5").batch(4096)."""

from ..environment.fleet import EnvFleet as fleet
from .registry import NAMES, make, register

__all__ = ["NAMES", "fleet", "make", "register"]
