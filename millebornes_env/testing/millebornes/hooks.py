"""Hooks of Mille Bornes in `testing` (`games.registry.HOOKS`)."""

from millebornes_env.testing.states import check_state as laws

__all__ = ["laws"]
