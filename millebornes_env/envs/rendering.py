"""Rendering of a table as text, SVG or pixels, and in notebooks."""

from __future__ import annotations

import importlib.util
from typing import Any, Final

from millebornes_env._util.arguments import checked_index, one_of
from millebornes_env._util.guard import Guard, alone
from millebornes_env.engine.batch import Batch
from millebornes_env.errors import MissingExtraError
from millebornes_env.games.registry import Game

ANSI: Final = "ansi"
HUMAN: Final = "human"
SVG: Final = "svg"
RGB_ARRAY: Final = "rgb_array"

ALL_MODES: Final = [ANSI, HUMAN, SVG, RGB_ARRAY]

_RASTERISER: Final = "resvg_py"
_HOOKS: Final = {
    ANSI: "render.draw",
    HUMAN: "render.draw",
    SVG: "render.picture",
    RGB_ARRAY: "render.picture",
}


def modes_here() -> list[str]:
    """Return the render modes that this installation supports; pixels need a rasteriser."""
    has_pixels = importlib.util.find_spec(_RASTERISER) is not None
    return [mode for mode in ALL_MODES if mode != RGB_ARRAY or has_pixels]


def modes_of(entry: Game) -> list[str]:
    """Return the render modes that the game supports."""
    return [mode for mode in modes_here() if entry.has(_HOOKS[mode])]


def checked_mode(value: object, entry: Game, modes: list[str]) -> str:
    """Return a render mode if the game supports it.

    Args:
        value: value from the user.
        entry: registry entry of the game.
        modes: render modes of the environment.

    Raises:
        OptionError: no such mode, or the game does not support it.
        MissingExtraError: pixels, and no rasteriser is installed.
    """
    is_pixels = isinstance(value, str) and value == RGB_ARRAY
    if is_pixels and SVG in modes and RGB_ARRAY not in modes:
        missing = ModuleNotFoundError(_RASTERISER, name=_RASTERISER)
        raise MissingExtraError.of('render_mode="rgb_array"', missing, "pictures")
    mode = one_of("render_mode", value, modes)
    entry.hook(_HOOKS[mode], "render")
    return mode


def rendered(entry: Game, state: Any, rules: Any, mode: str) -> Any:
    """Render the table of one game as text, as SVG text in the light theme, or as uint8[H, W, 3]."""
    if mode in (ANSI, HUMAN):
        return str(entry.hook("render.draw", "render")(state, rules))
    picture = str(entry.hook("render.picture", "render")(state, rules, theme="light"))
    if mode == SVG:
        return picture
    from millebornes_env.envs.pixels import rgb_array  # noqa: PLC0415 - only pixels need it

    return rgb_array(picture)


class RenderMixin:
    """Mixin of vector environments with the methods that render games."""

    games: Batch
    num_envs: int
    _guard: Guard
    _was_reset: bool
    closed: bool

    @property
    def game(self) -> Game:
        """Registry entry of the game."""
        raise NotImplementedError

    def rules_of(self, game: int = 0) -> Any:
        """Return the rules of a game (`VectorEnv.rules_of`)."""
        raise NotImplementedError

    def _check_ready(self, method: str) -> None:
        raise NotImplementedError

    @alone
    def render(self, game: int = 0, mode: str = ANSI) -> Any:
        """Render the table of one game with all hands shown.

        Args:
            game: index of the game.
            mode: "ansi" for text; "svg" for SVG text; "rgb_array" for pixels uint8[H, W, 3] (needs the extra
                `pictures`).

        Raises:
            OptionError: no such game or mode, or the game does not support the mode.
            MissingExtraError: pixels, and no rasteriser is installed.
            CallError: before the first `reset`.
        """
        self._check_ready("render")
        game = checked_index("game", game, self.num_envs)
        modes = [one for one in modes_here() if one != HUMAN]
        mode = checked_mode(mode, self.game, modes)
        return rendered(self.game, self.games.states[game], self.rules_of(game), mode)

    def _repr_html_(self) -> str | None:
        """Return the first game's table as SVG for notebooks; None if the table cannot be rendered."""
        picture = self.game.find_hook("render.picture")
        if self.closed or not self._was_reset or picture is None:
            return None
        return str(picture(self.games.states[0], self.rules_of()))


__all__ = [
    "ALL_MODES",
    "ANSI",
    "HUMAN",
    "RGB_ARRAY",
    "SVG",
    "RenderMixin",
    "checked_mode",
    "modes_here",
    "modes_of",
    "rendered",
]
