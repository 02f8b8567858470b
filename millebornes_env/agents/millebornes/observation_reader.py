"""A game read back from an observation, as the seat knows it that made the observation.

Before a row is read it is asked whether the table can show it (`validate_row`): what is read from other rows,
rules and agents would look up where there is nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from millebornes_env.agents.decoder import NO_FAULT, OUT_OF_RANGE, is_in_range, sum_of
from millebornes_env.agents.protocol import Observations, Table
from millebornes_env.engine.numba.compiling import kernel, rule, stack_array
from millebornes_env.errors import AgentError
from millebornes_env.games.millebornes.cards import (
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
    safety_against,
)
from millebornes_env.games.millebornes.editions import OVERRIDABLE
from millebornes_env.games.millebornes.observation import battle_top_code
from millebornes_env.games.millebornes.rule_checks import limits
from millebornes_env.games.millebornes.rules import FIELDS, UNITS, RulesRecord, deck_size, write_rules
from millebornes_env.games.millebornes.sections import (
    CONTENTS,
    MAX_INT8,
    NUM_BATTLE_TOPS,
    NUM_RULES,
    SCORE_UNIT,
    BySection,
)
from millebornes_env.games.millebornes.state import (
    BY_HAZARD,
    CLAIM,
    EXTENSION,
    HAZARD_AGAIN,
    NO_SEAT,
    NO_TEAM,
    PLAY,
    ROUND_OVER,
    Int8Array,
    State,
    StateArray,
)

_MAX_INT16: Final = 2**15 - 1

NOT_SHOWN: Final = -1
"""The start of a section that the observations lack."""


Starts = BySection[int]
"""The start of each section of an observation."""


def starts_of(table: Table, *, counts_unseen: bool = True) -> Starts:
    """Return the start of each section, or NOT_SHOWN.

    Raises:
        AgentError: the observations do not show what is unseen, and the agent counts on it.
    """
    starts = {section.name: section.start for section in table.sections}
    if not table.varies:
        starts.pop("rules", None)  # the table's rules are known, and exact
    elif "rules" not in starts:
        raise AgentError(
            f"the games draw their sheets from {table.edition!r}, and their observations do not show the "
            "rules: make the environment with observe_rules=True"
        )
    if "unseen" not in starts and counts_unseen:
        raise AgentError(
            "the observations have no section 'unseen', which agents that follow rules count on: "
            "make the environment with observe_unseen=True (the default)"
        )
    return BySection(*(starts.get(name, NOT_SHOWN) for name in BySection._fields))


def bounds_of(table: Table) -> Int8Array:
    """The least and the largest value of each number of an observation, int8[2, D].

    The rules, where they are shown, are those of the table; what it has no seat or team for is 0.
    """
    bounds = np.zeros((2, table.sections[-1].stop), np.int8)
    owners = {"table": 1, "team": table.rules.teams, "seat": table.rules.players}
    for section in table.sections:
        shown = CONTENTS[section.name].size * owners[section.owner]  # less than there is room for if padded
        bounds[1, section.start : section.start + shown] = min(section.high, MAX_INT8)
        if section.name == "rules":
            bounds[:, section.start : section.stop] = bounds_of_rules(table)
    return bounds


def bounds_of_rules(table: Table) -> Int8Array:
    """The least and the largest values of the rules in observations, int8[2, R]."""
    if not table.varies:
        return np.array([table.rules.observed] * 2, np.int8)
    most = np.array(table.rules._replace(**{name: limits(name).most for name in OVERRIDABLE}).observed)
    least = np.array([limits(name).least for name in FIELDS])
    least[:2] = most[:2]
    return np.array([least // UNITS, most], np.int8)


# Whether a table can show a row ----------------------------------------------------------------------------

FAULTS: Final = (
    "",
    "a number is out of its range",
    "what is to be decided does not go with who is to decide, or with the hazard that waits for an answer",
    "it is another seat's turn",
    "its hand does not have the number of cards that it says",
    "the cards not in sight are not as many as lie in the other hands and in the draw pile",
    "there are more copies of a card than in the deck",
    "a battle pile shows none of its tops, or several",
    "the target does not go with the extension",
    "no action would be legal",
)
"""The messages of `validate_row`, by number."""

BAD_DECISION: Final = 2
NOT_ITS_TURN: Final = 3
BAD_HAND: Final = 4
BAD_UNSEEN: Final = 5
BAD_COPIES: Final = 6
BAD_BATTLE: Final = 7
BAD_TARGET: Final = 8
NO_CHOICE: Final = 9


@rule
def validate_row(row: Int8Array, starts: Starts, bounds: Int8Array, rules: RulesRecord) -> int:
    """Return the fault of a row, int8[D], that is impossible for a deciding seat, or NO_FAULT.

    A row of a round that is over is none to decide about, and no fault.
    """
    if not is_in_range(row, bounds):
        return OUT_OF_RANGE
    if starts.rules != NOT_SHOWN:
        read_rules(row, starts, rules)
        if deck_size(rules) > DECK_SIZE:
            return OUT_OF_RANGE
    result = validate_decision(row, starts, rules)
    if result == NO_FAULT:
        result = validate_cards(row, starts, rules)
    if result == NO_FAULT:
        result = validate_trip(row, starts, rules)
    if result == NO_FAULT and is_to_decide(row, starts) and not has_a_choice(row, starts, rules):
        return NO_CHOICE
    return result


@rule
def is_to_decide(row: Int8Array, starts: Starts) -> bool:
    """Return True if the round goes on and the observing seat is to decide."""
    return sum_of(row, starts.phase, ROUND_OVER) == 1 and int(row[starts.to_act]) == 1


@rule
def validate_decision(row: Int8Array, starts: Starts, rules: RulesRecord) -> int:
    """Check that one seat has one decision, or the round is over."""
    phases = sum_of(row, starts.phase, ROUND_OVER)
    if phases > 1 or sum_of(row, starts.to_act, rules.players) != phases:
        return BAD_DECISION
    if sum_of(row, starts.pending_hazard, NUM_HAZARDS) != int(row[starts.phase + CLAIM]):
        return BAD_DECISION
    if phases == 1 and int(row[starts.to_act]) == 0:
        return NOT_ITS_TURN
    return NO_FAULT


@rule
def validate_cards(row: Int8Array, starts: Starts, rules: RulesRecord) -> int:
    """Check that the numbers of cards agree with each other and with the deck."""
    if sum_of(row, starts.hand, NUM_CARD_TYPES) != int(row[starts.hand_counts]):
        return BAD_HAND
    if starts.unseen != NOT_SHOWN:
        face_down = int(row[starts.draw_pile]) + sum_of(row, starts.hand_counts + 1, rules.players - 1)
        if sum_of(row, starts.unseen, NUM_CARD_TYPES) != face_down:
            return BAD_UNSEEN
    unseen, is_shown = max(starts.unseen, 0), int(starts.unseen != NOT_SHOWN)
    too_many = 0
    for card in range(NUM_CARD_TYPES):  # without a branch, so that it is vectorized
        copies = int(row[starts.hand + card]) + int(row[starts.discard_pile + card])
        copies += is_shown * int(row[unseen + card])
        too_many |= int(copies > int(rules.deck[card]))
    return BAD_COPIES if too_many else NO_FAULT


@rule
def validate_trip(row: Int8Array, starts: Starts, rules: RulesRecord) -> int:
    """Check that each battle pile has one top card, and that the target is the trip's."""
    for team in range(rules.teams):
        if sum_of(row, starts.battle + team * NUM_BATTLE_TOPS, NUM_BATTLE_TOPS) != 1:
            return BAD_BATTLE
    calls = sum_of(row, starts.extension, rules.teams)
    target = rules.extended_target if calls == 1 else rules.target
    return NO_FAULT if calls <= 1 and 25 * int(row[starts.target]) == target else BAD_TARGET


