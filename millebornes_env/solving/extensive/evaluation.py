"""Exact evaluation of policies that depend on a seat's whole history: tables, and OpenSpiel's policies.

Faster evaluations (`solving.values`) forget the order of a seat's draws, which such a policy may remember.
Here each history is a node of its own, in plain Python, so the deck must be small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from millebornes_env.errors import SolvingError, shown
from millebornes_env.solving.extensive.spots import Position
from millebornes_env.solving.extensive.tree import Node, Tree

ActionProbabilities = Callable[[Node], Mapping[int, float]]
"""Function of a node where a seat is to act that returns the probability of each action."""

_TOLERANCE: Final = 1e-6
_OVER: Final = -1
_CHANCE: Final = -2


@dataclass
class HistorySet:
    """An information set of the tree.

    Attributes:
        node: one of its histories.
        probabilities: the policy, in the order of `node.actions`.
        moves: number of earlier decisions of the seat.
        places: indices of its nodes.
        cost: points per round that the seat would gain here by the best action, if it played a best response
            from there on.
        best: that action.
    """

    node: Node
    probabilities: list[float]
    moves: int
    places: list[int] = field(default_factory=list)
    cost: float = 0.0
    best: int = 0


class TreeValues(NamedTuple):
    """The evaluation of a policy of both seats.

    Attributes:
        value: expected payoff of seat 0.
        best: best-response values of seat 0 and of seat 1.
        sets: the information sets of both seats.
    """

    value: float
    best: tuple[float, float]
    sets: list[HistorySet]


@dataclass
class _Nodes:
    """The nodes in breadth-first order; the children of a node follow each other."""

    owner: list[int] = field(default_factory=list)  # number of the set, _CHANCE or _OVER
    seat: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)  # index of the first child
    chances: list[Sequence[float]] = field(default_factory=list)  # of the outcomes of chance
    payoff: list[float] = field(default_factory=list)  # of seat 0
    sets: list[HistorySet] = field(default_factory=list)


def evaluate(tree: Tree, policy: ActionProbabilities, name: str = "policy") -> TreeValues:
    """Compute value, best responses and the cost of each information set of a tree for two players.

    The policy is called once at each information set; `name` is its name in messages.

    Raises:
        SolvingError: the policy gives no distribution over the legal actions of an information set.
    """
    nodes = _grow(tree, policy, name)
    reach = _reach(nodes)
    value = _values(nodes, reach, None)
    best = tuple(_values(nodes, reach, seat) for seat in (0, 1))
    return TreeValues(value, (best[0], best[1]), nodes.sets)


def _grow(tree: Tree, policy: ActionProbabilities, name: str) -> _Nodes:
    """List all nodes, and ask the policy once for each information set."""
    nodes, level = _Nodes(), [(tree.root, (0, 0))]
    known: dict[tuple[int, bytes], int] = {}
    while level:
        following: list[tuple[Node, tuple[int, int]]] = []
        end = len(nodes.owner) + len(level)
        for node, moves in level:
            place, seat = len(nodes.owner), node.player
            nodes.first.append(end + len(following))
            nodes.seat.append(seat)
            nodes.chances.append([one.probability for one in node.outcomes])
            nodes.payoff.append(node.payoffs[0] if node.payoffs else 0.0)
            later = (moves[0] + (seat == 0), moves[1] + (seat == 1))
            following += [(node.child(action), later) for action in node.actions]
            if seat < 0:
                nodes.owner.append(_OVER if node.payoffs else _CHANCE)
                continue
            number = known.setdefault((seat, node.key(seat)), len(nodes.sets))
            if number == len(nodes.sets):
                weights = _checked(policy(node), node, name)
                nodes.sets.append(HistorySet(node, weights, moves[seat]))
            nodes.sets[number].places.append(place)
            nodes.owner.append(number)
        level = following
    return nodes


def _checked(given: object, node: Node, name: str) -> list[float]:
    """Return the probabilities of the legal actions; raise SolvingError unless they are a distribution."""
    if not isinstance(given, Mapping):
        raise SolvingError(f"the policy {name!r} returned {shown(given)}; it must be a probability by action")
    where = f"at the information set {node.text(node.player)!r}"
    illegal = {
        action: weight for action, weight in given.items() if action not in node.actions and weight != 0
    }
    if illegal:
        action, weight = next(iter(illegal.items()))
        raise SolvingError(
            f"the policy {name!r} gives the action {shown(action)} the weight {weight} where it is illegal, "
            f"{where}; legal are {', '.join(map(str, node.actions))}"
        )
    try:
        weights = [float(given.get(action, 0.0)) for action in node.actions]
    except (TypeError, ValueError):
        raise SolvingError(
            f"the policy {name!r} returned {shown(given)}; it must be a probability by action, {where}"
        ) from None
    if min(weights) < 0 or not abs(sum(weights) - 1) < _TOLERANCE:
        raise SolvingError(
            f"the policy {name!r} has weights that are not probabilities: their sum is {sum(weights):g}, the "
            f"lowest is {min(weights):g}, {where}"
        )
    return [weight / sum(weights) for weight in weights]


def _weights_of(nodes: _Nodes, place: int) -> Sequence[float]:
    owner = nodes.owner[place]
    return nodes.chances[place] if owner == _CHANCE else nodes.sets[owner].probabilities


def _reach(nodes: _Nodes) -> list[list[float]]:
    """Return the reach of each node by seat 0, seat 1 and chance."""
    reach = [[1.0, 1.0, 1.0] for _ in nodes.owner]
    for place, owner in enumerate(nodes.owner):
        if owner == _OVER:
            continue
        mover = 2 if owner == _CHANCE else nodes.seat[place]
        for offset, weight in enumerate(_weights_of(nodes, place)):
            child = reach[nodes.first[place] + offset]
            child[:] = reach[place]
            child[mover] *= weight
    return reach


def _values(nodes: _Nodes, reach: list[list[float]], responder: int | None) -> float:
    """Return the value of the root: of seat 0, or of a seat that plays a best response.

    A best response is found set by set, those of late decisions of the responder first. The histories of a
    set have equally many of its own decisions, but not of all: the other seat may have been asked something.
    """
    sign = -1.0 if responder == 1 else 1.0
    values: list[float | None] = [
        sign * payoff if owner == _OVER else None
        for owner, payoff in zip(nodes.owner, nodes.payoff, strict=True)
    ]

    def value_of(place: int) -> float:
        known = values[place]
        if known is None:
            first = nodes.first[place]
            weights = enumerate(_weights_of(nodes, place))
            known = values[place] = sum(weight * value_of(first + offset) for offset, weight in weights)
        return known

    own = [one for one in nodes.sets if responder is not None and nodes.seat[one.places[0]] == responder]
    for one in sorted(own, key=lambda one: -one.moves):
        _respond(nodes, reach, value_of, values, one)
    return value_of(0)


def _respond(
    nodes: _Nodes,
    reach: list[list[float]],
    value_of: Callable[[int], float],
    values: list[float | None],
    one: HistorySet,
) -> None:
    """Choose the best action of an information set, and write the value of its nodes and its cost."""
    seat = nodes.seat[one.places[0]]
    gains = [0.0] * len(one.probabilities)
    for place in one.places:
        others = reach[place][1 - seat] * reach[place][2]
        for offset in range(len(gains)):
            gains[offset] += others * value_of(nodes.first[place] + offset)
    chosen = int(np.argmax(gains))
    mean = sum(weight * gain for weight, gain in zip(one.probabilities, gains, strict=True))
    one.best, one.cost = one.node.actions[chosen], reach[one.places[0]][seat] * (gains[chosen] - mean)
    for place in one.places:
        values[place] = value_of(nodes.first[place] + chosen)


# Policies ---------------------------------------------------------------------------------------------------


def by_table(table: Mapping[Any, Any]) -> ActionProbabilities:
    """Return the policy of a table keyed by information state.

    Args:
        table: probabilities, by action or as a sequence over all actions. Keys are those of
            `VectorEnv.information_states` in the form "bytes" or "text", or OpenSpiel's
            `information_state_string`, full or compact.
    """
    forms: list[Callable[[Node], Any]] = [
        lambda node: node.key(node.player),
        lambda node: node.text(node.player),
        lambda node: node.key(node.player, compact=True),
        lambda node: node.text(node.player, compact=True),
    ]
    chosen: list[Callable[[Node], Any]] = []

    def probabilities(node: Node) -> Mapping[int, float]:
        if not chosen:
            chosen.extend(form for form in forms if form(node) in table)
        found = table.get(chosen[0](node)) if chosen else None
        if found is None:
            raise SolvingError(
                f"the table has no entry for the information state {node.text(node.player)!r}; keys are "
                'information states as `information_states(form="bytes")` or "text" gives them'
            )
        return found if isinstance(found, Mapping) else dict(enumerate(found))

    return probabilities


def by_openspiel(policy: Any, tree: Tree) -> ActionProbabilities:
    """Return OpenSpiel's policy of `python_mille_bornes`; it is asked about states of its own game.

    Raises:
        SolvingError: the policy does not know its game, or it is not the game of the tree.
    """
    game = getattr(policy, "game", None)
    if game is None:
        raise SolvingError(
            f"{type(policy).__name__} does not know its game: convert a policy of OpenSpiel's C++ by "
            "open_spiel.python.policy.pyspiel_policy_to_python_policy(game, policy)"
        )
    own = getattr(game, "tree", None)
    if own is None or (own.rules, own.first) != (tree.rules, tree.first):
        raise SolvingError(
            f"the policy is of the game {shown(str(game))}, not of {tree.edition.label} with seat "
            f"{tree.first} beginning"
        )

    def probabilities(node: Node) -> Mapping[int, float]:
        state = game.new_initial_state()
        for action in node.history():
            state.apply_action(action)
        result: Mapping[int, float] = policy.action_probabilities(state)
        return result

    return probabilities


def record_of(node: Node) -> Any:
    """Return the record of the position at a node where a seat is to act."""
    assert isinstance(node.spot, Position)
    return node.tree.record(node.spot)[0]
