"""Runs a compiled CUDA kernel without a GPU: threads of sm_90 machine code, interpreted from nvdisasm's text.

    functions = disassemble(nvdisasm, object_file)                 # disassembly.py
    run(functions[symbol], constants, memory, block, thread)       # one thread as far as EXIT
    run_block(functions[symbol], constants, memory, block, count)  # threads that meet at barriers and share memory

Only what kernels need, of floats and doubles, whose threads do not exchange values within a warp. An instruction, modifier or address that
is not understood raises Unsupported: nothing is guessed.
"""

import functools
import math
import re
import struct

from disassembly import Unsupported
from sass_numbers import (
    COMPARE,
    MASK,
    SCALE,
    compare,
    fused,
    reciprocal,
    signed,
    to_bits,
    to_bits64,
    to_double,
    to_float,
)

PARAMETERS = 0x210  # where a kernel's parameters begin in constant bank 0 on sm_90
STACK = 0x28  # where bank 0 tells the end of local memory, from which the stack grows down
PARAMETERS_POINTER = 0x198  # where it tells the address of the parameters among those of all memory
PARAMETERS_ADDRESS = 1 << 40
LOCAL_BYTES = 1 << 17


def constant_bank(*parameters):
    """Constant bank 0 with these parameters, each aligned to 16 bytes."""
    bank = bytearray(PARAMETERS)
    struct.pack_into("<I", bank, STACK, LOCAL_BYTES)
    struct.pack_into("<Q", bank, PARAMETERS_POINTER, PARAMETERS_ADDRESS)
    for p in parameters:
        bank += bytes(-len(bank) % 16) + p
    return bytes(bank)


# What an operand says, whatever the registers hold: parsed once, as an instruction may run a hundred thousand times.


@functools.cache
def register_of(o):
    """Whether it is a uniform register, and its number; None for the zero registers."""
    o = o.split(".")[0]
    if o in ("RZ", "URZ", "SRZ"):
        return None
    if m := re.fullmatch(r"(U?R)(\d+)", o):
        return m[1] == "UR", int(m[2])
    raise Unsupported(f"operand {o}")


@functools.cache
def operand(o):
    """The operand without its signs, and whether it is negated, inverted, absolute."""
    o = o.replace(".reuse", "").strip()
    negate = invert = absolute = False
    if o[0] == "-" and o[1] in "|RcU":
        negate, o = True, o[1:]
    if o[0] == "~":
        invert, o = True, o[1:]
    if o[0] == "|":
        absolute, o = True, o.strip("|")
    return o, negate, invert, absolute


CONSTANT, REGISTER, NUMBER = range(3)


@functools.cache
def kind_of(o):
    return CONSTANT if o.startswith("c[") else REGISTER if re.match(r"U?RZ?\d*$", o) else NUMBER


@functools.cache
def integer_of(o):
    return int(o, 0) if re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", o) else to_bits(float(o))


@functools.cache
def number_of(o):
    return (-math.inf if o[0] == "-" else math.inf) if "INF" in o else float(o)


@functools.cache
def constant_of(o):
    """The bank of a constant and the sum of its address."""
    m = re.fullmatch(r"c\[0x(\w+)\]\s*\[(.*)\]", o)
    return int(m[1], 16), m[2]


@functools.cache
def terms_of(expression):
    """The sum in an address or constant operand: its number, and (sign, register, how it is read) of the rest."""
    fixed, rest = 0, []
    for sign, term in re.findall(r"([+-]?)([^+-]+)", expression):
        one = -1 if sign == "-" else 1
        if term.startswith("0x"):
            fixed += one * int(term, 16)
        else:
            rest.append((one, term, "64" if term.endswith(".64") else "U32" if term.endswith(".U32") else "signed"))
    return fixed, rest


@functools.cache
def is_condition(o):
    return re.fullmatch(r"!?U?P[T\d]", o) is not None


SHARED_BYTES = 49 << 10  # of a block on sm_90: 48 KiB, the first is the system's


def run(function, bank0, memory, block, thread):
    """memory: {first address: bytearray}. Returns the number of instructions executed and the bytes of local memory that
    were loaded and stored."""
    try:
        next(steps(function, bank0, memory, block, thread, bytearray()))
    except StopIteration as end:
        return end.value
    raise Unsupported("a barrier")


