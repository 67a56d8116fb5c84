"""Checks of model files, and of the files they name, before they are opened: a named pipe or a device would block."""

from __future__ import annotations

import html
import os
import re
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
NAMED = re.compile(rb"""\b(file\w*|meshdir|texturedir|assetdir)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
MODELS = re.compile(rb"""<\s*(?:include|model)\b[^>]*?\bfile\s*=\s*(?:"([^"]*)"|'([^']*)')""")


def expect_file(path: str | os.PathLike[str]) -> None:
    """Raise ValueError if something that is not a regular file has this path. A missing file passes."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return
    for is_kind, words in KINDS:
        if is_kind(mode):
            raise ValueError(f"{os.fspath(path)}: is {words}, expected a regular file")


def expect_files(path: str | os.PathLike[str]) -> None:
    """Raise ValueError if a model file, or a file that it names, exists and is not a regular file.

    A name may be relative to the folder of the file, of the model that includes the file, or of the model's assets.
    All these places are checked, because MuJoCo's compiler opens one of them.
    """
    top = os.path.dirname(os.path.abspath(path))
    seen: set[str] = set()
    left = [os.path.abspath(path)]
    names: list[str] = []
    folders = [top]
    while left:
        model = left.pop()
        if model in seen or not os.path.exists(model):
            continue
        seen.add(model)
        expect_file(model)
        with open(model, "rb") as file:
            text = file.read()
        folders.append(os.path.dirname(model))
        for attribute, name in attributes(text):
            if attribute.endswith("dir"):
                folders.extend(os.path.join(top, name) for top in (top, os.path.dirname(model)))
            elif name:
                names.append(name)
        for quoted in MODELS.findall(text):
            left.extend(os.path.join(folder, value_of(quoted)) for folder in (top, os.path.dirname(model)))
    for folder in dict.fromkeys(folders):
        for name in dict.fromkeys(names):
            for place in (name, os.path.basename(name)):
                where = os.path.join(folder, place)
                if not os.path.isdir(where):
                    expect_file(where)


def attributes(text: bytes) -> Iterator[tuple[str, str]]:
    """Yield name and value of each attribute that names a file or a folder of files."""
    for name, *quoted in NAMED.findall(text):
        yield name.decode("ascii"), value_of(quoted).split("://", 1)[-1]


def value_of(quoted: tuple[bytes, ...] | list[bytes]) -> str:
    """Return the value of an attribute in either kind of quotation marks."""
    return html.unescape(b"".join(quoted).decode("utf-8", "surrogateescape"))
