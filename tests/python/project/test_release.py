"""Files of a release agree with each other: versions, links of the packages, contents of the wheels."""

import pathlib
import re

import pytest

tomllib = pytest.importorskip("tomllib")  # Python 3.11

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_versions_are_equal():
    version = PROJECT["version"]
    assert re.search(r"project\(featherstorm VERSION ([\d.]+)", text("CMakeLists.txt"))[1] == version
    assert re.search(r"^version: (.*)$", text("CITATION.cff"), re.MULTILINE)[1] == version
    assert PROJECT["optional-dependencies"]["cuda13"] == [f"featherstorm-cuda13=={version}"]
    assert f"\n## {version}" in text("CHANGELOG.md")
    assert set(
        re.findall(r"dist/featherstorm(?:_cuda13)?-([\d.]+)-", text("docs/install.md") + text("docs/publishing.md"))
    ) == {version}


def test_docs_install_what_exists_until_there_is_a_release():
    """`pip install featherstorm` stands in no page while the changelog calls the version unreleased."""
    if "not released yet" not in text("CHANGELOG.md"):
        return
    wrong = []
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        if "decisions" in path.parts or "_generated" in path.parts or path.name == "publishing.md":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if re.search(r"pip install ['\"]?featherstorm(?!\[)", line):
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {line.strip()}")
    assert wrong == []


def test_every_library_of_the_package_is_portable():
    """portable.cpp has each function that glibc 2.28 has under an older version only, for both processors."""
    source = text("python/wheel/portable.cpp")
    assert '"GLIBC_2.2.5"' in source and '"GLIBC_2.17"' in source
    assert "foreach(target _featherstorm ${backends})" in text("python/wheel/portable.cmake")


def test_cuda_is_compiled_only_on_request():
    assert 'FEATHERSTORM_CUDA = "OFF"' in text("pyproject.toml")
    assert re.search(r"set\(FEATHERSTORM_CUDA OFF CACHE", text("CMakeLists.txt"))
