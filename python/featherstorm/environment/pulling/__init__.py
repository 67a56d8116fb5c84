"""What cotangents of control steps are made of: featherstorm.environment.gradients."""
