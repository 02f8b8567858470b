"""The mini decks: sheets of the package that are found by name, and are none of the editions."""

from __future__ import annotations

from pathlib import Path

import pytest

from millebornes_env import edition, editions, mini_decks
from millebornes_env.errors import EditionError
from millebornes_env.games.millebornes import editions as editions_module
from millebornes_env.games.millebornes.cards import RIGHT_OF_WAY
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.registry import game
from millebornes_env.testing import check_edition

NAMES = ("mini7-v0", "mini8-v0", "mini10-v0", "mini12-v0")
CHANGED = {"hand_limit", "target", "extended_target", "max_200"}
"""The rules that a mini deck changes besides the cards; all others are Parker's."""


def test_they_are_listed_by_size_and_are_none_of_the_editions() -> None:
    """Loops over all editions, as in leaderboards and tests, leave them out."""
    assert mini_decks() == NAMES
    assert not set(NAMES) & set(editions())
    assert game("millebornes").shipped == editions() + NAMES
    assert mini_decks("wielerspel") == ()


@pytest.mark.parametrize("name", NAMES)
def test_the_name_says_how_many_cards(name: str) -> None:
    """And the rules are Parker's, but for what makes the game small."""
    rules = edition(name).table(2)
    assert f"mini{sum(rules.deck)}-v0" == name
    parker = edition("parker").table(2)
    differences = {field for field in Rules._fields if getattr(rules, field) != getattr(parker, field)}
    assert {field for field in differences if not field.startswith("copies_of_")} <= CHANGED
    assert list(edition(name).tables) == [(2, 2)]


def test_what_they_are_about() -> None:
    """Coup fourré and a safety to hold in all but one, an extension in one."""
    tables = [edition(name).table(2) for name in NAMES]
    assert [rules.deck[RIGHT_OF_WAY] for rules in tables] == [1, 0, 1, 1]
    assert [rules.extended_target > 0 for rules in tables] == [False, False, True, False]


def test_a_name_without_its_version_means_the_newest() -> None:
    """Results name the version, whatever a user typed."""
    assert edition("mini8") is edition("mini8-v0") is edition("roadtrip8") is edition("roadtrip8-v0")
    assert edition("mini8+target=50").label == edition("roadtrip8+target=50").label == "mini8-v0+target=50"
    with pytest.raises(EditionError, match=r"mini decks: mini7, .* Did you mean 'mini12-v0'"):
        edition("mini12-v9")


@pytest.mark.parametrize("name", NAMES)
def test_random_players_break_no_law(name: str) -> None:
    """And what the decks are about happens: a coup fourré, an extension, hands played out."""
    rules = edition(name).table(2)
    happened = check_edition(name, steps=1500)[2, 2]
    assert happened["violations"] == 0
    assert happened["play_outs"] > 0
    assert (happened["claims"] > 0) == (rules.deck[RIGHT_OF_WAY] == 1)
    assert (happened["extensions"] > 0) == (rules.extended_target > 0)


def test_another_sheet_cannot_take_its_name(tmp_path: Path) -> None:
    """Results of the two would be taken for each other."""
    shipped = Path(editions_module.__file__).parent / "mini_decks" / "mini7-v0.toml"
    copy = tmp_path / "mine.toml"
    copy.write_text(shipped.read_text())
    assert edition(copy) == edition("mini7-v0")
    copy.write_text(shipped.read_text().replace("hand_limit = { value = 1", "hand_limit = { value = 2"))
    with pytest.raises(EditionError, match="'mini7-v0' is that of a shipped sheet"):
        edition(copy)
