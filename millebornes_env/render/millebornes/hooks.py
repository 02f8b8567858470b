"""Hooks of Mille Bornes in `render` (`games.registry.HOOKS`)."""

from millebornes_env.render.millebornes import editions as pages
from millebornes_env.render.millebornes.seat import describe_seat as describe
from millebornes_env.render.millebornes.svg import draw_picture as picture
from millebornes_env.render.millebornes.text import draw_end
from millebornes_env.render.millebornes.text import draw_game as draw

__all__ = ["describe", "draw", "draw_end", "pages", "picture"]
