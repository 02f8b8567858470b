"""Files of hand networks, which predict hidden hands.

A folder holds `belief.safetensors`, the arrays of `HandNetwork` by their names, float16 or float32, and
`belief.json`:

    format              1
    game                name of the game
    players, teams      seats and teams of its tables
    editions            labels of the rule sheets it was fitted to; it works with no others
    inputs_version      version of its inputs (`hand_inputs.INPUTS_VERSION`)
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

from millebornes_env._util.network_files import NetworkFiles
from millebornes_env.agents.protocol import Table
from millebornes_env.agents.search.hand_inputs import EVENT_SIZE, INPUTS_VERSION, NOW_SIZE
from millebornes_env.agents.search.hand_network import MAX_COMPONENTS, MAX_UNITS, OUTPUTS, HandNetwork
from millebornes_env.errors import AgentError, MilleBornesError, shown
from millebornes_env.games.registry import edition

HOW_TO_FIT: Final = "fit one with `python -m train.tools.belief`"
FILES: Final = NetworkFiles("belief", (1,), "belief network", HOW_TO_FIT, AgentError, most=1e4)
SHIPPED: Final = Path(__file__).with_name("hand_networks")
"""Folder of the shipped networks, with a folder for each."""
INSTEAD: Final = "belief=uniform plays at every table"

_TWO: Final = 2  # players, each for themselves


def hand_network_for(table: Table, folder: str = "") -> HandNetwork:
    """Return the hand network for a table, from a folder or, by default, a shipped one.

    Raises:
        AgentError: there is no network for the table, or the folder's does not fit.
        MissingExtraError: safetensors is not installed.
    """
    networks = ((Path(folder), read_description(Path(folder))),) if folder else _shipped()
    for path, description in networks:
        if _is_for(description, table):
            return read_network(path)
    what = f"the network in {shown(folder)}" if folder else "belief=network"
    raise AgentError(
        f"{what} knows {_tables_of([one for _, one in networks])}, not {table.edition} for "
        f"{table.rules.players}: {INSTEAD}"
    )


def has_hand_network(table: Table) -> bool:
    """Return True if a shipped network predicts hands at the table."""
    return any(_is_for(description, table) for _, description in _shipped())


@functools.cache
def _shipped() -> tuple[tuple[Path, dict[str, Any]], ...]:
    """Return the folders of the shipped networks and their descriptions."""
    folders = sorted(path for path in SHIPPED.glob("*") if (path / FILES.description_file).is_file())
    return tuple((path, read_description(path)) for path in folders)


def is_hand_network(folder: str) -> bool:
    """Return True if the folder contains a hand network."""
    try:
        return (Path(folder) / FILES.description_file).is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _is_for(description: dict[str, Any], table: Table) -> bool:
    """Return True if the network was trained on these rules; another rule sheet may have the same rules."""
    of_table = {"game": table.game, "players": table.rules.players, "teams": table.rules.teams}
    if any(description.get(key) != value for key, value in of_table.items()):
        return False
    labels = description.get("editions")
    return isinstance(labels, list) and any(_has_rules(label, table) for label in labels)


def _has_rules(label: Any, table: Table) -> bool:
    try:
        return (
            isinstance(label, str)
            and edition(label).table(table.rules.players, table.rules.teams) == table.rules
        )
    except MilleBornesError:  # a sheet that is not known here
        return False


def _tables_of(descriptions: list[dict[str, Any]]) -> str:
    named = [
        f"{', '.join(map(str, one.get('editions') or ()))} for {one.get('players')}" for one in descriptions
    ]
    return " and ".join(shown(name)[1:-1] for name in named) or "no table"


def read_description(folder: Path) -> dict[str, Any]:
    """Read a folder's `belief.json`.

    Raises:
        AgentError: the file is missing, damaged or of another version.
    """
    content, path = FILES.read_description(folder), folder / FILES.description_file
    if content.get("inputs_version") != INPUTS_VERSION:
        raise AgentError(
            f"{shown(str(path))} has the inputs_version {shown(content.get('inputs_version'))}, this version "
            f"reads {INPUTS_VERSION}: {HOW_TO_FIT}"
        )
    if (content.get("players"), content.get("teams")) != (_TWO, _TWO):
        why = f"it is for {shown(content.get('players'))}; such networks are for two players"
        raise FILES.damaged(path, why)
    return content


def read_network(folder: Path) -> HandNetwork:
    """Read the weights, for whatever table, and check their shapes: compiled code does not.

    Raises:
        AgentError: the file is damaged, or the shapes do not fit together.
    """
    network = HandNetwork(*FILES.read_arrays(folder, HandNetwork._fields))
    units, width, last = network.event_bias.size, network.kept_bias.size // 3, network.hidden_bias.size
    outputs = network.out_bias.size
    needed = (
        (EVENT_SIZE, units),
        (units,),
        (3 * width, units),
        (3 * width,),
        (3 * width, width),
        (3 * width,),
        (last, width),
        (NOW_SIZE, last),
        (last,),
        (outputs, last),
        (outputs,),
    )
    fits = all(0 < size <= MAX_UNITS for size in (units, width, last))
    fits = fits and outputs % OUTPUTS == 0 and 0 < outputs <= MAX_COMPONENTS * OUTPUTS
    if tuple(array.shape for array in network) != needed or not fits:
        shapes = [array.shape for array in network]
        raise FILES.damaged(folder / FILES.weights_file, f"weights of shapes {shapes}")
    return network
