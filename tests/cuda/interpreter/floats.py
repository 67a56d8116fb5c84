"""Instructions on floats and doubles. Each function makes of an instruction what it does to a thread (machine.py)."""

import math
import struct

from .disassembly import Unsupported
from .operands import DOUBLE, condition, condition_target, target
from .values import MASK, SCALE, compare, fused, reciprocal, signed, to_bits, to_bits64, to_double, to_float

WORDS = struct.Struct("<II").unpack


def no_modifier(i):
    if i.mods:
        raise Unsupported("modifier")


def combine(mods):
    if "AND" in mods:
        return lambda x, y: x and y
    return (lambda x, y: x or y) if "OR" in mods else lambda x, y: x != y


def into_float(i, f, *readers):
    """A step: a float that f makes of numbers."""
    to = target(i.A[0])

    def step(r, t):
        r[to] = to_bits(f(*[read(r) for read in readers]))

    return step


def into_double(i, f, *readers):
    to, pack = target(i.A[0]), DOUBLE.pack

    def step(r, t):
        r[to], r[to + 1] = WORDS(pack(f(*[read(r) for read in readers])))

    return step


def ffma(i, o):
    no_modifier(i)
    return into_float(i, lambda x, y, z: x * y + z, *map(o.number, i.A[1:4]))


def fadd(i, o):
    no_modifier(i)
    return into_float(i, lambda x, y: x + y, *map(o.number, i.A[1:3]))


def fmul(i, o):
    scale = math.prod(SCALE[m] for m in i.mods)
    return into_float(i, lambda x, y: x * y * scale, *map(o.number, i.A[1:3]))


def mufu(i, o):
    what = i.mods[0]
    if what == "SQRT":
        return into_float(i, math.sqrt, o.number(i.A[1]))
    if what in ("RCP", "RSQ"):
        return into_float(i, lambda x: reciprocal(what, x), o.number(i.A[1]))
    if what in ("RCP64H", "RSQ64H"):  # from and to the upper half of a double: about 20 bits
        to, high = target(i.A[0]), o.float_bits(i.A[1])

        def step(r, t):
            r[to] = to_bits64(reciprocal(what[:3], to_double(high(r) << 32))) >> 32

        return step
    raise Unsupported(what)


def dadd(i, o):
    no_modifier(i)
    return into_double(i, lambda x, y: x + y, *map(o.double, i.A[1:3]))


def dmul(i, o):
    no_modifier(i)
    return into_double(i, lambda x, y: x * y, *map(o.double, i.A[1:3]))


def dfma(i, o):
    no_modifier(i)
    return into_double(i, fused, *map(o.double, i.A[1:4]))


def greatest(i, x, y):
    """DSETP.MAX and MIN say which of two doubles is taken; then the other condition, of NaN, is false."""
    chosen, is_nan = condition_target(i.A[0]), condition_target(i.A[1])
    sign = 1.0 if i.mods[0] == "MAX" else -1.0
    if i.A[4] != "PT" or i.mods[1] != "AND":
        raise Unsupported("condition")

    def step(r, t):
        a, b = sign * x(r), sign * y(r)
        if a != a or b != b:
            raise Unsupported("NaN")
        r[chosen], r[is_nan] = a > b or (a == b and math.copysign(1, a) > 0), False

    return step


def comparison(i, x, y):
    name, with_other = i.mods[0], combine(i.mods)
    to, inverse, other = condition_target(i.A[0]), condition_target(i.A[1]), condition(i.A[4])

    def step(r, t):
        value, more = compare(name, x(r), y(r)), other(r)
        r[inverse] = with_other(not value, more)
        r[to] = with_other(value, more)

    return step


def dsetp(i, o):
    x, y = o.double(i.A[2]), o.double(i.A[3])
    return greatest(i, x, y) if i.mods[0] in ("MAX", "MIN") else comparison(i, x, y)


def fsetp(i, o):
    return comparison(i, o.number(i.A[2]), o.number(i.A[3]))


def fset(i, o):
    if i.mods[0] != "BF":
        raise Unsupported("modifier")
    to, x, y, other, with_other = target(i.A[0]), *map(o.number, i.A[1:3]), condition(i.A[3]), combine(i.mods)

    def step(r, t):
        r[to] = 0x3F800000 if with_other(compare(i.mods[1], x(r), y(r)), other(r)) else 0

    return step


