"""Settings of the audit's script for each game: hooks, tables and the texts of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from millebornes_env import edition
from millebornes_env.games.millebornes.editions import editions
from millebornes_env.games.wielerspel.editions import edition as race_sheet
from millebornes_env.testing.millebornes import random_play as random_rounds
from tests.laws.wielerspel import random_play as random_races

RACES = (
    "arc_en_ciel",
    "arc_en_ciel+target_rainbows=5",
    "arc_en_ciel+also_green=1+also_polka=1",
    "arc_en_ciel+combativity=1",
    "arc_en_ciel+energy=20+retirement_energy=1+servants=3",
    "arc_en_ciel+first_minute=1+inner_track=4+jersey_cards=3+second_minute=2",
    "arc_en_ciel+max_turns=100",
)
"""The options of the text [003:198-202], and sheets with few jerseys, servants, turns, inner arrows."""


@dataclass(frozen=True)
class AuditedGame:
    """A game that the audit plays.

    Attributes:
        hooks: module of the game (`testing.audited_play.PlayHooks`).
        tables: function that returns the tables of the named sheets, or of all: (sheet, rules).
        page: name of the page and of the file of figures.
        title: title of the page.
        about: the page's paragraph about laws and players.
    """

    hooks: ModuleType
    tables: Callable[[tuple[str, ...]], list[tuple[str, Any]]]
    page: str
    title: str
    about: str


def _tables_of_millebornes(names: tuple[str, ...]) -> list[tuple[str, Any]]:
    sheets = [edition(name) for name in names or editions()]
    return [(sheet.name, sheet.table(*table)) for sheet in sheets for table in sheet.tables]


def _tables_of_wielerspel(names: tuple[str, ...]) -> list[tuple[str, Any]]:
    sheets = [race_sheet(name) for name in names or RACES]
    return [(sheet.label, sheet.table(players)) for sheet in sheets for players in sheet.players]


GAMES = {
    "millebornes": AuditedGame(
        hooks=random_rounds,
        tables=_tables_of_millebornes,
        page="audit",
        title="The audit",
        about="The laws: [audit](../../millebornes_env/games/millebornes/audit/violations.py) for a game "
        "record, [step_laws.py](../../millebornes_env/testing/millebornes/step_laws.py) for a step; the "
        "players: [random_play.py](../../millebornes_env/testing/millebornes/random_play.py). Half of the "
        "games are matches, half are rounds. The race has [a page of its own](audit_race.md).",
    ),
    "wielerspel": AuditedGame(
        hooks=random_races,
        tables=_tables_of_wielerspel,
        page="audit_race",
        title="The audit of the race",
        about="The laws: [audit](../../millebornes_env/games/wielerspel/audit/violations.py) for a record, "
        "[step_laws.py](../../tests/laws/wielerspel/step_laws.py) for a decision and a step; the players: "
        "[random_play.py](../../tests/laws/wielerspel/random_play.py). In one race of three all play any "
        "legal action, in one all play soberly, in one each seat has a style of its own.",
    ),
}
"""The games by name, the default first."""
