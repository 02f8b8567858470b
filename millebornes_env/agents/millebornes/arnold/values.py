"""Card values of `arnold`: section 3.4 of its description, kind by kind.

A value is asked for in one of two modes: to play the card, where the highest wins, or to discard it, where
the lowest does. `n` is always how many copies of the card, this one included, are still to be valued.
"""

from __future__ import annotations

from typing import Final

from millebornes_env.agents.compiled.agent import Int16Array, Int64Array
from millebornes_env.agents.millebornes.arnold.questions import (
    DISCARDING,
    END_FOUND,
    GOS,
    HAZARDS_VALUED,
    HIGHER_BASE,
    OPENBSD,
    STOPPER,
    holds,
    is_all_seen,
    is_playable,
    is_short_trip,
    is_threat,
    need,
    seen,
)
from millebornes_env.agents.millebornes.preferences import (
    has_in_reach,
    is_exact_finish,
    is_too_late_to_limit,
    km_to_go,
)
from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.millebornes.actions import target_team
from millebornes_env.games.millebornes.cards import (
    DISTANCE_25,
    DISTANCE_50,
    DISTANCE_200,
    END_OF_LIMIT,
    NO_CARD,
    RIGHT_OF_WAY,
    ROLL,
    SPEED_LIMIT,
    STOP,
    hazard_of,
    is_distance,
    is_hazard,
    km_of,
    remedy_for,
    safety_against,
)
from millebornes_env.games.millebornes.motion import has_safety, is_limited, is_moving, team_of
from millebornes_env.games.millebornes.rules import RulesRecord, card_count
from millebornes_env.games.millebornes.state import State

WORTHLESS: Final = -1  # an opponent, or a hazard, is out of reach for ever

# Distance cards.
KM_FOR_A_POINT: Final = 8
VALUE_OF_FINISH: Final = 40
VALUE_OF_LOW_CARD: Final = 10
VALUE_OF_FIRST_LOW_CARD: Final = 20

# Remedies.
VALUE_WITH_SAFETY_IN_HAND: Final = 1
VALUE_OF_ROLL_WITH_SAFETY_IN_HAND: Final = 2
VALUE_OF_LATE_END_OF_LIMIT: Final = 1
LATE_KM: Final = 50
WEIGHT_OF_HAZARDS: Final = 6
WEIGHT_OF_ROLLS: Final = 3

# Hazards.
BASE: Final = 4
BASE_OF_LIMIT: Final = 3
BONUS: Final = 5
LIMITED_ALREADY: Final = 3
BONUS_WITH_SAFETY: Final = 3
ROLLS_AT_LEAST: Final = 4  # that an opponent is thought to need
VALUE_OF_SPARE_LIMIT: Final = 1


@rule
def begin_valuing(memory: Int16Array, discarding: int) -> None:
    """Begin an evaluation in one of the modes (3.3, step 6): nothing is valued yet."""
    memory[DISCARDING] = discarding
    memory[END_FOUND] = 0
    memory[HAZARDS_VALUED] = 0


@rule
def is_discarding(memory: Int16Array) -> bool:
    """Return True if cards are valued for a discard."""
    return int(memory[DISCARDING]) == 1


@rule
def quotient(value: int, divisor: int) -> int:
    """The value divided, the rest cut off: towards zero, also below it."""
    return value // divisor if value >= 0 else -(-value // divisor)


@seldom
def value_of(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, card: int, n: int
) -> int:
    """Return the value of a card other than a safety in the present mode (3.4)."""
    if is_distance(card):
        return value_of_distance(state, rules, seat, memory, card, n)
    if is_hazard(card):
        return best_attack(state, rules, seat, memory, options, card)[0]
    if card == ROLL:
        return value_of_roll(state, rules, seat, memory, options, n)
    if card == END_OF_LIMIT:
        return value_of_end_of_limit(state, rules, seat, memory, n)
    return value_of_repair(state, rules, seat, memory, card, n)


# Distance cards --------------------------------------------------------------------------------------------


@seldom
def value_of_distance(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, card: int, n: int
) -> int:
    """3.4, 25 ... 200: km in eighths, but for low cards, cards that reach the target and those too many."""
    team = team_of(rules, seat)
    if card == DISTANCE_200 and is_one_200_too_many(state, rules, seat, n):
        return 0
    if is_exact_finish(state, rules, team, card):
        return value_of_finish(memory, card)
    if km_of(card) > km_to_go(state, team):
        return card if is_short_trip(state, rules) else 0
    if is_kept_for_limits(state, rules, seat, memory, card, n):
        return VALUE_OF_FIRST_LOW_CARD if int(state.km[team]) == 0 else VALUE_OF_LOW_CARD
    value = km_of(card) // KM_FOR_A_POINT
    is_low = card <= DISTANCE_50
    return value + 1 if is_low == is_limited(state, team) else value - 1