@rule
def has_a_choice(row: Int8Array, starts: Starts, rules: RulesRecord) -> bool:
    """Return True if the seat to decide has a legal action.

    Who is to play and holds a card can lay it or discard it; who is asked for a coup fourré holds the safety;
    who is asked for the extension has done the short trip, and not yet the long one.
    """
    if int(row[starts.phase + PLAY]) == 1:
        return int(row[starts.hand_counts]) > 0
    if int(row[starts.phase + EXTENSION]) == 1:
        is_done = int(row[starts.km]) >= int(row[starts.target])
        is_called = sum_of(row, starts.extension, rules.teams) > 0
        return is_done and not is_called and 25 * int(row[starts.km]) < rules.extended_target
    for place in range(NUM_HAZARDS):
        if int(row[starts.pending_hazard + place]) == 1:
            return int(row[starts.hand + safety_against(ACCIDENT + place)]) > 0
    return False


@kernel
def first_invalid_row(
    rows: Observations, starts: Starts, bounds: Int8Array, rules: StateArray
) -> tuple[int, int]:
    """By `validate_row`, as `agents.decoder.ObservationDecoder` says."""
    for number in range(len(rows)):
        fault = validate_row(rows[number], starts, bounds, rules[0])
        if fault != NO_FAULT:
            return number, fault
    return -1, NO_FAULT


# Reading ---------------------------------------------------------------------------------------------------