def run_block(function, bank0, memory, block, count):
    """What run returns for each of `count` threads. Between two barriers they run one after the other, the last first and
    then the first first, so that reading what is not written yet shows; shared memory begins as NaN."""
    shared = bytearray(b"\xff" * SHARED_BYTES)
    threads = [steps(function, bank0, memory, block, t, shared) for t in range(count)]
    ended, phase = [None] * count, 0
    while None in ended:
        waiting = []
        for t in range(count)[:: 1 if phase % 2 else -1]:
            if ended[t] is not None:
                raise Unsupported(f"thread {t} has ended, others wait for it at a barrier")
            try:
                waiting.append(next(threads[t]))
            except StopIteration as end:
                ended[t] = end.value
        if len(set(waiting)) > 1:
            raise Unsupported(f"barriers {set(waiting)}")
        phase += 1
    return ended


def steps(function, bank0, memory, block, thread, shared, limit=2_000_000):
    """Runs a thread; yields at each barrier its number."""
    R, U = [0] * 256, [0] * 80
    P = {**{f"P{k}": False for k in range(7)}, "PT": True, **{f"UP{k}": False for k in range(7)}, "UPT": True}
    local = bytearray(LOCAL_BYTES)
    local_traffic = [0, 0]
    banks = {0: bank0, 2: function.bank2}

    files = R, U

    def register(o):
        """The file and number of a register operand; None for the zero registers."""
        r = register_of(o)
        return r and (files[r[0]], r[1])

    def get(o):
        r = register(o)
        return r[0][r[1]] if r else 0

    def get64(o):
        o = o.replace(".reuse", "").replace(".64", "")
        if o.startswith("c["):
            return struct.unpack_from("<Q", *constant(o))[0]
        if re.match(r"-?0x", o):
            return int(o, 16) & (2**64 - 1)
        r = register(o)
        return r[0][r[1]] | r[0][r[1] + 1] << 32 if r else 0

    def put(o, value):
        if r := register(o):
            r[0][r[1]] = value & MASK

    def put64(o, value):
        if r := register(o):
            r[0][r[1]], r[0][r[1] + 1] = value & MASK, value >> 32 & MASK

    def total(expression):
        """The sum in an address or constant operand."""
        a, rest = terms_of(expression)
        for sign, term, how in rest:
            a += sign * (get64(term) if how == "64" else get(term) if how == "U32" else signed(get(term)))
        return a

    def constant(o):
        bank, expression = constant_of(o)
        at = total(expression)
        if at < 0 or at + 4 > len(banks[bank]):
            raise Unsupported(f"constant address {at:#x}")
        return banks[bank], at

    def integer(o):
        o, negate, invert, absolute = operand(o)
        kind = kind_of(o)
        v = (
            get(o)
            if kind == REGISTER
            else struct.unpack_from("<I", *constant(o))[0]
            if kind == CONSTANT
            else integer_of(o)
        )
        v = abs(signed(v)) if absolute else v
        return (-v if negate else ~v if invert else v) & MASK

    def number(o):
        o, negate, _, absolute = operand(o)
        kind = kind_of(o)
        if kind == REGISTER:
            v = to_float(get(o))
        else:
            v = struct.unpack_from("<f", *constant(o))[0] if kind == CONSTANT else number_of(o)
        v = abs(v) if absolute else v
        return -v if negate else v

    def bits(o):
        """Of a float that may be half of another number: signs change, nothing else does."""
        o, negate, _, absolute = operand(o)
        kind = kind_of(o)
        v = (
            get(o)
            if kind == REGISTER
            else struct.unpack_from("<I", *constant(o))[0]
            if kind == CONSTANT
            else to_bits(number_of(o))
        )
        return (v & 0x7FFFFFFF if absolute else v) ^ negate << 31

    def double(o):
        o, negate, _, absolute = operand(o)
        v = number_of(o) if kind_of(o) == NUMBER else to_double(get64(o))
        v = abs(v) if absolute else v
        return -v if negate else v

    def condition(o):
        return P[o.lstrip("!")] != o.startswith("!")

    def put_condition(o, value):
        if o not in ("PT", "UPT"):
            P[o] = bool(value)

    def address_of(o):
        return total(o[o.rindex("[") + 1 : o.rindex("]")])

    def place(o):
        """Bytes and offset of a global address."""
        a = address_of(o)
        for first, data in memory.items():
            if first <= a < first + len(data):
                return data, a - first
        raise Unsupported(f"address {a:#x}")

    def anywhere(o):
        """Bytes and offset of a generic address: the thread's own memory begins at 0."""
        a = address_of(o)
        if 0 <= a < LOCAL_BYTES:
            return local, a
        parameter = a - PARAMETERS_ADDRESS
        return (bank0, PARAMETERS + parameter) if 0 <= parameter < len(bank0) - PARAMETERS else place(o)

    def width(modifiers):
        return 16 if "128" in modifiers else 8 if "64" in modifiers else 1 if {"U8", "S8"} & set(modifiers) else 4

    def load(data, at, to, modifiers):
        n = width(modifiers)
        if "U16" in modifiers or "S16" in modifiers:
            raise Unsupported("16-bit load")
        if at < 0 or at + n > len(data):
            raise Unsupported(f"load at {at:#x}")
        if n == 1:
            put(to, data[at] - 256 if "S8" in modifiers and data[at] > 127 else data[at])
        elif r := register(to):
            for k in range(n // 4):
                r[0][r[1] + k] = struct.unpack_from("<I", data, at + 4 * k)[0]

    def store(data, at, what, modifiers):
        n = width(modifiers)
        if "U16" in modifiers or at < 0 or at + n > len(data):
            raise Unsupported(f"store at {at:#x}")
        r = register(what.replace(".reuse", ""))
        if n == 1:
            data[at] = get(what) & 255
            return
        for k in range(n // 4):
            struct.pack_into("<I", data, at + 4 * k, r[0][r[1] + k] if r else 0)

    def combine(modifiers, value, other):
        return value and other if "AND" in modifiers else value or other if "OR" in modifiers else value != other

    def label(o):
        name = o.strip("`() ")
        return function.labels[name] if name in function.labels else int(name, 16)

    position = executed = 0
    while True:
        address, predicate, op, mods, A, text = function.code[position]
        executed += 1
        if executed > limit:
            raise Unsupported("too many instructions")
        position += 1
        if predicate and not condition(predicate):
            continue
        try:
            if op in ("FFMA", "FADD") and mods:
                raise Unsupported("modifier")
            if op == "FFMA":
                put(A[0], to_bits(number(A[1]) * number(A[2]) + number(A[3])))
            elif op == "FMUL":
                put(A[0], to_bits(number(A[1]) * number(A[2]) * math.prod(SCALE[m] for m in mods)))
            elif op == "FADD":
                put(A[0], to_bits(number(A[1]) + number(A[2])))
            elif op == "MUFU":
                if mods[0] == "SQRT":
                    put(A[0], to_bits(math.sqrt(number(A[1]))))
                elif mods[0] in ("RCP", "RSQ"):
                    put(A[0], to_bits(reciprocal(mods[0], number(A[1]))))
                elif mods[0] in ("RCP64H", "RSQ64H"):  # from and to the upper half of a double: about 20 bits
                    put(A[0], to_bits64(reciprocal(mods[0][:3], to_double(bits(A[1]) << 32))) >> 32)
                else:
                    raise Unsupported(mods[0])
            elif op in ("DADD", "DMUL", "DFMA"):
                if mods:
                    raise Unsupported("modifier")
                x, y = double(A[1]), double(A[2])
                put64(A[0], to_bits64(x + y if op == "DADD" else x * y if op == "DMUL" else fused(x, y, double(A[3]))))
            elif op == "DSETP":
                value = compare(mods[0], double(A[2]), double(A[3]))
                put_condition(A[0], combine(mods, value, condition(A[4])))
                put_condition(A[1], combine(mods, not value, condition(A[4])))
            elif op == "FSEL":
                put(A[0], bits(A[1]) if condition(A[3]) else bits(A[2]))
            elif op == "FMNMX":
                put(A[0], to_bits((min if condition(A[3]) else max)(number(A[1]), number(A[2]))))
            elif op == "FSETP":
                value = compare(mods[0], number(A[2]), number(A[3]))
                put_condition(A[0], combine(mods, value, condition(A[4])))
                put_condition(A[1], combine(mods, not value, condition(A[4])))
            elif op == "FSET":
                if mods[0] != "BF":
                    raise Unsupported("modifier")
                value = combine(mods, compare(mods[1], number(A[1]), number(A[2])), condition(A[3]))
                put(A[0], to_bits(1.0 if value else 0.0))
            elif op == "FCHK":  # whether a division needs the slow path: not for numbers far from the ends of the range
                x, y = number(A[1]), number(A[2])
                if not (2.0**-60 < abs(y) < 2.0**60 and (x == 0 or 2.0**-60 < abs(x) < 2.0**60)):
                    raise Unsupported(f"division of {x} by {y}")
                put_condition(A[0], False)
            elif op == "HFMA2":  # only as a move of two half constants
                if A[1] != "-RZ" or A[2] != "RZ":
                    raise Unsupported("half arithmetic")
                high, low = (struct.unpack("<H", struct.pack("<e", float(a)))[0] for a in A[3:5])
                put(A[0], high << 16 | low)
            elif op == "F2I":
                x = double(A[1]) if "F64" in mods else number(A[1])
                if {"S64", "U64"} & set(mods):
                    raise Unsupported("modifier")
                v = (math.trunc if "TRUNC" in mods else math.floor if "FLOOR" in mods else round)(x)
                low, high = (0, MASK) if "U32" in mods else (-(1 << 31), (1 << 31) - 1)
                put(A[0], min(max(v, low), high))
            elif op in ("I2FP", "I2F"):
                if {"S64", "U64", "S16", "U16", "U8", "S8"} & set(mods):
                    raise Unsupported("modifier")
                v = float(integer(A[1]) if "U32" in mods else signed(integer(A[1])))
                put64(A[0], to_bits64(v)) if "F64" in mods else put(A[0], to_bits(v))
            elif op == "FRND":
                x = double(A[1]) if "F64" in mods else number(A[1])
                v = math.copysign((math.floor if "FLOOR" in mods else math.trunc if "TRUNC" in mods else round)(x), x)
                put64(A[0], to_bits64(v)) if "F64" in mods else put(A[0], to_bits(v))
            elif op == "F2F":
                if mods[-2:] == ["F32", "F64"]:
                    put(A[0], to_bits(double(A[1])))
                elif mods[-2:] == ["F64", "F32"]:
                    put64(A[0], to_bits64(number(A[1])))
                else:
                    raise Unsupported("modifier")
            elif op in ("MOV", "UMOV"):
                put(A[0], integer(A[1]))
            elif op in ("IMAD", "UIMAD"):
                x, y = integer(A[1]), integer(A[2])
                if "WIDE" in mods:
                    if "U32" not in mods:
                        x, y = signed(x), signed(y)
                    if is_condition(A[1]):
                        raise Unsupported("carry")
                    put64(A[0], x * y + get64(A[3]))
                elif "HI" in mods:
                    put(A[0], ((x * y if "U32" in mods else signed(x) * signed(y)) >> 32) + integer(A[3]))
                else:
                    put(A[0], x * y + integer(A[3]) + (condition(A[4]) if "X" in mods else 0))
            elif op in ("IADD3", "UIADD3"):
                carries = []
                k = 1
                while is_condition(A[k]):
                    carries.append(A[k])
                    k += 1
                v = sum(integer(a) for a in A[k : k + 3]) + sum(condition(a) for a in A[k + 3 :] if "X" in mods)
                for j, c in enumerate(carries):
                    put_condition(c, v >> 32 > j)
                put(A[0], v)
            elif op in ("VIADD", "IADD"):
                put(A[0], integer(A[1]) + integer(A[2]))
            elif op == "VIADDMNMX":
                x, y = integer(A[1]) + integer(A[2]) & MASK, integer(A[3])
                if "U32" not in mods:
                    x, y = signed(x), signed(y)
                put(A[0], min(x, y) if condition(A[4]) else max(x, y))
            elif op in ("VIMNMX", "IMNMX", "UIMNMX"):
                x, y = integer(A[1]), integer(A[2])
                if "U32" not in mods:
                    x, y = signed(x), signed(y)
                put(A[0], min(x, y) if condition(A[3]) else max(x, y))
            elif op in ("LEA", "ULEA"):
                carry, B = (A[1], A[2:]) if is_condition(A[1]) else (None, A[1:])
                if "HI" not in mods:
                    v = (integer(B[0]) << int(B[2], 16) & MASK) + integer(B[1])
                elif "SX32" in mods:
                    v = (signed(integer(B[0])) >> 32 - int(B[2], 16) & MASK) + integer(B[1])
                else:
                    v = ((integer(B[2]) << 32 | integer(B[0])) >> 32 - int(B[3], 16) & MASK) + integer(B[1])
                if "X" in mods:
                    v += condition(B[-1])
                if carry:
                    put_condition(carry, v >> 32)
                put(A[0], v)
            elif op in ("SHF", "USHF"):
                low, n, high = integer(A[1]), integer(A[2]), integer(A[3])
                if "W" in mods:
                    n &= 31 if "U32" in mods or "S32" in mods else 63
                wide = high << 32 | low
                if mods[0] == "L":
                    put(A[0], wide << n >> 32 if "HI" in mods else low << n)
                elif "HI" in mods:
                    put(A[0], signed(high) >> min(n, 31) if "S32" in mods or "S64" in mods else high >> min(n, 32))
                else:
                    put(A[0], wide >> n)
            elif op in ("LOP3", "ULOP3"):
                out, B = (A[0], A[1:]) if is_condition(A[0]) else (None, A)
                x, y, z, table = integer(B[1]), integer(B[2]), integer(B[3]), int(B[4], 16)
                v = 0
                for j in range(8):
                    if table >> j & 1:
                        v |= (x if j & 4 else ~x) & (y if j & 2 else ~y) & (z if j & 1 else ~z)
                v &= MASK
                if out:
                    put_condition(out, v)
                put(B[0], v)
            elif op in ("ISETP", "UISETP"):
                x, y = integer(A[2]), integer(A[3])
                if "U32" not in mods:
                    x, y = signed(x), signed(y)
                value = COMPARE[mods[0]](x, y)
                if "EX" in mods:  # the lower words decide between equals
                    value = (
                        COMPARE[mods[0][0] + "T"](x, y) or (x == y and condition(A[5]))
                        if mods[0] in ("GE", "GT", "LE", "LT")
                        else (value and condition(A[5]) if mods[0] == "EQ" else value or condition(A[5]))
                    )
                put_condition(A[0], combine(mods, value, condition(A[4])))
                put_condition(A[1], combine(mods, not value, condition(A[4])))
            elif op in ("PLOP3", "UPLOP3"):
                j = condition(A[2]) * 4 + condition(A[3]) * 2 + condition(A[4])
                put_condition(A[0], int(A[5], 16) >> j & 1)
                put_condition(A[1], int(A[6], 16) >> j & 1)
            elif op == "P2R":
                if A[1] != "PR":
                    raise Unsupported(A[1])
                word, mask = sum(P[f"P{j}"] << j for j in range(7)), integer(A[3])
                put(A[0], integer(A[2]) & ~mask | word & mask)
            elif op in ("SEL", "USEL"):
                put(A[0], integer(A[1]) if condition(A[3]) else integer(A[2]))
            elif op == "PRMT":
                choose, wide = integer(A[2]), (integer(A[1]) | integer(A[3]) << 32).to_bytes(8, "little")
                v = 0
                for j in range(4):
                    m = choose >> 4 * j & 15
                    b = wide[m & 7]
                    v |= (255 * (b >> 7) if m & 8 else b) << 8 * j
                put(A[0], v)
            elif op in ("S2R", "S2UR"):
                if A[1] not in ("SR_TID.X", "SR_CTAID.X", "SR_CTAID.Y", "SR_CgaCtaId"):
                    raise Unsupported(A[1])
                put(A[0], {"SR_TID.X": thread, "SR_CTAID.X": block}.get(A[1], 0))  # a cluster is one block
            elif op == "CS2R":
                if A[1] != "SRZ":
                    raise Unsupported(A[1])
                put(A[0], 0) if "32" in mods else put64(A[0], 0)
            elif op in ("LDC", "ULDC"):
                data, at = constant(A[1])
                load(data, at, A[0], mods)
            elif op == "LDG":
                load(*place(A[1]), A[0], mods)
            elif op == "LD":  # of any memory, in a function that is not part of its caller
                load(*anywhere(A[1]), A[0], mods)
            elif op == "STG":
                store(*place(A[0]), A[1], mods)
            elif op == "LDL":
                local_traffic[0] += width(mods)
                load(local, total(A[1].strip("[]")), A[0], mods)
            elif op == "STL":
                local_traffic[1] += width(mods)
                store(local, total(A[0].strip("[]")), A[1], mods)
            elif op == "LDS":
                load(shared, total(A[1].strip("[]")), A[0], mods)
            elif op == "STS":
                store(shared, total(A[0].strip("[]")), A[1], mods)
            elif op == "BAR":  # of all threads of the block
                if mods[0] != "SYNC":
                    raise Unsupported("modifier")
                yield A[0]
            elif op == "R2UR":
                put(A[-2], integer(A[-1]))
            elif op == "BRA":
                if all(condition(a) for a in A[:-1]):
                    position = function.index[label(A[-1])]
            elif op == "BRX":
                m = re.fullmatch(r"(R\d+)\s+(-?0x[0-9a-f]+)", A[0])
                position = function.index[(address + 16 + get64(m[1]) + int(m[2], 16)) & (2**64 - 1)]
            elif op == "CALL":
                if "REL" not in mods:
                    raise Unsupported("absolute call")
                position = function.index[label(A[-1])]
            elif op == "RET":
                position = function.index[get64(A[0].split()[0])]
            elif op in ("BSSY", "BSYNC", "BREAK", "BMOV", "WARPSYNC", "NOP", "YIELD"):
                pass
            elif op == "EXIT":
                return executed, local_traffic
            else:
                raise Unsupported("opcode")
        except Exception as e:
            raise Unsupported(f"{e!r} in {text}") from e
