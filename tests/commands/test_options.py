"""Commands agree: an option that several have has one name, one place, one help and one default."""

from __future__ import annotations

import dataclasses
import re

import pytest

from millebornes_env.commands import arena, compare, evaluate, leaderboard, play, record
from millebornes_env.commands.options import RENAMED

COMMANDS = {
    "evaluate": evaluate,
    "compare": compare,
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
"""Who has another default: a person plays rounds, and other cards each time; the leaderboard is in docs; data
are nowhere by default."""


@pytest.mark.parametrize("name", COMMANDS)
def test_options_of_one_name_have_one_order_and_default(name: str) -> None:
    fields = [field for field in dataclasses.fields(COMMANDS[name].Args) if field.name in SHARED]
    names = [field.name for field in fields]
    assert names == sorted(names, key=SHARED.index)
    defaults = {field.name: field.default for field in dataclasses.fields(arena.Args)}
    for field in fields:
        if (name, field.name) not in OTHERWISE:
            assert field.default == defaults[field.name], field.name


@pytest.mark.parametrize("name", ["evaluate", "compare", "arena", "play"])
def test_help_of_an_option_is_the_same_everywhere(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        COMMANDS[name].main(["--help"])
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    for words in (
        "Rule sheet, with overrides: parker+max_200=4; of a game of your own, my_game.py:SHEET. None: as the "
        "first agent's run folder, else parker.",
        "--edition STR ",
        "Seats at the table. None: as the first agent's run folder, else 2.",
        "Teams at the table. None: as usual for the sheet.",
        "Play whole matches, or single rounds.",
        "Seed of the deals and of the agents",
    ):
        assert words in text
    assert not re.search(r"\{None\}|\[\[|\{\[", text)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("evaluate", ["greedy", "--num-games", "2"], "--num-games is called --deals now"),
        ("evaluate", ["greedy", "--num_games=2"], "--num-games is called --deals now"),
        ("arena", ["greedy", "holder", "--cheats"], "--cheats is called --allow-cheating now"),
        ("arena", ["greedy", "holder", "--luck"], "--luck is called --control-variate now"),
        ("leaderboard", ["--kept", "here"], "--kept is called --tournaments now"),
    ],
)
def test_an_old_name_is_told_by_the_new_one(
    name: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert COMMANDS[name].main(arguments) == 2
    assert capsys.readouterr().err == f"error: {message}\n"


def test_no_command_has_an_old_name() -> None:
    for module in COMMANDS.values():
        assert not {field.name for field in dataclasses.fields(module.Args)} & set(RENAMED)
