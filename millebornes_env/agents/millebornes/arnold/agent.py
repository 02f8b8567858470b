"""`arnold`: the computer's player of BSD mille by Ken Arnold (1982), compiled.

It was written from a description in words of what that program does, not from the program; numbers such as
3.3 are sections of that description. `arnold_questions` holds its memory and its questions, `arnold_values`
its values of cards, and here is its decision. It knows two players and one edition; what it does at other
tables is said where it is decided. Classic, the default, is as the words say, quirks included; they are
options (3.5).

The program draws in the middle of a decision, after it has looked for a safety to play at once. Here a turn
begins with the draw, and looking twice comes to the same as looking once.
"""

from __future__ import annotations

from typing import ClassVar, Final

from millebornes_env.agents.compiled.agent import Choose, CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.millebornes.arnold.questions import (
    DEBIAN,
    LAST_PLAYED,
    STOPPER,
    answers_hazard_in_force,
    are_all_opponents_at_0,
    card_in,
    copies_in_slots,
    is_all_seen,
    is_any_opponent_moving,
    is_any_threat,
    is_needless,
    let_go,
    need_more,
    num_slots,
    playable_cards,
    slot_of,
    sort_hand,
    would_extend,
)
from millebornes_env.agents.millebornes.arnold.values import begin_valuing, best_attack, value_of
from millebornes_env.agents.millebornes.preferences import is_exact_finish, is_in, km_to_go
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.chance import random_below
from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    discard_action,
    play_action,
)
from millebornes_env.games.millebornes.cards import (
    ACCIDENT,
    DISTANCE_25,
    DISTANCE_50,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_DISTANCES,
    SPEED_LIMIT,
    is_hazard,
    is_safety,
    km_of,
    safety_against,
)
from millebornes_env.games.millebornes.legality import can_discard, can_lay
from millebornes_env.games.millebornes.motion import is_moving, team_of
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import CLAIM, EXTENSION, State

NO_SLOT: Final = -1

VALUE_IF_KEPT: Final = 101
"""In discard mode, of safeties and of cards that are playable."""
CLOSE_KM: Final = 100
LOW_PILE: Final = 25
"""With about so few cards left a safety is played that can do nothing else."""
MOST_BY_CHANCE: Final = 10
EARLIER_IF_ONE_HAS_0: Final = 7
_CHANCE_KEY: Final = 0x61726E6F


