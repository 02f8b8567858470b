"""The compiled loops of the arena: games played to their ends, and what happened in them counted.

A lineup has a `role` for each team of the table: an agent with its options. In every game each team is
played by one role; partners are played by the same.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.agents import observation_reader as seen
from millebornes_env.agents.compiled.agent import (
    FIRST_OF_MATCH,
    MEMORY,
    Int16Array,
    Int64Array,
    decide,
    decisions_taken,
)
from millebornes_env.arena.control_variate import count_deal, count_draws
from millebornes_env.arena.counters import NUM_COUNTERS, count_action, count_episode, count_round
from millebornes_env.chance import random_word
from millebornes_env.compile import kernel, rule, seldom
from millebornes_env.engine.kernels import Settings, start_episode
from millebornes_env.millebornes import rulebook
from millebornes_env.millebornes.actions import around
from millebornes_env.millebornes.legality import is_legal, write_mask
from millebornes_env.millebornes.motion import team_of
from millebornes_env.millebornes.observation import write_observation
from millebornes_env.millebornes.rulebook import is_episode_over, win_share
from millebornes_env.millebornes.rules import Rules, RulesRecord
from millebornes_env.millebornes.scoring import round_score
from millebornes_env.millebornes.state import ROUND_OVER, Int8Array, State, StateArray
from millebornes_env.millebornes.turn import start_next_round, step

MOST_ROLES: Final = 4
"""Kernels take so many functions always, so that they are compiled once."""

NO_ROLE: Final = -1

FAULT: Final = ("role", "round", "decision", "action")
"""What is noted of an illegal action, in `Batch.faults`; a role of NO_ROLE: there was none."""

_DRAW_TAG: Final = 0x6D696C6C  # sets the agents' random numbers apart from those of the cards
_DECISIONS_OF_A_SEAT: Final = 4096  # more than a seat can take in a round


class Roles(NamedTuple):
    """Who plays: the functions and options of all roles."""

    choose: tuple[int, int, int, int]  # addresses
    options: Int64Array  # [MOST_ROLES, MAX_OPTIONS]


class Batch(NamedTuple):
    """Games that are being played, G of them, and their results; T teams and roles, S seats."""

    states: StateArray  # [G]
    role_of: Int8Array  # [G, T] the role that plays each team
    memories: Int16Array  # [G, S, MEMORY] of the compiled agents
    decisions: Int64Array  # [G] taken so far in this round, by all seats
    steps: Int64Array  # [G] taken so far in the whole episode
    live: npt.NDArray[np.bool_]  # [G] whether the episode goes on
    points: npt.NDArray[np.int32]  # [G, T] by role, so far
    rounds: npt.NDArray[np.int32]  # [G] finished so far
    first: Int8Array  # [G] the role that began the first round
    shares: npt.NDArray[np.float64]  # [G, T] of the win, by role: 1, 1 / k if k share it, or 0
    counters: Int64Array  # [T, NUM_COUNTERS] by role
    faults: Int64Array  # [G, len(FAULT)]
    before: StateArray  # [1] scratch: the game before the step, if luck is counted
    variates: npt.NDArray[np.float64]  # [G, T, NUM_VARIATES] by role; [G, T, 0]: not counted


@rule
def role_of_seat(batch: Batch, rules: RulesRecord, game: int, seat: int) -> int:
    """The role that plays the seat."""
    return int(batch.role_of[game, team_of(rules, seat)])


@rule
def draw_for(state: State, seat: int, decision: int) -> int:
    """The agent's random number: the same for whoever sits there, whatever was played before."""
    key_0, key_1 = int(state.key[0]), int(state.key[1])
    of_round = random_word(key_1 ^ _DRAW_TAG, key_0, int(state.round_number))
    return random_word(of_round, key_0 ^ _DRAW_TAG, seat * _DECISIONS_OF_A_SEAT + decision)


@rule
def begin_game(batch: Batch, rules: RulesRecord, game: int) -> None:
    """Deal the game's next episode."""
    state = batch.states[game]
    start_episode(rulebook, state, rules)
    batch.memories[game, :, :] = 0
    batch.decisions[game] = 0
    batch.steps[game] = 0
    batch.live[game] = True
    batch.points[game, :] = 0
    batch.rounds[game] = 0
    batch.first[game] = role_of_seat(batch, rules, game, around(int(state.dealer) + 1, rules.players))
    batch.shares[game, :] = 0.0
    batch.faults[game, 0] = NO_ROLE
    if batch.variates.shape[2] > 0:
        batch.variates[game, :, :] = 0.0
        count_deal(state, rules, batch.role_of[game], batch.variates[game])


@kernel
def begin_games(batch: Batch, rules: RulesRecord) -> None:
    """Deal the next episode of all games."""
    for game in range(len(batch.states)):
        begin_game(batch, rules, game)


@kernel
def play_games(batch: Batch, rules: RulesRecord, settings: Settings, roles: Roles) -> None:
    """Play all games to their ends, all roles being compiled."""
    for game in range(len(batch.states)):
        begin_game(batch, rules, game)
        state = batch.states[game]
        while batch.live[game]:
            seat = int(state.seat)
            role = role_of_seat(batch, rules, game, seat)
            memory = batch.memories[game, seat]
            draw = draw_for(state, seat, decisions_taken(seen, state, memory))
            action = decide(seen, roles.choose[role], state, rules, seat, memory, roles.options[role], draw)
            carry_out(batch, rules, settings, game, action)


