"""Chance cards: 003:138, 003:148-166, 003:192; rulings W14, W16, W24."""

from __future__ import annotations

import numpy as np

from millebornes_env.games.wielerspel.editions import edition
from millebornes_env.games.wielerspel.squares import KIND_NAMES
from tests.race_support import CHANCE, LINE, Race


def _left(race: Race) -> list[int]:
    """Count the cards of each type that are still to be drawn."""
    cards = [card for card in race.state.deck if card >= 0]
    return np.bincount(cards, minlength=len(race.rules.deck)).tolist()


def test_there_are_25_cards() -> None:
    """003:15; one event with a yellow number (003:166), one forced retirement (003:174, 003:192)."""
    deck = edition("arc_en_ciel").table(3).deck
    assert sum(card.copies for card in deck) == 25
    assert [card.copies for card in deck if card.kind in (9, 10, 11)] == [1, 1, 1]


def test_the_square_is_for_this_turn_what_the_card_shows() -> None:
    """003:138: it is a chance square again in the next."""
    race = Race().deck("event 4", "supply 5").land_on(CHANCE)
    assert KIND_NAMES[race.state.kind] == "event"
    race.next_turn().energy(1, 30).land_on(CHANCE)
    assert KIND_NAMES[race.state.kind] == "supply"
    assert race.energies == [56, 35, 60]


def test_a_green_number_is_a_supply_post() -> None:
    """003:148, for the race leader."""
    assert Race().order(1, 0, 2).energy(1, 30).deck("supply 5").land_on(CHANCE).energies == [60, 35, 60]


def test_a_tail_wind_gives_2() -> None:
    """003:148, for the race leader; never beyond 60."""
    assert Race().energy(0, 30).deck("tail_wind 2").land_on(CHANCE).energies == [32, 60, 60]
    assert Race().energy(0, 59).deck("tail_wind 2").land_on(CHANCE).energies == [60, 60, 60]


def test_a_red_number_costs_the_race_leader_alone() -> None:
    """003:162."""
    assert Race().order(2, 0, 1).deck("event 4").land_on(CHANCE).energies == [60, 60, 56]


def test_the_yellow_number_costs_everybody() -> None:
    """003:166: the owner of squares, too."""
    race = Race().servants(1, 1).deck("event_for_all 2").land_on(CHANCE)
    assert race.energies == [58, 58, 58]
    assert race.decision is None


def test_no_supply_lies_at_the_start_until_the_end_of_the_lap() -> None:
    """003:155."""
    race = Race().energy(0, 20).deck("no_supply").land_on(CHANCE)
    assert race.state.no_supply == 1
    race.next_turn().land_on(LINE)
    assert race.energies[0] == 20
    assert race.state.no_supply == 0


def test_a_drawn_card_is_out_of_the_deck() -> None:
    """003:192: the fewer cards are left, the likelier is the forced retirement."""
    race = Race()
    before = _left(race)
    race.land_on(CHANCE)
    if race.decision is not None:  # an escape card
        race.do("stay")
    drawn = int(race.state.card)
    before[drawn] -= 1
    assert _left(race) == before or race.rules.deck[drawn].kind == 11


def test_the_deck_is_shuffled_when_the_forced_retirement_is_drawn() -> None:
    """003:192: all 25 cards, that one too."""
    race = Race().deck("forced_retirement", "supply 5").land_on(CHANCE)
    assert _left(race) == [card.copies for card in race.rules.deck]
    assert race.state.shuffles == 1
    assert race.state.deck_next == 0


def test_an_empty_deck_is_shuffled_before_a_card_is_drawn() -> None:
    """Ruling W24."""
    race = Race().deck("supply 5").land_on(CHANCE).next_turn()
    assert sum(_left(race)) == 0
    assert race.state.shuffles == 0
    race.land_on(CHANCE)
    assert race.state.shuffles == 1
    assert sum(_left(race)) in (24, 25)  # 25 if it was the forced retirement


def test_every_shuffle_is_another_one() -> None:
    race = Race().deck("forced_retirement").land_on(CHANCE)
    first = race.state.deck.tolist()
    race.deck("forced_retirement").next_turn().land_on(CHANCE)
    assert race.state.shuffles == 2
    assert race.state.deck.tolist() != first


def test_no_card_shows_a_square_that_could_be_held() -> None:
    """Ruling W14, and 003:113: only effort squares can."""
    assert Race().deck("supply 5").land_on(CHANCE).decision is None
