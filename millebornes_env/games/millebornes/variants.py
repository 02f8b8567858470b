"""The rule sheets of `variants-v1` and `mini-variants-v1`: from a number to a sheet.

Each rule is drawn from the list of its values, and rules that cannot arise become 0. A sheet that makes no
game, or that belongs to another split, is drawn again with the next numbers. docs/research/variants.md gives
the reasons; a change here needs a new version, since positions and results name a sheet by its number.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import whole_number
from millebornes_env.engine.chance import mixed, random_below, random_word
from millebornes_env.engine.numba.compiling import for_kernels, kernel, plain, rule, seldom, stack_array
from millebornes_env.games.millebornes.cards import DRIVING_ACE, NUM_CARD_TYPES, NUM_DISTANCES
from millebornes_env.games.millebornes.editions import OVERRIDABLE, Edition, edition
from millebornes_env.games.millebornes.rule_checks import NO_PROBLEM, problem_of
from millebornes_env.games.millebornes.rules import (
    FIELDS,
    PLAY_OUT,
    RULES,
    Rules,
    RulesRecord,
    rules_of_record,
    write_rules,
)
from millebornes_env.games.sheets import missing_table
from millebornes_env.games.variants import Numbers, RulesArray, Split, sheet_of

Values = npt.NDArray[np.int64]
"""int64[56], the rules in the order of the fields of `Rules`."""

VERSION: Final = "variants-v1"
MINI_VERSION: Final = "mini-variants-v1"
FROZEN: Final = Path(__file__).parent / "variants.json"
"""The numbers of the sheets of each frozen split, written by `python -m research.measurements.variants`."""

TABLES: Final = ((2, 2), (3, 3), (4, 2), (4, 4), (6, 3), (6, 2), (8, 4))
"""Players and teams of the tables of every sheet."""
MINI_TABLES: Final = ((2, 2),)
PRINTED: Final = ("dujardin", "dujardin_2014", "dujardin_classic", "dutch", "parker", "winning_moves")

# Values ----------------------------------------------------------------------------------------------------

TRAIN_VALUES: Final[Mapping[str, tuple[int, ...]]] = {
    "hand_limit": (5, 6, 7),
    **dict.fromkeys(("copies_of_25", "copies_of_50", "copies_of_75"), (7, 8, 9, 10, 11)),
    "copies_of_100": (9, 10, 11, 12, 13),
    "copies_of_200": (2, 3, 4, 5, 6),
    **dict.fromkeys(("copies_of_accident", "copies_of_out_of_gas", "copies_of_flat_tire"), (2, 3, 4)),
    "copies_of_stop": (3, 4, 5, 6),
    "copies_of_speed_limit": (2, 3, 4, 5),
    **dict.fromkeys(("copies_of_repairs", "copies_of_gasoline", "copies_of_spare_tire"), (4, 5, 6)),
    "copies_of_roll": (11, 12, 13, 14, 15),
    "copies_of_end_of_limit": (4, 5, 6),
    **dict.fromkeys(tuple(Rules._fields)[18:22], (0, 1, 1, 1)),
    "target": (500, 600, 700, 750, 800, 900, 1000),
    "extended_target": (0, 0, 200, 300),  # 0, or km beyond the target
    "max_200": (1, 2, 3, 4),
    "count_points": (0, 1, 1, 1),
    "points_per_safety": (50, 100, 150),
    "points_all_safeties": (100, 300, 500),
    "points_per_coup_fourre": (100, 200, 300, 400),
    "points_trip_completed": (200, 300, 400, 500, 600),
    "points_delayed_action": (0, 100, 300, 500),
    "points_safe_trip": (0, 100, 300, 500),
    "points_extension": (100, 200, 300),
    "points_extension_failed": (0, 100, 200, 300),
    "points_shutout": (0, 300, 500, 700),
    "goal": (3000, 4000, 5000, 6000),
}
"""The values that a rule is drawn from, a more likely one several times; no or yes for all other rules."""

BEYOND_VALUES: Final[Mapping[str, tuple[int, ...]]] = {
    "hand_limit": (3, 4, 9, 10),
    "copies_of_200": (8, 9, 10),
    "copies_of_stop": (1, 8, 9),
    "copies_of_roll": (8, 9, 18, 19),
    "target": (300, 400, 1100, 1200),
    "max_200": (0,),
    "points_per_safety": (250, 300),
    "points_per_coup_fourre": (600, 800),
    "points_trip_completed": (800, 1000),
}
"""The values of rules beyond those of training; a sheet of `test/beyond` has one or two of these rules."""

MINI_VALUES: Final[Mapping[str, tuple[int, ...]]] = {
    **dict.fromkeys(OVERRIDABLE, (0,)),
    "hand_limit": (1, 2),
    "copies_of_25": (0, 0, 1),
    "copies_of_50": (1, 2, 3),
    "copies_of_100": (0, 0, 1, 2),
    "copies_of_accident": (0, 0, 1),
    "copies_of_stop": (0, 1, 2),
    "copies_of_speed_limit": (0, 0, 0, 1),
    "copies_of_repairs": (0, 0, 1),
    "copies_of_roll": (1, 2, 3),
    "copies_of_end_of_limit": (0, 0, 0, 1),
    "copies_of_driving_ace": (0, 0, 1),
    "copies_of_right_of_way": (0, 0, 1),
    "target": (50, 100, 150),
    "extended_target": (0, 0, 50),
    **dict.fromkeys(
        (
            *("exact_finish", "start_needs_roll", "roll_after_remedy", "roll_after_safety"),
            *("hazard_opens_pile", "opening_remedy_starts", "attack_needs_roll", "discard_only_if_stuck"),
            *("when_pile_is_empty", "replay_after_safety_when_empty", "replay_after_claim_when_empty"),
        ),
        (0, 1),
    ),
    "discard_safeties": (1,),
    "count_points": (1,),
    "points_per_safety": (100,),
    "points_per_coup_fourre": (100, 300),
    "points_trip_completed": (200, 400),
    "points_delayed_action": (0, 300),
    "points_extension": (200,),
    "points_extension_failed": (0, 200),
    "points_shutout": (0, 500),
    "goal": (5000,),
}
"""The same for the mini sheets."""
MINI_SIZES: Final = (6, 8)
"""Least and most cards of a mini sheet."""

PAIRS: Final = (
    ("start_needs_roll", 0, "roll_after_remedy", 1),
    ("hazard_opens_pile", 1, "one_hazard_at_a_time", 1),
    ("exact_finish", 0, "discard_only_if_stuck", 1),
    ("discard_safeties", 0, "end_when_stuck", 1),
    ("any_safety_starts", 1, "roll_after_safety", 1),
)
"""Pairs of answers that occur together in `test/combinations` alone; no printed sheet has one."""

# For the compiler ------------------------------------------------------------------------------------------

TRAIN: Final = 0
INSIDE: Final = 1
COMBINATIONS: Final = 2
BEYOND: Final = 3
MINI_TRAIN: Final = 4
MINI_TEST: Final = 5

MOST_ATTEMPTS: Final = 100_000
"""Bound of the loop; the chance to reach it is below 1e-300 in every split."""
_SALT: Final = 0x5EED0001
_RESERVED_OF: Final = 8
"""One class of sheets in so many is reserved for `test/inside`."""
_MINI_RESERVED_OF: Final = 5
_MOST_BEYOND: Final = 2
_FIRST_RULE: Final = len(Rules._fields) - len(OVERRIDABLE)
_NUM_RULES: Final = len(Rules._fields)
_PAIR_COUNTER: Final = 64
_BEYOND_COUNTER: Final = 65
_LARGEST_TABLE: Final = 8


def _array_of(lists: Mapping[str, tuple[int, ...]]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the lists of all rules as int64[56, most values], and their lengths."""
    complete = [lists.get(name, (0, 1) if FIELDS[name].choices else (0,)) for name in Rules._fields]
    result = np.zeros((_NUM_RULES, max(map(len, complete))), np.int64)
    for index, values in enumerate(complete):
        result[index, : len(values)] = values
    return result, np.array([len(values) for values in complete])


