"""Laws of a decision and of a step of a race: mask, observation, and the changes that an action may make.

The laws of a single record are in `games.wielerspel.audit`. These need more: the record before the step, the
action, or a second way to find the same answer.
"""

from __future__ import annotations

from typing import Any, Final

from millebornes_env.engine.laws import NO_VIOLATION, Register, require
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.actions import (
    ESCAPE,
    EXCHANGE_GREEN,
    EXCHANGE_POLKA_DOT,
    bid_of,
    is_retirement,
)
from millebornes_env.games.wielerspel.audit import MESSAGES
from millebornes_env.games.wielerspel.dice import FACES
from millebornes_env.games.wielerspel.state import (
    BID,
    DOUBLES,
    GREENS,
    JERSEYS_AFTER_THE_SQUARE,
    NO_SEAT,
    NUM_SETS,
    RAINBOW,
    TRIPLES,
    Int8Array,
    State,
)

_register = Register(MESSAGES)
_named = _register.name

# A decision
MASK_IS_NOT_LEGALITY: Final = _named("the mask differs from what is_legal says of each action")
NO_CHOICE: Final = _named("a seat is asked although it has no choice of two actions")
BID_ABOVE_ENERGY: Final = _named("a bid is legal that is above the own energy, or not above the highest bid")
OBSERVATION_OUT_OF_BOUNDS: Final = _named("a number of the observation lies outside its section's bounds")
HIDDEN_CARDS_SHOW: Final = _named("redealing the hidden cards changes what the seat sees or may do")
REDEAL_IS_NO_GAME: Final = _named("redealing the hidden cards makes an impossible race")
# A step
OTHER_RACE: Final = _named("key or episode changed within a race")
TURN_WENT_BACK: Final = _named("the race went back to an earlier turn, stage or shuffle")
CAME_BACK: Final = _named("a servant or a leader who had left the race came back, or escape points were lost")
WRONG_RETIREMENT: Final = _named("the seat that let a servant retire has as many as before")
JERSEYS_LOST: Final = _named("a jersey card was handed in without an exchange, or in another seat's turn")
LEAD_WITHOUT_ESCAPE: Final = _named("a lead grew without an escape, or by more than the die shows")
ENERGY_FROM_NOWHERE: Final = _named("a seat gained energy that no servant brought, after the supply")
WRONG_BID: Final = _named("the highest bid is not what was bid")
# Races
WRONG_REWARDS: Final = _named("rewards do not sum to 0, or are paid before the end of a race")
WRONG_END_OF_EPISODE: Final = _named("the engine ended a race that goes on, or went on with one that is over")

ALL_MESSAGES: Final = _register.messages
"""Messages of all violations by number: first those of the audit, then those of decisions and steps."""


@rule
def choice_violation(state: State, mask: Int8Array, found: int) -> int:
    """Return `found` if it is a violation, else the first law of the game's own that the mask breaks."""
    found = require(found, NO_CHOICE, is_a_choice(mask))
    return require(found, BID_ABOVE_ENERGY, bids_can_be_paid(state, mask))


@rule
def is_a_choice(mask: Int8Array) -> bool:
    """W11, a seat is asked only if it has a choice."""
    legal = 0
    for action in range(len(mask)):
        legal += int(mask[action])
    return legal > 1


@rule
def bids_can_be_paid(state: State, mask: Int8Array) -> bool:
    """003:121, a bid is above the highest bid and within the seat's energy."""
    energy, highest = int(state.energy[int(state.seat)]), int(state.highest_bid)
    wrong = 0
    for action in range(len(mask)):
        bid = bid_of(action)
        wrong |= int(mask[action]) & (1 if bid > 0 and not highest < bid <= energy else 0)
    return wrong == 0


# Steps ----------------------------------------------------------------------------------------------------


@rule
def step_violation(before: State, after: State, rules: Any, action: int, steps: int) -> int:
    """Return the first law that a step breaks, or NO_VIOLATION.

    Args:
        before: the race before the step.
        after: the race after it.
        rules: the table's rules.
        action: action of the seat.
        steps: not used; the length of a race has no law.
    """
    result = require(NO_VIOLATION, OTHER_RACE, race_is_the_same(before, after))
    result = require(result, TURN_WENT_BACK, race_went_forward(before, after))
    result = require(result, CAME_BACK, none_came_back(before, after, rules))
    result = require(result, WRONG_RETIREMENT, the_servant_retired(before, after, action))
    result = require(result, JERSEYS_LOST, jerseys_were_exchanged(before, after, rules, action))
    result = require(result, LEAD_WITHOUT_ESCAPE, lead_grew_by_an_escape(before, after, action))
    result = require(result, ENERGY_FROM_NOWHERE, energy_came_from_retirements(before, after, rules))
    return require(result, WRONG_BID, highest_bid_is_what_was_bid(before, after, action))


