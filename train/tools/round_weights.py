"""Round the weights of a policy to 8-bit integers: a quarter of the bytes, nearly the same play.

    python -m train.tools.round_weights runs/first --out runs/small
    python -m train.tools.round_weights runs/first --out runs/smaller --levels 31 --deals 2000

The command counts the decisions that change in rounds of the policy, and plays both policies against each
other. `agents.policy.rounding` documents the rounding. A rounded policy can be played and be the `--start` of
training.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro

from millebornes_env import vector_env
from millebornes_env._util.command_line import run_command
from millebornes_env._util.network_files import dequantize
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.policy.files import (
    DESCRIPTION_FILE,
    FILES,
    ROUNDED_FORMAT,
    WEIGHTS_FILE,
    check_layers,
    read_description,
)
from millebornes_env.agents.policy.rounding import MOST_LEVELS, rounded
from millebornes_env.agents.protocol import Table
from millebornes_env.arena.learning_curve import Score
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.errors import AgentError
from train.common.options import check_counts, parse_options

_GAMES = 256
"""Number of parallel games in which decisions are compared."""


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    folder: Annotated[Path, tyro.conf.Positional]
    """run folder of the policy"""
    out: Path
    """folder that the rounded policy is written to; it must not hold a policy yet"""
    levels: int = MOST_LEVELS
    """largest integer, 1 to 127; a smaller one compresses better and changes more decisions"""
    decisions: int = 50_000
    """number of decisions to compare in each edition of the policy"""
    deals: int = 500
    """deals between both policies in each edition; 0: none"""
    seed: int = 1
    """seed of the games"""


def round_policy(folder: Path, out: Path, levels: int = MOST_LEVELS) -> None:
    """Round the weights of a policy to integers up to `levels`, and write it to another folder.

    Raises:
        AgentError: there is no policy, or a damaged one.
        ValueError: `levels` is out of range, or there is no such table.
        OSError: a file could not be written.
    """
    description = read_description(folder)
    policy = PolicyAgent(_config(description, folder, 0).table(), folder=str(folder))
    tensors: dict[str, Any] = {}
    layers = rounded(policy.layers, levels)
    for number, layer in enumerate(layers):
        name = f"layers.{number}"
        tensors |= {f"{name}.weight": layer.numbers, f"{name}.scale": layer.scale, f"{name}.bias": layer.bias}
    played = [(dequantize(layer.numbers, layer.scale), layer.bias) for layer in layers]
    check_layers(played, description, out / WEIGHTS_FILE)
    description |= {"format": ROUNDED_FORMAT, "levels": levels}
    FILES.save(out, tensors, description)


def _config(description: dict[str, Any], folder: Path, edition: int, seed: int = 1) -> MatchConfig:
    """Return a table of the policy, given the index of one of its editions; `AgentError` if it has none."""
    editions = description.get("editions")
    if not (isinstance(editions, list) and editions):
        raise AgentError(f"{str(folder / DESCRIPTION_FILE)!r} names no edition: restore it, or train again")
    return MatchConfig(
        str(editions[edition]), description.get("players", 2), description.get("teams"), seed=seed
    )


def changed_decisions(first: Path, second: Path, config: MatchConfig, decisions: int) -> float:
    """Return the share of decisions in which a second policy differs, in games that the first plays.

    At least so many decisions with two or more legal actions are compared.

    Raises:
        AgentError: a folder holds no policy for the table.
    """
    env = vector_env(_GAMES, config.edition, players=config.players, teams=config.teams, seed=config.seed)
    policies = [PolicyAgent(Table.of(env), folder=str(folder)) for folder in (first, second)]
    observations, _ = env.reset()
    compared = changed = 0
    while compared < decisions:
        rows, masks = observations["observation"], observations["action_mask"]
        actions, others = (policy.act(rows, masks) for policy in policies)
        has_choice = (masks != 0).sum(axis=1) > 1
        compared += int(has_choice.sum())
        changed += int((has_choice & (actions != others)).sum())
        observations = env.step(np.maximum(actions, 0)).observations
    return changed / compared


def report(args: Args) -> list[str]:
    """Return a line for each edition: the share of changed decisions, and the result between both."""
    description = read_description(args.out)
    lines = []
    for number, edition in enumerate(description["editions"]):
        config = _config(description, args.out, number, args.seed)
        share = changed_decisions(args.folder, args.out, config, args.decisions)
        line = f"{edition}: {100 * share:.2f} % of the decisions change"
        if args.deals:
            score = Score.of([play([args.out, args.folder], config, args.deals)])
            even = 100.0 / config.rules.teams
            line += (
                f", the rounded one wins {100 * score.win_rate:.1f} % against the other "
                f"(standard error {100 * score.win_error:.1f}, even {even:.1f})"
            )
        lines.append(line)
    return lines


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(_command)


def _command() -> None:
    args = parse_options(Args, __doc__)
    check_counts(args, "decisions")
    if args.deals < 0 or args.deals == 1:
        raise ValueError(f"--deals is {args.deals}; it must be 2 or more, or 0 for none")
    if (args.out / DESCRIPTION_FILE).exists():
        raise ValueError(f"{str(args.out)!r} already holds a policy: choose another --out")
    round_policy(args.folder, args.out, args.levels)
    sizes = [(folder / WEIGHTS_FILE).stat().st_size for folder in (args.out, args.folder)]
    print(f"wrote {args.out / WEIGHTS_FILE}, {sizes[0]:,} bytes instead of {sizes[1]:,}")
    for line in report(args):
        print(line)


if __name__ == "__main__":
    sys.exit(main())
