"""Launches of kernels that write_cases, specialised_cases, world_cases and solver_cases write as JSON lines, interpreted and compared."""

import json
import struct

from interpreter.disassembly import Unsupported
from interpreter.machine import Launch


def run_case(function, bank, case):
    """The largest error in units of its tolerance, bytes written that are no result, what Launch.run returns of thread 0.
    Working memory, where a case has `room` for it, begins as NaN."""
    memory = bytearray(bytes.fromhex(case["memory"]))
    before = bytes(memory)
    room = {first: bytearray(b"\xff" * size) for first, size in case.get("room", [])}
    launch = Launch(function, bank, {case["base"]: memory, **room})
    if case.get("warps", 1) > 1:  # a block, with lanes beyond the last instance
        runs = launch.run_block(0, 32 * case["warps"])
    else:  # one thread too many: it must leave everything as it is
        runs = [launch.run(0, thread) for thread in range(case["count"] + 1)]
    worst, written, real = 0.0, set(), case.get("real", "f")
    for output, at, exact in case["expected"]:
        (value,) = struct.unpack_from("<" + real, memory, at)
        error = abs(value - exact) / case["tolerance"][output]
        worst = max(worst, error) if error == error else float("inf")
        written.update(range(at, at + struct.calcsize(real)))
    stray = [k for k in range(len(memory)) if memory[k] != before[k] and k not in written]
    return worst, stray, runs[0]


def check(lines, name, launch, what):
    """Runs every case and prints a line for each; name(case) is its title, launch(case) its function and constant bank.
    Returns the exit status: 1 where a case fails or there is none."""
    failures = tried = 0
    for line in lines:
        case = json.loads(line)
        tried += 1
        try:
            worst, stray, (executed, traffic) = run_case(*launch(case), case)
        except Unsupported as e:
            print(f"FAILED  {name(case)}: {e}")
            failures += 1
            continue
        ok = worst <= 1 and not stray
        failures += not ok
        print(
            f"{'ok    ' if ok else 'FAILED'}  {name(case)}: error {worst:.3f} of the tolerance, {executed} instructions, "
            f"{traffic[0]} + {traffic[1]} bytes of local memory, {traffic[2]} + {traffic[3]} of the launch's"
            + (f", wrote {len(stray)} other bytes" if stray else "")
        )
    print(f"{tried} {what}, {failures} failed")
    return 1 if failures or not tried else 0
