"""Single instructions of the interpreter: what is in registers afterwards, against numbers worked out here."""

import contextlib
import math
import struct

from interpreter.disassembly import Function, Unsupported
from interpreter.machine import Launch, constant_bank
from interpreter.values import to_bits, to_bits64, to_double, to_float

BASE = 0x1000


def after(lines, registers=(), width=2):
    """R10 (a float or integer), or R10 and R11, after these lines; R0, R1, ... hold `registers`."""
    text = [f"MOV R{k}, {x:#x}" for k, x in enumerate(registers)] + lines
    text += [f"MOV R40, {BASE:#x}", "MOV R41, 0x0", "STG.E.64 desc[UR4][R40.64], R10", "EXIT"]
    function = Function()
    for k, line in enumerate(text):
        function.add(f"        /*{16 * k:04x}*/                   {line} ;")
    memory = bytearray(8)
    Launch(function, constant_bank(), {BASE: memory}).run(0, 0)
    return struct.unpack("<Q" if width == 2 else "<I", memory[: 4 * width])[0]


def halves(*numbers):
    """Doubles as pairs of registers."""
    return [half for x in numbers for half in struct.unpack("<II", struct.pack("<d", x))]


def value(line, *numbers):
    """A double that a line makes of doubles."""
    return to_double(after([line], halves(*numbers)))


def test_arithmetic():
    assert value("DADD R10, R0, -R2", 0.1, 0.3) == 0.1 - 0.3
    assert value("DADD R10, |R0|, 0.5", -2.25) == 2.75
    assert value("DMUL R10, R0, R2", 0.1, 3.0) == 0.1 * 3.0
    with contextlib.suppress(Unsupported):
        value("DADD.RM R10, R0, R2", 0.1, 0.3)
        raise AssertionError("another rounding is not refused")


def test_products_are_rounded_once_with_their_sum():
    x = 1 + 2.0**-52
    assert value("DFMA R10, R0, R0, -R2", x, x * x) == 2.0**-104


def test_comparisons():
    def holds(name, x, y):
        lines = [f"DSETP.{name}.AND P0, PT, R0, R2, PT", "SEL R10, R4, RZ, P0"]
        return after(lines, [*halves(x, y), 1], 1)

    assert [holds("GT", 1 + 2.0**-52, 1.0), holds("GT", 1.0, 1.0), holds("GT", math.nan, 1.0)] == [1, 0, 0]
    assert [holds("NEU", math.nan, 1.0), holds("NEU", 1.0, 1.0)] == [1, 0]


def test_reciprocals_are_of_the_upper_half():
    for what, exact in (("RCP64H", 1 / 3.0), ("RSQ64H", 1 / math.sqrt(3.0))):
        bits = after([f"MUFU.{what} R10, R1"], halves(3.0), 1)
        assert abs(to_double(bits << 32) - exact) < 2.0**-20
        assert to_double(bits << 32) != exact


def test_conversions():
    assert to_double(after(["I2F.F64 R10, R0"], [-7 & 0xFFFFFFFF])) == -7
    assert to_double(after(["I2F.F64.U32 R10, R0"], [-7 & 0xFFFFFFFF])) == 2**32 - 7
    assert after(["F2I.F64.TRUNC R10, R0"], halves(-2.75), 1) == (-2 & 0xFFFFFFFF)
    assert after(["F2I.U32.F64.TRUNC R10, R0"], halves(-2.75), 1) == 0
    assert to_float(after(["F2F.F32.F64 R10, R0"], halves(0.1), 1)) == to_float(to_bits(0.1))
    assert to_double(after(["F2F.F64.F32 R10, R0"], [to_bits(0.5)])) == 0.5
    assert to_double(after(["FRND.F64.FLOOR R10, R0"], halves(-2.25))) == -3


def test_selection_keeps_all_bits():
    # the lower half of a double may be what a float calls a signalling NaN
    lines = ["FSEL R10, R0, R1, PT", "FSEL R11, -R0, R1, PT"]
    assert after(lines, [0x7F800001, 0]) == (0xFF800001 << 32 | 0x7F800001)


