"""Fit the value head of a policy to another reward, and leave its play as it is, bit for bit.

    python -m train.tools.refit_value runs/win_prob --reward points --out runs/both
    python -m train.tools.refit_value runs/first --out runs/refitted --decisions 1_000_000

A policy trained for match-win probability plays for the match, but its value head no longer predicts the
points of a round, which search uses. The policy plays against itself, and its value is fitted to the outcomes
of the episodes by ridge regression on the units of the last hidden layer. Only the value's own row of the
last layer changes, which no logit depends on. Both heads are then measured on other games.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import tyro

from millebornes_env._util.command_line import run_command
from millebornes_env._util.files import check_writable
from millebornes_env._util.network_files import dequantize
from millebornes_env.agents.policy.agent import ACTIVATIONS, PolicyAgent
from millebornes_env.agents.policy.files import (
    DESCRIPTION_FILE,
    FILES,
    WEIGHTS_FILE,
    check_layers,
    read_description,
)
from millebornes_env.agents.policy.rounding import MOST_LEVELS, rounded
from millebornes_env.envs.options import USUAL
from millebornes_env.envs.rollout import advantages_of, transitions_of
from millebornes_env.errors import AgentError
from train.common.games import BoolArray, Float32Array, Float64Array, Int8Array, ManyGames, new_rollout
from train.common.options import Args as SelfPlayArgs
from train.common.options import check, check_amounts, check_counts, parse_options

_BINS: Final = 5  # of the calibration
_CHUNK: Final = 16_384  # rows summed in float64 at a time
_SEED_OF_TEST: Final = 0x76616C7565  # added to the seed: games that the head was not fitted to


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    folder: Annotated[Path, tyro.conf.Positional]
    """run folder of the policy"""
    out: Path
    """folder that the policy with its new value is written to; it must not hold a policy yet"""
    reward: str = USUAL
    """reward that the value predicts: points, win, win_prob; usual: points, if the game has any"""
    episode: str = USUAL
    """unit of play: match (with its score), round, race ...; usual: the longest of the game"""
    mode: Literal["best", "sample"] = "best"
    """best: play the most probable actions, as in search; sample: sample them, as in training"""
    decisions: int = 8_000_000
    """number of decisions to fit the value to"""
    test_decisions: int = 2_000_000
    """number of decisions from other games to measure both heads on"""
    ridge: float = 1e-4
    """ridge penalty on the weights of units scaled to variance 1"""
    num_envs: int = 256
    """number of parallel games"""
    num_steps: int = 512
    """decisions of each game to keep until their episodes end"""
    seed: int = 1
    """seed of the games and the sampled actions"""
    threads: int = 1
    """CPU threads of the games"""


class Head(NamedTuple):
    """The value's row of a last layer: its value of units [N, U] is `units @ weight + bias`."""

    weight: Float32Array  # [U]
    bias: np.float32


class Decisions(NamedTuple):
    """M decisions whose episodes have ended."""

    units: Float32Array  # [M, U] inputs of the last layer
    returns: Float64Array  # [M] to the deciding seat
    games: npt.NDArray[np.int64]  # [M] index of the game; a game has one episode after another


# Games -----------------------------------------------------------------------------------------------------


def self_play(args: Args, description: dict[str, Any], seed: int) -> SelfPlayArgs:
    """Return the games of the policy as options of `train.selfplay`; a `ValueError` names an invalid one."""
    view = description.get("view")
    sees_rules = isinstance(view, dict) and view.get("rules") is True
    options = SelfPlayArgs(
        edition=tuple(map(str, description.get("editions") or ())),
        players=description.get("players", 2),
        teams=description.get("teams"),
        reward=args.reward,
        episode=args.episode,
        features=bool(description.get("features")),
        observe_rules=sees_rules,
        num_envs=args.num_envs,
        num_steps=args.num_steps,
        seed=seed,
        threads=args.threads,
    )
    check(options)
    return options


