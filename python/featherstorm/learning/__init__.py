"""Training of policies, as with `featherstorm train TASK`, from Python.

training = fs.learning.Training("Hopper-v5", "runs/hopper", seed=1)
training.run(until=2500)
policy = fs.learning.Policy.load("runs/hopper/policy.npz")
actions = policy(obs)
"""

from .policy import Policy
from .settings import Settings, settings_of
from .training import Training, progress, resume

__all__ = ["Policy", "Settings", "Training", "progress", "resume", "settings_of"]