def choose(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """The action of Ken Arnold's player (see `agents.compiled.agent.Choose`)."""
    phase = int(state.phase)
    sort_hand(state, rules, seat, memory)
    if phase == CLAIM:
        let_go(memory, slot_of(rules, memory, safety_against(int(state.pending_hazard))))
        return CLAIM_COUP_FOURRE
    if phase == EXTENSION:
        just_played = int(memory[LAST_PLAYED]) - 1
        return EXTEND if would_extend(state, rules, seat, memory, options, just_played) else FINISH
    return choose_turn(state, rules, seat, memory, options, draw)


# The decision (3.3) ----------------------------------------------------------------------------------------


@seldom
def choose_turn(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """3.3: which card to play or to discard."""
    team = team_of(rules, seat)
    cure = slot_that_cures(state, rules, seat, memory)
    if cure != NO_SLOT:
        return play_from(memory, cure, 0)
    playable = playable_cards(state, rules, seat)
    plays = count_plays(rules, memory, playable)
    note_stopper(state, rules, seat, memory, playable)
    finisher = has_finisher(state, rules, seat, playable)
    if finisher and would_extend(state, rules, seat, memory, options, NO_CARD):
        finisher = False
    in_a_hurry = is_any_threat(state, rules, seat, options)
    if finisher and plays > 0 and int(memory[STOPPER]) == 0:
        in_a_hurry = True
    safety = slot_of_safety_to_play(state, rules, seat, memory, draw, plays, in_a_hurry)
    if safety != NO_SLOT:
        return play_from(memory, safety, 0)
    need_more(state, team, memory)
    action = choose_by_value(state, rules, seat, memory, options, playable, plays)
    need_more(state, team, memory)
    return action


@seldom
def slot_that_cures(state: State, rules: RulesRecord, seat: int, memory: Int16Array) -> int:
    """3.3, step 1: the slot of the first safety that answers the hazard now in force, or NO_SLOT."""
    for slot in range(num_slots(rules)):
        card = card_in(memory, slot)
        if is_safety(card) and answers_hazard_in_force(state, team_of(rules, seat), card):
            return slot
    return NO_SLOT


@rule
def play_from(memory: Int16Array, slot: int, opponent: int) -> int:
    """The action of playing the card in the slot, which it leaves."""
    card = card_in(memory, slot)
    let_go(memory, slot)
    return play_action(card, opponent)


@rule
def discard_from(memory: Int16Array, slot: int) -> int:
    """The action of discarding the card in the slot, which it leaves."""
    card = card_in(memory, slot)
    let_go(memory, slot)
    return discard_action(card)


@rule
def count_plays(rules: RulesRecord, memory: Int16Array, playable: int) -> int:
    """3.3, step 1, P: how many cards in hand, safeties apart, are playable."""
    plays = 0
    for slot in range(num_slots(rules)):
        card = card_in(memory, slot)
        if card != NO_CARD and is_in(playable, card):
            plays += 1
    return plays


@seldom
def note_stopper(state: State, rules: RulesRecord, seat: int, memory: Int16Array, playable: int) -> None:
    """3.3, step 1, stopper: note whether the hand can hold an opponent up.

    By a battle hazard, or by a Limit if no 25s and 50s are left.
    """
    can_stop = is_in(playable, SPEED_LIMIT) and are_low_cards_gone(state, rules, seat)
    for hazard in range(ACCIDENT, SPEED_LIMIT):
        can_stop = can_stop or is_in(playable, hazard)
    memory[STOPPER] = 1 if can_stop else 0


@rule
def are_low_cards_gone(state: State, rules: RulesRecord, seat: int) -> bool:
    """Return True if all 25s and 50s have been seen."""
    return is_all_seen(state, rules, seat, DISTANCE_25) and is_all_seen(state, rules, seat, DISTANCE_50)


@seldom
def has_finisher(state: State, rules: RulesRecord, seat: int, playable: int) -> bool:
    """3.3, step 1, finisher: whether a playable distance card reaches the target exactly."""
    for card in range(NUM_DISTANCES):
        if is_in(playable, card) and is_exact_finish(state, rules, team_of(rules, seat), card):
            return True
    return False


@seldom
def slot_of_safety_to_play(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, draw: int, plays: int, in_a_hurry: bool
) -> int:
    """3.3, step 4: the slot of the first safety that is not to be kept any longer, or NO_SLOT.

    `plays` is P, `in_a_hurry` 4a; each safety gets a random number of its own from `draw`.
    """
    runs_idle = plays == 0 and (
        is_any_opponent_moving(state, rules, seat, 0) or not is_moving(state, rules, team_of(rules, seat))
    )
    for slot in range(num_slots(rules)):
        card = card_in(memory, slot)
        if not is_safety(card):
            continue
        if in_a_hurry or is_needless(state, rules, seat, card):
            return slot
        if runs_idle and is_pile_low(state, rules, seat, draw, slot):
            return slot
    return NO_SLOT


@rule
def is_pile_low(state: State, rules: RulesRecord, seat: int, draw: int, slot: int) -> bool:
    """3.3, step 4c: whether so few cards are left to draw that a safety had better be played."""
    left = int(state.draw_pile) - from_1_to_10(draw, slot)
    if (int(state.km[team_of(rules, seat)]) == 0) != are_all_opponents_at_0(state, rules, seat):
        left -= EARLIER_IF_ONE_HAS_0
    return left < LOW_PILE


@rule
def from_1_to_10(draw: int, slot: int) -> int:
    """3.3, step 4c: a random number, another one for each safety that is looked at."""
    return 1 + random_below(draw, _CHANCE_KEY, slot, MOST_BY_CHANCE)


@seldom
def choose_by_value(
    state: State,
    rules: RulesRecord,
    seat: int,
    memory: Int16Array,
    options: Int64Array,
    playable: int,
    plays: int,
) -> int:
    """3.3, step 6: play the card of the highest value, or discard that of the lowest."""
    slot = NO_SLOT
    if plays > 0:
        slot = slot_to_play(state, rules, seat, memory, options, playable, plays)
    if slot != NO_SLOT:
        return play_from(memory, slot, target_of(state, rules, seat, memory, options, card_in(memory, slot)))
    slot = slot_to_discard(state, rules, seat, memory, options, playable)
    if is_safety(card_in(memory, slot)):
        return play_from(memory, slot, 0)
    if can_discard(state, rules, seat):
        return discard_from(memory, slot)
    card = card_if_forced(state, rules, seat, memory, options)
    let_go(memory, slot_of(rules, memory, card))
    return play_action(card, target_of(state, rules, seat, memory, options, card))


@seldom
def slot_to_play(
    state: State,
    rules: RulesRecord,
    seat: int,
    memory: Int16Array,
    options: Int64Array,
    playable: int,
    plays: int,
) -> int:
    """3.3, step 6, play mode: the slot with the highest value; NO_SLOT if P comes down to 0 meanwhile.

    In the words a card that is not playable has the value 0 as well; it is left out here, for safety's sake.
    """
    begin_valuing(memory, 0)
    if options[DEBIAN] == 1:
        plays = 1  # Q1: P is no number there, it only says whether there are any
    best, best_slot = 0, NO_SLOT
    for slot in range(num_slots(rules)):
        card = card_in(memory, slot)
        if card == NO_CARD or not (is_safety(card) or is_in(playable, card)):
            continue
        value = 0
        if is_withheld(state, rules, seat, card):
            plays -= 1
            if plays == 0:
                return NO_SLOT
        elif not is_safety(card):
            n = copies_in_slots(rules, memory, card, slot)
            value = value_of(state, rules, seat, memory, options, card, n)
        if best_slot == NO_SLOT or value >= best:
            best, best_slot = value, slot
    return best_slot


@seldom
def is_withheld(state: State, rules: RulesRecord, seat: int, card: int) -> bool:
    """3.3, step 6, the close-to-target rule: whether a low card is not played so near to the target.

    Because the copies in hand do not suffice to get there with them.
    """
    left = km_to_go(state, team_of(rules, seat))
    if card not in (DISTANCE_25, DISTANCE_50) or int(state.draw_pile) == 0 or left > CLOSE_KM:
        return False
    if left // km_of(card) <= int(state.hand[seat, card]):
        return False
    return card == DISTANCE_25 or left % km_of(card) == 0


@seldom
def slot_to_discard(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, playable: int
) -> int:
    """3.3, step 6, discard mode: the slot with the lowest value.

    Where all values have grown beyond VALUE_IF_KEPT (Q2) the program finds no card; here it is the lowest.
    """
    begin_valuing(memory, 1)
    best, best_slot = 0, NO_SLOT
    for slot in range(num_slots(rules)):
        card = card_in(memory, slot)
        if card == NO_CARD:
            continue
        value = VALUE_IF_KEPT
        if not (is_safety(card) or is_in(playable, card)):
            n = copies_in_slots(rules, memory, card, slot)
            value = value_of(state, rules, seat, memory, options, card, n)
        if best_slot == NO_SLOT or value <= best:
            best, best_slot = value, slot
    return best_slot


# At other tables -------------------------------------------------------------------------------------------


@seldom
def target_of(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, card: int
) -> int:
    """Against which opponent to lay the card: 0 if it is no hazard."""
    if not is_hazard(card) or rules.teams == 2:
        return 0
    opponent = best_attack(state, rules, seat, memory, options, card)[1]
    if opponent != NO_CARD:
        return opponent
    opponent = 0
    while not can_lay(state, rules, team_of(rules, seat), card, opponent):
        opponent += 1
    return opponent


@seldom
def card_if_forced(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array
) -> int:
    """The best of the cards that may be laid, where none may be discarded although the words want to."""
    begin_valuing(memory, 0)
    best, best_card = 0, NO_CARD
    for card in range(NUM_CARD_TYPES):
        if int(state.hand[seat, card]) == 0 or not can_lay_somewhere(state, rules, seat, card):
            continue
        value = 0 if is_safety(card) else value_of(state, rules, seat, memory, options, card, 1)
        if best_card == NO_CARD or value >= best:
            best, best_card = value, card
    return best_card


@rule
def can_lay_somewhere(state: State, rules: RulesRecord, seat: int, card: int) -> bool:
    """Return True if the card is playable, a hazard against any opponent."""
    for opponent in range(rules.teams - 1 if is_hazard(card) else 1):
        if can_lay(state, rules, team_of(rules, seat), card, opponent):
            return True
    return False


class ArnoldAgent(CompiledAgent):
    """Ken Arnold's player; its options are the quirks of the program (3.5)."""

    name = "arnold"
    game = "millebornes"
    rule: ClassVar[Choose] = staticmethod(choose)

    def __init__(
        self,
        table: Table,
        seed: int = 0,
        debian: bool = False,
        carry_need: bool = False,
        right_of_way: bool = False,
        higher_base: bool = False,
        openbsd: bool = False,
    ) -> None:
        """Make the classic player, or another version of it.

        Args:
            table: the table to play at.
            seed: of its random numbers.
            debian: as Debian has it (Q1): the first low card that it withholds near the target makes it
                discard, even if it could play something else.
            carry_need: what it thinks that it needs grows during a match and not only in a round (Q2).
            right_of_way: repaired (Q3): whether an opponent could finish depends on the Right of Way, not on
                the 100s seen.
            higher_base: repaired (Q4): a hazard is worth more, not less, if the own side has the safety.
            openbsd: as OpenBSD has it: a Stop is worth less against who is limited.
        """
        flags = (debian, carry_need, right_of_way, higher_base, openbsd)
        super().__init__(table, seed, tuple(int(flag) for flag in flags))
