"""Results of the machine code of kernels, without a GPU.

    test_sass.py PROGRAM [ARGUMENT...] [--objects OBJECT...] [--table TABLE [--write]]

PROGRAM and its arguments write launches as JSON lines: write_cases (kernels for any robot, of draws, of networks), solver_cases,
specialised_cases, world_cases. A case has its kernel's machine code, or names a kernel of the OBJECTs, which are object files of
cuda/kernels with sm_90 code.

--table   compares what NVRTC 13.0 says of each kernel with the rows of TABLE. A row may be worse in the same change that explains why.
--write   writes TABLE instead.

Needs nvdisasm (interpreter/disassembly.py), and NVRTC for some programs; exit status 77 without them. A compiler has been seen to put
two live local arrays in one place, with sources and a host build that were right: hence this test.
"""

import argparse
import csv
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

from budgets import is_kernel, kernel_name
from interpreter.disassembly import Unsupported, disassemble, find_nvdisasm
from interpreter.machine import Launch, constant_bank

COLUMNS = ["kernel", "registers", "stack", "spill_stores", "spill_loads", "code", "instructions"]


def limits(row):
    """Return the limits of a kernel: registers up to the next multiple of 8, a little more of the rest."""
    registers, stack, stores, loads, code, instructions = row
    return [
        min(255, (registers + 15) // 8 * 8),
        stack + 64 + stack // 20,
        stores + 64 + stores // 10,
        loads + 64 + loads // 10,
        code + 512 + code // 20,
        instructions + 32 + instructions // 20,
    ]


def exceeded(cases, table):
    with table.open() as f:
        known = {r["kernel"]: [int(r[c]) for c in COLUMNS[1:]] for r in csv.DictReader(f)}
    for case in cases:
        name = case["case"]
        if name not in known:
            yield f"{name} has no row in {table.name}: run test_sass.py with --write"
            continue
        for column, n, was, most in zip(COLUMNS[1:], case["cost"], known[name], limits(known[name])):
            if n > most:
                yield f"{name}: {column} is {n}, the table says {was} and allows {most}"


def plain(kernel):
    """The name of a kernel as both the compiler's symbols and the table of operations have it."""
    return kernel.removeprefix("Op").replace("_", "").lower()


def launch_of(case, nvdisasm, functions):
    """The case's function and constant bank."""
    if "cubin" in case:
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"\0" + bytes.fromhex(case["cubin"]))  # disassemble() looks for programs within a file
            file.flush()
            function = disassemble(nvdisasm, file.name)["featherstorm_kernel"]
        return function, constant_bank(bytes.fromhex(case["parameters"]), threads=32 * case.get("warps", 2))
    if plain(case["kernel"]) not in functions:
        raise Unsupported("there is no such kernel")
    parameters = bytes.fromhex(case["model"]), bytes.fromhex(case["arguments"])
    return functions[plain(case["kernel"])], constant_bank(*parameters, threads=64, blocks=1)


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


def failures(cases, nvdisasm, functions):
    """Runs every case, prints a line for each, and returns how many fail."""
    failed = 0
    for case in cases:
        title = ", ".join(case[key] for key in ("kernel", "case") if key in case)
        try:
            worst, stray, (executed, traffic) = run_case(*launch_of(case, nvdisasm, functions), case)
        except Unsupported as e:
            print(f"FAILED  {title}: {e}")
            failed += 1
            continue
        ok = worst <= 1 and not stray
        failed += not ok
        print(
            f"{'ok    ' if ok else 'FAILED'}  {title}: error {worst:.3f} of the tolerance, {executed} instructions, "
            f"{traffic[0]} + {traffic[1]} bytes of local memory, {traffic[2]} + {traffic[3]} of the launch's"
            + (f", wrote {len(stray)} other bytes" if stray else "")
        )
    return failed


def main(program, objects, table, write):
    nvdisasm = find_nvdisasm()
    if not nvdisasm:
        print("skipped: there is no nvdisasm (pip install nvidia-cuda-nvdisasm)")
        return 77
    written = subprocess.run(program, stdout=subprocess.PIPE, text=True)
    if written.returncode == 77:
        print(f"skipped: {written.stdout}")
        return 77
    written.check_returncode()
    lines = written.stdout.splitlines()
    cases = [json.loads(line) for line in lines if line.startswith("{")]
    if write:
        with table.open("w", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerows([COLUMNS, *([case["case"], *case["cost"]] for case in cases)])
        return 0
    functions = {
        plain(kernel_name(symbol)): function
        for name in objects
        for symbol, function in disassemble(nvdisasm, name).items()
        if is_kernel(symbol)
    }
    failed = failures(cases, nvdisasm, functions)
    faults = list(exceeded(cases, table)) if table and lines[0].startswith("nvrtc 13.0 ") else []
    print(*faults, f"{len(cases)} launches, {failed} failed", sep="\n")
    return bool(failed or faults or not cases)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="+")
    parser.add_argument("--objects", nargs="+", default=[])
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--write", action="store_true")
    sys.exit(main(**vars(parser.parse_args())))
