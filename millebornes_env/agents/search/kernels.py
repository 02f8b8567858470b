"""The compiled part of `agents.search`: games as a seat knows them, redealt and played to their ends.

The seat that searches is always seat 0 here and its team is team 0, whether the game was read back from an
observation or was handed over: what it does cannot depend on where it sits, nor on what it does not see.
"""

from __future__ import annotations

from math import sqrt
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.compiled.agent import (
    MEMORY,
    NO_ACTION,
    Int16Array,
    Int64Array,
    decide,
    decisions_taken,
)
from millebornes_env.agents.millebornes import features
from millebornes_env.agents.millebornes import observation_reader as decoder
from millebornes_env.agents.millebornes.observation_reader import Starts, read_observation
from millebornes_env.agents.policy.network import network_value
from millebornes_env.agents.protocol import Observations
from millebornes_env.agents.search.hidden_cards import (
    ALL,
    NOTHING,
    OWN,
    Float64Array,
    copy_hands,
    copy_streams,
    lay_out_hidden_cards,
    redeal,
)
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.numba.compiling import kernel, rule
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.actions import CLAIM_COUP_FOURRE, around, card_of, is_discard
from millebornes_env.games.millebornes.cards import DECK_SIZE, is_safety
from millebornes_env.games.millebornes.legality import write_mask
from millebornes_env.games.millebornes.motion import team_of
from millebornes_env.games.millebornes.observation import write_observation
from millebornes_env.games.millebornes.rulebook import POINTS_PER_REWARD
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.scoring import round_score
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC, ObservationSpec
from millebornes_env.games.millebornes.state import CLAIM, NO_SEAT, ROUND_OVER, Int8Array, State, StateArray
from millebornes_env.games.millebornes.turn import step
from millebornes_env.games.millebornes.winning import has_won_round, round_winner

CHUNK: Final = 20
"""After so many redeals it is asked which actions are still worth trying."""
FEWEST_REDEALS: Final = 40
"""No action is dropped before so many."""
DROP_BELOW: Final = 1.0
"""An action is dropped if its gain lies so many standard errors below 0 (2 loses time, 0 loses points)."""
LEAST_VARIANCE: Final = 1e-4
"""Of the gains in different redeals: that they were all the same does not prove that they always are."""
MOST_TIMES: Final = 4
"""Largest number of redeals of an action, as a multiple of its own, when dropped actions save theirs."""

_DECISIONS_OF_A_SEAT: Final = 4096  # more than a seat can take in a round
_LONGEST_PLAYOUT: Final = 4096  # only an agent that breaks the rules can take so many decisions
_NO_LIMIT: Final = 1 << 40
_COUNT_TAG: Final = 0x636F756E  # sets random numbers apart that would else have the same key
_DRAW_TAG: Final = 0x64726177


class Searcher(NamedTuple):
    """Settings of a searcher."""

    choose: int  # address of the rollout agent's function
    options: Int64Array  # [MAX_OPTIONS] of the rollout agent
    starts: Starts  # of the observations
    sees: int  # NOTHING, HANDS or ALL
    rollouts: int  # redeals for each action; 0: no limit
    depth: int  # decisions of a playout before the network judges the position; 0: none does
    z: float  # so many standard errors above 0 a gain must lie
    key_0: int  # of all random numbers
    key_1: int


class Decisions(NamedTuple):
    """Decisions that are being taken, N of them; S seats, A actions."""

    roots: StateArray  # [N] the game as the seat knows it, the hidden cards in some order
    dealt: StateArray  # [N] scratch: after a redeal
    games: StateArray  # [N] scratch: being played out
    memories: Int16Array  # [N, S, MEMORY] scratch: of the rollout agent in a playout
    own: Int16Array  # [N, MEMORY] its memory in the seat that searches, after its own choice
    hidden: Int8Array  # [N, DECK_SIZE] scratch
    masks: Int8Array  # [N, A] scratch
    keys: Int64Array  # [N, 2] of the redeals
    base: Int64Array  # [N] what the rollout agent would do
    tried: Int64Array  # [N, A] the other actions that are still being tried
    num_tried: Int64Array  # [N] how many they are
    gains: Float64Array  # [N, A] of each of them over the base, summed up
    squares: Float64Array  # [N, A] their squares, summed up
    redeals: Int64Array  # [N] so far
    playouts: Int64Array  # [N] so far
    budget: Int64Array  # [N] playouts that there may be


