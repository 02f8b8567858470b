"""The walk against the naive solver: sizes, expected values, best responses, the value of the game."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest

from millebornes_env.games.millebornes.state import StateArray
from millebornes_env.solving.cfr import Solver
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.policies import FunctionPolicy
from millebornes_env.solving.tree import Grower
from millebornes_env.solving.values import Judgement, Uniform, judge, visits
from tests.laws.conversions import to_id
from tests.oracle.oracle import Action, OracleRound
from tests.solving import naive

HELD = "mini7+copies_of_roll=1+copies_of_stop=1+hand_limit=2"
"""Two 50s, a Stop, a Roll and the Right of Way; it is dealt so that somebody can hold it back."""
EXTENDED = "+".join(
    (
        "mini10",
        "copies_of_25=0",
        "copies_of_50=2",
        "copies_of_roll=1",
        "copies_of_stop=1",
        "target=50",
        "extended_target=100",
    )
)
"""The same cards, with an extension."""
DECKS = (HELD, EXTENDED)
EIGHT = "mini8+copies_of_50=4+copies_of_100=0"
"""Eight cards with 420 orders; `mini8` itself has 2,520, which take ten gigabytes."""


def liking(action: int, km: int, cards: int) -> int:
    """Some policy that both sides can be asked for: it depends on the action, own km and cards in hand."""
    return 1 + (action * 7 + km // 25 * 3 + cards * 5) % 4


def liked_by_oracle(game: OracleRound, actions: Sequence[Action]) -> list[float]:
    assert game.seat is not None
    km, cards = game.teams[game.seat].km, len(game.hands[game.seat])
    weights = [liking(to_id(action, 2, game.seat), km, cards) for action in actions]
    return [weight / sum(weights) for weight in weights]


def liked(states: StateArray, masks: Any) -> Any:
    weights = np.zeros(masks.shape)
    for row, state in enumerate(states):
        seat = int(state["seat"])
        km, cards = int(state["km"][seat]), int(state["hand_count"][seat])
        for action in np.flatnonzero(masks[row]):
            weights[row, action] = liking(int(action), km, cards)
    return weights / weights.sum(axis=1, keepdims=True)


@cache
def naive_trees(deck: str, is_liked: bool) -> list[naive.Node]:
    choose = liked_by_oracle if is_liked else lambda _, actions: [1 / len(actions)] * len(actions)
    return naive.tree(solvable(deck).rules, choose)


def check_judgement(deck: str, found: Judgement, trees: list[naive.Node]) -> None:
    assert found.value == pytest.approx(sum(map(naive.expected, trees)) / len(trees), abs=1e-9)
    assert found.best[0] == pytest.approx(naive.best_response(trees, 0), abs=1e-9)
    assert found.best[1] == pytest.approx(naive.best_response(trees, 1), abs=1e-9)


@pytest.mark.parametrize("deck", DECKS)
def test_random_play_is_worth_what_the_oracle_says(deck: str) -> None:
    """Expected value and both best responses, to rounding."""
    check_judgement(deck, judge(solvable(deck), Uniform()), naive_trees(deck, False))


@pytest.mark.parametrize("deck", DECKS)
def test_a_policy_that_is_asked_is_worth_what_the_oracle_says(deck: str) -> None:
    """In parts and by two threads; each information set is asked about as the seat sees it."""
    result = judge(solvable(deck), FunctionPolicy("liked", liked), threads=2)
    check_judgement(deck, result, naive_trees(deck, True))


@pytest.mark.parametrize("deck", DECKS)
def test_information_sets_are_counted_by_public_history_and_hand(deck: str) -> None:
    """The oracle's histories, put together by what is public and the own hand."""
    counts = Grower(solvable(deck)).whole().counts
    compact = {node.compact for node in naive.every_node(naive_trees(deck, False)) if node.seat is not None}
    assert counts.infosets == tuple(sum(key[0] == seat for key in compact) for seat in (0, 1))
    ends = [node.value for node in naive.every_node(naive_trees(deck, False)) if node.seat is None]
    assert (counts.lowest, counts.highest) == (min(ends), max(ends))
    most = max(len(node.actions) for node in naive.every_node(naive_trees(deck, False)))
    assert counts.most_actions == most


@pytest.mark.parametrize("deck", DECKS)
def test_choices_are_taken_as_often_as_the_oracle_says(deck: str) -> None:
    tree, trees = Grower(solvable(deck)).whole(), naive_trees(deck, False)
    for number, taken in enumerate(visits(tree, Uniform().weights(tree))):
        operations = tree.seats[number].operations
        total = sum(
            float(taken[first : first + count].sum())
            for first, count in zip(operations.firsts, operations.counts, strict=True)
            if count > 0
        )
        meant = sum(naive.decisions_of(root, number) for root in trees) / len(trees)
        assert total == pytest.approx(meant, abs=1e-9)


@pytest.mark.parametrize("deck", DECKS)
def test_the_value_is_that_of_the_sequence_form(deck: str) -> None:
    """CFR+ on merged histories and a linear program on all of them, with perfect recall, to 1e-6."""
    solver = Solver(solvable(deck))
    solver.run(3000, lambda done: done.iteration % 100 == 0 and done.judge().nash_conv < 1e-6)
    result = solver.judge()
    value = naive.value_by_linear_program(naive_trees(deck, False))
    assert -result.best[1] - 1e-6 <= value <= result.best[0] + 1e-6
    assert result.value == pytest.approx(value, abs=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("deck", ["mini7-v0", EIGHT])
def test_brute_force_on_seven_and_eight_cards(deck: str) -> None:
    """Random play on 7 and 8 cards, by every order of the deck: minutes, and a gigabyte."""
    check_judgement(deck, judge(solvable(deck), Uniform()), naive_trees(deck, False))
