"""Memory and processes: large arrays, and objects that belong to one process."""

from __future__ import annotations

import contextlib
import os
import re
import resource
from typing import NoReturn

UNCHECKED = 2**28  # bytes below which nothing is read; reading takes 0.1 ms
GROUP = "/sys/fs/cgroup"


def free_memory() -> int:
    """Return the bytes that this process can still allocate, by the machine, its control group and its own limit."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    with contextlib.suppress(OSError, AttributeError, ValueError):
        found.append(1024 * number("/proc/meminfo", "MemAvailable: +"))
    with contextlib.suppress(OSError, AttributeError, ValueError):  # no limit, or no control groups
        used = number(f"{GROUP}/memory.current") - number(f"{GROUP}/memory.stat", "inactive_file ")
        found.append(number(f"{GROUP}/memory.max") - used)
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit != resource.RLIM_INFINITY:
        with contextlib.suppress(OSError, AttributeError, ValueError):
            found.append(limit - 1024 * number("/proc/self/status", "VmSize:\\s+"))
    return max(min(found), 0)


def number(path: str, before: str = "") -> int:
    """Return the number behind a text in a file of the kernel."""
    with open(path, encoding="ascii") as file:
        return int(re.search(before + r"(\d+)", file.read())[1])  # type: ignore[index]


def check_memory(who: str, size: float, remedy: str) -> None:
    """Raise MemoryError for a number of bytes that is not free."""
    if size > UNCHECKED and size > (free := free_memory()):
        raise MemoryError(
            f"{who}: {size / 1e9:.3g} GB of memory are needed, and {free / 1e9:.3g} GB are free; {remedy}"
        )


def refuse_pickle(what: str, instead: str) -> NoReturn:
    """Raise TypeError for an object that was pickled or copied, naming what to send to another process instead."""
    raise TypeError(f"a {what} holds kernels and memory of its process and cannot be pickled or copied; {instead}")
