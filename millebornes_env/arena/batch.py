"""The arena's batch of running games, the roles that play them, and the call of a compiled agent.

A lineup has one `role` for each team of the table: an agent with its options. In every game one role plays
each team, so partners are played by the same agent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.compiled.agent import MAX_OPTIONS, decide, decisions_taken
from millebornes_env.agents.protocol import CompiledFunction
from millebornes_env.arena.luck.value_network import ValueNetwork
from millebornes_env.arena.statistics import Float64Array, Int64Array
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.numba.compiling import IS_COMPILED, rule, rule_of_rules
from millebornes_env.engine.rulebook import State, StateArray, TableRules

Int8Array = npt.NDArray[np.int8]
Int16Array = npt.NDArray[np.int16]

NO_ROLE: Final = -1

FAULT: Final = ("role", "round", "decision", "action")
"""Columns of `Batch.faults`, which records illegal actions; a role of NO_ROLE means no fault."""

_DRAW_TAG: Final = 0x6D696C6C  # sets the agents' random numbers apart from those of the cards
_DECISIONS_OF_A_SEAT: Final = 4096  # more than a seat can take in a round


class Roles(NamedTuple):
    """Functions and options of all roles."""

    choose: npt.NDArray[Any]  # int64[T], addresses (without the compiler object[T], the functions)
    options: Int64Array  # [T, MAX_OPTIONS]


class Batch(NamedTuple):
    """G running games and their results; T teams and roles, S seats."""

    states: StateArray  # [G]
    role_of: Int8Array  # [G, T] the role that plays each team
    memories: Int16Array  # [G, S, MEMORY] of the compiled agents
    decisions: Int64Array  # [G] taken so far in this round, by all seats
    steps: Int64Array  # [G] taken so far in the whole episode
    live: npt.NDArray[np.bool_]  # [G] whether the episode goes on
    points: npt.NDArray[np.int32]  # [G, T] by role, so far
    rounds: npt.NDArray[np.int32]  # [G] finished so far
    first: Int8Array  # [G] the role that began the first round
    shares: Float64Array  # [G, T] of the win, by role: 1, 1 / k if k share it, or 0
    counters: Int64Array  # [T, NUM_COUNTERS] by role
    faults: Int64Array  # [G, len(FAULT)]
    before: StateArray  # [1] scratch: the game before the step, if luck is measured
    luck: Float64Array  # [G, T] in points, by role; [0, T]: not measured
    network: ValueNetwork  # for AIVAT; without units if luck is not measured


def roles_of(agents: Sequence[CompiledFunction]) -> Roles:
    """Return the functions and options of compiled agents, one for each role."""
    options = np.array([agent.options for agent in agents], np.int64).reshape(-1, MAX_OPTIONS)
    addresses = np.array([agent.address for agent in agents], np.int64 if IS_COMPILED else np.object_)
    return Roles(addresses, options)


@rule
def team_of(seat: int, teams: int) -> int:
    """Return `seat % teams` without a division, which would be slower."""
    while seat >= teams:
        seat -= teams
    return seat


@rule
def role_of_seat(batch: Batch, rules: TableRules, game: int, seat: int) -> int:
    """Return the role that plays the seat."""
    return int(batch.role_of[game, team_of(seat, rules.teams)])


@rule
def draw_for(state: State, round_number: int, seat: int, decision: int) -> int:
    """Return the random number for a decision; it depends only on the deal, round, seat and decision."""
    key_0, key_1 = int(state.key[0]), int(state.key[1])
    of_round = random_word(key_1 ^ _DRAW_TAG, key_0, round_number)
    return random_word(of_round, key_0 ^ _DRAW_TAG, seat * _DECISIONS_OF_A_SEAT + decision)


@rule_of_rules
def choose_next(
    seen: Any, batch: Batch, rules: TableRules, game: int, choose: int, options: Int64Array
) -> int:
    """Return the action that a compiled agent chooses for the acting seat."""
    state = batch.states[game]
    seat = int(state.seat)
    memory = batch.memories[game, seat]
    draw = draw_for(state, int(batch.rounds[game]), seat, decisions_taken(seen, state, memory))
    return decide(seen, choose, state, rules, seat, memory, options, draw)
