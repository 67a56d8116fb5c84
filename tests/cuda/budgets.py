"""Compares what ptxas reports of every kernel (registers, stack, spills) and the kernel's code bytes with budgets.csv.

    budgets.py check OBJECT...    exit status 1 where a limit is exceeded or a kernel has no row
    budgets.py write OBJECT...    writes budgets.csv: what was measured, with a margin

OBJECT are the object files of cuda/kernels/shard.cu, contact_solver.cu, draw.cu and dense.cu; beside each lies OBJECT.ptxas, what the
compiler said. A limit may be raised in the same change that explains why; it is a guard against surprises, not a goal.
"""

import csv
import pathlib
import re
import struct
import sys

TABLE = pathlib.Path(__file__).with_name("budgets.csv")
COLUMNS = ["kernel", "target", "registers", "stack", "spill_stores", "spill_loads", "code"]
# Form<table::OpRnea, Optional> (host/table/row/form.h), the precision, the largest model
KERNEL = re.compile(
    r"op_kernelINS_4FormINS_5table\d+(Op\w+?)ELNS_8OptionalE([012])EEE([fd])NS_11DeviceModelI[fd]Li(\d+)E"
)
SOLVER = re.compile(r"solver_kernel.*SolverArgumentsI([fd])LNS_15SolverAlgorithmE([0123])E")
DRAW = re.compile(r"draw_kernelI([fd])E")
DENSE = re.compile(r"dense_kernelI([fd])E")


def is_kernel(symbol):
    return any(pattern.search(symbol) for pattern in (KERNEL, SOLVER, DRAW, DENSE))


def kernel_name(symbol):
    if m := SOLVER.search(symbol):
        texts = "contact_solver", "contact_gradients", "contact_tangents", "contact_solver_soft"
        text = texts[int(m[2])]  # SolverAlgorithm of host/memory/cuda_table.h
        return f"{text}/{'float' if m[1] == 'f' else 'double'}/any"
    for name, pattern in (("draw", DRAW), ("dense", DENSE)):
        if m := pattern.search(symbol):
            return f"{name}/{'float' if m[1] == 'f' else 'double'}/any"
    op, optional, real, limit = KERNEL.search(symbol).groups()
    return f"{op}{'FExt' if optional == '2' else ''}/{'float' if real == 'f' else 'double'}/{limit}"


def group(kernel):
    """The kernels whose objects are given together; a build of FEATHERSTORM_CUDA_TO_CHECK leaves out groups."""
    return kernel.partition("/")[2] if kernel.startswith("Op") else kernel


def ptxas_reports(text):
    """{(kernel, target): [registers, stack, spill_stores, spill_loads]}"""
    rows, key = {}, None
    for line in text.splitlines():
        if m := re.search(r"Compiling entry function '(\S+)' for '(\w+)'", line):
            key = (kernel_name(m[1]), m[2]) if is_kernel(m[1]) else None
            if key:
                rows[key] = [0, 0, 0, 0]
        elif key and (
            m := re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", line)
        ):
            # functions that are not inlined follow their kernel
            rows[key] = [rows[key][0]] + [a + int(b) for a, b in zip(rows[key][1:], m.groups())]
        elif key and (m := re.search(r"Used (\d+) registers", line)):
            rows[key][0] = int(m[1])
    return rows


def code_sizes(data):
    """{(kernel, target): bytes} of the GPU programs (ELF, machine 190) within an object file."""
    sizes, at = {}, data.find(b"\x7fELF\x02\x01", 1)
    while at >= 0:
        (machine,) = struct.unpack_from("<H", data, at + 18)
        (flags,) = struct.unpack_from("<I", data, at + 48)
        if machine == 190:
            (sections,) = struct.unpack_from("<Q", data, at + 40)
            size, count, names = struct.unpack_from("<HHH", data, at + 58)
            header = [struct.unpack_from("<IIQQQQ", data, at + sections + k * size) for k in range(count)]
            for name, _, _, _, _, length in header:
                start = at + header[names][4] + name
                text = data[start : data.index(b"\0", start)].decode()
                if text.startswith(".text.") and is_kernel(text):
                    sizes[kernel_name(text), f"sm_{flags >> 8 & 0xFF}"] = length
        at = data.find(b"\x7fELF\x02\x01", at + 1)
    return sizes


def measure(objects):
    rows = {}
    for name in objects:
        path = pathlib.Path(name)
        reports = ptxas_reports(pathlib.Path(name + ".ptxas").read_text())
        code = code_sizes(path.read_bytes())
        for key, numbers in reports.items():
            rows[key] = [*numbers, code[key]]
    return rows


def with_margin(numbers):
    registers, stack, stores, loads, code = numbers
    return [
        min(255, registers + 8 + -registers % 8),
        stack + 64,
        stores + 32,
        loads + 32,
        int(code * 1.1) // 128 * 128 + 128,
    ]


def main(command, objects):
    rows = measure(objects)
    if not rows:
        sys.exit("no kernel found")
    if command == "write":
        with TABLE.open("w", newline="") as f:
            out = csv.writer(f, lineterminator="\n")
            out.writerow(COLUMNS)
            for key in sorted(rows):
                out.writerow([*key, *with_margin(rows[key])])
        return
    with TABLE.open() as f:
        limits = {(r["kernel"], r["target"]): [int(r[c]) for c in COLUMNS[2:]] for r in csv.DictReader(f)}
    faults, compiled = [], {(group(k), t) for k, t in rows}
    for kernel, target in sorted(limits.keys() - rows.keys()):
        if (group(kernel), target) in compiled:
            faults.append(f"{kernel} {target}: no object has it")
    for key, numbers in sorted(rows.items()):
        print(*key, *(f"{c} {n}" for c, n in zip(COLUMNS[2:], numbers)), sep="  ")
        if key not in limits:
            faults.append(f"{key[0]} for {key[1]} has no row in {TABLE.name}: run `budgets.py write`")
        else:
            faults += [
                f"{key[0]} for {key[1]}: {c} is {n}, the limit is {l}"
                for c, n, l in zip(COLUMNS[2:], numbers, limits[key])
                if n > l
            ]
    if faults:
        sys.exit("\n".join(faults))


if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in ("check", "write"):
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
