"""Deep CFR (Brown et al. 2019) on decks of up to 8 cards.

In each iteration a network for each seat predicts the advantages of all choices, at all information sets in
one batch; the policy follows by regret matching. Rounds are then sampled by external-sampling MCCFR, the new
regrets are added to the memory, and the network is fitted to the whole memory, with larger weights for later
iterations. A second network is fitted to the policies of all iterations, and is evaluated.

OpenSpiel has an implementation in PyTorch, which evaluates a game in Python and a network node by node and is
some thousand times slower; here a network is evaluated on the whole tree once in an iteration. The targets of
an iteration are summed over its visits, which gives the same loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.envs.vector import vector_env
from millebornes_env.errors import MilleBornesError, MissingExtraError
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC
from millebornes_env.solving.mccfr import Sampler, SeatData
from millebornes_env.solving.policies import write_rows
from millebornes_env.solving.tree import Tree
from millebornes_env.solving.values import Weights
from research.baselines.judging import Task, is_small, marks, small_tree

if TYPE_CHECKING:
    from torch import Tensor, nn

Float32Array = npt.NDArray[np.float32]
Int64Array = npt.NDArray[np.int64]

_UNIT: Final = 1000.0  # points; the networks learn thousands
_FEWEST_DECISIONS: Final = 2_000  # of an iteration


@dataclass(frozen=True)
class DeepCfrOptions:
    """Options of Deep CFR."""

    iterations: int = 30
    """number of iterations; fewer if an iteration would have less than 2,000 decisions"""
    hidden: tuple[int, ...] = (128, 128)
    """widths of the hidden layers of the networks"""
    steps: int = 200
    """steps of Adam for the network of a seat in an iteration"""
    policy_steps: int = 500
    """steps of Adam for the policy network in an evaluation"""
    batch_size: int = 512
    """minibatch size in information sets"""
    learning_rate: float = 1e-3
    """learning rate of Adam"""


@dataclass
class Memory:
    """Training data of a network: a row for each visited information set of an iteration.

    Attributes:
        sets: int64[n] arrays of indices of information sets.
        targets: float32[n, C] arrays.
        weights: float32[n] arrays.
    """

    sets: list[Int64Array]
    targets: list[Float32Array]
    weights: list[Float32Array]

    def add(self, sets: Int64Array, targets: Float32Array, weights: Float32Array) -> None:
        """Add the results of an iteration."""
        self.sets.append(sets)
        self.targets.append(targets)
        self.weights.append(weights)


class Seat:
    """The information sets of a seat, in the order of `SeatData`, and the memories of its networks.

    Attributes:
        side: sums of the sampler.
        rows: int8[I, D], observations at the information sets.
        sequences: int64[I, C], sequences of the choices, padded with 0.
        is_choice: bool[I, C], False for the padding.
    """

    def __init__(self, tree: Tree, number: int, side: SeatData) -> None:
        """Read the information sets of a tree."""
        env = vector_env(1, tree.game.name, players=2)
        mine = tree.decision_seats == number
        rows = np.zeros((int(mine.sum()), env.observation_sections[-1].stop), np.int8)
        write_rows(tree.decision_states[mine], tree.game.record, DEFAULT_SPEC, rows)
        seat = tree.seats[number]
        row_of = np.zeros(len(seat.operations.heads), np.int64)
        row_of[tree.decision_operations[mine]] = np.arange(len(rows))
        decisions = np.flatnonzero(seat.operations.counts > 0)
        order = decisions[np.argsort(seat.keys[decisions], kind="stable")]
        counts = seat.operations.counts[order].astype(np.int64)
        columns = np.arange(int(counts.max()))
        self.side = side
        self.rows = rows[row_of[order]]
        self.is_choice = columns < counts[:, np.newaxis]
        self.sequences = np.where(self.is_choice, side.firsts[:, np.newaxis] + columns, 0)
        self.advantages = Memory([], [], [])
        self.policies = Memory([], [], [])

    def table(self, policy: npt.NDArray[Any], size: int) -> npt.NDArray[np.float64]:
        """Return the weights of all sequences for a policy float[I, C]."""
        weights = np.ones(size)
        weights[self.sequences[self.is_choice]] = policy[self.is_choice]
        return weights

    def remember(self, iteration: int) -> None:
        """Move the samples of an iteration from the side to the memories."""
        side = self.side
        seen = np.flatnonzero(side.visits)
        visits = side.visits[seen].astype(np.float32)
        regrets = side.regrets[self.sequences[seen]] * self.is_choice[seen]
        targets = (regrets / visits[:, np.newaxis] / _UNIT).astype(np.float32)
        self.advantages.add(seen, targets, visits * iteration)
        average = side.average[self.sequences] * self.is_choice
        visits = average.sum(axis=1)
        seen = np.flatnonzero(visits)
        policies = (average[seen] / visits[seen, np.newaxis]).astype(np.float32)
        self.policies.add(seen, policies, (visits[seen] * iteration).astype(np.float32))
        for array in (side.regrets, side.average, side.visits):
            array[:] = 0


def matched(advantages: Float32Array, is_choice: npt.NDArray[np.bool_]) -> Float32Array:
    """Compute the policy by regret matching; without positive advantages it takes the best choice.

    Args:
        advantages: float32[I, C].
        is_choice: bool[I, C].

    Returns:
        float32[I, C], rows that add up to 1.
    """
    positive = np.where(is_choice, np.maximum(advantages, 0), 0)
    total = positive.sum(axis=1, keepdims=True)
    best = np.where(is_choice, advantages, -np.inf).argmax(axis=1)
    greedy = np.arange(advantages.shape[1]) == best[:, np.newaxis]
    result: Float32Array = np.where(total > 0, positive / np.maximum(total, 1e-30), greedy).astype(np.float32)
    return result


def learn_by_deep_cfr(task: Task, options: DeepCfrOptions) -> None:
    """Learn by Deep CFR; the budget counts the decisions of sampled rounds.

    Raises:
        MilleBornesError: the deck has more than 8 cards.
        MissingExtraError: PyTorch is not installed.
    """
    try:
        import torch  # noqa: PLC0415 - slow to load
    except ModuleNotFoundError as missing:
        raise MissingExtraError.of("Deep CFR", missing, "train") from None
    if not is_small(task.game):
        raise MilleBornesError(
            f"Deep CFR evaluates its networks on the whole tree, and {task.game.name} has {task.game.cards} "
            "cards: use decks of up to 8 cards"
        )
    torch.set_num_threads(1)
    torch.manual_seed(task.seed)
    tree = small_tree(task.game.name)
    sampler = Sampler(task.game, task.seed, tree)
    seats = [Seat(tree, number, side) for number, side in enumerate(sampler.sides)]
    wanted = marks(task.game, task.samples)
    iterations = max(min(options.iterations, task.samples // _FEWEST_DECISIONS), 1)
    for iteration in range(1, iterations + 1):
        with task.learning():
            policies = [_policy(seat, options) for seat in seats]
            sides = [
                seat.side._replace(weights=seat.table(policy, len(seat.side.regrets)))
                for seat, policy in zip(seats, policies, strict=True)
            ]
            sampler.sides = sides[0], sides[1]
            enough = iteration * task.samples // iterations
            while sampler.decisions < enough:
                sampler.run(20)
            for seat in seats:
                seat.remember(iteration)
        if sampler.decisions >= wanted[0]:
            wanted = [mark for mark in wanted if mark > sampler.decisions] or [2 * task.samples]
            with task.learning():
                weights = average_policy(seats, options)
            task.judge_table(sampler.decisions, tree, weights)


def _policy(seat: Seat, options: DeepCfrOptions) -> Float32Array:
    """Return the policy of an iteration, float32[I, C]; the first one is uniform."""
    if not seat.advantages.sets:
        uniform: Float32Array = (seat.is_choice / seat.is_choice.sum(axis=1, keepdims=True)).astype(
            np.float32
        )
        return uniform
    return matched(fitted(seat, seat.advantages, options, options.steps, is_policy=False), seat.is_choice)


def average_policy(seats: list[Seat], options: DeepCfrOptions) -> Weights:
    """Fit networks to the policies of all iterations; return their weights."""
    tables = []
    for seat in seats:
        logits = fitted(seat, seat.policies, options, options.policy_steps, is_policy=True)
        logits = np.where(seat.is_choice, logits.astype(np.float64), -np.inf)
        policy = np.exp(logits - logits.max(axis=1, keepdims=True))
        tables.append(seat.table(policy / policy.sum(axis=1, keepdims=True), len(seat.side.regrets)))
    return tables[0], tables[1]


def fitted(
    seat: Seat, memory: Memory, options: DeepCfrOptions, steps: int, *, is_policy: bool
) -> Float32Array:
    """Fit a new network to a memory, and evaluate it at all information sets.

    Args:
        seat: the seat.
        memory: memory of advantages or of policies.
        options: options of the networks.
        steps: steps of Adam.
        is_policy: True if the targets are probabilities, for a cross-entropy instead of a squared error.

    Returns:
        float32[I, C].
    """
    import torch  # noqa: PLC0415 - slow to load

    rows = torch.from_numpy(seat.rows).float()
    rows /= rows.abs().amax(dim=0).clamp(min=1)
    network = _network(rows.shape[1], options.hidden, seat.is_choice.shape[1])
    sets = torch.from_numpy(np.concatenate(memory.sets))
    targets = torch.from_numpy(np.concatenate(memory.targets))
    weights = torch.from_numpy(np.concatenate(memory.weights))
    is_choice = torch.from_numpy(seat.is_choice)
    optimizer = torch.optim.Adam(network.parameters(), options.learning_rate)
    for _ in range(steps):
        batch = torch.multinomial(weights, options.batch_size, replacement=True)
        result = network(rows[sets[batch]])
        loss = _loss(result, targets[batch], is_choice[sets[batch]], is_policy)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        answer: Float32Array = network(rows).numpy()
    return answer


def _loss(found: Tensor, targets: Tensor, is_choice: Tensor, is_policy: bool) -> Any:
    if is_policy:
        log_probs = found.masked_fill(~is_choice, -1e9).log_softmax(dim=1)
        return -(targets * log_probs).sum(dim=1).mean()
    return ((found - targets).square() * is_choice).sum(dim=1).mean()


def _network(inputs: int, hidden: tuple[int, ...], outputs: int) -> nn.Sequential:
    from torch import nn  # noqa: PLC0415 - slow to load

    widths = [inputs, *hidden]
    layers: list[nn.Module] = []
    for before, after in pairwise(widths):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(widths[-1], outputs))
