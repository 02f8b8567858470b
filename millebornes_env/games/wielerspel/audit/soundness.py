"""Laws of every record that can be raced on, including positions set up by hand.

`soundness_violation` is their table of contents; `first_violation` applies it to arrays of records.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.laws import NO_VIOLATION, require
from millebornes_env.engine.numba.compiling import for_kernels, kernel, rule
from millebornes_env.games.wielerspel.auction import is_auctioned, must_choose_servant
from millebornes_env.games.wielerspel.audit import violations as law
from millebornes_env.games.wielerspel.audit.fields import field_violation
from millebornes_env.games.wielerspel.energy import (
    has_choice_of_servants,
    has_energy,
    servants_left,
    servants_on_board,
)
from millebornes_env.games.wielerspel.escape import has_reached_the_end
from millebornes_env.games.wielerspel.jerseys import can_exchange
from millebornes_env.games.wielerspel.peloton import is_anybody_away, is_anybody_riding, race_leader
from millebornes_env.games.wielerspel.rules import Rules, rules_array
from millebornes_env.games.wielerspel.squares import CHANCE, EFFORT, ESCAPE, FORCED_RETIREMENT, START
from millebornes_env.games.wielerspel.state import (
    AUCTION,
    AWAY,
    BID,
    BIDS,
    BY_EXHAUSTION,
    BY_INNER_TRACK,
    BY_JERSEYS,
    BY_TURNS,
    ESCAPE_CHOICE,
    ESCAPING,
    EXCHANGE,
    JERSEYS_AFTER_THE_SQUARE,
    JERSEYS_AT_THE_LINE,
    JERSEYS_BEFORE_THE_DIE,
    MOVE,
    MUST_PAY,
    MUST_RETIRE,
    NO_CARD,
    NO_SEAT,
    NOT_ENDED,
    NUM_SETS,
    PAYMENTS,
    RACE_OVER,
    RETIREMENT,
    SERVANT,
    SQUARE,
    STATE,
    TURN_BEGINS,
    State,
)
from millebornes_env.games.wielerspel.winning import has_enough_jerseys


def first_violation(states: npt.NDArray[np.void], rules: Rules) -> tuple[int, str] | None:
    """Return the first race whose record is impossible at this table.

    A position set up by hand, to which no start leads, is accepted if it can be raced on.

    Args:
        states: `STATE[N]`, at decisions or after the end.
        rules: the table's rules.

    Returns:
        Its index and the message of the violation; None if all records are sound.
    """
    records = for_kernels(np.ascontiguousarray(states).view(STATE))  # compiles once for arrays of all origins
    race, violation = _first_unsound(records, rules_array(rules)[0])
    return None if violation == NO_VIOLATION else (int(race), law.message_of(int(violation), rules))


@kernel
def _first_unsound(states: npt.NDArray[np.void], rules: Rules) -> tuple[int, int]:
    for race in range(len(states)):
        violation = soundness_violation(states[race], rules)
        if violation != NO_VIOLATION:
            return race, violation
    return -1, NO_VIOLATION


@rule
def soundness_violation(state: State, rules: Rules) -> int:
    """Return the first law of this file or of `fields` that the record breaks, or NO_VIOLATION.

    Reads nothing out of bounds, whatever the record.
    """
    result = field_violation(state, rules)
    if result != NO_VIOLATION:
        return result
    result = team_violation(state, rules)
    result = track_violation(state, rules, result)
    result = decision_violation(state, rules, result)
    return end_violation(state, rules, result)


# Teams -----------------------------------------------------------------------------------------------------


@rule
def team_violation(state: State, rules: Rules) -> int:
    """003:172, no servant is lost or comes back; 003:178, a seat that has left the race has nothing."""
    result = NO_VIOLATION
    for seat in range(rules.players):
        on_board = servants_on_board(state, rules, seat)
        servants = int(state.off_board[seat]) + on_board + int(state.retired[seat])
        result = require(result, law.SERVANTS_NOT_CONSERVED, servants == rules.servants)
        is_out = int(state.out[seat]) == 1
        has_left = int(state.energy[seat]) == 0 and int(state.retired[seat]) == rules.servants
        result = require(result, law.OUT_WITH_SOMETHING_LEFT, has_left or not is_out)
    return result


# Both tracks, jerseys, cards -------------------------------------------------------------------------------


@rule
def track_violation(state: State, rules: Rules, found: int) -> int:
    """Return `found` if it is a violation, else the first law of board and cards that is broken."""
    found = require(found, law.WRONG_PELOTON, everybody_rides_once(state, rules))
    found = require(found, law.WRONG_LEAD, is_anybody_away(state) == (int(state.lead) > 0))
    found = require(found, law.LEAD_ABOVE_HIGHEST, int(state.lead) <= int(state.highest_lead))
    is_over = int(state.phase) == RACE_OVER
    found = require(found, law.BEYOND_INNER_TRACK, is_over or not has_reached_the_end(state, rules))
    found = require(found, law.SERVANT_ON_OTHER_SQUARE, servants_stand_on_effort_squares(state, rules))
    found = require(found, law.JERSEYS_NOT_CONSERVED, jerseys_are_conserved(state, rules))
    found = require(found, law.GAP_IN_DECK, no_gap_in_deck(state))
    return require(found, law.TOO_MANY_CARDS, no_card_twice(state, rules))


@rule
def everybody_rides_once(state: State, rules: Rules) -> bool:
    """003:51, each leader in the race rides in the peloton or, one at most, is away."""
    riders = int(state.riders)
    for index in range(len(state.peloton)):
        if (int(state.peloton[index]) == NO_SEAT) != (index >= riders):
            return False
    for seat in range(rules.players):
        times = 1 if int(state.escaped) == seat else 0
        for index in range(riders):
            times += 1 if int(state.peloton[index]) == seat else 0
        if times + int(state.out[seat]) != 1:
            return False
    return True


@rule
def servants_stand_on_effort_squares(state: State, rules: Rules) -> bool:
    """003:113, no other square can be bought."""
    for square in range(len(state.owner)):
        is_held = int(state.owner[square]) != NO_SEAT
        if is_held and (square >= rules.length or int(rules.square_kind[square]) != EFFORT):
            return False
    return True


@rule
def jerseys_are_conserved(state: State, rules: Rules) -> bool:
    """No jersey card is lost or made."""
    for kind in range(NUM_SETS):
        cards = int(state.stacks[kind])
        for seat in range(rules.players):
            cards += int(state.jerseys[seat, kind])
        if cards != rules.jersey_cards:
            return False
    return True


@rule
def no_gap_in_deck(state: State) -> bool:
    """The cards to come lie side by side."""
    has_ended = False
    for index in range(int(state.deck_next), len(state.deck)):
        is_empty = int(state.deck[index]) == NO_CARD
        if has_ended and not is_empty:
            return False
        has_ended = is_empty
    return True


@rule
def no_card_twice(state: State, rules: Rules) -> bool:
    """The deck has no more cards of a type than the sheet."""
    for card in range(rules.card_types):
        left = int(rules.card_copies[card])
        for index in range(int(state.deck_next), len(state.deck)):
            left -= 1 if int(state.deck[index]) == card else 0
        if left < 0:
            return False
    return True


# What is decided -------------------------------------------------------------------------------------------


@rule
def decision_violation(state: State, rules: Rules, found: int) -> int:
    """Return `found` if it is a violation, else the first law of the turn and its decision that is broken."""
    found = require(found, law.WRONG_KIND, kind_is_the_squares(state, rules))
    found = require(found, law.WRONG_HOLDER, int(state.holder) == NO_SEAT or int(state.kind) == EFFORT)
    if int(state.phase) == RACE_OVER or found != NO_VIOLATION:
        return found
    found = require(found, law.DECIDER_IS_OUT, int(state.out[int(state.seat)]) == 0)
    found = require(found, law.STAGE_DOES_NOT_FIT, stage_fits(state))
    found = require(found, law.WRONG_QUEUE, queue_is_right(state))
    found = require(found, law.WRONG_DECIDER, int(state.seat) == seat_that_decides(state))
    found = require(found, law.WRONG_BIDS, bids_fit(state))
    found = require(found, law.AUCTION_OF_HELD_SQUARE, auction_is_of_a_free_square(state))
    return require(found, law.NO_DECISION, is_anything_to_decide(state, rules))


@rule
def kind_is_the_squares(state: State, rules: Rules) -> bool:
    """The square's kind this turn is the one printed on it, or on the card drawn there (003:138)."""
    kind, number, card = int(state.kind), int(state.number), int(state.card)
    if int(state.stage) <= SQUARE:
        return kind == START and number == 0 and card == NO_CARD
    square = int(state.square)
    if int(rules.square_kind[square]) != CHANCE:
        printed = kind == int(rules.square_kind[square]) and number == int(rules.square_number[square])
        return printed and card == NO_CARD
    return card != NO_CARD and kind == int(rules.card_kind[card]) and number == int(rules.card_number[card])


