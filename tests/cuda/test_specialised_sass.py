#!/usr/bin/env python3
"""Results of specialised float kernels' machine code without a GPU.

    test_specialised_sass.py CASES    CASES: the program specialised_cases

Needs NVRTC and nvdisasm (as test_sass.py does); exit status 77 without them.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

import sass
from test_sass import find_nvdisasm


def run_case(nvdisasm, case):
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"\0" + bytes.fromhex(case["cubin"]))  # disassemble() looks for programs within a file
        file.flush()
        function = sass.disassemble(nvdisasm, file.name)["featherstorm_kernel"]
    memory = bytearray(bytes.fromhex(case["memory"]))
    before = bytes(memory)
    bank = sass.constant_bank(bytes.fromhex(case["parameters"]))
    # the blocks of one warp, with one thread too many: it must leave everything as it is
    bank = bank[:0] + struct.pack("<I", 32 * case["warps"]) + bank[4:]  # bank 0 begins with the threads in a block
    if case["warps"] > 1:
        runs = sass.run_block(function, bank, {case["base"]: memory}, 0, 32 * case["warps"])
    else:
        runs = [sass.run(function, bank, {case["base"]: memory}, 0, thread) for thread in range(case["count"] + 1)]
    worst, written = 0.0, set()
    for output, at, exact in case["expected"]:
        value, = struct.unpack_from("<f", memory, at)
        error = abs(value - exact) / case["tolerance"][output]
        worst = max(worst, error) if error == error else float("inf")
        written.update(range(at, at + 4))
    stray = [k for k in range(len(memory)) if memory[k] != before[k] and k not in written]
    return worst, stray, runs[0]


def main(program):
    nvdisasm = find_nvdisasm()
    if not nvdisasm:
        print("skipped: there is no nvdisasm (pip install nvidia-cuda-nvdisasm)")
        return 77
    written = subprocess.run([program], capture_output=True, text=True)
    if written.returncode == 77:
        print(f"skipped: {written.stdout}")
        return 77
    written.check_returncode()
    failures = tried = 0
    for line in written.stdout.splitlines():
        case = json.loads(line)
        tried += 1
        try:
            worst, stray, (executed, traffic) = run_case(nvdisasm, case)
        except sass.Unsupported as e:
            print(f"FAILED  {case['case']}: {e}")
            failures += 1
            continue
        ok = worst <= 1 and not stray
        failures += not ok
        print(f"{'ok    ' if ok else 'FAILED'}  {case['case']}: error {worst:.3f} of the tolerance, {executed} instructions, "
              f"{traffic[0]} + {traffic[1]} bytes of local memory" + (f", wrote {len(stray)} other bytes" if stray else ""))
    print(f"{tried} kernels, {failures} failed")
    return 1 if failures or not tried else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]) if len(sys.argv) == 2 else __doc__)
