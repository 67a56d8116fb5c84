"""Worlds of model files in steps, simulations and rollouts."""
