"""Options shared by several commands have the same name, order, help and default."""

from __future__ import annotations

import dataclasses
import re

import pytest

from millebornes_env.cli import arena, evaluate, leaderboard, record
from millebornes_env.play import command as play
from tests.each import each

COMMANDS = {
    "evaluate": evaluate,
    "arena": arena,
    "leaderboard": leaderboard,
    "play": play,
    "record": record,
}
SHARED = (
    *("edition", "players", "teams", "episode", "seed", "threads"),
    *("deals", "until", "allow_cheating", "out"),
)
"""In this order."""
OTHERWISE = {("play", "episode"), ("play", "seed"), ("leaderboard", "out"), ("record", "out")}
"""Options with other defaults: a person plays rounds with random cards, the leaderboard is in docs, and data
have no default folder."""


@each("name", COMMANDS)
def test_options_of_one_name_have_one_order_and_default(name: str) -> None:
    fields = [field for field in dataclasses.fields(COMMANDS[name].Args) if field.name in SHARED]
    names = [field.name for field in fields]
    assert names == sorted(names, key=SHARED.index)
    defaults = {field.name: field.default for field in dataclasses.fields(arena.Args)}
    for field in fields:
        if (name, field.name) not in OTHERWISE:
            assert field.default == defaults[field.name], field.name


@each("name", ["evaluate", "arena", "play"])
def test_help_of_an_option_is_the_same_everywhere(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        COMMANDS[name].main(["--help"])
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for words in (
        "Rule sheet, perhaps with overrides (parker+max_200=4) or of your own game (my_game.py:SHEET). None: "
        "the edition of the first agent's run folder, else parker.",
        "--edition STR ",
        "Seats at the table. None: those of the first agent's run folder, else 2.",
        "Teams at the table. None: the sheet's default.",
        "Length of an episode: round, match, or usual for the game's ",
        "Seed of the deals and of the agents",
    ):
        assert words in text
    assert not re.search(r"\{None\}|\[\[|\{\[", text)
