"""Hooks of Mille Bornes in `notation` (`games.registry.HOOKS`)."""

from millebornes_env.notation.millebornes import positions
from millebornes_env.notation.millebornes import replays as records

__all__ = ["positions", "records"]
