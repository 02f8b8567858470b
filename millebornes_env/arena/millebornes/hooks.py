"""Hooks of Mille Bornes in `arena` (`games.registry.HOOKS`)."""

from millebornes_env.arena.luck import aivat as luck
from millebornes_env.arena.millebornes import counters as counts

__all__ = ["counts", "luck"]
