"""Results of the machine code of the float kernels, of those that draw and of those of networks, without a GPU.

    test_sass.py CASES OBJECT...   CASES: the program write_cases; OBJECT: object files of cuda/kernels/shard.cu, draw.cu and dense.cu with
                                   sm_90 code

Needs nvdisasm (interpreter/disassembly.py); exit status 77 without it. A compiler has been seen to put two live local arrays in one
place, with sources and a host build that were right: hence this test.
"""

import re
import subprocess
import sys

from budgets import DENSE, DRAW, KERNEL, kernel_name
from interpreter.disassembly import Unsupported, disassemble, find_nvdisasm
from interpreter.machine import constant_bank
from machine_code_cases import check


def main(program, objects):
    nvdisasm = find_nvdisasm()
    if not nvdisasm:
        print("skipped: there is no nvdisasm (pip install nvidia-cuda-nvdisasm)")
        return 77
    functions = {}
    for name in objects:
        for symbol, function in disassemble(nvdisasm, name).items():
            if any(pattern.search(symbol) for pattern in (KERNEL, DRAW, DENSE)):
                functions[kernel_name(symbol).removeprefix("Op")] = function
    by_name = {re.sub(r"_", "", k).lower(): f for k, f in functions.items()}

    def launch(case):
        function = by_name.get(case["kernel"].replace("_", "").lower())
        if function is None:
            raise Unsupported("there is no such kernel")
        return function, constant_bank(bytes.fromhex(case["model"]), bytes.fromhex(case["arguments"]))

    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    return check(lines, lambda case: f"{case['kernel']}, {case['case']}", launch, "launches")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
