"""Once all cards are known, the end of a round is played as the oracle finds it best, by trying all ways."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.search.endgame import new_line, solve
from millebornes_env.millebornes.state import StateArray
from tests.agents.test_search import CLAIM, positions, searcher, seats_of
from tests.laws.conversions import PARKER_2, Record, Table, to_oracle
from tests.laws.players import walk
from tests.laws.positions import replayed
from tests.oracle.oracle import OracleRound
from tests.support import Position

MOST = 200_000
FEW_CARDS = range(3, 7)
"""In both hands together: as many as the oracle can try in all ways."""
PLAYED_OUT = [PARKER_2, Table("dujardin_classic", 2, 2), Table("winning_moves", 2, 2)]


def ends(table: Table, count: int) -> Iterator[tuple[StateArray, OracleRound]]:
    """Positions with an empty draw pile, in both implementations, one of a round."""
    for seed in range(2_000):
        first: Record | None = None
        for games, record, log in walk(table, seed):
            first = first or record
            if record["draw_pile"] == 0 and record["phase"] != 3 and sum(record["hand_count"]) in FEW_CARDS:
                yield games.states.copy(), replayed(first, log, table)
                count -= 1
                break
        if count == 0:
            return
    raise AssertionError(f"{table}: too few rounds end so")


def value_by_oracle(game: OracleRound, own: int) -> float:
    """What the round is worth to a seat if both play their best: all ways are tried."""
    if game.over:
        if not game.rules.count_points:
            winners = game.round_winners()
            return -1.0 if own not in winners else 1.0 if winners == [own] else 0.0
        points = [sum(game.score(team).values()) for team in range(2)]
        return float(points[own] - points[1 - own])
    values = [value_by_oracle(after(game, action), own) for action in game.legal_actions()]
    return max(values) if game.seat == own else min(values)


def after(game: OracleRound, action: tuple[str, ...]) -> OracleRound:
    """The game after an action."""
    following = copy.deepcopy(game)
    following.step(action)
    return following


def seen_by(env: VectorEnv, states: StateArray) -> tuple[SearchAgent, StateArray]:
    """A searcher, and the games as who is to decide sees them."""
    agent = searcher(env, rollout="greedy")
    return agent, agent._looked_at(states, seats_of(states))[1].roots


@pytest.mark.parametrize("table", PLAYED_OUT, ids=str)
def test_the_end_is_worth_what_the_oracle_finds_by_trying_everything(table: Table) -> None:
    env = vector_env(1, table.edition)
    improved, phases = 0, set()
    for states, oracle in ends(table, 12):
        own = oracle.seat
        assert own is not None
        env.set_states(states)
        legal = np.flatnonzero(env.set_states(states)["action_mask"][0]).tolist()
        by_oracle = {
            action: value_by_oracle(after(oracle, to_oracle(action, 2, own)), own) for action in legal
        }
        agent, roots = seen_by(env, states)
        for base in legal:
            line = new_line(42)
            best, _ = solve(roots[0], agent._rules, base, MOST, line)
            assert line.values[base] == by_oracle[base]
            assert line.values[best] == by_oracle[best] == max(by_oracle.values())
            equals = {action for action in legal if line.values[action] == line.values[best]}
            assert equals == {action for action in legal if by_oracle[action] == by_oracle[best]}
            assert (best == base) == (by_oracle[base] == max(by_oracle.values()))
            improved += int(best != base)
        phases.add(int(states["phase"][0]))
    assert improved > 5
    assert 0 in phases


def test_search_plays_what_is_best_and_counts_no_playouts() -> None:
    env = vector_env(1)
    chosen, kept = 0, 0
    for states, oracle in ends(PARKER_2, 12):
        agent = searcher(env, rollout="greedy", z=1e9)
        own = oracle.seat
        assert own is not None
        action = int(agent.act_on(states, seats_of(states), np.zeros(1, np.int64))[0])
        best = max(value_by_oracle(after(oracle, one), own) for one in oracle.legal_actions())
        assert value_by_oracle(after(oracle, to_oracle(action, 2, own)), own) == best
        assert agent.playouts == 0
        gains = agent.last_gains()
        chosen += int(len(gains) == 2 and gains[1][0] == action and gains[1][1] > 0 == gains[1][2])
        kept += int(gains == [(action, 0.0, 0.0)])
    assert chosen > 0
    assert kept > 0
    assert chosen + kept == 12


def test_a_claim_and_an_extension_are_decided_exactly_too() -> None:
    env = vector_env(1)
    asked = Position(
        "battle 0: roll", "battle 1: roll", "hand 0: accident roll", "hand 1: driving_ace roll 100"
    )
    asked.draw_pile(0).do("play accident")
    agent = searcher(env, rollout="greedy", z=1e9)
    states = asked.games.states
    assert agent.act_on(states, seats_of(states), np.zeros(1, np.int64)).tolist() == [CLAIM]
    assert agent.playouts == 0


@pytest.mark.parametrize(
    ("endgame", "ms", "is_solved"), [(0, 0, False), (3, 0, False), (0, 5, False), (MOST, 5, True)]
)
def test_where_positions_are_too_few_it_searches_as_elsewhere(endgame: int, ms: int, is_solved: bool) -> None:
    env = vector_env(1)
    states, _ = next(ends(PARKER_2, 1))
    agent = searcher(env, rollout="greedy", endgame=endgame, ms=ms)
    agent.act_on(states, seats_of(states), np.zeros(1, np.int64))
    assert (agent.playouts == 0) == is_solved


def test_cards_to_draw_and_more_players_are_searched_as_before() -> None:
    """Nothing else changes by it."""
    for players in (2, 3):
        env = vector_env(30, players=players)
        states = positions(env, 30)
        one, other = (searcher(env, rollout="greedy", endgame=most) for most in (MOST, 0))
        chosen = [agent.act_on(states, seats_of(states), np.arange(30)) for agent in (one, other)]
        assert np.array_equal(*chosen)
        assert one.playouts == other.playouts > 0
