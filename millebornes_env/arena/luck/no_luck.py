"""The `statistics.GameLuck` for games without AIVAT, which does nothing."""

from __future__ import annotations

from typing import Any

from millebornes_env.engine.numba.compiling import seldom


@seldom
def count_draws(batch: Any, rules: Any, game: int, action: int) -> None:
    """Do nothing."""
