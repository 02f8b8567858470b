"""`strategist`: counts the cards and the score, and weighs everything in points.

It is the accountant among the drivers. Every card that it could lay or give away is worth so many points to
it, and it does what is worth most:

* a hazard is worth the turns that it will probably cost, by the remedies that are still hidden, less the
  price of a coup fourré if the safety may be in the victim's hand;
* a distance is worth its kilometres and whether the rest of the trip can still be met exactly; the first 200
  costs the safe trip, as far as there is hope of finishing;
* a safety in hand is worth the coup fourré that may still come: by the hazards that are hidden and the cards
  that are left to draw;
* it gives away what can no longer help it: a remedy whose hazards are gone, a distance that leads too far.

A longer trip it risks only if that pays on average, and it knows the match: it does not finish a round that
would end the match in somebody else's favour, and does not play on where finishing wins it.
"""

from __future__ import annotations

from typing import ClassVar, Final

import numpy as np

from millebornes_env.agents.compiled.agent import NO_ACTION, Choose, CompiledAgent, Int16Array, Int64Array
from millebornes_env.agents.millebornes.preferences import (
    LARGEST_KM,
    LOWEST_RANK,
    action_of,
    can_finish,
    cards_held_by,
    cards_unseen,
    cures,
    first_in,
    has_in_reach,
    hazards_to_come,
    is_threatened,
    is_too_late_to_limit,
    is_useless_distance,
    km_to_go,
    large_distances_held,
    rank,
    unseen_copies,
)
from millebornes_env.agents.millebornes.strategist.extension import (
    MINDS_SCORE,
    lead_at_end_of_match,
    safe_trip_at_stake,
    would_extend,
)
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    FINISH,
    card_of,
    is_discard,
    opponent_of,
    target_team,
)
from millebornes_env.games.millebornes.cards import (
    DISTANCE_200,
    END_OF_LIMIT,
    NUM_DISTANCES,
    RIGHT_OF_WAY,
    ROLL,
    SPEED_LIMIT,
    STOP,
    hazard_of,
    is_distance,
    is_hazard,
    is_remedy,
    km_of,
    remedy_for,
    safety_against,
)
from millebornes_env.games.millebornes.legality import legal_cards
from millebornes_env.games.millebornes.motion import (
    has_safety,
    is_limited,
    is_moving,
    is_stopped_by_hazard,
    team_of,
)
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import CLAIM, EXTENSION, State

# What things are worth, in points. They were found by play against others on the same deals: each was halved
# and doubled, and what did better was kept.

FINISHING: Final = 3000
NOT_YET: Final = -5000
NEVER: Final = -100_000
# driving
WORTH_OF_100_KM: Final = 160
FIRST_KM: Final = 60  # so as not to be shut out
HIDDEN_CARD_THAT_FITS: Final = 4  # each
CARD_THAT_FITS: Final = 100
USUAL_NUMBER_THAT_FIT: Final = 8
EVEN_ODDS: Final = 50  # percent, of completing the trip with equal km
KM_AHEAD_FOR_1_PERCENT: Final = 10
STARTING: Final = 110
REMEDY: Final = 150
LIMIT_LIFTED: Final = 60
LIMIT_LIFTED_PER_CARD: Final = 40
MOST_CARDS_FREED: Final = 3
LAST_CARDS: Final = 8  # so near to the empty draw pile it waits for the delayed action
# attacking
TURN_LOST: Final = 60
TURN_LIMITED: Final = 35
LONGEST_WAIT: Final = 8  # turns
COUP_AGAINST: Final = 500
ABOUT_TO_FINISH: Final = 200
DANGER_OF_100_KM: Final = 10
# safeties
CURE: Final = 1200
SAFETY_IN_HAND_AT_RISK: Final = 10
RIGHT_OF_WAY_FOR_ROLL: Final = 400
COUP_CHANCE: Final = 60  # percent, for each hidden hazard while all cards that are hidden can be drawn
LAST_MOMENT: Final = 600
TURNS_BEFORE_END: Final = 4
# keeping
KEEP_IN_NEED: Final = 300
KEEP_TO_FINISH: Final = 300
KEEP_DISTANCE: Final = np.array([12, 24, 30, 50, 60])
KEEP_DISTANCE.setflags(write=False)
KEEP_HAZARD: Final = 180
KEEP_LIMIT: Final = 60
KEEP_ROLL: Final = 150
KEEP_SECOND_ROLL: Final = 60
KEEP_FURTHER_ROLL: Final = 25
KEEP_REMEDY: Final = 60  # for each of its hazards that is hidden
KEEP_SECOND_REMEDY: Final = 8  # percent of that
KEEP_FURTHER_REMEDY: Final = 4
KEEP_END_OF_LIMIT: Final = 40


