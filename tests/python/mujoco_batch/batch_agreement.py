"""Whether two batches say the same, ours and MuJoCo's."""

import numpy as np

TOLERANCE = 1e-9  # of an array's greatest number


def assert_close(ours, reference, what=""):
    ours, reference = np.array(ours), np.array(reference)
    error = float(np.abs(ours - reference).max(initial=0)) / max(1.0, float(np.abs(reference).max(initial=0)))
    assert error < TOLERANCE, what


def assert_agree(b, reference, observed):
    """What is observed, then the states after three steps."""
    for x in (b, reference):
        for name in observed:
            x.bind(name)
        x.forward()
    for name in observed:
        assert_close(getattr(b, name), getattr(reference, name), name)
    for x in (b, reference):
        x.step(nstep=3)
    assert_close(b.qpos, reference.qpos, "qpos"), assert_close(b.qvel, reference.qvel, "qvel")
    assert_close(b.act, reference.act, "act")
