"""The luck of a game in which none is counted (`games.Game.luck`)."""

from __future__ import annotations

from typing import Any, Final

from millebornes_env.compile import seldom

NUM_VARIATES: Final = 0
SAMPLE_AGENTS: Final[tuple[str, ...]] = ()


@seldom
def count_deal(state: Any, rules: Any, role_of: Any, variates: Any, network: Any) -> None:
    """Count nothing."""


@seldom
def count_draws(
    before: Any, after: Any, rules: Any, action: int, role_of: Any, variates: Any, network: Any
) -> None:
    """Count nothing."""