@seldom
def is_kept_for_limits(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, card: int, n: int
) -> bool:
    """3.4, 25 and 50, the exception ("no low card yet"): one low card is kept against Limits to come.

    A 50, or a 25 where no 50 is held; the first of them that is valued.
    """
    if not is_discarding(memory) or card > DISTANCE_50 or n != int(state.hand[seat, card]):
        return False
    if card == DISTANCE_25 and holds(state, seat, DISTANCE_50):
        return False
    if holds(state, seat, END_OF_LIMIT) or has_in_reach(state, rules, seat, RIGHT_OF_WAY):
        return False
    return not is_all_seen(state, rules, seat, SPEED_LIMIT)


@rule
def is_one_200_too_many(state: State, rules: RulesRecord, seat: int, n: int) -> bool:
    """3.4, 200: whether as many as may be laid are laid, or in hand and valued before this one."""
    valued = int(state.hand[seat, DISTANCE_200]) - n
    return int(state.tableau[team_of(rules, seat), DISTANCE_200]) + valued >= rules.max_200


@rule
def value_of_finish(memory: Int16Array, card: int) -> int:
    """3.4, exactly reaching the target: only the first such card is worth much ("end found")."""
    if int(memory[END_FOUND]) == 1:
        return card
    memory[END_FOUND] = 1
    return VALUE_OF_FINISH


# Remedies --------------------------------------------------------------------------------------------------


@seldom
def value_of_repair(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, remedy: int, n: int
) -> int:
    """3.4, Gas, Spare, Repairs."""
    team, hazard = team_of(rules, seat), hazard_of(remedy)
    if has_safety(state, team, safety_against(hazard)):
        return WORTHLESS
    if holds(state, seat, safety_against(hazard)):
        return VALUE_WITH_SAFETY_IN_HAND
    if int(state.battle[team]) != hazard:
        known = seen(state, rules, seat, hazard)
        if known >= card_count(rules, hazard) or known + n > card_count(rules, hazard):
            return 0
    return value_of_answer(state, rules, seat, memory, hazard, n)


@seldom
def value_of_answer(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, hazard: int, n: int
) -> int:
    """3.4, the formula for a remedy: the more hazards may come, and the fewer remedies, the better."""
    value = WEIGHT_OF_HAZARDS * card_count(rules, hazard)
    value += seen(state, rules, seat, remedy_for(hazard)) - seen(state, rules, seat, hazard)
    return quotient(value, n * n) if is_discarding(memory) else value


@seldom
def value_of_end_of_limit(state: State, rules: RulesRecord, seat: int, memory: Int16Array, n: int) -> int:
    """3.4, End."""
    team = team_of(rules, seat)
    if has_safety(state, team, RIGHT_OF_WAY):
        return WORTHLESS
    if holds(state, seat, RIGHT_OF_WAY):
        return VALUE_WITH_SAFETY_IN_HAND
    if is_limited(state, team) and km_to_go(state, team) <= LATE_KM:
        return VALUE_OF_LATE_END_OF_LIMIT
    if is_limited(state, team) or not is_all_seen(state, rules, seat, SPEED_LIMIT):
        return value_of_answer(state, rules, seat, memory, SPEED_LIMIT, n)
    return 0


@seldom
def value_of_roll(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, n: int
) -> int:
    """3.4, Go: divided in both modes."""
    team, gos = team_of(rules, seat), int(memory[GOS])
    if has_safety(state, team, RIGHT_OF_WAY):
        return WORTHLESS
    if holds(state, seat, RIGHT_OF_WAY):
        return VALUE_OF_ROLL_WITH_SAFETY_IN_HAND
    needed = need(memory, options, ROLL)
    if is_moving(state, rules, team) and gos + n == needed:
        return 0
    return quotient(WEIGHT_OF_ROLLS * needed + seen(state, rules, seat, ROLL) - gos, n * n)


# Hazards ---------------------------------------------------------------------------------------------------


