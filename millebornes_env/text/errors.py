"""The exception of `millebornes_env.text`."""

from __future__ import annotations

from millebornes_env.errors import MilleBornesError


class ViewError(MilleBornesError):
    """A view, game, seat or history is invalid; the message says what it must be."""
