"""Human-readable descriptions: observations, legal actions, and the layout of an observation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import checked_index
from millebornes_env._util.guard import Guard, alone
from millebornes_env.engine.batch import Batch
from millebornes_env.engine.layout import Section, columns_of
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.errors import OptionError, shown
from millebornes_env.games.registry import Game


class DescribeMixin:
    """Mixin of `VectorEnv` with human-readable descriptions."""

    num_envs: int
    players: int
    rules: Any
    games: Batch
    observation_sections: tuple[Section, ...]
    _guard: Guard

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
