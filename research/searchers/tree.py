"""A tree over the information sets of one seat, grown by redeals: the compiled part of ISMCTS and EPIMC.

A node is an information set of the searching seat: all plays since the root, and its own hand after each. The
cards of others and the cards to come differ between redeals; nodes are shared by all redeals. As in
`millebornes_env.agents.search`, which redeals and plays rounds out, the searching seat is seat 0.
"""

from __future__ import annotations

from math import inf, log, sqrt
from typing import Final, NamedTuple

import numpy as np

from millebornes_env.agents.compiled.agent import MEMORY, Int64Array, decide, decisions_taken
from millebornes_env.agents.millebornes import observation_reader as seen
from millebornes_env.agents.search.hidden_cards import OWN, Float64Array, redeal
from millebornes_env.agents.search.kernels import Decisions, Searcher, play_out, value_of_round
from millebornes_env.engine.chance import random_below, random_word
from millebornes_env.engine.numba.compiling import kernel, rule
from millebornes_env.games.millebornes.actions import card_of, is_discard
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES, is_safety
from millebornes_env.games.millebornes.legality import write_mask
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.state import ROUND_OVER, Int8Array, State
from millebornes_env.games.millebornes.turn import step

ROOT: Final = 0
MOST_PLIES: Final = 256
"""Largest depth of a leaf, in decisions."""
NOT_LIMITED: Final = 0
"""Value of `Growth.plies`: a redeal leaves the tree at the first new node (ISMCTS)."""

_TYPES_IN_A_WORD: Final = 8  # a hand holds fewer than 16 cards of a type: 4 bits for each
_BITS: Final = 4
_DECISIONS_OF_A_SEAT: Final = 4096  # more than a seat can take in a round
_DRAW_TAG: Final = 0x64726177
_PICK_TAG: Final = 0x7069636B
_HALF: Final = 31


class Growth(NamedTuple):
    """Settings of tree growth."""

    redeals: int
    alike: int  # so many redeals that follow each other are the same: one for each action of the root, or 1
    plies: int  # own decisions that all redeals share, others play as the rollout agent; or NOT_LIMITED
    exploration: float  # of UCB1, for values between 0 and 1


class Tree(NamedTuple):
    """A tree of at most M nodes with A actions; arrays are filled as nodes are added, except `slots`."""

    slots: Int64Array  # [power of 2] hash table: number of a node and 1; 0: none
    keys: Int64Array  # [M]
    parents: Int64Array  # [M] the own decision before
    causes: Int64Array  # [M] the action taken there
    visits: Int64Array  # [M, A] how often an action was taken
    chances: Int64Array  # [M, A] how often it could have been
    totals: Float64Array  # [M, A] what rounds were worth to the own team after it, summed up
    size: Int64Array  # [1] nodes so far
    line: Int64Array  # [MOST_PLIES, 2] nodes and actions of a redeal
    bounds: Float64Array  # [2] the lowest and the highest worth of a round so far
    path: Int64Array  # [2] what has been seen in a redeal: two words of 32 bits
    mask: Int8Array  # [A] scratch


def new_tree(growth: Growth, actions: int) -> Tree:
    """Allocate a tree with a number of actions."""
    nodes = growth.redeals * max(1, growth.plies) + 2
    slots = 1 << (2 * nodes).bit_length()
    return Tree(
        slots=np.zeros(slots, np.int64),
        keys=np.empty(nodes, np.int64),
        parents=np.empty(nodes, np.int64),
        causes=np.empty(nodes, np.int64),
        visits=np.empty((nodes, actions), np.int64),
        chances=np.empty((nodes, actions), np.int64),
        totals=np.empty((nodes, actions), np.float64),
        size=np.zeros(1, np.int64),
        line=np.zeros((MOST_PLIES, 2), np.int64),
        bounds=np.array([inf, -inf]),
        path=np.zeros(2, np.int64),
        mask=np.zeros(actions, np.int8),
    )


