"""`policy:<run folder>`: a trained network, read from data files only (safetensors and JSON).

`files.py` says what the files hold, `network.py` is the network. A policy plays the editions that it
was trained on; one that sees the rules plays all others too. What the environment shows does not
matter, it looks at the game by its own `InputSpec`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.guard import alone
from millebornes_env.agents.checks import check_masks, check_ranges, checked_rows
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
    """One over the largest value of each number of an observation, float32[D]: scaled values lie in 0..1."""
    highs = np.concatenate([np.full(section.size, max(section.high, 1)) for section in table.sections])
    return (1.0 / highs).astype(np.float32)


class PolicyAgent(CompiledAgent):
    """A trained perceptron; plays its most probable action, or samples one (`mode="sample"`).

    Attributes:
        description: the contents of its `policy.json`.
        layers: weight and bias of each layer, float32.
        input_spec: what it sees.
        value: what the network says of a position besides: "points", "win" ...; None: nothing.
    """

    name = "policy"
    any_edition: ClassVar[bool] = False
    """True: play wherever the network fits, also by rules that it neither sees nor was trained on."""

    def __init__(self, table: Table, seed: int = 0, folder: str = "", mode: str = "best") -> None:
        """Read a run folder.

        Args:
            table: the table to play at.
            seed: of the sampled actions.
            folder: the run folder.
            mode: "best", or "sample": an action with the network's probability, its logits of the legal
                actions put through a softmax.

        Raises:
            AgentError: the folder is missing or damaged, its policy is not for this table, the mode is
                unknown, or the observations lack what the policy sees.
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
        """The function for the rulebook of the table."""
        return self._network.choose

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        """Make a copy that has a block of weights of its own, as its options name one by its address."""
        vars(self).update(attributes)
        self._block = weights_block(self.layers)
        self.options = self.options.copy()
        self.options[ADDRESS] = self._block.ctypes.data

    @alone
    def inputs(self, observations: Observations) -> Float32Array:
        """Return the network's inputs, which may differ from the environment's observations.

        Args:
            observations: int8[N, D], of the environment that the agent was made for.

        Returns:
            float32[N, num_inputs], for `logits` and `values`.

        Raises:
            AgentError: they have another shape, or numbers that the table cannot show.
            OptionError: the game has no decoder to read them by, and the environment shows other things than
                the network is to see.
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
        """The observations as they are: what is left to a game that cannot read them back."""
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
            observations: int8[N, D], of the environment that the agent was made for.
            action_masks: int8[N, A] or int8[N, A of all tables], each row with a legal action or more.

        Returns:
            float32[N, A], 0 where an action is illegal.

        Raises:
            AgentError: one of them has another shape or type, a row without a legal action included.
        """
        inputs = self.inputs(observations)
        action_masks = self._checked_masks(action_masks, len(inputs))
        known = min(action_masks.shape[1], self.description["num_actions"])  # what lies behind is never legal
        logits = self.logits(inputs)[:, :known]
        logits = np.where(action_masks[:, :known] != 0, logits, -np.inf)
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        probs: Float32Array = np.zeros(action_masks.shape, np.float32)
        probs[:, :known] = weights / weights.sum(axis=1, keepdims=True)
        return probs

    def _checked_masks(self, action_masks: Any, rows: int) -> Masks:
        """Masks of any width of which each row allows an action that the network knows.

        Raises:
            AgentError: they are none.
        """
        try:
            masks: Masks = np.array(action_masks, subok=False)
        except Exception:  # rows of different lengths, or whatever an `__array__` of theirs raises
            masks = np.zeros((), np.int8)
        width = masks.shape[1] if masks.ndim == 2 else 0
        check_masks(self.name, masks, rows, max(width, self.table.num_actions))
        if not masks[:, : self.description["num_actions"]].any(axis=1).all():
            raise AgentError(f"{self.name!r}: a row of action_masks allows no action")
        return masks

    def logits(self, inputs: npt.NDArray[Any]) -> Float32Array:
        """The network's output for each action before masking, by NumPy.

        Args:
            inputs: [N, num_inputs], as the policy sees games (`inputs` makes them of observations).

        Returns:
            float32[N, A].

        Raises:
            AgentError: the inputs have another shape, or are no finite numbers.
        """
        return self._outputs(inputs)[:, : self.description["num_actions"]]

    def values(self, inputs: npt.NDArray[Any]) -> Float32Array:
        """Return the values of positions for the deciding seats, in the unit that `value` names, by NumPy.

        Args:
            inputs: [N, num_inputs], as for `logits`.

        Returns:
            float32[N].

        Raises:
            AgentError: the network has not learned it, or the inputs are not its own.
        """
        if self.value is None:
            raise AgentError(
                f"the policy {self.name!r} has not learned what positions are worth ('value' in its "
                f"{DESCRIPTION_FILE} is null)"
            )
        return self._outputs(inputs)[:, -1]

    def _outputs(self, inputs: npt.NDArray[Any]) -> Float32Array:
        size = self.description["num_inputs"]
        try:
            given = np.array(inputs, subok=False)
        except Exception:  # rows of different lengths, or whatever an `__array__` of theirs raises
            given = np.zeros(())
        if given.ndim != 2 or given.shape[1] != size:
            raise AgentError(
                f"{self.name!r}: inputs have the shape {given.shape}; its network takes (N, {size}), as "
                "the method inputs makes them of observations"
            )
        activation = ACTIVATIONS[self.description["activation"]]
        if given.dtype.kind not in "biuf":
            raise AgentError(f"{self.name!r}: inputs are of {given.dtype}; they must be float32")
        numbers: Float32Array = given.astype(np.float32)
        if not np.isfinite(numbers).all():
            raise AgentError(f"{self.name!r}: inputs hold what is no finite number of float32")
        for weight, bias in self.layers[:-1]:
            numbers = activation(numbers @ weight.T + bias)
        weight, bias = self.layers[-1]
        result: Float32Array = numbers @ weight.T + bias
        return result


__all__ = ["AgentError", "PolicyAgent", "observation_scale"]
