"""What operands of instructions say: functions of a thread's registers, made once, as an instruction may run a hundred thousand times.

The registers of a thread are one list: R0 to R254 and RZ, UR0 to UR62 and URZ, P0 to P6 and PT, UP0 to UP6 and UPT, and two places
for what is written to a zero register. Conditions are bools, all else are 32 bits.
"""

import functools
import math
import operator
import re
import struct

from .disassembly import Unsupported
from .values import MASK, signed, to_bits, to_double, to_float

RZ, U, URZ, P, UP, NOWHERE = 255, 256, 319, 320, 328, 336
PAIR = struct.Struct("<II").pack
QUAD = struct.Struct("<Q").unpack
DOUBLE = struct.Struct("<d")
WORD = struct.Struct("<I").pack
FLOAT = struct.Struct("<f").unpack


def new_registers():
    r = [0] * (NOWHERE + 2)
    r[P:NOWHERE] = [False] * 16
    r[P + 7] = r[UP + 7] = True
    return r


@functools.cache
def register(o):
    """Where a register stands in the list."""
    o = o.split(".")[0]
    if o in ("RZ", "SRZ"):
        return RZ
    if o == "URZ":
        return URZ
    if m := re.fullmatch(r"(U?R)(\d+)", o):
        return int(m[2]) + (U if m[1] == "UR" else 0)
    raise Unsupported(f"operand {o}")


def target(o):
    """Where the result of an instruction goes."""
    at = register(o)
    return NOWHERE if at in (RZ, URZ) else at


@functools.cache
def is_condition(o):
    return re.fullmatch(r"!?U?P[T\d]", o) is not None


@functools.cache
def condition_register(o):
    m = re.fullmatch(r"(U?)P([T\d])", o)
    if not m:
        raise Unsupported(f"condition {o}")
    return (UP if m[1] else P) + (7 if m[2] == "T" else int(m[2]))


def condition_target(o):
    at = condition_register(o)
    return NOWHERE if at in (P + 7, UP + 7) else at


def condition(o):
    at = condition_register(o.lstrip("!"))
    if o.startswith("!"):
        return fixed(False) if at in (P + 7, UP + 7) else lambda r: not r[at]
    return operator.itemgetter(at)


def fixed(value):
    return lambda r: value


@functools.cache
def without_signs(o):
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
def integer_in(o):
    return int(o, 0) if re.fullmatch(r"-?(0x[0-9a-f]+|\d+)", o) else to_bits(float(o))


@functools.cache
def number_in(o):
    size = math.inf if "INF" in o else math.nan if "NAN" in o else None
    return float(o) if size is None else math.copysign(size, -1 if o[0] == "-" else 1)


def word_pair(at):
    """The 64 bits of a register and the next one."""
    if at in (RZ, URZ):
        return fixed(0)
    return lambda r: r[at] | r[at + 1] << 32


def total(expression):
    """The sum in an address or constant operand."""
    number, rest = 0, []
    for sign, term in re.findall(r"([+-]?)([^+-]+)", expression):
        one = -1 if sign == "-" else 1
        if term.startswith("0x"):
            number += one * int(term, 16)
        elif term.endswith(".64"):
            rest.append((one, word_pair(register(term))))
        else:
            at = register(term)
            if at in (RZ, URZ):
                continue
            whole = term.endswith(".U32")
            rest.append((one, (lambda r, at=at: r[at]) if whole else (lambda r, at=at: signed(r[at]))))
    if not rest:
        return fixed(number)
    if len(rest) == 1 and rest[0][0] == 1:
        term = rest[0][1]
        return lambda r: number + term(r)
    return lambda r: number + sum(one * term(r) for one, term in rest)


class Operands:
    """Those of one launch, whose constant banks are known."""

    def __init__(self, banks):
        self.banks = banks

    def constant(self, o, width=4):
        """The bytes of a constant, a function of the registers; and whether they are the same whatever these hold."""
        m = re.fullmatch(r"c\[0x(\w+)\]\s*\[(.*)\]", o)
        if not m:
            raise Unsupported(f"constant {o}")
        bank, at = self.banks[int(m[1], 16)], total(m[2])

        def read(r):
            a = at(r)
            if a < 0 or a + width > len(bank):
                raise Unsupported(f"constant address {a:#x}")
            return bank[a : a + width]

        return read, "R" not in m[2]

    def bits(self, o, fold=lambda bits: bits):
        """fold(the 32 bits of an operand without signs)"""
        kind = kind_of(o)
        if kind == REGISTER:
            at = register(o)
            return (lambda r: fold(r[at])) if at not in (RZ, URZ) else fixed(fold(0))
        if kind == NUMBER:
            return fixed(fold(integer_in(o)))
        read, same = self.constant(o)
        if same:
            return fixed(fold(int.from_bytes(read(None), "little")))
        return lambda r: fold(int.from_bytes(read(r), "little"))

    def integer(self, o):
        o, negate, invert, absolute = without_signs(o)
        if not (negate or invert or absolute):
            if kind_of(o) == REGISTER:
                return operator.itemgetter(register(o))
            return self.bits(o, lambda v: v & MASK)

        def fold(v):
            v = abs(signed(v)) if absolute else v
            return (-v if negate else ~v if invert else v) & MASK

        return self.bits(o, fold)

    def float_bits(self, o):
        """Of a float that may be half of another number: signs change, nothing else does."""
        o, negate, _, absolute = without_signs(o)
        mask, flip = 0x7FFFFFFF if absolute else MASK, negate << 31
        if kind_of(o) == NUMBER:
            return fixed(to_bits(number_in(o)) & mask ^ flip)
        return self.bits(o, lambda v: v & mask ^ flip)

    def number(self, o):
        """A float."""
        o, negate, _, absolute = without_signs(o)

        def fold(x):
            x = abs(x) if absolute else x
            return -x if negate else x

        if kind_of(o) == NUMBER:
            return fixed(fold(number_in(o)))
        if kind_of(o) == REGISTER and not (negate or absolute):
            at = register(o)
            return lambda r: FLOAT(WORD(r[at]))[0]
        return self.bits(o, lambda v: fold(to_float(v)))

    def word64(self, o):
        o = o.replace(".reuse", "").replace(".64", "")
        if o.startswith("c["):
            read, same = self.constant(o, 8)
            return fixed(QUAD(read(None))[0]) if same else lambda r: QUAD(read(r))[0]
        if re.match(r"-?0x", o):
            return fixed(int(o, 16) & (2**64 - 1))
        return word_pair(register(o))

    def double(self, o):
        o, negate, _, absolute = without_signs(o)

        def fold(x):
            x = abs(x) if absolute else x
            return -x if negate else x

        if kind_of(o) == NUMBER:
            return fixed(fold(number_in(o)))
        if kind_of(o) == REGISTER:
            at, unpack = register(o), DOUBLE.unpack
            if at in (RZ, URZ):
                return fixed(fold(0.0))
            if negate or absolute:
                return lambda r: fold(unpack(PAIR(r[at], r[at + 1]))[0])
            return lambda r: unpack(PAIR(r[at], r[at + 1]))[0]
        word = self.word64(o)
        return lambda r: fold(to_double(word(r)))
