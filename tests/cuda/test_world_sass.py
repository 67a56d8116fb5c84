"""Results of the machine code of a world's step without a GPU, and what its kernels take.

    test_world_sass.py check PROGRAM [PART]   PROGRAM: world_cases; PART: those kernels whose names hold it
    test_world_sass.py write PROGRAM          writes worlds.csv: what NVRTC says of each kernel

Traced programs of equations, of the way on, of Runge-Kutta's stages, of whole steps with Newton's loop, of what stands between two
solvers of an environment's step. A row of worlds.csv may be worse in the same change that explains why.

Needs NVRTC and nvdisasm (interpreter/disassembly.py); exit status 77 without them. What a kernel takes is compared for NVRTC 13.0 alone.
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile

from interpreter.disassembly import disassemble, find_nvdisasm
from interpreter.machine import constant_bank
from machine_code_cases import check

TABLE = pathlib.Path(__file__).with_name("worlds.csv")
COLUMNS = ["kernel", "registers", "stack", "spill_stores", "spill_loads", "code", "instructions"]


def limits(row):
    """What a kernel may take: registers as they are handed out, by 8, and a little more of the rest."""
    registers, stack, stores, loads, code, instructions = row
    return [
        min(255, (registers + 15) // 8 * 8),
        stack + 64 + stack // 20,
        stores + 64 + stores // 10,
        loads + 64 + loads // 10,
        code + 512 + code // 20,
        instructions + 32 + instructions // 20,
    ]


def exceeded(cases):
    with TABLE.open() as f:
        known = {r["kernel"]: [int(r[c]) for c in COLUMNS[1:]] for r in csv.DictReader(f)}
    faults = []
    for case in cases:
        name, cost = case["case"], case["cost"]
        if name not in known:
            faults.append(f"{name} has no row in {TABLE.name}: run `test_world_sass.py write`")
            continue
        faults += [
            f"{name}: {column} is {n}, the table says {was} and allows {most}"
            for column, n, was, most in zip(COLUMNS[1:], cost, known[name], limits(known[name]))
            if n > most
        ]
    return faults


def main(command, program, part=""):
    nvdisasm = find_nvdisasm()
    if not nvdisasm:
        print("skipped: there is no nvdisasm (pip install nvidia-cuda-nvdisasm)")
        return 77
    written = subprocess.run([program, part], stdout=subprocess.PIPE, text=True)
    if written.returncode == 77:
        print(f"skipped: {written.stdout}")
        return 77
    written.check_returncode()
    compiler, *lines = written.stdout.splitlines()
    cases = [json.loads(line) for line in lines]
    if command == "write":
        with TABLE.open("w", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerows([COLUMNS, *([case["case"], *case["cost"]] for case in cases)])
        return 0

    def launch(case):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"\0" + bytes.fromhex(case["cubin"]))  # disassemble() looks for programs within a file
            file.flush()
            function = disassemble(nvdisasm, file.name)["featherstorm_kernel"]
        return function, constant_bank(bytes.fromhex(case["parameters"]), threads=64)

    status = check(lines, lambda case: case["case"], launch, "kernels")
    faults = exceeded(cases) if compiler.startswith("nvrtc 13.0 ") else []
    print("\n".join(faults))
    return status or bool(faults)


if __name__ == "__main__":
    known = {"check": (3, 4), "write": (3,)}
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) in known.get(sys.argv[1:2] and sys.argv[1], ()) else __doc__)
