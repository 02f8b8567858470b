"""The `Features` of a game without features: nothing is appended to its observations."""

from __future__ import annotations

from typing import Any

from millebornes_env.engine.numba.compiling import rule


@rule
def num_features(rules: Any, spec: Any) -> int:
    """Return 0."""
    return 0


@rule
def write_features(rules: Any, spec: Any, row: Any, size: int) -> None:
    """Write nothing."""
