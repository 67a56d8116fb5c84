"""Batches whose simulations are in the memory of a CUDA device."""
