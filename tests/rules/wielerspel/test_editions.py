"""Sheets: the shipped board, and boards that cannot be."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from millebornes_env import vector_env
from millebornes_env.errors import EditionError, OptionError
from millebornes_env.games.wielerspel.editions import Edition, edition, editions
from millebornes_env.games.wielerspel.rules import FIELDS, TABLE_FIELDS, Card, Square, rules_array, validated
from millebornes_env.games.wielerspel.squares import KIND_NAMES
from tests.each import each

SHEET = (Path(__file__).parents[3] / "millebornes_env/games/wielerspel/sheets/arc_en_ciel.toml").read_text(
    "utf-8"
)
START = '  { kind = "start", source = "003:26" },\n'
FLAT = '  { kind = "effort", number = 2, road = "flat", source = "ruling W15" },\n'
GREEN = '  { kind = "green", source = "003:73; ruling W15" },\n'


def changed(tmp_path: Path, *changes: tuple[str, str], count: int = 1) -> Path:
    """Return the shipped sheet, with some of its text replaced."""
    text = SHEET.replace('name = "arc_en_ciel"', 'name = "mine"')
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, count)
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    return path


# The shipped board ------------------------------------------------------------------------------------------


def test_the_board_is_that_of_the_proposal() -> None:
    """Specification 4.10 and 4.11: 40 squares, 22 of them effort squares (003:109) with a sum of 55."""
    race = edition("arc_en_ciel")
    assert editions() == ("arc_en_ciel",)
    kinds = Counter(KIND_NAMES[place.kind] for place in race.rules.board)
    assert kinds == {
        "start": 1,
        "effort": 22,
        "chance": 6,
        "escape": 4,
        "supply": 2,  # 003:143
        "event": 2,  # 003:162
        "green": 1,  # 003:73
        "polka_dot": 2,  # 003:73
    }
    assert sum(place.number for place in race.rules.board if place.kind == 1) == 55
    assert Counter(race.roads) == {
        "": 16,
        "flat": 7,
        "descent": 4,
        "head wind": 3,
        "cobbles": 3,
        "climb": 5,
        "roundabout": 1,
        "road works": 1,
    }


def test_every_value_has_a_source() -> None:
    race = edition("arc_en_ciel")
    wanted = {"players", *(set(FIELDS) - set(TABLE_FIELDS))}
    wanted |= {f"board {square}" for square in range(40)} | {f"deck {card}" for card in range(10)}
    assert set(race.sources) == wanted
    rulings = (Path(__file__).parents[3] / "docs/rules/rulings.md").read_text("utf-8")
    for source in race.sources.values():
        assert re.search(r"003:\d+|ruling W\d+|French rules", source)
        for ruling in re.findall(r"W\d+", source):
            assert f"| {ruling} |" in rulings


def test_it_is_for_2_to_6_players() -> None:
    """003:7; ruling W13."""
    race = edition("arc_en_ciel")
    assert race.players == (2, 3, 4, 5, 6)
    for players in race.players:
        assert (race.table(players).players, race.table(players).teams) == (players, players)
    for wrong in (1, 7, True, "3", None, 2.5):
        with pytest.raises(OptionError, match=r"has no table for .*; it has: 2 players in 2 teams, .*, 6 pl"):
            race.table(wrong)  # type: ignore[arg-type]


def test_the_record_says_what_the_rules_say() -> None:
    rules = edition("arc_en_ciel").table(5)
    record = rules_array(rules)[0]
    assert (record.players, record.length, record.card_types) == (5, 40, 10)
    assert record.square_kind[:40].tolist() == [place.kind for place in rules.board]
    assert record.square_number[:40].tolist() == [place.number for place in rules.board]
    assert record.card_copies[:10].tolist() == [card.copies for card in rules.deck]


# Options and overrides --------------------------------------------------------------------------------------


def test_numbers_can_be_overridden() -> None:
    """003:200-202: the options are fields."""
    race = edition("arc_en_ciel").replace(target_rainbows=5, combativity=1)
    assert race.label == "arc_en_ciel+combativity=1+target_rainbows=5"
    assert race.table(3).target_rainbows == 5
    assert edition("arc_en_ciel").table(3).target_rainbows == 3
    assert edition(race.label) == race


def test_a_label_means_the_same_to_an_environment() -> None:
    env = vector_env(4, "arc_en_ciel+combativity=1+target_rainbows=5", players=3)
    assert (env.rules.target_rainbows, env.rules.combativity) == (5, 1)
    with pytest.raises(EditionError, match="Did you mean 'energy'"):
        vector_env(4, "arc_en_ciel+energi=20", players=3)


def test_a_number_of_numpys_is_a_number() -> None:
    """As in an edition of Mille Bornes: both are read by `sheets`."""
    race = edition("arc_en_ciel").replace(energy=np.int64(20))
    assert race.label == "arc_en_ciel+energy=20"
    assert type(race.table(3).energy) is int


def test_a_label_of_a_file(tmp_path: Path) -> None:
    race = edition(f"{changed(tmp_path)}+energy=20")
    assert race.label == "mine+energy=20"


@each(
    ("label", "message"),
    [
        (
            "arc_en_ciel+target_rainbows",
            "overrides no rule: it must read name=number, such as target_rainbows=5",
        ),
        ("arc_en_ciel+energy=-1", "overrides no rule"),
        ("arc_en_ciel+energy=20+energy=30", "overrides a rule twice: 'energy'"),
        ("arc_en_ciel+energi=20", "Did you mean 'energy'"),
    ],
)
def test_a_label_that_overrides_nothing_is_refused(label: str, message: str) -> None:
    with pytest.raises(EditionError, match=message):
        edition(label)


@each(
    ("changes", "message"),
    [
        ({"target_rainbow": 5}, "Did you mean 'target_rainbows'"),
        ({"players": 3}, "there is no rule 'players'"),
        ({"target_rainbows": 0}, "target_rainbows is 0: it must be a whole number from 1 to 30"),
        ({"target_rainbows": 13}, "target_rainbows is 13: the sets of 12 cards hold only 12"),
        ({"combativity": 2}, r"combativity is 2: it must be 0 \(no\) or 1 \(yes\)"),
        ({"energy": True}, "energy is True"),
        ({"energy": 61}, "energy is 61: it must be a whole number from 1 to 60"),
        ({"max_energy": 50}, "energy is 60: nobody can have more than max_energy, 50"),
        ({"second_minute": 3}, "second_minute is 3: it must be first_minute"),
        ({"max_turns": 10**9}, "max_turns is 1000000000"),
    ],
)
def test_a_wrong_override_is_refused(changes: dict[str, int], message: str) -> None:
    with pytest.raises(EditionError, match=message):
        edition("arc_en_ciel").replace(**changes)


def test_an_unknown_race_is_refused() -> None:
    with pytest.raises(EditionError, match="Did you mean 'arc_en_ciel'"):
        edition("arc_en_cial")
    with pytest.raises(EditionError, match="there is no edition 7"):
        edition(7)  # type: ignore[arg-type]
    race = edition("arc_en_ciel")
    assert edition(race) is race


# Sheets of one's own ----------------------------------------------------------------------------------------


def test_an_own_sheet_can_be_read(tmp_path: Path) -> None:
    race = edition(changed(tmp_path, ("value = 60,", "value = 50,")))
    assert isinstance(race, Edition)
    assert (race.name, race.table(3).energy, race.table(3).max_energy) == ("mine", 50, 60)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (START, FLAT, "board: there is no start"),
        (FLAT, START, "board: there are 2 starts"),
        (START, FLAT + START, "board: the start is square 1; it must be the first"),
        (FLAT, FLAT.replace(", number = 2", ""), "board, square 1: effort needs a number from 1 to 60; 0 is"),
        (FLAT, FLAT.replace("number = 2", "number = -2"), "board, square 1: effort needs a number"),
        (FLAT, FLAT.replace("number = 2", "number = 2.5"), "board, square 1: number is 2.5"),
        (
            FLAT,
            FLAT.replace('"effort"', '"effrot"'),
            "board, square 1: the kind is 'effrot'.*Did you mean 'effort'",
        ),
        (FLAT, FLAT.replace('"effort"', '"tail_wind"'), "board, square 1: the kind is 'tail_wind'"),
        (FLAT, FLAT.replace("road", "raod"), "board, square 1: unknown entry 'raod'"),
        (FLAT, FLAT.replace(', source = "ruling W15"', ""), "board, square 1: the source is missing"),
        (GREEN, GREEN.replace('"green"', '"green", number = 3'), "board, square 20: green has no number; 3"),
        (START, START + 4 * FLAT, "board: it has 44 squares; there may be at most 43"),
        ('number = 2, source = "003:73', 'number = 4, source = "003:73', "a polka-dot card is worth 2 or 3"),
        ("board = [", "board = 3\nother = [", "unknown entry 'other'"),
        ("copies = 4, ", "copies = -1, ", "deck, card type 0: copies is -1"),
        ("copies = 4, ", "copies = 40, ", "deck: it has 61 cards; there may be at most 59"),
        ("copies = 4, ", "", "deck, card type 0: copies is None; it must be a whole number"),
        ("lap_supply = {", "lap_suply = {", "unknown entry 'lap_suply'.* Did you mean 'lap_supply'"),
        (
            "combativity = { value = false",
            "combativity = { value = 0",
            "'combativity' is 0; it must be true or false",
        ),
        (
            "energy = { value = 60",
            "energy = { value = '60'",
            "the rule 'energy' is '60'; it must be a whole number",
        ),
        ("least = 2", "least = 1", "players: 1 to 6; least and most must be 2 to 6"),
        ("title = ", "title = 3 #", "the entry 'title' is missing, or not text"),
        ("name = ", "name ", "this is not TOML"),
        ('name = "mine"', 'name = "my race"', "the name 'my race' is not valid for an edition"),
    ],
)
def test_a_sheet_that_cannot_be_is_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = changed(tmp_path, (old, new))
    with pytest.raises(EditionError, match=message) as refused:
        edition(path)
    assert str(refused.value).startswith(str(path))


def test_the_name_of_a_shipped_sheet_is_refused_for_other_rules(tmp_path: Path) -> None:
    path = tmp_path / "other.toml"
    path.write_text(SHEET, "utf-8")
    assert edition(path) == edition("arc_en_ciel")
    path.write_text(SHEET.replace("value = 15,", "value = 14,"), "utf-8")
    with pytest.raises(EditionError, match="the name 'arc_en_ciel' is that of a shipped sheet"):
        edition(path)


def test_a_deck_of_no_cards_is_refused(tmp_path: Path) -> None:
    text = re.sub(r"copies = \d+", "copies = 0", SHEET)
    path = tmp_path / "none.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(EditionError, match="deck: it has no cards"):
        Edition.load(path)
    path.write_text(SHEET[: SHEET.index("deck = [")] + "deck = []\n", "utf-8")
    with pytest.raises(EditionError, match="deck: it has no cards"):
        Edition.load(path)


def test_a_missing_rule_is_named_with_what_it_says(tmp_path: Path) -> None:
    line = next(line for line in SHEET.splitlines() if line.startswith("inner_track"))
    with pytest.raises(EditionError, match=r"'inner_track' is missing; write inner_track = .*arrows"):
        Edition.load(changed(tmp_path, (line, "")))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(EditionError, match=r"none\.toml: No such file"):
        edition(tmp_path / "none.toml")


@each(
    ("board", "message"),
    [
        ((), "board: it needs 7 squares"),
        ((Square(0, 0), *[Square(2, 0)] * 9), "board: there is no effort square"),
        ((Square(0, 0), *[Square(8, 2)] * 9), "board, square 1: the kind is 8"),
    ],
)
def test_boards_in_python_are_checked_too(board: tuple[Square, ...], message: str) -> None:
    with pytest.raises(EditionError, match=message):
        validated(edition("arc_en_ciel").table(3)._replace(board=board))


def test_decks_in_python_are_checked_too() -> None:
    with pytest.raises(EditionError, match="deck: there may be at most 16 types"):
        validated(edition("arc_en_ciel").table(3)._replace(deck=(Card(3, 0, 1),) * 17))
