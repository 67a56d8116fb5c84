"""Arrays of the DLPack protocol whose descriptions are not true."""

import ctypes

import numpy as np


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class Managed(ctypes.Structure):
    _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Lying:
    """An array whose capsule says what `managed` says, on a device that `device` names."""

    def __init__(self, managed, device, keep):
        self.managed, self.device, self.keep = managed, device, keep

    def __dlpack__(self, **_):
        return new_capsule(ctypes.addressof(self.managed), b"dltensor", None)

    def __dlpack_device__(self):
        return self.device


def lying_array(x, rng):
    """An array of two dimensions with one untrue number, of those that a reader can find out: an address cannot be checked."""
    shape, strides = (ctypes.c_int64 * 2)(*x.shape), (ctypes.c_int64 * 2)(*(s // x.itemsize for s in x.strides))
    m = Managed(DLTensor(x.ctypes.data, 1, 0, 2, 2, 8 * x.itemsize, 1, shape, strides, 0), None, None)
    device, kind = (1, 0), rng.integers(8)
    if kind == 0:
        m.tensor.code, m.tensor.bits = int(rng.integers(0, 8)), int(rng.choice([0, 1, 8, 16, 64, 128]))
    elif kind == 1:
        m.tensor.lanes = int(rng.choice([0, 2, 65535]))
    elif kind == 2:
        m.tensor.ndim = int(rng.choice([0, 1]))
    elif kind == 3:
        shape[int(rng.integers(2))] = int(rng.choice([-1, 2**62, -(2**63)]))
    elif kind == 4:
        m.tensor.device_type = int(rng.choice([0, 4, 7, 99, -1]))
    elif kind == 5:
        device = (int(rng.choice([2, 13, 99, -1])), int(rng.integers(-1, 3)))
        m.tensor.device_type = device[0]
    elif kind == 6:
        m.tensor.data = None
    else:
        m.tensor.strides = ctypes.POINTER(ctypes.c_int64)()
        return Lying(m, device, (np.ascontiguousarray(x), shape))
    return Lying(m, device, (x, shape, strides))