@seldom
def best_attack(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, hazard: int
) -> tuple[int, int]:
    """The hazard's value and the opponent against whom it has it.

    The words know one opponent. Of several it is the one against whom the hazard is worth most; of equals,
    who has come farthest; of those, the nearest to the left. To be played it must be playable against him.
    """
    team, earlier = team_of(rules, seat), int(memory[HAZARDS_VALUED])
    best, best_km, best_opponent = 0, 0, NO_CARD
    for opponent in range(rules.teams - 1):
        if not is_discarding(memory) and not is_playable(state, rules, team, hazard, opponent):
            continue
        other = target_team(rules.teams, team, opponent)
        if hazard == STOP:
            value = value_of_stop(state, rules, seat, other, memory, options, earlier)
        else:
            value = value_of_hazard(state, rules, seat, other, memory, options, hazard, earlier)
        km = int(state.km[other])
        if best_opponent == NO_CARD or value > best or (value == best and km > best_km):
            best, best_km, best_opponent = value, km, opponent
    return best, best_opponent


@rule
def base_of(state: State, rules: RulesRecord, seat: int, options: Int64Array, hazard: int) -> int:
    """3.4, the base of a hazard: lower if the own side knows the safety; repaired (Q4), if it does not."""
    base = BASE_OF_LIMIT if hazard == SPEED_LIMIT else BASE
    is_known = has_in_reach(state, rules, seat, safety_against(hazard))
    return base if is_known == (options[HIGHER_BASE] == 1) else base - 1


@rule
def is_good_time_to_attack(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, threatens: bool
) -> bool:
    """3.4, hazards, the first +5: the own side has 0 miles, or end is found, or the opponent threatens."""
    return int(state.km[team_of(rules, seat)]) == 0 or int(memory[END_FOUND]) == 1 or threatens


@rule
def divided(memory: Int16Array, value: int, earlier: int) -> int:
    """3.4, hazards, in discard mode: divided by 1, 2, 3 ... for one hazard after the other."""
    if not is_discarding(memory):
        return value
    memory[HAZARDS_VALUED] = earlier + 1
    return quotient(value, earlier + 1)


@seldom
def value_of_hazard(
    state: State,
    rules: RulesRecord,
    seat: int,
    other: int,
    memory: Int16Array,
    options: Int64Array,
    hazard: int,
    earlier: int,
) -> int:
    """3.4, Gas-out, Flat, Crash and Limit, against one opponent, after `earlier` other hazards."""
    if hazard == SPEED_LIMIT:
        if is_too_late_to_limit(state, other):
            return VALUE_OF_SPARE_LIMIT if is_discarding(memory) and is_short_trip(state, rules) else 0
        if int(memory[STOPPER]) == 1 or not (is_discarding(memory) or is_moving(state, rules, other)):
            return VALUE_OF_SPARE_LIMIT
    if has_safety(state, other, safety_against(hazard)):
        return WORTHLESS
    answer = remedy_for(hazard)
    value = need(memory, options, answer) + seen(state, rules, seat, answer) + 2
    value *= base_of(state, rules, seat, options, hazard)
    threatens = is_threat(state, rules, seat, other, options)
    if is_good_time_to_attack(state, rules, seat, memory, threatens):
        value += BONUS
    if int(state.km[other]) == 0 or threatens:
        value += BONUS
    if is_limited(state, other):
        value -= LIMITED_ALREADY
    if not is_discarding(memory) and has_in_reach(state, rules, seat, safety_against(hazard)):
        value += BONUS_WITH_SAFETY
    return divided(memory, value, earlier)


@seldom
def value_of_stop(
    state: State,
    rules: RulesRecord,
    seat: int,
    other: int,
    memory: Int16Array,
    options: Int64Array,
    earlier: int,
) -> int:
    """3.4, Stop, against one opponent, after `earlier` other hazards."""
    if has_safety(state, other, RIGHT_OF_WAY):
        return WORTHLESS
    value = base_of(state, rules, seat, options, STOP) * (ROLLS_AT_LEAST + seen(state, rules, seat, ROLL))
    if is_good_time_to_attack(state, rules, seat, memory, is_threat(state, rules, seat, other, options)):
        value += BONUS
    value = divided(memory, value, earlier)
    if int(state.km[other]) == 0:
        value += BONUS
    if not is_moving(state, rules, other) or (options[OPENBSD] == 1 and is_limited(state, other)):
        value -= BONUS
    if not is_discarding(memory) and has_in_reach(state, rules, seat, RIGHT_OF_WAY):
        value += BONUS
    return value
