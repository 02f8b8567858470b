"""What a seat sees: every number of every section, in every layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from millebornes_env.engine.games import Games
from millebornes_env.millebornes.observation import (
    Section,
    View,
    full_state_sections,
    observation_size,
    sections,
)
from millebornes_env.millebornes.rules import RULES, Rules, rules_record
from tests.laws.conversions import (
    DECISIONS,
    ROUND,
    SOME_TABLES,
    TABLES,
    Record,
    Table,
    new_games,
    num_ids,
    observed,
    plain,
    rules_of,
)
from tests.laws.expectations import concealed, visible
from tests.laws.players import mix_of, play_on, walk
from tests.laws.random_rounds import examples, rounds, seeds, tables
from tests.oracle.rules import OPTIONS

SEATS, TEAMS, STREAM = 8, 4, 53
"""The room of a padded layout; `STREAM` for the cards to come of each seat."""

VIEWS = tuple(View(*flags) for flags in product((1, 0), repeat=3))
all_tables = pytest.mark.parametrize("table", TABLES, ids=str)
all_views = pytest.mark.parametrize("view", VIEWS, ids=str)


def viewed(table: Table, view: View, **changes: int) -> Games:
    return new_games(table, settings=ROUND._replace(layout=view), **changes)


def part(row: Sequence[int], section: Section) -> list[int]:
    return list(row[section.start : section.stop])


def check_row(row: Sequence[int], layout: Sequence[Section], expected: dict[str, list[int]]) -> None:
    assert len(row) == layout[-1].stop
    for section in layout:
        assert part(row, section) == expected[section.name], section.name
        assert min(expected[section.name]) >= 0
        assert max(expected[section.name]) <= section.high, section.name


@all_views
@all_tables
def test_the_sections_cover_the_observation_without_a_gap(table: Table, view: View) -> None:
    games = viewed(table, view)
    layout, full = sections(games.rules, view), full_state_sections(games.rules, view)
    names = list(visible(plain(games)[0], table, 0))
    names = (names if view.unseen else names[:-1]) + ["rules"] * view.rules
    assert [section.name for section in layout] == names
    assert [section.name for section in full] == [*names, "other_hands", "streams"]
    for covering in (layout, full):
        assert covering[0].start == 0
        assert all(before.stop == after.start for before, after in pairwise(covering))
        assert all(section.size > 0 and section.high > 0 and section.meaning for section in covering)
    size = observation_size(rules_record(games.rules)[0], view)
    assert layout[-1].stop == size == games.buffers.observation.shape[1]
    assert games.full_states().shape == (1, full[-1].stop)


def test_the_observation_says_what_the_seat_can_see() -> None:
    highest: Counter[str] = Counter()

    @given(tables, seeds, st.lists(st.integers(0, 20_000), min_size=4, max_size=4))
    @examples(100)
    def check(table: Table, seed: int, score: list[int]) -> None:
        games = new_games(table, seed=seed)
        games.states[0].score[:] = score
        games.write_decisions()
        layout, full = sections(games.rules), full_state_sections(games.rules)
        for record, log in play_on(games, seed, mix_of(table, seed)):
            is_over = DECISIONS[record["phase"]] is None
            # All seats look at every fifth decision and at the end.
            looking = range(table.players) if is_over or len(log) % 5 == 0 else [record["seat"]]
            for seat in looking:
                expected = visible(record, table, seat)
                (row,) = observed(games, seat)
                check_row(row, layout, expected)
                for section in layout:
                    highest[section.name] = max(highest[section.name], *part(row, section))
                if is_over:
                    assert games.buffers.final_observation[0, seat].tolist() == row
                if seat == record["seat"]:
                    assert games.buffers.observation[0].tolist() == row
                    assert games.buffers.agent_selection[0] == seat
                    expected |= concealed(record, table.players, seat, full[-1].size // table.players)
                    check_row(games.full_states()[0].tolist(), full, expected)

    check()
    assert set(highest) == {section.name for section in sections(new_games(TABLES[0]).rules)}
    assert min(highest.values()) > 0  # no section was empty all the time
    assert (highest["score"], highest["two_hundreds"], highest["target"]) == (127, 2, 40)
    assert highest["opening"] == 2


# Other layouts ----------------------------------------------------------------------------------------------


@all_views
@rounds
@examples(15)
def test_every_layout_holds_the_same_numbers(view: View, table: Table, seed: int) -> None:
    """Section by section; what a padded one has beside them is zero."""
    other = viewed(table, view)
    layout = {section.name: section for section in sections(other.rules, view)}
    for games, record, log in walk(table, seed):
        if len(log) % 7 and DECISIONS[record["phase"]] == "play":
            continue
        other.states[:] = games.states
        other.write_decisions()
        for seat in {record["seat"], len(log) % table.players}:
            (row,), (usual,) = observed(other, seat), observed(games, seat)
            for section in sections(games.rules):
                if section.name in layout:
                    wider = part(row, layout[section.name])
                    beside = len(wider) - section.size
                    assert wider == part(usual, section) + [0] * beside, section.name
                    assert beside == 0 or view.padded
                    assert max(wider) <= layout[section.name].high
            if view.rules:
                assert part(row, layout["rules"]) == list(other.rules.observed)
            if seat == record["seat"]:
                assert other.buffers.observation[0].tolist() == row
                check_concealed(other, record, table, view)
        mask = games.buffers.action_mask[0].tolist()
        room = num_ids(TEAMS if view.padded else table.teams)
        assert other.buffers.action_mask[0].tolist() == mask + [0] * (room - len(mask))


def check_concealed(games: Games, record: Record, table: Table, view: View) -> None:
    """The end of the full state, which is padded for each seat apart."""
    *_, hands, streams = full_state_sections(games.rules, view)
    room, longest = (SEATS, STREAM) if view.padded else (table.players, streams.size // table.players)
    expected = concealed(record, table.players, record["seat"], longest)
    expected["other_hands"] += [0] * 19 * (room - table.players)
    expected["streams"] += [0] * longest * (room - table.players)
    row = games.full_states()[0].tolist()
    assert part(row, hands) == expected["other_hands"]
    assert part(row, streams) == expected["streams"]
    assert row[: hands.start] == games.buffers.observation[0].tolist()


@all_views
def test_all_tables_have_one_padded_layout(view: View) -> None:
    layouts = {sections(new_games(table).rules, view._replace(padded=1)) for table in TABLES}
    full = {full_state_sections(new_games(table).rules, view._replace(padded=1)) for table in TABLES}
    assert len(layouts) == len(full) == 1
    for name, room in (("to_act", SEATS), ("hand_counts", SEATS), ("km", TEAMS), ("opening", TEAMS)):
        assert [section.size for section in next(iter(layouts)) if section.name == name] == [room]


# The rules --------------------------------------------------------------------------------------------------


def rules_seen(table: Table, **changes: int) -> tuple[int, ...]:
    games = viewed(table, View(rules=1), **changes)
    section = sections(games.rules, View(rules=1))[-1]
    return tuple(part(games.buffers.observation[0].tolist(), section))


@all_tables
def test_the_rules_are_seen_as_they_are(table: Table) -> None:
    rules = new_games(table).rules
    seen = dict(zip(Rules._fields, rules_seen(table), strict=True))
    assert tuple(seen.values()) == rules.observed == tuple(rules_record(rules)[0].observed)
    assert (seen["players"], seen["teams"], seen["hand_limit"]) == (table.players, table.teams, 6)
    assert seen["target"] == rules_of(table).target // 25
    assert seen["extended_target"] == (rules_of(table).extended_target or 0) // 25
    assert (seen["points_trip_completed"], seen["points_shutout"], seen["goal"]) == (40, 50, 50)
    for option in OPTIONS:
        assert seen[option] == int(getattr(rules_of(table), option)), option


def test_tables_that_differ_in_a_rule_show_it() -> None:
    rules = {table: new_games(table).rules for table in TABLES}
    seen = {table: rules_seen(table) for table in TABLES}
    for one, other in combinations(TABLES, 2):
        differing = [here != there for here, there in zip(rules[one], rules[other], strict=True)]
        shown = [here != there for here, there in zip(seen[one], seen[other], strict=True)]
        assert differing == shown
        assert any(shown)


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("table", SOME_TABLES, ids=str)
def test_a_rule_that_was_overridden_is_seen(table: Table, option: str) -> None:
    usual = rules_seen(table)
    changed = rules_seen(table, **{option: 1 - getattr(new_games(table).rules, option)})
    assert [
        name for name, here, there in zip(Rules._fields, usual, changed, strict=True) if here != there
    ] == [option]


def test_the_row_of_rules_is_of_eight_bit_numbers() -> None:
    assert RULES["observed"].base == np.int8
    assert all(0 <= number <= 127 for table in TABLES for number in rules_seen(table))
