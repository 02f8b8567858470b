"""Small networks on disk: named arrays in a safetensors file, and a JSON file that describes them.

Arrays hold floats. An array `NAME.weight` may also hold 8-bit integers (int8), with an array `NAME.scale`
(floats) of a scale for each column [1, inputs] or each row [outputs, 1]; the weights are then the integers
times their scales, in float32. A perceptron has the arrays `layers.0.weight` [outputs, inputs],
`layers.0.bias` [outputs], `layers.1.weight` ...

Files may be untrusted: nothing is unpickled, and invalid content raises an error.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.files import write_bytes_atomically, write_json_atomically
from millebornes_env.errors import MilleBornesError, MissingExtraError, shown

Float32Array = npt.NDArray[np.float32]
Arrays = Mapping[str, npt.NDArray[Any]]
Layers = Sequence[tuple[npt.NDArray[Any], npt.NDArray[Any]]]
"""Weight [outputs, inputs] and bias [outputs] of each layer of a perceptron."""

MANTISSA_BITS: Final = 10
"""Mantissa bits of a float16."""

_MOST_BYTES: Final = 1 << 20  # of a description
_MOST_WEIGHT_BYTES: Final = 1 << 26
_FLOATS: Final = (np.float16, np.float32, np.float64)


@dataclass(frozen=True)
class NetworkFiles:
    """Folders with networks of one kind: `NAME.json` describes one, `NAME.safetensors` holds its arrays.

    Attributes:
        name: NAME.
        formats: versions of the files, the entry "format" of a description; the first one is written.
        what: kind of network, for messages.
        advice: command that makes such a network, for messages.
        error: class of the errors for missing and invalid files.
        most: largest absolute value of a weight.
    """

    name: str
    formats: tuple[int, ...]
    what: str
    advice: str
    error: type[MilleBornesError]
    most: float = math.inf

    @property
    def description_file(self) -> str:
        """Name of the file that describes a network."""
        return f"{self.name}.json"

    @property
    def weights_file(self) -> str:
        """Name of the file with the arrays."""
        return f"{self.name}.safetensors"

    def read_description(self, folder: Path) -> dict[str, Any]:
        """Read the description of a network; raise `error` if it is missing, damaged or of another format."""
        path = folder / self.description_file
        try:
            content = json.loads(_read_file(path, _MOST_BYTES).decode("utf-8"))
            if not isinstance(content, dict):
                raise ValueError("not a JSON object")
        except FileNotFoundError:
            raise self.error(
                f"{shown(str(folder))} holds no {self.what} (no {self.description_file}): {self.advice}"
            ) from None
        except RecursionError:
            raise self.damaged(path, "nested too deep") from None
        except (OSError, ValueError) as error:
            raise self.damaged(path, error) from None
        result = content.get("format")
        if type(result) is not int or result not in self.formats:  # 2.0 and true are no versions
            raise self.error(
                f"{str(path)!r} has format {shown(result)}, this version reads "
                f"{' and '.join(map(str, self.formats))}: {self.advice}"
            )
        return content

    def read_arrays(self, folder: Path, names: Iterable[str]) -> list[Float32Array]:
        """Read arrays of a network as float32.

        Raises:
            MilleBornesError: of the class `error`: the file is missing or damaged, or lacks an array.
            MissingExtraError: safetensors is not installed.
        """
        try:
            from safetensors import SafetensorError  # noqa: PLC0415 - an extra: only networks need it
            from safetensors.numpy import load  # noqa: PLC0415
        except ModuleNotFoundError as error:
            raise MissingExtraError.of(f"a {self.what}", error, "arena") from None
        path = folder / self.weights_file
        try:
            arrays = load(_read_file(path, _MOST_WEIGHT_BYTES))
            return [self._weights(arrays, name) for name in names]
        except KeyError as error:
            raise self.damaged(path, f"no array {error}") from None
        except (OSError, ValueError, TypeError, SafetensorError) as error:
            raise self.damaged(path, error) from None

    def _weights(self, arrays: Arrays, name: str) -> Float32Array:
        """Return the weights of an array; raise KeyError or ValueError if something is missing or invalid."""
        array = arrays[name]
        if array.dtype == np.int8 and name.endswith(".weight"):
            scale = self._weights(arrays, f"{name.removesuffix('weight')}scale")
            if array.ndim != 2 or scale.shape not in ((len(array), 1), (1, array.shape[1])):
                raise ValueError(
                    f"the scale of {name} is of shape {scale.shape}, the weights of {array.shape}: there is "
                    "one scale for each row, or one for each column"
                )
            weights = dequantize(array, scale)
        elif array.dtype in _FLOATS:
            with np.errstate(over="ignore"):
                weights = np.ascontiguousarray(array, np.float32)
        else:
            raise ValueError(f"{name} is of type {array.dtype}; it may be float16, float32 or float64")
        if not np.abs(weights).max(initial=0.0) <= self.most:
            raise ValueError(f"{name}: weights are not finite, or above {self.most:g}")
        return weights

    def read_layers(self, folder: Path, num_layers: int) -> list[tuple[Float32Array, Float32Array]]:
        """Read weight and bias of each layer of a perceptron, as `read_arrays` does."""
        names = [f"layers.{layer}.{part}" for layer in range(num_layers) for part in ("weight", "bias")]
        arrays = self.read_arrays(folder, names)
        return list(zip(arrays[::2], arrays[1::2], strict=True))

    def check_layers(
        self, layers: Layers, folder: Path, inputs: int, most_units: int, *, highest: float, is_bounded: bool
    ) -> None:
        """Check that kernels can evaluate a perceptron, and that its outputs are finite.

        Args:
            layers: of the network.
            folder: of its files, for messages.
            inputs: number of inputs.
            most_units: of a layer.
            highest: largest absolute value of an input.
            is_bounded: the activation is between -1 and 1.

        Raises:
            MilleBornesError: of the class `error`: the shapes do not fit together, a layer is too wide, or
                weights are not finite or so large that outputs might not be.
        """
        path, width, bound = folder / self.weights_file, inputs, highest
        for weight, bias in layers:
            if weight.ndim != 2 or weight.shape[1] != width or bias.shape != weight.shape[:1]:
                raise self.damaged(path, f"a layer of shape {weight.shape} follows one of width {width}")
            width = len(bias)
            if not 1 <= width <= most_units:
                raise self.error(
                    f"{str(path)!r} has a layer of {width} units: there may be 1 to {most_units}"
                )
            sums = np.abs(weight).astype(np.float64).sum(axis=1) * bound + np.abs(bias).astype(np.float64)
            if not sums.max() <= float(np.finfo(np.float32).max):
                largest = max(np.abs(weight).max(), np.abs(bias).max())
                raise self.error(
                    f"{str(path)!r} holds weights of up to {largest:.3g}: they are not finite in float32, or "
                    "so large that the network's outputs may become infinite, as its training went wrong; "
                    f"{self.advice}"
                )
            bound = 1.0 if is_bounded else float(sums.max())

    def damaged(self, path: Path, why: object) -> MilleBornesError:
        """Return the error for a file that is missing or damaged."""
        return self.error(f"{str(path)!r} is missing or damaged ({why}): restore it, or {self.advice}")

    def save(self, folder: Path, arrays: Arrays, description: Mapping[str, Any]) -> None:
        """Save a network; the description is written last and makes the folder valid.

        Args:
            folder: folder of the network; created if it is missing.
            arrays: the arrays by name.
            description: entries of the description; without "format", the first one of `formats` is added.

        Raises:
            MissingExtraError: safetensors is not installed.
            OSError: a file could not be written; old files are unchanged.
        """
        try:
            from safetensors.numpy import save  # noqa: PLC0415 - an extra: only networks need it
        except ModuleNotFoundError as error:
            raise MissingExtraError.of(f"writing a {self.what}", error, "arena") from error
        write_bytes_atomically(folder / self.weights_file, save(dict(arrays)))
        write_json_atomically(folder / self.description_file, {"format": self.formats[0], **description})


def dequantize(numbers: npt.NDArray[np.int8], scale: Float32Array) -> Float32Array:
    """Return the weights of 8-bit integers with their scales, float32[outputs, inputs]."""
    with np.errstate(over="ignore", invalid="ignore"):  # damaged files: bounds are checked
        return numbers.astype(np.float32) * scale


def arrays_of(layers: Layers) -> dict[str, npt.NDArray[Any]]:
    """Return the named arrays of a perceptron."""
    parts = ("weight", "bias")
    return {
        f"layers.{number}.{part}": np.ascontiguousarray(array)
        for number, layer in enumerate(layers)
        for part, array in zip(parts, layer, strict=True)
    }


def in_half_precision(arrays: Arrays, bits: int = MANTISSA_BITS) -> dict[str, npt.NDArray[np.float16]]:
    """Return arrays as float16, rounded to this many of its 10 mantissa bits: fewer compress better."""
    step = 1 << (MANTISSA_BITS - bits)

    def nearest(weights: npt.NDArray[Any]) -> npt.NDArray[np.float16]:
        words = weights.astype(np.float16).view(np.uint16).astype(np.int64)
        return ((words + step // 2) // step * step).astype(np.uint16).view(np.float16)

    return {name: nearest(array) for name, array in arrays.items()}


def _read_file(path: Path, most_bytes: int) -> bytes:
    """Read a regular file of at most `most_bytes`, else raise ValueError: a pipe might never end."""
    if path.exists() and not path.is_file():
        raise ValueError("not a file")
    with path.open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError(f"larger than {most_bytes >> 20} MiB")
    return content
