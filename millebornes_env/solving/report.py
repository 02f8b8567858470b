"""`exploitability`: exact evaluation of any policy in one call, with the decisions that cost most."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np

from millebornes_env._util.files import new_figure, save_picture, write_json_atomically
from millebornes_env._util.texts import json_of_file
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.errors import MissingExtraError, OptionError, SolvingError, shown
from millebornes_env.games.millebornes.actions import action_name
from millebornes_env.games.millebornes.editions import Edition
from millebornes_env.solving.as_policy import policy_of
from millebornes_env.solving.deck import Solvable, solvable
from millebornes_env.solving.extensive.evaluation import by_openspiel, by_table, evaluate, record_of
from millebornes_env.solving.extensive.tree import Tree
from millebornes_env.solving.policies import describe_decision
from millebornes_env.solving.tree import Tree as WalkedTree
from millebornes_env.solving.values import (
    SMALL,
    Float64Array,
    Judgement,
    OnProgress,
    Weights,
    count_nodes,
    judge,
)
from millebornes_env.solving.walk import action_of

MOST_COSTLY: Final = 10
"""Number of information sets in a report."""
COSTLY: Final = "points per round lost at the dearest information sets:"
_POINTS: Final = "decisions_and_percent"
_LEAST_SHARE: Final = 0.005
"""Least probability of an action that is named."""


@dataclass(frozen=True)
class CostlySet:
    """An information set at which a policy loses.

    Attributes:
        cost: points per round that the seat would gain here by the best action, if it played a best response
            from there on; the costs of all information sets add up to NashConv.
        words: the decision in words.
        probabilities: the policy, by the names of the actions.
        best: name of the best action.
    """

    cost: float
    words: str
    probabilities: Mapping[str, float]
    best: str

    def __str__(self) -> str:
        """Return the set in a line."""
        named = [f"{name} {share:.0%}" for name, share in self.probabilities.items() if share >= _LEAST_SHARE]
        return f"{self.cost:8.3f}  {self.words}: {', '.join(named)}; best: {self.best}"


@dataclass(frozen=True)
class Exploitability:
    """The exact evaluation of a policy that both seats play; `print` shows a report.

    Attributes:
        deck: label of the rule sheet.
        judgement: value, best responses and the size of the game.
        costly: the information sets that cost most, dearest first.
    """

    deck: str
    judgement: Judgement
    costly: tuple[CostlySet, ...]

    @property
    def value(self) -> float:
        """Expected points of the seat that begins, minus those of the other, if both play the policy."""
        return self.judgement.value

    @property
    def best_responses(self) -> tuple[float, float]:
        """Values of the best responses of seat 0 and of seat 1 to the policy, in points."""
        return self.judgement.best

    @property
    def points(self) -> float:
        """Exploitability in points: NashConv / 2, the mean gain of a best response over the seats."""
        return self.judgement.exploitability

    @property
    def percent(self) -> float:
        """Exploitability in percent of the range of the payoffs."""
        return 100 * self.judgement.of_range

    def __str__(self) -> str:
        """Return a report of several lines."""
        first, second = self.best_responses
        lines = [
            f"{self.judgement.name} on {self.deck}: exploitability {self.points:.4g} points, "
            f"{self.percent:.3g} % of the payoff range",
            f"value to seat 0 {self.value:+.4g}; a best response wins {first:+.4g} as seat 0 and "
            f"{second:+.4g} as seat 1",
        ]
        if self.costly:
            lines += [COSTLY, *map(str, self.costly)]
        return "\n".join(lines)


def exploitability(
    policy: Any,
    deck: str | Path | Edition | Solvable = "mini8",
    *,
    observe_rules: bool = False,
    seed: int = 0,
    threads: int | None = None,
    on_progress: OnProgress | None = None,
) -> Exploitability:
    """Compute how far a policy is from an equilibrium, exactly.

    Args:
        policy: anything that `as_policy.policy_of` accepts: a PyTorch module, a MaskablePPO model or
            its zip file, an agent, also with memory (`recall.Remembering`), a run folder, or a function of
            observations and masks. For decks of up to 8 cards also a table of probabilities by information
            state (`extensive.evaluation.by_table`), or an OpenSpiel policy of `python_mille_bornes`.
        deck: a small rule sheet of up to 12 cards (`mini_decks()` names the shipped ones).
        observe_rules: True if the policy's observations show the rules.
        seed: seed of an agent's random numbers.
        threads: number of threads; None: one for each processor. Results do not depend on it.
        on_progress: called with the number of finished parts of the game and the total.

    Raises:
        SolvingError: the policy is for another deck or has another shape, or its probabilities are invalid
            (the message names the information set); or the deck is too large.
        MilleBornesError: there is no such deck or agent.
    """
    game = solvable(deck)
    if isinstance(policy, Mapping) or hasattr(policy, "action_probabilities"):
        return _of_histories(policy, game, threads)
    costs = _Costs()
    judged = judge(
        game,
        policy_of(policy, game, seed, observe_rules=observe_rules),
        threads=threads,
        on_progress=on_progress,
        on_tree=costs.add,
    )
    return Exploitability(game.name, judged, costs.dearest())


def _of_histories(policy: Any, game: Solvable, threads: int | None) -> Exploitability:
    """Evaluate a policy that may depend on the whole history of a seat."""
    name = type(policy).__name__
    if game.cards > SMALL:
        raise SolvingError(
            f"{name}: tables and OpenSpiel policies are evaluated history by history, on decks of up to "
            f"{SMALL} cards; {game.name} has {game.cards}: give a function of observations and masks"
        )
    tree = Tree(game.sheet)
    asked = by_table(policy) if isinstance(policy, Mapping) else by_openspiel(policy, tree)
    values = evaluate(tree, asked, name)
    dearest = heapq.nlargest(MOST_COSTLY, values.sets, key=lambda one: one.cost)
    costly = tuple(
        CostlySet(
            one.cost,
            describe_decision(record_of(one.node)),
            dict(zip(map(action_name, one.node.actions), one.probabilities, strict=True)),
            action_name(one.best),
        )
        for one in dearest
        if one.cost > 0
    )
    counts = count_nodes(game, threads=threads)
    return Exploitability(game.name, Judgement(name, values.value, values.best, counts), costly)


class _Costs:
    """The dearest information sets of the trees seen so far."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: list[tuple[float, int, CostlySet]] = []
        self._count = 0

    def add(self, tree: WalkedTree, weights: Weights, reach: Weights, gains: Weights) -> None:
        """Compare the information sets of a tree with those kept."""
        for number in (0, 1):
            found = np.flatnonzero(tree.decision_seats == number)
            costs = costs_of(tree, number, weights[number], reach[number], gains[number])
            for at in np.argsort(-costs, kind="stable")[:MOST_COSTLY].tolist():
                with self._lock:
                    if costs[at] <= 0 or (len(self._kept) == MOST_COSTLY and costs[at] <= self._kept[0][0]):
                        break
                    one = _costly(
                        tree, number, int(found[at]), float(costs[at]), weights[number], gains[number]
                    )
                    self._count += 1
                    heapq.heappush(self._kept, (one.cost, -self._count, one))
                    if len(self._kept) > MOST_COSTLY:
                        heapq.heappop(self._kept)

    def dearest(self) -> tuple[CostlySet, ...]:
        """Return the sets, dearest first; equal ones by their words, whatever the order of the trees."""
        return tuple(sorted((one for _, _, one in self._kept), key=lambda one: (-one.cost, one.words)))


