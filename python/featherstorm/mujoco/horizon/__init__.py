"""Rollouts of a batch: what is recorded, and how the steps are run."""
