"""The layout of an observation: a row of small integers in named sections.

`BySection` is the table of the layout, a line for each section in the order of the row: first what the whole
table shares, then what each seat has. Sizes, starts and bounds are worked out from it, here and nowhere else.
`observation` writes the sections.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Generic, NamedTuple, TypeVar, get_type_hints

from millebornes_env.engine.layout import Content, Section
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.actions import MOST_ENERGY
from millebornes_env.games.wielerspel.dice import FACES
from millebornes_env.games.wielerspel.rules import (
    MAX_CARD_TYPES,
    MAX_DECK,
    MAX_INNER_TRACK,
    MAX_JERSEYS,
    MAX_NUMBER,
    MAX_PLAYERS,
    MAX_SERVANTS,
    Rules,
)
from millebornes_env.games.wielerspel.squares import KIND_NAMES, MAX_SQUARES, NUM_KINDS
from millebornes_env.games.wielerspel.state import NUM_SETS, PHASE_NAMES, RACE_OVER

T = TypeVar("T")

MAX_INT8: Final = 127
TURN_UNIT: Final = 16
"""Unit of turns."""


class ObservationSpec(NamedTuple):
    """Options of an observation, as ints that compiled code takes by value."""

    padded: int = 0  # 1: padded to MAX_PLAYERS, so that all tables have the same layout


DEFAULT_SPEC: Final = ObservationSpec()


# The table of the layout -----------------------------------------------------------------------------------


_DECISIONS: Final = RACE_OVER - 1
_DECISION_NAMES: Final = ", ".join(PHASE_NAMES[1:RACE_OVER])
_KINDS: Final = ", ".join(name.replace("_", " ") for name in KIND_NAMES)


class BySection(NamedTuple, Generic[T]):
    """A value for each section, by its name, in the order of the row; for example its start."""

    phase: Annotated[T, Content(_DECISIONS, 1, f"the decision: {_DECISION_NAMES} (all 0: the race is over)")]
    price: Annotated[T, Content(1, MAX_NUMBER, "energy that the decision costs: lead, payment or escape")]
    square: Annotated[T, Content(1, "last_square", "square of the rainbow rider")]
    kind: Annotated[T, Content(NUM_KINDS, 1, f"kind of the square in this turn: {_KINDS}")]
    number: Annotated[T, Content(1, MAX_NUMBER, "number on the square or card")]
    lead: Annotated[T, Content(1, "lead", "lead of the escaped rider, in arrows of 10 seconds")]
    highest_lead: Annotated[T, Content(1, "lead", "the highest lead of this escape")]
    rainbow_lap: Annotated[T, Content(1, 1, "1 if there is a rainbow jersey at the end of this lap")]
    no_supply: Annotated[T, Content(1, 1, "1 if there is no supply at the end of this lap")]
    stacks: Annotated[
        T, Content(NUM_SETS, "jersey_cards", "jersey cards left: rainbow, green, doubles, triples")
    ]
    highest_bid: Annotated[T, Content(1, MOST_ENERGY, "the highest bid so far")]
    turn: Annotated[T, Content(1, MAX_INT8, "turns so far, in 16s rounded down, at most 127")]
    cards_left: Annotated[
        T, Content(MAX_CARD_TYPES, "copies", "chance cards not drawn since the last shuffle")
    ]
    to_act: Annotated[T, Content(1, 1, "the seat to act, from the own seat to the left", "seat")]
    to_come: Annotated[
        T, Content(1, 1, "seats that have yet to pay or bid, including the seat to act", "seat")
    ]
    highest_bidder: Annotated[T, Content(1, 1, "the seat of the highest bid", "seat")]
    place: Annotated[T, Content(1, "players", "place in the race from 1, the first; 0: has left it", "seat")]
    away: Annotated[T, Content(1, 1, "1 if the leader has escaped", "seat")]
    energy: Annotated[T, Content(1, "energy", "energy", "seat")]
    off_board: Annotated[T, Content(1, "servants", "servants beside the board", "seat")]
    retired: Annotated[T, Content(1, "servants", "servants who have retired", "seat")]
    jerseys: Annotated[
        T, Content(NUM_SETS, "jersey_cards", "jersey cards: rainbow, green, doubles, triples", "seat")
    ]
    escape_points: Annotated[
        T, Content(1, MAX_INT8, "points for combativity of escapes that have ended, at most 127", "seat")
    ]
    servants: Annotated[T, Content(MAX_SQUARES, 1, "squares that the seat's servants hold", "seat")]


CONTENTS: Final[Mapping[str, Content]] = {
    name: hint.__metadata__[0] for name, hint in get_type_hints(BySection, include_extras=True).items()
}
"""The contents of each section, by name."""


# Where sections are ----------------------------------------------------------------------------------------


class Offset(NamedTuple):
    """The offset of a section at any table: the count of numbers before it.

    Attributes:
        fixed: numbers at every table.
        by_seat: numbers for each seat.
        size: size of the section itself, for each of its owners.
    """

    fixed: int
    by_seat: int
    size: int


def _offsets() -> list[Offset]:
    """Return the offset of each section, and of the end of the row."""
    table: list[Offset] = []
    fixed = by_seat = 0
    for content in CONTENTS.values():
        table.append(Offset(fixed, by_seat, content.size))
        if content.owner == "seat":
            by_seat += content.size
        else:
            fixed += content.size
    return [*table, Offset(fixed, by_seat, 0)]


OFFSETS: Final[BySection[Offset]] = BySection(*_offsets()[:-1])
"""The offset of each section."""
END: Final = _offsets()[-1]
"""The offset of the end of the row."""


@rule
def shown_seats(rules: Rules, spec: ObservationSpec) -> int:
    """Return the number of seats that an observation has space for."""
    return MAX_PLAYERS if spec.padded == 1 else rules.players


@rule
def start_of(offset: Offset, seats: int) -> int:
    """Return the index of a section's first number in a layout for `seats` seats."""
    return offset.fixed + offset.by_seat * seats


