"""Observations: every number of every section, in every layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, pairwise, product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from millebornes_env.engine.batch import Batch
from millebornes_env.engine.numba.compiling import plain as plain_rule
from millebornes_env.games.millebornes import observation
from millebornes_env.games.millebornes.rules import RULES, Rules, rules_record
from millebornes_env.games.millebornes.sections import (
    CONTENTS,
    END,
    OFFSETS,
    ObservationSpec,
    RowShape,
    Section,
    full_state_sections,
    observation_size,
    part_of,
    sections,
    start_of,
)
from tests.each import each
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
"""The shape of a padded layout; `STREAM` for the cards to come of each seat."""

SPECS = tuple(ObservationSpec(*flags) for flags in product((1, 0), repeat=3))
all_tables = each("table", TABLES)
some_tables = each("table", SOME_TABLES)
all_specs = each("spec", SPECS)


def observing(table: Table, spec: ObservationSpec, **changes: int) -> Batch:
    return new_games(table, settings=ROUND._replace(observation_spec=spec), **changes)


def part(row: Sequence[int], section: Section) -> list[int]:
    return list(row[section.start : section.stop])


def check_row(row: Sequence[int], layout: Sequence[Section], expected: dict[str, list[int]]) -> None:
    assert len(row) == layout[-1].stop
    for section in layout:
        assert part(row, section) == expected[section.name], section.name
        assert min(expected[section.name]) >= 0
        assert max(expected[section.name]) <= section.high, section.name


@all_specs
@all_tables
def test_the_sections_cover_the_observation_without_a_gap(table: Table, spec: ObservationSpec) -> None:
    games = observing(table, spec)
    layout, full = sections(games.rules, spec), full_state_sections(games.rules, spec)
    names = list(visible(plain(games)[0], table, 0))
    names = (names if spec.unseen else names[:-1]) + ["rules"] * spec.rules
    assert [section.name for section in layout] == names
    assert [section.name for section in full] == [*names, "other_hands", "streams"]
    for covering in (layout, full):
        assert covering[0].start == 0
        assert all(before.stop == after.start for before, after in pairwise(covering))
        assert all(section.size > 0 and section.high > 0 and section.meaning for section in covering)
    size = observation_size(rules_record(games.rules), spec)
    assert layout[-1].stop == size == games.buffers.observation.shape[1]
    assert games.full_states().shape == (1, full[-1].stop)


def test_the_observation_says_what_the_seat_can_see() -> None:
    highest: Counter[str] = Counter()

    @given(tables, seeds, st.lists(st.integers(0, 20_000), min_size=4, max_size=4))
    @examples(40)
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


# Writing ----------------------------------------------------------------------------------------------------

POISON = -1
"""No section has such a number."""


def writer_of(name: str) -> Callable[..., None]:
    """As the rulebook has it: in plain Python, so that not every section is compiled by itself."""
    return plain_rule(getattr(observation, f"write_{name}"))


@all_specs
@some_tables
def test_each_section_is_written_by_the_function_of_its_name_and_nowhere_else(
    table: Table, spec: ObservationSpec
) -> None:
    for games, record, log in walk(table, seed=3):
        if len(log) % 20:
            continue
        rules, state, seat = rules_record(games.rules), games.states[0], record["seat"]
        other = observing(table, spec)
        other.states[:] = games.states
        (seen,) = observed(other, seat)
        shown = {
            "table": [seat],
            "seat": [(seat + place) % table.players for place in range(table.players)],
            "team": [(seat + place) % table.teams for place in range(table.teams)],
        }
        for section in sections(games.rules, spec):
            row = np.full(len(seen), POISON, np.int8)
            row[section.start : section.stop] = 0
            size = CONTENTS[section.name].size
            for place, who in enumerate(shown[section.owner]):
                writer_of(section.name)(state, rules, who, row, section.start + place * size)
            expected = [POISON] * len(seen)
            expected[section.start : section.stop] = part(seen, section)
            assert row.tolist() == expected, section.name


@all_specs
@all_tables
def test_a_row_is_written_from_end_to_end_and_no_further(table: Table, spec: ObservationSpec) -> None:
    games = observing(table, spec)
    size = games.buffers.observation.shape[1]
    around = np.full((3, size), POISON, np.int8)
    games.observe(games.buffers.agent_selection, around[1:2])
    assert around[1].tolist() == games.buffers.observation[0].tolist()
    assert POISON not in around[1]
    assert (around[[0, 2]] == POISON).all()


def test_starts_are_known_for_every_row_shape() -> None:
    """Compiled code calculates the same starts as adding up the sizes."""
    for seats, teams, unseen, shows_rules in product((2, 3, 8), (2, 4), (0, 1), (0, 1)):
        shape = RowShape(seats, teams, unseen, shows_rules)
        owners = {"table": 1, "seat": seats, "team": teams}
        start = 0
        for content, offset in zip(CONTENTS.values(), OFFSETS, strict=True):
            assert start_of(offset, shape) == start
            assert part_of(offset, shape, 1) == start + content.size
            is_shown = {"": 1, "unseen": unseen, "rules": shows_rules}[content.shown_by]
            start += content.size * owners[content.owner] * is_shown
        assert start_of(END, shape) == start


# Other layouts ----------------------------------------------------------------------------------------------


@all_specs
@rounds
@examples(15)
def test_every_layout_holds_the_same_numbers(spec: ObservationSpec, table: Table, seed: int) -> None:
    """Section by section; what a padded one has beside them is zero."""
    other = observing(table, spec)
    layout = {section.name: section for section in sections(other.rules, spec)}
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
                    assert beside == 0 or spec.padded
                    assert max(wider) <= layout[section.name].high
            if spec.rules:
                assert part(row, layout["rules"]) == list(other.rules.observed)
            if seat == record["seat"]:
                assert other.buffers.observation[0].tolist() == row
                check_concealed(other, record, table, spec)
        mask = games.buffers.action_mask[0].tolist()
        shape = num_ids(TEAMS if spec.padded else table.teams)
        assert other.buffers.action_mask[0].tolist() == mask + [0] * (shape - len(mask))


def check_concealed(games: Batch, record: Record, table: Table, spec: ObservationSpec) -> None:
    """The end of the full state, which is padded for each seat apart."""
    *_, hands, streams = full_state_sections(games.rules, spec)
    shape, longest = (SEATS, STREAM) if spec.padded else (table.players, streams.size // table.players)
    expected = concealed(record, table.players, record["seat"], longest)
    expected["other_hands"] += [0] * 19 * (shape - table.players)
    expected["streams"] += [0] * longest * (shape - table.players)
    row = games.full_states()[0].tolist()
    assert part(row, hands) == expected["other_hands"]
    assert part(row, streams) == expected["streams"]
    assert row[: hands.start] == games.buffers.observation[0].tolist()


@all_specs
def test_all_tables_have_one_padded_layout(spec: ObservationSpec) -> None:
    layouts = {sections(new_games(table).rules, spec._replace(padded=1)) for table in TABLES}
    full = {full_state_sections(new_games(table).rules, spec._replace(padded=1)) for table in TABLES}
    assert len(layouts) == len(full) == 1
    for name, shape in (("to_act", SEATS), ("hand_counts", SEATS), ("km", TEAMS), ("opening", TEAMS)):
        assert [section.size for section in next(iter(layouts)) if section.name == name] == [shape]


# The rules --------------------------------------------------------------------------------------------------


def rules_seen(table: Table, **changes: int) -> tuple[int, ...]:
    games = observing(table, ObservationSpec(rules=1), **changes)
    section = sections(games.rules, ObservationSpec(rules=1))[-1]
    return tuple(part(games.buffers.observation[0].tolist(), section))


@all_tables
def test_the_rules_are_seen_as_they_are(table: Table) -> None:
    rules = new_games(table).rules
    seen = dict(zip(Rules._fields, rules_seen(table), strict=True))
    assert tuple(seen.values()) == rules.observed == tuple(rules_record(rules).observed)
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


@each("option", OPTIONS)
@some_tables
def test_a_rule_that_was_overridden_is_seen(table: Table, option: str) -> None:
    usual = rules_seen(table)
    changed = rules_seen(table, **{option: 1 - getattr(new_games(table).rules, option)})
    assert [
        name for name, here, there in zip(Rules._fields, usual, changed, strict=True) if here != there
    ] == [option]


def test_the_row_of_rules_is_of_eight_bit_numbers() -> None:
    assert RULES["observed"].base == np.int8
    assert all(0 <= number <= 127 for table in TABLES for number in rules_seen(table))
