"""Policies as tables of the whole tree, as functions, and as files."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.files import replacing
from millebornes_env.engine.numba.compiling import kernel
from millebornes_env.errors import SolvingError, shown
from millebornes_env.games.millebornes.actions import action_name, num_actions
from millebornes_env.games.millebornes.cards import CARD_NAMES, NO_CARD
from millebornes_env.games.millebornes.legality import write_mask
from millebornes_env.games.millebornes.observation import write_observation
from millebornes_env.games.millebornes.rules import RulesRecord
from millebornes_env.games.millebornes.sections import ObservationSpec, sections
from millebornes_env.games.millebornes.state import PHASE_NAMES, StateArray
from millebornes_env.solving.archives import name_of_game, open_archive, read_about, read_array
from millebornes_env.solving.checkpoints import identity
from millebornes_env.solving.deck import Deck, Solvable
from millebornes_env.solving.passes import weights_of_reach
from millebornes_env.solving.tree import Tree
from millebornes_env.solving.values import Weights, reach_of
from millebornes_env.solving.walk import action_of

Float64Array = npt.NDArray[np.float64]
Int32Array = npt.NDArray[np.int32]
Masks = npt.NDArray[np.int8]
PolicyFunction = Callable[[StateArray, Masks], npt.NDArray[Any]]
"""Function of `STATE[N]`, each game as the deciding seat knows it, and action masks, int8[N, A], that returns
action probabilities, [N, A]. Hidden cards are in an arbitrary order and must not influence the result."""

POLICY_FORMAT: Final = 1
_BATCH: Final = 8192
_TOLERANCE: Final = 1e-6
_STEPS: Final = np.iinfo(np.uint16).max
"""Weights are stored in files as multiples of 1 / `_STEPS`."""


class FunctionPolicy:
    """A policy defined by a function that is called at each information set.

    Attributes:
        name: name of the policy in reports.
    """

    needs_states = True
    in_parts = True

    def __init__(self, name: str, function: PolicyFunction) -> None:
        """Create a policy; several threads may call the function."""
        self.name = name
        self._function = function

    def weights(self, tree: Tree) -> Weights:
        """Call the function for each information set of the tree with more than one choice.

        Raises:
            SolvingError: a row is not a distribution over legal actions; the message describes the decision.
        """
        first, second = (np.ones(seat.size) for seat in tree.seats)
        for start in range(0, len(tree.decision_states), _BATCH):
            batch = slice(start, start + _BATCH)
            states = tree.decision_states[batch]
            masks = np.zeros((len(states), num_actions(tree.game.rules.teams)), np.int8)
            write_masks(states, tree.game.record, masks)
            returned = self._function(states, masks)
            answer = checked_answer(self.name, returned, masks, states, tree.game.name)
            for number, weights in enumerate((first, second)):
                seat, rows = tree.seats[number], np.flatnonzero(tree.decision_seats[batch] == number)
                at = tree.decision_operations[batch][rows]
                sets, sequences = seat.choices[at], seat.operations.firsts[at]
                write_weights(tree.game.deck, states["phase"][rows], sets, sequences, answer[rows], weights)
        return first, second


def checked_answer(
    name: str,
    answer: Any,
    masks: Masks,
    states: StateArray,
    game: str,
    sets: Int32Array | None = None,
) -> Float64Array:
    """Check a policy's answers for N decisions, and return them as probabilities that sum to 1.

    `masks` is int8[N, A], and `states` the decisions as their seats know them: `STATE[N]`, or with `sets`,
    int32[N], the row's index in them. The names are those in messages.

    Raises:
        SolvingError: a row is not a distribution over legal actions; the message describes the decision.
    """
    try:
        array = np.array(answer, np.float64)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != masks.shape:
        raise SolvingError(
            f"the policy {name!r} returned {_kind_of(answer)} for {len(masks)} information sets; it must be "
            f"float[{masks.shape[0]}, {masks.shape[1]}], a row of probabilities for each"
        )
    illegal = (array != 0) & (masks == 0) & ~np.isnan(array)
    sums = array.sum(axis=1)
    wrong = illegal.any(axis=1) | ~(np.abs(sums - 1) < _TOLERANCE) | (array < 0).any(axis=1)
    if wrong.any():
        row = int(wrong.argmax())
        where = f"{game}, {describe_decision(states[row if sets is None else sets[row]])}"
        if illegal[row].any():
            action = int(illegal[row].argmax())
            raise SolvingError(
                f"the policy {name!r} gives {action_name(action)!r} the weight {array[row, action]:g} "
                f"where it is not legal ({where}); weights of illegal actions must be 0"
            )
        raise SolvingError(
            f"the policy {name!r} has weights that are not probabilities: their sum is "
            f"{sums[row]:g}, the lowest is {array[row].min():g} ({where})"
        )
    array /= sums[:, np.newaxis]  # networks return float32
    return array


def _kind_of(answer: object) -> str:
    """Return the type and shape of an answer in words."""
    try:
        array = np.asarray(answer)
    except ValueError:
        return "rows of different lengths"
    return f"{array.dtype}{list(array.shape)}"


def describe_decision(state: Any) -> str:
    """Describe a decision in words, without hidden cards."""
    seat = int(state["seat"])
    counts = state["hand"][seat].tolist()
    hand = ", ".join(CARD_NAMES[card] for card, count in enumerate(counts) for _ in range(count))
    own, other = (_describe_team(state, team) for team in (seat, 1 - seat))
    phase, pile = PHASE_NAMES[int(state["phase"])], int(state["draw_pile"])
    return (
        f"seat {seat} to {phase} at {own}, the other at {other}, {pile} card{'' if pile == 1 else 's'} to "
        f"draw, holding {hand or 'nothing'}"
    )


def _describe_team(state: Any, team: int) -> str:
    """Describe the km of a team and the cards that show, such as "50 km (Roll, Speed limit)"."""
    shown = [int(state[pile][team]) for pile in ("battle", "speed")]
    named = ", ".join(CARD_NAMES[card] for card in shown if card != NO_CARD)
    return f"{int(state['km'][team])} km" + (f" ({named})" if named else "")


def observation_size(game: Solvable, spec: ObservationSpec) -> int:
    """Return the number of entries of an observation, D."""
    return sections(game.rules, spec)[-1].stop


@kernel
def write_rows(
    states: StateArray, rules: RulesRecord, spec: ObservationSpec, rows: npt.NDArray[np.int8]
) -> None:
    """Write the observation of the deciding seat of each game into `rows`."""
    for at in range(len(states)):
        write_observation(states[at], rules, int(states[at].seat), spec, rows[at])


@kernel
def write_masks(states: StateArray, rules: RulesRecord, masks: Masks) -> None:
    """Write the action mask of each game into `masks`."""
    for at in range(len(states)):
        write_mask(states[at], rules, masks[at])


@kernel
def write_weights(
    deck: Deck,
    phases: npt.NDArray[np.int8],
    sets: Int32Array,
    sequences: Int32Array,
    answer: Float64Array,
    weights: Float64Array,
) -> None:
    """Write action probabilities, float64[N, A], into `weights` by sequence."""
    for at in range(len(phases)):
        sequence = sequences[at]
        for choice in range(2 * len(deck.cards) + 2):
            if (sets[at] >> choice) & 1:
                weights[sequence] = answer[at, action_of(deck, int(phases[at]), choice)]
                sequence += 1


@kernel
def write_actions(
    deck: Deck,
    phases: npt.NDArray[np.int8],
    sets: Int32Array,
    sequences: Int32Array,
    weights: Float64Array,
    answer: Float64Array,
) -> None:
    """Write weights by sequence into `answer` as action probabilities; the inverse of `write_weights`."""
    for at in range(len(phases)):
        sequence = sequences[at]
        for choice in range(2 * len(deck.cards) + 2):
            if (sets[at] >> choice) & 1:
                answer[at, action_of(deck, int(phases[at]), choice)] = weights[sequence]
                sequence += 1


# Tables -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TablePolicy:
    """A policy of a whole game, as an array for each seat.

    Attributes:
        name: name of the policy in reports.
        table: float64[size] for each seat.
        about: metadata of the file: the game, the solver run, the NashConv.
    """

    name: str
    table: Weights
    about: dict[str, Any]

    needs_states = False
    in_parts = False

    def weights(self, tree: Tree) -> Weights:
        """Return the table, if it belongs to this game.

        Raises:
            SolvingError: the table is of another game, or its weights are not probabilities.
        """
        game = self.about.get("game")
        if game is not None and game != identity(tree):
            raise SolvingError(
                f"the policy {self.name!r} is of {shown(game.get('name'))}, and not of {tree.game.name!r} "
                "with the same rules"
            )
        for number, (seat, weights) in enumerate(zip(tree.seats, self.table, strict=True)):
            if weights.shape != (seat.size,):
                raise SolvingError(
                    f"the policy {self.name!r} has {len(weights)} weights for seat {number}; the tree of "
                    f"{tree.game.name} has {seat.size} sequences"
                )
            check_weights(self.name, tree, number, weights)
        return self.table


def check_weights(name: str, tree: Tree, seat: int, weights: Float64Array) -> None:
    """Raise if the weights at a decision are not probabilities.

    Raises:
        SolvingError: the message names the decision.
    """
    own = tree.seats[seat].operations
    decisions = np.flatnonzero(own.counts > 0)
    if not ((weights >= 0) & np.isfinite(weights)).all():
        raise SolvingError(f"the policy {name!r} has negative or non-finite weights for seat {seat}")
    sums = np.concatenate([[0.0], np.cumsum(weights)])
    first, count = own.firsts[decisions], own.counts[decisions]
    totals = sums[first + count] - sums[first]
    wrong = np.flatnonzero(np.abs(totals - 1) > _TOLERANCE)
    if len(wrong):
        raise SolvingError(
            f"the policy {name!r} has weights that sum to {totals[wrong[0]]:g} at decision {wrong[0]} of "
            f"seat {seat}; they must be probabilities"
        )


# Files ------------------------------------------------------------------------------------------------------


def write_policy(path: Path, tree: Tree, weights: Weights, about: dict[str, Any]) -> TablePolicy:
    """Write a policy, float64[size] for each seat, atomically; `about` is its metadata, as JSON values.

    Probabilities are rounded; decisions that the policy never reaches become uniform.

    Returns:
        The rounded policy.

    Raises:
        OSError: the file could not be written.
    """
    steps = [_rounded(tree, seat, weights[seat]) for seat in (0, 1)]
    metadata = {"format": POLICY_FORMAT, **about, "game": identity(tree)}
    with replacing(path) as draft, draft.open("wb") as file:
        _write_arrays(file, {"about": np.array(json.dumps(metadata)), "seat_0": steps[0], "seat_1": steps[1]})
    return TablePolicy(path.stem, _weights_of(tree, steps), metadata)


def _write_arrays(file: BinaryIO, arrays: dict[str, npt.NDArray[Any]]) -> None:
    """Write an `.npz` file; LZMA halves the size compared with `numpy.savez_compressed`."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_LZMA) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, array, allow_pickle=False)


