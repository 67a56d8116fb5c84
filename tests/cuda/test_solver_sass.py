"""Results of the machine code of the contact solver's kernels, without a GPU.

    test_solver_sass.py CASES some|all OBJECT...   CASES: the program solver_cases; some|all: the kernels that it writes launches of;
                                                   OBJECT: object files of cuda/kernels/contact_solver.cu with sm_90 code

Needs nvdisasm (interpreter/disassembly.py); exit status 77 without it.
"""

import subprocess
import sys

from budgets import SOLVER, kernel_name
from interpreter.disassembly import Unsupported, disassemble, find_nvdisasm
from interpreter.machine import constant_bank
from machine_code_cases import check


def main(program, kernels, objects):
    nvdisasm = find_nvdisasm()
    if not nvdisasm:
        print("skipped: there is no nvdisasm (pip install nvidia-cuda-nvdisasm)")
        return 77
    functions = {
        kernel_name(symbol): function
        for name in objects
        for symbol, function in disassemble(nvdisasm, name).items()
        if SOLVER.search(symbol)
    }

    def launch(case):
        if case["kernel"] not in functions:
            raise Unsupported("there is no such kernel")
        parameters = bytes.fromhex(case["model"]), bytes.fromhex(case["arguments"])
        return functions[case["kernel"]], constant_bank(*parameters, threads=64, blocks=1)

    lines = subprocess.run([program, kernels], capture_output=True, text=True, check=True).stdout.splitlines()
    return check(lines, lambda case: f"{case['kernel']}, {case['case']}", launch, "launches")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
