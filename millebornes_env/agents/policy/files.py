"""Reading and checking of the files of a trained network, for `policy:<run folder>`.

A run folder contains `policy.safetensors`, the weights of a perceptron (`layers.0.weight` [outputs, inputs],
`layers.0.bias` [outputs], ...) for the unscaled numbers of an observation, and `policy.json`:

    format              2; 3 if weights are rounded, see below
    game                name of the game; millebornes if omitted
    editions            labels of the rule sheets it was trained on, overrides included
    players, teams      size of its tables
    view                {"unseen": ..., "rules": ..., "padded": ...}: the optional parts of its observations;
                        in other games the fields of the rulebook's `ObservationSpec`
    features            true if features of the game (`agents.millebornes.features`) follow the observation
    observation_version, num_inputs, num_actions
    activation          "relu" or "tanh", after every layer but the last
    num_layers          number of layers
    value               unit of the value output, the last row of the last layer after the actions: "points"
                        (the seat's lead in thousands of points from here on), "win", "win_prob" ...; or null

In files of format 3 the weights of a layer may be 8-bit integers (int8), with a `layers.0.scale`
(`_util.network_files`; `python -m train.tools.round_weights` writes such files).

Files may be untrusted: invalid content raises an `AgentError`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from millebornes_env._util.network_files import Float32Array, Layers, NetworkFiles
from millebornes_env.agents.policy.network import (
    ACTIVATIONS,
    MAX_ACTIONS,
    MAX_LAYERS,
    MAX_OBS_SIZE,
    MAX_UNITS,
    InputSpec,
    features_of,
)
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.errors import AgentError, OptionError, shown
from millebornes_env.games.registry import DEFAULT_GAME
from millebornes_env.games.registry import game as find_game

ROUNDED_FORMAT: Final = 3
"""Format of policies with rounded weights, which earlier versions of the package cannot read."""
HOW_TO_TRAIN: Final = "train one with `python -m train.selfplay`"
FILES: Final = NetworkFiles("policy", (2, ROUNDED_FORMAT), "trained network", HOW_TO_TRAIN, AgentError)
WEIGHTS_FILE: Final = FILES.weights_file
DESCRIPTION_FILE: Final = FILES.description_file

_LARGEST_INPUT: Final = 128.0  # observations are int8
_MOST_LISTED: Final = 20  # editions in a message
_LONGEST_SHOWN: Final = 200  # characters of a label in a message


# The description -------------------------------------------------------------------------------------------


def is_folder(path: Path | str) -> bool:
    """Return True if the folder exists; False also for an impossible name (too long, with a NUL)."""
    try:
        return Path(path).is_dir()
    except (OSError, ValueError):
        return False


def read_description(folder: Path) -> dict[str, Any]:
    """Read a run folder's `policy.json`.

    Raises:
        AgentError: the folder or file is missing, or the file is damaged.
    """
    if not is_folder(folder):
        raise AgentError(f"there is no run folder {shown(str(folder))}; {HOW_TO_TRAIN}")
    if not (folder / DESCRIPTION_FILE).exists():
        raise AgentError(
            f"{str(folder)!r} has no {DESCRIPTION_FILE}: it is not a run folder, or its training stopped "
            f"before the first checkpoint; {HOW_TO_TRAIN}"
        )
    return FILES.read_description(folder)


def check_description(
    description: dict[str, Any], table: Table, folder: Path, *, any_edition: bool = False
) -> None:
    """Raise if a policy is damaged or does not fit a table.

    Args:
        description: the contents of its `policy.json`.
        table: the table to play at.
        folder: its folder, for messages.
        any_edition: True to allow rules that it was not trained on and that its inputs do not include.

    Raises:
        AgentError: the policy has other editions, tables or observations.
    """
    game = game_of_policy(description)
    if game != table.game:
        raise AgentError(
            f"the policy in {str(folder)!r} plays {shown(game)}, not {table.game!r}: play it at a table "
            "that it was trained for, or train another"
        )
    input_spec = input_spec_of(description, folder)
    _check_size_of_table(table, input_spec, folder)
    needed: dict[str, tuple[Any, ...]] = {
        key: (value,) for key, value in describe_table(table, input_spec).items()
    }
    needed["num_actions"] = action_counts(table)
    for key, ours in needed.items():
        theirs = description.get(key)
        if type(theirs) is not int or theirs not in ours:  # neither 2.0 nor true
            wanted = " or ".join(map(repr, ours))
            raise AgentError(
                f"the policy in {str(folder)!r} has {key} {shown(theirs)}, but this table needs {wanted}: "
                "play it at a table that it was trained for, or train another"
            )
    editions = description.get("editions")
    if not (isinstance(editions, list) and all(isinstance(label, str) for label in editions)):
        raise _damaged(folder, "editions")
    sees_rules = getattr(input_spec.observation, "rules", 0) == 1
    if not (any_edition or sees_rules or table.edition in editions):
        raise AgentError(
            f"the policy in {str(folder)!r} was trained on {_listed(editions)} without observing the "
            f"rules: it cannot play {table.edition!r}; play it where it was trained, or train another"
        )


def game_of_policy(description: dict[str, Any]) -> Any:
    """Return the game of a policy, unchecked: any JSON value."""
    return description.get("game", DEFAULT_GAME)


def _check_size_of_table(table: Table, input_spec: InputSpec, folder: Path) -> None:
    """Raise an AgentError if a table exceeds the limits of compiled networks, or its game has no features."""
    if input_spec.features:
        try:
            find_game(table.game).hook("agents.features", f"the policy in {str(folder)!r}")
        except OptionError as error:
            raise AgentError(str(error)) from None
    inputs = describe_table(table, input_spec)["num_inputs"]
    if inputs > MAX_OBS_SIZE or table.num_actions > MAX_ACTIONS:
        raise AgentError(
            f"{table.edition}, {table.rules.players} players, has {inputs} inputs and {table.num_actions} "
            f"actions; policies are limited to {MAX_OBS_SIZE} inputs and {MAX_ACTIONS} actions"
        )


def _listed(labels: list[str]) -> str:
    """Format the labels of editions for a message; of many, the first ones."""
    names = [label if len(label) <= _LONGEST_SHOWN else shown(label) for label in labels[:_MOST_LISTED]]
    return ", ".join(names + ["..."] * (len(labels) > _MOST_LISTED)) or "no edition"


def input_spec_of(description: dict[str, Any], folder: Path) -> InputSpec:
    """Return the input specification in the contents of a `policy.json`.

    Raises:
        AgentError: the description lacks a part of it.
        GameError: the game is not registered.
    """
    kind = find_game(game_of_policy(description)).observation_kind()
    view, fields = description.get("view"), dict.fromkeys(kind._fields, bool)
    if not (isinstance(view, dict) and {name: type(one) for name, one in view.items()} == fields):
        raise _damaged(folder, "view")
    features = description.get("features")
    if not isinstance(features, bool):
        raise _damaged(folder, "features")
    return InputSpec(kind(**{name: int(value) for name, value in view.items()}), features)


def describe_table(table: Table, input_spec: InputSpec) -> dict[str, Any]:
    """Return the properties that a policy and its table must share, as JSON values."""
    rulebook, spec = table.rulebook, input_spec.observation
    size = rulebook.sections(table.rules, spec)[-1].stop
    if input_spec.features:
        size += plain(features_of(rulebook).num_features)(rulebook.rules_array(table.rules)[0], spec)
    return {
        "players": table.rules.players,
        "teams": table.rules.teams,
        "observation_version": table.observation_version,
        "num_inputs": int(size),
    }


def action_counts(table: Table) -> tuple[int, ...]:
    """Return the numbers of actions that a policy may have: the table's, or all tables' (padded).

    An action has the same id at all tables; logits of actions that a table lacks are not used.
    """
    kind, count = find_game(table.game).observation_kind(), table.rulebook.action_count
    counts = [count(table.rules, None)]
    if "padded" in kind._fields:
        counts.append(count(table.rules, kind()._replace(padded=1)))
    return tuple(dict.fromkeys(counts))


def _damaged(folder: Path, key: str) -> AgentError:
    return AgentError(
        f"{str(folder / DESCRIPTION_FILE)!r} is damaged: its {key!r} is missing or unknown; {HOW_TO_TRAIN}"
    )


def network_of(description: dict[str, Any], folder: Path) -> tuple[str, int, str | None]:
    """Return the activation, the number of layers and the unit of the value.

    Raises:
        AgentError: an entry is missing or unknown.
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
    """Raise if weights cannot be played as they were learned.

    Raises:
        AgentError: the shapes do not match each other or the `policy.json`; weights are not finite, or so
            large that outputs might not be finite; or there are too many layers.
    """
    if len(layers) > MAX_LAYERS:
        raise AgentError(f"{str(path)!r} has {len(layers)} layers; policies have at most {MAX_LAYERS}")
    inputs, is_bounded = description["num_inputs"], description["activation"] == "tanh"
    FILES.check_layers(layers, path.parent, inputs, MAX_UNITS, highest=_LARGEST_INPUT, is_bounded=is_bounded)
    width = len(layers[-1][1]) if layers else 0
    outputs = description["num_actions"] + (description["value"] is not None)
    if width != outputs:
        raise AgentError(
            f"{str(path)!r} is damaged: the last layer has {width} outputs for {description['num_actions']} "
            f"actions with value {shown(description['value'])}, which need {outputs}; restore it, or "
            f"{HOW_TO_TRAIN}"
        )


def read_layers(folder: Path, num_layers: int) -> list[tuple[Float32Array, Float32Array]]:
    """Read weight and bias of each layer, float32.

    Raises:
        AgentError: the file is missing, damaged, or has other contents.
        MissingExtraError: safetensors is not installed.
    """
    if not 1 <= num_layers <= MAX_LAYERS:
        raise AgentError(
            f"{str(folder / WEIGHTS_FILE)!r} has {num_layers} layers; policies have 1 to {MAX_LAYERS}"
        )
    return FILES.read_layers(folder, num_layers)
