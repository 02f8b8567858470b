"""The course of a race: the start, and a turn, step by step. This file is the table of contents of the rules.

A turn goes from stage to stage (`state.stage`) until a seat has a decision. After the action, the turn
continues from the stage where it had stopped; a stage may lead to several decisions.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.wielerspel.actions import ESCAPE as ESCAPE_ACTION
from millebornes_env.games.wielerspel.actions import (
    EXCHANGE_GREEN,
    GIVE_UP,
    KEEP,
    PASS,
    bid_of,
    is_retirement,
    square_of,
)
from millebornes_env.games.wielerspel.auction import (
    is_auctioned,
    move_servant,
    must_choose_servant,
    next_bidder,
    open_auction,
    pay_bid,
    place_servant,
    play_bid,
    play_pass,
)
from millebornes_env.games.wielerspel.energy import (
    any_servant,
    first_servant_on_board,
    has_choice_of_servants,
    has_energy,
    pay_energy,
    play_retirement,
    servants_left,
)
from millebornes_env.games.wielerspel.escape import (
    can_escape,
    has_reached_the_end,
    play_escape,
    play_give_up,
    price_of_lead,
)
from millebornes_env.games.wielerspel.jerseys import (
    can_exchange,
    gain_jersey,
    play_exchange_green,
    play_exchange_polka_dot,
)
from millebornes_env.games.wielerspel.landing import (
    can_be_forced_to_retire,
    line_up_payers,
    pay_in_turn,
    reach_square,
    take_jersey,
    take_supply,
)
from millebornes_env.games.wielerspel.peloton import is_anybody_away, is_anybody_riding, race_leader
from millebornes_env.games.wielerspel.positions import work_out_positions
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.set_up import begin_turn, set_up_race
from millebornes_env.games.wielerspel.squares import FORCED_RETIREMENT, holds_jerseys
from millebornes_env.games.wielerspel.start_line import (
    begin_lap,
    is_rainbow_jersey_due,
    ride_on,
    roll_white_die,
)
from millebornes_env.games.wielerspel.state import (
    AUCTION,
    AWAY,
    BID,
    BIDS,
    BY_EXHAUSTION,
    BY_INNER_TRACK,
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
    NO_SEAT,
    PAYMENTS,
    POSITIONS,
    RACE_OVER,
    RAINBOW,
    RETIREMENT,
    RIDING,
    SERVANT,
    SQUARE,
    SUPPLY_AT_THE_LINE,
    TURN_BEGINS,
    TURN_ENDS,
    WHITE_DIE,
    State,
)
from millebornes_env.games.wielerspel.winning import end_race, end_race_if_won

MOST_STARTS: Final = 1000
"""The largest number of restarts of a race before its first decision."""

# The start -------------------------------------------------------------------------------------------------


@rule
def start_race(state: State, rules: Rules) -> None:
    """Begin a race and ride to its first decision.

    Ruling W27: a race that is over before its first decision does not count: the next begins in its place.
    Only a sheet with hardly any energy or servants has such races.
    """
    for _ in range(MOST_STARTS):
        set_up_race(state, rules)
        ride(state, rules)
        if int(state.phase) != RACE_OVER:
            return
        state.episode = int(state.episode) + 1


# Actions ---------------------------------------------------------------------------------------------------


@rule
def step(state: State, rules: Rules, action: int) -> None:
    """Apply one action of the seat to act, up to the next decision or the end of the race.

    Precondition: the action is legal (`legality.is_legal`); this is not checked again.
    """
    answer(state, rules, action)
    ride(state, rules)


@rule
def answer(state: State, rules: Rules, action: int) -> None:
    """Apply the action of the seat, so that the turn can go on."""
    seat, phase = int(state.seat), int(state.phase)
    state.phase = RIDING
    if is_retirement(action):
        play_retirement(state, rules, seat, square_of(action))
        if phase == MUST_RETIRE:
            state.stage = POSITIONS
    elif phase == AWAY:
        answer_away(state, rules, seat, action)
    elif phase == EXCHANGE:
        answer_exchange(state, rules, seat, action)
    elif phase == ESCAPING:
        answer_escape(state, rules, seat, action)
    elif phase == BID:
        answer_bid(state, seat, action)
    else:
        move_servant(state, seat, square_of(action))
        state.stage = TURN_ENDS


@rule
def answer_away(state: State, rules: Rules, seat: int, action: int) -> None:
    """Give up the escape, or pay for the lead (003:57, 003:63)."""
    if action == GIVE_UP:
        play_give_up(state, rules)
    else:
        pay_energy(state, seat, price_of_lead(state, rules))
    state.stage = JERSEYS_BEFORE_THE_DIE


@rule
def answer_exchange(state: State, rules: Rules, seat: int, action: int) -> None:
    """Exchange jerseys, which may win the race or allow another exchange; or keep them (003:67, 003:196)."""
    if action == KEEP:
        state.stage = int(state.stage) + 1
        return
    if action == EXCHANGE_GREEN:
        play_exchange_green(state, rules, seat)
    else:
        play_exchange_polka_dot(state, rules, seat)
    end_race_if_won(state, rules, seat)


@rule
def answer_escape(state: State, rules: Rules, seat: int, action: int) -> None:
    """Escape, which may win the race at once (003:36); or stay (003:188)."""
    if action == ESCAPE_ACTION:
        play_escape(state, seat)
        if has_reached_the_end(state, rules):
            end_race(state, seat, BY_INNER_TRACK)
    state.stage = AUCTION


@rule
def answer_bid(state: State, seat: int, action: int) -> None:
    """Bid or pass; the next seat in the queue follows."""
    if action == PASS:
        play_pass(state)
    else:
        play_bid(state, seat, bid_of(action))


# A turn, stage by stage ------------------------------------------------------------------------------------


@seldom
def ride(state: State, rules: Rules) -> None:
    """Continue until a seat has a decision, or the race is over."""
    while int(state.phase) == RIDING:
        ride_turn(state, rules)
        if int(state.phase) == RIDING:
            end_turn(state, rules)


@rule
def ride_turn(state: State, rules: Rules) -> None:
    """Continue from the stage of the turn to its end, or until a seat has a decision."""
    if int(state.stage) <= JERSEYS_AT_THE_LINE:
        ride_to_the_square(state, rules)
    if int(state.stage) <= RETIREMENT:
        follow_the_square(state, rules)
    settle_the_turn(state, rules)


@rule
def is_at(state: State, stage: int) -> bool:
    """Return True if the turn is at the stage, without a pending decision."""
    return int(state.stage) == stage and int(state.phase) == RIDING


@rule
def ride_to_the_square(state: State, rules: Rules) -> None:
    """Ride the first part of a turn: the price of the lead, the white die, the rainbow jersey at the line."""
    if is_at(state, TURN_BEGINS):
        ask_escaped_rider(state, rules)
    if is_at(state, JERSEYS_BEFORE_THE_DIE):
        ask_about_jerseys(state, rules, race_leader(state))
    if is_at(state, WHITE_DIE):
        move_rainbow_rider(state, rules)
    if is_at(state, JERSEYS_AT_THE_LINE):
        ask_about_jerseys(state, rules, int(state.roller))


@rule
def follow_the_square(state: State, rules: Rules) -> None:
    """Ride the second part: supply at the line, the effect of the square, payments."""
    if is_at(state, SUPPLY_AT_THE_LINE):
        begin_lap(state, rules)
        state.stage = SQUARE
    if is_at(state, SQUARE):
        land(state, rules)
    if is_at(state, JERSEYS_AFTER_THE_SQUARE):
        ask_about_jerseys(state, rules, int(state.roller))
    while is_at(state, PAYMENTS):
        collect_payments(state, rules)
    if is_at(state, RETIREMENT):
        force_retirement(state, rules)


@rule
def settle_the_turn(state: State, rules: Rules) -> None:
    """Ride the third part: positions, escape, auction."""
    if is_at(state, POSITIONS):
        settle_positions(state, rules)
    if is_at(state, ESCAPE_CHOICE):
        ask_about_escape(state, rules)
    if is_at(state, AUCTION):
        begin_auction(state, rules)
    if is_at(state, BIDS):
        ask_for_bid(state, rules)
    if is_at(state, SERVANT):
        put_servant(state, rules)


@rule
def ask(state: State, phase: int, seat: int) -> None:
    """Ask the seat for a decision; the turn waits at its stage."""
    state.phase = phase
    state.seat = seat


@rule
def ask_escaped_rider(state: State, rules: Rules) -> None:
    """Give up, or pay 1, 2 or 3 energy for the lead (003:55-57, 003:63).

    Ruling W1: servants may retire here while the price cannot be paid. W11: if giving up is the only action,
    there is no decision.
    """
    if not is_anybody_away(state):
        state.stage = JERSEYS_BEFORE_THE_DIE
        return
    seat = int(state.escaped)
    if has_energy(state, seat, price_of_lead(state, rules)) or servants_left(state, rules, seat) > 0:
        ask(state, AWAY, seat)
        return
    play_give_up(state, rules)
    state.stage = JERSEYS_BEFORE_THE_DIE


@rule
def ask_about_jerseys(state: State, rules: Rules, seat: int) -> None:
    """Exchange jerseys or keep them (003:67, 003:196).

    Ruling W2: a seat is asked when it has gained a jersey, and when it leads the race as the turn begins.
    """
    if can_exchange(state, rules, seat):
        ask(state, EXCHANGE, seat)
    else:
        state.stage = int(state.stage) + 1


@rule
def move_rainbow_rider(state: State, rules: Rules) -> None:
    """Roll the white die for the race leader (003:49); the line of a rainbow lap gives a jersey (003:75)."""
    seat = race_leader(state)
    state.roller = seat
    if not ride_on(state, rules, roll_white_die(state)):
        state.stage = SQUARE
        return
    state.stage = SUPPLY_AT_THE_LINE
    if is_rainbow_jersey_due(state) and gain_jersey(state, seat, RAINBOW):
        state.stage = JERSEYS_AT_THE_LINE
        end_race_if_won(state, rules, seat)


@rule
def land(state: State, rules: Rules) -> None:
    """Do what the square says, or the chance card in its place (003:107-166)."""
    reach_square(state, rules)
    seat = int(state.roller)
    if holds_jerseys(int(state.kind)):
        state.stage = POSITIONS
        if take_jersey(state, seat):
            state.stage = JERSEYS_AFTER_THE_SQUARE
            end_race_if_won(state, rules, seat)
    elif int(state.kind) == FORCED_RETIREMENT:
        state.stage = RETIREMENT
    else:
        take_supply(state, rules, seat)
        line_up_payers(state, seat)
        state.stage = PAYMENTS


@rule
def collect_payments(state: State, rules: Rules) -> None:
    """Collect the payments; a seat with too little energy retires a servant (003:172, 003:178)."""
    seat = pay_in_turn(state, rules)
    if seat != NO_SEAT:
        retire_one(state, rules, seat, MUST_PAY)
    elif is_anybody_riding(state):
        state.stage = POSITIONS
    else:
        end_race(state, NO_SEAT, BY_EXHAUSTION)


@rule
def force_retirement(state: State, rules: Rules) -> None:
    """Retire one of the race leader's servants: the effect of the chance card (003:174)."""
    seat = int(state.roller)
    if can_be_forced_to_retire(state, rules, seat):
        retire_one(state, rules, seat, MUST_RETIRE)
    if int(state.phase) == RIDING:
        state.stage = POSITIONS


