"""Compiles the kernels of environments' steps (Ant, Go1, G1) for sm_90 and compares what they take with budgets.csv.

    budgets.py check [NAME]    those of steps whose names hold NAME, in float; 16 s of a core for Ant, 31 for Go1, 98 for G1
    budgets.py write [NAME]    writes their rows, in float and in double

The name of a step is TASK/REAL/, that of a kernel TASK/REAL/PART: "reset" begins episodes, "1", "2", ... are what a control step launches, in this order, kernels that are alike
once. The texts are those that a device's step gives to NVRTC, in the order of tracing: the step is run through the fake CUDA library,
whose cache on disk keeps them. Exit status 77 where there is no NVRTC 13.0, no fake CUDA library, or no package with a
task's model. The table tells what was measured, the check allows a little more.
"""

import csv
import ctypes
import os
import pathlib
import re
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
TABLE = HERE / "budgets.csv"
COLUMNS = ["kernel", "target", "registers", "stack", "spill_stores", "spill_loads", "code", "instructions"]
TARGET = "sm_90"
FAKE_CUDA = pathlib.Path(os.environ.get("FEATHERSTORM_FAKE_CUDA", ROOT / "build" / "release" / "lib" / "fake_cuda"))
NO_OPERATION = 0x918
sys.path += [str(ROOT / "tests" / "python" / "environment"), str(ROOT / "tests" / "python")]


class Missing(Exception):
    pass


class Nvrtc:
    """What host/compile/nvrtc.h does, with its options."""

    def __init__(self):
        for name in ("libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so"):
            try:
                self.library = ctypes.CDLL(name)
                break
            except OSError as why:
                missing = str(why)
        else:
            raise Missing(missing)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        if (major.value, minor.value) != (13, 0):
            raise Missing(f"the table holds for NVRTC 13.0, here is {major.value}.{minor.value}")
        text = (ROOT / "host" / "compile" / "nvrtc.cpp").read_text()
        self.options = re.findall(r'"(-[^"]+)"', re.search(r"options = \{(.*?)\};", text, re.DOTALL)[1])

    def fetch(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        found = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, found)
        return found.raw

    def cost(self, text):
        """Numbers of COLUMNS from the third on."""
        program, options = ctypes.c_void_p(), [o.encode() for o in (*self.options, f"--gpu-architecture={TARGET}")]
        self.library.nvrtcCreateProgram(ctypes.byref(program), text, b"kernel.cu", 0, None, None)
        failed = self.library.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        log = self.fetch(program, "ProgramLog").decode()
        if failed:
            raise RuntimeError(log[:2000])
        image = self.fetch(program, "CUBIN")
        self.library.nvrtcDestroyProgram(ctypes.byref(program))
        registers = re.search(r"Used (\d+) registers", log)[1]
        spilled = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", log)
        code = section(image, ".text.featherstorm_kernel")
        opcodes = (struct.unpack_from("<H", code, at)[0] & 0xFFF for at in range(0, len(code), 16))
        return [int(registers), *map(int, spilled.groups()), len(code), sum(o != NO_OPERATION for o in opcodes)]


def section(file, wanted):
    """Of an ELF file of 64 bits."""
    (sections,) = struct.unpack_from("<Q", file, 40)
    size, count, names = struct.unpack_from("<HHH", file, 58)
    headers = [struct.unpack_from("<IIQQQQ", file, sections + k * size) for k in range(count)]
    for name, _, _, _, at, length in headers:
        start = headers[names][4] + name
        if file[start : file.index(b"\0", start)].decode() == wanted:
            return file[at : at + length]
    raise ValueError(f"the compiled kernel has no section {wanted}")


def texts(task, dtype):
    """(part, text) of what a control step launches on a device, and of what begins episodes."""
    from device_tasks import TASKS, sent  # after the environment is set
    from numpy import zeros

    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(
            FEATHERSTORM_BACKENDS=str(FAKE_CUDA),
            FEATHERSTORM_NVRTC=str(FAKE_CUDA / "libnvrtc.so"),
            FEATHERSTORM_CACHE=folder,
        )
        batch = TASKS[task]().batch(1, dtype=dtype, device="cuda:0")
        batch.reset()
        reset = set(pathlib.Path(folder).glob("*.cu"))
        batch.step(sent(zeros((1, batch.recording.actions), dtype)))
        step = set(pathlib.Path(folder).glob("*.cu")) - reset
        found = [("reset", path.read_bytes()) for path in reset]
        by_time = sorted(step, key=lambda path: path.stat().st_mtime_ns)
        found += [(str(k), path.read_bytes()) for k, path in enumerate(by_time, 1)]
        if len(reset) != 1 or not step:
            raise RuntimeError(
                f"{task}: {len(reset)} kernels begin episodes, {len(step)} are a step's; expected 1 and more"
            )
        return found


def table():
    if not TABLE.exists():
        return {}
    with TABLE.open() as f:
        return {(r["kernel"], r["target"]): [int(r[c]) for c in COLUMNS[2:]] for r in csv.DictReader(f)}


def limits(numbers):
    """Return the limits of a kernel: registers up to the next multiple of 8, a tenth more of the rest."""
    registers, *rest = numbers
    return [min(255, (registers + 15) // 8 * 8), *(n + 64 + n // 10 for n in rest)]


def measured(wanted, reals):
    """(kernel, target) -> numbers, of those kernels that `wanted` says."""
    nvrtc, found = Nvrtc(), {}
    if not (FAKE_CUDA / "libnvrtc.so").exists():
        raise Missing(f"there is no fake CUDA library in {FAKE_CUDA}")
    for task in ("Ant", "Go1", "G1"):
        for real, dtype in reals.items():
            if not wanted(f"{task}/{real}/"):
                continue
            try:
                parts = texts(task, dtype)
            except (FileNotFoundError, ImportError) as why:
                raise Missing(f"{task}: {why}") from None
            for part, text in parts:
                found[f"{task}/{real}/{part}", TARGET] = nvrtc.cost(text)
                print(f"{task}/{real}/{part}", *found[f"{task}/{real}/{part}", TARGET], flush=True)
    return found


def check(name):
    known = table()
    found = measured(
        lambda kernel: name in kernel and any(k.startswith(kernel) for k, _ in known), {"float": "float32"}
    )
    faults = [f"{kernel} has no row in {TABLE.name}: run `write`" for kernel, _ in found.keys() - known.keys()]
    for key in sorted(found.keys() & known.keys()):
        faults += [
            f"{key[0]} for {key[1]}: {column} is {n}, the table says {known[key][k]} and allows {limits(known[key])[k]}"
            for k, (column, n) in enumerate(zip(COLUMNS[2:], found[key]))
            if n > limits(known[key])[k]
        ]
    if faults or not found:
        sys.exit("\n".join(faults) or f"no kernel of the table has a name with {name!r}")


def write(name):
    rows = {key: row for key, row in table().items() if name not in key[0]}
    rows |= measured(lambda kernel: name in kernel, {"float": "float32", "double": "float64"})
    with TABLE.open("w", newline="") as f:
        out = csv.writer(f, lineterminator="\n")
        out.writerow(COLUMNS)
        for key in sorted(rows):
            out.writerow([*key, *rows[key]])


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[1] not in ("check", "write"):
        sys.exit(__doc__)
    try:
        {"check": check, "write": write}[sys.argv[1]](*sys.argv[2:] or [""])
    except Missing as why:
        print(f"skipped: {why}")
        sys.exit(77)
