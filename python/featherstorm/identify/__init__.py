"""Identification: numbers of a robot from logs of its motion.

    from featherstorm import identify

    motion = identify.exciting(model)                                  # an exciting motion of the joints
    log = identify.differentiate(model, q, dt, tau=tau, cutoff=10.0)   # velocities and accelerations
    found = identify.inertias(model, log.q, log.v, log.a, log.tau, viscous=True)
    found.model                                                        # the robot with physical inertias

    numbers = [identify.Number("dof_damping", "elbow", upper=5), identify.Number("geom_friction", "foot", lower=0.1)]
    identify.fit(fs.Rollout(model, substeps=5), identify.Log(q, v, u), numbers).values

Inverse dynamics is linear in inertias and joint friction, so `inertias` solves a convex problem. Numbers of contacts,
actuators and anything else that a simulation reads are found by `fit`, through simulations. See docs/identification.md.
"""

from .base import BaseParameters, base_parameters, regressor
from .exciting import Excitation, exciting
from .fit import Fit, fit
from .inertias import Inertias, inertias
from .logs import Log, LogNoise, Motion, Number, differentiate, low_pass
from .parameters import inertial_parameters, is_physical, to_mujoco, with_inertias

__all__ = [
    "BaseParameters", "Excitation", "Fit", "Inertias", "Log", "LogNoise", "Motion", "Number", "base_parameters",
    "differentiate", "exciting", "fit", "inertial_parameters", "inertias", "is_physical", "low_pass", "regressor",
    "to_mujoco", "with_inertias",
]  # fmt: skip
