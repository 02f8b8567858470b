"""Splits of drawn rule sheets. `python -m tests.games.test_variants` writes the golden sheets anew."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from millebornes_env import edition, editions, split
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.errors import EditionError, OptionError
from millebornes_env.games.millebornes import variants
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.games.millebornes.editions import OVERRIDABLE
from millebornes_env.games.millebornes.rule_checks import validated
from millebornes_env.games.millebornes.rules import FIELDS, Rules, rules_array, rules_of_record
from millebornes_env.games.millebornes.variants import (
    BEYOND,
    BEYOND_VALUES,
    COMBINATIONS,
    DRAWN,
    INSIDE,
    MINI_TEST,
    MINI_TRAIN,
    MINI_VALUES,
    PAIRS,
    SPLITS,
    TRAIN,
    TRAIN_VALUES,
    drawn_split,
)
from millebornes_env.games.variants import RulesArray, Split, splits

GOLDEN = Path(__file__).parent / "variants.json"
GOLDEN_SHEETS = 100
FULL_SPLITS = (TRAIN, INSIDE, COMBINATIONS, BEYOND)
MINI_SPLITS = (MINI_TRAIN, MINI_TEST)


def rules_of(name: str, count: int) -> list[list[int]]:
    """Return the rules of the first sheets of a split, without the seats."""
    return [list(edition(f"{name}/{number}").rules)[2:] for number in range(count)]


def text_of_golden_sheets() -> str:
    parts = []
    for name in DRAWN:
        rows = ",\n".join(json.dumps(rules, separators=(",", ":")) for rules in rules_of(name, GOLDEN_SHEETS))
        parts.append(f'"{name}": [\n{rows}\n]')
    return "{" + ",\n".join(parts) + "}\n"


def column(table: RulesArray, name: str) -> Any:
    """Return the values of a rule, [n]."""
    field = Rules._fields.index(name) - Rules._fields.index("copies_of_25")
    return table["deck"][:, field] if 0 <= field < NUM_CARD_TYPES else table[name]


def test_sheets_are_those_of_the_golden_file() -> None:
    assert text_of_golden_sheets() == GOLDEN.read_text(encoding="utf-8")


def test_the_splits_and_their_sizes() -> None:
    assert {name: one.count for name, one in splits().items()} == {
        "variants-v1:train": None,
        "variants-v1:test/inside": 200,
        "variants-v1:test/combinations": 200,
        "variants-v1:test/beyond": 200,
        "variants-v1:test/printed": 6,
        "mini-variants-v1:train": 800,
        "mini-variants-v1:test": 200,
    }
    printed = split("variants-v1:test/printed")
    assert [printed.sheet(number).name for number in range(6)] == list(editions())


@pytest.mark.parametrize("name", DRAWN)
def test_no_sheet_of_a_split_comes_twice(name: str) -> None:
    count = SPLITS[name].count or 5_000
    table = split(name).rules(np.arange(count), 2, 2)
    assert len({record.tobytes() for record in np.asarray(table)}) == count


def values(
    lists: dict[str, tuple[int, ...]], beyond: dict[str, tuple[int, ...]]
) -> st.SearchStrategy[list[int]]:
    """Draw rules from the values of training and beyond, seldom from both."""
    fields = []
    for name in Rules._fields:
        inside = lists.get(name, (0, 1) if FIELDS[name].choices else (0,))
        fields.append(st.sampled_from([*inside] * 6 + [*beyond.get(name, ())]))
    return st.tuples(*fields).map(list)


@settings(max_examples=300, derandomize=True, database=None, deadline=None)
@given(values(dict(TRAIN_VALUES), dict(BEYOND_VALUES)), st.sampled_from([None, *PAIRS]))
def test_no_sheet_is_in_two_splits(drawn: list[int], pair: tuple[str, int, str, int] | None) -> None:
    """By construction: `belongs_to` decides about every drawn sheet, and accepts it in at most one split."""
    if pair is not None:
        drawn[Rules._fields.index(pair[0])], drawn[Rules._fields.index(pair[2])] = pair[1], pair[3]
    sheet = np.array(drawn)
    plain(variants.settle)(sheet)
    homes = [number for number in FULL_SPLITS if plain(variants.belongs_to)(sheet, number)]
    assert len(homes) <= 1
    if TRAIN in homes:
        rules = dict(zip(Rules._fields, sheet.tolist(), strict=True))
        assert not any(rules[first] == one and rules[second] == two for first, one, second, two in PAIRS)


@pytest.mark.parametrize("name", DRAWN)
def test_every_sheet_that_is_drawn_belongs_to_its_split_alone(name: str) -> None:
    number, together = DRAWN[name], FULL_SPLITS if DRAWN[name] in FULL_SPLITS else MINI_SPLITS
    for record in drawn_split("drawn", number).rules(np.arange(300), 2, 2):
        drawn = np.array(rules_of_record(record))
        homes = [other for other in together if plain(variants.belongs_to)(drawn, other)]
        assert homes == [number]


def test_no_printed_sheet_can_be_drawn() -> None:
    for name in editions():
        sheet = np.array(edition(name).rules)
        assert not any(plain(variants.belongs_to)(sheet, number) for number in FULL_SPLITS)


def test_sheets_of_training_keep_to_its_values() -> None:
    table = split("variants-v1:train").rules(np.arange(20_000), 2, 2)
    for name in OVERRIDABLE:
        seen = set(column(table, name).tolist())
        if name == "extended_target":
            seen = {
                extended and extended - target
                for extended, target in zip(table[name].tolist(), table["target"].tolist(), strict=True)
            }
        allowed = set(TRAIN_VALUES.get(name, (0, 1) if FIELDS[name].choices else (0,)))
        if "points" in name or name == "max_200":
            allowed |= {0}
        assert seen <= allowed, name
        assert len(seen) > 1 or len(allowed) == 1, name
    for first, one, second, two in PAIRS:
        assert not ((table[first] == one) & (table[second] == two)).any()


def test_sheets_beyond_have_a_value_that_training_never_has() -> None:
    table = split("variants-v1:test/beyond").rules(np.arange(200), 2, 2)
    outside = np.zeros(200, int)
    for name in BEYOND_VALUES:
        inside = [*TRAIN_VALUES[name], *([0] if "points" in name else [])]
        outside += ~np.isin(column(table, name), inside)
    assert outside.min() >= 1
    assert outside.max() == 2


def test_sheets_of_combinations_have_a_pair_that_training_never_has() -> None:
    table = split("variants-v1:test/combinations").rules(np.arange(200), 2, 2)
    pairs = np.array([(table[first] == one) & (table[second] == two) for first, one, second, two in PAIRS])
    assert pairs.any(axis=0).all()
    assert (pairs.sum(axis=1) > 10).all()
    for name in editions():
        rules = edition(name).rules._asdict()
        assert not any(rules[first] == one and rules[second] == two for first, one, second, two in PAIRS)


def test_mini_sheets_have_six_to_eight_cards() -> None:
    for name in ("mini-variants-v1:train", "mini-variants-v1:test"):
        sheets = split(name)
        sizes = [sum(sheets.sheet(number).rules.deck) for number in range(100)]
        assert {6, 7, 8} == set(sizes)
        table = sheets.rules(np.arange(100), 2, 2)
        for field, allowed in MINI_VALUES.items():
            if field != "extended_target":
                assert np.isin(column(table, field), [*allowed, 0]).all(), field


@pytest.mark.parametrize("name", DRAWN)
def test_every_sheet_is_valid_at_every_table(name: str) -> None:
    one = split(name)
    for number in range(40):
        for players, teams in one.sheet(number).tables:
            rules = one.sheet(number).table(players, teams)
            assert validated(rules) == rules
            assert one.rules([number], players, teams).tobytes() == rules_array(rules).tobytes()


def test_the_name_of_a_sheet_says_everything() -> None:
    one = split("variants-v1:train")
    sheet = one.sheet(123456)
    assert sheet.name == "variants-v1:train/123456"
    assert edition(sheet.name).rules == sheet.rules
    assert edition("variants-v1:train/123456+max_200=1").table(2).max_200 == 1
    assert pickle.loads(pickle.dumps(one)) is one
    assert one.sheet(2**32 - 1).rules != sheet.rules


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("variants-v2:train/1", r"no split 'variants-v2:train'.*variants-v1:train"),
        ("variants-v1:train", r"is a split, not one sheet.*variants-v1:train/0"),
        ("variants-v1:test/inside/200", r"no sheet 200.*variants-v1:test/inside/0 to .*/199"),
        ("variants-v1:train/4294967296", "no sheet 4294967296"),
        ("variants-v1:train/-1", "'-1', not a number"),
        ("variants-v1:train/007", "'007', not a number"),
        ("variants-v1:train/", "'', not a number"),
    ],
)
def test_a_wrong_name_is_explained(name: str, words: str) -> None:
    with pytest.raises(EditionError, match=words):
        edition(name)


def test_a_table_without_seats_is_explained() -> None:
    with pytest.raises(OptionError, match="5 players"):
        split("variants-v1:train").rules([1], 5)
    with pytest.raises(OptionError, match="4 players"):
        split("mini-variants-v1:train").sheet(0).table(4)


def test_wrong_numbers_are_explained() -> None:
    one = split("variants-v1:test/inside")
    cases: list[tuple[Any, str]] = [
        ([1, 200], "has no sheet 200"),
        ([-1], "has no sheet -1"),
        ([1.5], "a list of whole numbers"),
        ([[1]], "a list of whole numbers"),
    ]
    for wrong, words in cases:
        with pytest.raises(EditionError, match=words):
            one.rules(wrong, 2)
    with pytest.raises(EditionError, match=r"1\.5.* is not a number of a sheet"):
        one.sheet(1.5)  # type: ignore[arg-type]


def test_a_function_that_fails_names_the_number() -> None:
    with pytest.raises(EditionError, match="'mine' has no sheet 3: ZeroDivisionError"):
        Split("mine", lambda number: edition(f"parker+max_200={1 // (number - 3)}")).sheet(3)


if __name__ == "__main__":
    GOLDEN.write_text(text_of_golden_sheets(), encoding="utf-8")
