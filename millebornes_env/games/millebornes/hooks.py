"""Hooks of Mille Bornes in `games` (`games.registry.HOOKS`)."""

from millebornes_env.games.millebornes import chance_nodes, history
from millebornes_env.games.millebornes.audit import first_violation as audit

__all__ = ["audit", "chance_nodes", "history"]
