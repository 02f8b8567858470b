"""The files of a network that foretells hidden hands, read and checked.

A folder holds `belief.safetensors`, the arrays of `HandNetwork` by their names, float16 or float32, and
`belief.json`:

    format              1
    game                name of the game
    players, teams      of the tables that it is for
    editions            labels of the rule sheets whose games it was fitted to; it knows no others
    inputs_version      of what it is shown (`hand_inputs.INPUTS_VERSION`)

Files may come from strangers: nothing is pickled, and what does not fit is refused with a sentence.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any, Final

from millebornes_env._util.network_files import read_arrays, read_entries, write_network
from millebornes_env.agents.protocol import Table
from millebornes_env.agents.search.hand_inputs import EVENT_SIZE, INPUTS_VERSION, NOW_SIZE
from millebornes_env.agents.search.hand_network import MAX_COMPONENTS, MAX_UNITS, OUTPUTS, HandNetwork
from millebornes_env.errors import MilleBornesError, UnknownAgentError, shown
from millebornes_env.games.editions import edition

HAND_FORMAT: Final = 1
DESCRIPTION_FILE: Final = "belief.json"
WEIGHTS_FILE: Final = "belief.safetensors"
SHIPPED: Final = Path(__file__).with_name("hand_networks")
"""The networks that come with the project, a folder for each."""
HOW_TO_FIT: Final = "fit one with `python -m train.tools.belief`"
INSTEAD: Final = "belief=policy plays at every table, belief=uniform too"

_TWO: Final = 2  # players, each for themselves
_MOST_BYTES: Final = 1 << 20  # of a description
_MOST_WEIGHT_BYTES: Final = 1 << 24
_MOST_WEIGHT: Final = 1e4


def hand_network_for(table: Table, folder: str = "") -> HandNetwork:
    """The network that foretells hands at a table.

    Args:
        table: the table.
        folder: where it stands; "": one that comes with the project.

    Raises:
        UnknownAgentError: there is none for the table, or the folder holds none that fits.
        MissingExtraError: safetensors is not installed.
    """
    if folder:
        description = read_description(Path(folder))
        if not _is_for(description, table):
            raise UnknownAgentError(
                f"the network in {shown(folder)} knows {_tables_of([description])}, not {_name_of(table)}: "
                f"{INSTEAD}"
            )
        return _read(Path(folder), description)
    for path, description in _shipped():
        if _is_for(description, table):
            return _read(path, description)
    tables = _tables_of([description for _, description in _shipped()])
    raise UnknownAgentError(f"belief=network knows {tables}, not {_name_of(table)}: {INSTEAD}")


def has_hand_network(table: Table) -> bool:
    """Return True if a shipped network predicts hands at the table."""
    return any(_is_for(description, table) for _, description in _shipped())


@functools.cache
def _shipped() -> tuple[tuple[Path, dict[str, Any]], ...]:
    """The folders of the networks that come with the project, with their descriptions."""
    folders = sorted(path for path in SHIPPED.glob("*") if (path / DESCRIPTION_FILE).is_file())
    return tuple((path, read_description(path)) for path in folders)


def is_hand_network(folder: str) -> bool:
    """Return True if the folder contains a hand network."""
    try:
        return (Path(folder) / DESCRIPTION_FILE).is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _is_for(description: dict[str, Any], table: Table) -> bool:
    """Return True if the network was trained on these rules; another rule sheet may have the same rules."""
    rules = table.rules
    if (description.get("game"), description.get("players")) != (table.game, rules.players):
        return False
    if description.get("teams") != rules.teams:
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


def _name_of(table: Table) -> str:
    return f"{table.edition} for {table.rules.players}"


def _tables_of(descriptions: list[dict[str, Any]]) -> str:
    named = [
        f"{', '.join(map(str, one.get('editions') or ()))} for {one.get('players')}" for one in descriptions
    ]
    return " and ".join(shown(name)[1:-1] for name in named) or "no table"


def read_description(folder: Path) -> dict[str, Any]:
    """The contents of a folder's `belief.json`.

    Raises:
        UnknownAgentError: there is no such file, or it is damaged or of another version.
    """
    path = folder / DESCRIPTION_FILE
    try:
        content = read_entries(path, _MOST_BYTES)
    except FileNotFoundError:
        raise UnknownAgentError(
            f"{shown(str(folder))} holds no belief (no {DESCRIPTION_FILE}): {HOW_TO_FIT}"
        ) from None
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None
    versions = content.get("format"), content.get("inputs_version")
    if versions != (HAND_FORMAT, INPUTS_VERSION):
        raise UnknownAgentError(
            f"{shown(str(path))} is of format {shown(versions[0])} and inputs {shown(versions[1])}, this "
            f"version of the package reads {HAND_FORMAT} and {INPUTS_VERSION}: {HOW_TO_FIT}"
        )
    if (content.get("players"), content.get("teams")) != (_TWO, _TWO):
        raise _damaged(path, f"it is for {shown(content.get('players'))}; such networks are for two players")
    return content


def _read(folder: Path, description: dict[str, Any]) -> HandNetwork:
    path = folder / WEIGHTS_FILE
    try:
        stamp = path.stat().st_mtime_ns
    except OSError as error:
        raise _damaged(path, error.strerror or error) from None
    return _read_weights(path, stamp)


@functools.lru_cache(maxsize=8)
def _read_weights(path: Path, stamp: int) -> HandNetwork:
    """The weights; `stamp` is when the file was written, so that a file that has changed is read again."""
    try:
        arrays = read_arrays(
            path,
            HandNetwork._fields,
            most_bytes=_MOST_WEIGHT_BYTES,
            most=_MOST_WEIGHT,
            needed_by="belief=network",
        )
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None
    network = HandNetwork(*arrays)
    _check_shapes(network, path)
    return network


def _check_shapes(network: HandNetwork, path: Path) -> None:
    """Refuse weights that compiled code, which checks nothing, would read beyond.

    Raises:
        UnknownAgentError: they do not fit together.
    """
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
        raise _damaged(path, f"weights of shapes {[array.shape for array in network]}")


def _damaged(path: Path, why: object) -> UnknownAgentError:
    return UnknownAgentError(f"{shown(str(path))} is missing or damaged ({why}): restore it, or {HOW_TO_FIT}")


def save_hand_network(folder: Path, network: HandNetwork, description: dict[str, Any]) -> None:
    """Write a network; the description last, which alone makes the folder one that is read.

    Args:
        folder: made if it is missing.
        network: the weights; they are kept as float16.
        description: the entries of `belief.json` besides its format.

    Raises:
        OSError: a file could not be written; what was there is as it was.
    """
    entries = {"format": HAND_FORMAT, **description}
    write_network(folder / WEIGHTS_FILE, network._asdict(), folder / DESCRIPTION_FILE, entries)
