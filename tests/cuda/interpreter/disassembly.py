"""The instructions of compiled CUDA kernels, from nvdisasm's text.

functions = disassemble(nvdisasm, object_file)   # {symbol: Function}
"""

import dataclasses
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sysconfig
import tempfile


class Unsupported(Exception):
    pass


def find_nvdisasm():
    """NVDISASM, on the PATH, or in the Python package nvidia-cuda-nvdisasm; None where it is nowhere."""
    beside = pathlib.Path(sysconfig.get_paths()["purelib"]) / "nvidia"
    for path in (os.environ.get("NVDISASM"), shutil.which("nvdisasm"), *beside.glob("*/bin/nvdisasm")):
        if path and os.access(path, os.X_OK):
            return str(path)
    return None


@dataclasses.dataclass
class Instruction:
    address: int
    predicate: str | None
    op: str
    mods: list
    A: list  # operands
    text: str


INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z0-9_.]+)\s*(.*?)\s*;\s*$")
BYTES = re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s+\.byte\s+(.*)")
LABEL = re.compile(r"\s*(\.L\w+|\$?[\w$.]+):\s*$")


class Function:
    """Lines of instructions, taken apart where they are asked for: a kernel may have 200 000, of which few are executed."""

    def __init__(self):
        self.lines = []
        self.index = {}  # address -> position in lines
        self.labels = {}  # name -> address
        self.bank2 = b""  # jump tables

    def __len__(self):
        return len(self.lines)

    def add(self, line):
        at = line.index("/*") + 2
        self.index[int(line[at : line.index("*", at)], 16)] = len(self.lines)
        self.lines.append(line)

    def text(self, position):
        return self.lines[position].strip()

    def instruction(self, position):
        m = INSTRUCTION.match(self.lines[position])
        if not m:
            raise Unsupported("syntax")
        opcode, *modifiers = m[3].split(".")
        operands = re.sub(r"\(\*.*?\*\)", "", m[4]).strip()
        parts = [o.strip() for o in re.split(r",(?![^\[]*\])", operands)] if operands else []
        return Instruction(int(m[1], 16), m[2], opcode, modifiers, parts, self.text(position))

    def address(self, label):
        name = label.strip("`() ")
        return self.labels[name] if name in self.labels else int(name, 16)


def gpu_program(data, target):
    """The GPU program (ELF) for sm_<target> within an object file."""
    at = data.find(b"\x7fELF\x02\x01", 1)
    while at >= 0:
        if struct.unpack_from("<H", data, at + 18)[0] == 190 and data[at + 49] == target:
            return data[at:]
        at = data.find(b"\x7fELF\x02\x01", at + 1)
    raise Unsupported(f"no program for sm_{target}")


def disassemble(nvdisasm, object_file):
    with tempfile.TemporaryDirectory() as folder:
        cubin = pathlib.Path(folder) / "program.cubin"
        cubin.write_bytes(gpu_program(pathlib.Path(object_file).read_bytes(), 90))
        text = subprocess.run([nvdisasm, "-ndf", str(cubin)], capture_output=True, text=True, check=True).stdout
    functions, banks, code, bank = {}, {}, None, None
    pending = []
    for line in text.splitlines():
        if code is not None and line.startswith("        /*"):
            for name in pending:
                code.labels[name] = 16 * len(code)
            pending = []
            code.add(line)
        elif line.startswith("\t.section"):
            code = bank = None
        elif m := re.match(r"\.text\.(\S+):", line):
            code = functions[m[1]] = Function()
        elif m := re.match(r"\.nv\.constant2\.(\S+):", line):
            bank = banks[m[1]] = bytearray()
        elif bank is not None and (m := BYTES.match(line)):
            bank += bytes(int(b, 16) for b in m[1].split(","))
        elif code is not None and (m := LABEL.match(line)):
            pending.append(m[1])
    for name, data in banks.items():
        functions[name].bank2 = bytes(data)
    return functions
