"""A game read back from an observation, as the seat knows it that made the observation."""

from __future__ import annotations

from typing import Final, NamedTuple

from agents.protocol import Table
from millebornes_env.compile import rule
from millebornes_env.millebornes.cards import (
    ACCIDENT,
    DECK_SIZE,
    DISTANCE_200,
    DRIVING_ACE,
    NO_CARD,
    NUM_CARD_TYPES,
    NUM_HAZARDS,
    NUM_SAFETIES,
    ROLL,
    SPEED_LIMIT,
    is_battle_hazard,
    remedy_for,
)
from millebornes_env.millebornes.observation import NUM_BATTLE_TOPS, SCORE_UNIT, battle_top_code
from millebornes_env.millebornes.rules import Rules
from millebornes_env.millebornes.state import (
    BY_HAZARD,
    CLAIM,
    HAZARD_AGAIN,
    NO_SEAT,
    NO_TEAM,
    ROUND_OVER,
    Int8Array,
    State,
)

NOT_SHOWN: Final = -1
"""Where a section starts that the observations do not have."""


class Layout(NamedTuple):
    """Where the sections of an observation start."""

    hand: int
    discard_pile: int
    draw_pile: int
    phase: int
    to_act: int
    pending_hazard: int
    target: int
    extension: int
    battle: int
    opening: int
    limited: int
    km: int
    two_hundreds: int
    safeties: int
    coups_fourres: int
    hand_counts: int
    score: int
    unseen: int


def layout_of(table: Table, *, counts_unseen: bool = True) -> Layout:
    """Where each section starts, for `read_observation`.

    Args:
        table: whose observations are read.
        counts_unseen: whether the agent asks which cards are unseen; most do.

    Raises:
        ValueError: the observations do not show what is unseen, and the agent counts on it.
    """
    starts = {section.name: section.start for section in table.sections}
    if "unseen" not in starts and not counts_unseen:
        starts["unseen"] = NOT_SHOWN
    if "unseen" not in starts:
        raise ValueError(
            "the observations have no section 'unseen', which agents that follow rules count on: "
            "make the environment with observe_unseen=True (the default)"
        )
    return Layout(*(starts[name] for name in Layout._fields))


@rule
def read_observation(row: Int8Array, layout: Layout, rules: Rules, state: State) -> None:
    """Write the game as the observing seat knows it: the observer is seat 0, its team is team 0.

    What nobody can see stays empty: other hands, the deck. What an observation does not tell is left out:
    covered cards of the tableaux (but 200s and safeties), the dealer, who attacked. Scores are in 50s.

    Args:
        row: int8[D], the observation.
        layout: of it.
        rules: the table's.
        state: overwritten.
    """
    for card in range(NUM_CARD_TYPES):
        state.hand[0, card] = row[layout.hand + card]
        state.discard_pile[card] = row[layout.discard_pile + card]
        unseen = int(row[layout.unseen + card]) if layout.unseen != NOT_SHOWN else 0
        state.hidden[card] = unseen + int(row[layout.hand + card])
    state.discard_top = NO_CARD
    state.draw_pile = row[layout.draw_pile]
    state.target = 25 * int(row[layout.target])
    state.winner = NO_TEAM
    state.dealer = 0
    read_decision(row, layout, rules, state)
    for seat in range(rules.players):
        state.hand_count[seat] = row[layout.hand_counts + seat]
        state.stream_next[seat] = 0
        state.stream_end[seat] = 0
        for card in range(NUM_CARD_TYPES):
            state.hand[seat, card] = 0 if seat > 0 else int(state.hand[0, card])
    for place in range(DECK_SIZE):
        state.deck[place] = NO_CARD
    for team in range(rules.teams):
        read_tableau(row, layout, state, team)


@rule
def read_decision(row: Int8Array, layout: Layout, rules: Rules, state: State) -> None:
    """Whose decision it is and about what."""
    state.phase = ROUND_OVER
    for phase in range(ROUND_OVER):
        if int(row[layout.phase + phase]) == 1:
            state.phase = phase
    state.seat = 0
    for seat in range(rules.players):
        if int(row[layout.to_act + seat]) == 1:
            state.seat = seat
    state.pending_hazard = NO_CARD
    state.pending_team = NO_TEAM
    state.attacker = NO_SEAT
    for place in range(NUM_HAZARDS):
        if int(row[layout.pending_hazard + place]) == 1:
            state.pending_hazard = ACCIDENT + place
    if int(state.phase) == CLAIM:
        state.pending_team = int(state.seat) % int(rules.teams)
        state.attacker = (int(state.seat) + int(rules.players) - 1) % int(rules.players)
    state.extension_team = NO_TEAM
    for team in range(rules.teams):
        if int(row[layout.extension + team]) == 1:
            state.extension_team = team


@rule
def read_tableau(row: Int8Array, layout: Layout, state: State, team: int) -> None:
    """What lies before one team."""
    state.km[team] = 25 * int(row[layout.km + team])
    state.score[team] = SCORE_UNIT * int(row[layout.score + team])
    state.opening[team] = row[layout.opening + team]
    state.speed[team] = SPEED_LIMIT if int(row[layout.limited + team]) == 1 else NO_CARD
    for card in range(NUM_CARD_TYPES):
        state.tableau[team, card] = 0
    state.tableau[team, DISTANCE_200] = row[layout.two_hundreds + team]
    for safety in range(NUM_SAFETIES):
        at = NUM_SAFETIES * team + safety
        state.tableau[team, DRIVING_ACE + safety] = row[layout.safeties + at]
        state.coup_fourre[team, safety] = row[layout.coups_fourres + at]
    state.battle[team] = NO_CARD
    for card in range(ACCIDENT, ROLL + 1):
        code = battle_top_code(card)
        if card != SPEED_LIMIT and int(row[layout.battle + team * NUM_BATTLE_TOPS + code]) == 1:
            state.battle[team] = card
    state.battle_below[team] = NO_CARD
    top, opening = int(state.battle[team]), int(state.opening[team])
    if is_battle_hazard(top) and opening != BY_HAZARD:
        state.battle_below[team] = remedy_for(top) if opening == HAZARD_AGAIN else ROLL
