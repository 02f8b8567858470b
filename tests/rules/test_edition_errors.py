"""What cannot be overridden is refused with a message that says what can."""

from __future__ import annotations

import pytest

from millebornes_env.errors import PlayersError, RulesError, UnknownEditionError
from millebornes_env.millebornes.editions import Rules, edition, editions

YES_OR_NO = (
    *(
        "remove_one_of_each_hazard",
        "remove_one_stop",
        "exact_finish",
        "start_needs_roll",
        "any_safety_starts",
    ),
    *("roll_after_remedy", "roll_after_safety", "hazard_opens_pile", "opening_remedy_starts"),
    *("discard_only_if_stuck", "when_pile_is_empty", "replay_after_safety_when_empty"),
    *("replay_after_claim_when_empty", "count_points", "shutout_for"),
)
NUMBERS = [field for field in Rules._fields if field not in (*YES_OR_NO, "players", "teams")]


def refusal(**changes: object) -> str:
    with pytest.raises(RulesError) as caught:
        edition("parker").replace(**changes).table(2)  # type: ignore[arg-type]
    return str(caught.value)


def test_an_unknown_edition_lists_those_there_are() -> None:
    """The name asked for, and all names that would have done."""
    with pytest.raises(UnknownEditionError) as caught:
        edition("parkr")
    assert "'parkr'" in str(caught.value)
    assert all(name in str(caught.value) for name in editions())


@pytest.mark.parametrize(
    ("players", "teams", "asked"),
    [(1, None, "1 players"), (5, None, "5 players"), (8, None, "8 players"), (4, 4, "4 players in 4 teams")],
)
def test_an_unknown_table_lists_those_there_are(players: int, teams: int | None, asked: str) -> None:
    """How many were asked for, and each table of the edition."""
    with pytest.raises(PlayersError) as caught:
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


def test_a_table_may_be_asked_for_with_its_teams() -> None:
    """The sheet's own number of teams is accepted."""
    assert edition("parker").table(6, 3) == edition("parker").table(6)


def test_an_unknown_rule_lists_those_there_are() -> None:
    """A slip in a field's name shows the right one."""
    message = refusal(max_two_hundreds=3)
    assert "'max_two_hundreds'" in message
    assert all(field in message for field in Rules._fields if field not in ("players", "teams"))


@pytest.mark.parametrize("field", ["players", "teams"])
def test_the_table_is_not_a_rule_to_override(field: str) -> None:
    """Players and teams are chosen with the table."""
    assert f"no rule '{field}'" in refusal(**{field: 2})


@pytest.mark.parametrize("field", YES_OR_NO)
@pytest.mark.parametrize("value", [2, -1, "yes", None])
def test_a_yes_or_no_is_1_or_0(field: str, value: object) -> None:
    """The message names the field, the value given and the two it may have."""
    message = refusal(**{field: value})
    assert field in message
    assert repr(value) in message
    assert "0 or 1" in message


@pytest.mark.parametrize("field", NUMBERS)
@pytest.mark.parametrize("value", [-25, 2.5, "many", None])
def test_a_number_is_whole_and_not_negative(field: str, value: object) -> None:
    """The message names the field, the value given and what it must be."""
    message = refusal(**{field: value})
    assert field in message
    assert repr(value) in message
    assert "whole number" in message


@pytest.mark.parametrize("field", ["exact_finish", "goal"])
def test_true_is_no_number(field: str) -> None:
    """Rules are ints: what prints as True in a label would be a surprise."""
    assert "True" in refusal(**{field: True})


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"target": 690}, ("target is 690", "multiple of 25")),
        ({"target": 0}, ("target is 0", "multiple of 25")),
        ({"target": 2525, "extended_target": 0}, ("target is 2525", "at most 2500")),
        ({"extended_target": 1010}, ("extended_target is 1010", "multiple of 25")),
        ({"extended_target": 700}, ("extended_target is 700", "more than target")),
        ({"target": 1000}, ("extended_target is 1000", "more than target")),
        ({"max_200": 5}, ("max_200 is 5", "holds 4")),
        ({"hand_limit": 0}, ("hand_limit is 0",)),
        ({"hand_limit": 51}, ("hand_limit is 51", "need 102 cards", "deck of 101")),
    ],
)
def test_a_value_that_makes_no_game_is_explained(changes: dict[str, int], parts: tuple[str, ...]) -> None:
    """The field, the value, and what would be possible."""
    message = refusal(**changes)
    assert all(part in message for part in parts), message


@pytest.mark.parametrize(
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
    ],
)
def test_values_at_the_edge_are_accepted(changes: dict[str, int]) -> None:
    """What the messages call possible is possible."""
    assert edition("parker").replace(**changes).changes == changes


def test_a_rule_that_fits_one_table_only_is_refused_at_the_others() -> None:
    """A short trip of 1,000 km leaves no room for the extension, which the table of four does not have."""
    changed = edition("parker").replace(target=1000)
    assert changed.table(4).target == 1000
    with pytest.raises(RulesError, match=r"at the table of 2 players, extended_target is 1000"):
        changed.table(2)


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"points_shutout": 1001}, "points_shutout is 1001: it may be at most 1000"),
        ({"goal": 10_001}, "goal is 10001: it may be at most 10000"),
    ],
)
def test_points_fit_the_record(changes: dict[str, int], part: str) -> None:
    """More would not fit the int16 of the score sheet."""
    assert part in refusal(**changes)