def new_decisions(count: int, seats: int, actions: int, states: StateArray) -> Decisions:
    """Allocate arrays for N decisions of S seats and A actions; `states` are STATE[3 * N], all zero."""
    return Decisions(
        roots=states[:count],
        dealt=states[count : 2 * count],
        games=states[2 * count :],
        memories=np.zeros((count, seats, MEMORY), np.int16),
        own=np.zeros((count, MEMORY), np.int16),
        hidden=np.zeros((count, DECK_SIZE), np.int8),
        masks=np.zeros((count, actions), np.int8),
        keys=np.zeros((count, 2), np.int64),
        base=np.zeros(count, np.int64),
        tried=np.zeros((count, actions), np.int64),
        num_tried=np.zeros(count, np.int64),
        gains=np.zeros((count, actions), np.float64),
        squares=np.zeros((count, actions), np.float64),
        redeals=np.zeros(count, np.int64),
        playouts=np.zeros(count, np.int64),
        budget=np.zeros(count, np.int64),
    )


# The game as the seat knows it ------------------------------------------------------------------------------


@kernel
def read_rows(searcher: Searcher, rules: RulesRecord, rows: Observations, roots: StateArray) -> None:
    """Read games back from observations, int8[N, D], whose starts are the searcher's."""
    for number in range(len(rows)):
        read_observation(rows[number], searcher.starts, rules, roots[number])
        lay_out_hidden_cards(roots[number], rules, NOTHING)


@kernel
def read_states(
    searcher: Searcher,
    rules: RulesRecord,
    states: StateArray,
    seats: npt.NDArray[np.int32],
    row: Int8Array,
    roots: StateArray,
) -> None:
    """Take games over as a seat sees them: by way of an observation, so that nothing hidden comes along.

    Added is what everybody knows but an observation does not tell, and what the searcher may peek at. The
    searcher's starts are those of the default observations, `row`, int8[D], is scratch.
    """
    for number in range(len(states)):
        state, root, seat = states[number], roots[number], int(seats[number])
        write_observation(state, rules, seat, DEFAULT_SPEC, row)
        read_observation(row, searcher.starts, rules, root)
        for team in range(rules.teams):
            root.score[team] = state.score[around(team_of(rules, seat) + team, rules.teams)]
        if int(state.attacker) != NO_SEAT:
            root.attacker = around(int(state.attacker) - seat + rules.players, rules.players)
        if searcher.sees != NOTHING:
            copy_hands(state, rules, seat, root)
        lay_out_hidden_cards(root, rules, searcher.sees)
        if searcher.sees == ALL:
            copy_streams(state, rules, seat, root)


# The beginning of a decision --------------------------------------------------------------------------------


@kernel
def begin_decisions(
    searcher: Searcher,
    rules: RulesRecord,
    slot_ids: Int64Array,
    memories: Int16Array,
    taken: Int64Array,
    decisions: Decisions,
) -> None:
    """Ask the rollout agent what it would do, and list what else is worth trying, if the round goes on.

    By slot, `memories` are those of the rollout agent, int16[P, MEMORY], and `taken` counts the decisions.
    """
    for number in range(len(slot_ids)):
        root = decisions.roots[number]
        decisions.num_tried[number] = 0
        decisions.base[number] = NO_ACTION
        if int(root.phase) == ROUND_OVER:
            continue
        slot_id = int(slot_ids[number])
        key_0 = random_word(searcher.key_0, searcher.key_1, slot_id)
        key_1 = random_word(searcher.key_1 ^ _COUNT_TAG, key_0, int(taken[slot_id]))
        taken[slot_id] += 1
        decisions.keys[number, 0] = key_0
        decisions.keys[number, 1] = key_1
        memory = memories[slot_id]
        draw = random_word(key_1 ^ _DRAW_TAG, key_0, decisions_taken(decoder, root, memory))
        decisions.base[number] = decide(
            decoder, searcher.choose, root, rules, OWN, memory, searcher.options, draw
        )
        for slot in range(MEMORY):
            decisions.own[number, slot] = memory[slot]
        list_actions(searcher, rules, decisions, number)


