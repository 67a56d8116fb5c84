"""Arrays: of NumPy, PyTorch and JAX, on the host and on devices."""
