"""Batches on the CPU and on a CUDA device, and whether they say the same."""

import mujoco
import numpy as np
from batch_agreement import N, stirred
from batch_models import PENDULUM

import featherstorm as fs
from fake_cuda import CUDA, bound
from featherstorm.mujoco import Batch

CLOSE = {"float64": 1e-12, "float32": 1e-5}  # of an array's greatest number


def compiled(xml):
    return mujoco.MjModel.from_xml_string(xml)


def states(m, n=N, seed=0):
    """Random rows of mjSTATE_INTEGRATION near the model's defaults."""
    return stirred(m, n, seed, turn=0.05, speed=0.3, force=0.1, push=0.1)


def both(xml=PENDULUM, dtype="float64", fields=(), **options):
    """A batch on the CPU and one on a device, with the same states."""
    return device_and_host(compiled(xml), fields, dtype, **options)[::-1]


def device_and_host(m, fields=(), dtype="float64", persistent=False, **options):
    """A batch on a device and one on the CPU, with the same states, which compute the fields."""
    batches = [Batch(m, N, dtype=dtype, device=device, **options) for device in (CUDA, "cpu")]
    for b in batches:
        b.set_rows(states(m))
        for name in fields:
            b.bind(name)
    return batches


def assert_close(ours, theirs, tolerance=1e-11, what=""):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    scale = max(np.abs(theirs[np.isfinite(theirs)]).max(initial=0), 1)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=bound(tolerance) * scale, err_msg=what)


def assert_same(ours, theirs, fields=(), tolerance=1e-11):
    """The states, the fields and the numbers of warnings of two batches; all of a warning if both are ours."""
    for name in ("state", *fields):
        assert_close(getattr(ours, name), getattr(theirs, name), tolerance, name)
    counts = ... if isinstance(theirs, Batch) else (..., 1)
    np.testing.assert_array_equal(ours.warning[counts], theirs.warning[counts])


def fs_stream():
    return fs.device.Stream(CUDA)
