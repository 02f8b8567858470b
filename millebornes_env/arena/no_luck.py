"""The luck of a game in which none is counted (`games.Game.luck`)."""

from __future__ import annotations

from typing import Any, Final

from millebornes_env.compile import seldom

NUM_VARIATES: Final = 0
SAMPLE_AGENTS: Final[tuple[str, ...]] = ()


@seldom
def count_deal(batch: Any, rules: Any, game: int) -> None:
    """Count nothing."""


@seldom
def count_draws(batch: Any, rules: Any, game: int, action: int) -> None:
    """Count nothing."""
