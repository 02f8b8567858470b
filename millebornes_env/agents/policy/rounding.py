"""Quantization of weights to 8-bit integers: a quarter of the size of float32; inference stays in float32.

Each weight is rounded to a multiple of a scale, which is shared by the weights of one input (hidden layers)
or of one output (last layer), so that each row that kernels read (`network.weights_block`) has one scale.
Inputs are unscaled whole numbers, some up to 1 and some up to 100; a scale for each input rounds all of them
about equally well.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env._util.network_files import Layers

MOST_LEVELS: Final = 127
"""Integers are in -127..127."""


class RoundedLayer(NamedTuple):
    """A layer with rounded weights, `numbers * scale`.

    Attributes:
        numbers: int8[outputs, inputs].
        scale: float32[1, inputs]; for the last layer float32[outputs, 1].
        bias: float32[outputs], not rounded.
    """

    numbers: npt.NDArray[np.int8]
    scale: npt.NDArray[np.float32]
    bias: npt.NDArray[np.float32]


def rounded(layers: Layers, levels: int = MOST_LEVELS) -> list[RoundedLayer]:
    """Round the weights of a network, but not its biases, which are few.

    Smaller `levels`, the largest integer, compress better but change the play more.

    Raises:
        ValueError: `levels` is not from 1 to MOST_LEVELS.
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
