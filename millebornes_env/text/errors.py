"""What a caller of `millebornes_env.text` can get wrong."""

from __future__ import annotations

from millebornes_env.errors import MilleBornesError


class ViewError(MilleBornesError):
    """What was given as a view, a game, a seat or a history is none; the message says what it must be."""
