"""Reading the `.npz` files of checkpoints and policies, which may be anything."""

from __future__ import annotations

import contextlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt


def read_archive(path: Path) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """What a file says of itself, and its arrays.

    Args:
        path: of an `.npz` file with an array `about`, a text of JSON.

    Returns:
        That JSON object, and the other arrays by their names; nothing is unpickled.

    Raises:
        ValueError: it is no such file, or damaged; the message says in what way.
        OSError: it could not be read.
    """
    with opened_archive(path) as found:
        arrays = {name: np.asarray(found[name]) for name in found.files}
    if "about" not in arrays:
        raise ValueError("it does not say what it is")
    try:
        about = json.loads(str(arrays.pop("about")))
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if not isinstance(about, dict):
        raise ValueError("it does not say what it is")
    return about, arrays


@contextlib.contextmanager
def opened_archive(path: Path) -> Iterator[Any]:
    """An `.npz` file, whose arrays are read as they are asked for.

    Raises:
        ValueError: it is no such file, or damaged, whenever that turns out; nothing is unpickled.
        OSError: it could not be read.
    """
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError("it is no .npz file, or its end is missing")
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as found:
                yield found
        except (OSError, ValueError):
            raise
        except Exception as error:  # NumPy and zipfile have many for bytes that are not what they should be
            raise ValueError(str(error) or type(error).__name__) from None


def name_of_game(about: dict[str, Any]) -> object:
    """The name of the game that a file is of, for a message; None if it says none."""
    game = about.get("game")
    return game.get("name") if isinstance(game, dict) else None


__all__ = ["name_of_game", "opened_archive", "read_archive"]