def test_greater_and_less():
    def taken(name, x, y):
        lines = [f"DSETP.{name}.AND P0, P1, R0, R2, PT", "SEL R10, R4, RZ, P0"]
        return after(lines, [*halves(x, y), 1], 1)

    assert [taken("MAX", 2.0, 1.0), taken("MAX", 1.0, 2.0), taken("MIN", 1.0, 2.0), taken("MIN", 2.0, 1.0)] == [
        1,
        0,
        1,
        0,
    ]
    assert [taken("MAX", 0.0, -0.0), taken("MAX", -0.0, 0.0)] == [1, 0]
    with contextlib.suppress(Unsupported):
        taken("MAX", math.nan, 1.0)
        raise AssertionError("NaN is not refused")


def test_differences_carry():
    # 64 bits less 32: that of zero has a carry, as x - y is x + ~y + 1
    lines = ["IADD3 R10, P0, R0, -R1, RZ", "IADD3.X R11, R2, ~RZ, RZ, P0, !PT"]
    for x, y in ((5, 0), (5, 7), (7, 5), (0, 0)):
        assert after(lines, [x, y, 3]) == (3 << 32) + x - y


def test_bits_of_integers():
    assert [after(["FLO.U32 R10, R0"], [x], 1) for x in (1, 0x80000000, 6, 0)] == [0, 31, 2, 0xFFFFFFFF]
    assert after(["IABS R10, R0"], [-7 & 0xFFFFFFFF], 1) == 7
    lines = ["R2P PR, R0, 0x6", "SEL R10, R1, RZ, P1", "SEL R11, R1, RZ, P2"]
    assert after(lines, [0b101, 9]) == 9 << 32
    assert after(["SHF.R.S64 R10, RZ, 0x1e, R0"], [-8 & 0xFFFFFFFF], 1) == (-32 & 0xFFFFFFFF)
    assert after(["SHF.L.U64.HI R10, R0, 0x3, R1"], [0xC0000000, 1], 1) == 14


def test_halves_of_words():
    lines = ["STL [R3], R0", "STL.U16 [R3+0x2], R1", "LDL R10, [R3]", "LDL.S16 R11, [R3+0x2]"]
    assert after(lines, [0x11112222, 0x5555FFFE, 0, 0x40]) == 0xFFFFFFFE << 32 | 0xFFFE2222


def test_bytes_of_two_words_are_chosen():
    chosen = 0x88771155
    assert after(["PRMT R10, R0, 0x7604, R1"], (0x44332211, 0x88776655), 1) == chosen
    uniform = ["UMOV UR6, 0x44332211", "UMOV UR7, 0x88776655", "UPRMT UR8, UR6, 0x7604, UR7", "MOV R10, UR8"]
    assert after(uniform, (), 1) == chosen


def test_bits_come_back():
    for x in (0.0, -0.0, 1 / 3, -math.inf, 5e-324):
        assert math.copysign(1, to_double(to_bits64(x))) == math.copysign(1, x)
        assert to_double(to_bits64(x)) == x


def test_the_upper_half_of_a_product_takes_a_wide_addend():
    # what a division by a number of 32 bits is made of: R4 + 2^32 R5 is added, then the lower half dropped
    assert after(["IMAD.HI.U32 R10, R0, R1, R4"], [0xFFFFFFFF, 2, 0, 0, 2, 5], 1) == 7
    assert after(["IMAD.HI.U32 R10, R0, R1, RZ"], [0xFFFFFFFF, 2], 1) == 1
    assert after(["IMAD.HI R10, R0, R1, R2"], [0xFFFFFFFF, 3, 0, 4], 1) == 3


def test_a_condition_of_bits_takes_the_words_before():
    for low, high, holds in ((0, 0, 0), (4, 0, 1), (0, 8, 1)):
        lines = [
            "LOP3.LUT P0, RZ, R0, R2, RZ, 0xc0, !PT",
            "LOP3.LUT P0, RZ, R1, R3, RZ, 0xc0, P0",
            "SEL R10, R4, RZ, P0",
        ]
        assert after(lines, [low, high, 4, 8, 1], 1) == holds


if __name__ == "__main__":
    tests = [x for name, x in list(globals().items()) if name.startswith("test_")]
    for test in tests:
        test()
    print(f"{len(tests)} tests")