def fsel(i, o):
    to, x, y, which = target(i.A[0]), o.float_bits(i.A[1]), o.float_bits(i.A[2]), condition(i.A[3])

    def step(r, t):
        r[to] = x(r) if which(r) else y(r)

    return step


def fmnmx(i, o):
    to, x, y, least = target(i.A[0]), o.number(i.A[1]), o.number(i.A[2]), condition(i.A[3])

    def step(r, t):
        r[to] = to_bits((min if least(r) else max)(x(r), y(r)))

    return step


def fchk(i, o):
    """Whether a division needs the slow path: not for numbers far from the ends of the range."""
    to, x_of, y_of = condition_target(i.A[0]), o.number(i.A[1]), o.number(i.A[2])

    def step(r, t):
        x, y = x_of(r), y_of(r)
        if not (2.0**-60 < abs(y) < 2.0**60 and (x == 0 or 2.0**-60 < abs(x) < 2.0**60)):
            raise Unsupported(f"division of {x} by {y}")
        r[to] = False

    return step


def hfma2(i, o):
    """Only as a move of two half constants."""
    if i.A[1] != "-RZ" or i.A[2] != "RZ":
        raise Unsupported("half arithmetic")
    to = target(i.A[0])
    high, low = (struct.unpack("<H", struct.pack("<e", float(a)))[0] for a in i.A[3:5])

    def step(r, t):
        r[to] = high << 16 | low

    return step


def f2i(i, o):
    if "S64" in i.mods:
        raise Unsupported("modifier")
    x, to = (o.double if "F64" in i.mods else o.number)(i.A[1]), target(i.A[0])
    rounded = {"TRUNC": math.trunc, "FLOOR": math.floor, "CEIL": math.ceil}
    whole = next((rounded[m] for m in i.mods if m in rounded), round)
    wide = "U64" in i.mods
    low, high = (0, 2**64 - 1) if wide else (0, MASK) if "U32" in i.mods else (-(1 << 31), (1 << 31) - 1)

    def step(r, t):
        v = min(max(whole(x(r)), low), high)
        r[to] = v & MASK
        if wide:
            r[to + 1] = v >> 32

    return step


def i2f(i, o):
    if {"S64", "S16", "U16", "U8", "S8"} & set(i.mods) or {"RM", "RZ"} & set(i.mods):
        raise Unsupported("modifier")
    to, x = target(i.A[0]), (o.word64 if "U64" in i.mods else o.integer)(i.A[1])
    unsigned = {"U32", "U64"} & set(i.mods)
    if "F64" in i.mods:
        if "RP" in i.mods or "U64" in i.mods:
            raise Unsupported("modifier")
        return into_double(i, lambda v: float(v if unsigned else signed(v)), x)

    def step(r, t):
        v = x(r) if unsigned else signed(x(r))
        near = to_float(to_bits(float(v)))
        if "RP" in i.mods and near < v:  # upwards
            near = to_float(to_bits(near) + (1 if near >= 0 else -1))
        r[to] = to_bits(near)

    return step


def frnd(i, o):
    whole = math.floor if "FLOOR" in i.mods else math.trunc if "TRUNC" in i.mods else round
    f = lambda x: math.copysign(whole(x), x)  # noqa: E731
    return into_double(i, f, o.double(i.A[1])) if "F64" in i.mods else into_float(i, f, o.number(i.A[1]))


def f2f(i, o):
    if i.mods[-2:] == ["F32", "F64"]:
        return into_float(i, lambda x: x, o.double(i.A[1]))
    if i.mods[-2:] == ["F64", "F32"]:
        return into_double(i, lambda x: x, o.number(i.A[1]))
    raise Unsupported("modifier")


OPCODES = {
    "FFMA": ffma, "FADD": fadd, "FMUL": fmul, "MUFU": mufu, "DADD": dadd, "DMUL": dmul, "DFMA": dfma, "DSETP": dsetp,
    "FSETP": fsetp, "FSET": fset, "FSEL": fsel, "FMNMX": fmnmx, "FCHK": fchk, "HFMA2": hfma2, "F2I": f2i, "I2F": i2f,
    "I2FP": i2f, "FRND": frnd, "F2F": f2f,
}  # fmt: skip
