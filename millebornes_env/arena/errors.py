"""What can be wrong with a tournament that was asked for."""

from __future__ import annotations


class ArenaError(ValueError):
    """The arguments make no tournament, or a folder holds another one; the message says what to do."""
