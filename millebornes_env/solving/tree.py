"""The game as flat arrays: the whole tree, or a trunk and the branches that grow from its frontier.

The tree of ten cards fits in memory as a whole. For twelve cards the trunk is kept, and branches are grown,
evaluated and dropped one by one; they are independent, so threads can share them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.errors import MilleBornesError
from millebornes_env.games.millebornes.state import StateArray, new_states
from millebornes_env.solving.deck import Solvable
from millebornes_env.solving.nodes import (
    CHANCE_NODES,
    DECISIONS,
    END_NODES,
    ENDS,
    FIRST_CHAIN,
    FRONTIER,
    FULL,
    HIGHEST,
    INFOSETS,
    LOWEST,
    MASK_SIZE,
    MOST_ACTIONS,
    NUM_SIZES,
    OPERATIONS,
    PLAY_NODES,
    PLAYERS,
    PUBLIC_NODES,
    SEQUENCES,
    SOURCES,
    Frames,
    TreeBuffers,
)
from millebornes_env.solving.passes import Operations
from millebornes_env.solving.walk import grow

Int32Array = npt.NDArray[np.int32]
Int64Array = npt.NDArray[np.int64]
Float64Array = npt.NDArray[np.float64]

_FIRST_CAPACITY: Final = 1 << 16
_FRONTIER_CAPACITY: Final = 1 << 17
_FAR: Final = 1 << 40


@dataclass(frozen=True)
class SeatTree:
    """The tree of one seat; operations in the order of the walk.

    Attributes:
        operations: the O operations.
        choices: int32[O], the set of choices of a decision (`walk.choices_with`); 0 for a merge.
        keys: int64[O], the hash of public history and hand of a decision (`nodes.mix`); or empty.
        roots: number of sequences with which the tree begins.
        size: number of sequences.
        infosets: number of information sets, including those with a single choice (not operations).
    """

    operations: Operations
    choices: Int32Array
    keys: Int64Array
    roots: int
    size: int
    infosets: int


def decisions_by_key(seat: SeatTree) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Return the sorted keys of a seat's decisions, their choices, and the sequence of each one's first."""
    decisions = np.flatnonzero(seat.operations.counts > 0)
    order = decisions[np.argsort(seat.keys[decisions], kind="stable")]
    keys = seat.keys[order]
    if (keys[1:] == keys[:-1]).any():
        raise MilleBornesError("two information sets have the same key: please report this deck")
    return keys, seat.choices[order].astype(np.int64), seat.operations.firsts[order].astype(np.int64)


@dataclass(frozen=True)
class Counts:
    """The size of the game; nodes are triples (public history, hand 0, hand 1)."""

    chance_nodes: int
    play_nodes: int
    end_nodes: int
    public_nodes: int
    infosets: tuple[int, int]
    most_actions: int
    lowest: int
    highest: int

    @property
    def payoff_range(self) -> int:
        """The difference between the highest and the lowest payoff of seat 0."""
        return self.highest - self.lowest

    def __add__(self, other: Counts) -> Counts:
        """Add the sizes of a trunk and a branch."""
        return Counts(
            self.chance_nodes + other.chance_nodes,
            self.play_nodes + other.play_nodes,
            self.end_nodes + other.end_nodes,
            self.public_nodes + other.public_nodes,
            (self.infosets[0] + other.infosets[0], self.infosets[1] + other.infosets[1]),
            max(self.most_actions, other.most_actions),
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
        )


@dataclass(frozen=True)
class Tree:
    """A tree, a trunk or a branch.

    Attributes:
        game: the game.
        seats: the trees of the two seats.
        end_sequences: int32[2, E], a sequence of each seat at each end of the round.
        end_values: float64[E], payoff of seat 0 at the end, times the probability of the cards.
        end_chances: float64[E], that probability.
        counts: the size of the tree.
        frontier: the nodes from which branches grow; empty unless this is a trunk.
        decision_states: `STATE[Q]`, the game at each decision as its seat knows it; empty unless grown with
            `states=True`.
        decision_seats: int32[Q], the seat of each decision.
        decision_operations: int32[Q], the index of each decision among the seat's operations.
        root: of a branch, the node that it grows from.
        limit: depth of the frontier in decisions, or -1.
    """

    game: Solvable
    seats: tuple[SeatTree, SeatTree]
    end_sequences: Int32Array
    end_values: Float64Array
    end_chances: Float64Array
    counts: Counts
    frontier: tuple[Node, ...]
    decision_states: StateArray
    decision_seats: Int32Array
    decision_operations: Int32Array
    root: Node | None
    limit: int


