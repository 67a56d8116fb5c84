"""Planning in receding horizon: by sampling (predictive sampling, MPPI, DIAL, the cross-entropy method) or gradients (ILQR).

    roll = fs.Rollout(model, dt=0.02, cost=cost, control=control)
    planner = MPPI(roll, horizon=40, nu=1, sigma=2.0, temperature=0.1, lower=-5, upper=5)
    u = planner.command(x, t, p=target)     # (nu,), the control at the time t, from an improved plan
    u = planner.control(t + 0.005)          # the same plan a little later

A plan is a curve of controls over the horizon, given by its knots; without `knots` there is one for each control step.
Samples are random curves about it, and their costs improve it (host/planning/sampled_plan.h).

A planner needs only the function `rollout(x0, U, **given)` with x0 (nx,) and U (samples, horizon, nu). The function
returns costs (samples,), or an object with such `costs`: a featherstorm.Rollout or a function of yours. A
featherstorm.Rollout simulates the contacts, loops or couplings of its model, and the world of a model file:
MPPI(fs.Rollout(fs.load("scene.xml"), cost=cost), 40) plans controls of the file's actuators, within their ranges. It
interpolates the knots itself, and where x is on a device, the samples, costs, sums over them (_horizon/samples.py), and
the control are there too.
"""

from .gradients import ILQR
from .methods import CEM, DIAL, MPPI, PredictiveSampling
from .planner import Planner, PlanningError

__all__ = ["CEM", "DIAL", "ILQR", "MPPI", "Planner", "PlanningError", "PredictiveSampling"]
