"""Loaders of robots, their loops, couplings and contacts, and the choice of the operation that steps them."""