@kernel
def grow(
    searcher: Searcher,
    rules: RulesRecord,
    decisions: Decisions,
    number: int,
    growth: Growth,
    hands: Int8Array,
    tree: Tree,
) -> None:
    """Grow a new tree of a started decision; each redeal descends in it, adds a node, and is played out.

    Redeals are uniform with `no_hands()` as `hands`.
    """
    of_decision_0, of_decision_1 = int(decisions.keys[number, 0]), int(decisions.keys[number, 1])
    dealt, game = decisions.dealt[number], decisions.games[number]
    for turn in range(growth.redeals):
        cards = turn // growth.alike
        key_0 = random_word(of_decision_0, of_decision_1, cards)
        key_1 = random_word(of_decision_1, key_0, cards)
        decisions.dealt[number] = decisions.roots[number]
        redeal(searcher.sees, hands, dealt, rules, cards, key_0, key_1, decisions.hidden[number])
        decisions.games[number] = decisions.dealt[number]
        plies = go_down(searcher, rules, decisions, number, growth, tree, turn, key_0, key_1)
        if int(game.phase) == ROUND_OVER:
            value = value_of_round(game, rules)
        else:
            decisions.dealt[number] = decisions.games[number]
            action = asked(searcher, rules, decisions, number, key_0, key_1)
            value = play_out(searcher, rules, decisions, number, action, key_0, key_1)
        note(tree, growth, plies, value)
    if growth.plies != NOT_LIMITED:
        resolve(tree)


@rule
def go_down(  # noqa: PLR0913, PLR0917 - a place in the search, and the keys of its redeal
    searcher: Searcher,
    rules: RulesRecord,
    decisions: Decisions,
    number: int,
    growth: Growth,
    tree: Tree,
    turn: int,
    key_0: int,
    key_1: int,
) -> int:
    """Play a redealt game through the tree to a leaf; return the number of decisions in the tree.

    At a new node of EPIMC the rollout agent chooses: most later nodes are visited only once, and a random
    action there says little about the action that led to them.
    """
    game, memories = decisions.games[number], decisions.memories[number]
    memories[:, :] = 0
    for slot in range(MEMORY):
        memories[OWN, slot] = decisions.own[number, slot]
    tree.path[0], tree.path[1] = 0, 0
    plies = 0
    while plies < MOST_PLIES and int(game.phase) != ROUND_OVER:
        seat = int(game.seat)
        if growth.plies != NOT_LIMITED and seat != OWN:
            action = asked(searcher, rules, decisions, number, key_0, key_1)
        else:
            if growth.plies != NOT_LIMITED and plies == growth.plies:
                return plies
            size = int(tree.size[0])
            node = node_here(tree, plies)
            if node == size and growth.plies == NOT_LIMITED and plies > 0:
                return plies
            if node == size and plies > 0:
                action = asked(searcher, rules, decisions, number, key_0, key_1)
            else:
                write_mask(game, rules, tree.mask)
                word = random_word(key_1 ^ _PICK_TAG, key_0, MOST_PLIES * turn + plies)
                action = select_action(tree, growth, node, seat == OWN, word)
            tree.line[plies, 0], tree.line[plies, 1] = node, action
            plies += 1
        step(game, rules, action)
        see(game, action, tree.path)
    return plies


@rule
def asked(
    searcher: Searcher, rules: RulesRecord, decisions: Decisions, number: int, key_0: int, key_1: int
) -> int:
    """Return the rollout agent's action in the acting seat."""
    game = decisions.games[number]
    seat = int(game.seat)
    memory = decisions.memories[number, seat]
    count = decisions_taken(seen, game, memory)
    draw = random_word(key_1 ^ _DRAW_TAG, key_0, seat * _DECISIONS_OF_A_SEAT + count)
    return decide(seen, searcher.choose, game, rules, seat, memory, searcher.options, draw)


# Nodes ------------------------------------------------------------------------------------------------------


@rule
def see(game: State, action: int, path: Int64Array) -> None:
    """Add an action and the own hand after it to the history."""
    key_0, key_1 = int(path[0]), int(path[1])
    key_0 = random_word(key_0, key_1, action + 1)
    for first in range(0, NUM_CARD_TYPES, _TYPES_IN_A_WORD):
        word = 0
        for card in range(first, min(first + _TYPES_IN_A_WORD, NUM_CARD_TYPES)):
            word = (word << _BITS) | int(game.hand[OWN, card])
        key_0 = random_word(key_0, key_1, word)
        key_1 = random_word(key_1, key_0, first + 1)
    path[0], path[1] = key_0, key_1


