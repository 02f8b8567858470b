"""Small games solved in plain Python, over the nodes of a tree: what the tests compare with."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from millebornes_env.extensive.spots import CHANCE, OVER
from millebornes_env.extensive.tree import Node

Policy = dict[bytes, list[float]]


@dataclass
class Made:
    """A node with its children made."""

    player: int
    key: bytes
    payoffs: tuple[float, ...]
    chances: list[float]
    children: list[Made] = field(default_factory=list)


def made(node: Node, *, compact: bool) -> Made:
    """The tree below a node, with the keys of who is to act."""
    key = node.key(node.player, compact=compact) if node.player >= 0 else b""
    chances = [one.probability for one in node.outcomes]
    children = [made(node.child(action), compact=compact) for action in node.actions]
    return Made(node.player, key, node.payoffs, chances, children)


def probabilities(node: Made, policy: Policy) -> list[float]:
    """Of the children, with the uniform policy where none is given."""
    if node.player < 0:
        return node.chances
    return policy.get(node.key) or [1 / len(node.children)] * len(node.children)


def value(node: Made, policy: Policy) -> float:
    """What seat 0 expects."""
    if node.player == OVER:
        return node.payoffs[0]
    chances = probabilities(node, policy)
    return sum(p * value(child, policy) for p, child in zip(chances, node.children, strict=True))


def best_response(root: Made, seat: int, policy: Policy) -> float:
    """What the seat expects if it answers the policy as well as it can."""
    sets: dict[bytes, list[tuple[Made, float]]] = defaultdict(list)
    waiting = [(root, 1.0)]
    while waiting:
        node, reach = waiting.pop()
        if node.player == seat:
            sets[node.key].append((node, reach))
        chances = [1.0] * len(node.children) if node.player == seat else probabilities(node, policy)
        waiting += [(child, reach * p) for child, p in zip(node.children, chances, strict=True)]
    known: dict[int, float] = {}
    best: dict[bytes, int] = {}

    def worth(node: Made) -> float:
        if id(node) not in known:
            known[id(node)] = _worth(node)
        return known[id(node)]

    def _worth(node: Made) -> float:
        if node.player == OVER:
            return node.payoffs[seat]
        if node.player != seat:
            chances = probabilities(node, policy)
            return sum(p * worth(child) for p, child in zip(chances, node.children, strict=True))
        if node.key not in best:
            members = sets[node.key]
            values = [
                sum(reach * worth(member.children[place]) for member, reach in members)
                for place in range(len(node.children))
            ]
            best[node.key] = values.index(max(values))
        return worth(node.children[best[node.key]])

    return worth(root)


def exploitability(root: Made, policy: Policy) -> float:
    """NashConv / 2 of a policy for two seats."""
    return (best_response(root, 0, policy) + best_response(root, 1, policy)) / 2


def cfr_plus(root: Made, iterations: int) -> Policy:
    """The average policy of CFR+ with alternating updates and linear weights."""
    regrets: dict[bytes, list[float]] = {}
    totals: dict[bytes, list[float]] = {}

    def current(node: Made) -> list[float]:
        found = regrets.get(node.key)
        if found is None:
            found = regrets[node.key] = [0.0] * len(node.children)
            totals[node.key] = [0.0] * len(node.children)
        total = sum(found)
        return [one / total for one in found] if total > 0 else [1 / len(found)] * len(found)

    changes: dict[bytes, list[float]] = {}

    def walk(node: Made, seat: int, own: float, others: float, iteration: int) -> float:
        if node.player == OVER:
            return node.payoffs[seat]
        if node.player == CHANCE:
            pairs = zip(node.chances, node.children, strict=True)
            return sum(p * walk(child, seat, own, others * p, iteration) for p, child in pairs)
        chances = current(node)
        if node.player != seat:
            pairs = zip(chances, node.children, strict=True)
            return sum(p * walk(child, seat, own, others * p, iteration) for p, child in pairs)
        pairs = zip(chances, node.children, strict=True)
        values = [walk(child, seat, own * p, others, iteration) for p, child in pairs]
        expected = sum(p * one for p, one in zip(chances, values, strict=True))
        change = changes.setdefault(node.key, [0.0] * len(values))
        for place, (p, one) in enumerate(zip(chances, values, strict=True)):
            change[place] += others * (one - expected)
            totals[node.key][place] += iteration * own * p
        return expected

    for iteration in range(1, iterations + 1):
        for seat in (0, 1):
            changes.clear()
            walk(root, seat, 1.0, 1.0, iteration)
            for key, change in changes.items():
                regrets[key] = [max(a + b, 0.0) for a, b in zip(regrets[key], change, strict=True)]
    return {key: [one / sum(total) for one in total] for key, total in totals.items() if sum(total) > 0}
