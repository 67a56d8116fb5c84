"""Kernels read and write nothing beyond their arrays, which end at a page that may not be touched."""

import ctypes
import mmap
import os

import numpy as np
import pytest

import featherstorm as fs

libc = ctypes.CDLL(None, use_errno=True)
PAGE = mmap.PAGESIZE


def guarded(shape, dtype, strides=None):
    """Return an array of these strides [elements] whose memory ends at a protected page; its first address is not aligned."""
    strides = strides or (shape[1], 1)
    numbers = 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True))
    size = numbers * np.dtype(dtype).itemsize
    pages = -(-size // PAGE)
    memory = mmap.mmap(-1, (pages + 1) * PAGE)
    first = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    assert libc.mprotect(ctypes.c_void_p(first + pages * PAGE), ctypes.c_size_t(PAGE), 0) == 0
    flat = np.frombuffer(memory, dtype, numbers, pages * PAGE - size)
    return np.lib.stride_tricks.as_strided(flat, shape, [s * flat.itemsize for s in strides], writeable=True)


@pytest.mark.parametrize("assemble", [True, False], ids=["assembled", "any robot"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("instances", [1, 7, 16, 33, 130])
def test_arrays_may_end_at_a_protected_page(instances, dtype, assemble):
    model = fs.load("go2", threads=1, assemble=assemble)
    q, v = fs.random_state(model, instances, dtype=dtype)
    tau = np.cos(v)
    for layout in (None, "instance fastest"):
        arrays, strides = [], lambda n: (1, instances) if layout else None
        for x in (q, v, tau):
            arrays.append(guarded(x.shape, dtype, strides(x.shape[1])))
            arrays[-1][:] = x
        out = guarded(v.shape, dtype, strides(model.nv))
        fs.run(model, "fd", *arrays, out=out)
        np.testing.assert_array_equal(out, fs.fd(model, q, v, tau))


def test_the_page_is_protected():
    with pytest.raises(OSError, match="refuses"):
        x = guarded((1, 4), "float32")
        end = x.ctypes.data + x.nbytes
        _, write = os.pipe()
        if libc.write(write, ctypes.c_void_p(end), 1) < 0:
            raise OSError(ctypes.get_errno(), "the kernel refuses the address")
