"""Random inputs by the thousand, in processes that may crash.

    python tests/python/fuzzing/campaign.py TARGET [--seconds 60 | --inputs N] [--first K] [--seed S]

Input k of a target depends on the seed and k alone. A finding is an input that ends the process, takes longer than LIMIT, raises
an error that is not in ALLOWED, or has a wrong result (AssertionError). Findings are printed; `--first K --inputs 1` repeats one.
The last line has the number of inputs, the rate, the share that was accepted, and the memory that the process gained.
"""

import argparse
import mmap
import os
import select
import signal
import struct
import sys
import time
import traceback
import warnings

import numpy as np
import targets

LIMIT = 30  # seconds for an input
ALLOWED = (ValueError, TypeError, FileNotFoundError, MemoryError, OverflowError, NotImplementedError)


def resident():
    """Resident memory [MiB]."""
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


class Shared:
    """Numbers that a child writes and its parent reads: the input at work, those accepted, memory gained [MiB]."""

    def __init__(self):
        self.memory = mmap.mmap(-1, 24)

    def set(self, *numbers):
        self.memory[:] = struct.pack("qqd", *numbers)

    def get(self):
        return struct.unpack("qqd", self.memory[:])


def work(target, seed, first, until, last, shared, tell):
    """Run inputs until a time or a number; in the child."""
    warnings.simplefilter("ignore")
    run = targets.TARGETS[target]()
    k, accepted, began = first, 0, None
    while k < last and time.monotonic() < until:
        shared.set(k, accepted, 0.0 if began is None else resident() - began)
        try:
            accepted += bool(run(np.random.default_rng([seed, k])))
        except ALLOWED as error:
            if "unknown exception" in str(error):
                last = k  # the next file would wait for ever: go on in a new process
        except Exception:
            tell(f"{target} {seed} {k}\n{traceback.format_exc()}")
        k += 1
        if k == first + 200:
            began = resident()
    shared.set(k, accepted, 0.0 if began is None else resident() - began)


def campaign(target, seed=0, first=0, seconds=60.0, inputs=2**40, limit=LIMIT):
    """Return (inputs, accepted, findings: list of text, MiB gained by the last process, seconds)."""
    findings, done, accepted, gained = [], 0, 0, 0.0
    begin = time.monotonic()
    until, last = begin + seconds, first + inputs
    while first < last and time.monotonic() < until:
        shared, (read, write) = Shared(), os.pipe()
        shared.set(first, 0, 0.0)
        child = os.fork()
        if child == 0:
            os.close(read)
            try:
                work(target, seed, first, until, last, shared, lambda text: os.write(write, text.encode()))
            finally:
                sys.stdout.flush()
                os._exit(0)
        os.close(write)
        at, since, said, hung = first, time.monotonic(), b"", False
        while True:
            if select.select([read], [], [], 0.2)[0]:
                piece = os.read(read, 65536)
                said += piece
                if not piece:
                    break
            now = shared.get()[0]
            if now != at:
                at, since = now, time.monotonic()
            elif time.monotonic() - since > limit + 60 * (
                at == first and limit == LIMIT
            ):  # the first one also makes the target
                hung = True
                os.kill(child, signal.SIGKILL)
                break
        os.close(read)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        at, taken, gained = shared.get()
        findings += [said.decode()] if said else []
        crashed = hung or status != 0
        if crashed:
            findings.append(f"{target} {seed} {at}: " + (f"longer than {limit} s" if hung else f"exit status {status}"))
        done, accepted, first = done + at - first + crashed, accepted + taken, at + crashed
    return done, accepted, findings, gained, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=targets.TARGETS)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--inputs", type=int, default=2**40)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    seconds = 60.0 if args.seconds > 1e8 and args.inputs == 2**40 else args.seconds
    done, accepted, findings, gained, taken = campaign(args.target, args.seed, args.first, seconds, args.inputs)
    print("\n".join(findings))
    print(
        f"{args.target}: {done} inputs in {taken:.0f} s, {done / taken:.0f} a second, {100 * accepted / max(done, 1):.0f} % "
        f"accepted, {len(findings)} findings, {gained:+.1f} MiB"
    )
    sys.exit(bool(findings))


if __name__ == "__main__":
    main()
