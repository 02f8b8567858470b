"""`solving.recall`: agents with memory on the merged tree, against an evaluation history by history."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from millebornes_env.errors import SolvingError
from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC
from millebornes_env.solving import values
from millebornes_env.solving.deck import Solvable, solvable
from millebornes_env.solving.extensive.evaluation import evaluate
from millebornes_env.solving.extensive.spots import Position
from millebornes_env.solving.extensive.tree import Node, Tree
from millebornes_env.solving.policies import observation_size, write_masks, write_rows
from millebornes_env.solving.recall import RecallPolicy
from millebornes_env.solving.tree import Grower
from millebornes_env.solving.values import judge, judge_tree

Floats = npt.NDArray[np.float64]
SMALL = "mini7+copies_of_roll=1+copies_of_stop=1"
CLAIMS = "mini8+copies_of_roll=1+copies_of_right_of_way=1+copies_of_100=0+copies_of_50=2"


class Rememberer:
    """An agent whose choices depend strongly on all that it has seen, in order."""

    name = "rememberer"
    memory_size = 5

    def __init__(self, game: Solvable, sharpness: float = 3.0) -> None:
        rng, size = np.random.default_rng(4), observation_size(game, DEFAULT_SPEC)
        self.seen = rng.standard_normal((size, 5)) * sharpness / size**0.5
        self.kept, self.logits = rng.standard_normal((5, 5)), sharpness * rng.standard_normal((5, 42))

    def advance(self, memories: Any, rows: Any, masks: Any, which: Any) -> tuple[Any, Any]:
        assert len(rows) == len(masks)
        later = np.tanh(memories @ self.kept + rows[which] @ self.seen).astype(np.float32)
        weights = np.exp(later @ self.logits) * masks[which]
        return weights / weights.sum(axis=1, keepdims=True), later


def by_histories(agent: Rememberer, game: Solvable) -> list[float]:
    """Value and best responses, with a policy that is asked along each history."""
    known: dict[tuple[int, bytes], tuple[Any, Any]] = {}

    def advanced(node: Node) -> tuple[Any, Any]:
        seat, before = node.player, node.parent
        key = seat, node.key(seat)
        if key not in known:
            while before is not None and before.player != seat:
                before = before.parent
            memory = np.zeros((1, agent.memory_size), np.float32) if before is None else advanced(before)[1]
            assert isinstance(node.spot, Position)
            states = node.tree.record(node.spot)
            row = np.zeros((1, observation_size(game, DEFAULT_SPEC)), np.int8)
            mask = np.zeros((1, num_actions(2)), np.int8)
            write_rows(states, game.record, DEFAULT_SPEC, row)
            write_masks(states, game.record, mask)
            weights, memory = agent.advance(memory, row, mask, np.zeros(1, np.int64))
            known[key] = weights[0], memory
        return known[key]

    found = evaluate(Tree(game.sheet), lambda node: dict(enumerate(advanced(node)[0].tolist())), agent.name)
    return [found.value, *found.best]


def merged(agent: Rememberer, game: Solvable) -> list[float]:
    found = judge(game, RecallPolicy(agent, game), threads=1)
    return [found.value, *found.best]


@pytest.mark.parametrize("deck", [SMALL, CLAIMS])
def test_it_agrees_with_an_evaluation_history_by_history(deck: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = solvable(deck)
    agent = Rememberer(game)
    expected = by_histories(agent, game)
    assert merged(agent, game) == pytest.approx(expected, abs=1e-5)
    monkeypatch.setattr(values, "SMALL", 0)  # now in a trunk and branches
    assert merged(agent, game) == pytest.approx(expected, abs=1e-5)


def test_without_its_memory_it_is_another_policy() -> None:
    game = solvable("mini7")
    agent = Rememberer(game)
    before = merged(agent, game)
    agent.kept[:] = 0.0
    assert np.abs(np.array(before) - merged(agent, game)).min() > 0.01


def test_a_certain_agent_is_asked_only_where_it_can_come() -> None:
    game, asked = solvable("mini7"), [0, 0]

    class Counting(Rememberer):
        def advance(self, memories: Any, rows: Any, masks: Any, which: Any) -> tuple[Any, Any]:
            asked[self.is_certain] += len(which)
            weights, later = super().advance(memories, rows, masks, which)
            if self.is_certain:
                weights = (weights == weights.max(axis=1, keepdims=True)).astype(np.float64)
            return weights, later

        is_certain = False

    class Certain(Counting):
        is_certain = True

    mixed, certain = Counting(game), Certain(game)
    assert merged(mixed, game) != merged(certain, game)
    assert 0 < asked[1] < asked[0] / 3
    game = solvable(SMALL)
    certain = Certain(game)
    assert merged(certain, game) == pytest.approx(by_histories(certain, game), abs=1e-5)


def test_arrays_that_are_too_small_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    game = solvable("mini7")
    agent = Rememberer(game)
    expected = merged(agent, game)
    monkeypatch.setattr("millebornes_env.solving.recall._FIRST_STRANDS", 8)
    monkeypatch.setattr("millebornes_env.solving.recall._FIRST_ROWS", 64)
    assert merged(agent, game) == expected


def test_wrong_weights_name_the_decision() -> None:
    game = solvable(SMALL)

    class Wrong(Rememberer):
        def advance(self, memories: Any, rows: Any, masks: Any, which: Any) -> tuple[Any, Any]:
            weights, later = super().advance(memories, rows, masks, which)
            weights[-1] = np.nan
            return weights, later

    tree = Grower(game).whole()
    with pytest.raises(SolvingError, match=r"'rememberer' .* sum is nan.*seat . to play at 0 km"):
        judge_tree(tree, RecallPolicy(Wrong(game), game).weights(tree))