def costs_of(
    tree: WalkedTree, number: int, weights: Float64Array, reach: Float64Array, gains: Float64Array
) -> Float64Array:
    """Return the cost of each decision of a seat: the gain of the best action over the policy's mixture.

    A best response gains nothing but this at the information sets on its way, so the sum over all of them is
    its gain. `tree` has `decision_states`; `weights`, `reach` and `gains` are as in `values.OnTree`.

    Returns:
        float64[q] in points per round, in the order of the seat's decisions in `decision_states`.
    """
    seat = tree.seats[number].operations
    at = tree.decision_operations[tree.decision_seats == number]
    heads, firsts, counts = seat.heads[at], seat.firsts[at].astype(np.int64), seat.counts[at]
    best, mean = np.full(len(at), -np.inf), np.zeros(len(at))
    for offset in range(int(counts.max(initial=0))):
        rows = offset < counts
        value = gains[firsts[rows] + offset]
        best[rows] = np.maximum(best[rows], value)
        mean[rows] += weights[firsts[rows] + offset] * value
    result: Float64Array = reach[heads] * (best - mean)
    return result


def _costly(
    tree: WalkedTree, number: int, decision: int, cost: float, weights: Float64Array, gains: Float64Array
) -> CostlySet:
    """Describe a decision of a tree."""
    seat, operation = tree.seats[number], int(tree.decision_operations[decision])
    state = tree.decision_states[decision]
    first, count = int(seat.operations.firsts[operation]), int(seat.operations.counts[operation])
    choices, bits = [], int(seat.choices[operation])
    for choice in range(bits.bit_length()):
        if bits >> choice & 1:
            action = int(plain(action_of)(tree.game.deck, int(state["phase"]), choice))
            choices.append(action_name(action))
    shares = dict(zip(choices, weights[first : first + count].tolist(), strict=True))
    best = choices[int(gains[first : first + count].argmax())]
    return CostlySet(cost, describe_decision(state), shares, best)


