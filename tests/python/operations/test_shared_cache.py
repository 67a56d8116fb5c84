"""Processes that share a cache of kernels: two that make one entry, and one that is killed at any time."""

import os
import random
import signal
import subprocess
import sys
import time

MAKE = """
import numpy as np
import featherstorm as fs
model = fs.load("cartpole", threads=1, assemble=False)
model.specialise("fd", "float64")
q, v = fs.random_state(model, 5, seed=1)
print(np.asarray(fs.fd(model, q, v, 0 * v)).tobytes().hex())
"""


def start(folder):
    environment = {
        **os.environ,
        "FEATHERSTORM_CACHE": str(folder),
        "FEATHERSTORM_ASSEMBLE": "0",
        "TMPDIR": str(folder.parent),
    }
    return subprocess.Popen(
        [sys.executable, "-c", MAKE], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def result(process):
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return out


def entries(folder):
    return sorted(p.name for p in folder.iterdir() if p.suffix == ".so")


def test_two_processes_make_one_entry(tmp_path):
    folder = tmp_path / "cache"
    both = [start(folder), start(folder)]
    first, second = map(result, both)
    assert first == second and len(entries(folder)) == 1
    assert result(start(folder)) == first


def test_a_process_that_is_killed_leaves_a_cache_that_works(tmp_path):
    folder = tmp_path / "cache"
    rng = random.Random(1)
    for _ in range(4):
        process = start(folder)
        time.sleep(rng.uniform(0.3, 2.5))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    whole = result(start(folder))
    assert len(entries(folder)) == 1 and result(start(folder)) == whole
