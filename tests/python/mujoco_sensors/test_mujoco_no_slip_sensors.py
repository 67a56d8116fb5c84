"""Contact sensors where friction forces are solved again without softness: pairs that are near in single instances among them."""

import mujoco
import numpy as np
import pytest
from mujoco import batch as theirs

from featherstorm.mujoco import Batch

BALL = '<body name="b{i}" pos="{x} {y} {z}"><freejoint/><geom type="{shape}" size=".05 .03"/></body>'


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_contact_sensors_have_the_forces_without_slip(cone):
    shapes = ("sphere", "sphere", "capsule", "sphere", "sphere")
    bodies = "".join(
        BALL.format(x=0.09 * i, y=0.01 * (i % 2), z=0.05 + 0.002 * i, shape=shape, i=i)
        for i, shape in enumerate(shapes)
    )
    sensors = "".join(f'<contact body1="b{i}" reduce="netforce" data="force"/>' for i in range(len(shapes)))
    m = mujoco.MjModel.from_xml_string(
        f'<mujoco><option noslip_iterations="4" cone="{cone}"/><worldbody><geom type="plane" size="3 3 1"/>{bodies}</worldbody>'
        f"<sensor>{sensors}</sensor></mujoco>"
    )
    n, rng = 16, np.random.default_rng(0)
    q = np.tile(m.qpos0, (n, 1)) + 0.02 * rng.normal(size=(n, m.nq))
    v = 0.3 * rng.normal(size=(n, m.nv))
    ours, reference = Batch(m, n, 1, dtype="float64"), theirs.Batch(m, n, 1)
    for b in (ours, reference):
        b.bind("qpos")[:], b.bind("qvel")[:] = q, v
        b.bind("sensordata")
        b.forward()
    assert np.count_nonzero(reference.sensordata) > 2 * n
    assert np.abs(np.array(ours.sensordata) - reference.sensordata).max() < 1e-5 * np.abs(reference.sensordata).max()
