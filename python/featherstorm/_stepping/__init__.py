"""Steps in time that have a function of their own."""
