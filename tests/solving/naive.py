"""A second way to solve a small deck, the obvious one: the oracle plays every order of the deck to every end.

Nothing is merged here: a history is the whole order of the cards with all plays, an information set is what a
seat has seen one after the other (public plays and own draws). It knows neither the rulebook nor the walk.
"""

from __future__ import annotations

import copy
import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import hstack, lil_matrix

from millebornes_env.games.millebornes.rules import Rules
from tests.laws.conversions import CARDS
from tests.oracle.oracle import Action, OracleRound, OracleTeam
from tests.oracle.rules import SAFETY_AGAINST

InfoSet = tuple[Any, ...]
Choose = Callable[[OracleRound, Sequence[Action]], Sequence[float]]
"""A policy: probabilities of the deciding seat's legal actions."""


class Node:
    """A history: an end, a decision, or (at the top) chance."""

    def __init__(self) -> None:
        self.seat: int | None = None
        self.infoset: InfoSet = ()
        self.compact: InfoSet = ()
        self.actions: list[Action] = []
        self.probabilities: list[float] = []
        self.children: list[Node] = []
        self.value = 0.0


class OnePile(OracleRound):
    """A round of the oracle with a deck of its own, drawn from one pile; it notes what each seat sees."""

    def __init__(self, rules: Rules, order: Sequence[str]) -> None:
        """Deal the first cards, seat 0 to play."""
        dummy = [["ROLL"] * 7, ["ROLL"] * 7]
        super().__init__("parker", 2, 2, dummy, dealer=1)
        self.rules = dataclasses.replace(
            self.rules, target=rules.target, extended_target=rules.extended_target or None
        )
        self.target = rules.target
        self.teams = [OracleTeam(self.rules) for _ in range(2)]
        self.pile = list(order)
        self.hands = [[], []]
        self.seen: list[list[Any]] = [[], []]
        self.public: list[Any] = []
        for seat in (0, 1):
            for _ in range(rules.hand_limit):
                self._draw(seat)
        self._start_turn_left_of(1)

    def pile_size(self) -> int:
        """Cards that are left."""
        return len(getattr(self, "pile", ()))

    def _draw(self, seat: int) -> None:
        if self.pile_size():
            card = self.pile.pop(0)
            self.hands[seat].append(card)
            self.seen[seat].append(("drew", card))

    def play(self, action: Action) -> None:
        """Carry out an action, and tell both what they see of it: not whether a hazard could be parried."""
        seat = self.seat
        hazard = action[1] if action[0] == "play" and action[1] in SAFETY_AGAINST else None
        if action == ("pass",):
            self.seen[int(seat or 0)].append("passed")
        else:
            for both in (*self.seen, self.public):
                both.append((seat, action))
        waits = hazard is not None and SAFETY_AGAINST[hazard] in self.hands[1 - int(seat or 0)]
        self.step(action)
        if waits:
            assert self.decision == "claim"


