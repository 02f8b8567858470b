"""Hooks of the cycling race in `arena` (`games.registry.HOOKS`)."""

from millebornes_env.arena.wielerspel import counters as counts

__all__ = ["counts"]
