"""A run folder on disk: what is saved, how, and how a killed run goes on.

    config.json             the resolved configuration, versions and seed
    policy.safetensors      the policy's weights, and
    policy.json             which table and observations they are for: what `agents` plays
    checkpoint.safetensors  everything that training needs to go on: weights, optimizer, counters, curve
    learning_curve.png      win rates during training (and .json)
    tensorboard/            event files

Every file is written beside its place and renamed, so that a killed run or a full disk leaves the last
complete one. Nothing is pickled.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from millebornes_env.agents.policy.agent import observation_scale
from millebornes_env.agents.protocol import Table
from millebornes_env.files import write_bytes_atomically
from train.common.options import renamed_options
from train.common.policy_files import fold_in_scale, save_policy_files

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO

CONFIG_FILE: Final = "config.json"
CHECKPOINT_FILE: Final = "checkpoint.safetensors"
CHECKPOINT_KIND: Final = "train.maskable_ppo 3"


_DAMAGES: Final = (
    *(OSError, SafetensorError, KeyError, TypeError, ValueError, AttributeError, RecursionError),
)


class RunError(ValueError):
    """A run folder cannot be used as asked; the message says why and what to do."""


def save_policy(model: MaskablePPO, table: Table, activation: str, folder: Path) -> None:
    """Write the acting half of the network as `agents.PolicyAgent` reads it."""
    modules = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    layers = [
        (module.weight.detach().numpy(), module.bias.detach().numpy())
        for module in modules
        if isinstance(module, torch.nn.Linear)
    ]
    save_policy_files(
        folder,
        fold_in_scale(layers, observation_scale(table)),
        table,
        activation=activation,
        more={"decisions_trained": int(model.num_timesteps)},
    )


def save_checkpoint(model: MaskablePPO, progress: dict[str, Any], folder: Path) -> None:
    """Write all that `load_checkpoint` needs, in one file.

    Args:
        model: the learner.
        progress: JSON values to be given back: seconds trained, the learning curve, the configuration.
        folder: the run folder.
    """
    tensors = {f"policy.{name}": value for name, value in model.policy.state_dict().items()}
    tensors |= tensors_of_optimizer(model.policy.optimizer)
    tensors["random.torch"] = torch.get_rng_state()
    described = {
        "num_timesteps": int(model.num_timesteps),
        "num_updates": int(model._n_updates),
        **progress,
    }
    write_tensors(folder / CHECKPOINT_FILE, CHECKPOINT_KIND, tensors, described)


def read_progress(folder: Path, kind: str) -> dict[str, Any]:
    """What was given to `write_tensors` for the checkpoint of a run folder, the tensors not read.

    Raises:
        RunError: the checkpoint is missing, damaged or of another kind.
    """
    path = folder / CHECKPOINT_FILE
    if not path.exists():
        raise RunError(f"there is no checkpoint in {str(folder)!r} to go on from; choose another --run-dir")
    try:
        if not path.is_file():
            raise OSError("not a file")
        with safe_open(path, "pt") as file:
            progress = json.loads(file.metadata()["progress"])
            found = progress.pop("kind", f"an old format, {progress.get('format')}")
    except _DAMAGES as error:
        reason = "nested too deep" if isinstance(error, RecursionError) else str(error)
        raise RunError(
            f"the checkpoint {str(path)!r} is damaged ({reason}): restore it or choose another --run-dir"
        ) from None
    if found != kind:
        raise RunError(
            f"the checkpoint {str(path)!r} is of {found!r}, this script goes on with {kind!r} only: "
            "choose another --run-dir"
        )
    result: dict[str, Any] = progress
    return result


def load_checkpoint(model: MaskablePPO, folder: Path) -> dict[str, Any]:
    """Put the learner where `save_checkpoint` left it.

    Returns:
        What `save_checkpoint` was given, with `num_timesteps` and `num_updates`.

    Raises:
        RunError: as `read_progress`, or the network has another shape.
    """
    progress, tensors = read_tensors(folder, CHECKPOINT_KIND)
    try:
        model.policy.load_state_dict(with_prefix(tensors, "policy."))
        tensors_to_optimizer(model.policy.optimizer, tensors)
        torch.set_rng_state(tensors["random.torch"])
        model.num_timesteps = int(progress["num_timesteps"])
        model._n_updates = int(progress["num_updates"])
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise does_not_fit(folder, error) from None
    return progress


# For any trainer --------------------------------------------------------------------------------------------


def refuse_second_run(folder: Path, resume: bool) -> None:
    """Refuse to begin a run where there is one already.

    Raises:
        RunError: the folder holds a run and `resume` was not asked for.
    """
    has_run = (folder / CONFIG_FILE).exists() or (folder / CHECKPOINT_FILE).exists()
    if has_run and not resume:
        raise RunError(
            f"{str(folder)!r} already holds a run: go on with it by --resume, or choose another --run-dir"
        )


def recorded_config(folder: Path, progress: Mapping[str, Any]) -> dict[str, Any]:
    """The options that a run was begun with, from the progress of its checkpoint, by today's names.

    Raises:
        RunError: there are none.
    """
    config = progress.get("config")
    if not isinstance(config, dict):
        raise does_not_fit(folder, ValueError("its options are missing"))
    return renamed_options(config)


def refuse_other_options(
    folder: Path, ours: Mapping[str, Any], theirs: Mapping[str, Any], free: Collection[str]
) -> None:
    """Refuse to go on with a run under other options than it was begun with.

    Args:
        folder: the run folder.
        ours: the options now, JSON values by name.
        theirs: those that the run was begun with.
        free: names of those that may differ.

    Raises:
        RunError: an option differs; the message names it and both values.
    """
    for name, value in ours.items():
        begun = theirs.get(name)
        if name not in free and value != begun:
            raise RunError(
                f"the run in {str(folder)!r} was begun with {name} {begun!r}, now it is {value!r}: "
                "leave the option as it was, or choose another --run-dir"
            )


def does_not_fit(folder: Path, error: Exception) -> RunError:
    """A checkpoint can be read, but its contents are those of another network or of other games."""
    return RunError(
        f"the checkpoint {str(folder / CHECKPOINT_FILE)!r} is damaged or of another network ({error}): "
        "restore it or choose another --run-dir"
    )


def write_tensors(path: Path, kind: str, tensors: Mapping[str, Tensor], progress: dict[str, Any]) -> None:
    """Write a checkpoint: one safetensors file with JSON in its head, whole or not at all.

    Args:
        path: the file.
        kind: who can read it, a name with a version.
        tensors: by name.
        progress: JSON values.

    Raises:
        OSError: it could not be written.
    """
    contiguous = {name: value.detach().contiguous() for name, value in tensors.items()}
    head = {"progress": json.dumps({"kind": kind, **progress})}
    write_bytes_atomically(path, save(contiguous, head))


def read_tensors(folder: Path, kind: str) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """What was given to `write_tensors` for the checkpoint of a run folder: progress and tensors.

    Raises:
        RunError: as `read_progress`.
    """
    progress = read_progress(folder, kind)
    path = folder / CHECKPOINT_FILE
    try:
        with safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dictionary
    except (OSError, SafetensorError) as error:
        raise RunError(
            f"the checkpoint {str(path)!r} is damaged ({error}): restore it or choose another --run-dir"
        ) from None
    return progress, tensors


def with_prefix(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin so, under what is left of their names."""
    return {name.removeprefix(prefix): value for name, value in tensors.items() if name.startswith(prefix)}


def tensors_of_optimizer(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """Its state by parameter and field."""
    return {
        f"optimizer.{parameter}.{name}": torch.as_tensor(value)
        for parameter, values in optimizer.state_dict()["state"].items()
        for name, value in values.items()
    }


def tensors_to_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put the state back that `tensors_of_optimizer` returned among others."""
    state = optimizer.state_dict()
    values: dict[int, dict[str, Tensor]] = {}
    for name, tensor in with_prefix(tensors, "optimizer.").items():
        parameter, field = name.split(".")
        values.setdefault(int(parameter), {})[field] = tensor
    state["state"] = values
    optimizer.load_state_dict(state)
