"""The numbers, the board and the chance cards of a race, as a tuple, and their checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple, get_type_hints

import numpy as np
import numpy.typing as npt

from millebornes_env.errors import EditionError, shown
from millebornes_env.games.sheets import NO_OR_YES
from millebornes_env.games.wielerspel.actions import MOST_ENERGY
from millebornes_env.games.wielerspel.squares import (
    EFFORT,
    KIND_NAMES,
    KINDS_OF_CARDS,
    KINDS_OF_SQUARES,
    KINDS_WITH_A_NUMBER,
    MAX_SQUARES,
    POLKA_DOT,
    START,
)

MIN_PLAYERS: Final = 2
MAX_PLAYERS: Final = 6
MIN_SQUARES: Final = 7
MAX_CARD_TYPES: Final = 16
MAX_DECK: Final = 59
"""More than twice the cards of the box, and such that the record of a race needs no padding."""
MAX_SERVANTS: Final = 10
MAX_INNER_TRACK: Final = 100
MAX_JERSEYS: Final = 30
MIN_TURNS: Final = 100
"""Prevents races that end before their first decision."""
MAX_TURNS: Final = 10_000
MAX_NUMBER: Final = MOST_ENERGY


class Field(NamedTuple):
    """The meaning of a number of `Rules`.

    Attributes:
        question: the question that it answers.
        low: minimum.
        high: maximum.
        choices: meanings of the values 0, 1, ...; empty for a number.
    """

    question: str
    low: int
    high: int
    choices: tuple[str, ...] = ()


class Square(NamedTuple):
    """One square of the outer track.

    Attributes:
        kind: one of `squares.KINDS_OF_SQUARES`.
        number: the number printed on it, or 0.
    """

    kind: int
    number: int


class Card(NamedTuple):
    """One type of chance card.

    Attributes:
        kind: one of `squares.KINDS_OF_CARDS`.
        number: the number printed on it, or 0.
        copies: number of copies in the deck.
    """

    kind: int
    number: int
    copies: int


class Rules(NamedTuple):
    """All parameters of a race: numbers, board and deck.

    Compiled code gets them as a record with the same fields (`rules_array`).
    """

    players: Annotated[int, Field("seats; each is a team of its own", MIN_PLAYERS, MAX_PLAYERS)]
    teams: Annotated[int, Field("teams: as many as seats", MIN_PLAYERS, MAX_PLAYERS)]
    # Energy and servants
    energy: Annotated[int, Field("energy at the start", 1, MOST_ENERGY)]
    max_energy: Annotated[int, Field("the most energy that a seat can have", 1, MOST_ENERGY)]
    servants: Annotated[int, Field("servants of each leader", 1, MAX_SERVANTS)]
    retirement_energy: Annotated[int, Field("energy for a servant who retires", 1, MOST_ENERGY)]
    lap_supply: Annotated[int, Field("energy for everybody at the end of a lap", 0, MOST_ENERGY)]
    # The escape
    inner_track: Annotated[int, Field("arrows of the inner track; beyond is its end", 1, MAX_INNER_TRACK)]
    first_minute: Annotated[
        int, Field("arrows of a minute: a shorter lead costs the first price", 1, MAX_INNER_TRACK)
    ]
    second_minute: Annotated[
        int, Field("arrows of two minutes: a longer lead costs the third price", 1, MAX_INNER_TRACK)
    ]
    first_price: Annotated[int, Field("energy for a turn with a lead of the first minute", 0, MOST_ENERGY)]
    second_price: Annotated[int, Field("energy for a turn with a lead of the second minute", 0, MOST_ENERGY)]
    third_price: Annotated[int, Field("energy for a turn with a longer lead", 0, MOST_ENERGY)]
    # Jerseys
    jersey_cards: Annotated[int, Field("cards in each of the four sets of jerseys", 1, MAX_JERSEYS)]
    greens_for_rainbow: Annotated[int, Field("green jerseys for a rainbow jersey", 1, MAX_JERSEYS)]
    polka_for_rainbow: Annotated[int, Field("polka-dot jerseys for a rainbow jersey", 1, MAX_JERSEYS)]
    # Winning
    target_rainbows: Annotated[int, Field("rainbow jerseys that win the race", 1, MAX_JERSEYS)]
    also_green: Annotated[int, Field("green jerseys that are needed besides", 0, MAX_JERSEYS)]
    also_polka: Annotated[int, Field("polka-dot jerseys that are needed besides", 0, MAX_JERSEYS)]
    combativity: Annotated[int, Field("do points for combativity decide who wins?", 0, 1, NO_OR_YES)]
    max_turns: Annotated[
        int, Field("turns after which the race is broken off and ranked", MIN_TURNS, MAX_TURNS)
    ]
    # The board and the deck
    board: tuple[Square, ...]
    deck: tuple[Card, ...]

    # Fields of the record in place of the board and the deck.

    @property
    def length(self) -> int:
        """Number of squares on the outer track."""
        return len(self.board)

    @property
    def square_kind(self) -> tuple[int, ...]:
        """Kind of each square."""
        return tuple(square.kind for square in self.board)

    @property
    def square_number(self) -> tuple[int, ...]:
        """Number printed on each square, or 0."""
        return tuple(square.number for square in self.board)

    @property
    def card_types(self) -> int:
        """Number of types of chance cards."""
        return len(self.deck)

    @property
    def card_kind(self) -> tuple[int, ...]:
        """Kind of each type of card."""
        return tuple(card.kind for card in self.deck)

    @property
    def card_number(self) -> tuple[int, ...]:
        """Number printed on each type of card, or 0."""
        return tuple(card.number for card in self.deck)

    @property
    def card_copies(self) -> tuple[int, ...]:
        """Copies of each type of card in the deck."""
        return tuple(card.copies for card in self.deck)


FIELDS: Final[Mapping[str, Field]] = {
    name: hint.__metadata__[0]
    for name, hint in get_type_hints(Rules, include_extras=True).items()
    if hasattr(hint, "__metadata__")
}
"""The meaning of each number of `Rules` (all fields except the board and the deck)."""

TABLE_FIELDS: Final = ("players", "teams")
"""The fields that are chosen with the table, not in a sheet."""

RULES: Final = np.dtype(
    [(name, np.int64) for name in FIELDS]
    + [
        ("length", np.int64),  # squares of the outer track
        ("square_kind", np.int8, (MAX_SQUARES,)),
        ("square_number", np.int8, (MAX_SQUARES,)),
        ("card_types", np.int64),
        ("card_kind", np.int8, (MAX_CARD_TYPES,)),
        ("card_number", np.int8, (MAX_CARD_TYPES,)),
        ("card_copies", np.int8, (MAX_CARD_TYPES,)),
    ]
)
"""The structured dtype of `Rules`: its numbers, and the board and the deck as arrays."""


def rules_array(rules: Rules) -> npt.NDArray[np.void]:
    """Return the rules as `RULES[1]`; element 0 has the fields as attributes, in compiled code or not."""
    record: Any = np.zeros(1, RULES)
    for name in RULES.names or ():
        value = getattr(rules, name)
        if isinstance(value, tuple):
            record[name][0, : len(value)] = value
        else:
            record[name] = value
    result: npt.NDArray[np.void] = record.view(np.recarray)
    return result


def validated(rules: Rules) -> Rules:
    """Return the rules after checking that they make a race.

    Raises:
        EditionError: a rule is invalid; the message names the field and its possible values.
    """
    for name, field in FIELDS.items():
        _check_value(name, getattr(rules, name), field)
    if rules.teams != rules.players:
        raise EditionError(
            f"teams is {rules.teams}: each of the {rules.players} players is a team of its own"
        )
    most = rules.max_energy
    if rules.energy > most:
        raise EditionError(f"energy is {rules.energy}: nobody can have more than max_energy, {most}")
    if rules.second_minute < rules.first_minute:
        raise EditionError(
            f"second_minute is {rules.second_minute}: it must be first_minute ({rules.first_minute}) or more"
        )
    _check_jerseys(rules)
    _check_board(rules.board)
    _check_deck(rules.deck)
    return rules


def _check_value(name: str, value: object, field: Field) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not field.low <= value <= field.high:
        meaning = " or ".join(f"{choice} ({word})" for choice, word in enumerate(field.choices))
        allowed = meaning or f"a whole number from {field.low} to {field.high}"
        raise EditionError(f"the rule {name} is {shown(value)}: it must be {allowed}")


def _check_jerseys(rules: Rules) -> None:
    worth = 2 + 3  # a card of each of the two polka-dot sets
    for name, most in (
        ("target_rainbows", rules.jersey_cards),
        ("also_green", rules.jersey_cards),
        ("greens_for_rainbow", rules.jersey_cards),
        ("also_polka", worth * rules.jersey_cards),
        ("polka_for_rainbow", worth * rules.jersey_cards),
    ):
        if getattr(rules, name) > most:
            raise EditionError(
                f"{name} is {getattr(rules, name)}: the sets of {rules.jersey_cards} cards hold only {most}"
            )


def _check_board(board: object) -> None:
    """Check that a board has a start at square 0, effort squares, and at most 43 squares (003:109)."""
    if not isinstance(board, tuple) or len(board) < MIN_SQUARES:
        raise EditionError(f"board: it needs {MIN_SQUARES} squares, more than a die shows")
    if len(board) > MAX_SQUARES:
        raise EditionError(
            f"board: it has {len(board)} squares; there may be at most {MAX_SQUARES}, since 22 effort "
            "squares are the majority"
        )
    starts = [number for number, square in enumerate(board) if square[0] == START]
    if not starts:
        raise EditionError("board: there is no start")
    if len(starts) > 1:
        raise EditionError(f"board: there are {len(starts)} starts, the squares {starts}")
    if starts != [0]:
        raise EditionError(f"board: the start is square {starts[0]}; it must be the first, square 0")
    for number, square in enumerate(board):
        _check_kind(f"board, square {number}", square[0], square[1], KINDS_OF_SQUARES)
    if not any(square[0] == EFFORT for square in board):
        raise EditionError("board: there is no effort square")


def _check_deck(deck: object) -> None:
    if not isinstance(deck, tuple) or len(deck) > MAX_CARD_TYPES:
        raise EditionError(f"deck: there may be at most {MAX_CARD_TYPES} types of cards")
    for number, card in enumerate(deck):
        where = f"deck, card type {number}"
        _check_kind(where, card[0], card[1], KINDS_OF_CARDS)
        if isinstance(card[2], bool) or not isinstance(card[2], int) or not 0 <= card[2] <= MAX_DECK:
            raise EditionError(f"{where}: copies is {shown(card[2])}: it must be 0 to {MAX_DECK}")
    size = sum(card[2] for card in deck)
    if size == 0:
        raise EditionError("deck: it has no cards")
    if size > MAX_DECK:
        raise EditionError(f"deck: it has {size} cards; there may be at most {MAX_DECK}")


def _check_kind(where: str, kind: object, number: object, kinds: tuple[int, ...]) -> None:
    """Check the kind of a square or card, and the number on it."""
    if isinstance(kind, bool) or not isinstance(kind, int) or kind not in kinds:
        names = ", ".join(KIND_NAMES[one] for one in kinds)
        raise EditionError(f"{where}: the kind is {shown(kind)}; the kinds are {names}")
    if isinstance(number, bool) or not isinstance(number, int):
        raise EditionError(f"{where}: the number is {shown(number)}; it must be a whole number")
    name = KIND_NAMES[kind]
    if kind not in KINDS_WITH_A_NUMBER and number != 0:
        raise EditionError(f"{where}: {name} has no number; {number} is given")
    if kind in KINDS_WITH_A_NUMBER and not 1 <= number <= MAX_NUMBER:
        raise EditionError(f"{where}: {name} needs a number from 1 to {MAX_NUMBER}; {number} is given")
    if kind == POLKA_DOT and number not in (2, 3):
        raise EditionError(f"{where}: a polka-dot card is worth 2 or 3 jerseys (003:73); {number} is given")