class SelfPlay:
    """N games that a policy plays against itself.

    Attributes:
        policy: the policy, loaded for the first of the tables.
        reward: the reward of the returns.
        left_out: number of decisions whose episode did not end in time.
    """

    def __init__(self, args: Args, seed: int) -> None:
        """Start the games.

        Raises:
            AgentError: there is no policy, or its inputs are not those of `train.selfplay`.
            ValueError: an option is invalid.
        """
        options = self_play(args, read_description(args.folder), seed)
        self.reward = options.chosen_reward
        self._games = ManyGames(args.num_envs, options, options.seed)
        self.policy = PolicyAgent(self._games.tables[0], folder=str(args.folder))
        if self.policy.input_spec != self._games.input_spec:
            raise AgentError(
                f"the policy in {str(args.folder)!r} has other inputs than a policy of train.selfplay: its "
                "value cannot be fitted here"
            )
        self._random = np.random.default_rng(seed) if args.mode == "sample" else None
        games = self._games
        self._now = new_rollout(1, games.num_games, games.num_inputs, games.num_actions, games.players)
        shape = (2 * args.num_steps, games.num_games)
        self._units = np.zeros((*shape, self.policy.layers[-1][0].shape[1]), np.float32)
        self._seats = np.zeros(shape, np.int64)
        self._rewards = np.zeros((*shape, games.players), np.float32)
        self._dones = np.zeros(shape, np.bool_)
        self.left_out = 0
        self._play(0, args.num_steps)

    def decisions(self, count: int) -> Iterator[Decisions]:
        """Yield at least `count` decisions.

        Decisions whose episode continues for more than `num_steps` steps may be left out, and those with more
        than twice that are; `left_out` counts them.
        """
        half, result = len(self._dones) // 2, 0
        while result < count:
            self._play(half, 2 * half)
            returns, known = returns_of(self._rewards, self._seats, self._dones)
            kept = known[:half]
            self.left_out += int((~kept).sum())
            games = np.broadcast_to(np.arange(kept.shape[1]), kept.shape)
            yield Decisions(self._units[:half][kept], returns[:half][kept], games[kept])
            if not kept.any():
                raise ValueError(f"no episode ended within --num-steps {half}: give more")
            result += int(kept.sum())
            for kind in (self._units, self._seats, self._rewards, self._dones):
                kind[:half] = kind[half:]

    def _play(self, first: int, stop: int) -> None:
        """Play, and record the steps from `first` to before `stop`."""
        now = self._now
        for step in range(first, stop):
            self._games.write_decisions(now, 0)
            self._units[step] = last_units(self.policy, now.observations[0])
            self._seats[step] = now.seats[0]
            self._games.step(self._chosen(self._units[step], now.masks[0]), now, 0)
            self._rewards[step], self._dones[step] = now.rewards[0], now.dones[0]

    def _chosen(self, units: Float32Array, masks: Int8Array) -> npt.NDArray[np.int64]:
        """Return the policy's actions; 0 where no action is legal."""
        weight, bias = self.policy.layers[-1]
        known = min(masks.shape[1], int(self.policy.description["num_actions"]))
        logits = np.where(masks[:, :known] != 0, units @ weight[:known].T + bias[:known], -np.inf)
        if self._random is not None:
            logits += self._random.gumbel(size=logits.shape)
        actions: npt.NDArray[np.int64] = logits.argmax(axis=1)
        return actions


def last_units(policy: PolicyAgent, rows: Int8Array) -> Float32Array:
    """Return the inputs of the last layer, float32[N, U], for the rows int8[N, D]."""
    activation = ACTIVATIONS[policy.description["activation"]]
    units: Float32Array = rows.astype(np.float32)
    for weight, bias in policy.layers[:-1]:
        units = activation(units @ weight.T + bias)
    return units


def returns_of(
    rewards: Float32Array, seats: npt.NDArray[np.int64], dones: BoolArray
) -> tuple[Float64Array, BoolArray]:
    """Return each seat's undiscounted return from each decision to the end of the episode.

    Args:
        rewards: float32[T, N, S], of the following step, to every seat.
        seats: int64[T, N], the deciding seats.
        dones: bool[T, N], True if the step ended the episode.

    Returns:
        float64[T, N], and bool[T, N], True if the end of the episode is among the steps.
    """
    transitions = transitions_of(seats, rewards.astype(np.float64), dones)
    returns, _ = advantages_of(transitions, np.zeros(seats.shape), gae_lambda=1.0)
    return returns, np.logical_or.accumulate(dones[::-1])[::-1]


