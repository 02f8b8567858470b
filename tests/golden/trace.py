"""Golden games: rounds written down decision by decision, with what every seat could do and saw.

A file for each edition and table; in it, for each round, the position as dealt and then for each decision

    > seat 0: 25                 the play (before that, what the seat could do and saw)
      legal 0 3 19 22            the action ids that the mask allows
      sees 0:1 38:76             the observation: the places whose number changed since this seat last decided
      record 1f0c...             SHA-256 of the whole record after the play, its first 16 digits
      + distance 0: 25           lines of the position after the play that were not there before
      - hand 0: 25 roll          lines that are no longer there

Streams are left out of the changed lines: what is left of them follows from the draws, and the digest covers
them. `python tests/golden/record.py` makes the files anew; whoever changes one reads the diff.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from millebornes_env import Edition
from millebornes_env.engine.batch import NO_GAME, Batch, Settings
from millebornes_env.engine.kernels import DISABLED
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.sections import ObservationSpec
from millebornes_env.games.millebornes.state import CLAIM, EXTENSION, ROUND_OVER
from millebornes_env.notation import read_position, write_position
from millebornes_env.notation.millebornes.actions import read_action, write_action

FOLDER = Path(__file__).parent / "games"
SETTINGS = Settings(
    episode=0,
    reward=rulebook.POINTS,
    autoreset=DISABLED,
    observation_spec=ObservationSpec(),
    punish_illegal=0,
)
INDENT = "  "

Choose = Callable[[Batch], int]


def file_of(edition: Edition, players: int, teams: int) -> Path:
    """Return the path of a table's golden games."""
    return FOLDER / f"{edition.name}-{players}-in-{teams}.txt"


def dealt(edition: Edition, players: int, teams: int, seed: int) -> Batch:
    """One game of the table, dealt."""
    games = Batch(rulebook, 1, edition.table(players, teams), SETTINGS)
    games.seed(seed)
    games.start()
    return games


def position_lines(games: Batch, edition: Edition) -> list[str]:
    return write_position(games.states[0], edition, games.rules, checked=False).splitlines()


def is_over(games: Batch) -> bool:
    return int(games.states[0].phase) == ROUND_OVER


def trace(games: Batch, edition: Edition, choose: Choose) -> Iterator[str]:
    """Play a round to its end and write it down."""
    before = position_lines(games, edition)
    yield from before
    seen = np.zeros((games.rules.players, games.buffers.observation.shape[1]), np.int8)
    while not is_over(games):
        state = games.states[0]
        seat = int(state.seat)
        row, mask = games.buffers.observation[0].copy(), games.buffers.action_mask[0].copy()
        action = choose(games)
        yield f"> seat {seat}: {write_action(action, games.rules, seat)}"
        yield f"{INDENT}legal {' '.join(map(str, np.flatnonzero(mask)))}"
        yield f"{INDENT}sees {changed_places(seen[seat], row)}".rstrip()
        seen[seat] = row
        assert games.step(np.array([action], np.int64)) == NO_GAME
        yield f"{INDENT}record {digest(games)}"
        after = position_lines(games, edition)
        yield from changes(before, after)
        before = after
    rewards = " ".join(f"{reward:g}" for reward in games.buffers.rewards[0])
    yield f"{INDENT}rewards {rewards}"
    yield f"{INDENT}winner {int(games.buffers.final_winner[0])}"
    for seat in range(games.rules.players):
        row = games.buffers.final_observation[0, seat]
        yield f"{INDENT}last seen by seat {seat} {changed_places(seen[seat], row)}"


def changed_places(before: npt.NDArray[np.int8], row: npt.NDArray[np.int8]) -> str:
    """Return the places of a row whose number is another one now."""
    return " ".join(f"{place}:{row[place]}" for place in np.flatnonzero(row != before))


def digest(games: Batch) -> str:
    """Of all bytes of the record."""
    return hashlib.sha256(games.states.view(np.ndarray).tobytes()).hexdigest()[:16]


def changes(before: list[str], after: list[str]) -> Iterator[str]:
    """The lines that went and those that came, without the streams."""
    for sign, some, others in (("-", before, after), ("+", after, before)):
        for line in some:
            if line not in others and not line.startswith("stream"):
                yield f"{INDENT}{sign} {line}"


def player(seed: int) -> Choose:
    """Somebody who likes to lay cards, distances above all, but not always."""
    chance = random.Random(seed)

    def choose(games: Batch) -> int:
        legal = np.flatnonzero(games.buffers.action_mask[0]).tolist()
        phase = int(games.states[0].phase)
        if phase in (CLAIM, EXTENSION):
            return int(chance.choice(legal))
        plays = [action for action in legal if not 19 <= action < 38]
        distances = [action for action in plays if action < 5]
        for liked, likely in ((distances, 0.75), (plays, 0.8)):
            if liked and chance.random() < likely:
                return int(chance.choice(liked))
        return int(chance.choice(legal))

    return choose


def rounds_in(text: str, episode: str = "round") -> Iterator[tuple[int, list[str]]]:
    """The seed and the lines of each round (or race) of a file."""
    for part in text.split(f"\n{episode} with seed ")[1:]:
        seed, _, lines = part.partition("\n")
        yield int(seed), [line for line in lines.splitlines() if line.strip()]


def retraced(lines: list[str]) -> list[str]:
    """The lines that the same plays from the same position give now."""
    plays = [line.removeprefix("> ") for line in lines if line.startswith("> ")]
    position = read_position("\n".join(lines[: lines.index(f"> {plays[0]}")]))
    games = Batch(rulebook, 1, position.rules, SETTINGS)
    games.states[:] = position.state
    games.write_decisions()
    remaining = iter(plays)

    def choose(games: Batch) -> int:
        seat, _, play = next(remaining).partition(": ")
        return read_action(play, games.rules, int(seat.removeprefix("seat ")))

    return list(trace(games, position.edition, choose))


def changes_of(lines: list[str], now: list[str]) -> Iterator[str]:
    """Name the first line that differs from the recorded one, and another number of lines."""
    for number, (recorded, is_now) in enumerate(zip(lines, now, strict=False)):
        if recorded != is_now:
            yield f"line {number}: {recorded!r} is now {is_now!r}"
            break
    if len(lines) != len(now):
        yield f"{len(lines)} lines are now {len(now)}"
