"""What rollouts and planners are made of."""
