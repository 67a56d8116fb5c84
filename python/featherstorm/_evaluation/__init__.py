"""Rows of the table of operations: as functions, and run on the arrays of a call."""
