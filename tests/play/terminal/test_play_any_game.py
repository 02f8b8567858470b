"""Other games on the terminal: the race by script, a registered game, wrong answers, and nothing hidden."""

from __future__ import annotations

import os
import re
import signal
from io import StringIO
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.layout import Section
from millebornes_env.games.registry import Game, SheetOfTables, register_game
from millebornes_env.play.command import main
from millebornes_env.play.terminal.person import Person
from tests.each import each
from tests.games.conftest import _games_and_agents_as_they_were, pig, pig_file  # noqa: F401 - fixtures

AN_AUCTION = """
table: 3 players
rider: 14
rolled: 4 by seat 0
peloton: 0 1 2
energy: 20 5 30
servants 0: 1 2
to act: seat 0, bid
"""
AN_ESCAPE = "table: 3 players\nrider: 8\nrolled: 1 by seat 0\npeloton: 0 1 2\nto act: seat 0, escape"


def played(*arguments: str, answers: str, exit_code: int = 0) -> str:
    shown = StringIO()
    assert main(list(arguments), StringIO(answers), shown) == exit_code
    return shown.getvalue()


def race(answers: str, *arguments: str) -> str:
    usual = ("--edition", "arc_en_ciel", "--players", "3", "--seed", "3", "--against", "random")
    return played(*usual, *arguments, answers=answers)


def env_at(position: str) -> VectorEnv:
    env = vector_env(1, "arc_en_ciel", players=3, autoreset_mode="disabled")
    env.reset(seed=1, options={"positions": position})
    return env


def asked(position: str, answers: str) -> tuple[str, str]:
    """Return the person's choice for some answers, and the output."""
    env = env_at(position)
    person = Person(Table.of(env))
    person.source, person.sink = StringIO(answers), StringIO()
    action = person.choose(env, env.step(np.array([-1])).observations)
    return env.legal_actions()[action], person.sink.getvalue()


# A whole race ----------------------------------------------------------------------------------------------

PREFERRED = ("pass", "escape", "pay", "exchange green", "exchange polka", "retire", "give up")


class Typist(StringIO):
    """Types what the list shows, the first of those it prefers or the last; at the end its answers."""

    def __init__(self, shown: StringIO, *answers: str) -> None:
        super().__init__()
        self.shown, self.answers = shown, list(answers)

    def readline(self, size: int | None = -1, /) -> str:
        said = self.shown.getvalue()[-2000:]
        if said.endswith("back to your last decision)\n> "):
            return self.answers.pop(0) + "\n" if self.answers else "n\n"
        _, *menu = re.findall(
            r"\n(?:   |     ) *(?:\d+ )? *([a-z]+(?: [a-z0-9]+)?)(?: \.\.\. .*)?(?=\n)", said
        )
        return next((one for one in PREFERRED if one in menu), menu[-1]) + "\n"


def raced(*answers: str) -> str:
    shown = StringIO()
    options = ["--edition", "arc_en_ciel", "--players", "3", "--seed", "3", "--against", "random"]
    assert main(options, Typist(shown, *answers), shown) == 0
    return shown.getvalue()


@pytest.fixture(scope="module")
def two_races() -> str:
    """All that is shown of two races."""
    return raced("y", "n")


def test_a_race_is_played_to_its_end(two_races: str) -> None:
    assert two_races.startswith("You are player_0. random plays player_1, player_2.\n")
    assert re.search(r"\n(player_\d|player_\d and player_\d) (wins|share the win)", two_races)
    assert "\n1. player_" in two_races
    assert "Another race? (y/n; undo: back to your last decision)" in two_races


def test_what_happens_between_two_decisions_is_told(two_races: str) -> None:
    for line in (
        r"^player_[12]: bid \d+$",
        r"^> player_0: pass$",
        r"^player_\d rolls \d: square \d+ \(.+\)$",
        r"^player_\d rolls \d, over the line: square",
        r"^player_\d holds square \d+ \(.+\)$",
        r"^player_0, player_1, player_2 pay \d energy$",
        r"^a servant of player_\d retires: \+\d+ energy$",
        r"^peloton: player_\d",
        r"^chance card: ",
        r"^the yellow die shows \d$",
        r"^player_\d escapes by \d arrows? \(\d:\d\d\)$",
        r"^player_\d is caught and rides last$",
        r"^player_\d takes a ",
    ):
        assert re.search(line, two_races, flags=re.MULTILINE), line


def test_another_race_has_other_dice_and_keeps_a_tally(two_races: str) -> None:
    tallies = re.findall(r"Won so far: player_0: (\d), player_1: (\d), player_2: (\d)", two_races)
    assert [sum(map(int, tally)) for tally in tallies] == [1, 2]
    first, second = two_races.split("Another race?")[:2]
    dice = [re.findall(r" rolls (\d)", part)[:20] for part in (first, second)]
    assert dice[0] != dice[1]


def test_undo_goes_back_and_the_same_dice_come_again() -> None:
    text = race("undo\npass\nundo\nundo\npass\nq\n")
    assert text.count("You have made no decision that could be taken back.") == 2
    tables = text.split("\nturn ")[1:]
    assert tables[0].split("> ")[0] == tables[2].split("> ")[0]
    assert tables[1].split("> ")[0] == tables[3].split("> ")[0]
    assert "Back to your last decision." in text