@rule
def race_is_the_same(before: State, after: State) -> bool:
    """A step changes neither the key of the random numbers nor the episode."""
    different = (int(before.key[0]) ^ int(after.key[0])) | (int(before.key[1]) ^ int(after.key[1]))
    return different | (int(before.episode) ^ int(after.episode)) == 0


@rule
def is_same_turn(before: State, after: State) -> bool:
    """Return True if the step did not end the turn."""
    return int(before.turn) == int(after.turn)


@rule
def race_went_forward(before: State, after: State) -> bool:
    """Turns, shuffles and the stage of a turn never go back."""
    if int(after.turn) < int(before.turn) or int(after.shuffles) < int(before.shuffles):
        return False
    return not is_same_turn(before, after) or int(after.stage) >= int(before.stage)


@rule
def none_came_back(before: State, after: State, rules: Any) -> bool:
    """003:172, 003:178, servants and seats that are out stay out; 003:202, escape points are kept."""
    for seat in range(rules.players):
        if int(after.retired[seat]) < int(before.retired[seat]) or int(after.out[seat]) < int(
            before.out[seat]
        ):
            return False
        if int(after.escape_points[seat]) < int(before.escape_points[seat]):
            return False
    return True


@rule
def the_servant_retired(before: State, after: State, action: int) -> bool:
    """003:172, a seat that retires a servant has one fewer."""
    seat = int(before.seat)
    return not is_retirement(action) or int(after.retired[seat]) > int(before.retired[seat])


@rule
def jerseys_were_exchanged(before: State, after: State, rules: Any, action: int) -> bool:
    """003:67, only an exchange takes jersey cards, of one kind, from the seat that makes it."""
    for seat in range(rules.players):
        for kind in range(NUM_SETS):
            has_fewer = int(after.jerseys[seat, kind]) < int(before.jerseys[seat, kind])
            if has_fewer and not (seat == int(before.seat) and is_handed_in(kind, action)):
                return False
    if action in (EXCHANGE_GREEN, EXCHANGE_POLKA_DOT):
        seat = int(before.seat)
        return int(after.jerseys[seat, RAINBOW]) > int(before.jerseys[seat, RAINBOW])
    return True


@rule
def is_handed_in(kind: int, action: int) -> bool:
    """Return True if the action hands in cards of the set."""
    if action == EXCHANGE_GREEN:
        return kind == GREENS
    return action == EXCHANGE_POLKA_DOT and kind in (DOUBLES, TRIPLES)


@rule
def lead_grew_by_an_escape(before: State, after: State, action: int) -> bool:
    """003:53, only the seat that escapes gains a lead, by what the yellow die shows."""
    escaped = int(after.escaped)
    if escaped == NO_SEAT:
        return True
    lead_before = int(before.lead) if int(before.escaped) == escaped else 0
    gained = int(after.lead) - lead_before
    if gained <= 0:
        return True
    return action == ESCAPE and escaped == int(before.seat) and gained <= FACES


@rule
def energy_came_from_retirements(before: State, after: State, rules: Any) -> bool:
    """003:143-158 and 003:172, late in a turn only retiring servants bring energy."""
    if not is_same_turn(before, after) or int(before.stage) < JERSEYS_AFTER_THE_SQUARE:
        return True
    for seat in range(rules.players):
        retired = int(after.retired[seat]) - int(before.retired[seat])
        most = int(before.energy[seat]) + retired * rules.retirement_energy
        if int(after.energy[seat]) > most:
            return False
    return True


@rule
def highest_bid_is_what_was_bid(before: State, after: State, action: int) -> bool:
    """003:121, while the auction goes on, the highest bid is the one before or the one just made."""
    if not is_same_turn(before, after) or int(after.phase) != BID or int(before.phase) != BID:
        return True
    if bid_of(action) > 0:
        return int(after.highest_bid) == bid_of(action) and int(after.highest_bidder) == int(before.seat)
    same_bidder = int(after.highest_bidder) == int(before.highest_bidder)
    return int(after.highest_bid) == int(before.highest_bid) and same_bidder
