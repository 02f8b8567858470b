"""The laws of the race's audit: each can be broken, and is named; what cannot be raced on is refused."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from millebornes_env.errors import ConformanceError
from millebornes_env.games.wielerspel.audit import (
    MESSAGES,
    NO_VIOLATION,
    check_laws,
    first_violation,
    message_of,
    violation_of,
)
from millebornes_env.games.wielerspel.audit import violations as law
from millebornes_env.games.wielerspel.state import BY_EXHAUSTION, BY_INNER_TRACK, BY_TURNS, STATE
from tests.each import each
from tests.race_support import CHANCE, ESCAPE, FLAT_2, LINE, SUPPLY, Race

NONE = -1


# A race at each decision -----------------------------------------------------------------------------------


def auction() -> Race:
    """Seat 3 is away and asked first whether it bids for square 1."""
    race = Race(players=4).servants(1, 4, 5).jerseys(2, green=1)
    return race.away(3, 5).land_on(FLAT_2).do("pay")


def second_bid() -> Race:
    return auction().do("bid 3")


def away() -> Race:
    return Race(players=4).away(3, 5).land_on(FLAT_2)


def must_pay() -> Race:
    return Race(players=4).energy(1, 0).servants(1, 4).land_on(FLAT_2)


def must_retire() -> Race:
    return Race(players=4).servants(0, 4).deck("forced_retirement").land_on(CHANCE)


def escaping() -> Race:
    return Race(players=4).land_on(ESCAPE)


def moving() -> Race:
    return Race(players=4, servants=2).servants(1, 4, 5).land_on(FLAT_2).do("bid 1", "pass", "pass", "pass")


def exchanging() -> Race:
    return Race(players=4).jerseys(0, green=3).land_on(FLAT_2)


def won() -> Race:
    return Race(players=4).jerseys(0, rainbow=2).set(rainbow_lap=1).land_on(LINE)


POSITIONS = (auction, second_bid, away, must_pay, must_retire, escaping, moving, exchanging, won)


@each("position", POSITIONS)
def test_a_position_that_breaks_no_law(position: Callable[[], Race]) -> None:
    race = position()
    assert race.is_over == (position is won)
    assert law_broken(race) == NO_VIOLATION
    assert first_violation(race.states, race.rules) is None
    check_laws(race.states, race.rules)


# Every law is broken ---------------------------------------------------------------------------------------

Break = Callable[[Any], object]


def put(**fields: Any) -> Break:
    """Write these fields."""

    def change(state: Any) -> None:
        for name, value in fields.items():
            state[name] = value

    return change


def at(name: str, index: Any, value: int) -> Break:
    """Write one element of an array."""

    def change(state: Any) -> None:
        state[name][index] = value

    return change


def swap(name: str, one: int, other: int) -> Break:
    def change(state: Any) -> None:
        state[name][one], state[name][other] = state[name][other], state[name][one]

    return change


def draw_the_forced_retirement(state: Any) -> None:
    """It is drawn, as if the deck had not been shuffled: another card lies in its place."""
    rules = auction().rules
    kinds = [card.kind for card in rules.deck]
    forced = kinds.index(11)
    place = list(state.deck).index(forced)
    state.deck[place] = state.deck[0]
    state.deck[0] = NONE
    state.deck_next = 1


def too_many_cards(state: Any) -> None:
    state.deck[:40] = 9


def draw(state: Any) -> None:
    """A card is drawn, and another one is gone from the end."""
    cards = [int(card) for card in state.deck if card != NONE]
    state.deck[len(cards) - 1] = NONE


BROKEN: list[tuple[str, Callable[[], Race], Break]] = [
    ("SEAT_OUT_OF_RANGE", auction, put(seat=4)),
    ("PHASE_OUT_OF_RANGE", auction, put(phase=0)),
    ("STAGE_OUT_OF_RANGE", auction, put(stage=15)),
    ("ENDING_OUT_OF_RANGE", auction, put(ending=6)),
    ("KEY_OUT_OF_RANGE", auction, at("key", 1, 2**32)),
    ("NEGATIVE_TURN", auction, put(turn=-1)),
    ("NEGATIVE_SHUFFLES", auction, put(shuffles=-1)),
    ("UNKNOWN_WINNER", auction, put(winner=4)),
    ("UNKNOWN_ESCAPED", auction, put(escaped=5)),
    ("UNKNOWN_ROLLER", auction, put(roller=-2)),
    ("UNKNOWN_HOLDER", auction, put(holder=4)),
    ("UNKNOWN_HIGHEST_BIDDER", auction, put(highest_bidder=4)),
    ("UNKNOWN_SEAT_IN_PELOTON", auction, at("peloton", 0, 4)),
    ("UNKNOWN_SEAT_IN_QUEUE", auction, at("queue", 0, 127)),
    ("UNKNOWN_OWNER", auction, at("owner", 4, 4)),
    ("RIDERS_OUT_OF_RANGE", auction, put(riders=5)),
    ("QUEUE_OUT_OF_RANGE", auction, put(queue_end=5)),
    ("QUEUE_OUT_OF_RANGE", auction, put(queue_next=-1)),
    ("LEAD_OUT_OF_RANGE", auction, put(lead=25)),
    ("SQUARE_OUT_OF_RANGE", auction, put(square=40)),
    ("DIE_OUT_OF_RANGE", auction, put(yellow=7)),
    ("KIND_OUT_OF_RANGE", auction, put(kind=12)),
    ("NUMBER_OUT_OF_RANGE", auction, put(due=61)),
    ("UNKNOWN_CARD", auction, put(card=16)),
    ("UNKNOWN_CARD_IN_DECK", auction, at("deck", 3, 16)),
    ("DECK_NEXT_OUT_OF_RANGE", auction, put(deck_next=60)),
    ("BID_OUT_OF_RANGE", auction, put(highest_bid=61)),
    ("NO_YES_OR_NO", auction, put(no_supply=2)),
    ("NO_YES_OR_NO", auction, at("out", 3, -1)),
    ("ENERGY_OUT_OF_RANGE", auction, at("energy", 1, 61)),
    ("ENERGY_OUT_OF_RANGE", auction, at("energy", 0, -1)),
    ("SERVANTS_OUT_OF_RANGE", auction, at("retired", 0, -1)),
    ("JERSEYS_OUT_OF_RANGE", auction, at("stacks", 1, 13)),
    ("NEGATIVE_ESCAPE_POINTS", auction, at("escape_points", 2, -1)),
    ("UNUSED_FIELD_NOT_BLANK", auction, at("energy", 5, 60)),
    ("SERVANTS_NOT_CONSERVED", auction, at("owner", 4, NONE)),
    ("OUT_WITH_SOMETHING_LEFT", auction, at("out", 2, 1)),
    ("WRONG_PELOTON", auction, put(riders=2)),
    ("WRONG_PELOTON", auction, at("peloton", 0, 3)),
    ("WRONG_PELOTON", auction, put(escaped=NONE)),
    ("WRONG_LEAD", auction, put(lead=0)),
    ("LEAD_ABOVE_HIGHEST", auction, put(highest_lead=3)),
    ("BEYOND_INNER_TRACK", auction, put(lead=19, highest_lead=19)),
    ("SERVANT_ON_OTHER_SQUARE", auction, swap("owner", 4, SUPPLY)),
    ("JERSEYS_NOT_CONSERVED", auction, at("stacks", 1, 10)),
    ("GAP_IN_DECK", auction, at("deck", 3, NONE)),
    ("TOO_MANY_CARDS", auction, too_many_cards),
    ("STAGE_DOES_NOT_FIT", auction, put(stage=13)),
    ("DECIDER_IS_OUT", exchanging, lambda race: leave(race, 0)),
    ("WRONG_DECIDER", auction, put(seat=1)),
    ("WRONG_DECIDER", away, put(seat=1)),
    ("WRONG_DECIDER", moving, put(highest_bidder=2)),
    ("WRONG_DECIDER", escaping, put(seat=1)),
    ("WRONG_DECIDER", must_retire, put(seat=1)),
    ("NO_DECISION", must_pay, at("energy", 1, 20)),
    ("NO_DECISION", must_pay, put(due=3)),
    ("NO_DECISION", escaping, lambda state: move_to(state, FLAT_2, kind=1, number=2)),
    ("NO_DECISION", exchanging, lambda state: give_back(state, 0)),
    ("NO_DECISION", moving, lambda state: take_off(state, 1, 4)),
    ("NO_DECISION", must_retire, lambda state: take_off(state, 0, 4)),
    ("WRONG_QUEUE", auction, at("queue", 2, 3)),
    ("WRONG_QUEUE", auction, put(queue_next=4)),
    ("WRONG_KIND", auction, put(number=3)),
    ("WRONG_KIND", auction, put(card=0)),
    ("WRONG_KIND", away, put(kind=1)),
    ("WRONG_KIND", must_retire, put(card=0)),
    ("WRONG_HOLDER", escaping, put(holder=1)),
    ("WRONG_BIDS", auction, put(highest_bid=1)),
    ("WRONG_BIDS", second_bid, at("energy", 3, 2)),
    ("WRONG_BIDS", away, put(highest_bid=1, highest_bidder=1)),
    ("AUCTION_OF_HELD_SQUARE", auction, lambda state: put_on(state, 0, FLAT_2)),
    ("AUCTION_OF_HELD_SQUARE", auction, put(holder=2)),
    ("ENDING_DOES_NOT_FIT", auction, put(ending=BY_EXHAUSTION)),
    ("ENDING_DOES_NOT_FIT", won, put(ending=0)),
    ("WINNER_WITHOUT_END", auction, put(winner=1)),
    ("WINNER_WITHOUT_END", won, put(winner=NONE)),
    ("WRONG_ENDING", won, put(winner=1)),
    ("WRONG_ENDING", won, put(ending=BY_INNER_TRACK)),
    ("WRONG_ENDING", won, put(ending=BY_TURNS, winner=NONE)),
    ("WRONG_ENDING", won, put(ending=BY_EXHAUSTION, winner=NONE)),
    ("TOO_MANY_TURNS", auction, put(turn=2000)),
    ("RACE_GOES_ON_AFTER_WIN", auction, lambda state: take_rainbows(state, 3)),
    ("ROLLED_TOO_EARLY", away, put(white=1)),
    ("NOT_ROLLED", auction, put(roller=NONE)),
    ("DICE_ARE_NOT_THE_KEYS", auction, put(white=2)),
    ("WRONG_LINE", auction, put(landed_on_line=1)),
    ("DRAWN_CARD_IN_DECK", auction, put(deck_next=1)),
    ("WRONG_DECK", auction, draw),
    ("FORCED_RETIREMENT_DRAWN", auction, draw_the_forced_retirement),
    ("TOO_MANY_SHUFFLES", auction, put(shuffles=3)),
    ("TOO_MANY_ESCAPE_POINTS", auction, at("escape_points", 0, 3)),
]


def leave(state: Any, seat: int) -> None:
    """The seat has left the race, and is asked all the same."""
    state.out[seat], state.energy[seat] = 1, 0
    state.retired[seat], state.off_board[seat] = state.off_board[seat], 0
    state.peloton[:3], state.peloton[3], state.riders = (1, 2, 3), NONE, 3


def move_to(state: Any, square: int, kind: int, number: int) -> None:
    state.square, state.kind, state.number = square, kind, number


def give_back(state: Any, seat: int) -> None:
    state.stacks[1] += state.jerseys[seat, 1]
    state.jerseys[seat, 1] = 0


def take_off(state: Any, seat: int, square: int) -> None:
    state.owner[square] = NONE
    state.off_board[seat] += 1


def put_on(state: Any, seat: int, square: int) -> None:
    state.owner[square] = seat
    state.off_board[seat] -= 1


def take_rainbows(state: Any, cards: int) -> None:
    state.jerseys[0, 0] += cards
    state.stacks[0] -= cards


def law_broken(race: Race) -> int:
    return int(violation_of(race.states[0], race.record))


@each(("name", "position", "change"), BROKEN)
def test_a_broken_law_is_named(name: str, position: Callable[[], Race], change: Break) -> None:
    race = position()
    change(race.state)
    broken = law_broken(race)
    assert message_of(broken, race.rules) == message_of(getattr(law, name), race.rules)
    if broken > law.TOO_MANY_TURNS:  # only unreachable
        assert first_violation(race.states, race.rules) is None
    else:
        assert first_violation(race.states, race.rules) == (0, message_of(broken, race.rules))
    with pytest.raises(ConformanceError, match="game 0, seat "):
        check_laws(race.states, race.rules)


def test_every_law_is_broken_here() -> None:
    numbers = {getattr(law, name) for name, *_ in BROKEN}
    assert numbers == set(range(1, len(MESSAGES)))


def bytes_of_all_kinds() -> Iterable[np.ndarray]:
    """Records of any bytes, and sound ones with a byte changed."""
    random = np.random.default_rng(5)
    yield np.frombuffer(random.bytes(2000 * STATE.itemsize), STATE).copy()
    sound = np.concatenate([position().states for position in POSITIONS] * 200)
    raw = sound.view(np.uint8).reshape(len(sound), -1)
    raw[np.arange(len(raw)), random.integers(STATE.itemsize, size=len(raw))] = random.integers(
        256, size=len(raw)
    )
    yield sound


def test_whatever_stands_in_a_record_the_audit_answers() -> None:
    rules = auction().rules
    result = 0
    for states in bytes_of_all_kinds():
        for number in range(len(states)):
            result += first_violation(states[number : number + 1], rules) is not None
    assert 2500 < result < 2000 + len(POSITIONS) * 200
