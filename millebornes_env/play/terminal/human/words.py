"""Words of `human`: names of players and actions, the meaning of typed answers, reasons against actions.

There is one set of names, for moves, table and score sheet, as the person sees the table: "you", "partner",
"opponent", and numbers to the left where there are several.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Final

from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    PASS,
    action_name,
    card_of,
    is_discard,
    opponent_of,
    target_team,
)
from millebornes_env.games.millebornes.cards import CARD_NAMES, KM, NO_CARD, is_distance, is_hazard
from millebornes_env.games.millebornes.reasons import reason_against
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.millebornes.state import CLAIM, EXTENSION, State
from millebornes_env.render.names import YOU, Names, is_plural

_ANSWERS: Final = {
    CLAIM_COUP_FOURRE: ("claim the coup fourré", "coup fourré", "yes"),
    PASS: ("let the hazard stand", "pass", "no"),
    EXTEND: ("extend the trip", "yes"),
    FINISH: ("finish the trip", "no"),
}


def sentence_case(text: str) -> str:
    """The text with a capital letter in front; the others stay as they are."""
    return text[:1].upper() + text[1:]


def action_words(action: int, names: Names, place: int = 0) -> str:
    """Return the name of an action: "play 200 km", "Stop against opponent 2".

    Args:
        action: a legal id of the table.
        names: of its players.
        place: who acts, counted to the left of the person.
    """
    card = card_of(action)
    if card == NO_CARD or is_discard(action) or not is_hazard(card):
        return action_name(action, names.teams)
    target = target_team(names.teams, place % names.teams, opponent_of(action))
    return f"{CARD_NAMES[card]} against {names.team(target)}"


def menu_order(action: int) -> tuple[bool, int, int]:
    """Sorts a menu: plays before discards, then by card, the same card against several opponents together."""
    return is_discard(action), card_of(action), opponent_of(action)


def meant_by(answer: str, actions: Iterable[int], names: Names) -> list[int]:
    """The actions that a typed answer may mean: a name, or the beginning of one.

    Capital letters and accents do not matter, and each word may be shortened ("d 25", "sp t"). Figures alone
    ("25") are the km of a distance card, all of them.

    Args:
        answer: what was typed.
        actions: those to choose from.
        names: of the players.
    """
    typed = _key(answer)
    if not typed:
        return []
    if typed.isdecimal():
        return [one for one in actions if is_distance(one) and typed == str(KM[one])]
    return [one for one in actions if any(_begins(name, answer) for name in _names_of(one, names))]


def _names_of(action: int, names: Names) -> tuple[str, ...]:
    card = card_of(action)
    if card == NO_CARD:
        return _ANSWERS[action]
    if is_discard(action):
        return (f"discard {CARD_NAMES[card]}",)
    if not is_hazard(card):
        return CARD_NAMES[card], f"play {CARD_NAMES[card]}"
    opponent = opponent_of(action) + 1
    against = f"{CARD_NAMES[card]} against {names.team(opponent)}"
    short = f"{CARD_NAMES[card]} {names.team(opponent)}"
    return against, f"play {against}", short, f"play {short}", f"{CARD_NAMES[card]} {opponent}"


def _begins(name: str, answer: str) -> bool:
    """Return True if the answer is a prefix of the name, or its words are prefixes of the name's words."""
    if _key(name).startswith(_key(answer)):
        return True
    typed, words = answer.split(), name.split()
    pairs = zip(words, typed, strict=False)
    return len(typed) <= len(words) and all(_key(word).startswith(_key(part)) for word, part in pairs)


def _key(text: str) -> str:
    """The text without what people type differently."""
    apart = unicodedata.normalize("NFD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter) and not letter.isspace())


def why_not(state: State, rules: Rules, action: int, names: Names) -> str:
    """Why an action is not legal, said to the person.

    Args:
        state: the game as the person knows it, the person in seat 0.
        rules: the table's.
        action: an id of the table that is not legal now.
        names: of the players.
    """
    if int(state.phase) == CLAIM:
        return "first say whether you claim the coup fourré"
    if int(state.phase) == EXTENSION:
        return "first say whether you extend the trip"
    reason = reason_against(state, rules, action).replace("the hand holds no", "you hold no")
    return re.sub(r"\bteam (\d)( is| has|'s)?", lambda found: _in_words(found, names), reason)


def _in_words(found: re.Match[str], names: Names) -> str:
    """Say "team 0 is" as "you are"; "team 1's" as "opponent's".

    Args:
        found: a match of the pattern in `why_not`.
        names: of the players.
    """
    name, after = names.team(int(found[1])), found[2] or ""
    if after == "'s":
        return "your" if name == YOU else f"{name}'" if is_plural(name) else f"{name}'s"
    if is_plural(name):
        after = {" is": " are", " has": " have"}.get(after, after)
    return name + after
