"""The instructions of compiled CUDA kernels, from nvdisasm's text.

functions = disassemble(nvdisasm, object_file)   # {symbol: Function}
"""

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


class Function:
    def __init__(self):
        self.code = []  # (address, predicate, opcode, modifiers, operands, text)
        self.index = {}  # address -> position in code
        self.labels = {}  # name -> address
        self.bank2 = b""  # jump tables


INSTRUCTION = re.compile(r"\s+/\*([0-9a-f]{4,})\*/\s+(?:@(!?U?P\w+)\s+)?([A-Z0-9_.]+)\s*(.*?)\s*;\s*$")
BYTES = re.compile(r"\s+/\*[0-9a-f]{4,}\*/\s+\.byte\s+(.*)")


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
        if line.startswith("\t.section"):
            code = bank = None
        elif m := re.match(r"\.text\.(\S+):", line):
            code = functions[m[1]] = Function()
        elif m := re.match(r"\.nv\.constant2\.(\S+):", line):
            bank = banks[m[1]] = bytearray()
        elif bank is not None and (m := BYTES.match(line)):
            bank += bytes(int(b, 16) for b in m[1].split(","))
        elif code is not None and (m := re.match(r"\s*(\.L\w+|\$?[\w$.]+):\s*$", line)):
            pending.append(m[1])
        elif code is not None and (m := INSTRUCTION.match(line)):
            address = int(m[1], 16)
            for name in pending:
                code.labels[name] = address
            pending = []
            operands = re.sub(r"\(\*.*?\*\)", "", m[4]).strip()
            opcode, *modifiers = m[3].split(".")
            code.index[address] = len(code.code)
            code.code.append(
                (
                    address,
                    m[2],
                    opcode,
                    modifiers,
                    [o.strip() for o in re.split(r",(?![^\[]*\])", operands)] if operands else [],
                    line.strip(),
                )
            )
    for name, data in banks.items():
        functions[name].bank2 = bytes(data)
    return functions
