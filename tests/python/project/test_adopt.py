"""Measured rows in the dispatch table (tests/gpu/adopt); that the engine takes them: the test gpu_adopt of CMake."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[3]
TOOL = ROOT / "tests" / "gpu" / "adopt"
TABLE = ROOT / "host" / "compile" / "dispatch_table.inc"


def load_tool():
    loader = importlib.machinery.SourceFileLoader("adopt", str(TOOL))
    spec = importlib.util.spec_from_loader("adopt", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


adopt = load_tool()

MEASURED = f"""# Measured by gpu_specialised on NVIDIA H100 80GB HBM3, 2026-12-01.
{adopt.COLUMNS}
atlas,fd,float32,90,0,specialised,32,greedy,0,4,measured
atlas,fd,float32,90,1,specialised,32,greedy,0,4,measured
atlas,fd,float32,90,31,specialised,32,greedy,0,4,measured
atlas,fd,float32,90,496,specialised,64,trace,0,1,measured
atlas,fd,float32,90,7943,specialised,64,trace,0,1,measured
go2,rnea,float32,90,0,specialised,32,trace,8,1,measured
"""
OTHER = MEASURED.replace("atlas", "g1").replace("go2,rnea", "go2,crba")


def rows_of(table):
    lines = table.splitlines()
    return [x for x in lines[1:-1] if x and not x.startswith("#") and x != adopt.COLUMNS]


def table():
    """The table without rows that were adopted before."""
    lines = TABLE.read_text().splitlines(keepends=True)
    return "".join(x for x in lines if not x.startswith("# Measured ") and ",measured\n" not in x)


def test_neighbouring_sizes_with_one_choice_are_one_row():
    after = rows_of(adopt.adopted(table(), MEASURED, "abc"))
    assert after[-3:] == [
        "atlas,fd,float32,90,0,specialised,32,greedy,0,4,measured",
        "atlas,fd,float32,90,496,specialised,64,trace,0,1,measured",
        "go2,rnea,float32,90,0,specialised,32,trace,8,1,measured",
    ]


def test_rows_by_count_stay_in_front():
    before, after = rows_of(table()), rows_of(adopt.adopted(table(), MEASURED, "abc"))
    assert after[: len(before)] == before
    assert all(x.endswith(",count") for x in before)


def test_a_choice_that_comes_back_has_a_row_of_its_own():
    text = MEASURED + "".join(
        f"go2,rnea,float32,90,{size},specialised,{threads},trace,8,1,measured\n"
        for size, threads in ((31, 64), (96, 32))
    )
    assert [x.split(",")[4] for x in rows_of(adopt.adopted(table(), text, ""))[-3:]] == ["0", "31", "96"]


def test_measuring_again_replaces_the_rows_of_the_same_call_and_keeps_others():
    once = adopt.adopted(adopt.adopted(table(), OTHER, "abc"), MEASURED, "abc")
    again = adopt.adopted(once, MEASURED.replace(",8,1,measured", ",6,1,measured").replace("12-01", "12-02"), "def")
    assert "go2,rnea,float32,90,0,specialised,32,trace,8,1,measured" in once
    assert "go2,rnea,float32,90,0,specialised,32,trace,6,1,measured" in again
    assert rows_of(again).count("g1,fd,float32,90,0,specialised,32,greedy,0,4,measured") == 1
    assert len(rows_of(again)) == len(rows_of(once))
    comments = [x for x in again.splitlines() if x.startswith("# Measured ")]
    assert comments == [
        "# Measured by gpu_specialised on NVIDIA H100 80GB HBM3, 2026-12-01, commit abc.",
        "# Measured by gpu_specialised on NVIDIA H100 80GB HBM3, 2026-12-02, commit def.",
    ]


def test_rows_of_another_device_stay():
    other = MEASURED.replace(",90,", ",100,")
    after = rows_of(adopt.adopted(adopt.adopted(table(), other, "a"), MEASURED, "b"))
    assert sum(x.startswith("atlas,fd,float32,100,") for x in after) == 2
    assert sum(x.startswith("atlas,fd,float32,90,") for x in after) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no measured rows"),
        (f"# Measured\n{adopt.COLUMNS}\n", "no measured rows"),
        (MEASURED + "# DIFFERENT go2/fd/float32/own kernel/greedy:0:32/B=16\n", "wrong results"),
        (MEASURED + "FAILED go2/fd: no memory\n", "wrong results"),
        (MEASURED + "go2,fd,float32,90,0,specialised,64,trace,0\n", "eleven cells"),
        (MEASURED + "go2,fd,float32,90,0,specialised,128,trace,0,1,measured\n", "32 or 64 threads"),
        (MEASURED + "go2,fd,float32,90,0,specialised,64,latency,0,1,measured\n", "sethi_ullman as order"),
        (MEASURED + "go2,fd,float32,*,0,specialised,64,trace,0,1,measured\n", "numbers"),
        (MEASURED + "go2,fd,float32,90,0,specialised,64,trace,0,1,count\n", "measured as basis"),
        (MEASURED + "go2,fd,float32,90,31,specialised,64,trace,0,1,measured\n", "expected 0"),
        (MEASURED + "atlas,fd,float32,90,32,specialised,64,trace,0,1,measured\n", "not sorted"),
    ],
)
def test_what_is_not_fit_is_refused_and_nothing_is_written(tmp_path, text, why):
    rows, copy = tmp_path / "dispatch.csv", tmp_path / "table.inc"
    rows.write_text(text)
    copy.write_text(table())
    done = subprocess.run([sys.executable, TOOL, rows, "--table", copy], capture_output=True, text=True)
    assert done.returncode == 1
    assert why in done.stderr
    assert copy.read_text() == table()


def test_the_command_writes_the_table_with_the_commit_that_was_measured(tmp_path):
    rows, copy = tmp_path / "dispatch.csv", tmp_path / "table.inc"
    rows.write_text(MEASURED)
    copy.write_text(table())
    (tmp_path / "machine.txt").write_text("NVIDIA H100\ncommit 1234abc\n")
    done = subprocess.run([sys.executable, TOOL, rows, "--table", copy], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert copy.read_text() == adopt.adopted(table(), MEASURED, "1234abc")
    assert "0 measured rows before, 3 now" in done.stdout
