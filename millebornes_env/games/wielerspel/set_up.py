"""The set-up of a race: board, teams, peloton and chance cards; and how a turn begins (003:20-30)."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule
from millebornes_env.games.wielerspel.dice import draw_lots, shuffle_deck
from millebornes_env.games.wielerspel.peloton import clear_queue
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.squares import START
from millebornes_env.games.wielerspel.state import (
    NO_CARD,
    NO_SEAT,
    NOT_ENDED,
    NUM_SETS,
    RIDING,
    TURN_BEGINS,
    State,
)


@rule
def set_up_race(state: State, rules: Rules) -> None:
    """Set up the board, the teams, the peloton and the chance cards (003:20-30)."""
    clear_board(state, rules)
    for seat in range(len(state.energy)):
        set_up_team(state, rules, seat)
    draw_lots(state, rules)
    state.riders = rules.players
    shuffle_deck(state, rules)
    begin_turn(state)
    state.phase = RIDING


@rule
def clear_board(state: State, rules: Rules) -> None:
    """Clear the board: the rainbow rider at the start (003:26), all jerseys (003:24), no servants."""
    state.turn = 0
    state.shuffles = 0
    state.winner = NO_SEAT
    state.ending = NOT_ENDED
    state.escaped = NO_SEAT
    state.lead = 0
    state.highest_lead = 0
    state.square = 0
    state.rainbow_lap = 0  # 003:75, the rainbow cards lie face down at the beginning
    state.no_supply = 0
    for kind in range(NUM_SETS):
        state.stacks[kind] = rules.jersey_cards
    for square in range(len(state.owner)):
        state.owner[square] = NO_SEAT


@rule
def set_up_team(state: State, rules: Rules, seat: int) -> None:
    """Give each team six servants and 60 energy (003:30); empty seats get nothing."""
    is_taken = seat < rules.players
    state.energy[seat] = rules.energy if is_taken else 0
    state.off_board[seat] = rules.servants if is_taken else 0
    state.retired[seat] = 0
    state.out[seat] = 0
    state.escape_points[seat] = 0
    state.peloton[seat] = NO_SEAT
    for kind in range(NUM_SETS):
        state.jerseys[seat, kind] = 0


@rule
def begin_turn(state: State) -> None:
    """Begin a turn: clear everything that belongs to a turn."""
    state.stage = TURN_BEGINS
    state.roller = NO_SEAT
    state.white = 0
    state.yellow = 0
    state.kind = START
    state.number = 0
    state.card = NO_CARD
    state.holder = NO_SEAT
    state.landed_on_line = 0
    state.due = 0
    state.highest_bid = 0
    state.highest_bidder = NO_SEAT
    clear_queue(state)
