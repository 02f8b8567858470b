"""The table of contents of the rulebook: the start of a match, and the effects of an action.

An action is one decision: laying or discarding a card, answering a hazard, calling an extension. A turn
may take several. The functions here call the chapters.
"""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule, seldom
from millebornes_env.games.millebornes.actions import (
    CLAIM_COUP_FOURRE,
    EXTEND,
    card_of,
    is_discard,
    opponent_of,
    target_team,
)
from millebornes_env.games.millebornes.cards import is_distance, is_hazard, is_remedy
from millebornes_env.games.millebornes.coup_fourre import (
    open_claim,
    play_claim,
    play_pass,
    seat_that_can_claim,
)
from millebornes_env.games.millebornes.deal import (
    deal_round,
    discard,
    draw_card,
    draw_first_dealer,
    take_from_hand,
)
from millebornes_env.games.millebornes.distance import has_completed_trip, play_distance
from millebornes_env.games.millebornes.ending import can_extend, next_dealer, next_seat, play_extension
from millebornes_env.games.millebornes.hazards import play_hazard
from millebornes_env.games.millebornes.legality import is_everybody_stuck
from millebornes_env.games.millebornes.motion import team_of
from millebornes_env.games.millebornes.remedies import play_remedy
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.safeties import play_safety
from millebornes_env.games.millebornes.scoring import fill_score_sheet
from millebornes_env.games.millebornes.state import (
    CLAIM,
    EXTENSION,
    MAX_TEAMS,
    NO_SEAT,
    NO_TEAM,
    PLAY,
    ROUND_OVER,
    State,
)


@rule
def start_match(state: State, rules: RulesRecord) -> None:
    """Begin a match: no points yet, a dealer drawn by chance, the first round dealt."""
    state.round_number = 0
    for team in range(MAX_TEAMS):
        state.score[team] = 0
    state.dealer = draw_first_dealer(state, rules)
    start_round(state, rules)


@seldom
def start_next_round(state: State, rules: RulesRecord) -> None:
    """Deal the next round of the match; the deal moves to the left (rules 1.1)."""
    state.round_number = int(state.round_number) + 1
    state.dealer = next_dealer(state, rules)
    start_round(state, rules)


@rule
def start_round(state: State, rules: RulesRecord) -> None:
    """Deal, and let the first seat draw."""
    deal_round(state, rules)
    begin_turn(state, rules, int(state.seat))


@rule
def step(state: State, rules: RulesRecord, action: int) -> None:
    """Apply one action of the seat to act, up to the next decision or the end of the round.

    Precondition: the action is legal (`legality.is_legal`); this is not checked again.
    """
    seat, phase = int(state.seat), int(state.phase)
    if phase == CLAIM:
        answer_hazard(state, rules, seat, action)
    elif phase == EXTENSION:
        answer_extension(state, rules, seat, action)
    elif is_discard(action):
        take_from_hand(state, seat, card_of(action))
        discard(state, card_of(action))
        end_turn(state, rules, seat)
    else:
        lay_card(state, rules, seat, card_of(action), opponent_of(action))


@rule
def lay_card(state: State, rules: RulesRecord, seat: int, card: int, opponent: int) -> None:
    """Lay a card from the hand, by its kind."""
    team = team_of(rules, seat)
    take_from_hand(state, seat, card)
    if is_distance(card):
        play_distance(state, team, card)
        after_distance(state, rules, seat, team)
    elif is_hazard(card):
        attack(state, rules, seat, target_team(rules.teams, team, opponent), card)
    elif is_remedy(card):
        play_remedy(state, team, card)
        end_turn(state, rules, seat)
    else:
        pile_was_empty = int(state.draw_pile) == 0
        play_safety(state, rules, team, card)
        draw_card(state, rules, seat)
        play_again(state, rules, seat, not pile_was_empty or rules.replay_after_safety_when_empty == 1)


@rule
def after_distance(state: State, rules: RulesRecord, seat: int, team: int) -> None:
    """End the round if the trip is completed, unless the seat may call an extension (US C)."""
    if not has_completed_trip(state, team):
        end_turn(state, rules, seat)
    elif can_extend(state, rules, seat):
        state.phase = EXTENSION
    else:
        end_round(state, rules, team)


@rule
def answer_extension(state: State, rules: RulesRecord, seat: int, action: int) -> None:
    """Go on to the longer trip, or end the round with the trip completed."""
    if action == EXTEND:
        play_extension(state, rules, seat)
        end_turn(state, rules, seat)
    else:
        end_round(state, rules, team_of(rules, seat))


@rule
def attack(state: State, rules: RulesRecord, seat: int, team: int, hazard: int) -> None:
    """Lay a hazard; if a member of the team holds the safety against it, that seat is asked first."""
    responder = seat_that_can_claim(state, rules, team, hazard)
    if responder == NO_SEAT:
        play_hazard(state, team, hazard)
        end_turn(state, rules, seat)
        return
    open_claim(state, seat, team, hazard)
    state.phase = CLAIM
    state.seat = responder


@rule
def answer_hazard(state: State, rules: RulesRecord, seat: int, action: int) -> None:
    """Parry the hazard and play on from here, or let it stand and play on after the attacker.

    Ruling E16: where a claim gives no extra play, the turn goes to the left of the attacker, unless the field
    says: of the responder.
    """
    attacker = int(state.attacker)
    if action != CLAIM_COUP_FOURRE:
        play_pass(state)
        end_turn(state, rules, attacker)
        return
    pile_was_empty = int(state.draw_pile) == 0
    play_claim(state, rules, seat)
    if pile_was_empty and rules.replay_after_claim_when_empty == 0:
        end_turn(state, rules, seat if rules.turn_follows_claim_when_empty == 1 else attacker)
    else:
        play_again(state, rules, seat, True)


@rule
def play_again(state: State, rules: RulesRecord, seat: int, may_play_again: bool) -> None:
    """Give the seat another play (004:22), unless its hand is empty (E20)."""
    if may_play_again and int(state.hand_count[seat]) > 0:
        state.phase = PLAY
        state.seat = seat
    else:
        end_turn(state, rules, seat)


@rule
def end_turn(state: State, rules: RulesRecord, seat: int) -> None:
    """Pass the turn on to the left, or end the round if the cards have run out or nobody can use theirs."""
    following = next_seat(state, rules, seat)
    if following == NO_SEAT or is_everybody_stuck(state, rules):
        end_round(state, rules, NO_TEAM)
    else:
        begin_turn(state, rules, following)


@rule
def begin_turn(state: State, rules: RulesRecord, seat: int) -> None:
    """Begin a turn with a draw (004:5); then the seat decides."""
    state.phase = PLAY
    state.seat = seat
    draw_card(state, rules, seat)


@seldom
def end_round(state: State, rules: RulesRecord, winner: int) -> None:
    """End and score the round; `winner` is the team that completed the trip, or NO_TEAM."""
    state.winner = winner
    state.phase = ROUND_OVER
    fill_score_sheet(state, rules)
