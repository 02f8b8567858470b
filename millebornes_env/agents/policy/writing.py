"""Writing of trained networks as `policy:<run folder>` reads them (see `agents.policy.files`)."""

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
    """Write a policy that can be played at once.

    Args:
        folder: the run folder; made if it is missing.
        layers: weight [outputs, inputs] and bias [outputs] of each layer, over the whole numbers of an
            observation as they are: whoever scales them when learning folds that in (`fold_in_scale`).
        table: one of the tables that it was trained at; all have its players and teams.
        editions: labels of the editions that it was trained on (`Table.edition`); none: the table's.
        input_spec: the view that it sees, and whether with features; None: what the game's observations
            usually show, without.
        activation: after each layer but the last: "relu" or "tanh".
        value: what the last layer's last row says, behind those of the actions; None: there is none.
        more: entries of policy.json for people to read.

    Raises:
        AgentError: no agent could play these layers; nothing was written.
        ValueError: an unknown activation.
        MissingExtraError: safetensors is not installed.
        OSError: the files could not be written; those that were there are as they were.
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
    """Return the default input specification of the table's game, without features."""
    return InputSpec(game_named(table.game).observation_spec(), features=False)


def fold_in_scale(layers: Layers, scale: np.ndarray[Any, Any]) -> Layers:
    """The same network over numbers that are not scaled before.

    Args:
        layers: of a network that is given `observation * scale`.
        scale: float[D].

    Returns:
        The layers, the first one's weights multiplied.
    """
    (weight, bias), *others = layers
    return [(weight * scale, bias), *others]
