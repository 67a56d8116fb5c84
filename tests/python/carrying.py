"""Robots that carry loops or contacts."""

import numpy as np

import featherstorm as fs

LEGS = ("FL", "FR", "RL", "RR")
SOFT = {"K_n": 2e4, "D_n": 100.0, "K_t": 2e4, "D_t": 100.0}


def feet(**options):
    return [fs.Contact(f"{leg}_foot", radius=0.022, friction=0.6, **options) for leg in LEGS]


def stance(model, instances, height=0.30):
    q = np.tile(model.q0, (instances, 1))
    q[:, 2] = height
    q[:, 7:] = np.tile([0.0, 0.8, -1.6], 4)
    return q, np.zeros((instances, model.nv))


def bar(builder, name, length, mass):
    inertia = mass * length**2 / 12
    builder.add_link(name, mass, [length / 2, 0, 0], np.diag([0.1 * inertia, inertia, 1.05 * inertia]).tolist())


def linkage():
    """A parallelogram: two cranks of 0.3 m, 0.5 m apart, with a bar between them."""
    builder = fs.RobotBuilder("parallelogram")
    bar(builder, "left", 0.3, 1.0), bar(builder, "right", 0.3, 1.2), bar(builder, "top", 0.5, 0.7)
    builder.add_joint("a", "revolute", "", "left")
    builder.add_joint("b", "revolute", "", "right", position=[0.5, 0, 0])
    builder.add_joint("c", "revolute", "left", "top", position=[0.3, 0, 0])
    builder.set_gravity([0, -9.81, 0])
    return builder


PIN = fs.Loop("top", "right", "revolute", at=(0.5, 0, 0), on=(0.3, 0, 0), name="pin")


def parallelogram(**options):
    return fs.Model(linkage().build(loops=[PIN]), threads=1, **options)


def closed(angle):
    """q of the closed parallelogram: left, top, right, as the tree has them."""
    return np.stack([angle, -angle, angle], axis=-1)
