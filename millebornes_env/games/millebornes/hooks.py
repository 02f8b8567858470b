"""Hooks of Mille Bornes in `games` (`games.registry.HOOKS`)."""

from millebornes_env.games.millebornes import chance_nodes, history
from millebornes_env.games.millebornes.audit import first_violation as audit
from millebornes_env.games.millebornes.replay import play_until_refused

__all__ = ["audit", "chance_nodes", "history", "play_until_refused"]
