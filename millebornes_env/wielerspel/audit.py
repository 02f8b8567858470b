"""What must hold in every position of a race: the laws that no play can break."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from millebornes_env.wielerspel.rules import Rules
from millebornes_env.wielerspel.squares import EFFORT
from millebornes_env.wielerspel.state import NO_CARD, NO_SEAT, RACE_OVER, RIDING, SET_NAMES, State


def first_violation(states: npt.NDArray[np.void], rules: Rules) -> tuple[int, str] | None:
    """The first game that no race can be in, and why; None if there is none.

    Args:
        states: `STATE[N]`, at decisions or after the end.
        rules: the table's rules.
    """
    records: Any = np.asarray(states).view(np.recarray)
    for number in range(len(records)):
        found = violations(records[number], rules)
        if found:
            return number, found[0]
    return None


def violations(state: State, rules: Rules) -> list[str]:
    """What is wrong with a position, in words; nothing, if a race can be in it.

    Args:
        state: one record of `STATE`, at a decision or after the end.
        rules: the table's rules.
    """
    checks = (_wrong_teams, _wrong_tracks, _wrong_jerseys, _wrong_cards, _wrong_decision)
    return [found for check in checks for found in check(state, rules)]


def _wrong_teams(state: State, rules: Rules) -> Iterator[str]:
    """003:40 and 003:172: energy from 0 to 60, no servant is lost or comes back."""
    for seat in range(rules.players):
        energy = int(state.energy[seat])
        if not 0 <= energy <= rules.max_energy:
            yield f"seat {seat} has {energy} energy"
        on_board = int(np.count_nonzero(np.asarray(state.owner) == seat))
        servants = int(state.off_board[seat]) + on_board + int(state.retired[seat])
        if servants != rules.servants or int(state.off_board[seat]) < 0 or int(state.retired[seat]) < 0:
            yield f"seat {seat} has {servants} servants, not {rules.servants}"
        if int(state.out[seat]) == 1 and (energy or int(state.retired[seat]) != rules.servants):
            yield f"seat {seat} has left the race with energy or servants"


def _wrong_tracks(state: State, rules: Rules) -> Iterator[str]:
    """003:51 and 003:113: one rider is away at most, servants stand on effort squares."""
    riding = [int(seat) for seat in state.peloton[: int(state.riders)]]
    escaped, lead = int(state.escaped), int(state.lead)
    everybody = riding + ([escaped] if escaped != NO_SEAT else [])
    in_the_race = [seat for seat in range(rules.players) if int(state.out[seat]) == 0]
    if sorted(everybody) != in_the_race:
        yield f"the peloton {riding} and the escaped seat {escaped} are not the seats in the race"
    if any(int(seat) != NO_SEAT for seat in state.peloton[int(state.riders) :]):
        yield "a seat stands behind the last of the peloton"
    if (escaped == NO_SEAT) != (lead == 0) or lead < 0:
        yield f"the lead of seat {escaped} is {lead}"
    if lead > rules.inner_track and int(state.phase) != RACE_OVER:
        yield f"the lead is {lead}, and the race is not over"
    if not 0 <= int(state.square) < rules.length:
        yield f"the rainbow rider is on square {int(state.square)}"
    for square, owner in enumerate(state.owner):
        if int(owner) != NO_SEAT and (square >= rules.length or rules.square_kind[square] != EFFORT):
            yield f"a servant stands on square {square}, which is no effort square"


def _wrong_jerseys(state: State, rules: Rules) -> Iterator[str]:
    """No jersey card is lost or made."""
    for kind, name in enumerate(SET_NAMES):
        cards = [int(state.stacks[kind]), *(int(state.jerseys[seat, kind]) for seat in range(rules.players))]
        if sum(cards) != rules.jersey_cards or min(cards) < 0:
            yield f"of the set {name} there are {cards} cards"


def _wrong_cards(state: State, rules: Rules) -> Iterator[str]:
    """No chance card is there twice, and none lies behind the end of the deck."""
    left = [int(card) for card in state.deck[int(state.deck_next) :]]
    size = left.index(NO_CARD) if NO_CARD in left else len(left)
    if any(card != NO_CARD for card in left[size:]):
        yield "there is a gap in the deck"
    for card in range(rules.card_types):
        if left[:size].count(card) > rules.card_copies[card]:
            yield f"there are {left[:size].count(card)} cards of type {card} in the deck"


def _wrong_decision(state: State, rules: Rules) -> Iterator[str]:
    """A seat that is in the race decides, as long as the race is not over."""
    phase, seat = int(state.phase), int(state.seat)
    if not RIDING < phase <= RACE_OVER:
        yield f"the phase is {phase}"
    if phase != RACE_OVER and not (0 <= seat < rules.players and int(state.out[seat]) == 0):
        yield f"seat {seat} decides, which is not in the race"
