"""A library's program, spoken to by lines (serve.h)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np


class Server:
    """A program of bench/peers/ and what was asked of it."""

    def __init__(self, label: str, command: list, states: dict, folder: Path):
        self.label, self.folder = label, folder
        file = folder / f"{label}.states"
        with open(file, "wb") as f:
            np.array([len(states["q"]), states["q"].shape[1], states["v"].shape[1]], np.int64).tofile(f)
            for name in ("q", "v", "a", "tau"):
                np.ascontiguousarray(states[name], np.float64).tofile(f)
        self.process = subprocess.Popen(
            [*map(str, command), str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, line: str) -> str:
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        reply = self.process.stdout.readline().strip()
        if not reply:
            raise RuntimeError(f"{self.label} ended on '{line}'")
        return reply

    def answer(self, op: str) -> np.ndarray | None:
        file = self.folder / "answer"
        size = self.ask(f"answer {op} {file}")
        return None if size == "none" else np.fromfile(file).reshape(-1, int(size))

    def time(self, op: str, seconds: float) -> float:
        return float(self.ask(f"time {op} {seconds}"))

    def latency(self, op: str, calls: int) -> list[float]:
        """Wall-clock nanoseconds of one pass below which 50, 99 and 99.9 % of so many calls stay."""
        return [float(x) for x in self.ask(f"latency {op} {calls}").split()]

    def close(self):
        self.process.stdin.close()
        self.process.wait()
