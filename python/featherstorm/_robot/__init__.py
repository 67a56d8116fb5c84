"""Parts of a robot beside its tree, their loaders, and the choice of the operation that steps it."""
