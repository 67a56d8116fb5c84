"""Parts of the cotangents of control steps: featherstorm.environment.gradients."""
