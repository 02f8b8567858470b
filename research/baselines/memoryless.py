"""Policies without memory, which see the table as it is: how close to an equilibrium can they be?

Several information sets show the same observation, and a function of observations, such as the networks of
`train.selfplay`, plays all of them alike. `SharedCfr` learns such a function on the whole game: what it loses
is the price of having no memory. `fit` fits a network to it: what that loses is the price of the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.games.millebornes.actions import num_actions
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC
from millebornes_env.solving.deck import Solvable
from millebornes_env.solving.passes import expected_backward
from millebornes_env.solving.policies import observation_size, write_actions, write_rows
from millebornes_env.solving.tree import Grower
from millebornes_env.solving.values import Weights, gains_at_ends, reach_of

if TYPE_CHECKING:
    from train.selfplay import Trainer

Int64Array = npt.NDArray[np.int64]
Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]

_BATCH: Final = 65536


@dataclass(frozen=True)
class Choices:
    """The choices of a seat, in the order of its decisions.

    Attributes:
        sequences: int64[C], the sequence of each choice.
        slots: int64[C], its place in the table of a policy without memory.
        heads: int64[C], the sequence that leads to its decision.
        decisions: int64[C], the number of its decision.
        orders: float64[C], the number of orders of own draws that lead to it.
    """

    sequences: Int64Array
    slots: Int64Array
    heads: Int64Array
    decisions: Int64Array
    orders: Float64Array


class Table:
    """The observations of a deck, and policies that are tables of them: float64[S], a slot for each choice.

    Attributes:
        tree: the whole tree of the deck.
        rows: int8[K, D], the observations with more than one choice.
        firsts: int64[K + 1], the first slot of each row, and their number.
    """

    def __init__(self, game: Solvable) -> None:
        """Find the observation at each decision."""
        self.tree = Grower(game).whole(states=True)
        width, states = observation_size(game, DEFAULT_SPEC), self.tree.decision_states
        rows = np.zeros((len(states), width), np.int8)
        for start in range(0, len(states), _BATCH):
            batch = slice(start, start + _BATCH)
            write_rows(states[batch], game.record, DEFAULT_SPEC, rows[batch])
        kinds, self._examples, of = np.unique(
            rows.view(f"V{width}").ravel(), return_index=True, return_inverse=True
        )
        self.rows = np.frombuffer(kinds.tobytes(), np.int8).reshape(len(kinds), width)
        seats, at = self.tree.decision_seats, self.tree.decision_operations
        counts = np.zeros(len(states), np.int64)
        for number, seat in enumerate(self.tree.seats):
            own = seats == number
            counts[own] = seat.operations.counts[at[own]]
        self.firsts = np.concatenate([[0], np.cumsum(counts[self._examples])])
        self._choices = [self._choices_of(number, of, counts) for number in (0, 1)]

    def _choices_of(self, number: int, of: Int64Array, counts: Int64Array) -> Choices:
        own = np.flatnonzero(self.tree.decision_seats == number)
        operations = self.tree.seats[number].operations
        at, many = self.tree.decision_operations[own], counts[own]
        steps = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        heads = np.repeat(operations.heads[at], many).astype(np.int64)
        every_order = reach_of(self.tree.seats[number], np.ones(self.tree.seats[number].size))
        return Choices(
            np.repeat(operations.firsts[at], many) + steps,
            np.repeat(self.firsts[of[own]], many) + steps,
            heads,
            np.repeat(np.arange(len(own)), many),
            every_order[heads],
        )

    def normalized(self, amounts: Float64Array) -> Float64Array:
        """Return amounts, at least 0, as probabilities of the choices of each row; uniform if all are 0."""
        counts = np.diff(self.firsts)
        totals = np.add.reduceat(amounts, self.firsts[:-1])
        result = amounts / np.repeat(np.where(totals > 0, totals, 1.0), counts)
        return np.where(np.repeat(totals > 0, counts), result, np.repeat(1.0 / counts, counts))

    def weights(self, policy: Float64Array) -> Weights:
        """Return a table as the weights of the tree."""
        result = []
        for seat, choices in zip(self.tree.seats, self._choices, strict=True):
            weights = np.ones(seat.size)
            weights[choices.sequences] = policy[choices.slots]
            result.append(weights)
        return result[0], result[1]

    def reach(self, weights: Weights) -> Float64Array:
        """Return how much a policy reaches each choice, float64[S]: by the own choices of both seats."""
        result = np.zeros(self.firsts[-1])
        for number, choices in enumerate(self._choices):
            reach = reach_of(self.tree.seats[number], weights[number])
            amounts = reach[choices.heads] * weights[number][choices.sequences]
            result += np.bincount(choices.slots, amounts, len(result))
        return result

    def regrets(self, number: int, weights: Weights) -> Float64Array:
        """Return the sums of a seat's counterfactual regrets of each choice, float64[S]."""
        choices, own = self._choices[number], weights[number]
        reach = reach_of(self.tree.seats[1 - number], weights[1 - number])
        gains = gains_at_ends(self.tree, number, reach)
        expected_backward(self.tree.seats[number].operations, own, gains)
        gained = gains[choices.sequences]
        means = np.bincount(choices.decisions, own[choices.sequences] * gained)
        regrets = np.zeros(self.firsts[-1])
        np.add.at(regrets, choices.slots, choices.orders * (gained - means[choices.decisions]))
        return regrets

    def targets(self, policy: Float64Array) -> Float32Array:
        """Return a table as probabilities of actions, float32[K, A]."""
        game, weights = self.tree.game, self.weights(policy)
        result = np.zeros((len(self.rows), num_actions(game.rules.teams)))
        seats = self.tree.decision_seats[self._examples]
        for number, seat in enumerate(self.tree.seats):
            own = np.flatnonzero(seats == number)
            decisions = self._examples[own]
            at = self.tree.decision_operations[decisions]
            answer = np.zeros((len(own), result.shape[1]))
            phases = self.tree.decision_states["phase"][decisions]
            sets, firsts = seat.choices[at], seat.operations.firsts[at]
            write_actions(game.deck, phases, sets, firsts, weights[number], answer)
            result[own] = answer
        return result.astype(np.float32)


