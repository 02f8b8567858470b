"""Checkpoints of solvers: flat arrays, and the identity of their game; other games are rejected."""

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
    """Return what identifies a game, as JSON values: its name, rules and size."""
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
    """Write a checkpoint atomically.

    Args:
        path: of the file.
        about: the iteration and other data of the run; JSON values.
        arrays: what was learned.

    Raises:
        OSError: it could not be written.
    """
    content: dict[str, Any] = dict(arrays)
    content["about"] = np.array(json.dumps({"format": CHECKPOINT_FORMAT, **about}))
    with replacing(path) as draft, draft.open("wb") as file:
        np.savez(file, **content)


def read_checkpoint(
    path: Path, game: dict[str, Any], arrays: Mapping[str, Float64Array], *, predictive: bool
) -> dict[str, Any]:
    """Read a file of `write_checkpoint`, one array at a time because arrays of large games are large.

    Args:
        path: of the file.
        game: the solver's, from `identity_of`.
        arrays: to be filled. If the file turns out to be damaged, some of them are already.
        predictive: which variant of CFR+ the solver is.

    Returns:
        The metadata of the file.

    Raises:
        SolvingError: it is damaged, or of another game, or of the other variant.
        OSError: it could not be read.
    """
    try:
        with open_archive(path) as result:
            about = read_about(result)
            _check(path, about, game, predictive)
            for name, array in arrays.items():
                array[:] = _checked(path, name, read_array(result, name, array.shape, np.float64))
    except (ValueError, KeyError) as error:
        raise SolvingError(f"{path} is no checkpoint of a solver, or damaged ({error})") from None
    return dict(about)


def _checked(path: Path, name: str, found: Float64Array) -> Float64Array:
    if not np.isfinite(found).all():
        raise SolvingError(f"{path} is damaged: {name} holds what is no number")
    return found


def _check(path: Path, about: Any, own: dict[str, Any], predictive: bool) -> None:
    if not isinstance(about, dict) or about.get("format") != CHECKPOINT_FORMAT:
        raise SolvingError(f"{path} is no checkpoint that this version can read; begin anew elsewhere")
    if about.get("game") != own:
        raise SolvingError(
            f"{path} is a checkpoint of {shown(name_of_game(about))}, and not of {own['name']!r} with "
            "the same rules; give another file, or remove this one"
        )
    if about.get("predictive") != predictive:
        raise SolvingError(f"{path} was made by the other variant of CFR+; give the same option")
    iteration, seconds = about.get("iteration"), about.get("seconds")
    if not isinstance(iteration, int) or iteration < 0 or not isinstance(seconds, float | int):
        raise SolvingError(f"{path} is damaged: it does not say after how many iterations it was made")
