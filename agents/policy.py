"""`policy:<run folder>`: a trained network, read from data files only (safetensors and JSON).

A run folder holds `policy.safetensors`, the weights of a perceptron (`layers.0.weight`, `layers.0.bias`,
...), and `policy.json`, which says for which table and which layout of observations they were learned.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.protocol import Actions, Masks, Observations, Table

POLICY_FORMAT: Final = 1
WEIGHTS_FILE: Final = "policy.safetensors"
DESCRIPTION_FILE: Final = "policy.json"
HOW_TO_TRAIN: Final = "train one with `python -m train.maskable_ppo`"

ACTIVATIONS: Final[dict[str, Callable[[npt.NDArray[np.float32]], npt.NDArray[np.float32]]]] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0.0),
}


class RunFolderError(ValueError):
    """A run folder that is missing, damaged, or of another table or version; the message says which."""


def read_description(folder: Path) -> dict[str, Any]:
    """The contents of a run folder's `policy.json`.

    Raises:
        RunFolderError: there is no such folder or file, or it is not what it should be.
    """
    if not folder.is_dir():
        raise RunFolderError(f"there is no run folder {str(folder)!r}; {HOW_TO_TRAIN}")
    path = folder / DESCRIPTION_FILE
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(description, dict):
            raise TypeError("not a JSON object")
    except FileNotFoundError:
        raise RunFolderError(
            f"{str(folder)!r} has no {DESCRIPTION_FILE}: it is not a run folder, or its training was stopped "
            f"before the first checkpoint; {HOW_TO_TRAIN}"
        ) from None
    except (ValueError, TypeError) as error:
        raise RunFolderError(f"{str(path)!r} is damaged ({error}); {HOW_TO_TRAIN}") from None
    return description


def check_description(description: dict[str, Any], table: Table, folder: Path) -> None:
    """Refuse a policy that was trained for something else.

    Raises:
        RunFolderError: its format, edition, table, rules or observations are not those of the table.
    """
    wanted = describe_table(table)
    for key, ours in {"format": POLICY_FORMAT, **wanted}.items():
        theirs = description.get(key)
        if theirs != ours:
            raise RunFolderError(
                f"the policy in {str(folder)!r} has {key} {theirs!r}, but {ours!r} is needed here: "
                "play it at the table that it was trained for, or train another"
            )


def describe_table(table: Table) -> dict[str, Any]:
    """What a policy must agree with its table about, as JSON values."""
    return {
        "edition": table.edition,
        "players": table.rules.players,
        "teams": table.rules.teams,
        "observation_version": table.observation_version,
        "observation_size": table.sections[-1].stop,
        "num_actions": table.num_actions,
    }


def observation_scale(table: Table) -> npt.NDArray[np.float32]:
    """One over the largest value of each number of an observation, float32[D]: scaled values lie in 0..1."""
    highs = np.concatenate([np.full(section.size, max(section.high, 1)) for section in table.sections])
    return (1.0 / highs).astype(np.float32)


class PolicyAgent:
    """A trained perceptron; plays its most probable action, or draws one (`mode="sample"`)."""

    def __init__(self, table: Table, seed: int = 0, folder: str = "", mode: str = "best") -> None:
        """Read a run folder.

        Args:
            table: the table to play at.
            seed: of the draws.
            folder: the run folder.
            mode: "best" or "sample".

        Raises:
            RunFolderError: the folder is missing or damaged, or its policy is not for this table.
            ValueError: an unknown mode.
        """
        if mode not in ("best", "sample"):
            raise ValueError(f"mode is {mode!r}; it may be 'best' or 'sample'")
        path = Path(folder)
        description = read_description(path)
        check_description(description, table, path)
        self.name = path.name or str(path)
        self._mode = mode
        self._random = np.random.default_rng(seed)
        self._scale = observation_scale(table)
        try:
            self._activation = ACTIVATIONS[description["activation"]]
            num_layers = int(description["num_layers"])
        except (KeyError, TypeError, ValueError):
            raise RunFolderError(
                f"{str(path / DESCRIPTION_FILE)!r} is damaged: its 'activation' or 'num_layers' is missing "
                f"or unknown; {HOW_TO_TRAIN}"
            ) from None
        self.layers = _read_layers(path, num_layers)
        _check_layers(self.layers, description, path)

    def act(self, observations: Observations, action_masks: Masks) -> Actions:
        """Choose; see `Agent.act`."""
        scores = self.logits(observations)
        if self._mode == "sample":  # the Gumbel trick: the argmax of noisy logits is a draw from the softmax
            scores = scores + self._random.gumbel(size=scores.shape).astype(np.float32)
        chosen: Actions = np.where(action_masks != 0, scores, -np.inf).argmax(axis=1)
        return chosen

    def logits(self, observations: Observations) -> npt.NDArray[np.float32]:
        """The network's output before masking, float32[N, A]."""
        values = observations.astype(np.float32) * self._scale
        for weight, bias in self.layers[:-1]:
            values = self._activation(values @ weight.T + bias)
        weight, bias = self.layers[-1]
        result: npt.NDArray[np.float32] = values @ weight.T + bias
        return result


def _check_layers(
    layers: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]], description: dict[str, Any], folder: Path
) -> None:
    """Refuse weights that do not fit together or are not finite: they would play, but not as learned."""
    width = description["observation_size"]
    for weight, bias in layers:
        if weight.ndim != 2 or weight.shape[1] != width or bias.shape != weight.shape[:1]:
            raise RunFolderError(
                f"{str(folder / WEIGHTS_FILE)!r} is damaged: a layer of shape {weight.shape} follows one of "
                f"width {width}; restore it, or {HOW_TO_TRAIN}"
            )
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise RunFolderError(
                f"{str(folder / WEIGHTS_FILE)!r} holds weights that are not finite: its training went wrong; "
                f"{HOW_TO_TRAIN}"
            )
        width = weight.shape[0]
    if width != description["num_actions"]:
        raise RunFolderError(
            f"{str(folder / WEIGHTS_FILE)!r} is damaged: the last layer has {width} outputs for "
            f"{description['num_actions']} actions; restore it, or {HOW_TO_TRAIN}"
        )


def _read_layers(folder: Path, num_layers: int) -> list[tuple[npt.NDArray[Any], npt.NDArray[Any]]]:
    from safetensors import SafetensorError  # noqa: PLC0415 - an extra: only who plays a policy needs it
    from safetensors.numpy import load_file  # noqa: PLC0415

    path = folder / WEIGHTS_FILE
    try:
        tensors = load_file(path)
        return [
            (tensors[f"layers.{layer}.weight"], tensors[f"layers.{layer}.bias"])
            for layer in range(num_layers)
        ]
    except (OSError, SafetensorError, KeyError) as error:
        raise RunFolderError(
            f"{str(path)!r} is missing or damaged ({error}): restore it, or {HOW_TO_TRAIN}"
        ) from None
