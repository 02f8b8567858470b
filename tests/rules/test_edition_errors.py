"""An override that is not possible is refused with a message that says what is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from millebornes_env.errors import EditionError, OptionError
from millebornes_env.games.millebornes.editions import edition, editions
from millebornes_env.games.millebornes.rules import FIELDS, TABLE_FIELDS, Rules
from tests.each import each

YES_OR_NO = [name for name, field in FIELDS.items() if field.choices]
NUMBERS = [name for name, field in FIELDS.items() if not field.choices and name not in TABLE_FIELDS]


NO_SHORT_DISTANCES = {"copies_of_25": 0, "copies_of_50": 0, "copies_of_75": 0, "copies_of_100": 0}

COPIES = [name for name in FIELDS if name.startswith("copies_of_")]

ONLY_50_AND_100 = {"copies_of_25": 0, "copies_of_75": 0, "copies_of_200": 0, "max_200": 0}


def refusal(**changes: object) -> str:
    with pytest.raises(EditionError) as caught:
        edition("parker").replace(**changes).table(2)  # type: ignore[arg-type]
    return str(caught.value)


def test_an_unknown_edition_lists_those_there_are() -> None:
    """The name asked for, and all names that would have done."""
    with pytest.raises(EditionError) as caught:
        edition("parkr")
    assert "'parkr'" in str(caught.value)
    assert all(name in str(caught.value) for name in editions())


@each(
    ("players", "teams", "asked"),
    [(1, None, "1 players"), (5, None, "5 players"), (8, None, "8 players"), (4, 4, "4 players in 4 teams")],
)
def test_an_unknown_table_lists_those_there_are(players: int, teams: int | None, asked: str) -> None:
    """The message names the players asked for and each table of the edition."""
    with pytest.raises(OptionError) as caught:
        edition("parker").table(players, teams)
    for part in (
        asked,
        "parker",
        "2 players in 2 teams",
        "3 players in 3",
        "4 players in 2",
        "6 players in 3",
    ):
        assert part in str(caught.value)


@each(
    ("players", "teams", "part"),
    [
        (2.0, None, "players is 2.0, not a whole number"),
        (True, None, "players is True, not a whole number"),
        ("2", None, "players is '2', not a whole number"),
        (2, 2.0, "teams is 2.0, not a whole number"),
    ],
)
def test_a_table_is_named_by_whole_numbers(players: object, teams: object, part: str) -> None:
    """A value that Python takes for the same number is refused all the same."""
    with pytest.raises(OptionError) as caught:
        edition("parker").table(players, teams)  # type: ignore[arg-type]
    assert part in str(caught.value)


def test_numbers_of_thousands_of_digits() -> None:
    """Python itself refuses to print them."""
    with pytest.raises(OptionError, match="no table for a very large int players"):
        edition("parker").table(10**5000)
    with pytest.raises(EditionError, match="the rule goal is a very large int: it may be at most"):
        edition("parker").replace(goal=10**5000)


def test_a_table_may_be_asked_for_with_its_teams() -> None:
    """The sheet's own number of teams is accepted."""
    assert edition("parker").table(6, 3) == edition("parker").table(6)


def test_an_unknown_rule_names_some_and_where_all_are_listed() -> None:
    message = refusal(max_two_hundreds=3)
    assert "'max_two_hundreds'" in message
    assert f"The {len(Rules._fields) - 2} rules are: hand_limit, " in message
    assert message.endswith("`millebornes editions SHEET` lists them all.")


def test_an_unknown_rule_that_is_like_another_names_it() -> None:
    """As unknown editions and cards do."""
    assert refusal(max_20=3).startswith("there is no rule 'max_20' to override. Did you mean 'max_200'?")
    with pytest.raises(EditionError, match=r"Did you mean 'parker'\?$"):
        edition("parkr")


@each("name", [None, 3, b"parker", ["parker"], "", "\0", "x" * 5000, "par\nker", "Parker"])
def test_what_is_no_name_of_an_edition(name: object) -> None:
    """Nothing but the package's own complaint, and a short one."""
    with pytest.raises(EditionError, match="there is no edition") as caught:
        edition(name)  # type: ignore[arg-type]
    assert len(str(caught.value)) < 300


@each("field", ["players", "teams"])
def test_the_table_is_not_a_rule_to_override(field: str) -> None:
    """Players and teams are chosen with the table."""
    assert f"no rule '{field}'" in refusal(**{field: 2})


@each("field", YES_OR_NO)
@each("value", [2, -1, "yes", None])
def test_a_choice_is_1_or_0(field: str, value: object) -> None:
    """The message names the field, the value given and the two it may have, with what they mean."""
    message = refusal(**{field: value})
    no, yes = FIELDS[field].choices
    assert message.endswith(f"the rule {field} is {value!r}: it may be 0 ({no}) or 1 ({yes})")