def test_ctrl_c_stops(capsys: pytest.CaptureFixture[str]) -> None:
    class Interrupted(StringIO):
        def readline(self, *_: object) -> str:
            os.kill(os.getpid(), signal.SIGINT)
            raise AssertionError("it goes on")

    assert main(["--edition", "arc_en_ciel", "--players", "3"], Interrupted(), StringIO()) == 130
    assert capsys.readouterr().err == "error: interrupted\n"


# Answers ---------------------------------------------------------------------------------------------------


@each(
    ("answer", "action"),
    [
        ("pass", "pass"),
        ("p", "pass"),
        ("PASS ", "pass"),
        ("bid 7", "bid 7"),
        ("b 7", "bid 7"),
        ("7", "bid 7"),
        ("20", "bid 20"),
        ("retire", "retire"),
        ("retire 2", "retire 2"),
        ("r 2", "retire 2"),
    ],
)
def test_an_answer_is_a_name_its_beginning_or_its_number(answer: str, action: str) -> None:
    assert asked(AN_AUCTION, f"{answer}\n")[0] == action


def test_where_no_name_has_a_number_the_place_in_the_list_is_one() -> None:
    chosen, shown = asked(AN_ESCAPE, "2\n")
    assert chosen == "stay"
    assert "   1  escape\n   2  stay\n" in shown
    assert asked(AN_ESCAPE, "esc\n")[0] == "escape"


@each(
    ("answer", "said"),
    [
        ("bid 21", "Not possible now: bid 21: player_0 has 20 energy"),
        ("escape", "Not possible now: escape: the decision is 'bid'"),
        ("retire 4", "Not possible now: retire 4: player_0 has no servant on square 4"),
        ("give", "Not possible now: give up: the decision is 'bid'"),
        ("2", "'2' may mean 'bid 2' or 'retire 2': type more of the name"),
        ("", "'' is not an action: type a name, or its number alone, ? for help or q to stop."),
        ("nonsense", "'nonsense' is not an action"),
        ("pas s", "Did you mean 'pass'?"),
        ("9" * 5000, "is not an action"),
        ("²", "'²' is not an action"),
    ],
)
def test_a_wrong_answer_is_explained_and_asked_for_again(answer: str, said: str) -> None:
    chosen, shown = asked(AN_AUCTION, f"{answer}\nbid 3\n")
    assert chosen == "bid 3"
    assert said in shown


def test_help_says_what_can_be_typed_and_shows_the_table_again() -> None:
    shown = asked(AN_AUCTION, "?\npass\n")[1]
    assert shown.count("rider") == 2
    assert "Type the name of an action" in shown


# Nothing hidden --------------------------------------------------------------------------------------------


def test_the_cards_to_come_are_not_shown() -> None:
    """In another order they show the same."""
    one = asked(AN_AUCTION + "deck: escape supply_5 ...", "?\nhint\npass\n")[1]
    assert asked(AN_AUCTION + "deck: forced_retirement event_4 ...", "?\nhint\npass\n")[1] == one


def test_a_registered_game_is_played(pig: ModuleType) -> None:  # noqa: F811 - the fixture
    text = played(
        "--edition", "pig", "--players", "3", "--seed", "1", answers="hold\nhint\nr\n2\n" + "1\n2\n" * 2000
    )
    assert "Not possible now: hold: this turn has brought nothing yet" in text
    assert "No agent is available for hints." in text, "who plays at random is not asked"
    assert "lacks (points to win: own, then to the left): 100 100 100" in text
    assert re.search(r"\nplayer_[12]: (roll|hold)\n", text)
    assert re.search(r"\nplayer_\d wins\. Points: player_0: \d+, player_1: \d+, player_2: \d+\.\n", text)
    assert "Another game?" in text


def registered(rulebook: Any, **parts: Any) -> None:
    sheets = [SheetOfTables("pig", "pig", rulebook.TABLES)]
    register_game(Game(name="pig", rulebook=rulebook, sheets=sheets, **parts))


def drawn(state: Any, rules: Any) -> str:
    return f"the drawing of {int(state.turn)}"


def test_a_game_that_hides_nothing_is_drawn(pig: ModuleType) -> None:  # noqa: F811
    registered(pig, hooks={"render.draw": drawn, "render.draw_end": lambda state, rules: "over and out"})
    text = played("--edition", "pig", "--seed", "1", answers="1\n2\n" * 2000)
    assert "the drawing of 0\n   1  roll\n" in text
    assert "over and out\nWon so far: " in text


def test_a_game_that_hides_something_is_told_by_what_the_seat_sees(
    pig: ModuleType,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its drawing, and what the others do, may say what a seat does not know."""

    def more(rules: Any, spec: Any) -> tuple[Section, ...]:
        shown = pig.sections(rules, spec)
        return (*shown, Section("secret", shown[-1].stop, 1, 1, "what is hidden"))

    monkeypatch.setattr(pig, "full_state_sections", more)
    registered(
        pig, hooks={"render.draw": drawn, "render.describe": lambda row, sections, rules: f"turn {row[0]}"}
    )
    text = played("--edition", "pig", "--seed", "1", answers="1\n" * 20, exit_code=130)
    assert "the drawing of" not in text
    assert "\nturn 0\n   1  roll\n" in text
    assert "player_1: " not in text
    registered(
        pig, hooks={"render.draw": drawn, "render.view": lambda state, rules, seat: f"seat {seat} sees it"}
    )
    assert "seat 0 sees it" in played("--edition", "pig", "--seed", "1", answers="1\n", exit_code=130)