@kernel
def choose_for_role(
    batch: Batch, rules: RulesRecord, choose: int, options: Int64Array, role: int, actions: Int64Array
) -> None:
    """Let one compiled role choose wherever it is its turn.

    Args:
        batch: the games.
        rules: the table's.
        choose: of the agent, by address.
        options: int64[MAX_OPTIONS], of the agent.
        role: which.
        actions: int64[G], overwritten in those games.
    """
    for game in range(len(batch.states)):
        state = batch.states[game]
        seat = int(state.seat)
        if batch.live[game] and role_of_seat(batch, rules, game, seat) == role:
            memory = batch.memories[game, seat]
            draw = draw_for(state, seat, decisions_taken(seen, state, memory))
            actions[game] = decide(seen, choose, state, rules, seat, memory, options, draw)


class Rows(NamedTuple):
    """What agents are shown that are not compiled; G rows of room."""

    observation: Int8Array  # [G, D]
    action_mask: Int8Array  # [G, A]
    games: Int64Array  # [G] the game of each row
    slot_ids: Int64Array  # [G] game * players + seat


@kernel
def write_rows(batch: Batch, rules: RulesRecord, settings: Settings, role: int, rows: Rows) -> int:
    """Write what the deciding seats of one role see and may do, from the top; how many rows they are."""
    count = 0
    for game in range(len(batch.states)):
        state = batch.states[game]
        seat = int(state.seat)
        if batch.live[game] and role_of_seat(batch, rules, game, seat) == role:
            write_observation(state, rules, seat, settings.observation_spec, rows.observation[count])
            write_mask(state, rules, rows.action_mask[count])
            rows.games[count] = game
            rows.slot_ids[count] = game * rules.players + seat
            count += 1
    return count


@kernel
def carry_out_all(batch: Batch, rules: RulesRecord, settings: Settings, actions: Int64Array) -> int:
    """Carry out one action in every game that goes on; how many still do."""
    left = 0
    for game in range(len(batch.states)):
        if batch.live[game]:
            carry_out(batch, rules, settings, game, int(actions[game]))
            left += 1 if batch.live[game] else 0
    return left


@rule
def carry_out(batch: Batch, rules: RulesRecord, settings: Settings, game: int, action: int) -> None:
    """Carry out one action, count it and what came of it; an illegal one ends the game with a fault."""
    state = batch.states[game]
    role = role_of_seat(batch, rules, game, int(state.seat))
    if not is_legal(state, rules, action):
        note_fault(batch, game, role, action)
        return
    count_action(batch.counters[role], action)
    batch.decisions[game] += 1
    batch.steps[game] += 1
    counted = batch.variates.shape[2] > 0
    if counted:
        batch.before[0] = state
    step(state, rules, action)
    if counted:
        count_draws(batch.before[0], state, rules, action, batch.role_of[game], batch.variates[game])
    if int(state.phase) == ROUND_OVER:
        close_round(batch, rules, settings, game)


@seldom
def close_round(batch: Batch, rules: RulesRecord, settings: Settings, game: int) -> None:
    """Count a finished round; begin the next of the match, or close the episode."""
    state = batch.states[game]
    batch.rounds[game] += 1
    for team in range(rules.teams):
        batch.points[game, batch.role_of[game, team]] += round_score(state, team)
    count_round(state, rules, batch.role_of[game], batch.counters)
    if not is_episode_over(state, rules, settings.episode):
        start_next_round(state, rules)
        batch.decisions[game] = 0
        batch.memories[game, :, :FIRST_OF_MATCH] = 0
        if batch.variates.shape[2] > 0:
            count_deal(state, rules, batch.role_of[game], batch.variates[game])
        return
    for team in range(rules.teams):
        batch.shares[game, batch.role_of[game, team]] = win_share(state, rules, settings.episode, team)
    batch.live[game] = False
    count_episode(rules, int(batch.first[game]), batch.shares[game], batch.counters)


@seldom
def note_fault(batch: Batch, game: int, role: int, action: int) -> None:
    """Note an illegal action; the game ends there."""
    fault = batch.faults[game]
    fault[0] = role
    fault[1] = batch.rounds[game]
    fault[2] = batch.decisions[game]
    fault[3] = action
    batch.live[game] = False


def new_batch(rules: Rules, states: StateArray, before: StateArray, num_variates: int) -> Batch:
    """Room for the results of some games.

    Args:
        rules: of the table.
        states: STATE[G], seeded.
        before: STATE[1].
        num_variates: 0: luck is not counted.
    """
    games, teams = len(states), rules.teams
    return Batch(
        states=states,
        role_of=np.zeros((games, teams), np.int8),
        memories=np.zeros((games, rules.players, MEMORY), np.int16),
        decisions=np.zeros(games, np.int64),
        steps=np.zeros(games, np.int64),
        live=np.zeros(games, np.bool_),
        points=np.zeros((games, teams), np.int32),
        rounds=np.zeros(games, np.int32),
        first=np.zeros(games, np.int8),
        shares=np.zeros((games, teams), np.float64),
        counters=np.zeros((teams, NUM_COUNTERS), np.int64),
        faults=np.full((games, len(FAULT)), NO_ROLE, np.int64),
        before=before,
        variates=np.zeros((games, teams, num_variates), np.float64),
    )
