"""Every scene of MuJoCo Menagerie beside MuJoCo, from states where geoms touch: all arrays that a Batch has, and the state after a step.

MENAGERIE_ROOT names a folder with the robots' folders, as it does for the package `mujoco-menagerie`. Files of other packages are
compared in tests/python/world and tests/python/mujoco_batch. `python tests/python/corpus.py` makes a table of any folder.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import apart

pytest.importorskip("mujoco.batch", reason="needs MuJoCo 4.0 or later")

HERE = pathlib.Path(__file__).parents[1]
# contacts of curved shapes are as exact as MuJoCo's iteration
CLOSE, CLOSE_BY_ITERATION = 1e-8, 1e-5


def scenes():
    root = os.environ.get("MENAGERIE_ROOT")
    return sorted(pathlib.Path(root).glob("*/*scene*.xml")) if root else []


def wrong(path, disable):
    """{array: error} of those that are not close."""
    done = apart.call("check_model_file", HERE, "check", str(path), 3, None, disable)
    assert done.returncode == 0, done.stderr[-2000:]
    result = json.loads(done.stdout.splitlines()[-1])
    if reason := result.get("refused", result.get("skipped")):
        pytest.skip(reason)
    close = CLOSE_BY_ITERATION if result["iterated"] else CLOSE
    return {name: error for name, error in result["errors"].items() if not error <= close}


@pytest.mark.skipif(not scenes(), reason="MENAGERIE_ROOT names no folder with MuJoCo Menagerie's robots")
@pytest.mark.parametrize("path", scenes(), ids=lambda path: "/".join(path.parts[-2:]))
def test_a_scene_of_the_menagerie_agrees(path):
    # of exactly parallel faces rounding chooses the corners with multiccd, and the point without (docs/decisions/48)
    if wrong(path, []):
        assert wrong(path, ["multiccd"]) == {}


def test_the_table_of_a_folder_has_a_row_for_each_file(tmp_path):
    world = '<mujoco><worldbody><geom type="plane" size="5 5 .1"/>{}</worldbody>{}</mujoco>'
    ball = '<body name="b" pos="0 0 .1"><freejoint/><geom size=".1"/></body>'
    speculative = '<option><flag speculative="enable"/></option>'
    (tmp_path / "ball.xml").write_text(world.format(ball, ""))
    (tmp_path / "late.xml").write_text(world.format(ball, speculative))
    (tmp_path / "still.xml").write_text(world.format("", ""))
    (tmp_path / "part.xml").write_text("<mujocoinclude/>")
    done = subprocess.run(
        [sys.executable, HERE / "corpus.py", tmp_path, "--states", "2"], capture_output=True, text=True, check=True
    )
    rows = [line for line in done.stdout.splitlines() if line.startswith("| ") and ".xml" in line]
    assert len(rows) == 2, done.stdout
    assert rows[0].startswith("| ball.xml | 6 | 1 |") and rows[0].endswith("| agrees |")
    assert rows[1].startswith("| late.xml | 6 |") and "**load**: " in rows[1] and "speculative" in rows[1]
    assert "2 files; 1 in which nothing moves; 1 that MuJoCo does not compile:" in done.stdout
    assert "- still.xml: nothing moves" in done.stdout and "- part.xml: " in done.stdout
