"""Golden games of the race: races written down decision by decision, with what every seat could do and saw.

A file for each table; in it, for each race, the position at the start and then for each decision

    > seat 0, bid: bid 3         the play (before that, what was asked, and what the seat could do and saw)
      legal 5 9-68               the action ids that the mask allows
      sees 0:1 38:76             the observation: the places whose number changed since this seat last decided
      record 1f0c...             SHA-256 of the whole record after the play, its first 16 digits
      energy 57 60 60            fields of the record that have changed, as they are now

The key and the deck are left out of the fields; the digest covers them.
`python tests/golden/wielerspel/record.py` makes the files; whoever changes one reads the diff.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from millebornes_env.engine.batch import NO_GAME, Batch, Settings
from millebornes_env.engine.kernels import DISABLED
from millebornes_env.games.wielerspel import rulebook
from millebornes_env.games.wielerspel.actions import NUM_ACTIONS, PASS, action_name, bid_of, is_retirement
from millebornes_env.games.wielerspel.editions import edition
from millebornes_env.games.wielerspel.sections import ObservationSpec
from millebornes_env.games.wielerspel.state import PHASE_NAMES, RACE_OVER, STATE
from tests.golden.trace import INDENT, Choose, changed_places, digest

FOLDER = Path(__file__).parent / "games"
ACTIONS = {action_name(action): action for action in range(NUM_ACTIONS)}
SETTINGS = Settings(
    episode=0, reward=0, autoreset=DISABLED, observation_spec=ObservationSpec(), punish_illegal=0
)
FIELDS = [name for name in STATE.names or () if name not in ("key", "deck")]


class Table(NamedTuple):
    """A table that has golden games.

    Attributes:
        name: of its file.
        players: seats.
        changes: numbers of the sheet that differ.
    """

    name: str
    players: int
    changes: dict[str, int]

    @property
    def path(self) -> Path:
        """The file of its golden games."""
        return FOLDER / f"{self.name}.txt"


TABLES = [
    *(Table(f"arc_en_ciel-{players}", players, {}) for players in (2, 3, 4, 5, 6)),
    Table("options-3", 3, {"target_rainbows": 2, "also_green": 1, "also_polka": 1, "combativity": 1}),
    Table("hunger-4", 4, {"energy": 20, "max_energy": 20, "servants": 3, "retirement_energy": 4}),
]


def begun(table: Table, seed: int) -> Batch:
    """One race of the table, at its start."""
    rules = edition("arc_en_ciel").replace(**table.changes).table(table.players)
    games = Batch(rulebook, 1, rules, SETTINGS)
    games.seed(seed)
    games.start()
    return games


def is_over(games: Batch) -> bool:
    return int(games.states[0].phase) == RACE_OVER


def play(games: Batch, action: int) -> None:
    assert games.step(np.array([action], np.int64)) == NO_GAME


def trace(games: Batch, choose: Choose) -> Iterator[str]:
    """Play a race to its end and write it down."""
    before = position_lines(games)
    yield from before
    seen = np.zeros((games.rules.players, games.buffers.observation.shape[1]), np.int8)
    while not is_over(games):
        state = games.states[0]
        seat, phase = int(state.seat), PHASE_NAMES[int(state.phase)]
        row, mask = games.buffers.observation[0].copy(), games.buffers.action_mask[0].copy()
        action = choose(games)
        yield f"> seat {seat}, {phase}: {action_name(action)}"
        yield f"{INDENT}legal {ranges(np.flatnonzero(mask).tolist())}"
        yield f"{INDENT}sees {changed_places(seen[seat], row)}".rstrip()
        seen[seat] = row
        play(games, action)
        yield f"{INDENT}record {digest(games)}"
        after = position_lines(games)
        yield from (f"{INDENT}{line}" for line in after if line not in before)
        before = after
    yield f"{INDENT}rewards {' '.join(f'{reward:g}' for reward in games.buffers.rewards[0])}"
    yield f"{INDENT}winner {int(games.buffers.final_winner[0])}"
    for seat in range(games.rules.players):
        row = games.buffers.final_observation[0, seat]
        yield f"{INDENT}last seen by seat {seat} {changed_places(seen[seat], row)}"


def position_lines(games: Batch) -> list[str]:
    """A line for each field of the record; arrays in short, each place with its number, or all in a row."""
    return [f"{name} {_value(games.states[0][name])}".rstrip() for name in FIELDS]


def _value(value: Any) -> str:
    array = np.asarray(value)
    if array.ndim == 2:
        return " | ".join(" ".join(map(str, row)) for row in array.tolist())
    if array.size > 2 * 6:
        return " ".join(f"{place}:{array[place]}" for place in np.flatnonzero(array != -1))
    return " ".join(map(str, np.atleast_1d(array).tolist()))


def ranges(numbers: list[int]) -> str:
    """Return the numbers in short: 5 9-68."""
    starts = [now for before, now in pairwise([-2, *numbers]) if now != before + 1]
    ends = [before for before, now in pairwise([*numbers, NUM_ACTIONS + 2]) if now != before + 1]
    return " ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in zip(starts, ends, strict=True))


def player(seed: int) -> Choose:
    """Somebody who bids little and retires servants seldom, but does not always play alike."""
    chance = random.Random(seed)

    def choose(games: Batch) -> int:
        legal = np.flatnonzero(games.buffers.action_mask[0]).tolist()
        cheap = int(games.states[0].highest_bid) + 4
        kept = [action for action in legal if not is_retirement(action) and bid_of(action) <= cheap]
        if PASS in kept and chance.random() < 0.4:
            return PASS
        return int(chance.choice(kept if kept and chance.random() < 0.98 else legal))

    return choose


def retraced(table: Table, seed: int, lines: list[str]) -> list[str]:
    """The lines that the same plays from the same seed give now, up to one that is not legal any more."""
    plays = iter([line.rpartition(": ")[2] for line in lines if line.startswith("> ")])

    def choose(games: Batch) -> int:
        return ACTIONS[next(plays)]

    result: list[str] = []
    try:
        result.extend(trace(begun(table, seed), choose))
    except (AssertionError, RuntimeError) as error:
        result.append(f"cannot be played any more: {error!r}")
    return result
