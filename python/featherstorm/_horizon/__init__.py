"""Parts of rollouts and planners."""