def _at(name: str) -> int:
    return Rules._fields.index(name)


_VALUES, _LENGTHS = _array_of(TRAIN_VALUES)
_MINI, _MINI_LENGTHS = _array_of(MINI_VALUES)
_BEYOND, _BEYOND_LENGTHS = _array_of(BEYOND_VALUES)
_BEYOND_RULES: Final = np.array([_at(name) for name in BEYOND_VALUES])
_LEAST: Final = np.array([0 if "points" in name else min(TRAIN_VALUES[name]) for name in BEYOND_VALUES])
_MOST: Final = np.array([max(TRAIN_VALUES[name]) for name in BEYOND_VALUES])
_PAIRS: Final = np.array([(_at(first), one, _at(second), two) for first, one, second, two in PAIRS])
_FIRST_CARD: Final = _at("copies_of_25")
_FIRST_SAFETY: Final = _FIRST_CARD + DRIVING_ACE
_END_OF_CARDS: Final = _FIRST_CARD + NUM_CARD_TYPES
_PRINTED_DISTANCES: Final = np.array(edition("parker").rules.deck[:NUM_DISTANCES])
_TARGET: Final = _at("target")
_EXTENDED_TARGET: Final = _at("extended_target")
_MAX_200: Final = _at("max_200")
_COPIES_OF_200: Final = _at("copies_of_200")
_START_NEEDS_ROLL: Final = _at("start_needs_roll")
_ANY_SAFETY_STARTS: Final = _at("any_safety_starts")
_ROLL_AFTER_REMEDY: Final = _at("roll_after_remedy")
_HAZARD_OPENS_PILE: Final = _at("hazard_opens_pile")
_OPENING_REMEDY_STARTS: Final = _at("opening_remedy_starts")
_ATTACK_NEEDS_ROLL: Final = _at("attack_needs_roll")
_WHEN_PILE_IS_EMPTY: Final = _at("when_pile_is_empty")
_PLAY_OUT_AFTER_EXTENSION: Final = _at("play_out_after_extension")
_REPLAY_AFTER_CLAIM: Final = _at("replay_after_claim_when_empty")
_TURN_FOLLOWS_CLAIM: Final = _at("turn_follows_claim_when_empty")
_COUNT_POINTS: Final = _at("count_points")
_SAFETIES_BREAK_TIE: Final = _at("safeties_break_tie")
_FIRST_POINTS: Final = _at("points_per_safety")
_ALL_SAFETIES: Final = _at("points_all_safeties")
_EXTENSION: Final = _at("points_extension")
_EXTENSION_FAILED: Final = _at("points_extension_failed")
_FORFEITS: Final = _at("failed_extension_forfeits_bonuses")
_GOAL: Final = _at("goal")