# The fit ---------------------------------------------------------------------------------------------------


def fitted(decisions: Iterator[Decisions], ridge: float) -> tuple[Head, int]:
    """Fit a head to returns; return it and the number of decisions."""
    products = np.zeros(())
    for some in decisions:
        for first in range(0, len(some.units), _CHUNK):
            rows = slice(first, first + _CHUNK)
            units = some.units[rows]
            few = np.column_stack([units, np.ones(len(units)), some.returns[rows]])
            products = products + few.T @ few
    count = products[-2, -2]
    means = products[-2] / count
    covariance = products / count - np.outer(means, means)
    deviations = np.sqrt(np.maximum(np.diag(covariance)[:-2], 0.0))
    deviations[deviations < 1e-6] = np.inf  # a unit that is never active has no weight
    scaled = covariance[:-2, :-2] / np.outer(deviations, deviations)
    towards = covariance[:-2, -1] / deviations
    weight = np.linalg.solve(scaled + max(ridge, 1e-9) * np.eye(len(scaled)), towards) / deviations
    bias = means[-1] - weight @ means[:-2]
    return Head(weight.astype(np.float32), np.float32(bias)), int(count)


def with_head(policy: PolicyAgent, folder: Path, head: Head) -> tuple[dict[str, Any], Head]:
    """Replace the value head in the weights of a policy in a folder; all other numbers stay as they are.

    Returns:
        The tensors of the file, and the head as it is played: rounded if the rest of its layer is.
    """
    from safetensors.numpy import load_file  # noqa: PLC0415 - an extra, needed for training only

    tensors: dict[str, Any] = dict(load_file(folder / WEIGHTS_FILE))
    name, actions = f"layers.{len(policy.layers) - 1}", int(policy.description["num_actions"])
    weight, scale, row = tensors[f"{name}.weight"], tensors.get(f"{name}.scale"), head.weight[np.newaxis]
    if scale is not None and scale.shape == (len(weight), 1):
        (own,) = rounded([(row, np.array([head.bias]))], int(policy.description.get("levels", MOST_LEVELS)))
        tensors[f"{name}.scale"] = np.concatenate([scale[:actions], own.scale])
        tensors[f"{name}.weight"] = np.concatenate([weight[:actions], own.numbers])
        head = head._replace(weight=dequantize(own.numbers, own.scale)[0])
    else:  # in float32, as played
        tensors.pop(f"{name}.scale", None)
        tensors[f"{name}.weight"] = np.concatenate([policy.layers[-1][0][:actions], row])
    tensors[f"{name}.bias"] = np.append(policy.layers[-1][1][:actions], head.bias)
    return tensors, head


# Accuracy --------------------------------------------------------------------------------------------------


class Measured(NamedTuple):
    """The accuracy of a value head."""

    squared_error: float  # mean
    explained: float  # explained variance of the returns; below 0 if their mean explains more
    error: float  # standard error of `explained`, over games
    bins: list[tuple[float, float]]  # mean value and return of quantiles of the decisions by value, ascending


def measured(values: Float64Array, returns: Float64Array, games: npt.NDArray[np.int64]) -> Measured:
    """Measure values [M] against returns [M] in games [M]; standard errors by the jackknife over games."""
    parts = [np.ones(len(returns)), returns, returns**2, (returns - values) ** 2]
    sums = np.stack([np.bincount(games, part) for part in parts])
    whole = sums.sum(axis=1)
    without = _explained(whole[:, np.newaxis] - sums)
    spread = (len(without) - 1) * without.var()
    bins = np.array_split(np.argsort(values, kind="stable"), _BINS)
    means = [(float(values[rows].mean()), float(returns[rows].mean())) for rows in bins if len(rows)]
    return Measured(float(whole[3] / whole[0]), float(_explained(whole)), float(np.sqrt(spread)), means)


