"""Fixtures. The package is the installed one: ./featherstorm test installs it first."""

import os
import pathlib
import re
import signal
import sys

import pytest

import featherstorm as fs
from robots import load

# A shell starts jobs in the background with SIGINT ignored, and Ctrl-C is tested.
signal.signal(signal.SIGINT, signal.default_int_handler)
# Rooms take helpers from one another.
sys.path += [str(room) for room in pathlib.Path(__file__).parent.iterdir() if room.is_dir()]
# Oracles and libraries that tests import, of which a machine may lack some.
OPTIONAL = "gymnasium|mujoco|pinocchio|ray|rsl_rl|stable_baselines3|tensordict|torch"

# The fake CUDA library that the C++ tests build. The engine looks for the library when it first needs it. With
# FEATHERSTORM_TEST_DEVICE=real it finds the one that is installed, and tests of devices run on this machine's GPU.
REAL_GPU = os.environ.get("FEATHERSTORM_TEST_DEVICE") == "real"
ROOT = pathlib.Path(__file__).resolve().parents[2]
FAKE_CUDA = pathlib.Path(os.environ.get("FEATHERSTORM_FAKE_CUDA", ROOT / "build" / "release" / "lib" / "fake_cuda"))
if FAKE_CUDA.is_dir() and not REAL_GPU:
    os.environ.setdefault("FEATHERSTORM_BACKENDS", str(FAKE_CUDA))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Skip a module that imports an optional package which is not installed."""
    report = yield
    lacking = re.search(rf"No module named '({OPTIONAL})\b[^']*'", str(report.longrepr)) if report.failed else None
    if lacking:
        report.outcome, report.longrepr = "skipped", (str(collector.path), 0, f"Skipped: {lacking[0]}")
    return report


@pytest.fixture(params=fs.robots())
def robot(request):
    """Every built-in robot."""
    return load(request.param)


@pytest.fixture
def go2():
    return load("go2")


@pytest.fixture
def arm():
    return load("iiwa14")


@pytest.fixture
def torch(monkeypatch):
    """PyTorch with tensors on a device, imitated."""
    import fake_cuda

    monkeypatch.setitem(sys.modules, "torch", fake_cuda.torch_like())
    return sys.modules["torch"]


@pytest.fixture
def cupy(monkeypatch):
    """CuPy, imitated."""
    import fake_cuda

    monkeypatch.setitem(sys.modules, "cupy", fake_cuda.cupy_like())
    return sys.modules["cupy"]


@pytest.fixture
def jax():
    """JAX with numbers of float64."""
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def no_work_left():
    """Whatever a test gives to the fake CUDA library's streams is done behind it."""
    yield
    import fake_cuda

    fake_cuda.finish()


@pytest.fixture
def played_compiler(monkeypatch, tmp_path, no_work_left):
    """The fake CUDA library's run-time compiler; on a GPU, NVRTC."""
    if not REAL_GPU:
        monkeypatch.setenv("FEATHERSTORM_NVRTC", os.path.join(os.environ["FEATHERSTORM_BACKENDS"], "libnvrtc.so"))
    monkeypatch.setenv("FEATHERSTORM_CACHE", str(tmp_path))