# While training ---------------------------------------------------------------------------------------------


class ExploitabilityCurve:
    """Exploitability during training, for a loop of your own: `curve(decisions, policy)` after each update.

    Attributes:
        points: (decisions, percent of the payoff range), one for each evaluation.
    """

    def __init__(
        self,
        deck: str | Solvable = "mini8",
        *,
        every: int = 100_000,
        out: str | Path | None = None,
        **options: Any,
    ) -> None:
        """Create an empty curve.

        Args:
            deck: a small rule sheet.
            every: least number of decisions between two evaluations.
            out: path without suffix; each evaluation writes the curve to `.json` and, if matplotlib is
                installed, to `.png`. A curve that is there already is continued. None: nothing is written.
            **options: options of `exploitability`.

        Raises:
            OptionError: `every` is below 1.
            SolvingError: the deck cannot be solved, or the file to continue is not a curve of this deck.
        """
        if every < 1:
            raise OptionError(f"every is {every}; it must be 1 or more")
        self._game, self._options = solvable(deck), options
        self._every = every
        self._files = () if out is None else tuple(Path(f"{out}{suffix}") for suffix in (".json", ".png"))
        self.points: list[tuple[int, float]] = []
        if self._files and self._files[0].is_file():
            self.points = self._read(self._files[0])

    def _read(self, path: Path) -> list[tuple[int, float]]:
        known = json_of_file(path, SolvingError)
        if known.get("deck") != self._game.name:
            raise SolvingError(
                f"{path} is a curve of {shown(known.get('deck'))}, not of {self._game.name}: choose another "
                "file"
            )
        try:
            return [(int(decisions), float(percent)) for decisions, percent in known[_POINTS]]
        except (KeyError, TypeError, ValueError):
            raise SolvingError(
                f"{path} is damaged: its {_POINTS} are not a list of pairs of numbers"
            ) from None

    def __call__(self, decisions: int, policy: Any) -> float | None:
        """Evaluate the policy if enough decisions have passed since the last time.

        Returns:
            Exploitability in percent of the payoff range; None if it is too early.
        """
        while self.points and decisions < self.points[-1][0]:  # the run went on from an earlier checkpoint
            self.points.pop()
        if self.points and decisions < self.points[-1][0] + self._every:
            return None
        found = exploitability(policy, self._game, **self._options)
        self.points.append((int(decisions), found.percent))
        if self._files:
            write_json_atomically(self._files[0], {"deck": self._game.name, _POINTS: self.points})
            save_picture(self._files[1], self._plotted)
        return found.percent

    def _plotted(self) -> Any:
        figure = new_figure(6.0, 4.0, layout="constrained")
        axes = figure.add_subplot()
        axes.plot(*zip(*self.points, strict=True), "o-")
        axes.set_yscale("log")
        axes.set_xlabel("decisions")
        axes.set_ylabel("exploitability, % of the payoff range")
        axes.set_title(self._game.name)
        return figure

    def for_sb3(self) -> Any:
        """Return a callback for `model.learn(callback=...)` of Stable-Baselines3; it also logs the curve.

        Raises:
            MissingExtraError: Stable-Baselines3 is not installed.
        """
        try:
            from stable_baselines3.common.callbacks import BaseCallback  # noqa: PLC0415 - of the extra `train`
        except ModuleNotFoundError as error:
            raise MissingExtraError.of("ExploitabilityCurve.for_sb3", error, "train") from None
        curve: Callable[[int, Any], float | None] = self

        class Evaluate(BaseCallback):
            """Evaluates the model when a rollout begins, and at the end."""

            def _on_rollout_start(self) -> None:
                self._evaluate()

            def _on_training_end(self) -> None:
                self._evaluate()

            def _evaluate(self) -> None:
                percent = curve(self.num_timesteps, self.model)
                if percent is not None:
                    self.logger.record("exploitability/percent", percent)

            def _on_step(self) -> bool:
                return True

        return Evaluate()
