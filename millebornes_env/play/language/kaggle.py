"""Kaggle's harness for language models: its three functions, implemented with our views.

`kaggle_environments.core_harness` (as of version 1.33.2) calls `get_legal_moves`, `make_prompt`
(`generate_prompt` in a submission) and `parse_response` of a game. This module implements them:

    from kaggle_environments.core_harness import create_agent_fn
    from millebornes_env.play.language import kaggle

    agent = create_agent_fn(kaggle)
    action = agent(kaggle.observation(view, player=0), {})["submission"]

Nothing here imports Kaggle's package.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from millebornes_env.errors import PlayError
from millebornes_env.play.language.answers import parse, text_of
from millebornes_env.play.language.prompts import legal_moves, prompt
from millebornes_env.play.language.views import View, reading_a_view


@dataclass(frozen=True)
class ParseResult:
    """The result that Kaggle's harness reads, with the fields of its own class.

    Attributes:
        legal_action: name of the legal action, or None.
        raw_action: the move in the words of the answer, legal or not; None if none was found.
        submission: always None; for games without a list of actions.
        thoughts: always None; the harness keeps the whole answer.
    """

    legal_action: str | None = None
    raw_action: str | None = None
    submission: Any = None
    thoughts: str | None = None


@reading_a_view()
def observation(view: View, player: int, to_act: int | None = None) -> dict[str, Any]:
    """Return a player's view as an observation in Kaggle's format.

    Args:
        view: view of the player's seat.
        player: the seat.
        to_act: the seat to act; None if it is the player's.

    Returns:
        The keys that the harness reads. `observationString` is the view as JSON; `serializedGameAndState` is
        empty, because it would reveal the hidden cards.
    """
    moves = legal_moves(view)
    return {
        "observationString": json.dumps(view),
        "legalActions": list(moves),
        "legalActionStrings": list(moves.values()),
        "currentPlayer": player if to_act is None else to_act,
        "playerId": player,
        "isTerminal": view["table"]["place"] is None,
        "serializedGameAndState": "",
    }


def get_legal_moves(observation: Mapping[str, Any]) -> dict[int, str] | None:
    """Return the names of the player's legal moves, by action id.

    Raises:
        PlayError: the observation was not made by `observation`.
    """
    return legal_moves(_view_of(observation))


def make_prompt(
    observation: Mapping[str, Any],
    move_history: Sequence[str],
    previous_response: str | None = None,
    previous_action: str | None = None,
) -> str:
    """Return the prompt, which shows the hand but does not list the legal moves, as the harness requires.

    Args:
        observation: from `observation`.
        move_history: the player's own moves; ignored, because the view has those of all seats.
        previous_response: the answer to the same question, if it was not a legal move.
        previous_action: the move in it, if there was one.

    Raises:
        PlayError: the observation was not made by `observation`.
    """
    view, previous = _view_of(observation), None
    if previous_response is not None:
        previous = parse(text_of(previous_response), view)
    elif previous_action:  # for a bare move the harness has no response
        previous = parse(json.dumps({"move": previous_action}), view)
    return prompt(view, list_moves=False, previous=previous)


generate_prompt = make_prompt


def parse_response(
    response: str | None, legal_action_strings: Sequence[str] | None, *, observation: Mapping[str, Any]
) -> ParseResult:
    """Parse an answer; see `play.language.parse`.

    Args:
        response: the model's; None, which chat APIs return for an empty or refused answer, names no move.
        legal_action_strings: the names of `get_legal_moves`, which the harness accepts.
        observation: from `observation`.

    Raises:
        PlayError: the observation was not made by `observation`.
    """
    answer = parse(text_of(response), _view_of(observation))
    is_known = legal_action_strings is None or answer.move in legal_action_strings
    return ParseResult(answer.move if is_known else None, answer.said)


def _view_of(observation: Mapping[str, Any]) -> View:
    try:
        view = json.loads(observation["observationString"])
    except (KeyError, TypeError, ValueError, RecursionError):
        raise PlayError(
            "the observation has no view in 'observationString': make it with kaggle.observation"
        ) from None
    if not isinstance(view, dict):
        raise PlayError("the view in 'observationString' is not a JSON object")
    return view
