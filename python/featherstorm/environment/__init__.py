"""Environments: episodes of many robots at once, whose functions are traced into the step of their physics."""
