"""Hooks of the cycling race in `notation` (`games.registry.HOOKS`)."""

from millebornes_env.notation.wielerspel import positions
from millebornes_env.notation.wielerspel.chance import describe_chance

__all__ = ["describe_chance", "positions"]
