"""Agents with other search algorithms than the package's, and the same redeals and rollouts.

    python -m millebornes_env arena research.searchers.agents:Ismcts strategist

ISMCTS   single-observer information set Monte Carlo tree search (Cowling, Powley and Whitehouse 2012): one
         tree over information sets of the searching seat, with the decisions of others; UCB1 among the
         actions that a redeal allows; plays the most visited action.
EPIMC    extended perfect information Monte Carlo (Arjonilla, Saffidine and Cazenave 2024): the first own
         decisions are shared by all redeals and valued by their best means, then each redeal is played out.
         All actions are tried on the same redeals; with one ply it is PIMC. The rollout agent plays for the
         others and the rest of the round; EPIMC allows any evaluation with perfect information there.
MDS      mirror descent search (Sokota et al. 2024), one step ahead: the rollout agent's probabilities are
         multiplied by exp(gain / temperature), and the most probable action is played.
"""

from __future__ import annotations

from math import exp, inf, log
from typing import Annotated, Final

import numpy as np

from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.agents.millebornes import features
from millebornes_env.agents.options import Between
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.policy.network import MAX_ACTIONS, SCRATCH_SIZE, forward_hidden, output
from millebornes_env.agents.protocol import CompiledFunction, Table
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.search.beliefs import KnownCards
from millebornes_env.agents.search.hidden_cards import OWN, Float64Array, no_hands
from millebornes_env.agents.search.kernels import Decisions, Searcher, search_on
from millebornes_env.engine.numba.compiling import kernel, stack_array
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.legality import write_mask
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.sections import ObservationSpec
from millebornes_env.games.millebornes.state import StateArray
from research.searchers.tree import MOST_PLIES, NOT_LIMITED, ROOT, Growth, Tree, grow, new_tree

_ALL_REDEALS: Final = 1 << 40


class OtherSearchAgent(SearchAgent):
    """Base class of agents with another search algorithm; `name` is shown in tables of results."""

    name = "other search"

    def choice(self, searcher: Searcher, decisions: Decisions, number: int) -> int:
        """Return the action to play at a started decision."""
        raise NotImplementedError

    def _search(
        self, searcher: Searcher, decisions: Decisions, number: int, known: KnownCards | None
    ) -> None:
        action = self.choice(searcher, decisions, number)
        decisions.num_tried[number] = 0 if action == decisions.base[number] else 1
        decisions.tried[number, 0] = action  # as if it had won in a single redeal, so that any `z` plays it
        decisions.gains[number, 0] = 1.0
        decisions.squares[number, 0] = 1.0
        decisions.redeals[number] = 1


class TreeSearchAgent(OtherSearchAgent):
    """Base class of agents with a tree over information sets of the searching seat.

    Attributes:
        growth: settings of tree growth; redeals are per decision.
        last_tree: tree of the last searched decision, or None.
    """

    name = "tree search"
    growth: Growth
    last_tree: Tree | None = None

    def grow_tree(self, searcher: Searcher, decisions: Decisions, number: int) -> Tree:
        """Grow the tree of a started decision."""
        growth = self.growth._replace(redeals=int(decisions.budget[number]))
        if growth.plies != NOT_LIMITED:
            growth = growth._replace(alike=int(decisions.num_tried[number]) + 1)
        tree = new_tree(growth, decisions.masks.shape[1])
        grow(searcher, self._rules, decisions, number, growth, no_hands(), tree)
        decisions.playouts[number] += growth.redeals
        self.last_tree = tree
        return tree


class Ismcts(TreeSearchAgent):
    """ISMCTS."""

    name = "ismcts"

    def __init__(
        self,
        table: Table,
        seed: int = 0,
        rollout: CompiledFunction | None = None,
        rollouts: Annotated[int, Between(2, 100_000)] = 100,
        exploration: Annotated[float, Between(0, 1_000)] = 0.7,
        depth: Annotated[int, Between(0, 4_096)] = 0,
        threads: Annotated[int, Between(1, 1_024)] = 2,
    ) -> None:
        """Create a searcher; arguments as for `SearchAgent`.

        `rollout` continues from the leaf of a redeal, and `exploration` is the constant of UCB1, for values
        scaled to 0..1.
        """
        super().__init__(table, seed, rollout, rollouts, depth=depth, threads=threads)
        self.growth = Growth(0, 1, NOT_LIMITED, exploration)

    def choice(self, searcher: Searcher, decisions: Decisions, number: int) -> int:
        """Return the most visited action, and among several the one with the best mean."""
        tree = self.grow_tree(searcher, decisions, number)
        visits, means = at_root(tree)
        return int(np.lexsort((means, visits))[-1])