def _explained(sums: Float64Array) -> Any:
    """Return the explained variance, from the sums of `measured`."""
    count, first, second, errors = sums
    return 1.0 - errors / (second - first**2 / count)


def measure_heads(decisions: Iterator[Decisions], heads: dict[str, Head]) -> dict[str, Measured]:
    """Measure heads on the same decisions."""
    values: dict[str, list[Float64Array]] = {name: [] for name in heads}
    returns, games = [], []
    for some in decisions:
        returns.append(some.returns)
        games.append(some.games)
        for name, head in heads.items():
            values[name].append((some.units @ head.weight + head.bias).astype(np.float64))
    targets = np.concatenate(returns), np.concatenate(games)
    return {name: measured(np.concatenate(parts), *targets) for name, parts in values.items()}


def report(results: dict[str, Measured], rewards: dict[str, str | None]) -> list[str]:
    """Return the printed lines about value heads, with the reward that each predicts."""
    lines = []
    for name, one in results.items():
        lines.append(
            f"{name} ({rewards[name]}): mean squared error {one.squared_error:.4f}, explains "
            f"{100 * one.explained:.2f} % of the variance (standard error {100 * one.error:.2f})"
        )
        pairs = ", ".join(f"{value:+.3f} {outcome:+.3f}" for value, outcome in one.bins)
        lines.append(f"  mean value and mean return of each fifth of the decisions: {pairs}")
    return lines


# The command -----------------------------------------------------------------------------------------------


def refit(args: Args) -> list[str]:
    """Fit the head of a policy, measure it, and write the new policy; return lines about both heads.

    Raises:
        AgentError: there is no policy, or its games cannot be played here.
        ValueError: an option is invalid.
        OSError: a file could not be written.
    """
    play = SelfPlay(args, args.seed)
    head, count = fitted(play.decisions(args.decisions), args.ridge)
    policy = play.policy
    weight, bias = policy.layers[-1]
    tensors, head = with_head(policy, args.folder, head)
    heads = ({} if policy.value is None else {"before": Head(weight[-1], bias[-1])}) | {"after": head}
    test = SelfPlay(args, (args.seed + _SEED_OF_TEST) % 2**64)
    result = measure_heads(test.decisions(args.test_decisions), heads)
    description = policy.description | {"value": play.reward}
    description["value_fitted"] = {
        "by": "train.tools.refit_value",
        "value_before": policy.value,
        "episode": args.episode,
        "mode": args.mode,
        "decisions": count,
        "ridge": args.ridge,
        "seed": args.seed,
        "explained_variance": {name: round(one.explained, 5) for name, one in result.items()},
        "mean_squared_error": {name: round(one.squared_error, 6) for name, one in result.items()},
    }
    rows = np.concatenate([weight[: description["num_actions"]], head.weight[np.newaxis]])
    layers = [*policy.layers[:-1], (rows, np.append(bias[: len(rows) - 1], head.bias))]
    check_layers(layers, description, args.out / WEIGHTS_FILE)
    FILES.save(args.out, tensors, description)
    lines = report(result, {"before": policy.value, "after": play.reward})
    if play.left_out:
        share = play.left_out / (play.left_out + count)
        lines.append(
            f"{100 * share:.2g} % of the decisions were left out: their episodes did not end within "
            f"--num-steps {args.num_steps}"
        )
    return lines


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(_command)


def _command() -> None:
    args = parse_options(Args, __doc__)
    check_counts(args, "decisions", "test_decisions", "num_envs", "num_steps", "threads")
    check_amounts(args, "ridge")
    if (args.out / DESCRIPTION_FILE).exists():
        raise ValueError(f"{str(args.out)!r} already holds a policy: choose another --out")
    check_writable((args.out if args.out.is_dir() else args.out.parent) / WEIGHTS_FILE)
    for line in refit(args):
        print(line)
    print(f"wrote {args.out / WEIGHTS_FILE}")


if __name__ == "__main__":
    sys.exit(main())
