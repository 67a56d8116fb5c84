"""Compiles the specialised kernels of the built-in robots and compares what they take with specialised.csv.

    specialised.py check PROGRAM          those of some robots for sm_90 with NVRTC, a few for sm_80, and with nvcc where it is found
    specialised.py check PROGRAM --all    all of them, and whether the forms in the table are still the best ones
    specialised.py write PROGRAM [NAME]   writes specialised.csv, or only its rows of kernels whose names hold NAME

PROGRAM is specialised_kernels. Exit status 77 where there is no NVRTC 13.0. The table tells what was measured with it, the
check allows a little more; a row may be worse in the same change that explains why. What is better is no fault either,
but `write` then. A `check` takes about 20 s of one core, `--all` and `write` two to three minutes.
"""

import csv
import io
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).with_name("specialised.csv")
COLUMNS = [
    "kernel",
    "target",
    "order",
    "blocks",
    "registers",
    "spill_stores",
    "spill_loads",
    "code",
    "instructions",
    "instructions_per_dof",
    "shared",
]
TARGETS = ["sm_80", "sm_90"]
# what a check without --all compiles: robots for sm_90, kernels for sm_80 and by nvcc
ROBOTS = ["cartpole/", "iiwa14/", "go2/", "atlas/"]
SECOND_TARGET = ["iiwa14/fd/", "go2/fd/"]
BY_NVCC = ["iiwa14/fd/double", "go2/step/float"]


def head():
    """The lines above the columns: comments."""
    with TABLE.open() as f:
        return [line for line in f if line.startswith("#")]


def table():
    with TABLE.open() as f:
        return {(r["kernel"], r["target"]): r for r in csv.DictReader(line for line in f if not line.startswith("#"))}


def call(program, *arguments):
    run = subprocess.run([program, *arguments], stdout=subprocess.PIPE, text=True)
    if run.returncode == 77:
        print(f"skipped: {run.stdout}")
        sys.exit(77)
    if run.returncode:
        sys.exit(f"{program} failed with exit status {run.returncode}")
    return run.stdout


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text), COLUMNS))


def form(row):
    return f"{row['kernel']}={row['order']}:{row['blocks']}"


def limits(row):
    """Return the limits of a kernel: registers up to the next multiple of 8, a little more of the rest."""
    registers, stores, loads, code, instructions = (int(row[c]) for c in COLUMNS[4:9])
    return {
        "registers": min(255, (registers + 15) // 8 * 8),
        "spill_stores": stores + 32 + stores // 10,
        "spill_loads": loads + 32 + loads // 10,
        "code": code + 256 + code // 50,
        "instructions": instructions + 16 + instructions // 50,
        "shared": int(row["shared"]),
    }


def exceeded(row, known, compiler):
    found = {c: int(row[c]) for c in [*COLUMNS[4:9], "shared"] if row.get(c) not in (None, "")}
    return [
        f"{row['kernel']} for {row['target']} by {compiler}: {c} is {n}, the table says {known[c]} and allows "
        f"{limits(known)[c]}"
        for c, n in found.items()
        if n > limits(known)[c]
    ]


def by_nvcc(program, nvcc, row):
    """The row of a kernel as nvcc compiles its text; the code's length is not taken apart."""
    with tempfile.TemporaryDirectory() as folder:
        text = pathlib.Path(folder) / "kernel.cu"
        text.write_text(call(program, "text", form(row)))
        command = [
            nvcc,
            "-std=c++17",
            "-cubin",
            f"-arch={row['target']}",
            "-prec-div=false",
            "-prec-sqrt=false",
            "-Xptxas",
            "-v",
            str(text),
            "-o",
            str(text.with_suffix(".cubin")),
        ]
        run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"nvcc refuses {row['kernel']}:\n{run.stderr[:3000]}")
    spills = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", run.stderr)
    return {
        "kernel": row["kernel"],
        "target": row["target"],
        "registers": re.search(r"Used (\d+) reg", run.stderr)[1],
        "spill_stores": spills[1],
        "spill_loads": spills[2],
    }


def check(program, everything):
    known, faults, compiled = table(), [], 0
    names = call(program, "list").split()
    missing = {(n, t) for n in names for t in TARGETS} ^ set(known)
    if missing:
        sys.exit(f"{TABLE.name} has not the rows of `specialised_kernels list`: {sorted(missing)}")
    for target in TARGETS:
        wanted = [n for n in names if everything or n.startswith(tuple(ROBOTS if target == "sm_90" else SECOND_TARGET))]
        if everything:
            rows = rows_of(call(program, "choose", target, *wanted))
            faults += [
                f"{r['kernel']} for {target}: {form(r)} is best, the table has {form(known[r['kernel'], target])}"
                for r in rows
                if form(r) != form(known[r["kernel"], target])
            ]
        else:
            rows = rows_of(call(program, "measure", target, *(form(known[n, target]) for n in wanted)))
        compiled += len(rows)
        for r in rows:
            print(*(r[c] for c in COLUMNS), sep="  ")
            faults += exceeded(r, known[r["kernel"], target], "NVRTC")
    if nvcc := shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc"):
        for name in names if everything else BY_NVCC:
            row = by_nvcc(program, nvcc, known[name, "sm_90"])
            print("nvcc", *row.values(), sep="  ")
            faults += exceeded(row, known[name, "sm_90"], "nvcc")
    print(f"{compiled} kernels compiled, {len(faults)} faults")
    if faults:
        sys.exit("\n".join(faults))


def write(program, part):
    comments, names = head() if TABLE.exists() else [], call(program, "list").split()
    known = table() if part else {}
    rows = []
    for target in TARGETS:
        fresh = [n for n in names if part in n]
        made = {r["kernel"]: r for r in rows_of(call(program, "choose", target, *fresh))}
        rows += [made.get(n) or known[n, target] for n in names]
    with TABLE.open("w", newline="") as f:
        f.writelines(comments)
        out = csv.DictWriter(f, COLUMNS, lineterminator="\n", restval=0)
        out.writeheader()
        out.writerows(rows)


if __name__ == "__main__":
    if len(sys.argv) in (3, 4) and sys.argv[1] == "write":
        write(sys.argv[2], sys.argv[3] if len(sys.argv) == 4 else "")
    elif len(sys.argv) in (3, 4) and sys.argv[1] == "check" and sys.argv[3:] in ([], ["--all"]):
        check(sys.argv[2], len(sys.argv) == 4)
    else:
        sys.exit(__doc__)
