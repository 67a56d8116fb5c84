"""Runs a compiled CUDA kernel without a GPU: threads of sm_90 machine code, interpreted from nvdisasm's text.

    functions = disassemble(nvdisasm, object_file)                        # disassembly.py
    launch = Launch(functions[symbol], constants, memory)                 # constant_bank(...), {first address: bytearray}
    launch.run(block, thread)                                             # one thread as far as EXIT
    launch.run_block(block, count)                                        # threads that meet at barriers and share memory

Only what kernels need, of threads that do not exchange values within a warp. An instruction, modifier or address that is not
understood raises Unsupported: nothing is guessed. What an instruction does is a function step(registers, thread), made by the
module of its kind (floats.py, integers.py, memory.py, flow below) when a thread comes to it first; it returns where to go on if
that is not the next one.
"""

import re
import struct

from . import floats, integers, memory
from .disassembly import Unsupported
from .operands import Operands, condition, new_registers, register, target, word_pair

PARAMETERS = 0x210  # where a kernel's parameters begin in constant bank 0 on sm_90
STACK = 0x28  # where bank 0 tells the end of local memory, from which the stack grows down
PARAMETERS_POINTER = 0x198  # where it tells the address of the parameters among those of all memory
PARAMETERS_ADDRESS = 1 << 40
LOCAL_BYTES = 1 << 17
SHARED_BYTES = 49 << 10  # of a block on sm_90: 48 KiB, the first is the system's
ENDED, WAITS = -1, -2  # what a step returns at EXIT and at a barrier


def constant_bank(*parameters, threads=0, blocks=0):
    """Constant bank 0 with these parameters, each aligned to 16 bytes; of a launch with so many threads in so many blocks."""
    bank = bytearray(PARAMETERS)
    struct.pack_into("<IIIIII", bank, 0, threads, 1, 1, blocks, 1, 1)
    struct.pack_into("<I", bank, STACK, LOCAL_BYTES)
    struct.pack_into("<Q", bank, PARAMETERS_POINTER, PARAMETERS_ADDRESS)
    for p in parameters:
        bank += bytes(-len(bank) % 16) + p
    return bytes(bank)


class Thread:
    def __init__(self, launch, block, number, shared):
        self.launch, self.block, self.number, self.shared = launch, block, number, shared
        self.local = bytearray(LOCAL_BYTES)
        self.registers = new_registers()
        self.traffic = [0] * 4  # bytes of local memory loaded and stored, of the launch's memory loaded and stored
        self.position = self.executed = 0
        self.barrier = None

    def place(self, a):
        """Bytes and offset of a global address."""
        for first, data in self.launch.memory.items():
            if first <= a < first + len(data):
                return data, a - first
        raise Unsupported(f"address {a:#x}")

    def anywhere(self, a):
        if 0 <= a < LOCAL_BYTES:
            return self.local, a
        bank0, parameter = self.launch.bank0, a - PARAMETERS_ADDRESS
        return (bank0, PARAMETERS + parameter) if 0 <= parameter < len(bank0) - PARAMETERS else self.place(a)


