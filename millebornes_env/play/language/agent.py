"""A language model as an agent: wraps a function from prompt to answer for the arena."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.protocol import Actions, BaseAgent, Masks, Observations, SlotIds, Table
from millebornes_env.engine.kernels import SKIP
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.errors import AgentError, shown
from millebornes_env.games.registry import game as find_game
from millebornes_env.play.language.answers import Answer, parse, text_of
from millebornes_env.play.language.prompts import prompt
from millebornes_env.play.language.views import Situation, View, see, words_of

_MOST_TRIES: Final = 100


class _Sheet(NamedTuple):
    """Parts of a rule sheet that a `Situation` needs."""

    game: str
    label: str


class LanguageModelAgent(BaseAgent):
    """Asks a language model for each move, and asks again with the reason if an answer is not a legal move.

    The model only sees the view of its seat (`play.language.see`). The arena gives agents the games without
    the plays so far, so the prompt has no history.

    Attributes:
        name: name in tables of results.
        table: the table to play at.
        calls: number of calls of the model so far.
        random_moves: number of decisions so far without a legal answer, for which a random move was played.
    """

    name = "language model"

    def __init__(
        self,
        table: Table,
        seed: int = 0,
        *,
        call: Callable[[str], str | None],
        tries: int = 3,
        episode: str = "",
        list_moves: bool = True,
    ) -> None:
        """Create the agent.

        Args:
            table: the table to play at, such as `MatchConfig(...).table()` or `Table.of(env)`.
            seed: seed of the random moves that are played if no answer can be read.
            call: function from prompt to answer; None, or anything else but text, counts as unreadable. Its
                exceptions end the match with an error that names the decision.
            tries: maximum number of calls for one decision.
            episode: "round" or "match", which the prompt explains; "": the game's first.
            list_moves: list the legal moves in the prompt.

        Raises:
            AgentError: `call` is not callable, or `tries` is out of range.
            OptionError: the game has no words.
        """
        if not callable(call):
            raise AgentError(f"call is {shown(call)}; it must be a function from prompt to answer")
        given: object = tries
        if not isinstance(given, int) or not 1 <= given <= _MOST_TRIES:
            raise AgentError(f"tries is {shown(given)}; it must be 1 to {_MOST_TRIES}")
        words_of(find_game(table.game))
        self.table = table
        self.calls = self.random_moves = 0
        self._call, self._tries, self._episode, self._list_moves = call, tries, episode, list_moves
        self._rng = np.random.default_rng(seed)

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        """Raise an error: an observation lacks information of the prompt, such as the round.

        Raises:
            AgentError: always; the arena and `agents.ask_in` call `act_on`.
        """
        raise AgentError(
            f"{self.name} needs game states, not observations: let it play in the arena (arena.match.play), "
            "or use play.language.see, prompt and parse"
        )

    def act_on(self, states: StateArray, seats: npt.NDArray[np.int32], slot_ids: SlotIds) -> Actions:
        """Choose an action for one seat of each game; see `StateAgent.act_on`."""
        actions: Actions = np.full(len(states), SKIP, np.int64)
        for game, seat in enumerate(seats.tolist()):
            sheet: Any = _Sheet(self.table.game, self.table.edition)
            situation = Situation(sheet, self.table.rules, states[game : game + 1])
            view = see(situation, seat=seat, episode=self._episode)
            if view["moves"]:
                actions[game] = self._ask(view)
        return actions

    def _ask(self, view: View) -> int:
        """Ask until an answer names a legal move, at most `tries` times; else choose one at random."""
        answer: Answer | None = None
        for _ in range(self._tries):
            self.calls += 1
            answer = parse(
                text_of(self._call(prompt(view, list_moves=self._list_moves, previous=answer))), view
            )
            if answer.action is not None:
                return answer.action
        self.random_moves += 1
        return int(self._rng.choice([int(action) for action in view["moves"]]))
