"""What can go wrong with opponents while they play."""

from __future__ import annotations

from millebornes_env.errors import MilleBornesError


class OpponentError(MilleBornesError):
    """An opponent raised, or chose what is not legal; the message names it, the game and the seat."""
