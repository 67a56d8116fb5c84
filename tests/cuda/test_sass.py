#!/usr/bin/env python3
"""Results of the float kernels' machine code without a GPU.

    test_sass.py CASES OBJECT...   CASES: the program write_cases; OBJECT: object files of cuda/shard.cu with sm_90 code

Needs nvdisasm (NVDISASM, PATH, or the Python package nvidia-cuda-nvdisasm); exit status 77 without it. A compiler has
been seen to put two live local arrays in one place, with sources and a host build that were right: hence this test.
"""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import sysconfig

import sass

KERNEL = re.compile(r"op_kernelINS_\d+Op(\w+?)E([fd])NS_11DeviceModelI[fd]Li(\d+)E")


def find_nvdisasm():
    beside = pathlib.Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    for path in (os.environ.get("NVDISASM"), shutil.which("nvdisasm"), *beside.glob("*/bin/nvdisasm")):
        if path and os.access(path, os.X_OK):
            return str(path)
    return None


def run_case(function, case):
    memory = bytearray(bytes.fromhex(case["memory"]))
    before = bytes(memory)
    bank = sass.constant_bank(bytes.fromhex(case["model"]), bytes.fromhex(case["arguments"]))
    # one thread too many: it must leave everything as it is
    runs = [sass.run(function, bank, {case["base"]: memory}, 0, thread) for thread in range(case["count"] + 1)]
    worst, written = 0.0, set()
    for output, at, exact in case["expected"]:
        value, = struct.unpack_from("<f", memory, at)
        error = abs(value - exact) / case["tolerance"][output]
        worst = max(worst, error) if error == error else float("inf")
        written.update(range(at, at + 4))
    stray = [k for k in range(len(memory)) if memory[k] != before[k] and k not in written]
    return worst, stray, runs[0]


def main(program, objects):
    nvdisasm = find_nvdisasm()
    if not nvdisasm:
        print("skipped: there is no nvdisasm (pip install nvidia-cuda-nvdisasm)")
        return 77
    functions = {}
    for name in objects:
        for symbol, function in sass.disassemble(nvdisasm, name).items():
            if m := KERNEL.search(symbol):
                functions[f"{m[1]}/{'float' if m[2] == 'f' else 'double'}/{m[3]}"] = function
    by_name = {re.sub(r"_", "", k).lower(): f for k, f in functions.items()}
    failures = tried = 0
    for line in subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines():
        case = json.loads(line)
        name = f"{case['kernel']}, {case['case']}"
        function = by_name.get(case["kernel"].replace("_", "").lower())
        tried += 1
        if function is None:
            print(f"FAILED  {name}: there is no such kernel")
            failures += 1
            continue
        try:
            worst, stray, (executed, traffic) = run_case(function, case)
        except sass.Unsupported as e:
            print(f"FAILED  {name}: {e}")
            failures += 1
            continue
        ok = worst <= 1 and not stray
        failures += not ok
        print(f"{'ok    ' if ok else 'FAILED'}  {name}: error {worst:.3f} of the tolerance, {executed} instructions, "
              f"{traffic[0]} + {traffic[1]} bytes of local memory" + (f", wrote {len(stray)} other bytes" if stray else ""))
    print(f"{tried} launches, {failures} failed")
    return 1 if failures or not tried else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