class SharedCfr:
    """CFR+ whose information sets share their regrets if they show the same observation.

    A seat forgets what it saw, so the guarantee of CFR does not hold: the average has to be evaluated.

    Attributes:
        table: the observations.
        iteration: number of completed iterations.
        average: float64[S], the sum of the reach of all policies, later ones with more weight.
    """

    def __init__(self, table: Table) -> None:
        """Begin with the uniform policy."""
        self.table, self.iteration = table, 0
        self._regrets = np.zeros(table.firsts[-1])
        self.average = np.zeros(table.firsts[-1])

    def run(self, iterations: int) -> None:
        """Run iterations; each updates the seats one after the other."""
        for _ in range(iterations):
            self.iteration += 1
            for number in (0, 1):
                weights = self.table.weights(self.last())
                self._regrets = np.maximum(self._regrets + self.table.regrets(number, weights), 0.0)
            weights = self.table.weights(self.last())
            self.average += self.iteration * self.table.reach(weights)

    def policy(self) -> Float64Array:
        """Return the average policy, float64[S]."""
        return self.table.normalized(self.average)

    def last(self) -> Float64Array:
        """Return the policy of the last iteration, float64[S], which is the better one at first."""
        return self.table.normalized(self._regrets)


@dataclass(frozen=True)
class Fit:
    """The budget of a fit.

    Attributes:
        steps: steps of Adam.
        batch_size: observations in a step, drawn anew for each; all, if there are no more.
        rollouts: rollouts of the fitted policy, to which the value is fitted.
        learning_rate: of the first step; it falls to 0.
    """

    steps: int = 6000
    batch_size: int = 4096
    rollouts: int = 20
    learning_rate: float = 5e-3


def fit(trainer: Trainer, inputs: Float32Array, table: Table, policy: Float64Array, how: Fit) -> None:
    """Fit the network of a trainer: its policy to a table, its value to rollouts of that policy.

    Args:
        trainer: its network and EMA are overwritten.
        inputs: float32[K, inputs], the observations of the table as the network's inputs.
        table: the observations.
        policy: float64[S].
        how: the budget.
    """
    import torch  # noqa: PLC0415 - the trainer is of it

    network = trainer.network
    rows, wanted = torch.from_numpy(inputs), torch.from_numpy(table.targets(policy))
    illegal = torch.from_numpy(table.targets(table.normalized(np.zeros_like(policy))) == 0)
    reach = np.add.reduceat(table.reach(table.weights(policy)), table.firsts[:-1])
    importance = torch.from_numpy(np.sqrt(reach / reach.mean()) + 0.1).float()
    optimizer = torch.optim.Adam(network.parameters(), how.learning_rate)
    rng, rollouts = np.random.default_rng(trainer.args.seed), list[tuple[Any, Any]]()

    def drawn() -> Any:
        return torch.from_numpy(rng.integers(len(rows), size=how.batch_size))

    for step in range(how.steps):
        for group in optimizer.param_groups:
            group["lr"] = how.learning_rate * (1 - step / how.steps)
        batch = drawn() if len(rows) > how.batch_size else slice(None)
        logits = network(rows[batch])[:, :-1].masked_fill(illegal[batch], -1e9)
        fits = (wanted[batch] * torch.log_softmax(logits, dim=1)).sum(dim=1)
        loss = -(importance[batch] * fits).mean()
        if len(rollouts) < how.rollouts and step >= how.steps // 2:
            trainer.collect()
            counted = np.flatnonzero(trainer.flat.loss_mask)
            found = trainer.flat.observations[counted], trainer.flat.returns[counted]
            rollouts.append((torch.from_numpy(found[0]), torch.from_numpy(found[1])))
        if rollouts:
            seen, returns = rollouts[step % len(rollouts)]
            loss = loss + 0.5 * (network(seen)[:, -1] - returns).square().mean()
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    trainer.ema_network.load_state_dict(network.state_dict())
