"""Learning policies: fs.learning.Policy is what was learnt; `featherstorm train TASK` learns one."""

from .policy import Policy

__all__ = ["Policy"]
