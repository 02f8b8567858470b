"""Checkpoints of solvers: flat arrays, and the identity of the game, which is checked on loading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.files import replacing
from millebornes_env.errors import SolvingError, shown
from millebornes_env.solving.archives import name_of_game, open_archive, read_about, read_array
from millebornes_env.solving.deck import Solvable
from millebornes_env.solving.tree import Counts, Tree

Float64Array = npt.NDArray[np.float64]

CHECKPOINT_FORMAT: Final = 1


def identity_of(game: Solvable, counts: Counts, sequences: list[int]) -> dict[str, Any]:
    """Return the identity of a game as JSON values: its name, rules and size."""
    return {
        "name": game.name,
        "rules": list(game.rules),
        "counts": json.loads(json.dumps(asdict(counts))),
        "sequences": sequences,
    }


def identity(tree: Tree) -> dict[str, Any]:
    """Return the identity of a game whose whole tree is in memory."""
    return identity_of(tree.game, tree.counts, [seat.size for seat in tree.seats])


def write_checkpoint(path: Path, about: dict[str, Any], arrays: Mapping[str, Float64Array]) -> None:
    """Write the learned arrays and the metadata of a run, as JSON values, atomically.

    Raises:
        OSError: the file could not be written.
    """
    content: dict[str, Any] = dict(arrays)
    content["about"] = np.array(json.dumps({"format": CHECKPOINT_FORMAT, **about}))
    with replacing(path) as draft, draft.open("wb") as file:
        np.savez(file, **content)


def read_checkpoint(
    path: Path, game: dict[str, Any], arrays: Mapping[str, Float64Array], *, predictive: bool
) -> dict[str, Any]:
    """Read a checkpoint of the game into `arrays`, one at a time to save memory; return its metadata.

    If the file is damaged, some of the arrays are overwritten as well.

    Raises:
        SolvingError: the file is damaged, or of another game or variant.
        OSError: the file could not be read.
    """
    try:
        with open_archive(path) as result:
            about = read_about(result)
            _check(path, about, game, predictive)
            for name, array in arrays.items():
                values = read_array(result, name, array.shape, np.float64)
                if not np.isfinite(values).all():
                    raise SolvingError(f"{path} is damaged: {name} has non-finite values")
                array[:] = values
    except SolvingError:
        raise
    except (ValueError, KeyError) as error:
        raise SolvingError(f"{path} is not a checkpoint of a solver, or is damaged ({error})") from None
    return about


def _check(path: Path, about: dict[str, Any], own: dict[str, Any], predictive: bool) -> None:
    if about.get("format") != CHECKPOINT_FORMAT:
        raise SolvingError(f"{path} is not a checkpoint that this version can read; use another file")
    if about.get("game") != own:
        raise SolvingError(
            f"{path} is a checkpoint of {shown(name_of_game(about))}, and not of {own['name']!r} with "
            "the same rules; use another file, or remove this one"
        )
    if "predictive" not in about:
        raise SolvingError(f"{path} is a solved policy, not a checkpoint of a solver; use another file")
    if about["predictive"] != predictive:
        raise SolvingError(f"{path} is of the other variant of CFR+; use the same option")
    iteration, seconds = about.get("iteration"), about.get("seconds")
    if not isinstance(iteration, int) or iteration < 0 or not isinstance(seconds, float | int):
        raise SolvingError(f"{path} is damaged: the number of iterations is missing or invalid")
