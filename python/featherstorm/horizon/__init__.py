"""Results of rollouts and samples of planners."""