@rule
def sheet_code(row: Int8Array, starts: Starts) -> int:
    """Return a hash of the rules in a row, 0 to 32,767, where games draw their sheets; else 0."""
    code = 0
    if starts.rules != NOT_SHOWN:
        for field in range(NUM_RULES):
            code = (31 * code + int(row[starts.rules + field])) & _MAX_INT16
    return code


@rule
def clock(state: State) -> int:
    """The cards of the draw pile: it only shrinks in a round."""
    return int(state.draw_pile)


@rule
def read_rules(row: Int8Array, starts: Starts, rules: RulesRecord) -> None:
    """Write the rules of the row's game, at a table whose games have different ones."""
    if starts.rules != NOT_SHOWN:
        values = stack_array(np.int64, NUM_RULES)
        for field in range(NUM_RULES):
            values[field] = int(row[starts.rules + field]) * int(UNITS[field])
        write_rules(rules, values)


@rule
def read_observation(row: Int8Array, starts: Starts, rules: RulesRecord, state: State) -> None:
    """Write the game as the observing seat knows it: the observer is seat 0, its team is team 0.

    What nobody can see stays empty: other hands, the deck. What an observation does not tell is left out:
    covered cards of the tableaux (but 200s and safeties), the dealer, who attacked. Scores are in 50s.
    """
    read_rules(row, starts, rules)
    for card in range(NUM_CARD_TYPES):
        state.hand[0, card] = row[starts.hand + card]
        state.discard_pile[card] = row[starts.discard_pile + card]
        unseen = int(row[starts.unseen + card]) if starts.unseen != NOT_SHOWN else 0
        state.hidden[card] = unseen + int(row[starts.hand + card])
    state.discard_top = NO_CARD
    state.draw_pile = row[starts.draw_pile]
    state.target = 25 * int(row[starts.target])
    state.winner = NO_TEAM
    state.dealer = 0
    read_decision(row, starts, rules, state)
    for seat in range(rules.players):
        state.hand_count[seat] = row[starts.hand_counts + seat]
        state.stream_next[seat] = 0
        state.stream_end[seat] = 0
        for card in range(NUM_CARD_TYPES):
            state.hand[seat, card] = 0 if seat > 0 else int(state.hand[0, card])
    for place in range(DECK_SIZE):
        state.deck[place] = NO_CARD
    for team in range(rules.teams):
        read_tableau(row, starts, state, team)


@rule
def read_decision(row: Int8Array, starts: Starts, rules: RulesRecord, state: State) -> None:
    """Read the decision and the seat to make it."""
    state.phase = ROUND_OVER
    for phase in range(ROUND_OVER):
        if int(row[starts.phase + phase]) == 1:
            state.phase = phase
    state.seat = 0
    for seat in range(rules.players):
        if int(row[starts.to_act + seat]) == 1:
            state.seat = seat
    state.pending_hazard = NO_CARD
    state.pending_team = NO_TEAM
    state.attacker = NO_SEAT
    for place in range(NUM_HAZARDS):
        if int(row[starts.pending_hazard + place]) == 1:
            state.pending_hazard = ACCIDENT + place
    if int(state.phase) == CLAIM:
        state.pending_team = int(state.seat) % int(rules.teams)
        state.attacker = (int(state.seat) + int(rules.players) - 1) % int(rules.players)
    state.extension_team = NO_TEAM
    for team in range(rules.teams):
        if int(row[starts.extension + team]) == 1:
            state.extension_team = team


@rule
def read_tableau(row: Int8Array, starts: Starts, state: State, team: int) -> None:
    """Read the tableau of one team."""
    state.km[team] = 25 * int(row[starts.km + team])
    state.score[team] = SCORE_UNIT * int(row[starts.score + team])
    state.opening[team] = row[starts.opening + team]
    state.speed[team] = SPEED_LIMIT if int(row[starts.limited + team]) == 1 else NO_CARD
    for card in range(NUM_CARD_TYPES):
        state.tableau[team, card] = 0
    state.tableau[team, DISTANCE_200] = row[starts.two_hundreds + team]
    for safety in range(NUM_SAFETIES):
        at = NUM_SAFETIES * team + safety
        state.tableau[team, DRIVING_ACE + safety] = row[starts.safeties + at]
        state.coup_fourre[team, safety] = row[starts.coups_fourres + at]
    state.battle[team] = NO_CARD
    for card in range(ACCIDENT, ROLL + 1):
        code = battle_top_code(card)
        if card != SPEED_LIMIT and int(row[starts.battle + team * NUM_BATTLE_TOPS + code]) == 1:
            state.battle[team] = card
    state.battle_below[team] = NO_CARD
    top, opening = int(state.battle[team]), int(state.opening[team])
    if is_battle_hazard(top) and opening != BY_HAZARD:
        state.battle_below[team] = remedy_for(top) if opening == HAZARD_AGAIN else ROLL
