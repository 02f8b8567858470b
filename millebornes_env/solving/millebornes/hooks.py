"""Hooks of Mille Bornes in `solving` (`games.registry.HOOKS`)."""

from millebornes_env.solving.deck import solvable

__all__ = ["solvable"]
