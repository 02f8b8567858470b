"""Hooks of the cycling race in `arena` (`games.registry.HOOKS`)."""

from millebornes_env.arena import wielerspel_counters as counts

__all__ = ["counts"]
