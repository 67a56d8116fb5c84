"""Numbers as registers hold them, and how instructions compare them."""

import ctypes
import math
import struct

MASK = 0xFFFFFFFF


def signed(x):
    return (x & MASK) - ((x & 0x80000000) << 1)


def to_float(bits):
    return struct.unpack("<f", struct.pack("<I", bits & MASK))[0]


def to_bits(x):
    try:
        return struct.unpack("<I", struct.pack("<f", x))[0]
    except OverflowError:
        return 0x7F800000 if x > 0 else 0xFF800000


def to_double(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def to_bits64(x):
    return struct.unpack("<Q", struct.pack("<d", x))[0]


# x y + z rounded once: what is left of a division is nothing but rounding
fused = ctypes.CDLL(None).fma
fused.restype, fused.argtypes = ctypes.c_double, [ctypes.c_double] * 3


COMPARE = {
    "GE": lambda a, b: a >= b,
    "GT": lambda a, b: a > b,
    "LE": lambda a, b: a <= b,
    "LT": lambda a, b: a < b,
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
}


def compare(name, x, y):
    """Of floats; names that end with U hold for NaN as well, NAN and NUM ask whether one is there."""
    unordered = math.isnan(x) or math.isnan(y)
    if name in ("NAN", "NUM"):
        return unordered == (name == "NAN")
    return unordered or COMPARE[name[:2]](x, y) if name.endswith("U") else not unordered and COMPARE[name](x, y)


SCALE = {"D2": 1 / 2, "D4": 1 / 4, "D8": 1 / 8, "M2": 2, "M4": 4, "M8": 8}  # of FMUL


def reciprocal(what, x):
    """MUFU.RCP and MUFU.RSQ."""
    if what == "RCP":
        return 1 / x if x else math.copysign(math.inf, x)
    return 1 / math.sqrt(x) if x else math.inf
