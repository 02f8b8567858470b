"""Small networks on disk: arrays by name in a safetensors file, and a JSON file that says what they are.

Files may come from strangers: nothing is pickled, and what is read is checked. What the arrays must fit is
checked by who reads them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from millebornes_env._util.files import write_bytes_atomically, write_json_atomically
from millebornes_env.errors import MissingExtraError

Float32Array = npt.NDArray[np.float32]


def read_entries(path: Path, most_bytes: int) -> dict[str, Any]:
    """The entries of a JSON object.

    Args:
        path: of the file.
        most_bytes: that are read.

    Raises:
        OSError: it cannot be read; FileNotFoundError where there is none.
        ValueError: it is no JSON object, or too large.
    """
    with path.open("rb") as file:
        text = file.read(most_bytes)
    try:
        content = json.loads(text.decode("utf-8"))
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if not isinstance(content, dict):
        raise ValueError("not a JSON object")
    return content


def read_arrays(
    path: Path, names: Iterable[str], *, most_bytes: int, most: float, needed_by: str
) -> list[Float32Array]:
    """Arrays of weights, as float32.

    Args:
        path: of the safetensors file.
        names: of the arrays.
        most_bytes: a larger file is refused.
        most: a larger weight is refused, and so is what is not finite.
        needed_by: what cannot be done where safetensors is not installed.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged, an array is missing, or no array of such floats.
        MissingExtraError: safetensors is not installed.
    """
    try:
        from safetensors import SafetensorError  # noqa: PLC0415 - an extra
        from safetensors.numpy import load  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError.of(needed_by, error, "arena") from None
    if path.stat().st_size > most_bytes:
        raise ValueError("it is too large")
    try:
        arrays = load(path.read_bytes())
        return [_checked(arrays[name], most) for name in names]
    except (SafetensorError, KeyError, TypeError) as error:
        raise ValueError(str(error)) from None


def _checked(array: npt.NDArray[Any], most: float) -> Float32Array:
    if array.dtype not in (np.float16, np.float32):
        raise ValueError(f"weights are {array.dtype}, they must be float16 or float32")
    if not np.isfinite(array).all() or float(np.abs(array).max(initial=0.0)) > most:
        raise ValueError(f"weights are not finite, or above {most:g}")
    return np.ascontiguousarray(array, np.float32)


def write_network(
    weights: Path, arrays: Mapping[str, npt.NDArray[Any]], description: Path, entries: Mapping[str, Any]
) -> None:
    """Write a network; the description last, which alone makes the folder one that is read.

    Args:
        weights: the safetensors file; its folder is made if it is missing.
        arrays: by their names; they are kept as float16.
        description: the JSON file.
        entries: of it.

    Raises:
        OSError: a file could not be written; what was there is as it was.
    """
    from safetensors.numpy import save  # noqa: PLC0415 - an extra: only who fits one needs it

    write_bytes_atomically(weights, save({name: array.astype(np.float16) for name, array in arrays.items()}))
    write_json_atomically(description, entries)
