"""Hooks of Mille Bornes in `arena` (`games.registry.HOOKS`)."""

from millebornes_env.arena import millebornes_counters as counts
from millebornes_env.arena.luck import aivat as luck

__all__ = ["counts", "luck"]
