"""Instructions on integers and conditions. Each function makes of an instruction what it does to a thread (machine.py)."""

from .disassembly import Unsupported
from .floats import combine
from .operands import P, condition, condition_target, is_condition, target
from .values import COMPARE, MASK, signed


def into(i, f, *readers):
    """A step: 32 bits that f makes of integers."""
    to = target(i.A[0])
    if len(readers) == 2:
        x, y = readers

        def step(r, t):
            r[to] = f(x(r), y(r)) & MASK

    else:

        def step(r, t):
            r[to] = f(*[read(r) for read in readers]) & MASK

    return step


def move(i, o, what):
    to, x = target(i.A[0]), o.integer(what)

    def step(r, t):
        r[to] = x(r)

    return step


def mov(i, o):
    return move(i, o, i.A[1])


def r2ur(i, o):
    to, x = target(i.A[-2]), o.integer(i.A[-1])

    def step(r, t):
        r[to] = x(r)

    return step


def imad(i, o):
    if "WIDE" in i.mods:
        if is_condition(i.A[1]):
            raise Unsupported("carry")
        to, x, y, z = target(i.A[0]), o.integer(i.A[1]), o.integer(i.A[2]), o.word64(i.A[3])
        whole = "U32" in i.mods

        def step(r, t):
            v = (x(r) * y(r) if whole else signed(x(r)) * signed(y(r))) + z(r)
            r[to], r[to + 1] = v & MASK, v >> 32 & MASK

        return step
    if i.A[1] == "RZ" and "X" not in i.mods and "HI" not in i.mods:
        return move(i, o, i.A[3])
    if "HI" in i.mods:  # of a product and a wide number
        x, y, z = o.integer(i.A[1]), o.integer(i.A[2]), o.word64(i.A[3])
        if "U32" in i.mods:
            return into(i, lambda x, y, z: x * y + z >> 32, x, y, z)
        return into(i, lambda x, y, z: signed(x) * signed(y) + z >> 32, x, y, z)
    x, y, z = map(o.integer, i.A[1:4])
    if "X" in i.mods:
        return into(i, lambda x, y, z, carry: x * y + z + carry, x, y, z, condition(i.A[4]))
    return into(i, lambda x, y, z: x * y + z, x, y, z)


def addend(o, a):
    """An integer in a sum whose carry is asked for: -x is ~x + 1, of 0 a carry."""
    if not a.startswith("-"):
        return o.integer(a)
    x = o.integer("~" + a[1:])
    return lambda r: x(r) + 1


def iadd3(i, o):
    k = 1
    while is_condition(i.A[k]):
        k += 1
    carries = [condition_target(a) for a in i.A[1:k]]
    x, y, z = (addend(o, a) if carries else o.integer(a) for a in i.A[k : k + 3])
    more = [condition(a) for a in i.A[k + 3 :]] if "X" in i.mods else []
    to = target(i.A[0])
    if not carries and not more:

        def plain(r, t):
            r[to] = x(r) + y(r) + z(r) & MASK

        return plain

    def step(r, t):
        v = x(r) + y(r) + z(r)
        for read in more:
            v += read(r)
        for j, c in enumerate(carries):
            r[c] = v >> 32 > j
        r[to] = v & MASK

    return step


def viadd(i, o):
    return into(i, lambda x, y: x + y, o.integer(i.A[1]), o.integer(i.A[2]))


def viaddmnmx(i, o):
    whole = (lambda x: x) if "U32" in i.mods else signed

    def f(a, b, c, least):
        return (min if least else max)(whole(a + b & MASK), whole(c))

    return into(i, f, *map(o.integer, i.A[1:4]), condition(i.A[4]))


def vimnmx(i, o):
    whole = (lambda x: x) if "U32" in i.mods else signed
    return into(
        i, lambda x, y, least: (min if least else max)(whole(x), whole(y)), *map(o.integer, i.A[1:3]), condition(i.A[3])
    )


def iabs(i, o):
    x = o.integer(i.A[1])
    return into(i, lambda v: abs(signed(v)), x)


def flo(i, o):
    """The highest bit that is set."""
    if i.mods != ["U32"]:
        raise Unsupported("modifier")
    return into(i, lambda v: v.bit_length() - 1, o.integer(i.A[1]))


def lea(i, o):
    carry, B = (condition_target(i.A[1]), i.A[2:]) if is_condition(i.A[1]) else (None, i.A[1:])
    x, y = o.integer(B[0]), addend(o, B[1])
    if "HI" not in i.mods:
        n = int(B[2], 16)
        shifted = lambda r: x(r) << n & MASK  # noqa: E731
    elif "SX32" in i.mods:
        n = 32 - int(B[2], 16)
        shifted = lambda r: signed(x(r)) >> n & MASK  # noqa: E731
    else:
        high, n = o.integer(B[2]), 32 - int(B[3], 16)
        shifted = lambda r: (high(r) << 32 | x(r)) >> n & MASK  # noqa: E731
    more = condition(B[-1]) if "X" in i.mods else None
    to = target(i.A[0])

    def step(r, t):
        v = shifted(r) + y(r)
        if more:
            v += more(r)
        if carry is not None:
            r[carry] = v >> 32 > 0
        r[to] = v & MASK

    return step


