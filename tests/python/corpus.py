"""Compares a step of every MJCF file below some folders with MuJoCo's, and says what each file costs: a Markdown table.

    python tests/python/corpus.py FOLDER ... [--states 8] [--only TEXT ...] [--disable multiccd] [--timeout 300] [--output corpus.md]

Without a folder: that of MENAGERIE_ROOT, MuJoCo Menagerie. Each file has a process of its own, so one that crashes or takes too long
is a row of the table. `check_model_file.py` makes the states and compares, in float64, every array of mjData that a Batch
has and the state after a step. Seconds are the processor's, of one thread: `load` of Batch(...), `step` of its first step, `fields` of
the first forward with all arrays. MB: of the compiled model, of which a Batch keeps a copy, and the most memory beyond that. Files that MuJoCo does not compile, most of them parts of others, are counted below the table.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tqdm import tqdm

sys.path.insert(0, str(Path(__file__).resolve().parent))  # PYTHONSAFEPATH leaves it out

import apart

HERE = Path(__file__).resolve().parent
# where MuJoCo finds contacts by iteration, they are as exact as that
CLOSE, CLOSE_BY_ITERATION = 1e-8, 1e-5
HEAD = "| file | nv | pairs | contacts | load s | step s | fields s | model MB | more MB | greatest error | verdict |"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--states", type=int, default=8)
    parser.add_argument("--only", nargs="+", default=[""], help="files whose path has one of these in it")
    parser.add_argument(
        "--disable", nargs="+", default=[], help="flags that are disabled in both: multiccd, noslip, ..."
    )
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one file")
    parser.add_argument("--output", type=Path, help="file for the table, written after every row")
    options = parser.parse_args()
    root = os.environ.get("MENAGERIE_ROOT")
    options.folders = options.folders or ([Path(root)] if root else [])
    if not options.folders:
        parser.error("no folder is named, and MENAGERIE_ROOT is not set")
    for folder in options.folders:
        if not folder.exists():
            parser.error(f"there is no folder {folder}")
    return options


def files(options: argparse.Namespace) -> list[tuple[str, Path]]:
    """(name in the table, path) of the files, in order."""
    found = []
    for folder in options.folders:
        paths = [folder] if folder.is_file() else sorted((*folder.rglob("*.xml"), *folder.rglob("*.mjcf")))
        found += [(str(path.relative_to(folder.parent if folder.is_file() else folder)), path) for path in paths]
    return [(name, path) for name, path in found if any(text in str(path) for text in options.only)]


def checked(path: Path, options: argparse.Namespace) -> dict:
    """What check_model_file says of a file, with "failed" where its process did not come to an end."""
    with tempfile.NamedTemporaryFile("r") as progress:
        try:
            asked = (str(path), options.states, progress.name, options.disable)
            done = apart.call("check_model_file", HERE, "check", *asked, timeout=options.timeout)
        except subprocess.TimeoutExpired:
            return {**json.loads(progress.read() or "{}"), "failed": f"more than {options.timeout:g} s"}
        if done.returncode == 0:
            return json.loads(done.stdout.splitlines()[-1])
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        signal = f"signal {-done.returncode}" if done.returncode < 0 else last
        return {**json.loads(progress.read() or "{}"), "failed": signal}


def verdict(result: dict) -> str:
    close = CLOSE_BY_ITERATION if result.get("iterated") else CLOSE
    wrong = {name: x for name, x in result.get("errors", {}).items() if not x <= close}
    said = []
    if "failed" in result:
        said.append(f"**{result.get('stage', 'load')}**: {result['failed']}")
    if wrong:
        worst = sorted(wrong, key=lambda name: -wrong[name])[:4]
        apart = f", {result['apart']} of {result['states']} states" if "apart" in result else ""
        said.append(f"**differs**: {', '.join(f'{n} {wrong[n]:.0e}' for n in worst)}{apart}")
    return "; ".join([*(said or ["agrees"]), *result.get("notices", [])])


def row(name: str, result: dict) -> str:
    number = lambda key, form: format(result[key], form) if key in result else ""  # noqa: E731
    fields = sum(result.get(key, 0) for key in ("fields", "readings"))
    cells = [
        name,
        *(number(key, "d") for key in ("nv", "pairs", "contacts")),
        *(number(key, ".2f") for key in ("load", "step")),
        f"{fields:.2f}" if "fields" in result else "",
        *(number(key, ".0f") for key in ("model", "peak")),
        f"{max(result['errors'].values()):.0e}" if result.get("errors") else "",
        verdict(result).replace("|", "/").replace("\n", " "),
    ]
    return f"| {' | '.join(cells)} |"


def table(rows: list[str], refused: list[str], skipped: list[str]) -> str:
    lines = [HEAD, "|---" * (HEAD.count("|") - 1) + "|", *rows, ""]
    lines += [
        f"{len(rows)} files; {len(skipped)} in which nothing moves; {len(refused)} that MuJoCo does not compile:",
        "",
    ]
    return "\n".join([*lines, *(f"- {text}" for text in (*refused, *skipped)), ""])


def main() -> None:
    options = arguments()
    os.nice(10)
    rows: list[str] = []
    refused: list[str] = []
    skipped: list[str] = []
    for name, path in tqdm(files(options), disable=not sys.stderr.isatty()):
        result = checked(path, options)
        if "refused" in result:
            refused.append(f"{name}: {result['refused']}")
        elif "skipped" in result:
            skipped.append(f"{name}: {result['skipped']}")
        else:
            rows.append(row(name, result))
        if options.output:
            options.output.write_text(table(rows, refused, skipped))
    if not options.output:
        print(table(rows, refused, skipped))


if __name__ == "__main__":
    main()