@rule
def retire_one(state: State, rules: Rules, seat: int, phase: int) -> None:
    """Retire a servant of the seat, which decides if it has a choice."""
    if has_choice_of_servants(state, seat, servants_left(state, rules, seat)):
        ask(state, phase, seat)
    else:
        play_retirement(state, rules, seat, any_servant(state, rules, seat))


@rule
def settle_positions(state: State, rules: Rules) -> None:
    """Work out the positions (003:79-103); a seat may have a chance to escape."""
    seat = work_out_positions(state, rules)
    state.stage = AUCTION
    if seat != NO_SEAT:
        state.stage = ESCAPE_CHOICE
        state.seat = seat


@rule
def ask_about_escape(state: State, rules: Rules) -> None:
    """Escape, or stay (003:87, 003:90, 003:103). W11: if staying is the only action, there is no decision."""
    seat = int(state.seat)
    if can_escape(state, seat) or servants_left(state, rules, seat) > 0:
        ask(state, ESCAPING, seat)
    else:
        state.stage = AUCTION


@rule
def begin_auction(state: State, rules: Rules) -> None:
    """Auction an effort square that nobody holds, once the positions are worked out (003:119)."""
    if is_auctioned(state):
        open_auction(state)
        state.stage = BIDS
    else:
        state.stage = TURN_ENDS


@rule
def ask_for_bid(state: State, rules: Rules) -> None:
    """Ask the next seat to bid more or pass; after the last seat, the highest bidder pays (003:121)."""
    seat = next_bidder(state, rules)
    if seat != NO_SEAT:
        ask(state, BID, seat)
    elif int(state.highest_bidder) == NO_SEAT:
        state.stage = TURN_ENDS
    else:
        pay_bid(state)
        state.stage = SERVANT


@rule
def put_servant(state: State, rules: Rules) -> None:
    """Put a servant of the highest bidder on the square; if all are on the board, one moves (003:121-123)."""
    seat = int(state.highest_bidder)
    if must_choose_servant(state, rules, seat):
        ask(state, MOVE, seat)
        return
    if int(state.off_board[seat]) > 0:
        place_servant(state, seat)
    else:
        move_servant(state, seat, first_servant_on_board(state, rules, seat))
    state.stage = TURN_ENDS


@rule
def end_turn(state: State, rules: Rules) -> None:
    """Go on to the next turn; ruling W9: after 2,000 turns the race is ranked as if all were exhausted."""
    state.turn = int(state.turn) + 1
    begin_turn(state)
    if int(state.turn) >= rules.max_turns:
        end_race(state, NO_SEAT, BY_TURNS)
