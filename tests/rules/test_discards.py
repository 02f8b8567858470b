"""Discards: 004:5, 004:28; rulings E21, E59, E63 (the rest: `editions/test_all*.py`)."""

from __future__ import annotations

from collections import Counter

from tests.each import each
from tests.support import HAZARDS, PLAYERS, SAFETIES, Position


def test_who_cannot_play_must_discard() -> None:
    """With nothing to lay there is no way round a discard: no pass, no end of the turn (004:5, 004:28)."""
    hand = ("25", "200", "accident", "stop", "repairs", "end_of_limit")
    position = Position().hand(0, *hand)
    assert position.legal() == {f"discard {card}" for card in hand}


def test_only_cards_of_the_own_hand_are_discarded() -> None:
    """A seat throws away what it holds, not what others hold or what lies on the table (004:5)."""
    position = Position("battle 0: roll", "hand 0: gasoline", "hand 1: spare_tire").km(0, 100)
    assert position.legal() == {"discard gasoline"}
    assert position.do("discard gasoline").discards == {"gasoline": 1}
    assert position.hand_of(0) == []


def test_a_discard_ends_the_turn() -> None:
    """It is the card of the turn: the left neighbour is next (004:5)."""
    assert Position("hand 0: stop roll", players=3).do("discard stop").seat == 1


@each("safety", SAFETIES)
def test_a_safety_may_be_discarded(safety: str) -> None:
    """No text forbids it; it earns nothing and gives no other turn (E21)."""
    position = Position(f"hand 0: {safety} roll").do(f"discard {safety}")
    assert position.seat == 1
    assert not position.laid(0)
    assert position.run_out().points() == [0, 0]


@each("players", PLAYERS)
def test_discarded_cards_are_dead(players: int) -> None:
    """Nothing ever leaves the discard pile, not even when the draw pile is used up (004:5)."""
    most = 0
    for seed in range(2):
        before: Counter[str] = Counter()
        for position in Position(players=players, dealt=True, seed=seed).play_at_random(seed=1):
            assert before <= position.discards
            before = position.discards
        most = max(most, before.total())
    assert most > 10


def test_the_draw_comes_from_the_draw_pile_not_from_the_discards() -> None:
    """A card just thrown away is out of reach for the next player (004:5)."""
    position = Position("stream 1: repairs ...", "hand 0: roll").do("discard roll")
    assert position.hand_of(1) == ["repairs"]
    position = Position("hand 0: roll", "hand 1: stop").draw_pile(0).do("discard roll")
    assert position.hand_of(1) == ["stop"]


def test_a_hazard_without_a_target_can_only_be_discarded() -> None:
    """If nobody can be hit, a hazard is good for the discard pile only (E59)."""
    position = Position("speed 1: speed_limit", "speed 2: speed_limit", players=3).hand(0, *HAZARDS)
    assert position.legal() == {f"discard {hazard}" for hazard in HAZARDS}


def test_an_overshooting_card_cannot_be_laid_by_mistake() -> None:
    """Instead of taking it back and discarding it, the table does not allow it to be laid at all (E63)."""
    position = Position("battle 0: roll", "hand 0: 75").km(0, 650)
    assert position.legal() == {"discard 75"}
