"""Settings of the audit's script for each game: players, laws and tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from millebornes_env import edition
from millebornes_env.games.millebornes import audit as audit_of_millebornes
from millebornes_env.games.millebornes.editions import editions
from millebornes_env.games.millebornes.rules import compiled_rules
from millebornes_env.games.wielerspel import audit as audit_of_wielerspel
from millebornes_env.games.wielerspel.editions import edition as race_sheet
from millebornes_env.games.wielerspel.rules import rules_array
from millebornes_env.testing import audited_play, audited_races, race_laws, step_laws

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
        player: the module that plays it: `COUNTS`, `FOUND`, `MOST_FOUND`, `new_play`, `begin`, `play_on`.
        tables: the tables of these sheets, or of all if none is named: (sheet, rules).
        compiled: a table's rules as compiled code takes them.
        message_of: a violation in words.
        messages: of all laws.
        page: the name of its page and of its figures.
        title: of the page.
        about: what the page says of laws and players.
    """

    player: ModuleType
    tables: Callable[[tuple[str, ...]], list[tuple[str, Any]]]
    compiled: Callable[[Any], Any]
    message_of: Callable[..., str]
    messages: tuple[str, ...]
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
        player=audited_play,
        tables=_tables_of_millebornes,
        compiled=compiled_rules,
        message_of=audit_of_millebornes.message_of,
        messages=step_laws.ALL_MESSAGES,
        page="audit",
        title="The audit",
        about="The laws: [audit](../millebornes_env/games/millebornes/audit/violations.py) for a game "
        "record, [step_laws.py](../millebornes_env/testing/step_laws.py) for a step; the players: "
        "[random_players.py](../millebornes_env/testing/random_players.py). Half of the games are matches, "
        "half are rounds. The race has [a page of its own](audit_race.md).",
    ),
    "wielerspel": AuditedGame(
        player=audited_races,
        tables=_tables_of_wielerspel,
        compiled=lambda rules: rules_array(rules)[0],
        message_of=audit_of_wielerspel.message_of,
        messages=race_laws.ALL_MESSAGES,
        page="audit_race",
        title="The audit of the race",
        about="The laws: [audit](../millebornes_env/games/wielerspel/audit/violations.py) for a record, "
        "[race_laws.py](../millebornes_env/testing/race_laws.py) for a decision and a step; the players: "
        "[audited_races.py](../millebornes_env/testing/audited_races.py). In one race of three all play any "
        "legal action, in one all play soberly, in one each seat has a style of its own.",
    ),
}
"""By name, the usual one first."""
