"""Both rulebooks count the same sequences of actions, and the number stays the same.

`python -m tests.laws.test_perft` counts afresh and writes the numbers into this file.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from millebornes_env.games.millebornes.state import STATE
from millebornes_env.testing import counting
from millebornes_env.testing.counting import count_sequences
from tests.each import each
from tests.laws.conversions import PARKER_2, PARKER_3, TABLES, Table, new_games
from tests.laws.players import walk
from tests.laws.positions import SITUATIONS, found, occurs
from tests.oracle import oracle

DEPTH = 5
"""Of the recorded numbers; the oracle takes minutes to count so deep."""

# fmt: off
# How many sequences of five actions there are, for each of `SITUATIONS` in order; -1 where it cannot occur.
RECORDED: dict[str, tuple[int, ...]] = {
    "parker 2/2": (16036, 12786, 4316, 78, 2230, 81275, -1, 4590, 678),
    "parker 3/3": (14903, 7199, 2050, 2788, 4914, 54084, -1, 10824, 1440),
    "parker 4/2": (27001, 42079, 6498, 3831, -1, -1, -1, 14992, 3480),
    "parker 6/3": (33432, 16128, 6738, 1160, 2934, 12072, -1, 7300, 1104),
    "dujardin_classic 2/2": (16036, 12786, 4316, 1729, 2230, 81275, -1, 4590, 447),
    "dujardin_classic 3/3": (14903, 104339, 8850, 2772, 3090, 48343, -1, 20468, 2128),
    "dujardin_classic 4/2": (27001, 6936, 3808, 964, -1, -1, -1, 35560, 3840),
    "dujardin_classic 6/3": (33432, 51068, 7116, 864, 1073, 27310, -1, 3400, 1152),
    "winning_moves 2/2": (16313, 23483, 4697, 440, 6289, 56970, 16991, 20064, 5114),
    "winning_moves 3/3": (35579, 168185, 6150, 1788, 2196, 13033, 22047, 20053, 3840),
    "winning_moves 4/2": (39923, 42088, 6492, 1280, -1, -1, 7274, 8876, 1965),
    "winning_moves 6/3": (51521, 17940, 3892, 633, 1420, 8380, 40168, 67255, 23281),
    "dutch 2/2": (16036, 12786, 4316, 1481, 2230, 66680, -1, 9920, 180),
    "dutch 3/3": (14903, 28598, 1220, 3365, 1312, 42081, -1, 4276, 1120),
    "dutch 4/2": (27001, 40400, 7072, 1962, -1, -1, -1, 21877, -1),
    "dutch 6/2": (32495, 18984, 3365, 4093, -1, -1, -1, 33656, -1),
    "dujardin 2/2": (67366, 18971, 9030, 5158, -1, -1, 29363, 23581, -1),
    "dujardin 3/3": (91995, 30993, 4648, 1603, -1, -1, 15861, 5499, -1),
    "dujardin 4/4": (264897, 73495, 9936, 5988, -1, -1, 58046, 86858, -1),
    "dujardin 4/2": (97992, 11966, 2711, 4192, -1, -1, 23433, 16345, -1),
    "dujardin 6/3": (116391, 22960, 6984, 3619, -1, -1, 46403, 168561, -1),
    "dujardin 8/4": (196371, 14630, 3477, 15815, -1, -1, 126873, 180080, -1),
    "dujardin_2014 2/2": (16901, 108674, 3544, 983, -1, -1, -1, 24640, -1),
    "dujardin_2014 3/3": (24710, 56897, 2447, 1260, -1, -1, -1, 19349, -1),
    "dujardin_2014 4/4": (44338, 46084, 1680, 7688, -1, -1, -1, 18469, -1),
    "dujardin_2014 4/2": (27001, 6542, 6164, 2549, -1, -1, -1, 7401, -1),
    "dujardin_2014 6/3": (33432, 112128, 6806, 4494, -1, -1, -1, 53721, -1),
    "dujardin_2014 8/4": (21210, 137900, 5762, 3220, -1, -1, -1, 3472, -1),
}
# fmt: on

all_tables = each("table", TABLES)
all_positions = each(
    "table, situation",
    [(table, situation) for table in TABLES for situation in SITUATIONS if occurs(situation, table)],
)


def counted(table: Table) -> tuple[int, ...]:
    """The numbers of the table, by the kernels."""
    positions = [found(name, table)[0] if occurs(name, table) else None for name in SITUATIONS]
    return tuple(
        -1 if games is None else count_sequences(games.states, games.rules, DEPTH) for games in positions
    )


@all_positions
def test_the_oracle_counts_the_same(table: Table, situation: str) -> None:
    games, position = found(situation, table)
    for depth in range(3):
        assert count_sequences(games.states, games.rules, depth) == oracle.count_sequences(position, depth)


@pytest.mark.slow
@all_positions
def test_the_oracle_counts_the_recorded_numbers(table: Table, situation: str) -> None:
    _, position = found(situation, table)
    expected = RECORDED[str(table)][list(SITUATIONS).index(situation)]
    assert oracle.count_sequences(position, DEPTH) == expected


@all_tables
def test_the_numbers_are_those_recorded(table: Table) -> None:
    assert counted(table) == RECORDED[str(table)]


def test_the_states_are_counted_together_and_left_as_they_are() -> None:
    games = new_games(PARKER_3, 7, seed=3)
    before = games.states.copy()
    singly = [count_sequences(games.states[game : game + 1], games.rules, 3) for game in range(7)]
    assert len(set(singly)) > 1
    assert count_sequences(games.states, games.rules, 3) == sum(singly)
    assert (games.states == before).all()


def test_any_array_of_states_will_do() -> None:
    games = new_games(PARKER_2, 3)
    expected = count_sequences(games.states, games.rules, 2)
    for states in (games.states.view(np.ndarray), games.states.copy(), games.states.astype(STATE)):
        assert count_sequences(states, games.rules, 2) == expected
    assert count_sequences(games.states[:0], games.rules, 2) == 0


def test_the_size_of_a_chunk_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    games = new_games(PARKER_2, 2, seed=1)
    expected = count_sequences(games.states, games.rules, 4)
    assert expected > counting.CHUNK
    for size in (1, 7, 10**6):
        monkeypatch.setattr(counting, "CHUNK", size)
        assert count_sequences(games.states, games.rules, 4) == expected


def test_a_round_that_is_over_has_no_continuation() -> None:
    *_, (games, record, _) = walk(PARKER_2, 1)
    assert record["phase"] == 3
    assert [count_sequences(games.states, games.rules, depth) for depth in range(3)] == [1, 0, 0]


def record_numbers() -> None:
    """Write this file anew, with the numbers that the kernels count."""
    file = Path(__file__)
    text = file.read_text(encoding="utf-8")
    first = text.index("] = {\n") + len("] = {\n")
    lines = [f'    "{table}": {counted(table)},\n' for table in TABLES]
    file.write_text(text[:first] + "".join(lines) + text[text.index("}\n# fmt: on") :], encoding="utf-8")


if __name__ == "__main__":
    record_numbers()
