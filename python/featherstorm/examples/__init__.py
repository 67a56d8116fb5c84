"""Examples: `python -m featherstorm.examples.cartpole` and its neighbours; each prints its rate and its error."""
