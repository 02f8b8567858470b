"""The table of games: which game a sheet is of, and what it does not take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from millebornes_env import vector_env
from millebornes_env.errors import EditionError, GameError, OptionError
from millebornes_env.games.millebornes.editions import edition, editions
from millebornes_env.games.registry import DEFAULT_GAME, GAMES, SheetOfTables, register_game
from millebornes_env.games.registry import edition as find_edition
from millebornes_env.testing import check_agent
from tests.games.conftest import entry

CHECKOUT = Path(__file__).parents[2]
PARKER = CHECKOUT / "millebornes_env" / "games" / "millebornes" / "sheets" / "parker.toml"


def own_sheet(folder: Path, first_line: str) -> Path:
    path = folder / "mine.toml"
    text = PARKER.read_text(encoding="utf-8").replace('name = "parker"', 'name = "mine"')
    path.write_text(f"{first_line}\n{text}", encoding="utf-8")
    return path


def test_every_edition_is_of_mille_bornes() -> None:
    assert GAMES[DEFAULT_GAME].editions == editions()
    for name in editions():
        assert find_edition(name) is edition(name)
        assert find_edition(name).game == "millebornes"
    assert find_edition("parker+max_200=4").label == "parker+max_200=4"
    own = edition("dutch").replace(max_200=3)
    assert find_edition(own) is own


@pytest.mark.parametrize("line", ["", 'game = "millebornes"'])
def test_a_file_says_of_which_game_it_is(tmp_path: Path, line: str) -> None:
    path = own_sheet(tmp_path, line)
    assert vector_env(1, path).edition.name == "mine"
    assert vector_env(1, f"{path}+max_200=4").edition.label == "mine+max_200=4"
    assert edition(path).game == "millebornes"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        (
            'game = "millebornse"',
            "the entry 'game' is 'millebornse'; the games are: millebornes, wielerspel ",
        ),
        ("game = 3", "the entry 'game' is 3; the games are: millebornes, wielerspel "),
        ('game = ["millebornes"]', "the entry 'game' is ['millebornes']; the games are"),
    ],
)
def test_a_file_of_no_game(tmp_path: Path, line: str, told: str) -> None:
    path = own_sheet(tmp_path, line)
    with pytest.raises(EditionError) as caught:
        vector_env(1, path)
    assert f"{path}: {told}" in str(caught.value)
    with pytest.raises(EditionError, match="an edition of Mille Bornes says 'millebornes'"):
        edition(path)


def test_a_file_of_a_game_that_reads_none(pig: ModuleType, tmp_path: Path) -> None:
    path = own_sheet(tmp_path, 'game = "pig"')
    with pytest.raises(OptionError, match="the game 'pig' reads no sheets from files, such as"):
        vector_env(1, path)


def test_a_game_can_read_files(pig: ModuleType, tmp_path: Path) -> None:
    def read(given: Any) -> SheetOfTables:
        return SheetOfTables("hog", Path(given).stem, pig.TABLES)

    register_game(entry(pig, "hog", sheets=read, sheet_names=["hog"]))
    path = own_sheet(tmp_path, 'game = "hog"')
    assert vector_env(1, path).edition.label == "mine"
    assert vector_env(2, "hog").game is GAMES["hog"]


def test_a_sheet_need_not_say_which_tables_it_has(pig: ModuleType) -> None:
    """Agents are then checked at the table that is named."""

    class Sheet:
        name = label = "own"
        game = "hog"

        def table(self, players: int, teams: int | None = None) -> Any:
            return pig.Rules(players, players)

    register_game(entry(pig, "hog", sheets=lambda _: Sheet(), sheet_names=("own",)))
    with pytest.raises(OptionError, match="the sheet 'own' does not say which tables it has: give players="):
        check_agent("random", "own")
    check_agent("random", "own", players=2, games=1, decisions=1)


@pytest.mark.parametrize("given", ["parkr", "missing.toml", "mine.toml+x", 3, None, "", object()])
def test_what_is_no_sheet_is_told_as_by_the_game_itself(given: Any) -> None:
    with pytest.raises(EditionError) as ours:
        edition(given)
    with pytest.raises(type(ours.value)) as told:
        find_edition(given)
    others = "" if ".toml" in str(given) else " Of other games: arc_en_ciel."
    assert str(told.value) == str(ours.value) + others


def test_sheets_of_other_games_are_listed_too(pig: ModuleType) -> None:
    with pytest.raises(EditionError, match=r"no edition 'pgi'.* Of other games: arc_en_ciel, pig.*'pig'\?"):
        vector_env(1, "pgi")


def test_a_sheet_of_a_game_that_is_not_there(pig: ModuleType) -> None:
    sheet = SheetOfTables("pgi", "pgi", pig.TABLES)
    with pytest.raises(GameError, match=r"no game 'pgi'; the games are: .*pig.*Did you mean 'pig'"):
        vector_env(1, sheet)


def pig_sheet(pig: ModuleType, name: Any, tables: Any = None) -> SheetOfTables:
    return SheetOfTables("hog", name, pig.TABLES if tables is None else tables)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda pig: "pig", "a game is registered by a millebornes_env.games.registry.Game; got 'pig'"),
        (lambda pig: entry(pig, "hog", hooks={"render.drew": print}), "Did you mean 'render.draw'?"),
        (lambda pig: entry(pig, "my game"), "a game cannot be called 'my game': its name is made of"),
        (lambda pig: entry(pig, 3), "a game cannot be called 3: its name is made of"),
        (lambda pig: entry(pig, "millebornes"), "the game 'millebornes' comes with the package"),
        (lambda pig: entry(pig, "hog", sheets=[]), "the game 'hog' has no sheets: it needs at least one"),
        (
            lambda pig: entry(pig, "hog", sheets=[SheetOfTables("pig", "hog", pig.TABLES)]),
            "the sheet 'hog' says that it is of the game 'pig'; it is registered for 'hog'",
        ),
        (
            lambda pig: entry(pig, "hog", sheets=[SheetOfTables("hog", "parker", pig.TABLES)]),
            "the game 'hog' has a sheet 'parker', and so has the game 'millebornes': the name of",
        ),
        (lambda pig: entry(pig, "hog", hooks=None), "the hooks of the game 'hog' are None; they must be a"),
        (lambda pig: entry(pig, "hog", hooks=["render.draw"]), "are ['render.draw']; they must be a dict"),
        (lambda pig: entry(pig, "hog", sheets=pig_sheet(pig, "a")), "they must be a list"),
        (lambda pig: entry(pig, "hog", sheets=[pig.Rules(2, 2)]), "which has no 'game': make it a Sheet"),
        (lambda pig: pig_sheet(pig, "a", pig.Rules(2, 2)), "the tables of the sheet 'a' are Rules("),
        (lambda pig: pig_sheet(pig, "a", []), "they must be a list of rules with players and teams, at"),
        (lambda pig: entry(pig, "hog", sheets=str, sheet_names="ab"), "'ab'; it must be a tuple"),
        (lambda pig: entry(pig, "hog", sheets=[pig_sheet(pig, "a#1")]), "'a#1', which is no valid name: use"),
        (lambda pig: entry(pig, "hog", sheets=[pig_sheet(pig, "a.toml")]), "has a sheet 'a.toml', which is"),
        (lambda pig: entry(pig, "hog", sheets=[pig_sheet(pig, 5)]), "has a sheet 5, which is no valid name"),
        (lambda pig: entry(pig, "hog", sheets=[pig_sheet(pig, "a")] * 2), "has two sheets 'a': give each"),
        (
            lambda pig: entry(pig, "hog", sheets=[pig_sheet(pig, "mini8")]),
            "and so has the game 'millebornes'",
        ),
    ],
)
def test_entries_that_cannot_be(pig: ModuleType, make: Callable[[ModuleType], Any], told: str) -> None:
    before = dict(GAMES)
    with pytest.raises(GameError) as caught:
        register_game(make(pig))
    assert told in str(caught.value)
    assert before == GAMES


def test_a_rulebook_that_lacks_something_is_told_when_it_is_asked_for(pig: ModuleType) -> None:
    half = ModuleType("half")
    vars(half).update({name: value for name, value in vars(pig).items() if name != "start"}, __name__="half")
    register_game(entry(pig, "hog", rulebook=half))
    with pytest.raises(GameError, match="the rulebook half has no start"):
        vector_env(1, "hog")