@rule
def stage_fits(state: State) -> bool:
    """Each decision belongs to one stage; the exchange of jerseys to three."""
    phase, stage = int(state.phase), int(state.stage)
    if phase == EXCHANGE:
        return stage in (JERSEYS_BEFORE_THE_DIE, JERSEYS_AT_THE_LINE, JERSEYS_AFTER_THE_SQUARE)
    return (
        (phase == AWAY and stage == TURN_BEGINS)
        or (phase == MUST_PAY and stage == PAYMENTS)
        or (phase == MUST_RETIRE and stage == RETIREMENT)
        or (phase == ESCAPING and stage == ESCAPE_CHOICE)
        or (phase == BID and stage == BIDS)
        or (phase == MOVE and stage == SERVANT)
    )


@rule
def is_in_queue(state: State) -> bool:
    """Return True if the deciding seat is one of several that decide in turn."""
    return int(state.phase) in (MUST_PAY, BID)


@rule
def queue_is_right(state: State) -> bool:
    """Each seat that waits is in the race and waits once."""
    if not is_in_queue(state):
        return True
    if int(state.queue_next) == int(state.queue_end):
        return False
    for index in range(int(state.queue_next), int(state.queue_end)):
        seat = int(state.queue[index])
        if seat == NO_SEAT or int(state.out[seat]) == 1:
            return False
        for before in range(int(state.queue_next), index):
            if int(state.queue[before]) == seat:
                return False
    return True


