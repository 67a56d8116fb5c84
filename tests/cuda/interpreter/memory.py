"""Loads and stores, of the memory of a launch, of a block and of a thread, and of constants. Each function makes of an instruction what
it does to a thread (machine.py)."""

from .disassembly import Unsupported
from .operands import RZ, URZ, register, target, total

BYTES = {"128": 16, "64": 8, "U16": 2, "S16": 2, "U8": 1, "S8": 1}


def width_of(mods):
    return next((BYTES[m] for m in mods if m in BYTES), 4)


def address(o):
    return total(o[o.rindex("[") + 1 : o.rindex("]")])


def load(i, where):
    """A step: where(r, t, bytes) gives bytes and an offset, of what goes to the first operand."""
    n, to = width_of(i.mods), target(i.A[0])
    has_sign = bool({"S8", "S16"} & set(i.mods))

    def step(r, t):
        data, at = where(r, t, n)
        if at < 0 or at + n > len(data):
            raise Unsupported(f"load at {at:#x}")
        if n <= 4:
            r[to] = int.from_bytes(data[at : at + n], "little", signed=has_sign) & 0xFFFFFFFF
            return
        for k in range(0, n, 4):
            r[to + k // 4] = int.from_bytes(data[at + k : at + k + 4], "little")

    return step


def store(i, where):
    n, what = width_of(i.mods), register(i.A[1].replace(".reuse", ""))
    is_zero = what in (RZ, URZ)

    def step(r, t):
        data, at = where(r, t, n)
        if at < 0 or at + n > len(data):
            raise Unsupported(f"store at {at:#x}")
        if is_zero:
            data[at : at + n] = bytes(n)
        elif n < 4:
            data[at : at + n] = (r[what] & (1 << 8 * n) - 1).to_bytes(n, "little")
        else:
            for k in range(0, n, 4):
                data[at + k : at + k + 4] = r[what + k // 4].to_bytes(4, "little")

    return step


def of_launch(o, direction):
    at = address(o)

    def where(r, t, n):
        t.traffic[2 + direction] += n
        return t.place(at(r))

    return where


def of_any(o, direction):
    """A generic address: the thread's own memory begins at 0."""
    at = address(o)

    def where(r, t, n):
        found = t.anywhere(at(r))
        if found[0] is not t.launch.bank0:
            t.traffic[direction if found[0] is t.local else 2 + direction] += n
        return found

    return where


def of_block(o):
    at = address(o)
    return lambda r, t, n: (t.shared, at(r))


def of_thread(o, direction):
    at = address(o)

    def where(r, t, n):
        t.traffic[direction] += n
        return t.local, at(r)

    return where


def ldc(i, o):
    n = width_of(i.mods)
    read, _ = o.constant(i.A[1], n)
    return load(i, lambda r, t, n: (read(r), 0))


OPCODES = {
    "LDC": ldc,
    "ULDC": ldc,
    "LDG": lambda i, o: load(i, of_launch(i.A[1], 0)),
    "LD": lambda i, o: load(i, of_any(i.A[1], 0)),  # in a function that is not part of its caller
    "LDL": lambda i, o: load(i, of_thread(i.A[1], 0)),
    "LDS": lambda i, o: load(i, of_block(i.A[1])),
    "STG": lambda i, o: store(i, of_launch(i.A[0], 1)),
    "ST": lambda i, o: store(i, of_any(i.A[0], 1)),
    "STL": lambda i, o: store(i, of_thread(i.A[0], 1)),
    "STS": lambda i, o: store(i, of_block(i.A[0])),
}
