"""Rounds that Hypothesis draws, at every table, and the law of the cards, which is asked everywhere."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.laws.conversions import CARDS, TABLES, Record, Table, add, counts, deck_of, rules_of, streams_of
from tests.laws.players import MIXES

tables = st.sampled_from(TABLES)
tables_with_points = st.sampled_from([table for table in TABLES if rules_of(table).count_points])
seeds = st.integers(0, 2**64 - 1)
others = st.integers(1, len(MIXES) - 1)
rounds = given(tables, seeds)


def examples(count: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """So many random rounds, the same ones in every run."""
    return settings(max_examples=count, derandomize=True, database=None, deadline=None)


def places_to_come(record: Record, players: int) -> set[int]:
    """Return the offsets in the deck of cards still to draw."""
    bounds = zip(record["stream_next"][:players], record["stream_end"][:players], strict=True)
    return {place for first, end in bounds for place in range(first, end)}


def check_cards(record: Record, table: Table) -> None:
    """No card is lost or doubled, all counts are right, and nothing is left where a card was drawn."""
    pending = record["pending_hazard"]
    streams = counts(card for stream in streams_of(record, table.players) for card in stream)
    rows = [*record["hand"], *record["tableau"], record["discard_pile"], streams]
    assert min(min(row) for row in rows) >= 0
    assert add(*rows, counts([CARDS[pending]] if pending >= 0 else [])) == counts(deck_of(table))
    assert record["hidden"] == add(*record["hand"], streams)
    assert record["draw_pile"] == sum(streams)
    assert record["hand_count"] == [sum(hand) for hand in record["hand"]]
    to_come = places_to_come(record, table.players)
    assert len(to_come) == sum(streams)
    assert all((card >= 0) == (place in to_come) for place, card in enumerate(record["deck"]))
