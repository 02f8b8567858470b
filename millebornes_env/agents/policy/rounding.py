"""Weights as 8-bit integers: a quarter of the bytes of float32, and played in float32 all the same.

A weight becomes the nearest multiple of a scale, which many of them share: of a hidden layer those of one
input, of the last layer those of one output. So each row that kernels read (`network.weights_block`) has one
scale. Inputs are whole numbers as they are, some up to 1 and some up to 100: a scale for each input rounds
all of them about equally well.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env._util.network_files import Layers

MOST_LEVELS: Final = 127
"""Integers lie in -127..127."""


class RoundedLayer(NamedTuple):
    """A layer of a network whose weights are rounded.

    Attributes:
        numbers: int8[outputs, inputs].
        scale: float32[1, inputs], of the last layer float32[outputs, 1].
        bias: float32[outputs], as it was.
    """

    numbers: npt.NDArray[np.int8]
    scale: npt.NDArray[np.float32]
    bias: npt.NDArray[np.float32]


def rounded(layers: Layers, levels: int = MOST_LEVELS) -> list[RoundedLayer]:
    """Round the weights of a network; biases, which are few, stay as they are.

    Args:
        layers: weight [outputs, inputs] and bias [outputs] of each.
        levels: the largest integer, 1 to MOST_LEVELS; a smaller one compresses better and plays less alike.

    Raises:
        ValueError: there are no such levels.
    """
    if not 1 <= levels <= MOST_LEVELS:
        raise ValueError(f"levels is {levels}; it may be 1 to {MOST_LEVELS}, the largest integer of a weight")
    result = []
    for number, (weight, bias) in enumerate(layers):
        across = 1 if number == len(layers) - 1 else 0
        largest = np.abs(weight).max(axis=across, keepdims=True, initial=0.0)
        scale = (largest / levels).astype(np.float32)
        divisor = np.where(scale > 0.0, scale, 1.0)
        numbers = np.clip(np.rint(weight / divisor), -levels, levels).astype(np.int8)
        result.append(RoundedLayer(numbers, scale, bias.astype(np.float32)))
    return result
