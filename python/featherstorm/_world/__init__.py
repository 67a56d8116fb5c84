"""The world of a model file in steps, simulations and rollouts."""
