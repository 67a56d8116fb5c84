"""Facts that a result is recorded with: machine, commit, load. Tables of the README need a quiet machine."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def cpu() -> dict[str, str]:
    """The first processor of /proc/cpuinfo."""
    fields = {}
    for line in Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines():
        name, _, value = line.partition(":")
        fields[name.strip()] = value.strip()
    return fields


def name() -> str:
    """A short description of the processor, as `epyc-zen4-2core`: the folder that results lie in."""
    c = cpu()
    model = c.get("model name", platform.machine()).lower()
    words = [w for w in ("epyc", "ryzen", "xeon", "core") if w in model][:1] or ["cpu"]
    family, number = int(c.get("cpu family", 0)), int(c.get("model", 0))
    if c.get("vendor_id") == "AuthenticAMD":
        zen = {23: "zen2" if number >= 48 else "zen1", 26: "zen5"}.get(family)
        if family == 25:
            zen = "zen4" if number in range(16, 32) or number >= 96 else "zen3"
        words += [zen or f"family{family}"]
    else:
        words += [f"family{family}-model{number}"]
    return "-".join(words) + f"-{os.cpu_count()}core"


def commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True).stdout.strip()

    # results and the text beside them change nothing that is measured
    changed = git(
        "status", "--porcelain", "--untracked-files=no", "--", "core", "host", "cuda", "bench/*.cpp", "bench/*.h"
    )
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + (" with changes" if changed else "")


def load() -> list[float]:
    """Runnable processes, averaged over 1 and 5 minutes."""
    return [round(x, 1) for x in os.getloadavg()[:2]]


def steal() -> list[int]:
    """Ticks since boot: [all, stolen by other virtual machines]."""
    ticks = [int(x) for x in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return [sum(ticks), ticks[7]]


def busy(seconds: float = 2.0) -> float:
    """Processors that other programs and other virtual machines use, on average over a time in which this one waits."""

    def ticks() -> tuple[int, int]:
        x = [int(x) for x in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return sum(x), x[3] + x[4]  # all, idle or waiting for a disk

    before = ticks()
    time.sleep(seconds)
    total, idle = (b - a for a, b in zip(before, ticks()))
    return (os.cpu_count() or 1) * (1 - idle / max(1, total))


def add_busy_option(parser: argparse.ArgumentParser):
    parser.add_argument("--busy", action="store_true", help="measure although other programs use the processors")


def require_quiet(anyway: bool):
    """End the program if other programs use more than a tenth of a processor."""
    used = busy()
    if used > 0.1 and not anyway:
        sys.exit(
            f"other programs use {used:.1f} processors: end them, or pass --busy for figures that nobody should quote"
        )


def describe() -> dict:
    c = cpu()
    return {
        "machine": name(),
        "cpu": f"{c.get('model name', '')} family {c.get('cpu family', '?')} model {c.get('model', '?')}, "
        f"{c.get('cpu MHz', '?')} MHz, cache {c.get('cache size', '?')}",
        "cores": os.cpu_count(),
        "commit": commit(),
        "date": datetime.date.today().isoformat(),
    }


def folder() -> Path:
    path = ROOT / "bench" / "results" / name()
    path.mkdir(parents=True, exist_ok=True)
    return path