# A sheet ---------------------------------------------------------------------------------------------------


@rule
def draw_values(values: Values, split: int, key_0: int, key_1: int) -> None:
    """Draw every rule from its list, then those that distinguish the split."""
    for field in range(_FIRST_RULE, _NUM_RULES):
        if split >= MINI_TRAIN:
            index = random_below(key_0, key_1, field, int(_MINI_LENGTHS[field]))
            values[field] = _MINI[field, index]
        else:
            index = random_below(key_0, key_1, field, int(_LENGTHS[field]))
            values[field] = _VALUES[field, index]
    if split == COMBINATIONS:
        pair = random_below(key_0, key_1, _PAIR_COUNTER, len(_PAIRS))
        values[_PAIRS[pair, 0]] = _PAIRS[pair, 1]
        values[_PAIRS[pair, 2]] = _PAIRS[pair, 3]
    if split == BEYOND:
        for counter in range(_BEYOND_COUNTER, _BEYOND_COUNTER + 2 * _MOST_BEYOND, 2):
            field = int(_BEYOND_RULES[random_below(key_0, key_1, counter, len(_BEYOND_RULES))])
            index = random_below(key_0, key_1, counter + 1, int(_BEYOND_LENGTHS[field]))
            values[field] = _BEYOND[field, index]