class Epimc(TreeSearchAgent):
    """EPIMC."""

    name = "epimc"

    def __init__(
        self,
        table: Table,
        seed: int = 0,
        rollout: CompiledFunction | None = None,
        rollouts: Annotated[int, Between(2, 100_000)] = 100,
        plies: Annotated[int, Between(1, MOST_PLIES)] = 2,
        depth: Annotated[int, Between(0, 4_096)] = 0,
        threads: Annotated[int, Between(1, 1_024)] = 2,
    ) -> None:
        """Create a searcher; arguments as for `SearchAgent`.

        `rollout` plays for the others, and after the plies: own decisions that all redeals share, with the
        searched one.
        """
        super().__init__(table, seed, rollout, rollouts, depth=depth, threads=threads)
        self.growth = Growth(0, 1, plies, 0.0)

    def choice(self, searcher: Searcher, decisions: Decisions, number: int) -> int:
        """Return the action with the best mean."""
        _, means = at_root(self.grow_tree(searcher, decisions, number))
        return int(np.argmax(means))


def at_root(tree: Tree) -> tuple[Int64Array, Float64Array]:
    """Return visits, int64[A], and mean, float64[A], of each action at the root: -inf if not visited."""
    visits, totals = tree.visits[ROOT], tree.totals[ROOT]
    means: Float64Array = np.full(len(visits), -np.inf)
    np.divide(totals, visits, out=means, where=visits > 0)
    return visits, means


class Mds(OtherSearchAgent):
    """MDS."""

    name = "mds"

    def __init__(
        self,
        table: Table,
        seed: int = 0,
        rollout: CompiledFunction | None = None,
        rollouts: Annotated[int, Between(2, 100_000)] = 100,
        temperature: Annotated[float, Between(0.001, 1_000_000)] = 20.0,
        floor: Annotated[float, Between(0.000_001, 1)] = 0.01,
        depth: Annotated[int, Between(0, 4_096)] = 0,
        threads: Annotated[int, Between(1, 1_024)] = 2,
    ) -> None:
        """Create a searcher; other arguments as for `SearchAgent`.

        Args:
            table: the table to play at.
            seed: seed of the redeals.
            rollout: compiled agent to search over; None: `strategist`.
            rollouts: redeals for each legal action; dropped actions leave theirs to the others.
            temperature: points of gain that make an action e times as probable.
            floor: weight of the uniform distribution in the prior; the rest are the probabilities of a
                network, or the choice of a rule-based agent.
            depth: as for `SearchAgent`.
            threads: as for `SearchAgent`.
        """
        super().__init__(table, seed, rollout, rollouts, depth=depth, threads=threads)
        self._temperature = temperature
        self._floor = floor

    def choice(self, searcher: Searcher, decisions: Decisions, number: int) -> int:
        """Return the most probable action of the changed policy; dropped actions do not count."""
        count = int(decisions.num_tried[number])
        actions = np.append(decisions.base[number], decisions.tried[number, :count])
        prior = dict(zip(actions.tolist(), self.prior(decisions.roots, number, actions), strict=True))
        search_on(searcher, self._rules, decisions, number, _ALL_REDEALS, no_hands())
        best = int(actions[0])
        highest = log(prior[best])
        for other in range(int(decisions.num_tried[number])):
            action = int(decisions.tried[number, other])
            mean = decisions.gains[number, other] / decisions.redeals[number]
            worth = log(prior[action]) + mean / self._temperature
            if worth > highest:
                best, highest = action, worth
        return best

    def prior(self, roots: StateArray, number: int, actions: Int64Array) -> Float64Array:
        """Return the probabilities, float64[n], of actions under the agent that is searched over.

        The first action, int64[n], is the agent's own choice; `roots` are games as their seats know them.
        """
        result = np.zeros(len(actions))
        result[0] = 1.0
        if isinstance(self.rollout_agent, PolicyAgent):
            network_prior(roots, number, self._rules, self.rollout_agent.options, actions, result)
        mixed: Float64Array = (1.0 - self._floor) * result + self._floor / len(actions)
        return mixed


@kernel
def network_prior(
    roots: StateArray,
    number: int,
    rules: RulesRecord,
    options: Int64Array,
    actions: Int64Array,
    found: Float64Array,
) -> None:
    """Write the probabilities float64[n] that a network gives to legal actions int64[n] of its seat."""
    root, units = roots[number], stack_array(np.float32, SCRATCH_SIZE)
    mask = stack_array(np.int8, MAX_ACTIONS)[: num_actions(rules.teams)]
    write_mask(root, rules, mask)
    last_layer = forward_hidden(rulebook, features, ObservationSpec, root, rules, OWN, options, units)
    highest, total = -inf, 0.0
    for action in range(len(mask)):
        if mask[action] == 1:
            highest = max(highest, float(output(options, last_layer, units, action)))
    for action in range(len(mask)):
        if mask[action] == 1:
            total += exp(float(output(options, last_layer, units, action)) - highest)
    for index in range(len(actions)):
        found[index] = exp(float(output(options, last_layer, units, int(actions[index]))) - highest) / total
