"""Memory of `arnold`, and its questions about the game before it values a card.

Numbers such as 3.2 are sections of the description in words of Ken Arnold's player (BSD mille, 1982) that
`agents.millebornes.arnold` follows. With several opponents a question about "the opponent" is asked of any or
of all of them, as each function says.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from millebornes_env.agents.compiled.agent import FIRST_FREE, FIRST_OF_MATCH, Int16Array, Int64Array
from millebornes_env.agents.millebornes.preferences import (
    has_in_reach,
    hazard_under,
    is_exact_finish,
    is_too_late_to_limit,
    km_to_go,
    unseen_copies,
)
from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.millebornes.actions import target_team
from millebornes_env.games.millebornes.cards import (
    DISTANCE_50,
    DISTANCE_100,
    DISTANCE_200,
    DRIVING_ACE,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_DISTANCES,
    PUNCTURE_PROOF,
    REPAIRS,
    RIGHT_OF_WAY,
    ROLL,
    SPEED_LIMIT,
    STOP,
    hazard_of,
    is_battle_hazard,
    is_distance,
    is_hazard,
    is_remedy,
    km_of,
    remedy_for,
    safety_against,
)
from millebornes_env.games.millebornes.legality import can_lay
from millebornes_env.games.millebornes.motion import (
    has_any_safety,
    is_limited,
    is_moving,
    is_stopped_by_hazard,
    team_of,
)
from millebornes_env.games.millebornes.rules import RulesRecord, card_count, deck_size
from millebornes_env.games.millebornes.state import NO_TEAM, PLAY, State

# The agent's options (3.5), by their place.
DEBIAN: Final = 0
CARRY_NEED: Final = 1
RIGHT_OF_WAY_SEEN: Final = 2
HIGHER_BASE: Final = 3
OPENBSD: Final = 4

# Its memory.
MOST_SLOTS: Final = 12
"""Hands are larger only where a rule was overridden; what they hold beyond is then left out of account."""
SLOTS: Final = FIRST_FREE  # card + 1, or 0 for an empty slot
HAS_BEGUN: Final = SLOTS + MOST_SLOTS  # 1 from the first decision of a round on
LAST_PLAYED: Final = HAS_BEGUN + 1  # card + 1 of the seat's last play
GOS: Final = LAST_PLAYED + 1
NEED: Final = GOS + 1  # by how much the need of each remedy has grown in this round
END_FOUND: Final = NEED + 5  # 1: a card that reaches the target has been valued
HAZARDS_VALUED: Final = END_FOUND + 1  # those whose value was divided
DISCARDING: Final = HAZARDS_VALUED + 1  # 1 in discard mode
STOPPER: Final = DISCARDING + 1  # 1 if a hazard of the hand can hold an opponent up
NEED_OF_MATCH: Final = FIRST_OF_MATCH  # as NEED, but in this match (Q2)

DRAWN_AT_MOST: Final = 2
"""Cards that can come into a hand from one decision of its owner to the next: a coup fourré draws two."""

FIRST_NEED: Final = np.array([2, 2, 2, 10, 3])
"""Initial need of each remedy: Repairs, Gasoline, Spare Tire, Roll, End of Limit (3.1)."""
FIRST_NEED.setflags(write=False)

FAR_ENOUGH_TO_FINISH_FIRST: Final = 500
KM_THAT_FILL_AN_EXTENSION: Final = 1000
KM_OF_A_DRAW: Final = 3  # expected, for each card of the draw pile


# Cards -----------------------------------------------------------------------------------------------------


@seldom
def seen(state: State, rules: RulesRecord, seat: int, card: int) -> int:
    """Copies of the card known in this round (3.1): all but those in other hands and in the draw pile.

    What partners play is known like what opponents play.
    """
    return card_count(rules, card) - unseen_copies(state, seat, card)


@seldom
def is_all_seen(state: State, rules: RulesRecord, seat: int, card: int) -> bool:
    """Return True if no copy of the card is left for others to hold or for anyone to draw."""
    return seen(state, rules, seat, card) >= card_count(rules, card)


@rule
def holds(state: State, seat: int, card: int) -> bool:
    """Return True if the hand holds the card."""
    return int(state.hand[seat, card]) > 0


@rule
def need(memory: Int16Array, options: Int64Array, remedy: int) -> int:
    """Return the estimated need of a remedy (3.1, and Q2)."""
    growth = NEED_OF_MATCH if options[CARRY_NEED] == 1 else NEED
    return int(FIRST_NEED[remedy - REPAIRS]) + int(memory[growth + remedy - REPAIRS])


@seldom
def need_more(state: State, team: int, memory: Int16Array) -> None:
    """A side that is stuck needs the remedy more (3.3, steps 5 and 7)."""
    if is_stopped_by_hazard(state, team):
        answer = remedy_for(int(state.battle[team])) - REPAIRS
        memory[NEED + answer] = int(memory[NEED + answer]) + 1
        memory[NEED_OF_MATCH + answer] = int(memory[NEED_OF_MATCH + answer]) + 1


# Slots (3, "Slots") ----------------------------------------------------------------------------------------


@rule
def num_slots(rules: RulesRecord) -> int:
    """Places in a hand: one more than are dealt, for the card drawn."""
    return min(int(rules.hand_limit) + 1, MOST_SLOTS)


@rule
def card_in(memory: Int16Array, slot: int) -> int:
    """The card in the slot, or NO_CARD."""
    return int(memory[SLOTS + slot]) - 1


@rule
def put_in(memory: Int16Array, slot: int, card: int) -> None:
    """Put the card into the slot."""
    memory[SLOTS + slot] = card + 1


@rule
def copies_in_slots(rules: RulesRecord, memory: Int16Array, card: int, first: int) -> int:
    """Copies of the card in the slots from `first` on."""
    copies = 0
    for slot in range(first, num_slots(rules)):
        if card_in(memory, slot) == card:
            copies += 1
    return copies


@rule
def slot_of(rules: RulesRecord, memory: Int16Array, card: int) -> int:
    """The last slot that holds the card (0, if none does)."""
    result = 0
    for slot in range(num_slots(rules)):
        if card_in(memory, slot) == card:
            result = slot
    return result


@rule
def let_go(memory: Int16Array, slot: int) -> None:
    """Take the card out of the slot, and fill the hole from slot 0.

    Reading of "slot 0 holds the card just drawn (or is empty), played cards leave a hole that is filled from
    the lowest slots": the card of slot 0 moves to the hole, and slot 0 is free for the next draw. (Were all
    cards below the hole to move up by one, Debian's version would not come to the delayed actions of the
    program: .117 a hand instead of .133, and the program has .134.)
    """
    memory[LAST_PLAYED] = card_in(memory, slot) + 1
    put_in(memory, slot, card_in(memory, 0))
    put_in(memory, 0, NO_CARD)


@seldom
def sort_hand(state: State, rules: RulesRecord, seat: int, memory: Int16Array) -> None:
    """Bring the slots up to date with the hand: what has been drawn enters, and counts for `gos` (3.1).

    At the first decision of a round nobody can tell in which order the cards came: they enter in card order,
    as two do that a coup fourré has drawn. So it is wherever the slots do not fit the hand: somebody else has
    played for the seat, or it comes into the middle of a round. Then nothing counts as drawn, but all cards
    do where the seat starts the round.
    """
    first, counts = 0, True
    if not is_hand_remembered(state, rules, seat, memory):
        counts = is_starting(state, rules)
        first = max(num_slots(rules) - int(state.hand_count[seat]), 0)
        for slot in range(num_slots(rules)):
            put_in(memory, slot, NO_CARD)
    for card in range(NUM_CARD_TYPES):
        for _ in range(int(state.hand[seat, card]) - copies_in_slots(rules, memory, card, 0)):
            take_in(rules, memory, card, first)
            if counts:
                count_gos(state, rules, seat, memory, card)


@rule
def take_in(rules: RulesRecord, memory: Int16Array, card: int, first: int) -> None:
    """Put the card into the lowest empty slot from `first` on."""
    for slot in range(first, num_slots(rules)):
        if card_in(memory, slot) == NO_CARD:
            put_in(memory, slot, card)
            return


@rule
def is_starting(state: State, rules: RulesRecord) -> bool:
    """Return True at the first decision of a round: the acting seat has drawn the only card so far."""
    left_by_deal = deck_size(rules) - int(rules.players) * int(rules.hand_limit)
    return int(state.phase) == PLAY and int(state.draw_pile) == left_by_deal - 1


@seldom
def is_hand_remembered(state: State, rules: RulesRecord, seat: int, memory: Int16Array) -> bool:
    """Return True if the slots match the hand: it holds all of them, and no more new cards than possible."""
    has_begun = int(memory[HAS_BEGUN]) == 1
    memory[HAS_BEGUN] = 1
    new = 0
    for card in range(NUM_CARD_TYPES):
        drawn = int(state.hand[seat, card]) - copies_in_slots(rules, memory, card, 0)
        if drawn < 0:
            return False
        new += drawn
    return has_begun and new <= DRAWN_AT_MOST


@rule
def count_gos(state: State, rules: RulesRecord, seat: int, memory: Int16Array, card: int) -> None:
    """Count what the card drawn spares in Rolls (3.1, `gos`): a hazard that nobody else can lay any more.

    With a safety all its hazards that are not seen yet are spared.
    """
    spared = 0
    if is_battle_hazard(card):
        spared = 1
    elif DRIVING_ACE <= card <= PUNCTURE_PROOF:
        hazard = hazard_under(card)
        spared = card_count(rules, hazard) - seen(state, rules, seat, hazard)
    memory[GOS] = int(memory[GOS]) + spared


# The helper tests (3.2) ------------------------------------------------------------------------------------


@seldom
def is_playable(state: State, rules: RulesRecord, team: int, card: int, opponent: int) -> bool:
    """Return True if the rules and the player's own restrictions allow the card (3.2, playable).

    Its own: no Limit against who needs at most 50 km more, no Roll while moving.
    """
    if not can_lay(state, rules, team, card, opponent):
        return False
    if card == SPEED_LIMIT:
        return not is_too_late_to_limit(state, target_team(rules.teams, team, opponent))
    return card != ROLL or not is_moving(state, rules, team)


@seldom
def playable_cards(state: State, rules: RulesRecord, seat: int) -> int:
    """The set of the cards in hand, safeties apart, that are playable: bit `card` of the number.

    With several opponents, a hazard is playable if it is against any of them.
    """
    cards = 0
    for card in range(DRIVING_ACE):
        if holds(state, seat, card):
            for opponent in range(rules.teams - 1 if is_hazard(card) else 1):
                if is_playable(state, rules, team_of(rules, seat), card, opponent):
                    cards |= 1 << card
    return cards


@rule
def is_short_trip(state: State, rules: RulesRecord) -> bool:
    """Return True if the trip can still be extended ("target 700")."""
    return rules.extended_target > 0 and int(state.extension_team) == NO_TEAM


@rule
def has_seen_way_out(state: State, rules: RulesRecord, seat: int, options: Int64Array) -> bool:
    """3.2, threat, where Right of Way was meant: the program looks at the 100s (Q3)."""
    return seen(state, rules, seat, RIGHT_OF_WAY if options[RIGHT_OF_WAY_SEEN] == 1 else DISTANCE_100) > 0


@seldom
def may_go_next(state: State, rules: RulesRecord, seat: int, team: int, options: Int64Array) -> bool:
    """Return True if the other team is moving, or probably will be at once (3.2, threat, first half)."""
    if is_moving(state, rules, team):
        return True
    top = int(state.battle[team])
    waits_for_roll = top in (NO_CARD, STOP) or is_remedy(top)
    if (waits_for_roll or is_limited(state, team)) and has_seen_way_out(state, rules, seat, options):
        return True
    return top != NO_CARD and seen(state, rules, seat, safety_of_pile(top)) > 0


@rule
def safety_of_pile(top: int) -> int:
    """The safety that belongs to a card of the battle pile, hazard or remedy: for Roll, Right of Way."""
    return safety_against(hazard_of(top) if is_remedy(top) else top)


@seldom
def is_threat(state: State, rules: RulesRecord, seat: int, team: int, options: Int64Array) -> bool:
    """Return True if the other team could finish with its next card, as far as known (3.2, threat)."""
    if km_to_go(state, team) > km_of(DISTANCE_200):
        return False
    if not may_go_next(state, rules, seat, team, options):
        return False
    for card in range(NUM_DISTANCES):
        if not is_exact_finish(state, rules, team, card):
            continue
        if card == DISTANCE_200 and int(state.tableau[team, card]) >= rules.max_200:
            continue
        if card > DISTANCE_50 and is_limited(state, team):
            if not has_seen_way_out(state, rules, seat, options):
                return True
        elif not is_all_seen(state, rules, seat, card):
            return True
    return False


@seldom
def is_any_threat(state: State, rules: RulesRecord, seat: int, options: Int64Array) -> bool:
    """Return True if any opponent is a threat."""
    for opponent in range(rules.teams - 1):
        other = target_team(rules.teams, team_of(rules, seat), opponent)
        if is_threat(state, rules, seat, other, options):
            return True
    return False


@seldom
def is_any_opponent_moving(state: State, rules: RulesRecord, seat: int, least_km: int) -> bool:
    """Return True if any opponent is moving and has at least this many km."""
    for opponent in range(rules.teams - 1):
        other = target_team(rules.teams, team_of(rules, seat), opponent)
        if int(state.km[other]) >= least_km and is_moving(state, rules, other):
            return True
    return False


@seldom
def are_all_opponents_at_0(state: State, rules: RulesRecord, seat: int) -> bool:
    """Return True if no opponent has any km."""
    for opponent in range(rules.teams - 1):
        if int(state.km[target_team(rules.teams, team_of(rules, seat), opponent)]) > 0:
            return False
    return True


@rule
def has_any_opponent_safety(state: State, rules: RulesRecord, seat: int) -> bool:
    """Return True if any opponent has played a safety."""
    for opponent in range(rules.teams - 1):
        if has_any_safety(state, target_team(rules.teams, team_of(rules, seat), opponent)):
            return True
    return False


@rule
def own_safeties_known(state: State, rules: RulesRecord, seat: int) -> int:
    """Safeties in hand or laid by the own side."""
    known = 0
    for safety in range(DRIVING_ACE, RIGHT_OF_WAY + 1):
        if has_in_reach(state, rules, seat, safety):
            known += 1
    return known


@rule
def km_in_hand(state: State, seat: int) -> int:
    """Sum of the distance cards in hand."""
    km = 0
    for card in range(NUM_DISTANCES):
        km += int(state.hand[seat, card]) * km_of(card)
    return km


@seldom
def would_extend(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, just_played: int
) -> bool:
    """Return True if the player would extend a completed trip (3.2, extend?).

    The card just played counts as in hand; it is NO_CARD if it is still there.
    """
    if not is_short_trip(state, rules) or own_safeties_known(state, rules, seat) < 2:
        return False
    if are_all_opponents_at_0(state, rules, seat) or is_any_threat(state, rules, seat, options):
        return False
    if is_any_opponent_moving(state, rules, seat, FAR_ENOUGH_TO_FINISH_FIRST):
        return False
    if not has_any_opponent_safety(state, rules, seat):
        return True
    km = km_in_hand(state, seat) + (km_of(just_played) if is_distance(just_played) else 0)
    return km + KM_OF_A_DRAW * int(state.draw_pile) > KM_THAT_FILL_AN_EXTENSION


@rule
def answers_hazard_in_force(state: State, team: int, safety: int) -> bool:
    """Return True if the safety would remedy the own team's hazard now (3.3, step 1)."""
    if safety == RIGHT_OF_WAY and is_limited(state, team):
        return True
    return is_stopped_by_hazard(state, team) and safety_against(int(state.battle[team])) == safety


@rule
def is_needless(state: State, rules: RulesRecord, seat: int, safety: int) -> bool:
    """Return True if all hazards that the safety protects from have been seen (3.3, step 4b)."""
    if safety == RIGHT_OF_WAY:
        return is_all_seen(state, rules, seat, STOP) and is_all_seen(state, rules, seat, SPEED_LIMIT)
    return is_all_seen(state, rules, seat, hazard_under(safety))