@rule
def settle(values: Values) -> None:
    """Set rules that cannot arise to 0, so that two sheets that differ also play differently."""
    values[_MAX_200] = min(values[_MAX_200], values[_COPIES_OF_200])
    if values[_COUNT_POINTS] == 1:
        values[_SAFETIES_BREAK_TIE] = 0
    else:
        values[_EXTENDED_TARGET] = 0
        for field in range(_FIRST_POINTS, _GOAL):
            values[field] = 0
    if values[_EXTENDED_TARGET] == 0:
        values[_PLAY_OUT_AFTER_EXTENSION] = 0
        values[_EXTENSION] = 0
        values[_EXTENSION_FAILED] = 0
        values[_FORFEITS] = 0
    else:
        values[_EXTENDED_TARGET] = values[_TARGET] + values[_EXTENDED_TARGET]
    for safety in range(_FIRST_SAFETY, _END_OF_CARDS):
        if values[safety] == 0:
            values[_ALL_SAFETIES] = 0
    if values[_START_NEEDS_ROLL] == 0:
        values[_ANY_SAFETY_STARTS] = 0
    if values[_HAZARD_OPENS_PILE] == 0:
        values[_OPENING_REMEDY_STARTS] = 0
    if values[_ROLL_AFTER_REMEDY] == 1:
        values[_ATTACK_NEEDS_ROLL] = 0
    if values[_WHEN_PILE_IS_EMPTY] == PLAY_OUT:
        values[_PLAY_OUT_AFTER_EXTENSION] = 0
    if values[_REPLAY_AFTER_CLAIM] == 1:
        values[_TURN_FOLLOWS_CLAIM] = 0


@rule
def has_test_pair(values: Values) -> bool:
    """Return True if a pair of rules is reserved for `test/combinations`."""
    for pair in range(len(_PAIRS)):
        first = values[_PAIRS[pair, 0]] == _PAIRS[pair, 1]
        if first and values[_PAIRS[pair, 2]] == _PAIRS[pair, 3]:
            return True
    return False


@rule
def is_beyond(values: Values) -> bool:
    """Return True if a rule has a value beyond those of training."""
    for index in range(len(_BEYOND_RULES)):
        value = values[_BEYOND_RULES[index]]
        if value < _LEAST[index] or value > _MOST[index]:
            return True
    return False


@rule
def has_printed_distances(values: Values) -> bool:
    """Return True if the deck has the distance cards of the printed editions, which no drawn sheet has."""
    for card in range(NUM_DISTANCES):
        if values[_FIRST_CARD + card] != _PRINTED_DISTANCES[card]:
            return False
    return True


@rule
def is_reserved(values: Values, classes: int) -> bool:
    """Return True if the hash of the sheet is in the class that is reserved for tests."""
    word = _SALT
    for field in range(_FIRST_RULE, _NUM_RULES):
        word = mixed(word ^ int(values[field]))
    return word % classes == 0


@rule
def belongs_to(values: Values, split: int) -> bool:
    """Return True if the sheet may be in the split; no sheet may be in two."""
    if split >= MINI_TRAIN:
        size = 0
        for field in range(_FIRST_CARD, _END_OF_CARDS):
            size += int(values[field])
        fits = MINI_SIZES[0] <= size <= MINI_SIZES[1]
        return fits and is_reserved(values, _MINI_RESERVED_OF) == (split == MINI_TEST)
    is_paired, is_outside = has_test_pair(values), is_beyond(values)
    if (
        is_paired != (split == COMBINATIONS)
        or is_outside != (split == BEYOND)
        or has_printed_distances(values)
    ):
        return False
    return split in (COMBINATIONS, BEYOND) or is_reserved(values, _RESERVED_OF) == (split == INSIDE)


@seldom
def draw_sheet(rules: RulesRecord, values: Values, split: int, number: int) -> int:
    """Write the sheet of a number, at its largest table, into a record.

    Args:
        rules: the record.
        values: int64[56], scratch.
        split: TRAIN to MINI_TEST.
        number: 0 to 2**32 - 1.

    Returns:
        The number of sheets drawn until one was valid; 0 if none was after `MOST_ATTEMPTS`.
    """
    values[0] = 2 if split >= MINI_TRAIN else _LARGEST_TABLE
    values[1] = 2
    for attempt in range(MOST_ATTEMPTS):
        key_0 = random_word(number, _SALT + split, attempt)
        key_1 = random_word(_SALT, key_0, attempt)
        draw_values(values, split, key_0, key_1)
        settle(values)
        if belongs_to(values, split):
            write_rules(rules, values)
            if problem_of(rules) == NO_PROBLEM:
                return attempt + 1
    return 0


