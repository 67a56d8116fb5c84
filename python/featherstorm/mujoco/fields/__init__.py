"""Fields of mjData as texts of one simulation, and their kernels."""
