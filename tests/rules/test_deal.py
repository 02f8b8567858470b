"""The deck, the table and the deal: 004:5; the specification's sections 0.2 and 1.1."""

from __future__ import annotations

from collections import Counter

import numpy as np

from millebornes_env.engine.batch import Batch, Settings
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.editions import edition
from millebornes_env.games.millebornes.sections import ObservationSpec
from tests.each import each
from tests.support import CARDS, HAZARDS, PLAYERS, Position

FULL_DECK = {
    "25": 10,
    "50": 10,
    "75": 10,
    "100": 12,
    "200": 4,
    "accident": 3,
    "out_of_gas": 3,
    "flat_tire": 3,
    "stop": 5,
    "speed_limit": 4,
    "repairs": 6,
    "gasoline": 6,
    "spare_tire": 6,
    "roll": 14,
    "end_of_limit": 6,
    "driving_ace": 1,
    "extra_tank": 1,
    "puncture_proof": 1,
    "right_of_way": 1,
}


def deck_at(players: int) -> dict[str, int]:
    return {CARDS[card]: count for card, count in Position(players=players, dealt=True).deck.items()}


def many_deals(players: int, games: int = 200) -> np.ndarray:
    settings = Settings(
        episode=1, reward=0, autoreset=2, observation_spec=ObservationSpec(unseen=0), punish_illegal=0
    )
    batch = Batch(rulebook, games, edition("parker").table(players), settings)
    batch.seed(7)
    batch.start()
    return batch.states


@each("players", [4, 6])
def test_the_full_deck_has_106_cards(players: int) -> None:
    """46 distances, 18 hazards, 38 remedies and 4 safeties: 106 cards, all used by 4 and by 6 (rules 0.2)."""
    assert deck_at(players) == FULL_DECK
    assert sum(deck_at(players).values()) == 106


@each("players", [2, 3])
def test_two_or_three_players_take_one_of_each_hazard_out(players: int) -> None:
    """With 2 or 3 players one card of each of the five hazards is left out: 101 cards (US A; rules 0.2)."""
    assert deck_at(players) == {name: count - (name in HAZARDS) for name, count in FULL_DECK.items()}
    assert sum(deck_at(players).values()) == 101


def test_the_deck_is_shuffled() -> None:
    """Before the deal the cards are mixed: any card can lie anywhere, and no two deals agree (004:5)."""
    states = many_deals(4, games=600)
    first_left = states.deck[:, 7]  # six of seat 0's cards are dealt and one is drawn, by whoever begins
    assert {int(card) for card in first_left if card >= 0} == set(range(19))
    assert len({deck.tobytes() for deck in states.deck}) == len(states)


@each("players", PLAYERS)
def test_six_cards_are_dealt_to_each_player(players: int) -> None:
    """Each seat gets a hand of six; the one that begins has drawn its seventh (004:5; rules 1.1)."""
    position = Position(players=players, dealt=True)
    expected = [6] * players
    expected[position.seat] += 1
    assert position.hand_sizes() == expected
    position.check()


@each(("players", "left"), [(2, 89), (3, 83), (4, 82), (6, 70)])
def test_the_remainder_becomes_the_draw_pile(players: int, left: int) -> None:
    """The cards not dealt are left to draw; the first seat has taken one of them (004:5; rules 0.2)."""
    assert Position(players=players, dealt=True).pile_size == left - 1


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


def test_two_three_four_or_six_play() -> None:
    """The game is for 2, 3, 4 or 6 players (US; rules 1.1)."""
    assert edition("parker").players == (2, 3, 4, 6)


@each(("players", "teams"), [(2, 2), (3, 3), (4, 2), (6, 3)])
def test_two_or_three_play_alone_four_and_six_in_pairs(players: int, teams: int) -> None:
    """2 and 3 play each for himself; 4 are two pairs, 6 three pairs (US; rules 1.1)."""
    assert Position(players=players).rules.teams == teams


@each(("players", "partner"), [(4, 2), (6, 3)])
def test_partners_sit_opposite(players: int, partner: int) -> None:
    """The seat across the table lays on the same tableau; all seats between are opponents (US; rules 1.1)."""
    for seat in range(1, players):
        position = Position("battle 0: roll", f"to act: seat {seat}", f"hand {seat}: 25", players=players)
        assert position.can("play 25") == (seat == partner)


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


@each(("players", "target"), [(2, 700), (3, 700), (4, 1000), (6, 700)])
def test_the_race_goal_is_700_or_1000(players: int, target: int) -> None:
    """Two pairs race over 1000, all others over 700 (004:30; US; rules 1.1)."""
    assert Position(players=players, dealt=True).target == target
