"""A trained network with memory, of `train.recurrent_ppo`: a GRU, or attention over a seat's last decisions.

Its run folder has `policy.safetensors` and a `policy.json` of format 4: the entries of `agents.policy.files`,
and in place of activation and layers

    memory              "gru" or "attention"
    units               H, width of the encoding and of what is remembered
    window              number of decisions that attention sees, the present one included

A row is encoded as x = relu(encode(row)); the memory turns x and what it kept into y; logits and value are
head([x, y]). Arrays are named as PyTorch's: `encode.weight` [H, D], `head.weight` [A + 1, 2 H]; for a GRU
`memory.weight_ih` and `memory.weight_hh` [3 H, H], `memory.bias_ih`, `memory.bias_hh`; for attention
`memory.query.weight`, `memory.key.weight`, `memory.value.weight` [H, H] and `memory.age` [window].
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import checked_seed
from millebornes_env._util.guard import alone
from millebornes_env._util.network_files import Arrays, Float32Array, NetworkFiles
from millebornes_env.agents.checks import check_masks, check_ranges, checked_rows, checked_slot_ids
from millebornes_env.agents.compiled.agent import clear_rows, with_rows
from millebornes_env.agents.policy.files import DESCRIPTION_FILE, check_description, read_description
from millebornes_env.agents.policy.network import MAX_UNITS, MODES
from millebornes_env.agents.protocol import (
    Actions,
    BaseAgent,
    Masks,
    Observations,
    SlotIds,
    Table,
    fill_no_ops,
    one_or_many,
)
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import SKIP, key_of_seed
from millebornes_env.errors import AgentError, shown

HOW_TO_TRAIN: Final = "train one with `python -m train.recurrent_ppo`"
FILES: Final = NetworkFiles("policy", (4,), "network with memory", HOW_TO_TRAIN, AgentError, most=1e6)
NAMES: Final = {
    "gru": ("memory.weight_ih", "memory.weight_hh", "memory.bias_ih", "memory.bias_hh"),
    "attention": ("memory.query.weight", "memory.key.weight", "memory.value.weight", "memory.age"),
}
"""Arrays of each kind of memory."""
MOST_WINDOW: Final = 256
Which = npt.NDArray[np.int64]
_ENDS: Final = ("encode.weight", "encode.bias", "head.weight", "head.bias")
_MOST_BYTES: Final = 1 << 20


def has_memory_network(folder: Path | str) -> bool:
    """Return True if a run folder holds a network with memory; damaged files are reported on reading."""
    path = Path(folder) / DESCRIPTION_FILE
    try:
        if not path.is_file():  # a pipe would never end
            return False
        with path.open("rb") as file:
            content = json.loads(file.read(_MOST_BYTES))
        return isinstance(content, dict) and content.get("format") in FILES.formats
    except (OSError, ValueError, RecursionError):
        return False


def description_of_run(folder: Path) -> dict[str, Any]:
    """Read the `policy.json` of a run folder, of a network with memory or without.

    Raises:
        AgentError: the folder or file is missing, or the file is damaged.
    """
    return FILES.read_description(folder) if has_memory_network(folder) else read_description(folder)


class MemoryNetwork:
    """A network with memory, in NumPy.

    Attributes:
        arrays: weights and biases, by name.
        memory_size: M, the number of floats that are remembered.
    """

    def __init__(self, arrays: Arrays, kind: str, units: int, window: int) -> None:
        """Use the arrays of a run folder; see the module."""
        self.arrays, self._units, self._window = arrays, units, window
        self.memory_size = units if kind == "gru" else (window - 1) * (units + 1)
        self._remember: Callable[..., tuple[Float32Array, Float32Array]] = (
            self._gru if kind == "gru" else self._attention
        )

    def advance(
        self, memories: Float32Array, rows: Observations, which: Which | None = None
    ) -> tuple[Float32Array, Float32Array]:
        """Take one decision of each slot.

        Args:
            memories: float32[N, M]; 0 at the beginning of a round.
            rows: int8[K, D], observations.
            which: int64[N], the row of each slot; None: they are in order.

        Returns:
            Logits and value, float32[N, A + 1], and the new memories, float32[N, M].
        """
        arrays, units, places = self.arrays, self._units, slice(None) if which is None else which
        inputs = np.maximum(rows @ arrays["encode.weight"].T + arrays["encode.bias"], 0.0)
        outputs = (inputs @ arrays["head.weight"][:, :units].T + arrays["head.bias"])[places]
        recalled, memories = self._remember(inputs, memories, places)
        return outputs + recalled @ arrays["head.weight"][:, units:].T, memories

    def _gru(
        self, inputs: Float32Array, memories: Float32Array, places: Which | slice
    ) -> tuple[Float32Array, Float32Array]:
        """Advance a gated recurrent unit (Cho et al. 2014), with PyTorch's order of the gates."""
        arrays, units = self.arrays, self._units
        new = (inputs @ arrays["memory.weight_ih"].T + arrays["memory.bias_ih"])[places]
        old = memories @ arrays["memory.weight_hh"].T + arrays["memory.bias_hh"]
        gates = 0.5 + 0.5 * np.tanh(0.5 * (new[:, : 2 * units] + old[:, : 2 * units]))  # the sigmoid
        reset, update = gates[:, :units], gates[:, units:]
        candidate = np.tanh(new[:, 2 * units :] + reset * old[:, 2 * units :])
        result = candidate + update * (memories - candidate)
        return result, result

    def _attention(
        self, inputs: Float32Array, memories: Float32Array, places: Which | slice
    ) -> tuple[Float32Array, Float32Array]:
        """Attend to the encodings of the last decisions; the last column of each says if there is one."""
        arrays, units, inputs = self.arrays, self._units, inputs[places]
        kept = memories.reshape(len(inputs), self._window - 1, units + 1)
        present = np.concatenate([inputs, np.ones((len(inputs), 1), np.float32)], axis=1)
        tokens = np.concatenate([kept, present[:, np.newaxis]], axis=1)
        is_known = tokens[:, :, units] > 0
        known = tokens[:, int(is_known.any(axis=0).argmax()) :]  # the first decisions of a round leave a gap
        query = inputs @ arrays["memory.query.weight"].T
        keys = known[:, :, :units] @ arrays["memory.key.weight"].T
        ages = arrays["memory.age"][: known.shape[1]][::-1]
        scores = np.einsum("nh,nkh->nk", query, keys) / np.sqrt(units) + ages
        scores = np.where(is_known[:, -known.shape[1] :], scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        values = known[:, :, :units] @ arrays["memory.value.weight"].T
        recalled = np.einsum("nk,nkh->nh", weights, values)
        return recalled, tokens[:, 1:].reshape(len(inputs), self.memory_size)


class MemoryAgent(BaseAgent):
    """A trained network with memory; plays its most probable action, or samples one (`mode="sample"`).

    It remembers what its seat saw at its own decisions in the round. A round is new if there are more cards
    to draw than at the last decision, or after `forget_slots`.

    Attributes:
        description: the contents of its `policy.json`.
        network: the network.
        mode: "best" or "sample".
    """

    name = "policy"
    has_memory = True
    game: ClassVar[str | None] = None

    def __init__(self, table: Table, seed: int = 0, folder: str = "", mode: str = "best") -> None:
        """Read a run folder; arguments as for `PolicyAgent`.

        Raises:
            AgentError: the folder is missing or damaged, its network is not for this table, or the mode is
                unknown.
        """
        if mode not in MODES:
            raise AgentError(f"mode is {shown(mode)}; it may be " + " or ".join(map(repr, MODES)))
        self.table, self.mode, path = table, mode, Path(folder)
        self.description = FILES.read_description(path)
        check_description(self.description, table, path)
        self.network = read_network(path, self.description)
        read, self._size = self.description["num_inputs"], table.sections[-1].stop
        if self._size != read:
            raise AgentError(
                f"the network in {str(path)!r} reads {read} numbers, and this table shows {self._size}: "
                "leave out observe_rules and padded"
            )
        names = [section.name for section in table.sections]
        self._pile = table.sections[names.index("draw_pile")].start if "draw_pile" in names else None
        self._key, self._calls = key_of_seed(checked_seed(seed)), 0
        self.forget()

    @property
    def memory_size(self) -> int:
        """M, number of floats that it remembers of a round."""
        return self.network.memory_size

    def loaded_arrays(self) -> Iterable[npt.NDArray[Any]]:
        """Return weights and biases."""
        return self.network.arrays.values()

    @alone
    def forget(self) -> None:
        """Forget all slots."""
        self._memories = np.zeros((0, self.network.memory_size), np.float32)
        self._piles = np.zeros(0, np.int16)

    @alone
    def forget_slots(self, slot_ids: SlotIds) -> None:
        """Forget some slots."""
        clear_rows(self._memories, slot_ids)
        clear_rows(self._piles, slot_ids)

    def advance(
        self,
        memories: Float32Array,
        observations: Observations,
        action_masks: Masks,
        which: Which | None = None,
    ) -> tuple[npt.NDArray[np.float64], Float32Array]:
        """Return the probabilities of actions, and the new memories; the agent's own slots are not used.

        Arguments as for `MemoryNetwork.advance`, and the masks, int8[K, A].

        Returns:
            float64[N, A], 0 where an action is illegal; and float32[N, M].
        """
        outputs, memories = self.network.advance(memories, observations, which)
        legal = (np.asarray(action_masks) > 0)[slice(None) if which is None else which]
        logits = np.where(legal, outputs[:, : legal.shape[1]].astype(np.float64), -np.inf)
        if self.mode == "best":
            best = logits.argmax(axis=1)[:, np.newaxis]
            return (np.arange(legal.shape[1]) == best).astype(np.float64), memories
        weights = np.exp(logits - logits.max(axis=1, keepdims=True))
        return weights / weights.sum(axis=1, keepdims=True), memories

    @one_or_many
    def act(self, observations: Observations, action_masks: Masks, slot_ids: Any = None) -> Actions:
        """Choose; see `Agent.act`.

        Args:
            observations: int8[N, D].
            action_masks: int8[N, A].
            slot_ids: int64[N], as `BaseAgent.has_memory` says; None: the number of the row.

        Raises:
            AgentError: one of the arguments has another shape or type, or is out of range.
        """
        rows = checked_rows(self.name, observations, self._size)
        check_ranges(self.name, self.table, rows)
        if action_masks is None:
            raise AgentError(f"{self.name!r} needs action masks: pass int8[N, A] of what is legal")
        check_masks(self.name, action_masks, len(rows), self.table.num_actions)
        slots = checked_slot_ids(self.name, slot_ids, len(rows))
        count = int(slots.max(initial=-1)) + 1
        self._memories, self._piles = with_rows(self._memories, count), with_rows(self._piles, count)
        masks, actions = np.asarray(action_masks), np.full(len(rows), SKIP, np.int64)
        left = np.flatnonzero(masks.any(axis=1))
        while len(left):  # rows with the same slot one after the other
            first = np.unique(slots[left], return_index=True)[1]
            chosen = left[np.sort(first)]
            actions[chosen] = self._decide(rows[chosen], masks[chosen], slots[chosen], chosen)
            left = np.setdiff1d(left, chosen)
        self._calls += 1
        fill_no_ops(action_masks, actions, actions == SKIP)
        return actions

    def _decide(
        self, rows: Observations, masks: Masks, slots: SlotIds, numbers: npt.NDArray[np.int64]
    ) -> Actions:
        """Choose the actions of rows with different slots; `numbers` are their places in the batch."""
        if self._pile is not None:
            piles = rows[:, self._pile].astype(np.int16)
            self._memories[slots[piles > self._piles[slots]]] = 0.0
            self._piles[slots] = piles
        weights, self._memories[slots] = self.advance(self._memories[slots], rows, masks)
        key = random_word(*self._key, self._calls), self._key[1]
        draws = [random_word(*key, int(row)) for row in numbers]
        reached = np.cumsum(weights, axis=1) > np.array(draws)[:, np.newaxis] / 2.0**32
        last = weights.shape[1] - 1 - (weights[:, ::-1] > 0).argmax(axis=1)  # if rounding leaves a gap
        result: Actions = np.where(reached.any(axis=1), reached.argmax(axis=1), last)
        return result


def read_network(folder: Path, description: dict[str, Any]) -> MemoryNetwork:
    """Read the network of a run folder, whose `policy.json` was checked against the table.

    Raises:
        AgentError: an entry or an array is missing or has another shape.
    """
    kind, units = description.get("memory"), description.get("units")
    window, value = description.get("window"), description.get("value")
    if kind not in NAMES or not (value is None or isinstance(value, str)):
        raise FILES.damaged(folder / DESCRIPTION_FILE, f"memory is {shown(kind)}, value {shown(value)}")
    for name, number, most in (("units", units, MAX_UNITS), ("window", window, MOST_WINDOW)):
        if type(number) is not int or not 1 <= number <= most:
            raise FILES.damaged(folder / DESCRIPTION_FILE, f"{name} is {shown(number)}")
    assert isinstance(units, int)
    assert isinstance(window, int)
    names = (*_ENDS, *NAMES[str(kind)])
    arrays = dict(zip(names, FILES.read_arrays(folder, names), strict=True))
    outputs = description["num_actions"] + 1
    shapes: dict[str, tuple[int, ...]] = {
        "encode.weight": (units, description["num_inputs"]),
        "encode.bias": (units,),
        "head.weight": (outputs, 2 * units),
        "head.bias": (outputs,),
        "memory.weight_ih": (3 * units, units),
        "memory.weight_hh": (3 * units, units),
        "memory.bias_ih": (3 * units,),
        "memory.bias_hh": (3 * units,),
        "memory.query.weight": (units, units),
        "memory.key.weight": (units, units),
        "memory.value.weight": (units, units),
        "memory.age": (window,),
    }
    for name, array in arrays.items():
        if array.shape != shapes[name]:
            raise FILES.damaged(
                folder / FILES.weights_file, f"{name} has the shape {array.shape}; it must be {shapes[name]}"
            )
    return MemoryNetwork(arrays, str(kind), units, window)
