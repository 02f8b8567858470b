"""ISMCTS, EPIMC and MDS, against exact values of a mini deck."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millebornes_env import vector_env
from millebornes_env.agents import make
from millebornes_env.agents.protocol import Table
from millebornes_env.agents.registry import rollout_agent
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.games.millebornes.actions import card_of, is_discard
from millebornes_env.games.millebornes.cards import RIGHT_OF_WAY
from millebornes_env.games.millebornes.state import StateArray
from millebornes_env.solving.as_policy import policy_of
from millebornes_env.solving.policies import action_of
from millebornes_env.solving.tree import Tree
from millebornes_env.solving.values import Weights
from research.baselines.judging import small_tree
from research.searchers.agents import Epimc, Ismcts, Mds, OtherSearchAgent, at_root
from research.searchers.tree import MOST_PLIES
from research.solved import continued, solved
from tests.agents.test_search import positions, redealt, seats_of

DECK = "mini7"
BASE = "greedy"
MANY = 20_000
"""Redeals for each action: the standard error of a mean is some 5 points."""
NEAR = 20.0


def searcher(kind: type[OtherSearchAgent], over: str, edition: str, **options: Any) -> Any:
    table = Table.of(vector_env(1, edition, players=2))
    return kind(table, 1, rollout_agent(over, table, 1), **options)


@pytest.fixture(scope="module")
def tree() -> Tree:
    return small_tree(DECK)


@pytest.fixture(scope="module")
def base(tree: Tree) -> Weights:
    return policy_of(BASE, tree.game).weights(tree)


def first_decisions(tree: Tree) -> list[int]:
    """Return the first decisions of seat 0: with no play of the other seat, all deals are equally likely."""
    own = np.flatnonzero(tree.decision_seats == 0)
    full = tree.decision_states["draw_pile"][own]
    return own[full == full.max()].tolist()


def exact(tree: Tree, weights: Weights, row: int, *, best: bool) -> dict[int, float]:
    """Return the value of each action of seat 0, which then plays the weights or a best response."""
    gains, chances = continued(tree, 0, weights, best=best)
    seat, deck, at = tree.seats[0], tree.game.deck, int(tree.decision_operations[row])
    sequence, result = int(seat.operations.firsts[at]), {}
    for choice in range(2 * len(deck.cards) + 2):
        if (int(seat.choices[at]) >> choice) & 1:
            action = int(action_of(deck, int(tree.decision_states["phase"][row]), choice))
            result[action] = float(gains[sequence] / chances[sequence])
            sequence += 1
    return {action: worth for action, worth in result.items() if not throws_safety_away(action)}


def throws_safety_away(action: int) -> bool:
    return is_discard(action) and card_of(action) == RIGHT_OF_WAY


def choice(agent: OtherSearchAgent, tree: Tree, row: int) -> int:
    state: StateArray = tree.decision_states[row : row + 1].copy()
    return int(agent.act_on(state, np.zeros(1, np.int32), np.zeros(1, np.int64))[0])


@pytest.mark.parametrize(("plies", "best"), [(1, False), (MOST_PLIES, True)])
def test_epimc_knows_what_its_decisions_are_worth(tree: Tree, base: Weights, plies: int, best: bool) -> None:
    agent = searcher(Epimc, BASE, DECK, plies=plies, rollouts=MANY)
    rows = first_decisions(tree)
    assert len(rows) == 7
    for row in rows:
        worth = exact(tree, base, row, best=best)
        chosen = choice(agent, tree, row)
        assert worth[chosen] > max(worth.values()) - NEAR
        _, means = at_root(agent.last_tree)
        assert {action: means[action] for action in worth} == pytest.approx(worth, abs=NEAR)


def test_ismcts_finds_the_choice_of_an_equilibrium_where_one_is_clear(tree: Tree) -> None:
    agent = searcher(Ismcts, BASE, DECK, rollouts=MANY)
    result = solved(DECK)
    seen = 0
    for row in first_decisions(tree):
        worth = exact(tree, result.weights, row, best=True)
        second, first = sorted(worth, key=worth.__getitem__)[-2:]
        if worth[first] > worth[second] + 4 * NEAR:
            assert choice(agent, tree, row) == first
            seen += 1
    assert seen >= 2


def test_mds_goes_from_the_policy_to_the_best_gain_as_its_temperature_falls(
    tree: Tree, base: Weights
) -> None:
    sure, bold = (
        searcher(Mds, BASE, DECK, rollouts=2_000, temperature=temperature) for temperature in (1e6, 1e-3)
    )
    alone = make(BASE, sure.table, 1)
    changed = 0
    for row in first_decisions(tree):
        worth = exact(tree, base, row, best=False)
        state = tree.decision_states[row : row + 1]
        env = vector_env(1, DECK, players=2)
        shown = env.set_states(state.copy())
        asked = int(alone.act(shown["observation"], shown["action_mask"])[0])
        assert choice(sure, tree, row) == asked
        chosen = choice(bold, tree, row)
        assert worth[chosen] > max(worth.values()) - NEAR
        changed += chosen != asked
    assert changed


@pytest.mark.parametrize("kind", [Ismcts, Epimc, Mds])
def test_they_see_no_hidden_cards_and_threads_change_nothing(kind: type[OtherSearchAgent]) -> None:
    env = vector_env(40)
    for steps in (5, 40):
        states = positions(env, steps)
        others = redealt(env, states, steps)
        assert states.tobytes() != others.tobytes()
        chosen = [
            searcher(kind, BASE, "parker", rollouts=10, threads=threads).act_on(
                games, seats_of(states), np.arange(40)
            )
            for games, threads in ((states, 1), (others, 1), (states, 3))
        ]
        assert np.array_equal(chosen[0], chosen[1])
        assert np.array_equal(chosen[0], chosen[2])
        masks = env.set_states(states)["action_mask"]
        assert (masks[np.arange(40), chosen[0]] == 1).all()


def test_they_play_in_the_arena_by_their_names() -> None:
    name = f"research.searchers.agents:Epimc:rollout={BASE},rollouts=4,plies=1"
    assert play([name, BASE], MatchConfig("parker", episode="round", seed=1), 2).faults == ()
