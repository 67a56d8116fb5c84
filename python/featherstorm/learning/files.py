"""Files of arrays with a JSON header: policies and checkpoints."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import uuid
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from .._robot.model_files import expect_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ..typing import NumpyArray as Array


PART, LOCK = ".part", "training.lock"


def write_arrays(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, Array]) -> None:
    """Write a .npz file of arrays and a JSON header.

    An existing file is replaced only after the new one is complete.
    """
    with replacing(path, "xb") as file:
        np.savez(file, header=np.array(json.dumps(header)), **arrays)  # type: ignore[arg-type]


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str], mode: str, **options: Any) -> Iterator[Any]:
    """Open a file of a unique name that replaces the one at the path when it is complete.

    Errors: OSError with the path; the file at the path stays as it is.
    """
    path = os.fspath(path)
    beside = f"{path}.{uuid.uuid4().hex[:12]}{PART}"
    try:
        with open(beside, mode, **options) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.remove(beside)
        if isinstance(error, OSError):
            raise OSError(error.errno, f"{error.strerror or error} while writing", path) from None
        raise


@contextlib.contextmanager
def only_writer(folder: str) -> Iterator[None]:
    """Hold the lock of a folder, and remove incomplete files of writers that were killed.

    The system releases the lock of a process that ends, however it ends.
    Errors: FileExistsError where another writer holds the lock.
    """
    path = os.path.join(folder, LOCK)
    with open(path, "a+", encoding="ascii") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise FileExistsError(
                f"train: process {file.read().strip() or 'unknown'} is training in {folder}; wait for its end, or "
                "choose another folder"
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        for name in os.listdir(folder):
            if name.endswith(PART):
                os.remove(os.path.join(folder, name))
        yield


def read_arrays(
    path: str | os.PathLike[str], kind: str, newest: int, largest: int
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Read header and arrays of a file of write_arrays.

    No code in the file is executed, and at most `largest` bytes are decompressed.

    Errors: FileNotFoundError; ValueError for another kind of file, or one that is damaged, too large, of a later
    format, or no regular file.
    """
    path = os.fspath(path)
    expect_file(path)
    with open(path, "rb") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                size = sum(x.file_size for x in archive.infolist())
            if size > largest:
                raise ValueError(f"its arrays have {size} bytes, expected {largest} at most")
            file.seek(0)
            with np.load(file, allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
            header = json.loads(str(arrays.pop("header", "")))
        except Exception as error:  # whatever the readers of damaged archives, arrays and text raise
            raise ValueError(f"{path}: not a {kind}, or damaged: {error}") from None
    if not isinstance(header, dict) or header.get("kind") != kind:
        raise ValueError(f"{path}: not a {kind}")
    if not isinstance(header.get("format"), int) or not 1 <= header["format"] <= newest:
        raise ValueError(
            f"{path}: format is {header.get('format')!r}, expected 1 to {newest}; was it made by a later version?"
        )
    if strange := [name for name, x in arrays.items() if not isinstance(x, np.ndarray) or x.dtype.kind not in "fiub"]:
        raise ValueError(f"{path}: expected numbers in {', '.join(strange)}")
    return header, arrays
