"""Results of specialised float kernels' machine code without a GPU.

    test_specialised_sass.py CASES engine|books   CASES: the program specialised_cases, and what it shall write

Those of the engine take 23 s of one core, those of the books 87 s, most of them of NVRTC.

Needs NVRTC and nvdisasm (interpreter/disassembly.py); exit status 77 without them.
"""

import subprocess
import sys
import tempfile

from interpreter.disassembly import disassemble, find_nvdisasm
from interpreter.machine import constant_bank
from machine_code_cases import check


def main(program, what):
    nvdisasm = find_nvdisasm()
    if not nvdisasm:
        print("skipped: there is no nvdisasm (pip install nvidia-cuda-nvdisasm)")
        return 77
    written = subprocess.run([program, what], capture_output=True, text=True)
    if written.returncode == 77:
        print(f"skipped: {written.stdout}")
        return 77
    written.check_returncode()

    def launch(case):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"\0" + bytes.fromhex(case["cubin"]))  # disassemble() looks for programs within a file
            file.flush()
            function = disassemble(nvdisasm, file.name)["featherstorm_kernel"]
        return function, constant_bank(bytes.fromhex(case["parameters"]), threads=32 * case["warps"])

    return check(written.stdout.splitlines(), lambda case: case["case"], launch, "kernels")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)
