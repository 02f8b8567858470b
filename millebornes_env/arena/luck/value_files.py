"""Files of value networks for AIVAT.

A folder holds `value.safetensors`, the layers of a perceptron (`_util.network_files`), and `value.json`:

    format              2
    game                name of the game
    players, teams      seats and teams of its tables
    inputs_version      version of its inputs (`INPUTS_VERSION` of the game's part)
    editions            labels of the rule sheets it was fitted to; it works with others, too
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from millebornes_env._util.network_files import Layers, NetworkFiles
from millebornes_env.agents.policy.network import MAX_UNITS
from millebornes_env.arena.luck.value_network import NUM_LAYERS, ValueNetwork, value_network
from millebornes_env.errors import ArenaError, shown

if TYPE_CHECKING:
    from millebornes_env.games.registry import Game

HOW_TO_TRAIN: Final = "fit one with `python -m train.tools.luck_value`, and name its folder with --luck-value"
FILES: Final = NetworkFiles("value", (2,), "value of luck", HOW_TO_TRAIN, ArenaError)
SHIPPED: Final = Path(__file__).with_name("values")
"""Folder of the shipped networks, with a folder for each."""


def network_for(game: Game, rules: Any, folder: str = "") -> ValueNetwork:
    """Return the value network for a table.

    Args:
        game: the game, with the part "aivat".
        rules: rules of the table, with `players` and `teams`.
        folder: folder of the network; "": a shipped one.

    Raises:
        ArenaError: there is no network for the table, or the folder's does not fit.
    """
    return value_network(layers_for(game, rules, folder))


def layers_for(game: Game, rules: Any, folder: str = "") -> Layers:
    """Return the layers of `network_for`."""
    if folder:
        return _read(Path(folder), game, rules)
    shipped = [path for path in sorted(SHIPPED.glob("*")) if (path / FILES.description_file).is_file()]
    for path in shipped:
        if _is_for(FILES.read_description(path), game, rules):
            return _read(path, game, rules)
    raise ArenaError(
        f"aivat has no value of luck for {rules.players} players in {rules.teams} teams of the game "
        f"{game.name!r} (it has {', '.join(path.name for path in shipped) or 'none'}): {HOW_TO_TRAIN}"
    )


def _is_for(description: dict[str, Any], game: Game, rules: Any) -> bool:
    wanted = (game.name, rules.players, rules.teams)
    return tuple(description.get(key) for key in ("game", "players", "teams")) == wanted


def _read(folder: Path, game: Game, rules: Any) -> Layers:
    description, module = FILES.read_description(folder), game.hook("arena.luck", "aivat")
    if not _is_for(description, game, rules):
        raise ArenaError(
            f"the value of luck in {str(folder)!r} is for {description.get('players')} players in "
            f"{description.get('teams')} teams of {shown(description.get('game'))}, not for "
            f"{rules.players} in {rules.teams} of {game.name!r}: {HOW_TO_TRAIN}"
        )
    if description.get("inputs_version") != module.INPUTS_VERSION:
        raise ArenaError(f"the value of luck in {str(folder)!r} is of another version: {HOW_TO_TRAIN}")
    layers, path = FILES.read_layers(folder, NUM_LAYERS), folder / FILES.weights_file
    inputs = module.num_inputs(rules.players, rules.teams)
    FILES.check_layers(layers, folder, inputs, MAX_UNITS, highest=1.0, is_bounded=False)
    if len(layers[-1][1]) != 1:
        raise FILES.damaged(path, f"{len(layers[-1][1])} outputs")
    if layers[0][0][:, 0].any():
        raise FILES.damaged(path, "the weights of input 0 must be 0")
    return layers


def network_digest(network: ValueNetwork) -> str:
    """Return a digest of the weights, 16 hexadecimal digits."""
    digest = hashlib.sha256()
    for array in network:
        digest.update(array.tobytes())
    return digest.hexdigest()[:16]
