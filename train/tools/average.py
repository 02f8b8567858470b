"""Average the weights of several policies into one, to play or to continue from.

    python -m train.tools.average runs/a runs/b runs/c --out runs/mean
    python -m train.tools.average runs/first --snapshots 7 --out runs/mean
    python -m train.selfplay --start runs/mean --run-dir runs/second

Along one run, or between runs that started from the same weights, the mean often plays better than each of
them (Izmailov et al. 2018); the mean of unrelated runs plays like none of them.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt
import torch
import tyro

from millebornes_env._util.command_line import run_command
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.policy.files import DESCRIPTION_FILE, WEIGHTS_FILE, read_description
from millebornes_env.agents.policy.writing import save_policy_files
from millebornes_env.arena.match import MatchConfig
from train.common.options import check_counts, parse_options
from train.common.run_folder import read_tensors, recorded_config, with_prefix
from train.selfplay import CHECKPOINT_KIND, Trainer
from train.selfplay import Args as TrainingArgs

_SAME: Final = ("players", "teams", "view", "features", "activation", "value", "num_actions")


@dataclass(frozen=True)
class Args:
    """The options of the command line."""

    folders: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(metavar="FOLDER ...")]
    """run folders of the policies to average; with --snapshots one"""
    out: Path
    """folder that the mean is written to; it must not hold a policy yet"""
    snapshots: int = 0
    """if above 0, average this many of the latest earlier selves in the checkpoint of the run instead
    (train.selfplay)"""


def average_policies(folders: Sequence[Path], out: Path) -> None:
    """Write the mean of the policies of two or more run folders.

    Policies that see the rules may have been trained on different editions; the mean lists all of them.

    Raises:
        ValueError: there are too few, or one differs from the first in table, network or inputs.
        AgentError: a folder holds no policy, or a damaged one.
        OSError: a file could not be written.
    """
    if len(folders) < 2:
        raise ValueError("name two or more run folders to average, or one with --snapshots")
    about = read_description(folders[0])
    editions = about.get("editions")
    edition = editions[0] if isinstance(editions, list) and editions else ""
    table = MatchConfig(str(edition), about.get("players", 2), about.get("teams")).table()
    policies = [PolicyAgent(table, folder=str(folder)) for folder in folders]
    first = policies[0]
    for folder, policy in zip(folders, policies, strict=True):
        ours, theirs = _facts(first), _facts(policy)
        for name in ours:
            if ours[name] != theirs[name]:
                raise ValueError(
                    f"the policies in {str(folders[0])!r} and {str(folder)!r} cannot be averaged: their "
                    f"{name} are {ours[name]} and {theirs[name]}"
                )
    pairs = zip(*(policy.layers for policy in policies), strict=True)
    save_policy_files(
        out,
        [(_mean([weight for weight, _ in same]), _mean([bias for _, bias in same])) for same in pairs],
        table,
        editions=list(dict.fromkeys(label for one in policies for label in one.description["editions"])),
        input_spec=first.input_spec,
        activation=first.description["activation"],
        value=first.value,
        more={"trained_by": "train.tools.average", "policies": len(policies)},
    )


def _mean(arrays: Sequence[npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
    mean: npt.NDArray[np.float32] = np.stack(arrays).mean(axis=0, dtype=np.float64).astype(np.float32)
    return mean


def _facts(policy: PolicyAgent) -> dict[str, Any]:
    """Return the properties that averaged policies must share."""
    shapes = [weight.shape for weight, _ in policy.layers]
    return {**{name: policy.description[name] for name in _SAME}, "layers (outputs, inputs)": shapes}


def average_snapshots(folder: Path, count: int, out: Path) -> None:
    """Write the mean of the latest earlier selves in the checkpoint of a run of `train.selfplay`.

    Raises:
        RunError: there is no checkpoint, or a damaged one.
        ValueError: the checkpoint holds fewer earlier selves.
        OSError: a file could not be written.
    """
    progress, tensors = read_tensors(folder, CHECKPOINT_KIND)
    kept = int(progress["pool"])
    if count > kept:
        raise ValueError(
            f"--snapshots is {count}, but the run in {str(folder)!r} keeps {kept} earlier selves: it keeps "
            "--pool-size, one every --pool-updates"
        )
    fields = {field.name for field in dataclasses.fields(TrainingArgs)}
    config = {name: value for name, value in recorded_config(folder, progress).items() if name in fields}
    lists = ("hidden", "edition", "pool_agent")
    config |= {name: tuple(config[name]) for name in lists if name in config}
    unused: dict[str, Any] = {"opponent": "", "pool_agent": (), "start": "", "magnet": 0.0}
    unused |= {"oracle": False, "q_boosting": False}
    args = replace(TrainingArgs(**config), **unused)
    trainer = Trainer(replace(args, num_envs=len(args.sheets), num_steps=1, threads=1))
    snapshots = [with_prefix(tensors, f"pool.{number}.") for number in range(kept - count, kept)]
    means = {
        name: torch.stack([one[name].double() for one in snapshots]).mean(dim=0).to(value.dtype)
        for name, value in snapshots[0].items()
    }
    trainer.ema_network.load_state_dict(means)
    trainer.decisions = int(progress["decisions"])
    trainer.save_policy(out)


def main() -> int:
    """Run the command line; return the exit status."""
    return run_command(_command)


def _command() -> None:
    args = parse_options(Args, __doc__)
    if (args.out / DESCRIPTION_FILE).exists():
        raise ValueError(f"{str(args.out)!r} already holds a policy: choose another --out")
    if args.snapshots == 0:
        average_policies(args.folders, args.out)
    else:
        check_counts(args, "snapshots")
        if len(args.folders) != 1:
            raise ValueError("--snapshots averages those of one run: name one run folder")
        average_snapshots(args.folders[0], args.snapshots, args.out)
    print(f"wrote {args.out / WEIGHTS_FILE}")


if __name__ == "__main__":
    sys.exit(main())
