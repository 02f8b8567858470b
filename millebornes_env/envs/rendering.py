"""Tables as text, SVG or pixels, and in notebooks; observations, legal actions and columns in words."""

from __future__ import annotations

import importlib.util
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import checked_index, one_of
from millebornes_env._util.guard import Guard, alone
from millebornes_env.engine.batch import Batch
from millebornes_env.engine.layout import Section, columns_of
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.errors import MissingExtraError, OptionError, shown
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
    """Return a render mode that is one of `modes`, if the game supports it.

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


class ViewMixin:
    """Mixin of `VectorEnv` with what people look at: pictures of tables, descriptions, names."""

    num_envs: int
    players: int
    rules: Any
    games: Batch
    observation_sections: tuple[Section, ...]
    closed: bool
    _guard: Guard
    _was_reset: bool

    @property
    def game(self) -> Game:
        """Registry entry of the game."""
        raise NotImplementedError

    def rules_of(self, game: int = 0) -> Any:
        """Return the rules of a game (`VectorEnv.rules_of`)."""
        raise NotImplementedError

    def observe(self, seats: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Return the observations of the given seats (`VectorEnv.observe`)."""
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

    @alone
    def describe(self, seat: int, game: int = 0) -> str:
        """Describe the observation of a seat of one game in words; hidden cards are not shown.

        Raises:
            OptionError: no such seat or game, or the game does not support descriptions.
            CallError: before the first `reset`.
        """
        self._check_ready("describe")
        seat = checked_index("seat", seat, self.players)
        row = self.observe(seat)[checked_index("game", game, self.num_envs)]
        describe = self.game.hook("render.describe", "describe")
        return str(describe(row, self.observation_sections, self.rules_of(game)))

    @alone
    def legal_actions(self, game: int = 0) -> dict[int, str]:
        """Return the ids and names of a game's legal actions; empty once the game has ended.

        Raises:
            OptionError: no such game.
            CallError: before the first `reset`.
        """
        self._check_ready("legal_actions")
        game = checked_index("game", game, self.num_envs)
        if plain(self.games.rulebook.is_round_over)(self.games.states[game]):
            return {}
        seat = int(self.games.buffers.agent_selection[game])
        name = self.games.rulebook.action_name
        legal = np.flatnonzero(self.games.buffers.action_mask[game]).tolist()
        return {action: name(action, self.rules, seat) for action in legal}

    def section(self, name: str) -> slice:
        """Return the columns of a section: `observation[:, env.section("hand")]`.

        Raises:
            OptionError: no section has that name; the message lists the sections.
        """
        wanted: object = name  # an array would be compared element by element
        for section in self.observation_sections:
            if isinstance(wanted, str) and section.name == wanted:
                return slice(section.start, section.stop)
        known = ", ".join(section.name for section in self.observation_sections)
        raise OptionError(f"an observation has no section {shown(name)}; its sections are {known}")

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns of an observation: "draw_pile", "hand[0]", "hand[1]" ..."""
        return columns_of(self.observation_sections)