@dataclass(frozen=True)
class Node:
    """A node of the frontier: its place there, its record, and each seat's hands with their sequences."""

    number: int
    state: StateArray
    codes: tuple[Int64Array, Int64Array]
    sequences: tuple[Int64Array, Int64Array]


class Grower:
    """Builder of trees of one game. It reuses its arrays, so each thread needs its own."""

    def __init__(self, game: Solvable) -> None:
        """Create a builder; arrays are allocated when the first tree is grown."""
        self._game = game
        self._capacity = _FIRST_CAPACITY
        self._frontier_capacity = 1
        self._has_states = False
        self._has_keys = False
        self._arrays: tuple[Frames, TreeBuffers] | None = None

    def whole(self, *, keys: bool = False, states: bool = False) -> Tree:
        """Grow the whole tree; up to 10 cards, it takes seconds and some hundred MB.

        Args:
            keys: compute `SeatTree.keys`, by which an agent finds its information sets.
            states: store `Tree.decision_states`, half a KB each.
        """
        self._has_keys, self._arrays = keys, None
        return self._grow(None, -1, states=states)

    def trunk(self, depth: int, *, states: bool = False) -> Tree:
        """Grow the tree down to a depth in decisions; `states` as in `whole`."""
        return self._grow(None, depth, states=states)

    def branch(self, node: Node, *, states: bool = False) -> Tree:
        """Grow the branch of a node of a trunk's frontier; its sequences begin with those of the node."""
        return self._grow(node, -1, states=states)

    def _grow(self, node: Node | None, limit: int, *, states: bool) -> Tree:
        game = self._game
        self._frontier_capacity = max(self._frontier_capacity, _FRONTIER_CAPACITY if limit >= 0 else 1)
        if states and not self._has_states:
            self._has_states, self._arrays = True, None
        while True:
            if self._arrays is None:
                self._arrays = self.new_arrays()
            frames, buffers = self._arrays
            frames = frames._replace(limit=limit)
            if not states:
                buffers = buffers._replace(decision_states=buffers.decision_states[:0])
            write_start(frames, buffers, game, node)
            margin = margin_of(game)
            if grow(frames, buffers, game.deck, game.record, node is None, margin) != FULL:
                return _tree(game, buffers, node, limit)
            self._capacity *= 2
            self._frontier_capacity *= 2 if limit >= 0 else 1
            self._arrays = None

    def new_arrays(self) -> tuple[Frames, TreeBuffers]:
        """Allocate the path of a walk, and arrays for its results."""
        game, capacity, frontier = self._game, self._capacity, self._frontier_capacity
        deep, wide = game.max_depth, game.max_hands
        frames = Frames(
            states=for_kernels(new_states(deep)),
            codes=np.zeros((deep, PLAYERS, wide), np.int64),
            sequences=np.zeros((deep, PLAYERS, wide), np.int64),
            counts=np.zeros((deep, PLAYERS), np.int64),
            choices=np.zeros((deep, wide), np.int64),
            firsts=np.zeros((deep, wide), np.int64),
            next_choice=np.zeros(deep, np.int64),
            mask=np.zeros(MASK_SIZE, np.int8),
            chains=np.zeros((deep, PLAYERS), np.int64),
            drawn=np.zeros((3, wide), np.int64),
            limit=-1,
        )
        num_decisions = capacity if self._has_states else 0
        buffers = TreeBuffers(
            heads=np.zeros((PLAYERS, capacity), np.int32),
            firsts=np.zeros((PLAYERS, capacity), np.int32),
            keys=np.zeros((PLAYERS, capacity if self._has_keys else 0), np.int64),
            kinds=np.zeros((PLAYERS, capacity), np.int32),
            sources=np.zeros((PLAYERS, capacity), np.int32),
            end_sequences=np.zeros((PLAYERS, capacity), np.int32),
            end_values=np.zeros(capacity),
            end_chances=np.zeros(capacity),
            frontier=for_kernels(new_states(frontier)),
            frontier_codes=np.zeros((frontier, PLAYERS, wide), np.int64),
            frontier_sequences=np.zeros((frontier, PLAYERS, wide), np.int64),
            frontier_counts=np.zeros((frontier, PLAYERS), np.int64),
            decision_states=for_kernels(new_states(num_decisions)),
            decision_seats=np.zeros(num_decisions, np.int32),
            decision_operations=np.zeros(num_decisions, np.int32),
            sizes=np.zeros(NUM_SIZES + 1, np.int64),
        )
        return frames, buffers


