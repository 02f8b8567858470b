"""Mille Bornes for TextArena (as of version 0.7.4): players write moves as `[100 km]` or as JSON.

    import textarena
    from millebornes_env.play.language.textarena import register

    register()
    env = textarena.make("MilleBornes-v0")
    env.reset(num_players=2, seed=1)
    player, question = env.get_observation()

A player receives the rules once, every play that it can see, and the table before each of its decisions. Its
answers are not shown to others, because they may mention its hand. Python's global random numbers are not
used.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import numpy as np

from millebornes_env.envs.vector import VectorEnv, vector_env
from millebornes_env.errors import MissingExtraError
from millebornes_env.games.registry import game as find_game
from millebornes_env.play.language.answers import Answer, parse, text_of
from millebornes_env.play.language.prompts import HOW_TO_ANSWER, rules, table
from millebornes_env.play.language.reasoning import after_reasoning
from millebornes_env.play.language.views import View, see, situation, words_of

try:
    import textarena as ta
except ModuleNotFoundError as _missing:
    raise MissingExtraError.of("millebornes_env.play.language.textarena", _missing, "textarena") from None

ID: Final = "MilleBornes-v0"

_TWO: Final = 2
_TOKEN: Final = re.compile(r"\[([^\[\]]*)\]")


class MilleBornesEnv(ta.Env):  # type: ignore[misc] # TextArena has no type hints
    """A round or match, played in words.

    Attributes:
        state: TextArena's state: the current player and the messages.
        env: the game.
    """

    def __init__(
        self,
        edition: str = "parker",
        teams: int | None = None,
        episode: str = "round",
        error_allowance: int = 1,
    ) -> None:
        """Set the options of the game.

        Args:
            edition: name of the rule sheet, with overrides.
            teams: number of teams; None: the sheet's default.
            episode: "round" or "match".
            error_allowance: number of illegal answers in a row that are allowed; one more loses the game.
        """
        self._options = {"edition": edition, "teams": teams, "episode": episode, "reward": "win"}
        self._error_allowance = error_allowance

    def reset(self, num_players: int, seed: int | None = None) -> None:
        """Deal a new game.

        Args:
            num_players: number of seats.
            seed: seed of the deal; None for a random one.

        Raises:
            MilleBornesError: the edition has no such table.
        """
        options: dict[str, Any] = self._options
        self.env: VectorEnv = vector_env(1, players=num_players, autoreset_mode="disabled", **options)
        self.env.reset(seed=seed)
        kind = ta.TwoPlayerState if num_players == _TWO else ta.FFAMultiPlayerState
        self.state = kind(num_players=num_players, error_allowance=self._error_allowance)
        self.state.reset(game_state={}, player_prompt_function=self._prompt)
        self._ask()

    def _view(self, player: int | None = None) -> View:
        return see(situation(self.env), seat=player, episode=self.env.episode)

    def _prompt(self, player_id: int, game_state: dict[str, Any]) -> str:
        return f"{rules(self._view(player_id))}\n\n{HOW_TO_ANSWER}\nYou may write [move] instead."

    def _ask(self) -> None:
        """Show the table to the player to act."""
        player = int(self.env.agent_selection[0])
        self.state.manually_set_current_player_id(player)
        self._send(table(self._view(player)), player, ta.ObservationType.GAME_BOARD)

    def _send(self, message: str, player: int, kind: Any) -> None:
        self.state.add_observation(message=message, to_id=player, observation_type=kind)

    def step(self, action: str) -> tuple[bool, dict[str, Any]]:
        """Play the move that the current player has written.

        Args:
            action: the answer; after an illegal move, the player receives the reason.

        Returns:
            True if the game is over, and TextArena's info about the step.
        """
        player = int(self.state.current_player_id)
        self.state.add_observation(
            message=text_of(action),
            from_id=player,
            to_id=player,
            observation_type=ta.ObservationType.PLAYER_ACTION,
        )
        answer = read_answer(action, self._view(player))
        if answer.action is None:
            if self.state.set_invalid_move(reason=answer.reason):  # of two players, the other one has won
                self._lose(player, answer.reason)
            done: tuple[bool, dict[str, Any]] = self.state.step(rotate_player=False)
            return done
        self._announce(player, answer.action)
        _, rewards, ended, _, _ = self.env.step(np.array([answer.action]))
        if ended[0]:
            self._end(rewards[0])
        done = self.state.step(rotate_player=False)
        if not ended[0]:
            self._ask()
        return done

    def _announce(self, player: int, action: int) -> None:
        """Send the play to each seat that can see it."""
        words = words_of(find_game(self.env.edition.game))
        for other in range(self.env.players):
            offset = (player - other) % self.env.players
            line = words.line_of_play(self.env.rules, offset, action)
            if line is not None:
                self._send(line, other, ta.ObservationType.GAME_ACTION_DESCRIPTION)

    def _end(self, rewards: Any) -> None:
        """Pass the result to TextArena."""
        scores = self.env.games.buffers.final_score[0]
        reason = "The game is over. Points by team: " + ", ".join(map(str, scores.tolist())) + "."
        winners = np.flatnonzero(rewards > 0).tolist()
        if self.env.players > _TWO:
            self.state.set_game_outcome({seat: float(paid) for seat, paid in enumerate(rewards)}, reason)
        elif len(winners) == 1:
            self.state.set_winner(player_id=winners[0], reason=reason)
        else:
            self.state.set_draw(reason=reason)

    def _lose(self, player: int, reason: str) -> None:
        """End a game of three or more players: the team of the player without a legal move loses."""
        teams = self.env.teams
        rewards = {
            seat: -1.0 if seat % teams == player % teams else 1.0 / (teams - 1)
            for seat in range(self.env.players)
        }
        self.state.set_game_outcome(rewards, reason)

    def get_board_str(self) -> str:
        """Return the table with all cards, for spectators."""
        return str(self.env.render())


def read_answer(action: object, view: View) -> Answer:
    """Parse a player's text: a JSON object as `parse` reads it, else the last [move] in brackets."""
    text = text_of(action)
    said, _ = after_reasoning(text)
    tokens = _TOKEN.findall(said)
    if tokens and "{" not in said:
        return parse(json.dumps({"move": tokens[-1]}), view)
    return parse(text, view)


def register() -> None:
    """Register the game for `textarena.make` as `MilleBornes-v0` (and `-raw`, without wrappers)."""
    from textarena.envs.registration import ENV_REGISTRY, register_with_versions  # noqa: PLC0415 - like TextArena

    if ID not in ENV_REGISTRY:
        wrappers = {"default": [ta.wrappers.LLMObservationWrapper]}
        register_with_versions(id=ID, entry_point=MilleBornesEnv, wrappers=wrappers)
