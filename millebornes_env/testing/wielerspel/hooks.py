"""Hooks of the cycling race in `testing` (`games.registry.HOOKS`)."""

from millebornes_env.games.wielerspel.audit import check_laws as laws

__all__ = ["laws"]
