"""Hooks of the cycling race in `games` (`games.registry.HOOKS`)."""

from millebornes_env.games.wielerspel.audit import first_violation as audit

__all__ = ["audit"]