def margin_of(game: Solvable) -> int:
    """Return twice the most entries a node adds to an array: ends of hand pairs, or merges in three draws."""
    return 2 * game.max_hands * max(game.max_hands, 4 * len(game.deck.cards))


def roots_of(node: Node | None) -> tuple[int, int]:
    """Return the number of sequences of each seat with which a tree or the branch of a node begins."""
    return (1, 1) if node is None else (len(node.codes[0]), len(node.codes[1]))


def origins_of(node: Node | None) -> tuple[Int64Array, Int64Array]:
    """Return the sequences of the trunk with which the branch of a node begins, for each seat."""
    assert node is not None
    return node.sequences


def write_start(frames: Frames, buffers: TreeBuffers, game: Solvable, node: Node | None) -> None:
    """Write the start node of the walk."""
    roots = roots_of(node)
    buffers.sizes[:] = 0
    buffers.sizes[LOWEST], buffers.sizes[HIGHEST] = _FAR, -_FAR
    frames.states[0] = game.root[0] if node is None else node.state[0]
    for seat in range(PLAYERS):
        buffers.sizes[SEQUENCES + seat] = roots[seat]
        frames.chains[0, seat] = FIRST_CHAIN + seat
        frames.counts[0, seat] = roots[seat]
        frames.sequences[0, seat, : roots[seat]] = np.arange(roots[seat])
        frames.codes[0, seat, : roots[seat]] = 0 if node is None else node.codes[seat]


def _tree(game: Solvable, buffers: TreeBuffers, node: Node | None, limit: int) -> Tree:
    """Copy the results out of the arrays into a tree."""
    roots = roots_of(node)
    sizes = [int(size) for size in buffers.sizes]
    ends, decisions = sizes[ENDS], sizes[DECISIONS]
    return Tree(
        game=game,
        seats=(_seat_tree(buffers, 0, roots[0]), _seat_tree(buffers, 1, roots[1])),
        end_sequences=buffers.end_sequences[:, :ends].copy(),
        end_values=buffers.end_values[:ends].copy(),
        end_chances=buffers.end_chances[:ends].copy(),
        counts=Counts(
            chance_nodes=sizes[CHANCE_NODES],
            play_nodes=sizes[PLAY_NODES],
            end_nodes=sizes[END_NODES],
            public_nodes=sizes[PUBLIC_NODES],
            infosets=(sizes[INFOSETS], sizes[INFOSETS + 1]),
            most_actions=sizes[MOST_ACTIONS],
            lowest=sizes[LOWEST],
            highest=sizes[HIGHEST],
        ),
        frontier=tuple(_node(buffers, at) for at in range(sizes[FRONTIER])),
        decision_states=buffers.decision_states[:decisions].copy(),
        decision_seats=buffers.decision_seats[:decisions].copy(),
        decision_operations=buffers.decision_operations[:decisions].copy(),
        root=node,
        limit=limit,
    )


def _seat_tree(buffers: TreeBuffers, seat: int, roots: int) -> SeatTree:
    operations = int(buffers.sizes[OPERATIONS + seat])
    kinds = buffers.kinds[seat, :operations]
    counts = np.where(kinds < 0, kinds, np.bitwise_count(np.maximum(kinds, 0)))
    return SeatTree(
        operations=Operations(
            heads=buffers.heads[seat, :operations].copy(),
            firsts=buffers.firsts[seat, :operations].copy(),
            counts=counts.astype(np.int32),
            sources=buffers.sources[seat, : int(buffers.sizes[SOURCES + seat])].copy(),
        ),
        choices=np.maximum(kinds, 0),
        keys=buffers.keys[seat, :operations].copy(),
        roots=roots,
        size=int(buffers.sizes[SEQUENCES + seat]),
        infosets=int(buffers.sizes[INFOSETS + seat]),
    )


def _node(buffers: TreeBuffers, at: int) -> Node:
    first, second = (int(count) for count in buffers.frontier_counts[at])
    codes, sequences = (
        (hands[at, 0, :first].copy(), hands[at, 1, :second].copy())
        for hands in (buffers.frontier_codes, buffers.frontier_sequences)
    )
    return Node(at, buffers.frontier[at : at + 1].copy(), codes, sequences)
