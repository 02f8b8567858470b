"""The rules as compiled code reads them: a record with the fields of the tuple, and a type of its own."""

from __future__ import annotations

import numpy as np

from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.games.millebornes.editions import edition, editions
from millebornes_env.games.millebornes.rules import RULES, compiled_rules, rules_array, rules_record
from tests.each import each


@each("name", editions())
def test_the_record_says_what_the_tuple_says(name: str) -> None:
    rules = edition(name).table(2, None)
    record = rules_record(rules)
    for field in RULES.names or ():
        assert np.array_equal(getattr(record, field), getattr(rules, field)), field


def test_all_three_conversions_hold_the_same() -> None:
    rules = edition("parker").table(4, None)
    assert rules_record(rules) == compiled_rules(rules) == rules_array(rules)[0]
    assert type(compiled_rules(rules)) is type(for_kernels(rules_array(rules))[0])
