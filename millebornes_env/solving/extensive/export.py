"""A round as text for other solvers: `.efg` of Gambit, which OpenSpiel reads too, and `.game` of LiteEFG.

Both are written as the tree is walked, a line for each node, so that a large tree needs disk but little
memory. A file says the same as the tree: probabilities are fractions, information sets carry the keys of
`VectorEnv.information_states` in words, and payoffs are those of `Tree`.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Final, NamedTuple, TextIO

import numpy as np

from millebornes_env._util.files import replacing
from millebornes_env.errors import SolvingError, shown
from millebornes_env.solving.extensive.spots import CHANCE, OVER
from millebornes_env.solving.extensive.tree import Node, Tree

FORMATS: Final = ("efg", "game")
MOST_NODES: Final = 5_000_000
"""Default limit on the number of nodes: some 500 MB."""

_PROGRESS_INTERVAL: Final = 10_000
_NUM_PATHS: Final = 25
_REJECTION_FACTOR: Final = 10
"""Factor over the limit from which an estimated size is rejected before the walk."""
_GIGABYTES_PER_NODE: Final = 125e-9
"""Approximate size of a node in a file."""

OnProgress = Callable[[int], None]
"""Callback that periodically receives the number of nodes written."""


class ExportCounts(NamedTuple):
    """The contents of a file, counted.

    Attributes:
        chance_nodes: number of chance nodes (cards drawn).
        decisions: number of nodes at which a seat is to act.
        ends: number of ends of the round.
        information_sets: number of information sets of each seat.
    """

    chance_nodes: int
    decisions: int
    ends: int
    information_sets: tuple[int, ...]


def export(
    tree: Tree,
    path: Path,
    file_format: str = "efg",
    *,
    compact: bool = False,
    most_nodes: int = MOST_NODES,
    on_progress: OnProgress | None = None,
) -> ExportCounts:
    """Write a tree to a file atomically.

    Args:
        tree: the round.
        path: of the file; its folder is made if it is missing.
        file_format: "efg" or "game".
        compact: information sets by the compact key: fewer, but a seat then forgets when its cards came.
            Solvers that need perfect recall, as those on sequence form do, want the full one.
        most_nodes: maximum number of nodes.
        on_progress: called periodically with the number of nodes written.

    Returns:
        The counts of the file.

    Raises:
        SolvingError: another format, or a tree of more nodes; no file is written.
        OSError: the file cannot be written; what was there is still there.
    """
    if file_format not in FORMATS:
        raise SolvingError(f"the format is {shown(file_format)}; it must be one of {', '.join(FORMATS)}")
    estimate = estimate_nodes(tree)
    if estimate > _REJECTION_FACTOR * most_nodes:
        raise SolvingError(
            _too_large(tree, most_nodes, f", about {estimate:.0e} ({estimate * _GIGABYTES_PER_NODE:.0e} GB)")
        )
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="\n") as out:
        writer = (_Efg if file_format == "efg" else _LiteEfg)(tree, out, compact)
        for number, node in enumerate(tree.nodes()):
            if number >= most_nodes:
                raise SolvingError(_too_large(tree, most_nodes))
            if on_progress is not None and number % _PROGRESS_INTERVAL == 0:
                on_progress(number)
            writer.write(node)
        writer.end()
    return writer.counts()


def estimate_nodes(tree: Tree) -> float:
    """Estimate the number of nodes of a tree: the median over random paths (Knuth 1975).

    Each path multiplies the numbers of choices on it, which gives the number of nodes in expectation. A few
    large paths dominate the mean; the median is smaller, so that the size is seldom overestimated.
    """
    generator = np.random.default_rng(0)
    result = []
    for _ in range(_NUM_PATHS):
        node, level, nodes = tree.root, 1.0, 1.0
        while node.actions:
            level *= len(node.actions)
            nodes += level
            node = node.child(int(generator.choice(node.actions)))
        result.append(nodes)
    return float(np.median(result))


def _too_large(tree: Tree, most_nodes: int, estimate: str = "") -> str:
    return (
        f"the tree of {tree.edition.label!r} has more than {most_nodes:,} nodes{estimate}: take a smaller "
        "deck (millebornes_env.mini_decks() names some), or allow more (most_nodes, or --most-nodes)"
    )


class _Writer:
    """Base class that numbers the information sets and counts the written nodes."""

    def __init__(self, tree: Tree, out: TextIO, compact: bool) -> None:
        self._tree = tree
        self._out = out
        self._compact = compact
        self._counts = {CHANCE: 0, OVER: 0}
        self._decisions = 0
        self._sets: list[dict[bytes, int]] = [{} for _ in range(tree.players)]

    def write(self, node: Node) -> None:
        """Write a node."""
        if node.player in self._counts:
            self._counts[node.player] += 1
        else:
            self._decisions += 1
        self._out.write(self._line(node))

    def _line(self, node: Node) -> str:
        raise NotImplementedError

    def end(self) -> None:
        """Write what comes after the nodes."""

    def _set_of(self, node: Node) -> int:
        """Return the number of a node's information set, from 1 for each seat."""
        known = self._sets[node.player]
        return known.setdefault(node.key(node.player, compact=self._compact), len(known) + 1)

    def _name(self, node: Node) -> str:
        return node.text(node.player, compact=self._compact)

    def counts(self) -> ExportCounts:
        """Return the counts of the file."""
        sets = tuple(len(one) for one in self._sets)
        return ExportCounts(self._counts[CHANCE], self._decisions, self._counts[OVER], sets)