@rule
def list_actions(searcher: Searcher, rules: RulesRecord, decisions: Decisions, number: int) -> None:
    """List the actions that are worth trying besides the base; none if that is not legal."""
    root, base, mask = decisions.roots[number], int(decisions.base[number]), decisions.masks[number]
    write_mask(root, rules, mask)
    count = 0
    if 0 <= base < len(mask) and mask[base] == 1:
        for action in range(len(mask)):
            if mask[action] == 1 and is_worth_trying(root, action, base):
                decisions.tried[number, count] = action
                decisions.gains[number, count] = 0.0
                decisions.squares[number, count] = 0.0
                count += 1
    decisions.num_tried[number] = count
    decisions.redeals[number] = 0
    decisions.playouts[number] = 0
    redeals = searcher.rollouts if searcher.rollouts > 0 else _NO_LIMIT
    decisions.budget[number] = (count + 1) * (1 if searcher.sees == ALL else redeals)


@rule
def is_worth_trying(root: State, action: int, base: int) -> bool:
    """Return True if a legal action could be better than the base.

    Discarding a safety could not, nor accepting a hazard that the agent itself would parry.
    """
    if action == base or (int(root.phase) == CLAIM and base == CLAIM_COUP_FOURRE):
        return False
    return not (is_discard(action) and is_safety(card_of(action)))


# Redeals and playouts ---------------------------------------------------------------------------------------


@kernel
def search_on(
    searcher: Searcher,
    rules: RulesRecord,
    decisions: Decisions,
    number: int,
    redeals: int,
    hands: Int8Array,
) -> bool:
    """Go on with one decision for so many redeals at most; whether it can be taken now."""
    for _ in range(redeals):
        if is_decided(searcher, decisions, number):
            return True
        try_actions(searcher, rules, decisions, number, hands)
        if int(decisions.redeals[number]) % CHUNK == 0 and int(decisions.redeals[number]) >= FEWEST_REDEALS:
            drop_worse(decisions, number)
    return is_decided(searcher, decisions, number)


@rule
def is_decided(searcher: Searcher, decisions: Decisions, number: int) -> bool:
    """Return True if no other action or no playouts are left to try."""
    tried = int(decisions.num_tried[number])
    if tried == 0 or int(decisions.playouts[number]) + tried + 1 > int(decisions.budget[number]):
        return True
    return searcher.rollouts > 0 and int(decisions.redeals[number]) >= MOST_TIMES * searcher.rollouts


@rule
def try_actions(
    searcher: Searcher, rules: RulesRecord, decisions: Decisions, number: int, hands: Int8Array
) -> None:
    """Redeal, and play out the base and all other actions from there, with the same cards and draws."""
    dealt = decisions.dealt[number]
    of_decision_0, of_decision_1 = int(decisions.keys[number, 0]), int(decisions.keys[number, 1])
    turn = int(decisions.redeals[number])
    key_0 = random_word(of_decision_0, of_decision_1, turn)
    key_1 = random_word(of_decision_1, key_0, turn)
    decisions.dealt[number] = decisions.roots[number]
    redeal(searcher.sees, hands, dealt, rules, turn, key_0, key_1, decisions.hidden[number])
    base = 0.0
    tried = int(decisions.num_tried[number])
    for other in range(-1, tried):
        action = int(decisions.base[number]) if other < 0 else int(decisions.tried[number, other])
        value = play_out(searcher, rules, decisions, number, action, key_0, key_1)
        if other < 0:
            base = value
        else:
            decisions.gains[number, other] += value - base
            decisions.squares[number, other] += (value - base) * (value - base)
    decisions.redeals[number] += 1
    decisions.playouts[number] += tried + 1