def choose(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """Choose the action of the highest worth (see `agents.compiled.agent.Choose`)."""
    phase = int(state.phase)
    if phase == CLAIM:
        return CLAIM_COUP_FOURRE
    if phase == EXTENSION:
        return EXTEND if would_extend(state, rules, seat, options) else FINISH
    return most_worth(state, rules, seat, options)


@rule
def most_worth(state: State, rules: RulesRecord, seat: int, options: Int64Array) -> int:
    """The card to lay or to give away."""
    legal = legal_cards(state, rules, seat)
    unseen = cards_unseen(state, rules, seat)
    best = LOWEST_RANK
    action = first_in(legal, 0)
    while action != NO_ACTION:
        card = card_of(action)
        if is_discard(action):
            worth = -worth_of_keeping(state, rules, seat, card, unseen)
        elif is_distance(card):
            worth = worth_of_distance(state, rules, seat, card, options)
        elif is_hazard(card):
            victim = target_team(rules.teams, team_of(rules, seat), opponent_of(action))
            worth = worth_of_attack(state, rules, seat, victim, card, unseen)
        elif is_remedy(card):
            worth = worth_of_remedy(state, rules, seat, card)
        else:
            worth = worth_of_safety(state, rules, seat, card, unseen)
        best = max(best, rank(action, worth))
        action = first_in(legal, action + 1)
    return action_of(best)


# Driving ---------------------------------------------------------------------------------------------------


@rule
def worth_of_distance(state: State, rules: RulesRecord, seat: int, card: int, options: Int64Array) -> int:
    """The kilometres and the way to the finish that they leave, less the safe trip."""
    team = team_of(rules, seat)
    left = km_to_go(state, team)
    after = left - km_of(card)
    if after <= 0:
        return NOT_YET if would_not_finish(state, rules, seat, options) else FINISHING
    worth = km_of(card) * WORTH_OF_100_KM // 100
    if int(state.km[team]) == 0:
        worth += FIRST_KM
    if card == DISTANCE_200:
        worth -= safe_trip_at_stake(state, rules, team) * odds_of_finishing(state, rules, team) // 100
    if after <= LARGEST_KM:
        worth += ease_of_finishing(state, seat, after, card) - ease_of_finishing(state, seat, left, card)
    return worth


@rule
def ease_of_finishing(state: State, seat: int, left: int, laid: int) -> int:
    """Return how easily a seat can complete a trip with these km left; a card about to be laid is gone."""
    if left > LARGEST_KM:
        return USUAL_NUMBER_THAT_FIT * HIDDEN_CARD_THAT_FITS
    for card in range(NUM_DISTANCES):
        if km_of(card) == left:
            held = int(state.hand[seat, card]) - (1 if card == laid else 0)
            ease = HIDDEN_CARD_THAT_FITS * unseen_copies(state, seat, card)
            return ease + CARD_THAT_FITS if held > 0 else ease
    return USUAL_NUMBER_THAT_FIT * HIDDEN_CARD_THAT_FITS // 2  # it takes two


@rule
def odds_of_finishing(state: State, rules: RulesRecord, team: int) -> int:
    """Of completing the trip before all others, in percent, by the km that the team is ahead."""
    ahead = int(state.target)
    for other in range(rules.teams):
        if other != team:
            ahead = min(ahead, int(state.km[team]) - int(state.km[other]))
    return max(10, min(90, EVEN_ODDS + ahead // KM_AHEAD_FOR_1_PERCENT))


@seldom
def would_not_finish(state: State, rules: RulesRecord, seat: int, options: Int64Array) -> bool:
    """Return True if the agent delays the completing card: for the delayed action, or to save the match."""
    if options[MINDS_SCORE] == 1 and lead_at_end_of_match(state, rules, seat) < 0:
        return True
    pile = int(state.draw_pile)
    if rules.count_points == 0 or rules.points_delayed_action == 0 or pile == 0 or pile > LAST_CARDS:
        return False
    team = team_of(rules, seat)
    for other in range(rules.teams):
        is_near = km_to_go(state, other) <= LARGEST_KM
        if other != team and is_near and is_moving(state, rules, other):
            return False
    return True


@rule
def worth_of_remedy(state: State, rules: RulesRecord, seat: int, remedy: int) -> int:
    """Return the worth of moving again, or faster."""
    if remedy == ROLL:
        return STARTING
    if remedy != END_OF_LIMIT:
        return REMEDY
    if is_too_late_to_limit(state, team_of(rules, seat)):
        return 0
    freed = min(large_distances_held(state, rules, seat), MOST_CARDS_FREED)
    return LIMIT_LIFTED + LIMIT_LIFTED_PER_CARD * freed


# Attacking -------------------------------------------------------------------------------------------------


@rule
def worth_of_attack(
    state: State, rules: RulesRecord, seat: int, victim: int, hazard: int, unseen: int
) -> int:
    """The turns that the hazard will probably cost the victim, less the price of a coup fourré."""
    held = cards_held_by(state, rules, victim)
    worth = int(state.km[victim]) * DANGER_OF_100_KM // 100
    if hazard == SPEED_LIMIT:
        if is_too_late_to_limit(state, victim) or not is_moving(state, rules, victim):
            return -KEEP_LIMIT  # kept for when it hurts
        worth += TURN_LIMITED * tenths_of_turns(state, seat, END_OF_LIMIT, held, unseen) // 10
    else:
        needs_roll = rules.roll_after_remedy == 1 and not has_safety(state, victim, RIGHT_OF_WAY)
        worth += TURN_LOST * tenths_of_turns_stopped(state, seat, hazard, needs_roll, held, unseen) // 10
        if km_to_go(state, victim) <= LARGEST_KM:
            worth += ABOUT_TO_FINISH
    if unseen_copies(state, seat, safety_against(hazard)) > 0:
        worth -= COUP_AGAINST * held // unseen
    return worth


@rule
def tenths_of_turns_stopped(
    state: State, seat: int, hazard: int, needs_roll: bool, held: int, unseen: int
) -> int:
    """Return the expected time for which the victim is stopped, in tenths of turns.

    The victim holds so many of the unseen cards, and perhaps must lay a Roll on its remedy.
    """
    turns = 0
    if hazard != STOP:
        turns += tenths_of_turns(state, seat, remedy_for(hazard), held, unseen)
    if hazard == STOP or needs_roll:
        turns += tenths_of_turns(state, seat, ROLL, held, unseen)
    return turns


@rule
def tenths_of_turns(state: State, seat: int, remedy: int, held: int, unseen: int) -> int:
    """Return the expected time until a team with this many cards plays a remedy, in tenths of turns."""
    copies = unseen_copies(state, seat, remedy)
    if copies == 0:
        return 10 * LONGEST_WAIT
    to_draw = min(10 * unseen // copies, 10 * LONGEST_WAIT)
    # On average copies * held / unseen lie in the hand: let 1 / (1 + that) be the chance that none does.
    return 10 + to_draw * unseen // (unseen + copies * held)


# Safeties --------------------------------------------------------------------------------------------------


@rule
def worth_of_safety(state: State, rules: RulesRecord, seat: int, safety: int, unseen: int) -> int:
    """The safety and another play at once, less the coup fourré that it could still become."""
    team = team_of(rules, seat)
    if cures(state, team, safety) or hazards_to_come(state, seat, safety) == 0:
        return CURE
    if can_finish(state, rules, seat):
        return FINISHING + 1
    if safety == RIGHT_OF_WAY and lacks_only_roll(state, rules, seat):
        return RIGHT_OF_WAY_FOR_ROLL
    pile = int(state.draw_pile)
    chance = COUP_CHANCE * hazards_to_come(state, seat, safety) * pile // unseen
    worth = rules.points_per_safety + SAFETY_IN_HAND_AT_RISK
    worth -= rules.points_per_coup_fourre * chance // 100
    if pile < TURNS_BEFORE_END * rules.players:
        worth += LAST_MOMENT
    if is_threatened(state, rules, seat):
        worth += LAST_MOMENT
    return worth


@rule
def lacks_only_roll(state: State, rules: RulesRecord, seat: int) -> bool:
    """Return True if the team lacks only a Roll to move, and the seat holds none."""
    team = team_of(rules, seat)
    if int(state.hand[seat, ROLL]) > 0 or is_stopped_by_hazard(state, team):
        return False
    return not is_moving(state, rules, team)


# Giving away -----------------------------------------------------------------------------------------------


@rule
def worth_of_keeping(state: State, rules: RulesRecord, seat: int, card: int, unseen: int) -> int:
    """Return the loss of giving one copy of the card away."""
    if is_distance(card):
        return worth_of_keeping_distance(state, rules, seat, card)
    if is_hazard(card):
        return worth_of_keeping_hazard(state, rules, seat, card, unseen)
    if card == ROLL and rules.roll_after_remedy == 1:  # else it is a remedy like others
        return worth_of_keeping_roll(state, rules, seat)
    if is_remedy(card):
        return worth_of_keeping_remedy(state, rules, seat, card)
    return -NEVER


@rule
def worth_of_keeping_distance(state: State, rules: RulesRecord, seat: int, card: int) -> int:
    """Nothing if it leads too far, much if it ends the trip."""
    team = team_of(rules, seat)
    if is_useless_distance(state, rules, team, card):
        return 0
    if km_of(card) == km_to_go(state, team):
        return KEEP_TO_FINISH
    return int(KEEP_DISTANCE[card])


@rule
def worth_of_keeping_hazard(state: State, rules: RulesRecord, seat: int, hazard: int, unseen: int) -> int:
    """The more, the less probable it is that all opponents are safe from it; shared among its copies."""
    team = team_of(rules, seat)
    is_safety_out = unseen_copies(state, seat, safety_against(hazard)) > 0
    best = 0
    for other in range(rules.teams):
        if other == team or has_safety(state, other, safety_against(hazard)):
            continue
        if hazard == SPEED_LIMIT and is_too_late_to_limit(state, other):
            continue
        worth = KEEP_LIMIT if hazard == SPEED_LIMIT else KEEP_HAZARD
        if is_safety_out:
            worth -= worth * cards_held_by(state, rules, other) // unseen
        best = max(best, worth)
    return best // int(state.hand[seat, hazard])


@rule
def worth_of_keeping_roll(state: State, rules: RulesRecord, seat: int) -> int:
    """The first is worth most; with Right of Way none is needed."""
    if has_safety(state, team_of(rules, seat), RIGHT_OF_WAY):
        return 0
    copies = int(state.hand[seat, ROLL])
    if int(state.hand[seat, RIGHT_OF_WAY]) > 0:
        return KEEP_REMEDY if copies == 1 else 0
    if copies == 1:
        return KEEP_ROLL
    return KEEP_SECOND_ROLL if copies == 2 else KEEP_FURTHER_ROLL


@rule
def worth_of_keeping_remedy(state: State, rules: RulesRecord, seat: int, remedy: int) -> int:
    """By the hazards that may still come; the second copy is worth little."""
    worth = need_of_remedy(state, rules, seat, remedy)
    copies = int(state.hand[seat, remedy])
    if copies == 1:
        return worth
    return worth * (KEEP_SECOND_REMEDY if copies == 2 else KEEP_FURTHER_REMEDY) // 100


@rule
def need_of_remedy(state: State, rules: RulesRecord, seat: int, remedy: int) -> int:
    """Return the worth of the first copy."""
    team, hazard = team_of(rules, seat), hazard_of(remedy)
    if int(state.battle[team]) == hazard and is_stopped_by_hazard(state, team):
        return KEEP_IN_NEED
    if has_in_reach(state, rules, seat, safety_against(hazard)):
        return 0
    if remedy != END_OF_LIMIT:
        return KEEP_REMEDY * unseen_copies(state, seat, hazard)
    if is_too_late_to_limit(state, team):
        return 0
    if is_limited(state, team):
        return KEEP_IN_NEED
    return KEEP_END_OF_LIMIT * unseen_copies(state, seat, hazard)


class StrategistAgent(CompiledAgent):
    """Counts the cards and the score, and weighs everything in points."""

    name = "strategist"
    game = "millebornes"
    rule: ClassVar[Choose] = staticmethod(choose)

    def __init__(self, table: Table, seed: int = 0, extends: bool = True, score: bool = True) -> None:
        """Nothing is drawn by chance.

        Args:
            table: the table to play at.
            seed: not used.
            extends: whether it calls an extension that seems to pay.
            score: whether it minds that a round can end the match.
        """
        super().__init__(table, seed, (int(extends), int(score)))
