"""The editions and their tables, for tests that say one thing of several of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from millebornes_env.games.millebornes.editions import edition
from tests.each import Test, each
from tests.support import Position

EDITIONS = ("dujardin", "dujardin_2014", "dujardin_classic", "dutch", "parker", "winning_moves")
WITHOUT_POINTS = ("dujardin", "dujardin_2014")
WITH_POINTS = ("dujardin_classic", "dutch", "parker", "winning_moves")
TABLES = [(name, players, teams) for name in EDITIONS for players, teams in edition(name).tables]

ROLLING: dict[str, tuple[str, ...]] = dict.fromkeys(EDITIONS, ("roll",)) | {"dujardin": ()}
"""The battle pile of who rolls: a Roll, or none where none is needed to start."""

every_edition = each("name", EDITIONS)
every_table = each(("name", "players", "teams"), TABLES)


def in_editions(*names: str) -> Callable[[Test], Test]:
    """Return a parameter `name` for each of these editions."""
    return each("name", names)


def all_but(*names: str) -> Callable[[Test], Test]:
    """Return a parameter `name` for each of the other editions."""
    assert set(names) <= set(EDITIONS)
    return in_editions(*(name for name in EDITIONS if name not in names))


def at(name: str, *lines: str, **options: Any) -> Position:
    """Return a position at a table of the edition; see `Position`."""
    return Position(*lines, edition=name, **options)


def lay(position: Position, hazard: str, team: int) -> str:
    """Return the move that lays the hazard against the team."""
    return f"play {hazard}" if position.rules.teams == 2 else f"play {hazard} against team {team}"


def kms(position: Position, lengths: Iterable[int]) -> Position:
    """Let the teams, in their order, have come so far."""
    for team, length in enumerate(lengths):
        position.km(team, length)
    return position
