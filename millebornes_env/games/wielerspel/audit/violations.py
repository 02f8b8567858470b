"""Violations of the record of a race: names, numbers and messages.

Compiled code returns the number of the first violation; `message_of` returns the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from millebornes_env.engine.laws import Register
from millebornes_env.games.wielerspel.rules import Rules

_register = Register()
_named = _register.name

# Fields (fields.py) ----------------------------------------------------------------------------------------

SEAT_OUT_OF_RANGE: Final = _named("seat is not one of 0 to {last_seat}")
PHASE_OUT_OF_RANGE: Final = _named("phase is not one of 1 to 8")
STAGE_OUT_OF_RANGE: Final = _named("stage is not one of 0 to 14")
ENDING_OUT_OF_RANGE: Final = _named("ending is not one of 0 to 5")
KEY_OUT_OF_RANGE: Final = _named("key is not two 32-bit words")
NEGATIVE_TURN: Final = _named("turn is negative or above max_turns, {max_turns}")
NEGATIVE_SHUFFLES: Final = _named("shuffles is negative")
UNKNOWN_WINNER: Final = _named("winner is neither a seat of this table nor -1")
UNKNOWN_ESCAPED: Final = _named("escaped is neither a seat of this table nor -1")
UNKNOWN_ROLLER: Final = _named("roller is neither a seat of this table nor -1")
UNKNOWN_HOLDER: Final = _named("holder is neither a seat of this table nor -1")
UNKNOWN_HIGHEST_BIDDER: Final = _named("highest_bidder is neither a seat of this table nor -1")
UNKNOWN_SEAT_IN_PELOTON: Final = _named("peloton holds a number that is neither a seat of this table nor -1")
UNKNOWN_SEAT_IN_QUEUE: Final = _named("queue holds a number that is neither a seat of this table nor -1")
UNKNOWN_OWNER: Final = _named("owner holds a number that is neither a seat of this table nor -1")
RIDERS_OUT_OF_RANGE: Final = _named("riders is not a number of leaders at this table")
QUEUE_OUT_OF_RANGE: Final = _named("queue_next and queue_end do not mark a part of the queue")
LEAD_OUT_OF_RANGE: Final = _named("lead or highest_lead is negative or more than any escape's")
SQUARE_OUT_OF_RANGE: Final = _named("square is not one of 0 to {last_square}")
DIE_OUT_OF_RANGE: Final = _named("white or yellow is not 0 to 6")
KIND_OUT_OF_RANGE: Final = _named("kind is not a kind of square or card")
NUMBER_OUT_OF_RANGE: Final = _named("number or due is not 0 to 60")
UNKNOWN_CARD: Final = _named("card is neither a type of card of this table nor -1")
UNKNOWN_CARD_IN_DECK: Final = _named(
    "deck holds a number that is neither a type of card of this table nor -1"
)
DECK_NEXT_OUT_OF_RANGE: Final = _named("deck_next lies outside the deck")
BID_OUT_OF_RANGE: Final = _named("highest_bid is not 0 to {max_energy}")
NO_YES_OR_NO: Final = _named("rainbow_lap, no_supply, landed_on_line or out is neither 0 nor 1")
ENERGY_OUT_OF_RANGE: Final = _named("energy is not 0 to {max_energy}")
SERVANTS_OUT_OF_RANGE: Final = _named("off_board or retired is not 0 to {servants}")
JERSEYS_OUT_OF_RANGE: Final = _named("jerseys or stacks is not 0 to {jersey_cards}")
NEGATIVE_ESCAPE_POINTS: Final = _named("escape_points is negative")
UNUSED_FIELD_NOT_BLANK: Final = _named("a field of a seat that this table does not have is not blank")

# Teams and tracks (soundness.py) ---------------------------------------------------------------------------

SERVANTS_NOT_CONSERVED: Final = _named(
    "a seat's servants off and on the board and retired are not {servants}"
)
OUT_WITH_SOMETHING_LEFT: Final = _named("a seat has left the race with energy or servants")
WRONG_PELOTON: Final = _named("peloton and escaped are not the seats in the race, each once")
WRONG_LEAD: Final = _named("there is a lead without an escaped rider, or one without a lead")
LEAD_ABOVE_HIGHEST: Final = _named("lead is more than highest_lead")
BEYOND_INNER_TRACK: Final = _named("lead is beyond the inner track, and the race is not over")
SERVANT_ON_OTHER_SQUARE: Final = _named("a servant stands on a square that is not an effort square")
JERSEYS_NOT_CONSERVED: Final = _named("the cards of a set of jerseys are not {jersey_cards}")
GAP_IN_DECK: Final = _named("there is a gap in the deck")
TOO_MANY_CARDS: Final = _named("the deck holds more cards of a type than there are")

# What is decided (soundness.py) ----------------------------------------------------------------------------

STAGE_DOES_NOT_FIT: Final = _named("phase does not fit stage")
DECIDER_IS_OUT: Final = _named("the seat that decides has left the race")
WRONG_DECIDER: Final = _named("the wrong seat is to decide")
NO_DECISION: Final = _named("there is nothing to decide")
WRONG_QUEUE: Final = _named("a seat waits in the queue twice, or has left the race")
WRONG_KIND: Final = _named("kind and number are not those of the square, or of the card drawn on it")
WRONG_HOLDER: Final = _named("holder is a seat although the square is not an effort square")
WRONG_BIDS: Final = _named("highest_bid and highest_bidder do not fit each other, or the bidder's energy")
AUCTION_OF_HELD_SQUARE: Final = _named("a square is auctioned on which a servant stands")

# The end (soundness.py) ------------------------------------------------------------------------------------

ENDING_DOES_NOT_FIT: Final = _named("the race is over without an ending, or has one and goes on")
WINNER_WITHOUT_END: Final = _named("winner is a seat although the race has not been won outright")
WRONG_ENDING: Final = _named("the race did not end as ending says")
TOO_MANY_TURNS: Final = _named("the race goes on after its last turn")

# As play leaves it (reachability.py) -----------------------------------------------------------------------

RACE_GOES_ON_AFTER_WIN: Final = _named("a seat has the jerseys that win, and the race goes on")
ROLLED_TOO_EARLY: Final = _named("there is a roller or a die although the turn has not come to the white die")
NOT_ROLLED: Final = _named("there is no roller or no white die although the turn has passed it")
DICE_ARE_NOT_THE_KEYS: Final = _named("a die shows what the key does not give for this turn")
WRONG_LINE: Final = _named("landed_on_line does not say whether the rainbow rider is on the line")
DRAWN_CARD_IN_DECK: Final = _named("the deck holds a card before its next one")
WRONG_DECK: Final = _named("the cards drawn and those left are not a whole deck")
FORCED_RETIREMENT_DRAWN: Final = _named(
    "a forced retirement is missing from the deck, which is shuffled when one is drawn"
)
TOO_MANY_SHUFFLES: Final = _named("the deck was shuffled more often than cards were drawn")
TOO_MANY_ESCAPE_POINTS: Final = _named("escape_points are more than two for each turn")

MESSAGES: Final = _register.messages
"""The message of each violation, by its number; `message_of` fills in the numbers of the table."""


def message_of(violation: int, rules: Rules, messages: Sequence[str] = MESSAGES) -> str:
    """Return the message of a violation.

    Args:
        violation: number of the violation.
        rules: rules of the table.
        messages: messages of a register that continues this one.
    """
    return messages[violation].format(
        last_seat=rules.players - 1, last_square=rules.length - 1, **rules._asdict()
    )
