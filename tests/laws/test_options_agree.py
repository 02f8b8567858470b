"""The rulebook and the oracle agree when a rule is overridden: each option, at a table of each edition."""

from __future__ import annotations

import pytest

from tests.laws.comparison import play_rounds
from tests.laws.conversions import TABLES, Table, new_games, rules_of
from tests.laws.positions import is_ever_played_out
from tests.oracle.rules import OPTIONS, OracleRules

ROUNDS = 9
MANY_ROUNDS = 1000
MOST_ATTEMPTS = 40
"""So many times as many rounds are played until the option has made a difference."""

IDLE_WHERE = {
    "any_safety_starts": lambda rules: not rules.start_needs_roll,
    "attack_needs_roll": lambda rules: (
        rules.start_needs_roll and rules.roll_after_remedy and not rules.opening_remedy_starts
    ),
    "play_out_after_extension": lambda rules: rules.play_out or rules.extended_target is None,
    "end_when_stuck": lambda rules: not is_ever_played_out(rules),
    "failed_extension_forfeits_bonuses": lambda rules: (
        rules.extended_target is None or not rules.count_points
    ),
    "safeties_break_tie": lambda rules: rules.count_points,
}
"""Tables where an option makes no difference, because its case does not arise."""


def is_idle(option: str, rules: OracleRules) -> bool:
    return option in IDLE_WHERE and IDLE_WHERE[option](rules)


def tables_of(option: str) -> list[Table]:
    """One table of each edition, each time another; one where the option matters, if there is one."""
    chosen = []
    for name in dict.fromkeys(table.edition for table in TABLES):
        tables = [table for table in TABLES if table.edition == name]
        tables = [table for table in tables if not is_idle(option, rules_of(table))] or tables
        chosen.append(tables[OPTIONS.index(option) % len(tables)])
    return chosen


CASES = [(option, table) for option in OPTIONS for table in tables_of(option)]
all_cases = pytest.mark.parametrize(("option", "table"), CASES, ids=str)


def other_value(option: str, table: Table) -> dict[str, int]:
    """The value that the edition does not have; both implementations must have the other one."""
    value = int(getattr(rules_of(table), option))
    assert getattr(new_games(table).rules, option) == value
    return {option: 1 - value}


def makes_a_difference(option: str, table: Table, attempts: int) -> bool:
    """Return True if an oracle without the option disagrees."""
    changes = other_value(option, table)
    for seed in range(attempts):
        try:
            play_rounds(table, ROUNDS, seed, changes, {})
        except AssertionError:
            return True
    return False


@all_cases
def test_rounds_with_another_rule_agree(option: str, table: Table) -> None:
    changes = other_value(option, table)
    play_rounds(table, ROUNDS, OPTIONS.index(option), changes, changes)


@all_cases
def test_the_other_rule_makes_a_difference(option: str, table: Table) -> None:
    idle = is_idle(option, rules_of(table))
    assert makes_a_difference(option, table, 1 if idle else MOST_ATTEMPTS) != idle


@pytest.mark.slow
@all_cases
def test_many_rounds_with_another_rule_agree(option: str, table: Table) -> None:
    changes = other_value(option, table)
    for part in range(10):
        play_rounds(table, MANY_ROUNDS // 10, 100 + part, changes, changes)
