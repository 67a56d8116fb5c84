"""Simulations of a featherstorm.mujoco.Batch as parts of a larger whole: a batch has no random numbers, and its simulations have
the same bits in any batch."""

import pathlib
import sys

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("mujoco.batch", reason="needs MuJoCo 4.0 or later")
sys.path.insert(0, str(pathlib.Path(__file__).parent))

from touching_models import touching  # noqa: E402

from featherstorm.mujoco import Batch  # noqa: E402


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_parts_of_a_batch_have_the_bits_of_the_whole(dtype):
    m = mujoco.MjModel.from_xml_string(touching())
    rng = np.random.default_rng(4)
    qvel = rng.normal(0, 0.5, (24, m.nv))
    friction = rng.uniform(0.3, 1.5, (24, 1, 3))

    def run(rows):
        batch = Batch(m, len(qvel[rows]), 1, dtype=dtype)
        batch.expand("geom_friction")[:] *= friction[rows]
        batch.qvel[:] = qvel[rows]
        batch.step(nstep=50)
        return np.array(batch.state)

    whole = run(slice(0, 24))
    parts = [run(slice(k, k + n)) for k, n in ((0, 7), (7, 9), (16, 8))]
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    assert np.abs(whole).max() > 0 and not np.array_equal(whole[0], whole[1])
