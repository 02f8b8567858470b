"""The deck, the table and the deal: 004:5; the specification's sections 0.2 and 1.1.

The rest is in `editions/test_all*.py`.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from millebornes_env.engine.batch import Batch, Settings
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.editions import edition
from millebornes_env.games.millebornes.sections import ObservationSpec
from tests.each import each
from tests.support import CARDS, PLAYERS, Position


def many_deals(players: int, games: int = 200) -> np.ndarray:
    settings = Settings(
        episode=1, reward=0, autoreset=2, observation_spec=ObservationSpec(unseen=0), punish_illegal=0
    )
    batch = Batch(rulebook, games, edition("parker").table(players), settings)
    batch.seed(7)
    batch.start()
    return batch.states


def test_the_deck_is_shuffled() -> None:
    """Before the deal the cards are mixed: any card can lie anywhere, and no two deals agree (004:5)."""
    states = many_deals(4, games=600)
    first_left = states.deck[:, 7]  # six of seat 0's cards are dealt and one is drawn, by whoever begins
    assert {int(card) for card in first_left if card >= 0} == set(range(19))
    assert len({deck.tobytes() for deck in states.deck}) == len(states)


def test_the_draw_pile_is_common_to_all() -> None:
    """Each seat has a stretch of it to itself; when that is used up it takes the left neighbour's (004:5)."""
    position = Position(
        "stream 1: stop accident flat_tire ...", "stream 2: repairs gasoline ...", "hand 0: roll", players=3
    )
    position.draw_pile(5)
    drawn = []
    for discarded in ("roll", "stop", "repairs"):
        position.do(f"discard {discarded}")
        drawn.append(position.hand_of(position.seat))
    assert drawn == [["stop"], ["repairs"], ["flat_tire"]]


@each("players", PLAYERS)
def test_the_discard_pile_forms_beside_it(players: int) -> None:
    """A pile for discards begins empty and takes the cards that are thrown away (004:5)."""
    position = Position(players=players, dealt=True)
    assert not position.discards
    card = position.hand_of(position.seat)[0]
    position.do(f"discard {card}")
    assert position.discards == {card: 1}
    assert CARDS[int(position.state.discard_top)] == card


@each("players", PLAYERS)
def test_every_tableau_begins_bare(players: int) -> None:
    """At the start of a round no team has a card before it, so nobody moves or is limited (004:7, 004:13)."""
    position = Position(players=players, dealt=True)
    for team in range(position.rules.teams):
        assert not position.laid(team)
        assert (position.battle_top(team), position.speed_top(team)) == (None, None)
        assert position.km_of(team) == 0
        assert not position.is_moving(team)


@each("players", PLAYERS)
def test_left_of_the_dealer_plays_first(players: int) -> None:
    """The seat to the left of the dealer has the first turn (US; rules 1.1)."""
    states = many_deals(players, games=40)
    assert ((states.dealer + 1) % players == states.seat).all()


@each("players", PLAYERS)
def test_the_first_dealer_is_drawn_by_chance(players: int) -> None:
    """No sheet names the first dealer; chance does, and each seat has about its share (rules 1.1)."""
    dealers = Counter(many_deals(players, games=80).dealer.tolist())
    assert set(dealers) == set(range(players))
    assert min(dealers.values()) > 80 / players / 2
