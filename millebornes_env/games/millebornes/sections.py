"""The layout of an observation: a row of small integers in named sections.

`BySection` defines the layout, a line for each section in the order of the row. Sizes, starts and bounds are
computed from it, only here. `observation` writes the sections.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Generic, NamedTuple, TypeVar, get_type_hints

from millebornes_env.engine.layout import Content, Owner, Section
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    CARD_NAMES,
    DECK_SIZE,
    FLAT_TIRE,
    GASOLINE,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_HAZARDS,
    NUM_SAFETIES,
    OUT_OF_GAS,
    REPAIRS,
    ROLL,
    SPARE_TIRE,
    STOP,
)
from millebornes_env.games.millebornes.rules import AnyRules, Rules, deck_size
from millebornes_env.games.millebornes.state import HAZARD_AGAIN, MAX_SEATS, MAX_TEAMS, ROUND_OVER

T = TypeVar("T")

SCORE_UNIT: Final = 50
"""Unit of the points of a match."""
MAX_INT8: Final = 127
NUM_RULES: Final = len(Rules._fields)
MOST_BEYOND_TARGET: Final = 7
"""Maximum km beyond the target, in 25s, where the finish need not be exact (by a 200)."""

BATTLE_TOPS: Final = (
    NO_CARD,
    ACCIDENT,
    OUT_OF_GAS,
    FLAT_TIRE,
    STOP,
    REPAIRS,
    GASOLINE,
    SPARE_TIRE,
    ROLL,
)
"""The possible tops of a battle pile, in the order of its section."""
NUM_BATTLE_TOPS: Final = len(BATTLE_TOPS)
_BATTLE_WORDS: Final = ", ".join(
    "nothing" if card == NO_CARD else CARD_NAMES[card].lower() for card in BATTLE_TOPS
)


class ObservationSpec(NamedTuple):
    """Options of an observation, as ints that compiled code takes by value."""

    unseen: int = 1  # 1: with the counts of unseen cards
    rules: int = 0  # 1: with the table's rules
    padded: int = 0  # 1: padded to MAX_SEATS and MAX_TEAMS, so that all tables have the same layout


DEFAULT_SPEC: Final = ObservationSpec()


# The table of the layout -----------------------------------------------------------------------------------


class BySection(NamedTuple, Generic[T]):
    """A value for each section, by its name, in the order of the row; for example its start."""

    hand: Annotated[T, Content(NUM_CARD_TYPES, "copies", "cards in the own hand, by card type")]
    discard_pile: Annotated[T, Content(NUM_CARD_TYPES, "copies", "cards on the discard pile, by card type")]
    draw_pile: Annotated[T, Content(1, DECK_SIZE, "cards left to draw")]
    phase: Annotated[
        T, Content(ROUND_OVER, 1, "the decision: play, claim, extension (all 0: the round is over)")
    ]
    to_act: Annotated[T, Content(1, 1, "the seat to act, from the own seat to the left", "seat")]
    pending_hazard: Annotated[
        T, Content(NUM_HAZARDS, 1, "the hazard that waits for an answer: accident ... speed limit")
    ]
    target: Annotated[T, Content(1, "target", "km to complete, in 25s")]
    extension: Annotated[T, Content(1, 1, "the team that called the extension", "team")]
    battle: Annotated[T, Content(NUM_BATTLE_TOPS, 1, "top of each battle pile: " + _BATTLE_WORDS, "team")]
    opening: Annotated[
        T, Content(1, HAZARD_AGAIN, "1: a hazard began the pile; 2: another lies on its remedy", "team")
    ]
    moving: Annotated[T, Content(1, 1, "1 if the team is rolling", "team")]
    limited: Annotated[T, Content(1, 1, "1 if a speed limit shows", "team")]
    km: Annotated[T, Content(1, "km", "km travelled, in 25s", "team")]
    two_hundreds: Annotated[T, Content(1, "two_hundreds", "200s laid", "team")]
    safeties: Annotated[T, Content(NUM_SAFETIES, 1, "safeties laid: driving ace ... right of way", "team")]
    coups_fourres: Annotated[T, Content(NUM_SAFETIES, 1, "those of them laid as coups fourrés", "team")]
    hand_counts: Annotated[T, Content(1, "hand_counts", "cards in each hand", "seat")]
    score: Annotated[
        T,
        Content(
            1, MAX_INT8, "points of the match's finished rounds, in 50s rounded down, at most 127", "team"
        ),
    ]
    unseen: Annotated[
        T, Content(NUM_CARD_TYPES, "copies", "cards not in sight, by card type", shown_by="unseen")
    ]
    rules: Annotated[
        T,
        Content(
            NUM_RULES, MAX_INT8, "the table's rules, in the order and units of `Rules`", shown_by="rules"
        ),
    ]


CONTENTS: Final[Mapping[str, Content]] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(BySection, include_extras=True).items()
}
"""The contents of each section, by name."""


# Where sections are ----------------------------------------------------------------------------------------


class Offset(NamedTuple):
    """The offset of a section at any table: the count of numbers before it, as a sum of terms.

    These are constants in compiled code, so that a start costs a multiplication or two.

    Attributes:
        fixed: numbers at every table.
        by_seat: numbers for each seat.
        by_team: numbers for each team.
        with_unseen: numbers if unseen cards are shown.
        with_rules: numbers if the rules are shown.
        size: size of the section itself, for each of its owners.
    """

    fixed: int
    by_seat: int
    by_team: int
    with_unseen: int
    with_rules: int
    size: int


def _offsets() -> list[Offset]:
    """Return the offset of each section, and of the end of the row."""
    table: list[Offset] = []
    end = Offset(0, 0, 0, 0, 0, 0)
    for content in CONTENTS.values():
        assert content.owner == "table" or not content.shown_by, "an `Offset` has no field for this"
        table.append(end._replace(size=content.size))
        before = f"with_{content.shown_by}" if content.shown_by else _BEFORE[content.owner]
        end = end._replace(**{before: getattr(end, before) + content.size})
    return [*table, end]


_BEFORE: Final[Mapping[Owner, str]] = {"table": "fixed", "seat": "by_seat", "team": "by_team"}
OFFSETS: Final[BySection[Offset]] = BySection(*_offsets()[:-1])
"""The offset of each section."""
END: Final = _offsets()[-1]
"""The offset of the end of the row."""
_INDICES: Final = 1023
"""Bit mask that holds all indices of the longest row, so that the compiler omits checks for negative ones."""


@rule
def shown_seats(rules: AnyRules, spec: ObservationSpec) -> int:
    """Return the number of seats that an observation has space for."""
    return MAX_SEATS if spec.padded == 1 else rules.players


@rule
def shown_teams(rules: AnyRules, spec: ObservationSpec) -> int:
    """Return the number of teams that an observation has space for."""
    return MAX_TEAMS if spec.padded == 1 else rules.teams


class RowShape(NamedTuple):
    """The parameters of a row's layout, computed once for each row: compiled code keeps them in registers.

    Attributes:
        seats: number of seats in the layout.
        teams: number of teams in the layout.
        unseen: 1 if unseen cards are shown.
        rules: 1 if the rules are shown.
    """

    seats: int
    teams: int
    unseen: int
    rules: int


@rule
def row_shape_of(rules: AnyRules, spec: ObservationSpec) -> RowShape:
    """Return the parameters of an observation's layout at this table."""
    return RowShape(shown_seats(rules, spec), shown_teams(rules, spec), spec.unseen, spec.rules)


