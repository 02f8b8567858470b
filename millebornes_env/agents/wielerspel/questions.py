"""Queries of the race's agents about the state of a race, from public information only."""

from __future__ import annotations

from typing import Final

from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.wielerspel.actions import (
    EXCHANGE_GREEN,
    EXCHANGE_POLKA_DOT,
    KEEP,
    PASS,
    RETIRE,
    bid_action,
    move_action,
    retire_action,
)
from millebornes_env.games.wielerspel.auction import can_bid
from millebornes_env.games.wielerspel.jerseys import (
    JERSEYS_ON_A_DOUBLE,
    JERSEYS_ON_A_TRIPLE,
    can_exchange_green,
    can_exchange_polka_dot,
    cards_to_hand_in,
    polka_dots,
)
from millebornes_env.games.wielerspel.peloton import is_anybody_away, place_in_peloton
from millebornes_env.games.wielerspel.rules import Rules
from millebornes_env.games.wielerspel.squares import EFFORT, NO_SQUARE
from millebornes_env.games.wielerspel.state import EXCHANGE, GREENS, MOVE, NO_CARD, NO_SEAT, RAINBOW, State

MEAN_OF_A_DIE: Final = 3.5
LANDINGS_PER_LAP: Final = 1 / MEAN_OF_A_DIE
"""Probability per lap that a throw ends on a given square, far from the rainbow rider's last square."""


@rule
def around_from(rules: Rules, seat: int, place: int) -> int:
    """Return the seat this many places to the left."""
    return (seat + place) % int(rules.players)


# Where everybody is ----------------------------------------------------------------------------------------


@rule
def is_away(state: State, seat: int) -> bool:
    """Return True if the seat's leader has escaped."""
    return int(state.escaped) == seat


@rule
def riders_left(state: State) -> int:
    """Seats that are still in the race."""
    return int(state.riders) + (1 if is_anybody_away(state) else 0)


@rule
def squares_to_the_line(state: State, rules: Rules) -> int:
    """Count the squares ahead of the rainbow rider in this lap; a whole lap if it stands on the line."""
    return int(rules.length) - int(state.square)


@rule
def energy_of_later_bidders(state: State, seat: int) -> int:
    """Return the highest energy of the seats that bid later; 0 if the seat bids last (003:184).

    Seats bid in race order.
    """
    most = 0
    if is_away(state, seat):
        first = 0
    else:
        first = place_in_peloton(state, seat) + 1
    for place in range(first, int(state.riders)):
        most = max(most, int(state.energy[int(state.peloton[place])]))
    return most


@rule
def bid_up_to(state: State, rules: Rules, seat: int, most: int) -> int:
    """Bid, if the square can be had for `most` energy; else pass.

    Each seat bids once. So the first to bid go as high as they would; it is enough, though, to bid what those
    who are still to come have. Who bids last needs one more than the highest bid (003:184).
    """
    amount = min(most, max(int(state.highest_bid) + 1, energy_of_later_bidders(state, seat)))
    return bid_action(amount) if can_bid(state, rules, seat, amount) else PASS


# Squares ---------------------------------------------------------------------------------------------------


@rule
def free_squares(state: State, rules: Rules) -> int:
    """Count the effort squares that nobody holds."""
    count = 0
    for square in range(int(rules.length)):
        if int(rules.square_kind[square]) == EFFORT and int(state.owner[square]) == NO_SEAT:
            count += 1
    return count


@rule
def payments_of_a_lap(state: State, rules: Rules, seat: int) -> float:
    """Return the mean energy per lap that effort squares cost the seat: all but its own."""
    sum_of_numbers = 0
    for square in range(int(rules.length)):
        if int(rules.square_kind[square]) == EFFORT and int(state.owner[square]) != seat:
            sum_of_numbers += int(rules.square_number[square])
    return sum_of_numbers * LANDINGS_PER_LAP


@rule
def cards_left_of_kind(state: State, rules: Rules, kind: int) -> int:
    """Count the chance cards of a kind that have not been drawn since the last shuffle."""
    count = 0
    for place in range(int(state.deck_next), len(state.deck)):
        card = int(state.deck[place])
        if card == NO_CARD:
            return count
        count += 1 if int(rules.card_kind[card]) == kind else 0
    return count


# Jerseys ---------------------------------------------------------------------------------------------------


@rule
def wins_with_one_more(state: State, rules: Rules, seat: int) -> bool:
    """Return True if one more rainbow jersey reaches the target number of them."""
    return int(state.jerseys[seat, RAINBOW]) + 1 >= int(rules.target_rainbows)


@rule
def is_green_better_exchanged(state: State, rules: Rules, seat: int) -> bool:
    """Return True if green jerseys should be handed in; waiting has no benefit (003:196).

    The exception is the option of 003:200: if the win also takes a green jersey, the last exchange waits.
    """
    if not can_exchange_green(state, rules, seat):
        return False
    kept = int(state.jerseys[seat, GREENS]) - int(rules.greens_for_rainbow)
    return kept >= int(rules.also_green) or not wins_with_one_more(state, rules, seat)


@rule
def is_polka_better_exchanged(state: State, rules: Rules, seat: int) -> bool:
    """Return True if polka-dot jerseys should be handed in: for exactly ten, or if the exchange wins.

    Rule: 003:196, a seat with 11 or 12 can wait until it can hand in exactly ten. The function does not wait
    for the last rainbow cards.
    """
    if not can_exchange_polka_dot(state, rules, seat):
        return False
    doubles, triples = cards_to_hand_in(state, rules, seat)
    handed_in = JERSEYS_ON_A_DOUBLE * doubles + JERSEYS_ON_A_TRIPLE * triples
    if wins_with_one_more(state, rules, seat):
        return polka_dots(state, seat) - handed_in >= int(rules.also_polka)
    return handed_in == int(rules.polka_for_rainbow) or int(state.stacks[RAINBOW]) <= riders_left(state)


@rule
def exchange(state: State, rules: Rules, seat: int) -> int:
    """Exchange jerseys, or keep them."""
    if is_green_better_exchanged(state, rules, seat):
        return EXCHANGE_GREEN
    return EXCHANGE_POLKA_DOT if is_polka_better_exchanged(state, rules, seat) else KEEP


# Servants --------------------------------------------------------------------------------------------------


@seldom
def square_of_least_number(state: State, rules: Rules, seat: int) -> int:
    """The seat's square with the lowest number, the first of several (003:194); NO_SQUARE: it holds none."""
    result, least = NO_SQUARE, 0
    for square in range(int(rules.length)):
        number = int(rules.square_number[square])
        if int(state.owner[square]) == seat and (result == NO_SQUARE or number < least):
            result, least = square, number
    return result


@rule
def exchange_move_or_retire(state: State, rules: Rules, seat: int) -> int:
    """Exchange jerseys; or move or retire the servant on the square of the least value (003:194).

    A servant who is off the board retires first.
    """
    if int(state.phase) == EXCHANGE:
        return exchange(state, rules, seat)
    if int(state.phase) == MOVE:
        return move_action(square_of_least_number(state, rules, seat))
    if int(state.off_board[seat]) > 0:
        return RETIRE
    return retire_action(square_of_least_number(state, rules, seat))
