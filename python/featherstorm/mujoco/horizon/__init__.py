"""Rollouts of a batch: records, and the execution of the steps."""
