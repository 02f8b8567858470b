"""Small networks on disk: arrays by name in a safetensors file, and a JSON file that describes them.

Files may come from strangers: nothing is pickled, and invalid content raises. The shapes are checked by the
reader of each kind of network.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.files import write_bytes_atomically, write_json_atomically
from millebornes_env.errors import MilleBornesError, MissingExtraError, shown

Float32Array = npt.NDArray[np.float32]

_MOST_BYTES: Final = 1 << 20  # of a description
_MOST_WEIGHT_BYTES: Final = 1 << 26


@dataclass(frozen=True)
class NetworkFiles:
    """Folders with networks of one kind: `NAME.json` describes one, `NAME.safetensors` holds its arrays.

    Attributes:
        name: NAME.
        format: version of the files, the entry "format" of a description.
        what: kind of network, for messages.
        advice: how to get such a network, for messages.
        error: class of the errors for missing and invalid files.
        arrays: names of the arrays.
        most: largest absolute value of a weight.
    """

    name: str
    format: int
    what: str
    advice: str
    error: type[MilleBornesError]
    arrays: tuple[str, ...]
    most: float

    @property
    def description_file(self) -> str:
        """Name of the file that describes a network."""
        return f"{self.name}.json"

    @property
    def weights_file(self) -> str:
        """Name of the file with the arrays."""
        return f"{self.name}.safetensors"

    def read_description(self, folder: Path) -> dict[str, Any]:
        """Read the description of a network.

        Raises:
            MilleBornesError: of the class `error`: the file is missing, damaged or has another format.
        """
        path = folder / self.description_file
        try:
            with path.open("rb") as file:
                content = json.loads(file.read(_MOST_BYTES).decode("utf-8"))
            if not isinstance(content, dict):
                raise ValueError("not a JSON object")
        except FileNotFoundError:
            raise self.error(
                f"{shown(str(folder))} holds no {self.what} (no {self.description_file}): {self.advice}"
            ) from None
        except (OSError, ValueError, RecursionError) as error:
            raise self.damaged(path, error) from None
        if content.get("format") != self.format:
            raise self.error(
                f"{shown(str(path))} has the format {shown(content.get('format'))}, this version reads "
                f"{self.format}: {self.advice}"
            )
        return content

    def read_arrays(self, folder: Path) -> list[Float32Array]:
        """Read the arrays of a network as float32; a file that has not changed is read once.

        Raises:
            MilleBornesError: of the class `error`: the file is missing or damaged, or has other arrays.
            MissingExtraError: safetensors is not installed.
        """
        path = folder / self.weights_file
        try:
            return list(_read_arrays(self, path, path.stat().st_mtime_ns))
        except (OSError, ValueError) as error:
            raise self.damaged(path, getattr(error, "strerror", None) or error) from None

    def damaged(self, path: Path, why: object) -> MilleBornesError:
        """Return the error for a file that is missing or damaged."""
        return self.error(f"{shown(str(path))} is missing or damaged ({why}): restore it, or {self.advice}")

    def save(self, folder: Path, network: Any, description: Mapping[str, Any]) -> None:
        """Save a network; the description is written last and makes the folder valid.

        Args:
            folder: folder of the network; created if it is missing.
            network: a named tuple of the arrays, saved as float16.
            description: entries of the description without the format.

        Raises:
            OSError: a file could not be written; old files are unchanged.
        """
        from safetensors.numpy import save  # noqa: PLC0415 - an extra: only the tools that fit networks need it

        halves = {name: array.astype(np.float16) for name, array in network._asdict().items()}
        write_bytes_atomically(folder / self.weights_file, save(halves))
        write_json_atomically(folder / self.description_file, {"format": self.format, **description})


@functools.lru_cache(maxsize=8)
def _read_arrays(files: NetworkFiles, path: Path, stamp: int) -> tuple[Float32Array, ...]:
    """Read and cache the arrays; `stamp`, the time of the last change, is part of the cache key."""
    try:
        from safetensors import SafetensorError  # noqa: PLC0415 - an extra
        from safetensors.numpy import load  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise MissingExtraError.of(f"a {files.what}", error, "arena") from None
    if path.stat().st_size > _MOST_WEIGHT_BYTES:
        raise ValueError("it is too large")
    try:
        arrays = load(path.read_bytes())
        return tuple(_checked(arrays[name], files.most) for name in files.arrays)
    except (SafetensorError, KeyError, TypeError) as error:
        raise ValueError(str(error)) from None


def _checked(array: npt.NDArray[Any], most: float) -> Float32Array:
    if array.dtype not in (np.float16, np.float32):
        raise ValueError(f"weights are {array.dtype}, they must be float16 or float32")
    if not np.isfinite(array).all() or float(np.abs(array).max(initial=0.0)) > most:
        raise ValueError(f"weights are not finite, or above {most:g}")
    return np.ascontiguousarray(array, np.float32)