def orders(deck: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Every order of the deck, equal cards being equal; all equally probable."""
    if not deck:
        yield ()
        return
    for card in sorted(set(deck)):
        rest = list(deck)
        rest.remove(card)
        for tail in orders(rest):
            yield (card, *tail)


def tree(rules: Rules, choose: Choose) -> list[Node]:
    """The trees of all orders of the deck; what is chosen is `choose`'s."""
    deck = [CARDS[card] for card, copies in enumerate(rules.deck) for _ in range(copies)]
    return [grown(OnePile(rules, order), choose) for order in orders(deck)]


def grown(game: OnePile, choose: Choose) -> Node:
    """The tree from here on."""
    node = Node()
    if game.over:
        scores = [sum(game.score(team).values()) for team in (0, 1)]
        node.value = float(scores[0] - scores[1])
        return node
    assert game.seat is not None
    node.seat = game.seat
    node.actions = sorted(game.legal_actions())
    node.infoset = (game.seat, game.decision, *game.seen[game.seat])
    node.compact = (game.seat, game.decision, tuple(game.public), tuple(sorted(game.hands[game.seat])))
    node.probabilities = list(choose(game, node.actions))
    for action in node.actions:
        after = copy.deepcopy(game)
        after.play(action)
        node.children.append(grown(after, choose))
    return node


def every_node(trees: Sequence[Node]) -> Iterator[Node]:
    """All histories."""
    waiting = list(trees)
    while waiting:
        node = waiting.pop()
        yield node
        waiting += node.children


def expected(node: Node) -> float:
    """Return the expected value for seat 0 from this node."""
    if node.seat is None:
        return node.value
    return sum(p * expected(child) for p, child in zip(node.probabilities, node.children, strict=True))


def decisions_of(node: Node, seat: int) -> float:
    """Count the seat's decisions from this node, those without a choice left out."""
    own = 1.0 if node.seat == seat and len(node.actions) > 1 else 0.0
    return own + sum(
        p * decisions_of(child, seat) for p, child in zip(node.probabilities, node.children, strict=True)
    )


def best_response(trees: Sequence[Node], seat: int) -> float:
    """Return the seat's best-response value, with one choice for each information set."""
    sets: dict[InfoSet, list[tuple[Node, float]]] = defaultdict(list)
    for root in trees:
        note_reach(root, seat, 1.0 / len(trees), sets)
    chosen: dict[InfoSet, int] = {}
    memo: dict[int, float] = {}

    def worth(node: Node) -> float:
        if id(node) not in memo:
            memo[id(node)] = value(node)
        return memo[id(node)]

    def value(node: Node) -> float:
        if node.seat is None:
            return node.value if seat == 0 else -node.value
        if node.seat != seat:
            return sum(p * worth(child) for p, child in zip(node.probabilities, node.children, strict=True))
        if node.infoset not in chosen:
            sums = [
                sum(reach * worth(one.children[action]) for one, reach in sets[node.infoset])
                for action in range(len(node.actions))
            ]
            chosen[node.infoset] = int(np.argmax(sums))
        return worth(node.children[chosen[node.infoset]])

    return sum(worth(root) for root in trees) / len(trees)


def note_reach(node: Node, seat: int, reach: float, sets: dict[InfoSet, list[tuple[Node, float]]]) -> None:
    """Collect the reach probability, by chance and the other seat, of each history of an information set."""
    if node.seat == seat:
        sets[node.infoset].append((node, reach))
    for p, child in zip(node.probabilities, node.children, strict=True):
        note_reach(child, seat, reach if node.seat == seat else reach * p, sets)


def value_by_linear_program(trees: Sequence[Node]) -> float:
    """The value of the game, by the sequence form (Koller, Megiddo and von Stengel 1996)."""
    sequences: list[dict[Any, int]] = [{(): 0}, {(): 0}]
    decisions: list[dict[InfoSet, tuple[int, list[int]]]] = [{}, {}]
    pays: dict[tuple[int, int], float] = defaultdict(float)
    for root in trees:
        note_sequences(root, [0, 0], 1.0 / len(trees), sequences, decisions, pays)
    return solve_sequence_form([len(result) for result in sequences], decisions, pays)


def solve_sequence_form(
    sizes: Sequence[int],
    decisions: Sequence[dict[Any, tuple[int, list[int]]]],
    pays: dict[tuple[int, int], float],
) -> float:
    """The value to seat 0, of sequences that are numbered from 0, the empty one.

    Args:
        sizes: how many each seat has.
        decisions: of each seat, by information set: the sequence that leads there, and those that go on.
        pays: what seat 0 wins where two sequences meet, times the probability of the chances.
    """
    matrix = lil_matrix((sizes[0], sizes[1]))
    for (one, other), value in pays.items():
        matrix[one, other] = value
    flows = [flow_of(sizes[seat], decisions[seat]) for seat in (0, 1)]
    # max over x of min over y: x'Ay with Ey = e, so max of e'q with E'q <= A'x, Fx = f
    rows, free = flows[1].shape[0], np.zeros(flows[1].shape[0])
    free[0] = -1.0
    result = linprog(
        np.concatenate([np.zeros(sizes[0]), free]),
        A_ub=hstack([-matrix.T.tocsr(), flows[1].T.tocsr()], format="csr"),
        b_ub=np.zeros(sizes[1]),
        A_eq=hstack([flows[0].tocsr(), lil_matrix((flows[0].shape[0], rows))], format="csr"),
        b_eq=np.eye(1, flows[0].shape[0])[0],
        bounds=[(0, None)] * sizes[0] + [(None, None)] * rows,
        method="highs",
    )
    assert result.success, result.message
    return -float(result.fun)


def flow_of(size: int, decisions: dict[Any, tuple[int, list[int]]]) -> Any:
    """The constraints of a realisation plan: what goes into a decision comes out, some of it twice."""
    flow = lil_matrix((1 + len(decisions), size))
    flow[0, 0] = 1.0
    for row, (parent, choices) in enumerate(decisions.values(), 1):
        flow[row, parent] = -1.0
        for choice in choices:
            flow[row, choice] += 1.0
    return flow


def note_sequences(
    node: Node,
    own: list[int],
    chance: float,
    sequences: list[dict[Any, int]],
    decisions: list[dict[InfoSet, tuple[int, list[int]]]],
    pays: dict[tuple[int, int], float],
) -> None:
    """Number the sequences of both seats, and add up what their ends pay."""
    if node.seat is None:
        pays[own[0], own[1]] += chance * node.value
        return
    known = sequences[node.seat]
    numbers = [known.setdefault((node.infoset, action), len(known)) for action in node.actions]
    decisions[node.seat].setdefault(node.infoset, (own[node.seat], numbers))
    for number, child in zip(numbers, node.children, strict=True):
        after = list(own)
        after[node.seat] = number
        note_sequences(child, after, chance, sequences, decisions, pays)
