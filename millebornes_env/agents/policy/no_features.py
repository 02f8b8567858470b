"""The features of a game that has none: no number stands behind its observations."""

from __future__ import annotations

from typing import Any

from millebornes_env.engine.numba.compiling import rule


@rule
def num_features(rules: Any, spec: Any) -> int:
    """How many numbers they are: none."""
    return 0


@rule
def write_features(rules: Any, spec: Any, row: Any, size: int) -> None:
    """Write nothing."""
