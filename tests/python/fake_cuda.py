"""Array libraries with a CUDA device, imitated in host memory, for the fake CUDA library (tests/device).

An array is a numpy array that says it lies on a device, and records what it was asked by DLPack. `standard` is a
namespace of the array API standard; `torch_like` and `cupy_like` have what the package uses of those libraries.
"""

import ctypes
import os
import types

import numpy as np
import pytest

from featherstorm import _featherstorm

REAL_GPU = os.environ.get("FEATHERSTORM_TEST_DEVICE") == "real"
CUDA = "cuda:0" if REAL_GPU else "cuda:1"  # the device of most tests: of the fake CUDA library the second of two
found, missing = _featherstorm.cuda_devices()
KEPT = [_featherstorm.DeviceStream(0) for _ in range(2)] if REAL_GPU and found else []
STREAMS = (0, *(s.number for s in KEPT)) if KEPT else (0, 0x77, 0x1230)
FAKE = bool(found) and found[0][0].startswith("fake-cuda") and not REAL_GPU
WHY = "needs the fake CUDA library of the C++ tests: its arrays, counters or second device"
needs_fake_cuda = pytest.mark.skipif(not FAKE, reason=f"{WHY}; {missing}")
# What has this mark runs on a GPU too, where FEATHERSTORM_TEST_DEVICE is "real". A test ends there, as skipped, where it
# makes an imitated array or reads a counter.
needs_device = pytest.mark.skipif(not found or not (FAKE or REAL_GPU), reason=f"needs a CUDA device: {missing}")


def only_fake():
    """Skip the rest of a test on a GPU."""
    if REAL_GPU:
        pytest.skip(WHY)


def bound(tolerance):
    """Tolerance of a comparison with the CPU; larger on a GPU, whose compiler fuses products with sums."""
    return min(1000 * tolerance, max(tolerance, 1e-2)) if REAL_GPU else tolerance


class Counts(ctypes.Structure):
    """StandInCounts (tests/device/fake_cuda/fake_cuda.h)."""

    _fields_ = [
        *((name, ctypes.c_int) for name in ("driver_allocations", "pool_allocations", "live_blocks", "launches")),
        *((name, ctypes.c_int) for name in ("live_programs", "waits", "device")),
        ("stream", ctypes.c_void_p),
    ]


def counts():
    only_fake()
    found = Counts()
    library = os.path.join(os.environ["FEATHERSTORM_BACKENDS"], "libfeatherstorm_cuda.so")
    ctypes.CDLL(library).fake_cuda_counts(ctypes.byref(found))
    return found


def finish():
    """Does what tests left to be done."""
    for device in (0,) if REAL_GPU else (0, 1):
        for stream in STREAMS:
            _featherstorm.synchronise(device, stream)
    Array.kept.clear()


def close(x, expected):
    return np.allclose(np.asarray(x), expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


DEVICE_OFFSET = 8  # of (device type, device number) in a DLPack tensor, behind the address of the data


def tell_device(capsule, kind, number):
    """Changes the device that a DLPack capsule names."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    device = (ctypes.c_int32 * 2).from_address(get(capsule, b"dltensor") + DEVICE_OFFSET)
    device[0], device[1] = kind, number
    return capsule


class Array(np.ndarray):
    number = 0
    asked = []  # streams given to __dlpack__
    kept = []  # memory that work on a stream may still use; a library's allocator keeps it in the same way

    def __array_finalize__(self, other):
        self.number = getattr(other, "number", 0)

    def __dlpack_device__(self):
        return (2, self.number)

    def __dlpack__(self, *, stream=None, **options):
        Array.asked.append(stream)
        Array.kept.append(np.asarray(self))
        return tell_device(np.asarray(self).__dlpack__(), 2, self.number)

    @property
    def device(self):
        return f"cuda:{self.number}"


class Tensor(Array):
    requires_grad = False


class CupyArray(Array):
    pass


class StandardArray(Array):
    def __array_namespace__(self, api_version=None):
        return standard


class OnlyDlpack:
    """An array on a device of a library that has nothing but DLPack."""

    def __init__(self, fake):
        self.__dlpack__, self.__dlpack_device__ = fake.__dlpack__, fake.__dlpack_device__
        self.dtype, self.shape = fake.dtype, fake.shape


Tensor.__module__, CupyArray.__module__ = "torch", "cupy"


def array(kind, values, number=0):
    """An array of a class above on a device."""
    only_fake()
    fake = np.array(values).view(kind)
    fake.number = number
    return fake


def adopt(kind, x):
    """The array of a class above over the memory of an array on a device, as from_dlpack of a library gives it."""
    only_fake()
    number = x.__dlpack_device__()[1]

    class OnCpu:
        def __dlpack_device__(self):
            return (1, 0)

        def __dlpack__(self, **options):
            return tell_device(x.__dlpack__(stream=1), 1, 0)

    fake = np.from_dlpack(OnCpu()).view(kind)
    fake.number = number
    return fake


standard = types.SimpleNamespace(
    from_dlpack=lambda x: adopt(StandardArray, x),
    asarray=np.asarray,
    take=lambda x, index, axis: np.take(x, index, axis),
    concat=lambda arrays, axis: np.concatenate(arrays, axis).view(StandardArray),
    stack=lambda arrays, axis: np.stack(arrays, axis).view(StandardArray),
    zeros_like=np.zeros_like,
)


class Streams:
    """torch.cuda and cupy.cuda, with a current stream."""

    number = 0

    def current_stream(self, device):
        return types.SimpleNamespace(cuda_stream=self.number)

    def get_current_stream(self):
        return types.SimpleNamespace(ptr=self.number)

    def synchronize(self, device=0):
        _featherstorm.synchronise(device, self.number)

    class Device:
        def __init__(self, number):
            self.number = number

        def __enter__(self):
            CUPY_DEVICE.append(self.number)

        def __exit__(self, *error):
            CUPY_DEVICE.pop()


CUPY_DEVICE = [0]


def torch_like():
    only_fake()

    def empty(shape, dtype, device):
        return array(Tensor, np.full(shape, np.nan, dtype), int(str(device).partition(":")[2]))

    return types.SimpleNamespace(
        Tensor=Tensor,
        from_dlpack=lambda x: adopt(Tensor, x),
        cuda=Streams(),
        empty=empty,
        moveaxis=np.moveaxis,
        zeros_like=np.zeros_like,
        cat=lambda tensors, dim: np.concatenate(tensors, dim).view(Tensor),
        stack=lambda tensors, dim: np.stack(tensors, dim).view(Tensor),
    )


def cupy_like():
    only_fake()
    return types.SimpleNamespace(
        cuda=Streams(),
        empty=lambda shape, dtype: array(CupyArray, np.full(shape, np.nan, dtype), CUPY_DEVICE[-1]),
        moveaxis=np.moveaxis,
        zeros_like=np.zeros_like,
        concatenate=lambda arrays, axis: np.concatenate(arrays, axis).view(CupyArray),
        stack=lambda arrays, axis: np.stack(arrays, axis).view(CupyArray),
    )
