"""Checks of the values of the rules.

Each value is checked by itself (`limits`), then combinations of values: `problem_of` is also compiled for the
page without Python, so that it rejects the same rules with the same messages.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final, NamedTuple

from millebornes_env.engine.numba.compiling import plain, rule
from millebornes_env.errors import EditionError, shown
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    CARD_NAMES,
    DECK_SIZE,
    DISTANCE_25,
    DISTANCE_50,
    DISTANCE_75,
    DISTANCE_100,
    DISTANCE_200,
    DRIVING_ACE,
    KM,
    NUM_CARD_TYPES,
    NUM_DISTANCES,
    RIGHT_OF_WAY,
    ROLL,
    STOP,
    remedy_for,
)
from millebornes_env.games.millebornes.rules import FIELDS, AnyRules, Rules, card_count, deck_size

MOST_PLAYERS: Final = 8
FEWEST_TEAMS: Final = 2
MOST_TEAMS: Final = 4
STEP_OF_KM: Final = 25
LONGEST_TRIP: Final = 2500
"""Keeps km in 25s within the observation's int8."""
MOST_POINTS: Final = 1000
HIGHEST_GOAL: Final = 10_000
"""Keeps totals, including the last round, within the record's int16."""

_LARGEST: Final = 10**6
_FIRST_COPIES: Final = Rules._fields.index("copies_of_25")

PROBLEMS: Final = (
    "the deck has {size} cards: it may have at most {most_cards}",
    "the deck has no cards: copies_of_25 and all other copies_of_... are 0",
    "hand_limit is {hand_limit}: at least 1 card must be dealt to each seat",
    "the deck has {size} cards: dealing 1 to each of {players} players leaves none to draw",
    "hand_limit is {hand_limit}: {players} hands of it need {dealt} cards, and the deck of {size} must leave "
    "some to draw",
    "max_200 is {max_200}: the deck holds {copies_of_200} of them",
    "no team can ever move: start_needs_roll is 1 (yes), and the deck has neither a Roll (copies_of_roll) "
    "nor another card that starts a car by these rules",
    "target is {target} km: it must be a multiple of 25, at most {longest_trip}",
    "target is {target} km: no distance cards of this deck add up to it ({distance_cards})",
    "extended_target is {extended_target} km: it must be a multiple of 25, at most {longest_trip}",
    "extended_target is {extended_target} km: no distance cards of this deck add up to it ({distance_cards})",
    "extended_target is {extended_target} km: it must be more than target ({target} km), or 0 for no "
    "extension",
)
"""Problems with combinations of values that are each valid; in braces: names of rules, the `size` of the
deck, the cards `dealt` and the `distance_cards`."""

(
    DECK_TOO_LARGE,
    NO_DECK,
    NO_HANDS,
    NOT_A_CARD_EACH,
    NOTHING_TO_DRAW,
    MORE_200S_THAN_THERE_ARE,
    NOTHING_STARTS,
    TARGET_IS_NO_TRIP,
    TARGET_OUT_OF_REACH,
    EXTENSION_IS_NO_TRIP,
    EXTENSION_OUT_OF_REACH,
    EXTENSION_IS_SHORTER,
) = range(len(PROBLEMS))
NO_PROBLEM: Final = -1


class Limits(NamedTuple):
    """The range of a rule's value by itself."""

    least: int
    most: int
    step: int


def limits(name: str) -> Limits:
    """Return the range of a rule's value by itself."""
    if choices := FIELDS[name].choices:
        return Limits(0, len(choices) - 1, 1)
    if name.startswith("points_"):
        return Limits(0, MOST_POINTS, 1)
    if name.endswith("target"):
        return Limits(STEP_OF_KM if name == "target" else 0, LONGEST_TRIP, STEP_OF_KM)
    if name.startswith("copies_of_"):
        card = Rules._fields.index(name) - _FIRST_COPIES
        return Limits(0, 1 if card >= DRIVING_ACE else DECK_SIZE, 1)
    return {"goal": Limits(0, HIGHEST_GOAL, 1), "hand_limit": Limits(1, DECK_SIZE - 1, 1)}.get(
        name, Limits(0, DECK_SIZE, 1)
    )


def widest_rules(players: int, teams: int) -> Rules:
    """Return the largest value of each rule; together they are not a game, but no game exceeds them."""
    values = {name: limits(name).most for name in Rules._fields}
    of_one_card = {name: 0 for name in values if name.startswith("copies_of_")}
    changed = {"copies_of_accident": DECK_SIZE, "exact_finish": 0, "players": players, "teams": teams}
    return Rules(**{**values, **of_one_card, **changed})


def validated(rules: Rules) -> Rules:
    """Return the rules after checking that they make a game.

    Raises:
        EditionError: a rule is invalid; the message names the field and its possible values.
    """
    for name, value in rules._asdict().items():
        _check_value(name, value)
    if not (FEWEST_TEAMS <= rules.teams <= MOST_TEAMS and rules.players <= MOST_PLAYERS):
        raise EditionError(
            f"{rules.players} players in {rules.teams} teams: there may be {FEWEST_TEAMS} to {MOST_TEAMS} "
            f"teams and at most {MOST_PLAYERS} players"
        )
    if rules.players == 0 or rules.players % rules.teams:
        raise EditionError(
            f"{rules.players} players in {rules.teams} teams: teams must be equally large, "
            "of 1 player or more"
        )
    for card in range(DRIVING_ACE, NUM_CARD_TYPES):
        if rules.deck[card] > 1:
            name = Rules._fields[_FIRST_COPIES + card]
            raise EditionError(f"{name} is {rules.deck[card]}: there is at most one {CARD_NAMES[card]}")
    problem = _problem_of(rules)
    if problem != NO_PROBLEM:
        raise EditionError(PROBLEMS[problem].format(**_message_values(rules)))
    return rules


