"""Violations of a game record: names, numbers and messages.

Compiled code returns the number of the first violation; `message_of` returns the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from millebornes_env.engine.laws import Register
from millebornes_env.games.millebornes.rules import Rules

_register = Register()
_named = _register.name

# Fields (fields.py) ---------------------------------------------------------------------------------------

SEAT_OUT_OF_RANGE: Final = _named("seat is not one of 0 to {last_seat}")
DEALER_OUT_OF_RANGE: Final = _named("dealer is not one of 0 to {last_seat}")
PHASE_OUT_OF_RANGE: Final = _named("phase is not one of 0 to 3")
UNKNOWN_EXTENSION_TEAM: Final = _named("extension_team is neither a team of this table nor -1")
UNKNOWN_WINNER: Final = _named("winner is neither a team of this table nor -1")
UNKNOWN_PENDING_TEAM: Final = _named("pending_team is neither a team of this table nor -1")
UNKNOWN_ATTACKER: Final = _named("attacker is neither a seat of this table nor -1")
UNKNOWN_PENDING_HAZARD: Final = _named("pending_hazard is neither a hazard nor -1")
UNKNOWN_TARGET: Final = _named("target is neither this table's nor that of its extension")
KEY_OUT_OF_RANGE: Final = _named("key is not two 32-bit words")
STREAM_OUTSIDE_DECK: Final = _named("a stream lies outside the deck")
UNKNOWN_CARD_IN_DECK: Final = _named("unknown card id in deck")
UNKNOWN_CARD_IN_DISCARD_TOP: Final = _named("unknown card id in discard_top")
NEGATIVE_COUNT_IN_HAND: Final = _named("negative count in hand")
HAND_COUNT_TOO_LARGE: Final = _named("hand_count is more than a hand can hold")
NEGATIVE_COUNT_IN_TABLEAU: Final = _named("negative count in tableau")
SCORE_OUT_OF_RANGE: Final = _named("score is negative, or too high for a match that goes on")
IMPOSSIBLE_CARD_IN_BATTLE: Final = _named("battle shows a card that cannot lie there")
IMPOSSIBLE_CARD_IN_BATTLE_BELOW: Final = _named("battle_below shows a card that cannot lie there")
IMPOSSIBLE_CARD_IN_SPEED: Final = _named("speed shows a card that cannot lie there")
OPENING_OUT_OF_RANGE: Final = _named("opening is not one of 0 to 2")
COUP_FOURRE_OUT_OF_RANGE: Final = _named("coup_fourre is neither 0 nor 1")
NEGATIVE_COUNT_IN_DISCARD_PILE: Final = _named("negative count in discard_pile")
NEGATIVE_COUNT_IN_HIDDEN: Final = _named("negative count in hidden")
UNUSED_FIELD_NOT_ZERO: Final = _named("a field of a seat or team that this table does not have is not 0")

# Cards (soundness.py) -------------------------------------------------------------------------------------

STREAMS_OVERLAP: Final = _named("two streams overlap")
EMPTY_SLOT_IN_STREAM: Final = _named("empty slot among the cards to come")
WRONG_DRAW_PILE: Final = _named("draw_pile is not the number of cards left in the streams")
WRONG_HIDDEN: Final = _named("hidden does not count the cards in the hands and the draw pile")
WRONG_DECK: Final = _named("the cards are not the {size} of this table's deck")
WRONG_HAND_COUNT: Final = _named("hand_count is not the number of cards in the hand")
DISCARD_TOP_NOT_IN_PILE: Final = _named("discard_top shows a card that is not in the discard pile")

# Piles (soundness.py) -------------------------------------------------------------------------------------

BATTLE_NOT_IN_TABLEAU: Final = _named("battle shows a card that is not in the tableau")
SPEED_NOT_IN_TABLEAU: Final = _named("speed shows a card that is not in the tableau")
BATTLE_BELOW_NOT_IN_TABLEAU: Final = _named("battle_below shows a card that is not in the tableau")
BATTLE_BELOW_WITHOUT_HAZARD: Final = _named("battle_below shows a card although no hazard lies on it")
WRONG_KM: Final = _named("km is not the sum of the distance cards")
TOO_MANY_200S: Final = _named("a team has laid more 200s than it may")
BEYOND_TARGET: Final = _named("a team has gone beyond the target")
HAZARD_DESPITE_SAFETY: Final = _named(
    "battle shows a hazard although the team has laid the safety against it"
)
LIMIT_DESPITE_RIGHT_OF_WAY: Final = _named(
    "speed shows a Speed Limit although the team has laid Right of Way"
)
COUP_FOURRE_WITHOUT_SAFETY: Final = _named("coup_fourre names a safety that the team has not laid")

# What is decided (soundness.py) ---------------------------------------------------------------------------

CLAIM_WITHOUT_HAZARD: Final = _named(
    "phase is claim without a pending hazard, or a hazard is pending in another phase"
)
WRONG_PARTIES_OF_CLAIM: Final = _named(
    "pending_team and attacker are not of two teams in a claim, or not -1 outside of one"
)
SEAT_CANNOT_CLAIM: Final = _named("the seat that is asked whether it claims cannot claim")
TARGET_WITHOUT_EXTENSION: Final = _named("target does not match extension_team")
EXTENSION_NOT_ALLOWED: Final = _named("phase is extension although no extension can be called")
WINNER_WITHOUT_TRIP: Final = _named("winner has not completed the trip, or the round goes on")
ROUND_GOES_ON_AFTER_TRIP: Final = _named("a team has completed the trip but the round goes on")
NO_CARD_TO_PLAY: Final = _named("the seat to play has no cards")
PENDING_HAZARD_NOT_ALLOWED: Final = _named("the pending hazard could not have been laid")

# Cards, as play leaves them (reachability.py) -------------------------------------------------------------

STREAM_OUTSIDE_ITS_PART: Final = _named("a stream lies outside its seat's part of the deck")
DRAWN_CARD_IN_DECK: Final = _named("the deck holds a card outside the streams")
WRONG_DISCARD_TOP: Final = _named(
    "discard_top shows a card although the pile is empty, or none although it is not"
)
WRONG_HAND_SIZE: Final = _named("a hand has the wrong size while there are cards to draw")
HAND_TOO_LARGE_WITHOUT_PILE: Final = _named("a hand is too large for an empty draw pile")
HAND_SHRANK: Final = _named("a hand has shrunk although the turn that empties the draw pile ends the round")

# Piles, as play leaves them (reachability.py) -------------------------------------------------------------

WRONG_BATTLE: Final = _named("battle shows a card although the pile is empty, or none although it is not")
WRONG_BATTLE_BELOW: Final = _named("battle_below shows a card that no hazard can be laid on")
UNMATCHED_REMEDIES: Final = _named("the hazards and remedies in the tableau do not match")
WRONG_NUMBER_OF_ROLLS: Final = _named("the tableau holds too many or too few Rolls")
UNMATCHED_LIMITS: Final = _named("the Speed Limits and Ends of Limit in the tableau do not match")
WRONG_OPENING: Final = _named("opening does not match the cards of the battle pile")
KM_WITHOUT_START: Final = _named("a team has km but could never move")

# The round and the match, as play leaves them (reachability.py) -------------------------------------------

EXTENSION_BEFORE_TRIP: Final = _named("the team that called the extension has not completed the short trip")
ROUND_OVER_TOO_EARLY: Final = _named("the round is over without a winner although cards are left")
TRIP_WITHOUT_WINNER: Final = _named(
    "the round is over and a team that has completed the trip is not the winner"
)
SCORE_SHEET_TOO_EARLY: Final = _named("the score sheet is filled in before the end of the round")
WRONG_SCORE_SHEET: Final = _named("the score sheet does not add up")
POINTS_NOT_COUNTED: Final = _named("score is not 0 although this table counts no points")
MATCH_IS_DECIDED: Final = _named("the match goes on although it is decided")

MESSAGES: Final = _register.messages
"""The message of each violation, by its number; `message_of` fills in `{last_seat}` and `{size}`."""


def message_of(violation: int, rules: Rules, messages: Sequence[str] = MESSAGES) -> str:
    """Return the message of a violation.

    Args:
        violation: number of the violation.
        rules: rules of the table.
        messages: messages of a register that continues this one.
    """
    return messages[violation].format(last_seat=rules.players - 1, size=sum(rules.deck))