def shf(i, o):
    low, count, high = map(o.integer, i.A[1:4])
    mods = i.mods
    narrow = bool({"U32", "S32"} & set(mods))
    most = 31 if narrow else 63
    wraps, left, upper = "W" in mods, mods[0] == "L", "HI" in mods
    has_sign = bool({"S32", "S64"} & set(mods))

    def f(low, n, high):
        n = n & most if wraps else min(n, most + 1)
        wide = high << 32 | low
        if left:
            return wide << n >> 32 if upper else low << n
        if has_sign and upper:
            return signed(high) >> n
        if has_sign:
            wide -= (wide >> 63) << 64
        return high >> n if upper else wide >> n

    return into(i, f, low, count, high)


def lop3(i, o):
    out, B = (condition_target(i.A[0]), i.A[1:]) if is_condition(i.A[0]) else (None, i.A)
    x, y, z, table = o.integer(B[1]), o.integer(B[2]), o.integer(B[3]), int(B[4], 16)
    to = target(B[0])
    # the condition is of this word or of those before it, of wider numbers
    before = condition(B[5] if out is not None and len(B) > 5 else "!PT")
    terms = [(0 if j & 4 else MASK, 0 if j & 2 else MASK, 0 if j & 1 else MASK) for j in range(8) if table >> j & 1]

    def step(r, t):
        a, b, c = x(r), y(r), z(r)
        v = 0
        for p, q, s in terms:
            v |= (a ^ p) & (b ^ q) & (c ^ s)
        if out is not None:
            r[out] = v != 0 or before(r)
        r[to] = v

    return step


def isetp(i, o):
    x_of, y_of = o.integer(i.A[2]), o.integer(i.A[3])
    to, inverse, other, with_other = (
        condition_target(i.A[0]),
        condition_target(i.A[1]),
        condition(i.A[4]),
        combine(i.mods),
    )
    whole, name = "U32" in i.mods, i.mods[0]
    holds = COMPARE[name]
    # the lower words decide between equals
    low = condition(i.A[5]) if "EX" in i.mods else None
    strict = COMPARE[name[0] + "T"] if name in ("GE", "GT", "LE", "LT") else None

    def step(r, t):
        x, y = (x_of(r), y_of(r)) if whole else (signed(x_of(r)), signed(y_of(r)))
        value = holds(x, y)
        if low:
            if strict:
                value = strict(x, y) or (x == y and low(r))
            else:
                value = (value and low(r)) if name == "EQ" else (value or low(r))
        more = other(r)
        r[inverse] = bool(with_other(not value, more))
        r[to] = bool(with_other(value, more))

    return step


def plop3(i, o):
    x, y, z = map(condition, i.A[2:5])
    to, inverse = condition_target(i.A[0]), condition_target(i.A[1])
    first, second = int(i.A[5], 16), int(i.A[6], 16)

    def step(r, t):
        j = x(r) * 4 + y(r) * 2 + z(r)
        r[to], r[inverse] = bool(first >> j & 1), bool(second >> j & 1)

    return step


def p2r(i, o):
    if i.A[1] != "PR":
        raise Unsupported(i.A[1])
    # P0 to P6, a bit each
    return into(
        i,
        lambda before, mask, *p: before & ~mask | sum(x << j for j, x in enumerate(p)) & mask,
        o.integer(i.A[2]),
        o.integer(i.A[3]),
        *(condition(f"P{j}") for j in range(7)),
    )


def r2p(i, o):
    if i.A[0] != "PR":
        raise Unsupported(i.A[0])
    x, mask = o.integer(i.A[1]), o.integer(i.A[2])

    def step(r, t):
        bits, which = x(r), mask(r)
        for j in range(7):
            if which >> j & 1:
                r[P + j] = bool(bits >> j & 1)

    return step


def sel(i, o):
    to, x, y, which = target(i.A[0]), o.integer(i.A[1]), o.integer(i.A[2]), condition(i.A[3])

    def step(r, t):
        r[to] = x(r) if which(r) else y(r)

    return step


def prmt(i, o):
    def f(low, choose, high):
        wide, v = (low | high << 32).to_bytes(8, "little"), 0
        for j in range(4):
            m = choose >> 4 * j & 15
            b = wide[m & 7]
            v |= (255 * (b >> 7) if m & 8 else b) << 8 * j
        return v

    return into(i, f, *map(o.integer, i.A[1:4]))


OPCODES = {
    "MOV": mov, "UMOV": mov, "IMAD": imad, "UIMAD": imad, "IADD3": iadd3, "UIADD3": iadd3, "VIADD": viadd, "IADD": viadd,
    "VIADDMNMX": viaddmnmx, "VIMNMX": vimnmx, "IMNMX": vimnmx, "UIMNMX": vimnmx, "IABS": iabs, "FLO": flo, "UFLO": flo,
    "LEA": lea, "ULEA": lea, "SHF": shf, "USHF": shf, "LOP3": lop3, "ULOP3": lop3, "ISETP": isetp, "UISETP": isetp,
    "PLOP3": plop3, "UPLOP3": plop3, "P2R": p2r, "R2P": r2p, "SEL": sel, "USEL": sel, "PRMT": prmt, "UPRMT": prmt, "R2UR": r2ur,
}  # fmt: skip