class Launch:
    def __init__(self, function, bank0, memory, limit=3_000_000):
        """limit: of instructions of a thread"""
        self.function, self.bank0, self.memory, self.limit = function, bank0, memory, limit
        self.operands = Operands({0: bank0, 2: function.bank2})
        self.steps = [None] * len(function)

    def run(self, block, thread):
        """The number of instructions executed and Thread.traffic."""
        t = self.thread(block, thread, bytearray(b"\xff" * SHARED_BYTES))
        if self.advance(t) == WAITS:
            raise Unsupported("a barrier")
        return t.executed, t.traffic

    def run_block(self, block, count):
        """What run returns for each of `count` threads. Between two barriers they run one after the other, the last first and
        then the first first, so that reading what is not written yet shows; shared memory begins as NaN."""
        shared = bytearray(b"\xff" * SHARED_BYTES)
        threads = [self.thread(block, k, shared) for k in range(count)]
        ended, phase = [False] * count, 0
        while False in ended:
            waiting = set()
            for k in range(count)[:: 1 if phase % 2 else -1]:
                if ended[k]:
                    raise Unsupported(f"thread {k} has ended, others wait for it at a barrier")
                ended[k] = self.advance(threads[k]) == ENDED
                if not ended[k]:
                    waiting.add(threads[k].barrier)
            if len(waiting) > 1:
                raise Unsupported(f"barriers {waiting}")
            phase += 1
        return [(t.executed, t.traffic) for t in threads]

    def thread(self, block, number, shared):
        return Thread(self, block, number, shared)

    def advance(self, t):
        """Runs a thread as far as its end or a barrier."""
        r, steps, position = t.registers, self.steps, t.position
        try:
            for executed in range(t.executed + 1, self.limit + 1):
                step = steps[position]
                if step is None:
                    step = steps[position] = self.step_at(position)
                to = step(r, t)
                if to is None:
                    position += 1
                elif to >= 0:
                    position = to
                else:
                    t.position, t.executed = position + 1, executed
                    return to
        except Exception as e:
            raise Unsupported(f"{e!r} in {self.function.text(position)}") from e
        raise Unsupported("too many instructions")

    def step_at(self, position):
        i = self.function.instruction(position)
        make = OPCODES.get(i.op)
        if make is None:
            raise Unsupported("opcode")
        step = make(i, self)
        if i.predicate is None:
            return step
        holds = condition(i.predicate)
        return lambda r, t: step(r, t) if holds(r) else None

    def position_of(self, name):
        return self.function.index[self.function.address(name)]


def with_operands(module):
    return {op: lambda i, launch, make=make: make(i, launch.operands) for op, make in module.OPCODES.items()}


def nothing(i, launch):
    return lambda r, t: None


def s2r(i, launch):
    what = {
        "SR_TID.X": lambda t: t.number,
        "SR_CTAID.X": lambda t: t.block,
        "SR_CTAID.Y": lambda t: 0,
        "SR_CgaCtaId": lambda t: 0,  # a cluster is one block
    }.get(i.A[1])
    if what is None:
        raise Unsupported(i.A[1])
    to = target(i.A[0])

    def step(r, t):
        r[to] = what(t)

    return step


def cs2r(i, launch):
    if i.A[1] != "SRZ":
        raise Unsupported(i.A[1])
    to, words = target(i.A[0]), 1 if "32" in i.mods else 2

    def step(r, t):
        r[to : to + words] = [0] * words

    return step


def bar(i, launch):
    """Of all threads of the block."""
    if i.mods[0] != "SYNC":
        raise Unsupported("modifier")

    def step(r, t):
        t.barrier = i.A[0]
        return WAITS

    return step


def bra(i, launch):
    conditions, to = [condition(a) for a in i.A[:-1]], launch.position_of(i.A[-1])
    if not conditions:
        return lambda r, t: to
    return lambda r, t: to if all(c(r) for c in conditions) else None


def brx(i, launch):
    m = re.fullmatch(r"(R\d+)\s+(-?0x[0-9a-f]+)", i.A[0])
    offset, first = word_pair(register(m[1])), i.address + 16 + int(m[2], 16)
    return lambda r, t: launch.function.index[first + offset(r) & 2**64 - 1]


def call(i, launch):
    if "REL" not in i.mods:
        raise Unsupported("absolute call")
    to = launch.position_of(i.A[-1])
    return lambda r, t: to


def ret(i, launch):
    back = word_pair(register(i.A[0].split()[0]))
    return lambda r, t: launch.function.index[back(r)]


def trap(i, launch):
    def step(r, t):
        raise Unsupported("the kernel ended itself")

    return step


FLOW = {
    "S2R": s2r, "S2UR": s2r, "CS2R": cs2r, "BAR": bar, "BRA": bra, "BRX": brx, "CALL": call, "RET": ret, "BPT": trap,
    "EXIT": lambda i, launch: lambda r, t: ENDED,
    # where threads of a warp part and meet
    **dict.fromkeys(("BSSY", "BSYNC", "BREAK", "BMOV", "WARPSYNC", "NOP", "YIELD"), nothing),
}  # fmt: skip
OPCODES = {**with_operands(floats), **with_operands(integers), **with_operands(memory), **FLOW}
