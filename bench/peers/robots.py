"""Our robot and its states, and where another library keeps the same numbers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent.parent


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """(N, 4) wxyz -> (N, 3, 3)"""
    w, x, y, z = quaternion.T
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    ).transpose(2, 0, 1)


class Description:
    """Our robot: joints, where their numbers stand, rotors."""

    def __init__(self, program: Path, robot: str):
        text = subprocess.run([program, robot, "describe"], check=True, capture_output=True, text=True).stdout
        fields = {line.split()[0]: line.split()[1:] for line in text.splitlines()}
        self.joints, self.ops, self.isa = fields["joints"], fields["ops"], fields["isa"][0]
        self.build = " ".join(fields["build"])
        self.q, self.v = [int(x) for x in fields["q"]], [int(x) for x in fields["v"]]
        self.armature = np.array([float(x) for x in fields["armature"]])
        self.floating = self.joints[0] == "root"
        self.file = ROOT / "host" / "robots" / f"{robot}.urdf"
        self.nv = len(self.armature)
        self.nq = self.nv + self.floating

    def random_states(self, count: int, seed: int = 1) -> dict[str, np.ndarray]:
        random = np.random.default_rng(seed)
        s = {name: random.uniform(-1, 1, (count, self.nv)) for name in ("v", "a", "tau")}
        s["q"] = random.uniform(-np.pi, np.pi, (count, self.nq))
        if self.floating:
            s["q"][:, :3] = random.uniform(-1, 1, (count, 3))
            quaternion = random.normal(size=(count, 4))
            s["q"][:, 3:7] = quaternion / np.linalg.norm(quaternion, axis=1, keepdims=True)
        return s


class Order:
    """Where a library keeps our numbers: its q and v in our order, by joint name."""

    def __init__(self, ours: Description, q_of: dict[str, int], v_of: dict[str, int]):
        self.q, self.v = np.zeros(ours.nq, int), np.zeros(ours.nv, int)
        for name, q, v in zip(ours.joints, ours.q, ours.v):
            wide = name == "root"
            self.q[q : q + (7 if wide else 1)] = q_of[name] + np.arange(7 if wide else 1)
            self.v[v : v + (6 if wide else 1)] = v_of[name] + np.arange(6 if wide else 1)

    def give(self, x: np.ndarray, index: np.ndarray) -> np.ndarray:
        y = np.empty_like(x)
        y[:, index] = x
        return y

    def states(self, s: dict) -> dict:
        return {name: self.give(x, self.q if name == "q" else self.v) for name, x in s.items()}

    def back(self, kind: str, x: np.ndarray) -> np.ndarray:
        n = len(self.v)
        if kind == "crba":
            return self.matrix(x.reshape(-1, n, n)).reshape(-1, n * n)
        return x[:, self.v]

    def matrix(self, x: np.ndarray) -> np.ndarray:
        """Square matrices (N, nv, nv) in our order."""
        return x[:, self.v][:, :, self.v]


class OurOrder(Order):
    """Our own order and conventions, for a library that reads our file and takes the names of our joints."""

    def __init__(self, ours: Description):
        super().__init__(ours, dict(zip(ours.joints, ours.q)), dict(zip(ours.joints, ours.v)))
        self.file = ours.file