@rule
def part_of(offset: Offset, seats: int, index: int) -> int:
    """Return the start of the part of a seat, the `index`-th to the left from the observer."""
    return start_of(offset, seats) + index * offset.size


@rule
def observation_size(rules: Rules, spec: ObservationSpec) -> int:
    """Return the length of an observation at this table."""
    return start_of(END, shown_seats(rules, spec))


def sections(rules: Rules, spec: ObservationSpec | None = DEFAULT_SPEC) -> tuple[Section, ...]:
    """Return the layout of the observation at a table.

    Args:
        rules: the table's rules.
        spec: the observation spec; None for the default. If it is padded, entries of seats that the table
            does not have are 0, and the bounds are those of all tables.

    Returns:
        The sections in order; together they cover the observation without a gap.
    """
    spec = spec or DEFAULT_SPEC
    highest, seats = bounds(rules, spec), shown_seats(rules, spec)
    table = []
    for (name, content), offset in zip(CONTENTS.items(), OFFSETS, strict=True):
        size = content.size * (seats if content.owner == "seat" else 1)
        high = content.high if isinstance(content.high, int) else highest[content.high]
        table.append(Section(name, start_of(offset, seats), size, high, content.meaning, content.owner))
    return tuple(table)


def bounds(rules: Rules, spec: ObservationSpec) -> dict[str, int]:
    """Return the upper bounds that depend on the rules, by their names in `Content.high`."""
    if spec.padded:
        return {
            "last_square": MAX_SQUARES - 1,
            "lead": MAX_INNER_TRACK + FACES,
            "jersey_cards": MAX_JERSEYS,
            "copies": MAX_DECK,
            "players": MAX_PLAYERS,
            "energy": MOST_ENERGY,
            "servants": MAX_SERVANTS,
        }
    return {
        "last_square": len(rules.board) - 1,
        "lead": rules.inner_track + FACES,
        "jersey_cards": rules.jersey_cards,
        "copies": max(card.copies for card in rules.deck),
        "players": rules.players,
        "energy": rules.max_energy,
        "servants": rules.servants,
    }


def full_state_sections(rules: Rules, spec: ObservationSpec | None = DEFAULT_SPEC) -> tuple[Section, ...]:
    """Return the layout of the full state: the observation, then the order of the cards to come."""
    table = sections(rules, spec)
    meaning = "chance cards to come, in order: card type + 1, or 0"
    return (*table, Section("deck", table[-1].stop, MAX_DECK, MAX_CARD_TYPES, meaning))
