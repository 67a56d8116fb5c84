"""Every robot file of packages that people use, as a new user would load it, by the kernels made for it: URDF beside Pinocchio with
fixed and with floating base, MJCF beside MuJoCo, in double. A process for each file, so that none hides another.

The packages are those of the extra `robots` in pyproject.toml, of which nothing but their files is read.
"""

import importlib.util
import json
import pathlib

import pytest

import apart

HERE = pathlib.Path(__file__).parents[1]
TOLERANCE = 1e-9

# why a file is refused, where that is as it should be: joints that move nothing
REFUSED = {
    "romeo.urdf": "joint 'RThumb3': moves no mass",
    "romeo_laas_small.urdf": "joint 'r_gripper_joint': moves no mass",
}


def folder_of(package):
    """Where a package lies, which is not imported; None where it is not installed."""
    try:
        spec = importlib.util.find_spec(package)
    except ModuleNotFoundError:
        return None
    return pathlib.Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


def files():
    found = []
    cmeel = folder_of("cmeel")  # example-robot-data installs beside it
    if cmeel:
        found += sorted((cmeel.parent / "cmeel.prefix" / "share" / "example-robot-data").rglob("*.urdf"))
    for package in ("gymnasium", "dm_control", "mjlab"):
        if folder := folder_of(package):
            found += sorted(folder.rglob("*.xml"))
    return found


FILES = files()


def check(path):
    done = apart.call("check_robot_file", HERE, "main", str(path))
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return lines or [{"base": "any", "refused": f"exit status {done.returncode}: {done.stderr[-2000:]}"}]


def name_of(path):
    return "/".join(path.parts[-3:])


@pytest.mark.skipif(
    not FILES, reason="no robot files: pip install --no-deps example-robot-data gymnasium dm-control mjlab"
)
@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_published_robot_agrees(path):
    skipped = []
    results = check(path)
    for result in results:
        if "skipped" in result:
            skipped.append(result["skipped"])
        elif "refused" in result:
            assert REFUSED.get(path.name, "no reason") in result["refused"], result
        else:
            assert path.name not in REFUSED, "it is not refused any more"
            assert max(result["errors"].values()) < TOLERANCE, result
            assert all(result["kernels"].values()), f"by kernels for any robot: {result}"
    if len(skipped) == len(results):
        pytest.skip(skipped[0].splitlines()[0])


@pytest.mark.skipif(not folder_of("cmeel"), reason="no example-robot-data")
def test_all_urdf_files_of_example_robot_data_are_here():
    assert sum(path.suffix == ".urdf" for path in FILES) >= 69
