"""The files of a network that values luck, read and checked.

A folder holds `value.safetensors`, the arrays of `ValueNetwork` by their names, float16 or float32, and
`value.json`:

    format              1
    game                name of the game
    players, teams      of the tables that it is for
    inputs_version      of what it is shown (`INPUTS_VERSION` of the game's part)
    editions            labels of the rule sheets whose games it was fitted to; it may be used by others

Files may come from strangers: nothing is pickled, and what does not fit is refused with a sentence.
"""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from millebornes_env._util.network_files import read_arrays, read_entries, write_network
from millebornes_env.arena.luck.value_network import MAX_UNITS, ValueNetwork
from millebornes_env.errors import ArenaError, shown

if TYPE_CHECKING:
    from millebornes_env.games.registry import Game

VALUE_FORMAT: Final = 1
DESCRIPTION_FILE: Final = "value.json"
WEIGHTS_FILE: Final = "value.safetensors"
SHIPPED: Final = Path(__file__).with_name("values")
"""The networks that come with the project, a folder for each."""

_MOST_BYTES: Final = 1 << 16  # of a description
_MOST_WEIGHT_BYTES: Final = 1 << 26
_MOST_WEIGHT: Final = float(np.finfo(np.float32).max)
HOW_TO_TRAIN: Final = "fit one with `python -m train.tools.luck_value`, and name its folder with --luck-value"


def network_for(game: Game, rules: Any, folder: str = "") -> ValueNetwork:
    """The network that values luck at a table.

    Args:
        game: that is played; it has the part "aivat".
        rules: of the table, with `players` and `teams`.
        folder: where it stands; "": one that comes with the project.

    Raises:
        ArenaError: there is none for the table, or the folder holds none that fits.
    """
    if folder:
        return _read(Path(folder), game, rules)
    found = [path for path in sorted(SHIPPED.glob("*")) if (path / DESCRIPTION_FILE).is_file()]
    for path in found:
        if _is_for(read_description(path), game, rules):
            return _read(path, game, rules)
    raise ArenaError(
        f"aivat has no value of luck for {rules.players} players in {rules.teams} teams of the game "
        f"{game.name!r} (it has {', '.join(path.name for path in found) or 'none'}): {HOW_TO_TRAIN}"
    )


def _is_for(description: dict[str, Any], game: Game, rules: Any) -> bool:
    wanted = (game.name, rules.players, rules.teams)
    return tuple(description.get(key) for key in ("game", "players", "teams")) == wanted


def _read(folder: Path, game: Game, rules: Any) -> ValueNetwork:
    description, module = read_description(folder), game.hook("arena.luck", "aivat")
    if not _is_for(description, game, rules):
        raise ArenaError(
            f"the value of luck in {str(folder)!r} is for {description.get('players')} players in "
            f"{description.get('teams')} teams of {shown(description.get('game'))}, not for "
            f"{rules.players} in {rules.teams} of {game.name!r}: {HOW_TO_TRAIN}"
        )
    if description.get("inputs_version") != module.INPUTS_VERSION:
        raise ArenaError(f"the value of luck in {str(folder)!r} is of another version: {HOW_TO_TRAIN}")
    path = folder / WEIGHTS_FILE
    try:
        stamp = path.stat().st_mtime_ns
    except OSError as error:
        raise _damaged(path, error.strerror or error) from None
    return _read_weights(path, module.num_inputs(rules.players, rules.teams), stamp)


def read_description(folder: Path) -> dict[str, Any]:
    """The contents of a folder's `value.json`.

    Raises:
        ArenaError: there is no such file, or it is damaged.
    """
    path = folder / DESCRIPTION_FILE
    try:
        content = read_entries(path, _MOST_BYTES)
    except FileNotFoundError:
        raise ArenaError(
            f"{str(folder)!r} holds no value of luck (no {DESCRIPTION_FILE}): {HOW_TO_TRAIN}"
        ) from None
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None
    if content.get("format") != VALUE_FORMAT:
        raise ArenaError(
            f"{str(path)!r} has the format {shown(content.get('format'))}, this version reads "
            f"{VALUE_FORMAT}: {HOW_TO_TRAIN}"
        )
    return content


@functools.lru_cache(maxsize=8)
def _read_weights(path: Path, inputs: int, stamp: int) -> ValueNetwork:
    """The weights; `stamp` is when the file was written, so that a file that has changed is read again."""
    try:
        arrays = read_arrays(
            path,
            ValueNetwork._fields,
            most_bytes=_MOST_WEIGHT_BYTES,
            most=_MOST_WEIGHT,
            needed_by="the value of luck",
        )
    except (OSError, ValueError) as error:
        raise _damaged(path, error) from None
    network = ValueNetwork(*arrays)
    _check_shapes(network, inputs, path)
    return network


def _check_shapes(network: ValueNetwork, inputs: int, path: Path) -> None:
    """Refuse weights that compiled code, which checks nothing, would read beyond.

    Raises:
        ArenaError: they do not fit together.
    """
    width, units = network.bias.size, network.last.size
    needed = ((inputs, width), (width,), (units, width), (units,), (units,), (1,))
    if tuple(array.shape for array in network) != needed or not 0 < width <= MAX_UNITS:
        raise _damaged(path, f"weights of shapes {[array.shape for array in network]}, {inputs} inputs")
    if network.rows[0].any():
        raise _damaged(path, "the row of input 0 must be 0")


def network_digest(network: ValueNetwork) -> str:
    """Sixteen hexadecimal digits that other weights change."""
    digest = hashlib.sha256()
    for array in network:
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]


def _damaged(path: Path, why: object) -> ArenaError:
    return ArenaError(f"{str(path)!r} is missing or damaged ({why}): restore it, or {HOW_TO_TRAIN}")


def save_network(folder: Path, network: ValueNetwork, description: dict[str, Any]) -> None:
    """Write a network; the description last, which alone makes the folder one that is read.

    Args:
        folder: made if it is missing.
        network: the weights; they are kept as float16.
        description: the entries of `value.json` besides its format.

    Raises:
        OSError: a file could not be written; what was there is as it was.
    """
    entries = {"format": VALUE_FORMAT, **description}
    write_network(folder / WEIGHTS_FILE, network._asdict(), folder / DESCRIPTION_FILE, entries)
