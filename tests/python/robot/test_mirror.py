"""Numbers in a mirror, and joints that are images of each other."""

import numpy as np
import pytest

from featherstorm.environment.mirror import AXIAL, VECTOR, Mirror, joined, of_joints


def test_numbers_in_a_mirror():
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(VECTOR(x), [[0, -1, 2], [3, -4, 5]])
    np.testing.assert_array_equal(AXIAL(x), [[0, 1, -2], [-3, 4, -5]])
    places = Mirror((1, 0)).of_each(VECTOR)
    np.testing.assert_array_equal(places(np.arange(6.0)), [3, -4, 5, 0, -1, 2])
    both = joined(AXIAL, Mirror((1, 0)))
    np.testing.assert_array_equal(both(np.arange(5.0)), [0, 1, -2, 4, 3])
    assert len(both) == 5 and AXIAL(np.ones(3, np.float32)).dtype == np.float32
    matrix = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(places(matrix.ravel()).reshape(2, 3), VECTOR(matrix)[::-1])
    for source, sign in (
        ((0, 0), None),
        ((0, 2), None),
        ((0, 1), (1,)),
        ((0, 1), (1, 2)),
        ((1, 2, 0), None),
        ((1, 0), (1, -1)),
    ):
        with pytest.raises(ValueError, match="expected numbers that change places in pairs"):
            Mirror(source, sign)


def test_images_of_joints():
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><worldbody><body pos="3 4 5" euler="20 30 40"><freejoint/><geom size="0.1"/>{}</body></worldbody></mujoco>"""
    side = """<body pos="0.1 {y} 0"><joint axis="1 {y} 0"/><joint axis="0 1 0"/><joint type="slide" axis="0 1 0"/><geom size="0.1"/></body>"""
    left, right = side.format(y=0.5), side.format(y=-0.5)
    middle = '<body><joint axis="0 0 1"/><joint type="slide" axis="0 0 1"/><geom size="0.1"/></body>'
    found = of_joints(mujoco.MjModel.from_xml_string(text.format(left + middle + right)))
    np.testing.assert_array_equal(found.source, [5, 6, 7, 3, 4, 0, 1, 2])
    np.testing.assert_array_equal(found.sign, [-1, 1, -1, -1, 1, -1, 1, -1])
    with pytest.raises(ValueError, match="has no joint that is its image"):
        of_joints(mujoco.MjModel.from_xml_string(text.format(left + middle)))