@rule
def start_of(offset: Offset, shape: RowShape) -> int:
    """Return the index of a section's first number."""
    by_owner = offset.by_seat * shape.seats + offset.by_team * shape.teams
    by_spec = offset.with_unseen * shape.unseen + offset.with_rules * shape.rules
    return (offset.fixed + by_owner + by_spec) & _INDICES


@rule
def part_of(offset: Offset, shape: RowShape, index: int) -> int:
    """Return the start of the part of a seat or team, the `index`-th to the left from the observer's."""
    return (start_of(offset, shape) + index * offset.size) & _INDICES


@rule
def observation_size(rules: AnyRules, spec: ObservationSpec) -> int:
    """Return the length of an observation at this table."""
    return start_of(END, row_shape_of(rules, spec))


def sections(rules: Rules, spec: ObservationSpec = DEFAULT_SPEC) -> tuple[Section, ...]:
    """Return the layout of the observation at a table.

    Args:
        rules: the table's rules.
        spec: the observation spec. If it is padded, entries of seats and teams that the table does not have
            are 0, and the bounds are those of all tables.

    Returns:
        The sections in order; together they cover the observation without a gap.
    """
    highest, shape = bounds(rules, spec), row_shape_of(rules, spec)
    owners = {"table": 1, "team": shape.teams, "seat": shape.seats}
    table = []
    for (name, content), offset in zip(CONTENTS.items(), OFFSETS, strict=True):
        if not content.shown_by or getattr(spec, content.shown_by):
            start, size = start_of(offset, shape), content.size * owners[content.owner]
            high = content.high if isinstance(content.high, int) else highest[content.high]
            table.append(Section(name, start, size, high, content.meaning, content.owner))
    return tuple(table)


def bounds(rules: Rules, spec: ObservationSpec) -> dict[str, int]:
    """Return the upper bounds that depend on the table, by their names in `Content.high`."""
    if spec.padded:
        return dict.fromkeys(("copies", "target", "km", "two_hundreds", "hand_counts"), MAX_INT8)
    longest = max(rules.target, rules.extended_target) // 25
    return {
        "copies": max(rules.deck),
        "target": longest,
        "km": longest if rules.exact_finish else longest + MOST_BEYOND_TARGET,
        "two_hundreds": rules.max_200,
        "hand_counts": rules.hand_limit + 1,
    }


def full_state_sections(rules: Rules, spec: ObservationSpec = DEFAULT_SPEC) -> tuple[Section, ...]:
    """Return the layout of the full state: the observation of the seat to act, then hidden information.

    Args:
        rules: the table's rules.
        spec: the observation spec.

    Returns:
        The sections in order, those of the observation first.
    """
    table = list(sections(rules, spec))
    seats, copies = shown_seats(rules, spec), bounds(rules, spec)["copies"]
    streams = seats * longest_stream(rules, spec)
    for name, size, high, meaning in (
        (
            "other_hands",
            (seats - 1) * NUM_CARD_TYPES,
            copies,
            "cards in each other hand, by card type, to the left",
        ),
        ("streams", streams, NUM_CARD_TYPES, "cards to come in each seat's stream, in order: card + 1, or 0"),
    ):
        table.append(Section(name, table[-1].stop, size, high, meaning))
    return tuple(table)


@rule
def longest_stream(rules: AnyRules, spec: ObservationSpec) -> int:
    """Return the number of cards of a seat's stream that a full state has space for.

    It does not depend on rules that are shown, so that games with different rules have one layout.
    """
    if spec.padded == 1 or spec.rules == 1:
        return DECK_SIZE // 2
    return deck_size(rules) // rules.players + 1 - rules.hand_limit