def read_policy(path: Path, tree: Tree) -> TablePolicy:
    """Read a policy written by `write_policy`.

    Raises:
        SolvingError: the file does not hold a policy of this game.
        OSError: the file could not be read.
    """
    try:
        with open_archive(path) as result:
            about = read_about(result)
            _check_about(path, about, tree)
            steps = [
                read_array(result, f"seat_{number}", (seat.size,), np.uint16)
                for number, seat in enumerate(tree.seats)
            ]
    except SolvingError:
        raise
    except ValueError as error:
        raise SolvingError(f"{path} holds no policy of a solved game ({error})") from None
    return TablePolicy(path.stem, _weights_of(tree, steps), about)


def _check_about(path: Path, about: dict[str, Any], tree: Tree) -> None:
    """Raise if the policy is of another game or version."""
    if about.get("format") != POLICY_FORMAT:
        raise SolvingError(f"{path} holds no policy that this version can read")
    if about.get("game") != identity(tree):
        raise SolvingError(
            f"{path} holds a policy of {shown(name_of_game(about))}, and not of "
            f"{tree.game.name!r} with the same rules"
        )


def _rounded(tree: Tree, seat: int, weights: Float64Array) -> npt.NDArray[np.uint16]:
    """Return the weights of choices in steps; 0 for other sequences, and for those that no round reaches."""
    own = tree.seats[seat]
    steps = np.rint(weights * _STEPS).astype(np.uint16)
    rounded = np.ones(own.size)
    weights_of_reach(own.operations, steps.astype(np.float64), rounded)
    steps[reach_of(own, rounded) == 0] = 0
    steps[: own.roots] = 0
    steps[own.operations.heads[own.operations.counts < 0]] = 0  # merges
    return steps


def _weights_of(tree: Tree, steps: list[npt.NDArray[np.uint16]]) -> Weights:
    result = []
    for own, step in zip(tree.seats, steps, strict=True):
        weights = np.ones(own.size)
        weights_of_reach(own.operations, step.astype(np.float64), weights)
        result.append(weights)
    return result[0], result[1]
