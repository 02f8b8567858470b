"""Words for the plays of Mille Bornes: `25`, `stop against team 1`, `discard roll`, `claim`."""

from __future__ import annotations

from typing import Final

from millebornes_env.errors import NotationError, shown
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    PASS,
    card_of,
    is_discard,
    num_actions,
    opponent_of,
    target_team,
)
from millebornes_env.games.millebornes.cards import is_hazard
from millebornes_env.games.millebornes.rulebook import NAME
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.registry import game
from millebornes_env.notation.lines import CARD_WORDS, line_of
from millebornes_env.notation.play_words import PlayWords, whole_number

_TWO_TEAMS: Final = 2
_DECISIONS: Final = {CLAIM_COUP_FOURRE: "claim", PASS: "pass", EXTEND: "extend", FINISH: "finish"}


def action_words(action: int, rules: Rules, seat: int) -> list[str]:
    """Return the words for an action of a seat: first the written form, then others that can be read."""
    if action in _DECISIONS:
        return [_DECISIONS[action]]
    word = CARD_WORDS[int(card_of(action))]
    if is_discard(action):
        return [f"discard {word}"]
    if not is_hazard(int(card_of(action))):
        return [word, f"play {word}"]
    own = seat % rules.teams
    against = f"{word} against team {target_team(rules.teams, own, int(opponent_of(action)))}"
    others = [word] if rules.teams == _TWO_TEAMS else []
    return [against, *others, *(f"play {words}" for words in (against, *others))]


def write_action(action: int, rules: Rules, seat: int) -> str:
    """Return the words for an action of Mille Bornes: `25`, `discard stop`, `stop against team 1`, `claim`.

    Args:
        action: the action.
        rules: the table's rules.
        seat: the acting seat.

    Raises:
        NotationError: the action or the seat does not exist at this table.
    """
    _check_rules(rules)
    number = whole_number("action", action, num_actions(rules.teams))
    return action_words(number, rules, whole_number("seat", seat, rules.players))[0]


def read_action(text: str, rules: Rules, seat: int) -> int:
    """Return the action with these words; with two teams, a hazard need not name the target.

    Args:
        text: the output of `write_action`.
        rules: the table's rules.
        seat: the acting seat.

    Raises:
        NotationError: there is no such action at this table.
    """
    if not isinstance(text, str):
        raise NotationError(f"an action is text; got {type(text).__name__}")
    _check_rules(rules)
    seat = whole_number("seat", seat, rules.players)
    return PlayWords(game(NAME), rules).read(line_of(0, f"seat {seat}", text), seat)


def _check_rules(rules: object) -> None:
    if not isinstance(rules, Rules):
        raise NotationError(f"the rules are those of a table, such as env.rules; got {shown(rules)}")
