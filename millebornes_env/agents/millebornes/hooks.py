"""Hooks of Mille Bornes in `agents` (`games.registry.HOOKS`)."""

from millebornes_env.agents.champion import champion_of_millebornes as champion
from millebornes_env.agents.millebornes import features
from millebornes_env.agents.millebornes import observation_reader as decoder

__all__ = ["champion", "decoder", "features"]
