"""`policy:<run folder>`: a trained network, read from data files only (safetensors and JSON).

A run folder holds `policy.safetensors`, the weights of a perceptron (`layers.0.weight` [outputs, inputs],
`layers.0.bias` [outputs], ...) over the whole numbers of an observation as they are, and `policy.json`:

    format              2
    editions            labels of the rule sheets it was trained on, overrides included
    players, teams      of its tables
    view                {"unseen": ..., "rules": ..., "padded": ...}: what of an observation it sees
    features            whether those of `agents.features` stand behind the observation
    observation_version, num_inputs, num_actions
    activation          "relu" or "tanh", after every layer but the last
    num_layers          how many layers there are
    value               null, or what the last layer's last row says, behind those of the actions: "points"
                        (the seat's lead in thousands of points from here on), "win", "equity" ...

A policy plays the editions that it was trained on; one that sees the rules plays all others too. What the
environment shows does not matter, it looks at the game with its own view. `agents.network` is the network.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from agents.checks import check_ranges, checked_rows
from agents.compiled import Choose, CompiledAgent
from agents.errors import AgentArgumentError, AgentOptionError
from agents.features import num_features
from agents.network import (
    ADDRESS,
    MODES,
    MOST_LAYERS,
    MOST_UNITS,
    Eyes,
    Float32Array,
    Layers,
    choose_by_network,
    look_at_rows,
    network_options,
    weights_block,
)
from agents.protocol import Masks, Observations, Table
from millebornes_env.millebornes.actions import num_actions
from millebornes_env.millebornes.observation import View, sections
from millebornes_env.millebornes.rules import rules_record
from millebornes_env.millebornes.state import MAX_TEAMS

POLICY_FORMAT: Final = 2
WEIGHTS_FILE: Final = "policy.safetensors"
DESCRIPTION_FILE: Final = "policy.json"
HOW_TO_TRAIN: Final = "train one with `python -m train.selfplay`"

ACTIVATIONS: Final[dict[str, Callable[[Float32Array], Float32Array]]] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0.0),
}


class RunFolderError(ValueError):
    """A run folder that is missing, damaged, or of another table or version; the message says which."""


# The description -------------------------------------------------------------------------------------------


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


def check_description(
    description: dict[str, Any], table: Table, folder: Path, *, any_edition: bool = False
) -> None:
    """Refuse a policy that is damaged or was trained for something else.

    Args:
        description: the contents of its `policy.json`.
        table: where it is to play.
        folder: where it was read, for messages.
        any_edition: whether it may play by rules that it was not trained on and does not see.

    Raises:
        RunFolderError: its format, edition, table or observations are not those of the table.
    """
    found = description.get("format")
    if found != POLICY_FORMAT:
        raise RunFolderError(
            f"the policy in {str(folder)!r} has format {found!r}, this version plays {POLICY_FORMAT}: "
            "train it again"
        )
    eyes = eyes_of(description, folder)
    needed: dict[str, tuple[Any, ...]] = {key: (value,) for key, value in describe_table(table, eyes).items()}
    needed["num_actions"] = action_counts(table)
    for key, ours in needed.items():
        theirs = description.get(key)
        if theirs not in ours:
            raise RunFolderError(
                f"the policy in {str(folder)!r} has {key} {theirs!r}, but {' or '.join(map(repr, ours))} is "
                "needed here: play it at the table that it was trained for, or train another"
            )
    editions = description.get("editions")
    if not (isinstance(editions, list) and all(isinstance(label, str) for label in editions)):
        raise _damaged(folder, "editions")
    if not (any_edition or eyes.view.rules or table.edition in editions):
        raise RunFolderError(
            f"the policy in {str(folder)!r} was trained on {', '.join(editions) or 'no edition'}, and does "
            f"not see the rules: it cannot play {table.edition!r}; play it where it was trained, or train "
            "another"
        )


def eyes_of(description: dict[str, Any], folder: Path) -> Eyes:
    """What a policy sees.

    Raises:
        RunFolderError: its description does not say.
    """
    shown = description.get("view")
    if not (isinstance(shown, dict) and set(shown) == set(View._fields)):
        raise _damaged(folder, "view")
    if not all(isinstance(value, bool) for value in shown.values()):
        raise _damaged(folder, "view")
    features = description.get("features")
    if not isinstance(features, bool):
        raise _damaged(folder, "features")
    return Eyes(View(**{name: int(value) for name, value in shown.items()}), features)


def describe_table(table: Table, eyes: Eyes) -> dict[str, Any]:
    """What a policy with such eyes must agree with its table about, as JSON values."""
    size = sections(table.rules, eyes.view)[-1].stop
    more = num_features(rules_record(table.rules)[0], eyes.view) if eyes.features else 0
    return {
        "players": table.rules.players,
        "teams": table.rules.teams,
        "observation_version": table.observation_version,
        "num_inputs": size + more,
    }


def action_counts(table: Table) -> tuple[int, ...]:
    """How many actions a policy may know: those of the table, or those of all tables (padded environments).

    An action has the same id at all tables; what is not legal at one is not asked about there.
    """
    return tuple({num_actions(table.rules.teams): None, num_actions(MAX_TEAMS): None})


def observation_scale(table: Table) -> Float32Array:
    """One over the largest value of each number of an observation, float32[D]: scaled values lie in 0..1."""
    highs = np.concatenate([np.full(section.size, max(section.high, 1)) for section in table.sections])
    return (1.0 / highs).astype(np.float32)


def _damaged(folder: Path, key: str) -> RunFolderError:
    return RunFolderError(
        f"{str(folder / DESCRIPTION_FILE)!r} is damaged: its {key!r} is missing or unknown; {HOW_TO_TRAIN}"
    )


# The agent -------------------------------------------------------------------------------------------------


class PolicyAgent(CompiledAgent):
    """A trained perceptron; plays its most probable action, or draws one (`mode="sample"`).

    Attributes:
        description: the contents of its `policy.json`.
        layers: weight and bias of each layer, float32.
        eyes: what it sees.
        value: what the network says of a position besides: "points", "win" ...; None: nothing.
    """

    name = "policy"
    rule: ClassVar[Choose] = staticmethod(choose_by_network)
    any_edition: ClassVar[bool] = False
    """Whether it plays wherever its network fits: by rules too that it neither sees nor was trained on."""

    def __init__(self, table: Table, seed: int = 0, folder: str = "", mode: str = "best") -> None:
        """Read a run folder.

        Args:
            table: the table to play at.
            seed: of the draws.
            folder: the run folder.
            mode: "best", or "sample": an action with the network's probability, its logits of the legal
                actions put through a softmax.

        Raises:
            RunFolderError: the folder is missing or damaged, or its policy is not for this table.
            AgentOptionError: an unknown mode.
            AgentArgumentError: the observations do not show what the policy sees.
        """
        if mode not in MODES:
            raise AgentOptionError(f"mode is {mode!r}; it may be " + " or ".join(map(repr, MODES)))
        path = Path(folder)
        self.description = read_description(path)
        check_description(self.description, table, path, any_edition=self.any_edition)
        self.eyes = eyes_of(self.description, path)
        activation, num_layers, self.value = _network_of(self.description, path)
        self.layers = _read_layers(path, num_layers)
        check_layers(self.layers, self.description, path / WEIGHTS_FILE)
        self._block = weights_block(self.layers)
        options = network_options(
            self._block, self.layers, activation, mode, self.eyes, self.value is not None
        )
        super().__init__(table, seed, options, counts_unseen=self.eyes.view.unseen == 1)
        self.name = path.name or str(path)

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """Make a copy that has a block of weights of its own, as its options name one by its address."""
        vars(self).update(attributes)
        self._block = weights_block(self.layers)
        self.options = self.options.copy()
        self.options[ADDRESS] = self._block.ctypes.data

    def inputs(self, observations: Observations) -> Float32Array:
        """What the network sees of games that the environment shows: its own view, and features behind it.

        Args:
            observations: int8[N, D], of the environment that the agent was made for.

        Returns:
            float32[N, num_inputs], for `logits` and `values`.

        Raises:
            AgentArgumentError: they have another shape, or numbers that the table cannot show.
        """
        rows = checked_rows(self.name, observations, self._bounds.shape[1])
        check_ranges(self.name, self.table, rows)
        inputs = np.zeros((len(rows), self.description["num_inputs"]), np.float32)
        look_at_rows(self._layout, self._rules_in_array[0], rows, self._scratch, self.options, inputs)
        return inputs

    def probabilities(self, observations: Observations, action_masks: Masks) -> Float32Array:
        """How probable each action is to the network: its logits of the legal actions put through a softmax.

        Args:
            observations: int8[N, D], of the environment that the agent was made for.
            action_masks: int8[N, A] or int8[N, A of all tables], each row with a legal action or more.

        Returns:
            float32[N, A], 0 where an action is illegal.
        """
        known = min(action_masks.shape[1], self.description["num_actions"])  # what lies behind is never legal
        logits = self.logits(self.inputs(observations))[:, :known]
        logits = np.where(action_masks[:, :known] != 0, logits, -np.inf)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        chances: Float32Array = np.zeros(action_masks.shape, np.float32)
        chances[:, :known] = weights / weights.sum(axis=1, keepdims=True)
        return chances

    def logits(self, inputs: npt.NDArray[Any]) -> Float32Array:
        """The network's output for each action before masking, by NumPy.

        Args:
            inputs: [N, num_inputs], as the policy sees games (`inputs` makes them of observations).

        Returns:
            float32[N, A].
        """
        return self._outputs(inputs)[:, : self.description["num_actions"]]

    def values(self, inputs: npt.NDArray[Any]) -> Float32Array:
        """What the positions are worth to the seats that decide, in the unit that `value` names, by NumPy.

        Args:
            inputs: [N, num_inputs], as for `logits`.

        Returns:
            float32[N].

        Raises:
            ValueError: the network has not learned it.
        """
        if self.value is None:
            raise ValueError(
                f"the policy {self.name!r} has not learned what positions are worth ('value' in its "
                f"{DESCRIPTION_FILE} is null)"
            )
        return self._outputs(inputs)[:, -1]

    def _outputs(self, inputs: npt.NDArray[Any]) -> Float32Array:
        size = self.description["num_inputs"]
        if np.ndim(inputs) != 2 or np.shape(inputs)[1] != size:
            raise AgentArgumentError(
                f"{self.name!r}: inputs have the shape {np.shape(inputs)}; its network takes (N, {size}), as "
                "the method inputs makes them of observations"
            )
        activation = ACTIVATIONS[self.description["activation"]]
        numbers: Float32Array = inputs.astype(np.float32)
        for weight, bias in self.layers[:-1]:
            numbers = activation(numbers @ weight.T + bias)
        weight, bias = self.layers[-1]
        result: Float32Array = numbers @ weight.T + bias
        return result


def _network_of(description: dict[str, Any], folder: Path) -> tuple[str, int, str | None]:
    """Activation, number of layers and kind of value.

    Raises:
        RunFolderError: one of them is missing or unknown.
    """
    activation, num_layers = description.get("activation"), description.get("num_layers")
    if not (isinstance(activation, str) and activation in ACTIVATIONS):
        raise _damaged(folder, "activation")
    if isinstance(num_layers, bool) or not isinstance(num_layers, int):
        raise _damaged(folder, "num_layers")
    value = description.get("value")
    if "value" not in description or not (value is None or isinstance(value, str)):
        raise _damaged(folder, "value")
    return activation, num_layers, value


# The weights -----------------------------------------------------------------------------------------------


def check_layers(layers: Layers, description: dict[str, Any], path: Path) -> None:
    """Refuse weights that cannot be played, or would not play as learned.

    Args:
        layers: of the network.
        description: of its policy.
        path: of the file that they are in, for messages.

    Raises:
        RunFolderError: they do not fit together or with the description, are not finite, or are too many.
    """
    if len(layers) > MOST_LAYERS:
        raise RunFolderError(f"{str(path)!r} has {len(layers)} layers: agents play at most {MOST_LAYERS}")
    width = description["num_inputs"]
    for weight, bias in layers:
        if weight.ndim != 2 or weight.shape[1] != width or bias.shape != weight.shape[:1]:
            raise RunFolderError(
                f"{str(path)!r} is damaged: a layer of shape {weight.shape} follows one of "
                f"width {width}; restore it, or {HOW_TO_TRAIN}"
            )
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise RunFolderError(
                f"{str(path)!r} holds weights that are not finite: its training went wrong; {HOW_TO_TRAIN}"
            )
        width = weight.shape[0]
        if width > MOST_UNITS:
            raise RunFolderError(
                f"{str(path)!r} has a layer of {width} units: agents play layers of at most {MOST_UNITS}"
            )
    outputs = description["num_actions"] + (description["value"] is not None)
    if not layers or width != outputs:
        raise RunFolderError(
            f"{str(path)!r} is damaged: the last layer has {width} outputs for {description['num_actions']} "
            f"actions with value {description['value']!r}, which takes {outputs}; restore it, or "
            f"{HOW_TO_TRAIN}"
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