def _check_value(name: str, value: object) -> None:
    choices = FIELDS[name].choices
    if choices and (
        isinstance(value, bool) or not isinstance(value, int) or value not in range(len(choices))
    ):
        raise EditionError(f"the rule {name} is {shown(value)}: it may be " + _listed(choices))
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise EditionError(f"the rule {name} is {shown(value)}: it must be a whole number, 0 or more")
    most = limits(name).most if name.startswith("points_") or name == "goal" else _LARGEST
    if value > most:
        raise EditionError(f"the rule {name} is {shown(value)}: it may be at most {most}")


def _listed(choices: tuple[str, ...]) -> str:
    return " or ".join(f"{value} ({meaning})" for value, meaning in enumerate(choices))


@lru_cache  # rules are checked often, and this takes most of the time
def _problem_of(rules: Rules) -> int:
    return int(plain(problem_of)(rules))


def _message_values(rules: Rules) -> dict[str, Any]:
    """Return the values in the messages of `PROBLEMS`."""
    cards = [f"{rules.deck[card]} of {KM[card]}" for card in range(NUM_DISTANCES) if rules.deck[card]]
    distance_cards = ", ".join(cards or ["there are none"])
    return rules._asdict() | {
        "size": sum(rules.deck),
        "dealt": rules.hand_limit * rules.players,
        "distance_cards": f"{distance_cards}; a team may lay {rules.max_200} of the 200s",
        "most_cards": DECK_SIZE,
        "longest_trip": LONGEST_TRIP,
    }


# Combinations of values ------------------------------------------------------------------------------------


@rule
def problem_of(rules: AnyRules) -> int:
    """Return the first problem with values that are each valid: an index of `PROBLEMS`, or NO_PROBLEM."""
    size = deck_size(rules)
    if size > DECK_SIZE:
        return DECK_TOO_LARGE
    if size == 0:
        return NO_DECK
    if rules.hand_limit < 1:
        return NO_HANDS
    if rules.players >= size:
        return NOT_A_CARD_EACH
    if rules.hand_limit * rules.players >= size:
        return NOTHING_TO_DRAW
    if rules.max_200 > card_count(rules, DISTANCE_200):
        return MORE_200S_THAN_THERE_ARE
    if not can_start(rules):
        return NOTHING_STARTS
    return problem_of_trip(rules)


@rule
def can_start(rules: AnyRules) -> bool:
    """Return True if a team can come to move (`motion.is_moving`) with the cards of the deck."""
    if rules.start_needs_roll == 0 or card_count(rules, ROLL) > 0 or card_count(rules, RIGHT_OF_WAY) > 0:
        return True
    if rules.any_safety_starts == 1:
        for safety in range(DRIVING_ACE, RIGHT_OF_WAY):
            if card_count(rules, safety) > 0:
                return True
    if rules.hazard_opens_pile == 1 and (rules.opening_remedy_starts == 1 or rules.roll_after_remedy == 0):
        for hazard in range(ACCIDENT, STOP):
            if card_count(rules, hazard) > 0 and card_count(rules, remedy_for(hazard)) > 0:
                return True
    return False


@rule
def problem_of_trip(rules: AnyRules) -> int:
    """Return the first problem with the lengths of the trip."""
    if rules.target == 0 or not is_trip(rules.target):
        return TARGET_IS_NO_TRIP
    if not can_be_reached(rules, rules.target):
        return TARGET_OUT_OF_REACH
    if rules.extended_target == 0:
        return NO_PROBLEM
    if not is_trip(rules.extended_target):
        return EXTENSION_IS_NO_TRIP
    if not can_be_reached(rules, rules.extended_target):
        return EXTENSION_OUT_OF_REACH
    if rules.extended_target <= rules.target:
        return EXTENSION_IS_SHORTER
    return NO_PROBLEM


@rule
def is_trip(km: int) -> bool:
    """Return True if a trip can have this length, whatever the deck."""
    return km % STEP_OF_KM == 0 and km <= LONGEST_TRIP


@rule
def can_be_reached(rules: AnyRules, km: int) -> bool:
    """Return True if a team's distance cards can add up to the km (or more, if the finish is not exact)."""
    most_75, most_100 = card_count(rules, DISTANCE_75), card_count(rules, DISTANCE_100)
    small = 25 * card_count(rules, DISTANCE_25) + 50 * card_count(rules, DISTANCE_50)
    if small + 75 * most_75 + 100 * most_100 + 200 * rules.max_200 < km:
        return False
    if rules.exact_finish == 0:
        return True
    for of_200 in range(min(rules.max_200, km // 200) + 1):
        for of_100 in range(min(most_100, (km - 200 * of_200) // 100) + 1):
            rest = km - 200 * of_200 - 100 * of_100
            for of_75 in range(min(most_75, rest // 75) + 1):
                if add_up(rules, rest - 75 * of_75):
                    return True
    return False


@rule
def add_up(rules: AnyRules, km: int) -> bool:
    """Return True if cards of 25 and 50 km can add up to the km."""
    of_50 = min(card_count(rules, DISTANCE_50), km // 50)
    return km - 50 * of_50 <= 25 * card_count(rules, DISTANCE_25)
