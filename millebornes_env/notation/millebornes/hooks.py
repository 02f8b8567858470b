"""Hooks of Mille Bornes in `notation` (`games.registry.HOOKS`)."""

from millebornes_env.notation.millebornes import positions
from millebornes_env.notation.millebornes.actions import action_words

__all__ = ["action_words", "positions"]
