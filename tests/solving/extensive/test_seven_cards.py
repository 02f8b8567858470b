"""Both keys give the same game: full ones by the sequence form, compact ones by our walk."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache

import pytest

from millebornes_env.solving.deck import solvable
from millebornes_env.solving.extensive import Tree
from millebornes_env.solving.extensive.spots import CHANCE, OVER
from millebornes_env.solving.extensive.tree import Node
from millebornes_env.solving.tree import Grower
from millebornes_env.solving.values import Uniform, judge
from tests.solving.extensive.test_tree import FIVE
from tests.solving.naive import solve_sequence_form
from tests.solving.test_values import VALUE_OF_7, value_by_linear_program


@dataclass
class SequenceForm:
    """A game by the sequences of each seat; 0 is the empty one.

    Attributes:
        decisions: of each seat, by full key: the sequence that leads there, and those that go on.
        uniform: of each seat, how probable uniform play makes each sequence.
        pays: what seat 0 wins where two sequences meet, times the probability of the chances.
    """

    decisions: tuple[dict[bytes, tuple[int, list[int]]], ...] = field(default_factory=lambda: ({}, {}))
    uniform: tuple[list[float], ...] = field(default_factory=lambda: ([1.0], [1.0]))
    pays: dict[tuple[int, int], float] = field(default_factory=lambda: defaultdict(float))


def sequence_form(tree: Tree) -> SequenceForm:
    """Of perfect recall: a full key belongs to one sequence, or the game is none."""
    form = SequenceForm()
    waiting: list[tuple[Node, float, tuple[int, int]]] = [(tree.root, 1.0, (0, 0))]
    while waiting:
        node, chance, (first, second) = waiting.pop()
        if node.player == OVER:
            form.pays[first, second] += chance * node.payoffs[0]
        elif node.player == CHANCE:
            waiting += [
                (node.child(one.card), chance * one.probability, (first, second)) for one in node.outcomes
            ]
        else:
            seat, own = node.player, (first, second)[node.player]
            uniform, count = form.uniform[seat], len(node.actions)
            made = list(range(len(uniform), len(uniform) + count))
            parent, going_on = form.decisions[seat].setdefault(node.key(seat), (own, made))
            assert parent == own
            if going_on is made:
                uniform += [uniform[own] / count] * count
            for action, sequence in zip(node.actions, going_on, strict=True):
                after = (sequence, second) if seat == 0 else (first, sequence)
                waiting.append((node.child(action), chance, after))
    return form


def best_response_to_uniform(form: SequenceForm, seat: int) -> float:
    """Return the seat's best-response value; later decisions have longer keys."""
    gains = [0.0] * len(form.uniform[seat])
    for sequences, pay in form.pays.items():
        won = pay if seat == 0 else -pay
        gains[sequences[seat]] += won * form.uniform[1 - seat][sequences[1 - seat]]
    for _, (parent, going_on) in sorted(form.decisions[seat].items(), key=lambda item: -len(item[0])):
        gains[parent] += max(gains[sequence] for sequence in going_on)
    return gains[0]


@cache
def form_of(deck: str) -> SequenceForm:
    return sequence_form(Tree(deck))


decks = pytest.mark.parametrize("deck", [FIVE.label, pytest.param("mini7", marks=pytest.mark.slow)])


@decks
def test_uniform_play_is_exploited_as_much_by_either_key(deck: str) -> None:
    """To rounding."""
    form, result = form_of(deck), judge(solvable(deck), Uniform())
    assert sum(map(len, form.decisions)) > sum(result.counts.infosets)
    if deck == "mini7":
        assert tuple(map(len, form.decisions)) == (25_528, 28_697)
        assert result.counts.infosets == (8_104, 7_226)
    for seat in (0, 1):
        assert best_response_to_uniform(form, seat) == pytest.approx(result.best[seat], abs=1e-9)


@decks
def test_the_value_is_the_same_by_either_key(deck: str) -> None:
    """By a linear program over full keys, and by one over compact keys."""
    form = form_of(deck)
    value = solve_sequence_form([len(seat) for seat in form.uniform], form.decisions, form.pays)
    if deck == "mini7":
        assert value == pytest.approx(VALUE_OF_7, abs=1e-6)
    assert value == pytest.approx(value_by_linear_program(Grower(solvable(deck)).whole()), abs=1e-6)