@kernel
def play_out(
    searcher: Searcher,
    rules: RulesRecord,
    decisions: Decisions,
    number: int,
    action: int,
    key_0: int,
    key_1: int,
) -> float:
    """Return the value of an action to the own team if the rollout agent plays all seats after it."""
    decisions.games[number] = decisions.dealt[number]
    game, memories = decisions.games[number], decisions.memories[number]
    memories[:, :] = 0
    for slot in range(MEMORY):
        memories[OWN, slot] = decisions.own[number, slot]
    depth = searcher.depth if searcher.depth > 0 else _LONGEST_PLAYOUT
    for taken in range(_LONGEST_PLAYOUT):
        step(game, rules, action)
        if int(game.phase) == ROUND_OVER:
            return value_of_round(game, rules)
        seat = int(game.seat)
        if taken >= depth and seat == OWN:
            return judged_value(game, rules, searcher.options)
        count = decisions_taken(decoder, game, memories[seat])
        draw = random_word(key_1 ^ _DRAW_TAG, key_0, seat * _DECISIONS_OF_A_SEAT + count)
        action = decide(decoder, searcher.choose, game, rules, seat, memories[seat], searcher.options, draw)
    return 0.0


@rule
def value_of_round(game: State, rules: RulesRecord) -> float:
    """The own team's points less the mean of the others'; without points 1 for a win, 0 if shared, or -1."""
    if rules.count_points == 0:
        if not has_won_round(game, rules, OWN):
            return -1.0
        return 1.0 if round_winner(game, rules) == OWN else 0.0
    others = 0
    for team in range(1, rules.teams):
        others += round_score(game, team)
    return round_score(game, OWN) - others / (rules.teams - 1)


@rule
def judged_value(game: State, rules: RulesRecord, options: Int64Array) -> float:
    """Return the value of the round to the own team, as estimated by the rollout agent's network.

    The network estimates the value for the acting seat, so it is asked when the own seat is acting.
    """
    value = network_value(rulebook, features, ObservationSpec, game, rules, OWN, options)
    return POINTS_PER_REWARD * value if rules.count_points == 1 else value


# The end of a decision --------------------------------------------------------------------------------------


@rule
def error_of(decisions: Decisions, number: int, other: int) -> float:
    """The standard error of an action's mean gain; 0 after a single redeal, where a cheat knows all."""
    redeals = float(decisions.redeals[number])
    if redeals < 2:
        return 0.0
    mean = decisions.gains[number, other] / redeals
    variance = (decisions.squares[number, other] - redeals * mean * mean) / (redeals - 1.0)
    return sqrt(max(variance, LEAST_VARIANCE) / redeals)


@rule
def drop_worse(decisions: Decisions, number: int) -> None:
    """Try those actions no longer that are very likely no gain."""
    kept = 0
    for other in range(int(decisions.num_tried[number])):
        mean = decisions.gains[number, other] / float(decisions.redeals[number])
        error = error_of(decisions, number, other)
        if mean + DROP_BELOW * error > 0.0:
            decisions.tried[number, kept] = decisions.tried[number, other]
            decisions.gains[number, kept] = decisions.gains[number, other]
            decisions.squares[number, kept] = decisions.squares[number, other]
            kept += 1
    decisions.num_tried[number] = kept


@kernel
def conclude(searcher: Searcher, decisions: Decisions, actions: Int64Array) -> None:
    """Take the decisions: the highest mean gain of those that are far enough above 0, else the base."""
    for number in range(len(actions)):
        actions[number] = decisions.base[number]
        best = 0.0
        for other in range(int(decisions.num_tried[number])):
            mean = decisions.gains[number, other] / float(decisions.redeals[number])
            if mean > best and mean > searcher.z * error_of(decisions, number, other):
                best = mean
                actions[number] = decisions.tried[number, other]