@each("field", YES_OR_NO)
def test_a_choice_is_made_by_its_number_only(field: str) -> None:
    """Names of choices, and true and false, are for sheets; a label would not read the same with them."""
    for value in (*FIELDS[field].choices, True, False):
        message = refusal(**{field: value})
        assert message.startswith(f"the rule {field} is {value!r}: it may be 0 (") or (
            f", the rule {field} is {value!r}: it may be 0 (" in message
        )


@each("field", NUMBERS)
@each("value", [-25, 2.5, "many", None])
def test_a_number_is_whole_and_not_negative(field: str, value: object) -> None:
    """The message names the field, the value given and what it must be."""
    message = refusal(**{field: value})
    assert field in message
    assert repr(value) in message
    assert "whole number" in message


@each("field", ["exact_finish", "goal"])
def test_true_is_no_number(field: str) -> None:
    """Rules are ints: what prints as True in a label would be a surprise."""
    assert "True" in refusal(**{field: True})


@each(
    ("changes", "parts"),
    [
        ({"target": 690}, ("target is 690", "multiple of 25")),
        ({"target": 0}, ("target is 0", "multiple of 25")),
        ({"target": 2525, "extended_target": 0}, ("target is 2525", "at most 2500")),
        ({"extended_target": 1010}, ("extended_target is 1010", "multiple of 25")),
        ({"extended_target": 700}, ("extended_target is 700", "more than target")),
        ({"target": 1000}, ("extended_target is 1000", "more than target")),
        ({"max_200": 5}, ("max_200 is 5", "holds 4")),
        ({"hand_limit": 0}, ("hand_limit is 0", "at least 1 card")),
        (dict.fromkeys(COPIES, 0), ("the deck has no cards", "copies_of_25")),
        (
            dict.fromkeys(COPIES, 0) | {"copies_of_roll": 2},
            ("the deck has 2 cards: dealing 1 to each of 2 players leaves none to draw",),
        ),
        ({"copies_of_25": 10**9}, ("the rule copies_of_25 is 1000000000", "it may be at most")),
        ({"exact_finish": 1.0}, ("the rule exact_finish is 1.0: it may be 0 (no) or 1 (yes)",)),
        ({"hand_limit": 51}, ("hand_limit is 51", "need 102 cards", "deck of 101")),
        ({"copies_of_right_of_way": 2}, ("copies_of_right_of_way is 2", "at most one Right of way")),
        ({"copies_of_driving_ace": 2}, ("copies_of_driving_ace is 2", "at most one Driving ace")),
        ({"copies_of_roll": 20}, ("the deck has 107 cards", "at most 106")),
        ({"copies_of_200": 1}, ("max_200 is 2", "holds 1")),
        (
            {**NO_SHORT_DISTANCES, "target": 950, "extended_target": 0},
            ("target is 950 km", "no distance cards of this deck add up to it", "4 of 200", "may lay 2"),
        ),
        (
            {**NO_SHORT_DISTANCES, "copies_of_200": 0, "max_200": 0},
            ("target is 700 km", "there are none", "may lay 0"),
        ),
        ({**ONLY_50_AND_100, "target": 725}, ("target is 725", "10 of 50, 12 of 100; a team may lay 0")),
        ({**ONLY_50_AND_100, "extended_target": 975}, ("extended_target is 975", "10 of 50, 12 of 100")),
    ],
)
def test_a_value_that_makes_no_game_is_explained(changes: dict[str, int], parts: tuple[str, ...]) -> None:
    """The field, the value, and what would be possible."""
    message = refusal(**changes)
    assert all(part in message for part in parts), message


@each(
    "changes",
    [
        {"target": 2500, "extended_target": 0},
        {"target": 25},
        {"target": 975},
        {"extended_target": 2500},
        {"max_200": 4},
        {"max_200": 0},
        {"hand_limit": 17},
        {"hand_limit": 1},
        {"hand_limit": 50},
        {"copies_of_roll": 19},
        {"copies_of_right_of_way": 0},
        {**NO_SHORT_DISTANCES, "max_200": 4, "target": 400, "extended_target": 800},
        {**NO_SHORT_DISTANCES, "target": 350, "extended_target": 0, "exact_finish": 0},
        {**ONLY_50_AND_100, "extended_target": 1700},
    ],
)
def test_values_at_the_edge_are_accepted(changes: dict[str, int]) -> None:
    """Values that the messages call possible are possible, with two players."""
    changed = edition("parker").replace(**changes)
    assert changed.changes == changes
    rules = changed.table(2)._asdict()
    assert {name: rules[name] for name in changes} == changes