@rule
def node_here(tree: Tree, plies: int) -> int:
    """Return the node of the history, which is added if it is missing."""
    key = (int(tree.path[0]) << _HALF) ^ int(tree.path[1])
    last = len(tree.slots) - 1
    slot = int(tree.path[1]) & last
    while tree.slots[slot] != 0:
        node = int(tree.slots[slot]) - 1
        if tree.keys[node] == key:
            return node
        slot = (slot + 1) & last
    node = int(tree.size[0])
    tree.slots[slot] = node + 1
    tree.size[0] = node + 1
    tree.keys[node] = key
    tree.parents[node] = tree.line[plies - 1, 0] if plies > 0 else ROOT
    tree.causes[node] = tree.line[plies - 1, 1] if plies > 0 else 0
    for action in range(tree.visits.shape[1]):
        tree.visits[node, action] = 0
        tree.chances[node, action] = 0
        tree.totals[node, action] = 0.0
    return node


@rule
def is_worth_trying(mask: Int8Array, action: int) -> bool:
    """Return True if an action is legal and does not discard a safety."""
    return mask[action] == 1 and not (is_discard(action) and is_safety(card_of(action)))


@rule
def select_action(tree: Tree, growth: Growth, node: int, is_own: bool, word: int) -> int:
    """Select the action of a redeal: an untried one, else by UCB1; in EPIMC the least visited one."""
    best, highest, ties = -1, -inf, 0
    for action in range(len(tree.mask)):
        if not is_worth_trying(tree.mask, action):
            continue
        tree.chances[node, action] += 1
        taken = int(tree.visits[node, action])
        if growth.plies != NOT_LIMITED:
            score = -float(taken)
        elif taken == 0:
            score = inf
        else:
            score = upper_bound(tree, growth, node, action, is_own)
        if score > highest:
            best, highest, ties = action, score, 1
        elif score == highest:
            ties += 1
            if random_below(word, action, ties, ties) == 0:
                best = action
    if best >= 0:
        return best
    for action in range(len(tree.mask)):  # safeties are all that can be thrown away
        if tree.mask[action] == 1:
            tree.chances[node, action] += 1
            return action
    return best


@rule
def upper_bound(tree: Tree, growth: Growth, node: int, action: int, is_own: bool) -> float:
    """Return UCB1 of an action, by the number of redeals that allowed it."""
    taken = float(tree.visits[node, action])
    width = float(tree.bounds[1] - tree.bounds[0])
    worth = (tree.totals[node, action] / taken - tree.bounds[0]) / width if width > 0.0 else 0.5
    explored = sqrt(log(float(tree.chances[node, action])) / taken)
    return (worth if is_own else 1.0 - worth) + growth.exploration * explored


@rule
def note(tree: Tree, growth: Growth, plies: int, value: float) -> None:
    """Add the value of a round at all nodes on its path, or at the last one, to be backed up later."""
    tree.bounds[0] = min(tree.bounds[0], value)
    tree.bounds[1] = max(tree.bounds[1], value)
    for ply in range(plies):
        node, action = int(tree.line[ply, 0]), int(tree.line[ply, 1])
        tree.visits[node, action] += 1
        if growth.plies == NOT_LIMITED or ply == plies - 1:
            tree.totals[node, action] += value


@rule
def resolve(tree: Tree) -> None:
    """Back values up from the last nodes to the root: a node has the best mean of its actions."""
    for node in range(int(tree.size[0]) - 1, ROOT, -1):
        best, redeals = -inf, 0
        for action in range(tree.visits.shape[1]):
            taken = int(tree.visits[node, action])
            if taken > 0:
                redeals += taken
                best = max(best, tree.totals[node, action] / taken)
        tree.totals[int(tree.parents[node]), int(tree.causes[node])] += redeals * best
