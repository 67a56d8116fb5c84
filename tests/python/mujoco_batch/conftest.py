"""Two batches that must agree: ours and MuJoCo's, or ours on a CUDA device and on the CPU."""

import pytest

from fake_cuda import needs_device


@pytest.fixture(params=["mujoco", pytest.param("device", marks=needs_device)])
def pair(request):
    """A function of a model that returns two batches in the same states, whose answers must be the same."""
    import batch_agreement
    import device_batches

    if request.param == "mujoco":
        return batch_agreement.both
    request.getfixturevalue("played_compiler")
    return device_batches.device_and_host