def test_a_deck_of_cards_that_is_too_large_says_how_large() -> None:
    """At the table of four the deck is full already: one card more is refused, with the number it makes."""
    with pytest.raises(EditionError, match=r"4 players, the deck has 107 cards: it may have at most 106"):
        edition("parker").replace(copies_of_roll=15).table(4)


# Labels ---------------------------------------------------------------------------------------------------


def test_a_label_is_read_back() -> None:
    """The label under which a result was saved names the same rules again."""
    changed = edition("parker").replace(max_200=4, goal=3000)
    assert changed.label == "parker+goal=3000+max_200=4"
    again = edition(changed.label)
    assert (again.changes, again.label) == (changed.changes, changed.label)
    assert again.table(3) == changed.table(3)
    assert edition("parker+max_200=4").table(2) == edition("parker").table(2)._replace(max_200=4)


@each(
    ("label", "parts"),
    [
        ("parker+max_200", ("'max_200' overrides no rule", "name=number")),
        ("parker+max_200=", ("'max_200=' overrides no rule", "name=number")),
        ("parker+max_200=four", ("'max_200=four' overrides no rule", "name=number")),
        ("parker+max_200=-1", ("'max_200=-1' overrides no rule", "name=number")),
        ("parker+", ("'' overrides no rule", "name=number")),
        ("parker+max_200=4+max_200=3", ("overrides a rule twice", "'max_200'")),
        ("parker+max_200=" + "9" * 5000, ("overrides no rule", "name=number")),
        ("parker+max_200=\u0663", ("overrides no rule",)),
        ("parker+max_200=4.0", ("overrides no rule",)),
        ("parker+max_200= 4", ("overrides no rule",)),
        ("parker+nonsense=3", ("no rule 'nonsense'", "hand_limit")),
        ("parker+players=3", ("no rule 'players'", "hand_limit")),
        ("parker+max_200=5", ("max_200 is 5", "holds 4")),
    ],
)
def test_a_label_that_overrides_nothing_is_refused(label: str, parts: tuple[str, ...]) -> None:
    """The part that is not understood, and how it would be written."""
    with pytest.raises(EditionError) as caught:
        edition(label)
    assert all(part in str(caught.value) for part in parts), str(caught.value)


def test_an_unknown_edition_in_a_label_is_named_alone() -> None:
    """The name before the first plus is what there is none of."""
    with pytest.raises(EditionError, match=r"no edition 'parkr';"):
        edition("parkr+max_200=4")


def test_a_rule_that_fits_one_table_only_is_refused_at_the_others() -> None:
    """A short trip of 1,000 km leaves no room for the extension, which the table of four does not have."""
    changed = edition("parker").replace(target=1000)
    assert changed.table(4).target == 1000
    with pytest.raises(EditionError, match=r"at the table of 2 players, extended_target is 1000"):
        changed.table(2)


@each(
    ("changes", "part"),
    [
        ({"points_shutout": 1001}, "points_shutout is 1001: it may be at most 1000"),
        ({"goal": 10_001}, "goal is 10001: it may be at most 10000"),
    ],
)
def test_points_fit_the_record(changes: dict[str, int], part: str) -> None:
    """More would not fit the int16 of the score sheet."""
    assert part in refusal(**changes)


# Editions made in code --------------------------------------------------------------------------------------


@each(
    "name",
    [
        "",
        " ",
        "our house",
        "a+b",
        "a=1",
        "a:b",
        "a,b",
        "a/b",
        "a#b",
        "a\nb",
        "a\0",
        "-a",
        "x" * 61,
        "a.toml",
        3,
    ],
)
def test_a_name_that_no_label_can_hold_is_refused(name: object) -> None:
    """It stands in positions, command lines and the names of files; the message says what may stand in it."""
    with pytest.raises(EditionError, match=r"is not valid for an edition: use at most 60 letters") as caught:
        replace(edition("parker"), name=name)  # type: ignore[arg-type]
    assert len(str(caught.value)) < 350


@each("name", ["a", "our_house", "Our-House.2", "x" * 60, "1962"])
def test_a_name_that_a_label_can_hold(name: str) -> None:
    """And that an override can follow."""
    assert replace(edition("parker"), name=name).replace(max_200=4).label == f"{name}+max_200=4"


def test_a_rule_at_one_of_two_tables_for_as_many_names_the_teams() -> None:
    """Four play at two tables of this sheet, and at one of them only the deck is too large."""
    changed = replace(edition("dujardin"), tables={(4, 4): {}, (4, 2): {"copies_of_roll": 100}})
    assert changed.table(4).teams == 4
    with pytest.raises(EditionError, match="at the table of 4 players in 2 teams, the deck has"):
        changed.table(4, 2)
