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
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from agents.policy import DESCRIPTION_FILE, POLICY_FORMAT, WEIGHTS_FILE, describe_table
from agents.protocol import Table
from train.files import write_bytes_atomically, write_text_atomically

if TYPE_CHECKING:
    from sb3_contrib import MaskablePPO

CONFIG_FILE: Final = "config.json"
CHECKPOINT_FILE: Final = "checkpoint.safetensors"
CHECKPOINT_FORMAT: Final = 1


class RunError(ValueError):
    """A run folder cannot be used as asked; the message says why and what to do."""


def save_policy(model: MaskablePPO, table: Table, activation: str, folder: Path) -> None:
    """Write the acting half of the network as `agents.PolicyAgent` reads it."""
    layers = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    linear = [layer for layer in layers if isinstance(layer, torch.nn.Linear)]
    tensors = {}
    for number, layer in enumerate(linear):
        tensors[f"layers.{number}.weight"] = layer.weight.detach().contiguous()
        tensors[f"layers.{number}.bias"] = layer.bias.detach().contiguous()
    description = {
        "format": POLICY_FORMAT,
        **describe_table(table),
        "activation": activation,
        "num_layers": len(linear),
        "decisions_trained": int(model.num_timesteps),
    }
    write_bytes_atomically(folder / WEIGHTS_FILE, save(tensors))
    write_text_atomically(folder / DESCRIPTION_FILE, json.dumps(description, indent=2) + "\n")


def save_checkpoint(model: MaskablePPO, progress: dict[str, Any], folder: Path) -> None:
    """Write all that `load_checkpoint` needs, in one file.

    Args:
        model: the learner.
        progress: JSON values to be given back: seconds trained, the learning curve, the configuration.
        folder: the run folder.
    """
    tensors = {f"policy.{name}": value for name, value in model.policy.state_dict().items()}
    optimizer = model.policy.optimizer.state_dict()
    for parameter, values in optimizer["state"].items():
        for name, value in values.items():
            tensors[f"optimizer.{parameter}.{name}"] = torch.as_tensor(value)
    tensors["random.torch"] = torch.get_rng_state()
    described = {
        "format": CHECKPOINT_FORMAT,
        "num_timesteps": int(model.num_timesteps),
        "num_updates": int(model._n_updates),
        **progress,
    }
    contiguous = {name: value.detach().contiguous() for name, value in tensors.items()}
    write_bytes_atomically(folder / CHECKPOINT_FILE, save(contiguous, {"progress": json.dumps(described)}))


def read_progress(folder: Path) -> dict[str, Any]:
    """What `save_checkpoint` was given, with `num_timesteps` and `num_updates`.

    Raises:
        RunError: the checkpoint is missing, damaged or of another format.
    """
    path = folder / CHECKPOINT_FILE
    if not path.exists():
        raise RunError(f"there is no checkpoint in {str(folder)!r} to go on from; choose another --run-dir")
    try:
        with safe_open(path, "pt") as file:
            progress = json.loads(file.metadata()["progress"])
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise RunError(
            f"the checkpoint {str(path)!r} is damaged ({error}): restore it or choose another --run-dir"
        ) from None
    if progress.get("format") != CHECKPOINT_FORMAT:
        raise RunError(
            f"the checkpoint {str(path)!r} has format {progress.get('format')}, this version of the script "
            f"writes {CHECKPOINT_FORMAT}: choose another --run-dir"
        )
    result: dict[str, Any] = progress
    return result


def load_checkpoint(model: MaskablePPO, folder: Path) -> dict[str, Any]:
    """Put the learner where `save_checkpoint` left it.

    Returns:
        What `read_progress` returns.

    Raises:
        RunError: as `read_progress`, or the network has another shape.
    """
    progress = read_progress(folder)
    path = folder / CHECKPOINT_FILE
    try:
        with safe_open(path, "pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dictionary
        weights = {
            name.removeprefix("policy."): tensor
            for name, tensor in tensors.items()
            if name.startswith("policy.")
        }
        model.policy.load_state_dict(weights)
        _load_optimizer(model, tensors)
        torch.set_rng_state(tensors["random.torch"])
    except (OSError, SafetensorError, KeyError, RuntimeError) as error:
        raise RunError(
            f"the checkpoint {str(path)!r} is damaged or of another network ({error}): restore it or choose "
            "another --run-dir"
        ) from None
    model.num_timesteps = progress["num_timesteps"]
    model._n_updates = progress["num_updates"]
    return progress


def _load_optimizer(model: MaskablePPO, tensors: dict[str, torch.Tensor]) -> None:
    state = model.policy.optimizer.state_dict()
    values: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in tensors.items():
        if name.startswith("optimizer."):
            _, parameter, field = name.split(".")
            values.setdefault(int(parameter), {})[field] = tensor
    state["state"] = values
    model.policy.optimizer.load_state_dict(state)
