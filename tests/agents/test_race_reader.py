"""A race read back from what a seat sees: it shows the same, allows the same, and odd rows are told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.agents.compiled.agent import MEMORY, CompiledAgent, list_legal
from millebornes_env.agents.protocol import Table
from millebornes_env.agents.wielerspel import observation_reader as seen
from millebornes_env.engine.numba.compiling import for_kernels, kernel, plain, rule, stack_array
from millebornes_env.errors import AgentError
from millebornes_env.games.wielerspel import rulebook
from millebornes_env.games.wielerspel.actions import NUM_ACTIONS
from millebornes_env.games.wielerspel.rules import MAX_PLAYERS
from millebornes_env.games.wielerspel.sections import ObservationSpec
from millebornes_env.games.wielerspel.squares import MAX_SQUARES
from millebornes_env.games.wielerspel.state import NO_CARD, NUM_SETS, STATE
from tests.agents.choosing import chosen_by_state

GAMES = 16
MORE_THAN_ACTIONS = NUM_ACTIONS + 1
TABLES = [
    ("arc_en_ciel", 2, False),
    ("arc_en_ciel", 3, True),
    ("arc_en_ciel+combativity=1+also_green=1", 4, False),
    ("arc_en_ciel", 5, True),
    ("arc_en_ciel+max_turns=100", 6, False),
]
every_table = pytest.mark.parametrize(("name", "players", "padded"), TABLES)


@kernel
def read_and_show(
    rows: np.ndarray,
    starts: Any,
    rules: np.ndarray,
    scratch: np.ndarray,
    spec: Any,
    again: np.ndarray,
    masks: Any,
) -> None:
    """Read rows, write what the observer sees in the race that was read, and what it may do there."""
    for number in range(len(rows)):
        seen.read_observation(rows[number], starts, rules[0], scratch[0])
        rulebook.write_observation(scratch[0], rules[0], 0, spec, again[number])
        rulebook.write_mask(scratch[0], rules[0], masks[number])


def moments(env: VectorEnv, steps: int = 400, every: int = 7) -> Iterator[int]:
    """Random play: the numbers of the decisions to look at."""
    env.reset(seed=3)
    for number in range(steps):
        if number % every == 0:
            yield number
        env.step(env.sample_actions())


@every_table
def test_a_race_that_is_read_shows_and_allows_the_same(name: str, players: int, padded: bool) -> None:
    env = vector_env(GAMES, name, players=players, padded=padded, seed=3)
    table = Table.of(env)
    starts, bounds = seen.starts_of(table), seen.bounds_of(table)
    rules, scratch = for_kernels(rulebook.rules_array(env.rules)), for_kernels(np.zeros(1, STATE))
    spec, phases = ObservationSpec(int(padded)), set()
    for number in moments(env):
        phases |= set(env.get_states()["phase"].tolist())
        for seats in (env.agent_selection, (env.agent_selection + number) % players):
            rows = env.observe(seats)
            again, masks = np.zeros_like(rows), np.zeros((GAMES, NUM_ACTIONS), np.int8)
            read_and_show(rows, starts, rules, scratch, spec, again, masks)
            assert np.array_equal(again, rows)
            deciding = seats == env.agent_selection
            assert np.array_equal(masks[deciding], env.games.buffers.action_mask[deciding])
            assert seen.first_invalid_row(rows[deciding], starts, bounds, rules) == (-1, 0)
    assert len(phases) >= 5


@rule
def mixed(total: int, number: int) -> int:
    return (total * 31 + number) % 1_000_003


@rule
def all_of_a_team(state: Any, other: int, total: int) -> int:
    """Encode the public cards of one team in one number."""
    total = mixed(mixed(total, int(state.energy[other])), int(state.off_board[other]))
    total = mixed(mixed(total, int(state.retired[other])), int(state.out[other]))
    for kind in range(NUM_SETS):
        total = mixed(total, int(state.jerseys[other, kind]))
    for place in range(int(state.riders)):
        total = mixed(total, place if int(state.peloton[place]) == other else 0)
    for place in range(int(state.queue_next), int(state.queue_end)):
        total = mixed(total, place - int(state.queue_next) if int(state.queue[place]) == other else 9)
    total = mixed(mixed(total, int(state.highest_bidder == other)), int(state.escaped == other))
    for square in range(MAX_SQUARES):
        total = mixed(total, square if int(state.owner[square]) == other else 0)
    return total


def choose_by_everything(
    state: Any, rules: Any, seat: int, memory: np.ndarray, options: np.ndarray, draw: int
) -> int:
    """A legal action that depends on all that the seat sees, and on what it remembers."""
    memory[2] += 1
    total = mixed(mixed(int(memory[2]), int(state.phase)), int(state.turn) // 16)
    total = mixed(mixed(mixed(total, int(state.square)), int(state.kind)), int(state.number))
    total = mixed(mixed(mixed(total, int(state.lead)), int(state.highest_lead)), int(state.highest_bid))
    total = mixed(mixed(total, int(state.rainbow_lap)), int(state.no_supply))
    for place in range(rules.players):
        total = all_of_a_team(state, (seat + place) % rules.players, total)
    for place in range(int(state.deck_next), len(state.deck)):
        card = int(state.deck[place])
        total += 0 if card == NO_CARD else (card + 1) * (card + 1)
    mask = stack_array(np.int8, NUM_ACTIONS)
    rulebook.write_mask(state, rules, mask)
    actions = stack_array(np.int16, MORE_THAN_ACTIONS)
    return int(actions[total % list_legal(mask, actions)])


class CuriousAgent(CompiledAgent):
    name = "curious"
    game = "wielerspel"
    rule = staticmethod(choose_by_everything)


@every_table
def test_what_is_chosen_from_the_row_is_chosen_from_the_race(name: str, players: int, padded: bool) -> None:
    env = vector_env(GAMES, name, players=players, padded=padded, seed=4)
    agent = CuriousAgent(Table.of(env))
    observations, _ = env.reset()
    memories = np.zeros((2, GAMES * players, MEMORY), np.int16)
    for number in range(250):
        slot_ids = np.arange(GAMES) * players + env.agent_selection
        chosen = agent.act(observations["observation"], observations["action_mask"], slot_ids)
        seats = env.agent_selection.astype(np.int32)
        for which, states in enumerate((env.get_states(), env.determinize(seats, seed=number))):
            here = memories[which, slot_ids]
            by_state = chosen_by_state(agent, env.rules, states, memories=here)
            memories[which, slot_ids] = here
            assert np.array_equal(by_state, chosen)
        observations = env.step(chosen).observations


def test_the_clock_tells_a_new_race() -> None:
    games = 4
    env = vector_env(games, "arc_en_ciel", players=4, seed=2)
    env.reset()
    clock = plain(seen.clock)
    before = [(32767, -1)] * games
    begun = 0
    for _ in range(3000):
        states = env.get_states()
        now = [(clock(state), int(state.episode)) for state in states]
        for (old, race), (new, same) in zip(before, now, strict=True):
            assert 0 <= new < 32767
            assert new > old if same > race >= 0 else new <= old
            begun += same > race >= 0
        before = now
        env.step(env.sample_actions())
    assert begun > games // 2


def moment_of(env: VectorEnv, phase: int) -> np.ndarray:
    """A row of a seat that is to decide this."""
    for _ in moments(env, steps=2000, every=1):
        result = np.flatnonzero(env.get_states()["phase"] == phase)
        if len(result):
            row: np.ndarray = env.games.buffers.observation[result[0]].copy()
            return row
    raise AssertionError(phase)


def test_each_fault_is_named() -> None:
    env = vector_env(GAMES, "arc_en_ciel", players=4, seed=3)
    table, agent = Table.of(env), agents.load("random", env)
    bid, pay = moment_of(env, 6), moment_of(env, 3)
    at = seen.starts_of(table)
    on_board = at.servants + int(np.flatnonzero(pay[at.servants : at.servants + MAX_SQUARES])[0])
    other_servant = MAX_SQUARES * 2 + int(np.flatnonzero(np.array(env.rules.square_kind) == 0)[0])

    def changed(row: np.ndarray, *changes: tuple[int, int]) -> np.ndarray:
        copy = row.copy()
        for place, number in changes:
            copy[place] = number
        return copy

    none_left = changed(pay, (at.retired, env.rules.servants), (at.off_board, 0))
    none_left[at.servants : at.servants + MAX_SQUARES] = 0
    off = int(bid[at.off_board + 2])
    odd = {
        "number 0 of 'energy' is 61; allowed: 0 to 60": changed(bid, (at.energy, 61)),
        seen.FAULTS[2]: changed(bid, (at.phase, 1)),
        seen.FAULTS[3]: changed(bid, (at.to_act, 0), (at.to_act + 1, 1)),
        seen.FAULTS[4]: changed(bid, *((at.kind + kind, 0) for kind in range(12))),
        seen.FAULTS[5]: changed(bid, (at.place, int(bid[at.place + 1]))),
        seen.FAULTS[6]: changed(bid, (at.lead, 1 if bid[at.lead] == 0 else 0)),
        seen.FAULTS[7]: changed(pay, (on_board, 0)),
        seen.FAULTS[8]: changed(bid, (at.off_board + 2, off - 1), (at.servants + other_servant, 1)),
        seen.FAULTS[9]: changed(bid, (at.stacks, int(bid[at.stacks]) - 1)),
        seen.FAULTS[10]: changed(bid, (at.to_come, 0)),
        seen.FAULTS[11]: changed(bid, (at.highest_bid, 0 if bid[at.highest_bid] else 3)),
        seen.FAULTS[12]: none_left,
    }
    assert len(odd) == len(seen.FAULTS) - 1
    for words, row in odd.items():
        with pytest.raises(AgentError) as refused:
            agent.act(np.stack([bid, row]), None)  # type: ignore[arg-type]
        assert "observations[1] is impossible" in str(refused.value)
        assert words in str(refused.value), (words, str(refused.value))


def test_any_bytes_are_refused_or_harmless() -> None:
    """Fuzzing: what is read from a changed row that is not refused stays within the record."""
    env = vector_env(GAMES, "arc_en_ciel", players=MAX_PLAYERS, padded=True, seed=3)
    agent, random = agents.load("random", env), np.random.default_rng(1)
    refused = 0
    for _ in moments(env, steps=60, every=2):
        rows, masks = env.games.buffers.observation.copy(), env.games.buffers.action_mask
        rows[np.arange(GAMES), random.integers(0, rows.shape[1], GAMES)] += random.integers(
            -2, 3, GAMES, np.int8
        )
        for game in range(GAMES):
            try:
                action = agent.act(rows[game : game + 1], masks[game : game + 1])[0]
            except AgentError:
                refused += 1
            else:
                assert -1 <= action < NUM_ACTIONS
    assert refused > 100
    with pytest.raises(AgentError, match=r"observations\[0\] is impossible at its table"):
        agent.act(random.integers(-128, 128, rows.shape, np.int8), masks)