class _Efg(_Writer):
    """Gambit's format: the nodes in the order of a walk, with a number for each information set."""

    def __init__(self, tree: Tree, out: TextIO, compact: bool) -> None:
        super().__init__(tree, out, compact)
        players = " ".join(f'"player_{seat}"' for seat in range(tree.players))
        out.write(f'EFG 2 R "{tree.edition.label}" {{ {players} }}\n""\n')

    def _line(self, node: Node) -> str:
        if node.player == OVER:
            payoffs = " ".join(_number(payoff) for payoff in node.payoffs)
            return f't "" {self._counts[OVER]} "" {{ {payoffs} }}\n'
        if node.player == CHANCE:
            name = self._tree.name_of
            outcomes = " ".join(
                f'"{name(node.spot, one.card)}" {Fraction(one.numerator, one.denominator)}'
                for one in node.outcomes
            )
            return f'c "" {self._counts[CHANCE]} "" {{ {outcomes} }} 0\n'
        actions = " ".join(f'"{self._tree.name_of(node.spot, action)}"' for action in node.actions)
        number = self._set_of(node)
        return f'p "" {node.player + 1} {number} "{self._name(node)}" {{ {actions} }} 0\n'


class _LiteEfg(_Writer):
    """LiteEFG's format: nodes by their paths, and after them which nodes are one information set."""

    def __init__(self, tree: Tree, out: TextIO, compact: bool) -> None:
        super().__init__(tree, out, compact)
        self._members: list[dict[int, list[str]]] = [{} for _ in range(tree.players)]
        self._labels: list[list[str]] = [[] for _ in range(tree.players)]
        out.write(f"# {tree.edition.label}\n#\n# Opt {{\n#     num_players: {tree.players},\n# }}\n#\n")

    def _line(self, node: Node) -> str:
        path = _path(node)
        if node.player == OVER:
            payoffs = " ".join(f"{seat + 1}={_number(payoff)}" for seat, payoff in enumerate(node.payoffs))
            return f"node {path} leaf payoffs {payoffs}\n"
        if node.player == CHANCE:
            outcomes = " ".join(f"{one.card}={one.probability!r}" for one in node.outcomes)
            return f"node {path} chance actions {outcomes}\n"
        seat, number = node.player, self._set_of(node)
        members = self._members[seat].setdefault(number, [])
        if not members:
            self._labels[seat].append("_".join(self._name(node).split()))
        members.append(path)
        actions = " ".join(map(str, node.actions))
        return f"node {path} player {seat + 1} actions {actions}\n"

    def end(self) -> None:
        """Write the information sets."""
        for members, labels in zip(self._members, self._labels, strict=True):
            for label, paths in zip(labels, members.values(), strict=True):
                self._out.write(f"infoset {label} nodes {' '.join(paths)}\n")


def _path(node: Node) -> str:
    """Return the path to a node by numbers of cards and actions, such as `/C:13/P1:0`."""
    parts = []
    while node.parent is not None:
        who = "C" if node.parent.player == CHANCE else f"P{node.parent.player + 1}"
        parts.append(f"{who}:{node.action}")
        node = node.parent
    return "/" + "/".join(reversed(parts))


def _number(payoff: float) -> str:
    return str(int(payoff)) if payoff == int(payoff) else repr(payoff)
