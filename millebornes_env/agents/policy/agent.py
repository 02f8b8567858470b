"""`policy:<run folder>`: a trained network, read from data files only (safetensors and JSON).

`files.py` documents the files, `network.py` is the network. A policy plays the editions that it was trained
on; if its inputs include the rules, it plays all editions. It encodes states by its own `InputSpec`, whatever
the environment's observations show.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.guard import alone
from millebornes_env.agents.checks import as_array, check_masks, check_ranges, checked_rows
from millebornes_env.agents.compiled.agent import Choose, CompiledAgent, legal_by_masks
from millebornes_env.agents.policy.files import (
    DESCRIPTION_FILE,
    WEIGHTS_FILE,
    check_description,
    check_layers,
    input_spec_of,
    network_of,
    read_description,
    read_layers,
)
from millebornes_env.agents.policy.network import (
    ADDRESS,
    BEST,
    MODE,
    MODES,
    Float32Array,
    network_kernels_of,
    network_options,
    weights_block,
)
from millebornes_env.agents.protocol import Actions, Masks, Observations, Table, fill_no_ops
from millebornes_env.engine.chance import random_word
from millebornes_env.errors import AgentError, shown
from millebornes_env.games.registry import game as find_game

ACTIVATIONS: Final[dict[str, Callable[[Float32Array], Float32Array]]] = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0.0),
}


def observation_scale(table: Table) -> Float32Array:
    """Return factors that scale observations to 0..1, float32[D]: 1 / largest value of each number."""
    highs = np.concatenate([np.full(section.size, max(section.high, 1)) for section in table.sections])
    return (1.0 / highs).astype(np.float32)


class PolicyAgent(CompiledAgent):
    """A trained perceptron; plays its most probable action, or samples one (`mode="sample"`).

    Attributes:
        description: the contents of its `policy.json`.
        layers: weight and bias of each layer, float32.
        input_spec: its inputs.
        value: unit of the network's value output: "points", "win" ...; None without a value output.
    """

    name = "policy"
    any_edition: ClassVar[bool] = False
    """True allows rules that the network was not trained on and that its inputs do not include."""

    def __init__(self, table: Table, seed: int = 0, folder: str = "", mode: str = "best") -> None:
        """Read a run folder.

        Args:
            table: the table to play at.
            seed: seed of the sampled actions.
            folder: the run folder.
            mode: "best", or "sample" to sample from the softmax of the legal actions' logits.

        Raises:
            AgentError: the folder is missing or damaged, its policy is not for this table, the mode is
                unknown, or the observations lack inputs of the policy.
        """
        self.mode = mode
        if mode not in MODES:
            raise AgentError(f"mode is {shown(mode)}; it may be " + " or ".join(map(repr, MODES)))
        if not folder:
            raise AgentError(
                "the agent 'policy' needs a run folder: policy:FOLDER, or the path of the folder alone"
            )
        path = Path(folder)
        self.description = read_description(path)
        check_description(self.description, table, path, any_edition=self.any_edition)
        self.input_spec = input_spec_of(self.description, path)
        activation, num_layers, self.value = network_of(self.description, path)
        self.layers = read_layers(path, num_layers)
        check_layers(self.layers, self.description, path / WEIGHTS_FILE)
        self._block = weights_block(self.layers)
        options = network_options(
            self._block, self.layers, activation, mode, self.input_spec, self.value is not None
        )
        self._network = network_kernels_of(table.rulebook)
        needs_unseen = getattr(self.input_spec.observation, "unseen", 0) == 1
        super().__init__(table, seed, options, counts_unseen=needs_unseen)
        self.name = path.name or str(path)

    def function(self) -> Choose:
        """Return the function for the rulebook of the table."""
        return self._network.choose

    def loaded_arrays(self) -> Iterable[npt.NDArray[Any]]:
        """Return weights and biases."""
        return itertools.chain.from_iterable(self.layers)

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """Restore a copy with its own block of weights, because the options contain the block's address."""
        vars(self).update(attributes)
        self._block = weights_block(self.layers)
        self.options = self.options.copy()
        self.options[ADDRESS] = self._block.ctypes.data

    @alone
    def inputs(self, observations: Observations) -> Float32Array:
        """Return the network's inputs, which may differ from the environment's observations.

        Args:
            observations: int8[N, D], from an environment with the agent's table.

        Returns:
            float32[N, num_inputs], for `logits` and `values`.

        Raises:
            AgentError: the observations have another shape, or numbers out of range for the table.
            OptionError: the game has no decoder, and the observations differ from the network's inputs.
        """
        rows = checked_rows(self.name, observations, self._bounds.shape[1])
        check_ranges(self.name, self.table, rows)
        if not self._reads_rows:
            return self._rows_as_inputs(rows)
        inputs = np.zeros((len(rows), self.description["num_inputs"]), np.float32)
        rules = self._rules_in_array[0]
        self._network.encode_rows(self._starts, rules, rows, self._scratch, self.options, inputs)
        return inputs

    def _rows_as_inputs(self, rows: Observations) -> Float32Array:
        """Return the observations as inputs, in a game without a decoder."""
        needed = self.table.rulebook.sections(self.table.rules, self.input_spec.observation)
        if self.input_spec.features or tuple(needed) != tuple(self.table.sections):
            find_game(self.table.game).hook(
                "agents.decoder", f"the policy {self.name!r}, which sees other observations,"
            )
        inputs: Float32Array = rows.astype(np.float32)
        return inputs

    def _act_without_decoder(
        self, rows: Observations, action_masks: Masks | None, key: tuple[int, int]
    ) -> Actions:
        legal = legal_by_masks(self, action_masks)
        logits = np.where(legal, self.logits(self._rows_as_inputs(rows))[:, : legal.shape[1]], -np.inf)
        if self.options[MODE] == BEST:
            actions: Actions = logits.argmax(axis=1)
        else:
            draws = np.array([random_word(*key, number) for number in range(len(rows))]) / 2.0**32
            weights = np.exp(logits - logits.max(axis=1, keepdims=True, initial=-1e30))
            reached = weights.cumsum(axis=1)
            actions = (reached > draws[:, np.newaxis] * reached[:, -1:]).argmax(axis=1)
        fill_no_ops(action_masks, actions, legal.sum(axis=1) == 0)
        return actions

    @alone
    def probabilities(self, observations: Observations, action_masks: Masks) -> Float32Array:
        """Return the probability of each action: a softmax of the logits of the legal actions.

        Args:
            observations: int8[N, D], from an environment with the agent's table.
            action_masks: int8[N, A] or int8[N, A of all tables], each row with at least one legal action.

        Returns:
            float32[N, A], 0 for illegal actions.

        Raises:
            AgentError: an argument has the wrong shape or type, or a row has no legal action.
        """
        inputs = self.inputs(observations)
        action_masks = self._checked_masks(action_masks, len(inputs))
        known = min(action_masks.shape[1], self.description["num_actions"])  # later actions are never legal
        logits = self.logits(inputs)[:, :known]
        logits = np.where(action_masks[:, :known] != 0, logits, -np.inf)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        probs: Float32Array = np.zeros(action_masks.shape, np.float32)
        probs[:, :known] = weights / weights.sum(axis=1, keepdims=True)
        return probs

    def _checked_masks(self, action_masks: Any, rows: int) -> Masks:
        """Return masks of any width; raise an AgentError if a row allows no action of the network."""
        masks: Masks = np.array(as_array(action_masks), subok=False)
        width = masks.shape[1] if masks.ndim == 2 else 0
        check_masks(self.name, masks, rows, max(width, self.table.num_actions))
        if not masks[:, : self.description["num_actions"]].any(axis=1).all():
            raise AgentError(f"{self.name!r}: a row of action_masks allows no action")
        return masks

    def logits(self, inputs: npt.NDArray[Any]) -> Float32Array:
        """Return the network's output for each action before masking, computed with NumPy.

        Args:
            inputs: [N, num_inputs], from the method `inputs`.

        Returns:
            float32[N, A].

        Raises:
            AgentError: the inputs have another shape, or are not finite numbers.
        """
        return self._outputs(inputs)[:, : self.description["num_actions"]]

    def values(self, inputs: npt.NDArray[Any]) -> Float32Array:
        """Return the values of positions for the acting seats, in the unit `value`, computed with NumPy.

        Args:
            inputs: [N, num_inputs], as for `logits`.

        Returns:
            float32[N].

        Raises:
            AgentError: the network has no value output, or the inputs are invalid.
        """
        if self.value is None:
            raise AgentError(
                f"the policy {self.name!r} has no value output ('value' in its {DESCRIPTION_FILE} is null)"
            )
        return self._outputs(inputs)[:, -1]

    def _outputs(self, inputs: npt.NDArray[Any]) -> Float32Array:
        size = self.description["num_inputs"]
        given = np.array(as_array(inputs), subok=False)
        if given.ndim != 2 or given.shape[1] != size:
            raise AgentError(
                f"{self.name!r}: inputs have the shape {given.shape}; its network takes (N, {size}), as "
                "returned by the method inputs"
            )
        activation = ACTIVATIONS[self.description["activation"]]
        if given.dtype.kind not in "biuf":
            raise AgentError(f"{self.name!r}: inputs have the dtype {given.dtype}; expected float32")
        numbers: Float32Array = given.astype(np.float32)
        if not np.isfinite(numbers).all():
            raise AgentError(f"{self.name!r}: inputs contain values that are not finite in float32")
        for weight, bias in self.layers[:-1]:
            numbers = activation(numbers @ weight.T + bias)
        weight, bias = self.layers[-1]
        result: Float32Array = numbers @ weight.T + bias
        return result


__all__ = ["AgentError", "PolicyAgent", "observation_scale"]
