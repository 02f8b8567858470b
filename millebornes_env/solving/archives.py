"""Reading `.npz` files of checkpoints and policies from untrusted sources."""

from __future__ import annotations

import contextlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

LONGEST_ABOUT: Final = 1_000_000
"""Maximum length of a file's metadata, in characters of JSON."""
_LONGEST_REASON: Final = 200


def read_about(archive: Any) -> dict[str, Any]:
    """Return the metadata of an archive: the JSON object in its array `about`.

    Raises:
        ValueError: the file has no metadata.
    """
    shape, dtype = _head(archive, "about")
    if shape != () or dtype.kind != "U" or dtype.itemsize > 4 * LONGEST_ABOUT:
        raise ValueError("it does not say what it is")
    try:
        about = json.loads(str(archive["about"]))
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if not isinstance(about, dict):
        raise ValueError("it does not say what it is")
    return about


def read_array(archive: Any, name: str, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Read an array of an archive from `open_archive`, after checking its header.

    Raises:
        ValueError: the array has another shape or type, or is missing or damaged.
    """
    result, kind = _head(archive, name)
    if result != shape or kind != np.dtype(dtype):
        raise ValueError(f"{name} is of another size or type")
    array: npt.NDArray[Any] = archive[name]
    return array


def _head(archive: Any, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape and type of an array without reading it.

    Raises:
        ValueError: the array is missing or damaged.
    """
    with archive.zip.open(f"{name}.npy") as part:
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(np.lib.format.read_magic(part))
        if read is None:
            raise ValueError(f"{name} has an unknown format")
        shape, _, dtype = read(part)
    return shape, dtype


@contextlib.contextmanager
def open_archive(path: Path) -> Iterator[Any]:
    """Open an `.npz` file whose arrays are read on access; nothing is unpickled.

    Raises:
        ValueError: the file is not an `.npz` file, or is damaged; also raised by later accesses.
        OSError: the file could not be read.
    """
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError("it is not an .npz file, or its end is missing")
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as result:
                yield result
        except (OSError, ValueError):
            raise
        except Exception as error:  # NumPy and zipfile raise many types for damaged files
            raise ValueError((str(error) or type(error).__name__)[:_LONGEST_REASON]) from None


def name_of_game(about: dict[str, Any]) -> object:
    """Return the name of the game in a file's metadata, or None if missing."""
    game = about.get("game")
    return game.get("name") if isinstance(game, dict) else None
