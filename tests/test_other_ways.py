"""The same source gives the same games as plain Python, and with every index checked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from tests.golden.test_golden import TABLES
from tests.laws.conversions import SOME_TABLES
from tests.laws.test_same_games import FEW_GAMES, long_digests, sequences
from tests.other_ways import WAYS, Run, running
from tests.wielerspel.golden.trace import TABLES as TABLES_OF_RACES

ways = pytest.mark.parametrize("way", WAYS)


@pytest.fixture(scope="module")
def runs() -> Iterator[dict[str, Run]]:
    """One process for each way, for all tests of this file."""
    with running() as processes:
        yield processes


@ways
def test_the_process_runs_in_the_way_that_it_is_named_after(way: str, runs: dict[str, Run]) -> None:
    assert runs[way].results()["modes"] == WAYS[way][1]


@ways
def test_the_golden_games_come_out_the_same(way: str, runs: dict[str, Run]) -> None:
    assert runs[way].results()["golden"] == {"files": len(TABLES), "differences": []}


@ways
def test_the_golden_races_come_out_the_same(way: str, runs: dict[str, Run]) -> None:
    assert runs[way].results()["races"] == {"files": len(TABLES_OF_RACES), "differences": []}


@ways
def test_the_same_seed_gives_the_same_games(way: str, runs: dict[str, Run]) -> None:
    told = runs[way].results()["games"]
    assert told["sequences"] == {str(table): sequences(table) for table in SOME_TABLES}
    for table, episode in product(SOME_TABLES, ("round", "match")):
        assert told["digests"][f"{table} {episode}"] == long_digests(table, episode)[:FEW_GAMES]
