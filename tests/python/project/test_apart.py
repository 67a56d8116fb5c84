"""What apart.py does for tests that compare hundreds of files: no call hides another."""

import json
import subprocess

import pytest

import apart

HERE = "."


def test_returns_what_the_function_returned():
    done = apart.call("math", HERE, "gcd", 12, 18)
    assert (done.returncode, json.loads(done.stdout), done.stderr) == (0, 6, "")


def test_a_call_that_fails_hides_no_other():
    done = apart.call("math", HERE, "gcd", "twelve")
    assert done.returncode == 1 and "TypeError" in done.stderr
    done = apart.call("faulthandler", HERE, "_sigsegv")
    assert done.returncode == -11 and done.stdout == ""
    assert apart.call("faulthandler", HERE, "is_enabled").stdout == "false\n"


def test_a_call_that_hangs_is_ended():
    with pytest.raises(subprocess.TimeoutExpired):
        apart.call("time", HERE, "sleep", 60, timeout=0.5)
    assert apart.call("time", HERE, "sleep", 0).returncode == 0
