"""Hooks of the cycling race in `render` (`games.registry.HOOKS`)."""

from millebornes_env.render.wielerspel import editions as pages
from millebornes_env.render.wielerspel.events import describe_event
from millebornes_env.render.wielerspel.text import describe, draw_end, view
from millebornes_env.render.wielerspel.text import draw_race as draw

__all__ = ["describe", "describe_event", "draw", "draw_end", "pages", "view"]