@rule
def take_table(rules: Any, players: int, teams: int) -> None:
    """Change the table of a drawn sheet; nothing else depends on it."""
    rules.players = players
    rules.teams = teams
    rules.observed[0] = players
    rules.observed[1] = teams


@kernel
def draw_rules(
    rules: Any, games: Numbers, numbers: Numbers, attempts: Numbers, split: int, players: int, teams: int
) -> None:
    """Write the rules of some games.

    Args:
        rules: RULES[N].
        games: indices of the games, [n].
        numbers: numbers of their sheets, [n].
        attempts: receives the result of `draw_sheet` for each, [n].
        split: TRAIN to MINI_TEST.
        players: number of seats.
        teams: number of teams.
    """
    values = stack_array(np.int64, _NUM_RULES)
    for index in range(len(games)):
        record = rules[games[index]]
        attempts[index] = draw_sheet(record, values, split, int(numbers[index]))
        take_table(record, players, teams)


# Splits ----------------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=1024)  # a match at a split asks for the same sheet several times
def rules_of_number(split: int, number: int) -> Rules:
    """Return the rules of a number, at the table of two."""
    records = np.zeros(1, RULES).view(np.recarray)
    plain(draw_sheet)(records[0], np.zeros(_NUM_RULES, np.int64), split, number)
    return rules_of_record(records[0])._replace(players=2, teams=2)


def drawn_split(name: str, split: int, numbers: Numbers | None = None) -> Split:
    """Return a split of drawn sheets.

    Args:
        name: name in code.
        split: TRAIN to MINI_TEST.
        numbers: the numbers that were frozen, in the order of the split; None: all numbers.
    """
    tables = MINI_TABLES if split >= MINI_TRAIN else TABLES
    version = name.partition(":")[0]

    def draw(number: int) -> Edition:
        rules = rules_of_number(split, number if numbers is None else int(numbers[number]))
        return Edition(
            name=f"{name}/{number}",
            title=f"Sheet {number} of {name}",
            summary=f"Rules drawn by {version}; docs/research/variants.md says how.",
            rules=rules,
            tables={table: {} for table in tables},
            sources=dict.fromkeys(Rules._fields, f"drawn by {version}"),
        )

    def draw_array(chosen: Numbers, players: int, teams: int) -> RulesArray:
        if (whole_number(players), whole_number(teams)) not in tables:
            raise missing_table(name, players, teams, tables)
        result = np.zeros(len(chosen), RULES)
        games, attempts = np.arange(len(chosen)), np.zeros(len(chosen), np.int64)
        drawn = chosen if numbers is None else numbers[chosen]
        draw_rules(for_kernels(result), games, drawn, attempts, split, players, teams)
        return result.view(np.recarray)

    return Split(name, draw, None if numbers is None else len(numbers), draw_rules=draw_array)


def frozen_numbers() -> dict[str, Numbers]:
    """Return the numbers of the sheets of each frozen split."""
    frozen: dict[str, list[int]] = json.loads(FROZEN.read_text(encoding="utf-8"))
    return {name: np.array(numbers, np.int64) for name, numbers in frozen.items()}


DRAWN: Final[Mapping[str, int]] = {
    f"{VERSION}:train": TRAIN,
    f"{VERSION}:test/inside": INSIDE,
    f"{VERSION}:test/combinations": COMBINATIONS,
    f"{VERSION}:test/beyond": BEYOND,
    f"{MINI_VERSION}:train": MINI_TRAIN,
    f"{MINI_VERSION}:test": MINI_TEST,
}
"""The splits of drawn sheets, each with its constant; all but the first are frozen."""

_PRINTED_SPLIT: Final = Split(
    f"{VERSION}:test/printed", lambda number: edition(PRINTED[number]), len(PRINTED)
)
_FROZEN: Final = frozen_numbers()
SPLITS: Final[Mapping[str, Split]] = {
    **{name: drawn_split(name, split, _FROZEN.get(name)) for name, split in DRAWN.items()},
    _PRINTED_SPLIT.name: _PRINTED_SPLIT,
}
"""The splits by their names."""


def sheet_named(name: str) -> Edition:
    """Return the sheet of a name such as "variants-v1:train/123456"; raise EditionError if there is none."""
    result: Edition = sheet_of(name, SPLITS)
    return result
