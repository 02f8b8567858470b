"""Question 7: ways to deal and to take luck off, and how many rounds each needs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.games.millebornes.cards import NO_CARD
from research.parts import Part, Record
from research.variance import (
    AIVAT,
    LUCK,
    NOTHING,
    PLAIN,
    PRECISION,
    SAME_ORDER,
    STREAMS,
    measure,
    ways,
)
from research.watching import BoolArray, CommonPile, Int64Array, StateArray, Watcher, play_watched

ROUNDS = MatchConfig("parker", 2, episode="round", seed=5, threads=1)


def test_watched_games_are_those_of_the_arena() -> None:
    pair = ["greedy", "holder"]
    watched, played = (
        play_watched(pair, ROUNDS, 20, Watcher(), first_deal=3),
        play(pair, ROUNDS, 20, first_deal=3),
    )
    for name in ("points", "wins", "rounds", "decisions", "first"):
        np.testing.assert_array_equal(getattr(watched, name), getattr(played, name))


class Drawn(CommonPile):
    """Notes the cards that are drawn, in their order, of each game."""

    def __init__(self) -> None:
        self.pile: Any = None
        self.drawn: list[list[int]] = []

    def on_start(self, states: StateArray) -> None:
        super().on_start(states)
        self.pile = states["deck"].copy()
        self.left = states["draw_pile"].copy()
        self.drawn = [[] for _ in states]

    def before_step(self, states: StateArray, live: BoolArray, actions: Int64Array) -> None:
        self.hands, self.before = states["hand"].sum(axis=1), states["hidden"].astype(np.int64)

    def after_step(self, states: StateArray) -> None:
        gone = self.before - states["hidden"]  # the card that was shown
        came = states["hand"].sum(axis=1) - self.hands + gone
        for game, cards in enumerate(came):
            self.drawn[game] += np.repeat(np.arange(len(cards)), cards).tolist()
        super().after_step(states)


def test_all_seats_draw_from_one_pile_in_its_order() -> None:
    watcher = Drawn()
    play_watched(["greedy", "holder"], ROUNDS, 15, watcher)
    assert max(map(len, watcher.drawn)) > 60
    for pile, left, drawn in zip(watcher.pile, watcher.left, watcher.drawn, strict=True):
        assert (pile[left:] == NO_CARD).all()
        expected = pile[: len(drawn)].tolist()
        place = 0
        while place < len(drawn):  # two cards of a coup fourré come in one step, sorted here
            size = 1 if drawn[place] == expected[place] else 2
            assert sorted(drawn[place : place + size]) == sorted(expected[place : place + size])
            place += size
    for one, other in zip(watcher.pile[:15], watcher.pile[15:], strict=True):  # both rotations of a deal
        np.testing.assert_array_equal(one, other)


def record(cards: str, seed: int = 1) -> Record:
    part = Part("x", seed, {"pair": ["greedy", "holder"], "cards": cards, "edition": "parker", "deals": 300})
    return Record(part, measure(part, lambda share: None), 1.0, 1.0)


def test_duplicate_deals_and_luck_save_rounds_and_leave_the_mean_alone() -> None:
    result = {
        (way.cards, way.luck): way for way in ways([record(PLAIN), record(SAME_ORDER), record(STREAMS)])
    }
    assert len(result) == 3 * len(LUCK)
    plain = result[PLAIN, NOTHING]
    for way in result.values():
        assert abs(way.mean - plain.mean) < 4 * np.hypot(way.error, plain.error)
    assert result[STREAMS, NOTHING].rounds < 0.5 * plain.rounds
    assert result[STREAMS, NOTHING].rounds < result[SAME_ORDER, NOTHING].rounds
    assert result[SAME_ORDER, AIVAT].rounds < result[SAME_ORDER, NOTHING].rounds
    assert plain.rounds == pytest.approx(2 * 300 * (plain.error / PRECISION) ** 2)
