"""Hooks of the cycling race in `agents` (`games.registry.HOOKS`)."""

from millebornes_env.agents.wielerspel import features
from millebornes_env.agents.wielerspel import observation_reader as decoder

__all__ = ["decoder", "features"]
