"""Examples: `python -m featherstorm.examples.cartpole` and its neighbours; each prints its control rate and its error."""
