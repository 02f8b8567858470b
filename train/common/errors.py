"""Exceptions of the training scripts."""

from __future__ import annotations

from torch import Tensor


class RunError(ValueError):
    """A run folder cannot be used as asked; the message says why and what to do."""


class LossError(ArithmeticError):
    """A loss became NaN or infinite; the message says when, and of which batch.

    Attributes:
        batch: its rows, as tensors by name; None if they are not known.
    """

    def __init__(self, message: str, batch: dict[str, Tensor] | None = None) -> None:
        super().__init__(message)
        self.batch = batch
