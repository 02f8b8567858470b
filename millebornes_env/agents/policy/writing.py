"""Writing of trained networks for `policy:<run folder>` (see `agents.policy.files`)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from millebornes_env._util.network_files import Layers, arrays_of
from millebornes_env.agents.policy.files import (
    FILES,
    WEIGHTS_FILE,
    action_counts,
    check_layers,
    describe_table,
)
from millebornes_env.agents.policy.network import ACTIVATIONS, InputSpec
from millebornes_env.agents.protocol import Table
from millebornes_env.games.registry import DEFAULT_GAME
from millebornes_env.games.registry import game as game_named

NOTHING_MORE: Final[dict[str, Any]] = {}


def save_policy_files(
    folder: Path,
    layers: Layers,
    table: Table,
    *,
    editions: Sequence[str] = (),
    input_spec: InputSpec | None = None,
    activation: str = "relu",
    value: str | None = None,
    more: dict[str, Any] = NOTHING_MORE,
) -> None:
    """Write a policy to a run folder, in the format of `agents.policy.files`.

    Args:
        folder: the run folder; created if missing.
        layers: weight [outputs, inputs] and bias [outputs] of each layer, for unscaled observations; use
            `fold_in_scale` if the network was trained on scaled ones.
        table: one of the tables that it was trained at; all have the same numbers of players and teams.
        editions: labels of the editions that it was trained on (`Table.edition`); by default the table's.
        input_spec: its inputs; None for the game's default observations, without features.
        activation: activation after each layer but the last, "relu" or "tanh".
        value: unit of the value output, the last row of the last layer; None without a value output.
        more: additional entries of policy.json, for readers.

    Raises:
        AgentError: these layers cannot be played; nothing was written.
        ValueError: the activation is unknown.
        MissingExtraError: safetensors is not installed.
        OSError: the files could not be written; existing files are unchanged.
    """
    input_spec = input_spec or usual_input(table)
    if activation not in ACTIVATIONS:
        raise ValueError(
            f"activation is {activation!r}; it may be " + " or ".join(map(repr, reversed(ACTIVATIONS)))
        )
    outputs = len(layers[-1][1]) - int(value is not None) if layers else 0
    num_actions = outputs if outputs in action_counts(table) else table.num_actions
    description = {
        **more,
        **({} if table.game == DEFAULT_GAME else {"game": table.game}),
        "editions": list(editions) or [table.edition],
        **describe_table(table, input_spec),
        "num_actions": num_actions,
        "view": {name: bool(shown) for name, shown in input_spec.observation._asdict().items()},
        "features": input_spec.features,
        "activation": activation,
        "num_layers": len(layers),
        "value": value,
    }
    check_layers(layers, description, folder / WEIGHTS_FILE)
    arrays = {name: array.astype(np.float32) for name, array in arrays_of(layers).items()}
    FILES.save(folder, arrays, description)


def usual_input(table: Table) -> InputSpec:
    """Return the default input specification of the table's game: no features; the rules of a split."""
    options = {"observe_rules": True} if table.varies else {}
    return InputSpec(game_named(table.game).observation_spec(**options), features=False)


def fold_in_scale(layers: Layers, scale: np.ndarray[Any, Any]) -> Layers:
    """Return the equivalent network for unscaled observations.

    Args:
        layers: layers of a network with the inputs `observation * scale`.
        scale: float[D].

    Returns:
        The layers, with the weights of the first one multiplied.
    """
    (weight, bias), *others = layers
    return [(weight * scale, bias), *others]
