"""Policies with memory, exactly: an agent that depends on all that its seat saw at its own decisions.

The walk merges hands that were drawn in another order, because no equilibrium needs to tell them apart. An
agent with memory does: at its earlier decisions it held other cards. So the walk is repeated with *strands*:
a hand, and the last own decision on the way to it. Each strand has its own memory and reach. The policy at an
information set of the merged tree is the mean over its strands, weighted by reach; it gives every end of the
round the same probability as the agent, and so it has the same value and the same best responses.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from threading import local
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.numba.compiling import kernel, rule, seldom
from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC, ObservationSpec
from millebornes_env.games.millebornes.state import CLAIM, ROUND_OVER
from millebornes_env.solving.deck import BITS, Deck, Solvable
from millebornes_env.solving.nodes import (
    DECISIONS,
    DONE,
    FRONTIER,
    FULL,
    PLAYERS,
    Float64Array,
    Frames,
    Int32Array,
    Int64Array,
    TreeBuffers,
    code_of,
    copies_in,
    fits,
)
from millebornes_env.solving.passes import weights_of_reach
from millebornes_env.solving.policies import checked_answer, observation_size, write_masks, write_rows
from millebornes_env.solving.tree import Grower, Tree, margin_of, write_start
from millebornes_env.solving.values import Weights
from millebornes_env.solving.walk import (
    action_of,
    card_shown,
    draw_card,
    enter,
    has_capacity,
    open_node,
    some_hand_has,
    write_decision_state,
)

Float32Array = npt.NDArray[np.float32]

_FIRST_ROWS: Final = 1 << 15
_FIRST_STRANDS: Final = 1 << 9
_BATCH: Final = 512
"""Rows of a query: few, so that what a network computes stays in the cache."""
_NOWHERE: Final = -1
_FEW_ROWS: Final = 2
"""Return code of `grow_strands`."""

# Indices into `Strands.sizes`.
ROWS: Final = 0
ENDS: Final = 1


class Remembering(Protocol):
    """An agent whose memory is an array, such as a network of `train.recurrent_ppo`.

    Attributes:
        name: name of the agent in reports.
        memory_size: M, number of floats that it remembers.
    """

    name: str

    @property
    def memory_size(self) -> int:
        """M, number of floats that it remembers."""

    def advance(self, memories: Any, observations: Any, action_masks: Any, which: Any) -> tuple[Any, Any]:
        """Return probabilities, float[N, A], and new memories, float32[N, M].

        Args:
            memories: float32[N, M] from before the decision; 0 at the beginning of a round.
            observations: int8[K, D].
            action_masks: int8[K, A].
            which: int64[N], the row of observation and mask for each memory.
        """


# The walk ---------------------------------------------------------------------------------------------------


class Strands(NamedTuple):
    """The strands on the path of the walk, D deep and S wide, and the rows written so far.

    A row is a decision of a strand: an information set with perfect recall. The first rows stand for the
    beginning of a tree; they are no decisions.
    """

    codes: Int64Array  # [D, 2, S] the hand
    parents: Int64Array  # [D, 2, S] row of the seat's last decision
    taken: Int64Array  # [D, 2, S] action there, or -1
    orders: Int64Array  # [D, 2, S] number of orders of the draws since then
    counts: Int64Array  # [D, 2]
    here: Int64Array  # [D, S] row of the deciding seat's strand, or -1 if it has no choice here
    drawn: Int64Array  # [4, S] scratch
    row_parents: Int32Array  # [...] row of the seat's last decision
    row_taken: Int32Array  # [...] action there, or -1
    row_orders: Int32Array  # [...]
    row_levels: Int32Array  # [...] number of the seat's decisions, this one included
    row_sets: Int32Array  # [...] index into `TreeBuffers.decision_states`
    firsts: Int32Array  # [...] of each information set: sequence of its first choice, or -1 with one choice
    choices: Int32Array  # [...] its choices, a set of bits
    ends: Int64Array  # [..., 4] strands at the frontier: hand, row, action, orders
    end_counts: Int64Array  # [..., 2] for each node of the frontier, those of seat 0 and of seat 1
    sizes: Int64Array  # [2]


@seldom
def draw_strands(strands: Strands, deck: Deck, depth: int, seat: int, hidden: int) -> bool:
    """Draw one card into each strand of the seat; return False if there is no room."""
    before, drawn, count = strands.counts[depth, seat], strands.drawn, 0
    if before * len(deck.cards) > drawn.shape[1]:
        return False
    for strand in range(before):
        code, parent = strands.codes[depth, seat, strand], strands.parents[depth, seat, strand]
        for kind in range(len(deck.cards)):
            if copies_in(hidden - code, kind) == 0:
                continue
            after = code + (1 << (BITS * kind))
            index = count - 1  # strands with the same last decision stand together
            while index >= 0 and drawn[1, index] == parent and drawn[0, index] != after:
                index -= 1
            if index < 0 or drawn[1, index] != parent:
                index = count
                drawn[0, index], drawn[1, index] = after, parent
                drawn[2, index], drawn[3, index] = strands.taken[depth, seat, strand], 0
                count += 1
            drawn[3, index] += strands.orders[depth, seat, strand]
    for index in range(count):
        strands.codes[depth, seat, index] = drawn[0, index]
        strands.parents[depth, seat, index] = drawn[1, index]
        strands.taken[depth, seat, index] = drawn[2, index]
        strands.orders[depth, seat, index] = drawn[3, index]
    strands.counts[depth, seat] = count
    return True


@seldom
def write_decisions(frames: Frames, buffers: TreeBuffers, strands: Strands, deck: Deck, depth: int) -> None:
    """Write the information sets of an opened node, and a row for each strand."""
    state = frames.states[depth]
    seat, hidden = int(state.seat), code_of(state.hidden, deck)
    first_set = buffers.sizes[DECISIONS]
    for hand in range(frames.counts[depth, seat]):
        at = buffers.sizes[DECISIONS]
        choices = frames.choices[depth, hand]
        write_decision_state(frames, buffers, deck, depth, frames.codes[depth, seat, hand], hidden)
        strands.choices[at] = choices
        strands.firsts[at] = frames.firsts[depth, hand] if choices & (choices - 1) != 0 else _NOWHERE
    for strand in range(strands.counts[depth, seat]):
        code, hand = strands.codes[depth, seat, strand], 0
        while frames.codes[depth, seat, hand] != code:
            hand += 1
        if frames.choices[depth, hand] == 0:
            strands.here[depth, strand] = _NOWHERE
            continue
        row, parent = strands.sizes[ROWS], strands.parents[depth, seat, strand]
        strands.here[depth, strand] = row
        strands.row_parents[row] = parent
        strands.row_taken[row] = strands.taken[depth, seat, strand]
        strands.row_orders[row] = strands.orders[depth, seat, strand]
        strands.row_levels[row] = strands.row_levels[parent] + 1
        strands.row_sets[row] = first_set + hand
        strands.sizes[ROWS] = row + 1


@seldom
def follow_strands(frames: Frames, strands: Strands, deck: Deck, depth: int, choice: int) -> bool:
    """Write the strands after a choice, of a node that was entered; return False if there is no room."""
    here, state = frames.states[depth], frames.states[depth + 1]
    seat, phase = int(here.seat), int(here.phase)
    other, hidden = 1 - seat, code_of(state.hidden, deck)
    kind, action = card_shown(here, deck, choice), action_of(deck, phase, choice)
    code = 0 if kind < 0 else 1 << (BITS * kind)
    count = 0
    for strand in range(strands.counts[depth, seat]):
        held, row, hand = strands.codes[depth, seat, strand], strands.here[depth, strand], 0
        while frames.codes[depth, seat, hand] != held:
            hand += 1
        if (frames.choices[depth, hand] >> choice) & 1:
            strands.parents[depth + 1, seat, count] = row
            strands.taken[depth + 1, seat, count] = action
            strands.orders[depth + 1, seat, count] = 1
        elif row == _NOWHERE and phase == CLAIM and kind < 0:
            keep_strand(strands, depth, seat, strand, count)
        else:
            continue
        strands.codes[depth + 1, seat, count] = held - code
        count += 1
    strands.counts[depth + 1, seat] = count
    count = 0
    for strand in range(strands.counts[depth, other]):
        if fits(strands.codes[depth, other, strand], hidden):
            keep_strand(strands, depth, other, strand, count)
            strands.codes[depth + 1, other, count] = strands.codes[depth, other, strand]
            count += 1
    strands.counts[depth + 1, other] = count
    own_draws = int(state.hand_count[seat]) - int(here.hand_count[seat]) + (0 if kind < 0 else 1)
    has_room = True
    for _ in range(own_draws):
        has_room = has_room and draw_strands(strands, deck, depth + 1, seat, hidden)
    for _ in range(int(state.hand_count[other]) - int(here.hand_count[other])):
        has_room = has_room and draw_strands(strands, deck, depth + 1, other, hidden)
    return has_room


@rule
def keep_strand(strands: Strands, depth: int, seat: int, strand: int, count: int) -> None:
    """Copy a strand without a decision to the next depth, except for its hand."""
    strands.parents[depth + 1, seat, count] = strands.parents[depth, seat, strand]
    strands.taken[depth + 1, seat, count] = strands.taken[depth, seat, strand]
    strands.orders[depth + 1, seat, count] = strands.orders[depth, seat, strand]


@seldom
def write_ends(strands: Strands, depth: int, node: int) -> bool:
    """Write the strands at a node of the frontier; return False if there is no room."""
    at = strands.sizes[ENDS]
    if at + strands.counts[depth, 0] + strands.counts[depth, 1] > len(strands.ends):
        return False
    for seat in range(PLAYERS):
        strands.end_counts[node, seat] = strands.counts[depth, seat]
        for strand in range(strands.counts[depth, seat]):
            strands.ends[at, 0] = strands.codes[depth, seat, strand]
            strands.ends[at, 1] = strands.parents[depth, seat, strand]
            strands.ends[at, 2] = strands.taken[depth, seat, strand]
            strands.ends[at, 3] = strands.orders[depth, seat, strand]
            at += 1
    strands.sizes[ENDS] = at
    return True


@kernel
def grow_strands(
    frames: Frames,
    buffers: TreeBuffers,
    without_states: TreeBuffers,
    strands: Strands,
    deck: Deck,
    rules: RulesRecord,
    is_root: bool,
    margin: int,
) -> int:
    """Walk as `walk.grow` does, with the same sequences, and write the rows.

    `buffers` have room for `decision_states`, and `without_states` are the same without it. `strands` holds
    those of the start node at depth 0, and a row for each of their parents.

    Returns:
        DONE, FULL: `buffers` are too small, or _FEW_ROWS: `strands` are.
    """
    if is_root:
        hidden = code_of(frames.states[0].hidden, deck)
        for turn in range(PLAYERS * rules.hand_limit + 1):
            seat = turn // rules.hand_limit % PLAYERS
            draw_card(frames, without_states, deck, 0, seat, hidden)
            if not draw_strands(strands, deck, 0, seat, hidden):
                return _FEW_ROWS
    depth = 0
    if not open_node(frames, without_states, deck, rules, depth):
        return DONE
    write_decisions(frames, buffers, strands, deck, depth)
    last = 2 * len(deck.cards) + 2
    while depth >= 0:
        if not has_capacity(buffers, margin):
            return FULL
        if strands.sizes[ROWS] + strands.here.shape[1] > len(strands.row_parents):
            return _FEW_ROWS
        choice = frames.next_choice[depth]
        if choice == last:
            depth -= 1
            continue
        frames.next_choice[depth] = choice + 1
        if some_hand_has(frames, depth, choice):
            enter(frames, without_states, deck, rules, depth, choice)
            if not follow_strands(frames, strands, deck, depth, choice):
                return _FEW_ROWS
            if open_node(frames, without_states, deck, rules, depth + 1):
                depth += 1
                write_decisions(frames, buffers, strands, deck, depth)
            elif int(frames.states[depth + 1].phase) == ROUND_OVER:
                continue
            elif not write_ends(strands, depth + 1, buffers.sizes[FRONTIER] - 1):
                return _FEW_ROWS
    return DONE


@dataclass(frozen=True)
class Starts:
    """The strands with which a tree begins: those of seat 0, then those of seat 1.

    Attributes:
        codes: int64[K], their hands.
        counts: number of strands of each seat.
        memories: float32[K, M].
        reach: float64[K], the seat's own reach.
    """

    codes: Int64Array
    counts: tuple[int, int]
    memories: Float32Array
    reach: Float64Array


class StrandGrower(Grower):
    """Builder of the rows of trees; each thread needs its own."""

    def __init__(self, game: Solvable) -> None:
        """Create a builder; arrays are allocated when the first tree is grown."""
        super().__init__(game)
        self._has_states = True
        self._num_rows, self._num_strands = _FIRST_ROWS, _FIRST_STRANDS
        self._strands: Strands | None = None

    def rows(self, tree: Tree, starts: Starts) -> tuple[Strands, TreeBuffers]:
        """Grow the rows of a tree; the next call overwrites them."""
        game = self._game
        self._frontier_capacity = max(self._frontier_capacity, len(tree.frontier) + 1)
        while True:
            if self._arrays is None or self._strands is None:
                self._arrays = self.new_arrays()
                self._strands = self._new_strands(max(self._num_strands, len(starts.codes)))
            (frames, buffers), strands = self._arrays, self._strands
            frames = frames._replace(limit=tree.limit)
            write_start(frames, buffers, game, tree.root)
            write_starts(strands, starts)
            without_states = buffers._replace(decision_states=buffers.decision_states[:0])
            code = grow_strands(
                frames,
                buffers,
                without_states,
                strands,
                game.deck,
                game.record,
                tree.root is None,
                margin_of(game),
            )
            if code == DONE:
                return strands, buffers
            if code == FULL:
                self._capacity *= 2
            else:
                self._num_rows, self._num_strands = 2 * self._num_rows, 2 * self._num_strands
            self._arrays = self._strands = None

    def _new_strands(self, wide: int) -> Strands:
        deep, rows, nodes = self._game.max_depth, max(self._num_rows, 4 * wide), self._frontier_capacity
        codes, parents, taken, orders = (np.zeros((deep, PLAYERS, wide), np.int64) for _ in range(4))
        return Strands(
            codes=codes,
            parents=parents,
            taken=taken,
            orders=orders,
            counts=np.zeros((deep, PLAYERS), np.int64),
            here=np.zeros((deep, wide), np.int64),
            drawn=np.zeros((4, wide), np.int64),
            row_parents=np.zeros(rows, np.int32),
            row_taken=np.zeros(rows, np.int32),
            row_orders=np.zeros(rows, np.int32),
            row_levels=np.zeros(rows, np.int32),
            row_sets=np.zeros(rows, np.int32),
            firsts=np.zeros(self._capacity, np.int32),
            choices=np.zeros(self._capacity, np.int32),
            ends=np.zeros((rows if nodes > 1 else 1, 4), np.int64),
            end_counts=np.zeros((nodes, PLAYERS), np.int64),
            sizes=np.zeros(2, np.int64),
        )


def write_starts(strands: Strands, starts: Starts) -> None:
    """Write the strands with which a tree begins, and a row for each."""
    at = 0
    for seat, count in enumerate(starts.counts):
        strands.codes[0, seat, :count] = starts.codes[at : at + count]
        strands.parents[0, seat, :count] = np.arange(at, at + count)
        strands.taken[0, seat, :count] = _NOWHERE
        strands.orders[0, seat, :count] = 1
        strands.counts[0, seat] = count
        at += count
    strands.row_levels[:at] = 0
    strands.sizes[:] = at, 0


# The policy -------------------------------------------------------------------------------------------------


class Level(NamedTuple):
    """The rows of all strands with the same number of own decisions, as far as they have a reach."""

    memories: Float32Array  # [n, M] after the decision
    answers: Float64Array  # [n, A] probabilities of its actions
    reach: Float64Array  # [n] of the decision

    def reach_after(self, places: Int64Array, taken: Int32Array, orders: Int32Array) -> Float64Array:
        """Return the reach after actions at decisions, float64[k]; 0 where the place is -1."""
        result, found = np.zeros(len(places)), np.flatnonzero(places >= 0)
        places, taken = places[found], taken[found]
        chances = np.where(taken < 0, 1.0, self.answers[places, taken])
        result[found] = self.reach[places] * chances * orders[found]
        return result


class Trunk(NamedTuple):
    """A trunk, whose strands at the frontier go on in the branches."""

    levels: list[Level]
    level_of: Int64Array  # [rows]
    places: Int64Array  # [rows] index in the level, or -1
    ends: Int64Array  # [..., 4]
    end_counts: Int64Array  # [nodes, 2]
    first_ends: Int64Array  # [nodes] index into ends


class RecallPolicy:
    """The policy of both seats of an agent with memory; several threads may ask the agent.

    Attributes:
        name: name of the agent.
    """

    needs_states = False
    in_parts = True

    def __init__(self, agent: Remembering, game: Solvable, spec: ObservationSpec = DEFAULT_SPEC) -> None:
        """Create the policy; `advance` of the agent must depend on its arguments only."""
        self.name, self._agent, self._game, self._spec = agent.name, agent, game, spec
        self._own = local()
        self._trunk: Trunk | None = None

    def weights(self, tree: Tree) -> Weights:
        """Ask the agent at all its decisions, and return the mean over those that the tree merges.

        Raises:
            SolvingError: a row is not a distribution over legal actions; the message describes the decision.
        """
        if not hasattr(self._own, "grower"):
            self._own.grower = StrandGrower(self._game)
        starts = self._at_beginning() if tree.root is None else self._at_frontier(tree.root.number)
        strands, buffers = self._own.grower.rows(tree, starts)
        sums = np.zeros(tree.seats[0].size), np.zeros(tree.seats[1].size)
        levels, places = self._ask(strands, buffers, starts, sums, is_kept=tree.limit >= 0)
        if tree.limit >= 0:
            ends, counts = strands.ends[: strands.sizes[ENDS]], strands.end_counts[: len(tree.frontier)]
            totals = counts.sum(axis=1)
            level_of = strands.row_levels[: len(places)].astype(np.int64)
            self._trunk = Trunk(
                levels, level_of, places, ends.copy(), counts.copy(), np.cumsum(totals) - totals
            )
            del self._own.grower  # its arrays have a frontier
        result = np.ones(tree.seats[0].size), np.ones(tree.seats[1].size)
        for seat, reach, weights in zip(tree.seats, sums, result, strict=True):
            weights_of_reach(seat.operations, reach, weights)
        return result

    def _at_beginning(self) -> Starts:
        """Return a strand without cards for each seat."""
        memories = np.zeros((PLAYERS, self._agent.memory_size), np.float32)
        return Starts(np.zeros(PLAYERS, np.int64), (1, 1), memories, np.ones(PLAYERS))

    def _at_frontier(self, node: int) -> Starts:
        """Return the strands with a reach at a node of the frontier."""
        trunk = self._trunk
        assert trunk is not None
        first, of_seats = trunk.first_ends[node], trunk.end_counts[node]
        codes, rows, taken, orders = trunk.ends[first : first + of_seats.sum()].T
        memories = np.zeros((len(rows), self._agent.memory_size), np.float32)
        reach = np.zeros(len(rows))
        for number, level in enumerate(trunk.levels):
            found = np.flatnonzero(trunk.level_of[rows] == number)
            places = trunk.places[rows[found]]
            reach[found] = level.reach_after(places, taken[found], orders[found])
            found = found[places >= 0]
            memories[found] = level.memories[trunk.places[rows[found]]]
        kept = reach > 0
        counts = int(kept[: of_seats[0]].sum()), int(kept[of_seats[0] :].sum())
        return Starts(codes[kept], counts, memories[kept], reach[kept])

    def _ask(
        self,
        strands: Strands,
        buffers: TreeBuffers,
        starts: Starts,
        sums: tuple[Float64Array, Float64Array],
        *,
        is_kept: bool,
    ) -> tuple[list[Level], Int64Array]:
        """Ask the agent, level by level; add the reach of each choice to `sums`.

        Returns:
            The last level, or all if they are kept; and the index of each row in its level, or -1.
        """
        size, actions = observation_size(self._game, self._spec), num_actions(PLAYERS)
        states = buffers.decision_states[: buffers.sizes[DECISIONS]]
        observations = np.zeros((len(states), size), np.int8)
        masks = np.zeros((len(states), actions), np.int8)
        write_rows(states, self._game.record, self._spec, observations)
        write_masks(states, self._game.record, masks)
        known = InformationSets(
            states["phase"].copy(), states["seat"].copy(), strands.firsts, strands.choices
        )
        parents, taken, orders, level_of, sets = (
            array[: strands.sizes[ROWS]]
            for array in (
                strands.row_parents,
                strands.row_taken,
                strands.row_orders,
                strands.row_levels,
                strands.row_sets,
            )
        )
        needed = np.ones(len(parents), np.bool_)
        if not is_kept:
            needed[:] = strands.firsts[sets] != _NOWHERE
            mark_needed(parents, needed, len(starts.reach))
        places = np.full(len(parents), _NOWHERE, np.int64)
        places[: len(starts.reach)] = np.arange(len(starts.reach))
        order = np.argsort(level_of, kind="stable")
        bounds = np.searchsorted(level_of[order], np.arange(int(level_of.max(initial=0)) + 2))
        levels = [Level(starts.memories, np.ones((len(starts.reach), actions)), starts.reach)]
        for first, last in pairwise(bounds[1:]):
            before, found = levels[-1], order[first:last]
            reach = before.reach_after(places[parents[found]], taken[found], orders[found])
            is_asked = (reach > 0) & needed[found]
            found, reach = found[is_asked], reach[is_asked]
            memories = np.zeros((len(found), self._agent.memory_size), np.float32)
            answers = np.zeros((len(found), actions))
            for start in range(0, len(found), _BATCH):
                part = slice(start, start + _BATCH)
                at, which = np.unique(sets[found[part]], return_inverse=True)
                earlier = before.memories[places[parents[found[part]]]]
                answer, memories[part] = self._agent.advance(earlier, observations[at], masks[at], which)
                answers[part] = checked_answer(
                    self.name, answer, masks[at[which]], states, self._game.name, at[which]
                )
            add_reach(self._game.deck, known, sets[found], reach, answers, sums)
            places[found] = np.arange(len(found))
            levels = [*levels[: len(levels) * is_kept], Level(memories, answers, reach)]
        return levels, places


@kernel
def mark_needed(parents: Int32Array, needed: npt.NDArray[np.bool_], first: int) -> None:
    """Mark the rows before those that are marked, from the end to row `first`."""
    for row in range(len(parents) - 1, first - 1, -1):
        if needed[row]:
            needed[parents[row]] = True


class InformationSets(NamedTuple):
    """The information sets of a tree; Q sets."""

    phases: npt.NDArray[np.int8]  # [Q]
    seats: npt.NDArray[np.int8]  # [Q]
    firsts: Int32Array  # [Q...] as in `Strands`
    choices: Int32Array  # [Q...] as in `Strands`


@kernel
def add_reach(
    deck: Deck,
    known: InformationSets,
    sets: Int32Array,
    reach: Float64Array,
    answers: Float64Array,
    sums: tuple[Float64Array, Float64Array],
) -> None:
    """Add the reach of each choice of n decisions to `sums`, float64[size] for each seat, at its sequence.

    `sets`, int32[n], is the information set of each decision, `reach`, float64[n], its reach, and `answers`,
    float64[n, A], the probabilities of its actions.
    """
    for at in range(len(sets)):
        one = sets[at]
        sequence, phase, own = known.firsts[one], int(known.phases[one]), sums[int(known.seats[one])]
        if sequence == _NOWHERE:
            continue
        for choice in range(2 * len(deck.cards) + 2):
            if (known.choices[one] >> choice) & 1:
                own[sequence] += reach[at] * answers[at, action_of(deck, phase, choice)]
                sequence += 1