@rule
def seat_that_decides(state: State) -> int:
    """Return the seat to decide: next in the queue, leader, roller, highest bidder, or rider who is away."""
    phase, stage = int(state.phase), int(state.stage)
    if phase == AWAY:
        return int(state.escaped)
    if is_in_queue(state):
        return int(state.queue[int(state.queue_next)])
    if phase == MOVE:
        return int(state.highest_bidder)
    if phase == ESCAPING or (phase == EXCHANGE and stage == JERSEYS_BEFORE_THE_DIE):
        return race_leader(state)
    return int(state.roller)


@rule
def bids_fit(state: State) -> bool:
    """003:121, the highest bidder can pay, until it has paid."""
    bidder, bid = int(state.highest_bidder), int(state.highest_bid)
    if bidder == NO_SEAT or bid == 0:
        return bidder == NO_SEAT and bid == 0
    if int(state.stage) < AUCTION:
        return False
    return int(state.out[bidder]) == 0 and (int(state.phase) != BID or int(state.energy[bidder]) >= bid)


@rule
def auction_is_of_a_free_square(state: State) -> bool:
    """003:119, only an effort square that nobody held on arrival is auctioned."""
    if int(state.phase) not in (BID, MOVE):
        return True
    return is_auctioned(state) and int(state.owner[int(state.square)]) == NO_SEAT


@rule
def is_anything_to_decide(state: State, rules: Rules) -> bool:
    """W11, a seat decides only if it has a choice; so each decision offers one."""
    seat, phase = int(state.seat), int(state.phase)
    left = servants_left(state, rules, seat)
    if phase == EXCHANGE:
        return can_exchange(state, rules, seat)
    if phase == MUST_PAY:
        is_short = int(state.due) == int(state.number) and not has_energy(state, seat, int(state.due))
        return is_short and has_choice_of_servants(state, seat, left)
    if phase == MUST_RETIRE:
        return int(state.kind) == FORCED_RETIREMENT and has_choice_of_servants(state, seat, left)
    if phase == ESCAPING:
        return int(state.kind) == ESCAPE or int(state.holder) == seat
    if phase == MOVE:
        return must_choose_servant(state, rules, seat)
    return True


# The end ---------------------------------------------------------------------------------------------------


@rule
def end_violation(state: State, rules: Rules, found: int) -> int:
    """Return `found` if it is a violation, else the first law of the end that is broken."""
    is_over = int(state.phase) == RACE_OVER
    found = require(found, law.ENDING_DOES_NOT_FIT, is_over == (int(state.ending) != NOT_ENDED))
    found = require(found, law.WINNER_WITHOUT_END, winner_is_of_an_outright_win(state, rules))
    found = require(found, law.WRONG_ENDING, ending_is_right(state, rules))
    return require(found, law.TOO_MANY_TURNS, is_over or int(state.turn) < rules.max_turns)


@rule
def winner_is_of_an_outright_win(state: State, rules: Rules) -> bool:
    """003:34-36, one seat wins by jerseys or the inner track; all other ends are ranked (003:202)."""
    by_jerseys = int(state.ending) == BY_JERSEYS and rules.combativity == 0
    is_outright = by_jerseys or int(state.ending) == BY_INNER_TRACK
    return is_outright == (int(state.winner) != NO_SEAT)


@rule
def ending_is_right(state: State, rules: Rules) -> bool:
    """The race ended by jerseys, inner track, exhaustion or turns, as `ending` says (003:34-36, 003:178)."""
    ending = int(state.ending)
    if ending == BY_INNER_TRACK:
        return int(state.winner) == int(state.escaped) and has_reached_the_end(state, rules)
    if ending == BY_EXHAUSTION:
        return not is_anybody_riding(state)
    if ending == BY_TURNS:
        return int(state.turn) == rules.max_turns
    if ending != BY_JERSEYS:
        return True
    if int(state.winner) != NO_SEAT:
        return has_enough_jerseys(state, rules, int(state.winner))
    for seat in range(rules.players):
        if has_enough_jerseys(state, rules, seat):
            return True
    return False
