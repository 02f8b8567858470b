"""The Dutch rules, text 000: what they say otherwise than the others (see `test_all*.py` for the rest)."""

from __future__ import annotations

from tests.each import each
from tests.rules.editions.tables import at
from tests.support import Position


def dutch(*lines: str, **options: int) -> Position:
    return at("dutch", *lines, **options)


# The table ------------------------------------------------------------------------------------------------


def test_six_players_sit_alternately() -> None:
    """Seats A B A B A B, one display for each three; 1,000 km, no extension (000:126-128; 000:233; E58)."""
    position = dutch(players=6)
    assert (position.target, position.rules.extended_target, position.deck.total()) == (1000, 0, 106)
    for seat in range(6):
        position.turn(seat).battle(seat % 2, "roll").hand(seat, "25").do("play 25")
    assert (position.km_of(0), position.km_of(1)) == (75, 75)


# Moving and attacking -------------------------------------------------------------------------------------


def test_a_light_that_waited_does_not_come_back_with_another_safety() -> None:
    """A safety shows again what lay beneath its hazard, and no more (000:97; 000:174; E22)."""
    position = dutch("hand 0: extra_tank 25").battle(0, "roll", "accident", "repairs")
    assert not position.do("play extra_tank").can("play 25")


# The finish -----------------------------------------------------------------------------------------------


@each("players", [2, 3])
def test_an_extended_round_goes_on_until_all_cards_are_played_out(players: int) -> None:
    """Or until one reaches 1000: the special rule goes before the general one (000:237; 000:219; E34)."""
    position = dutch("hand 0: stop stop", "hand 1: stop", players=players).extended_by(0).draw_pile(0)
    position.do("discard stop", "discard stop")
    assert (position.phase, position.seat) == ("play", 0)
    assert position.do("discard stop").phase == "round over"
    position = dutch("hand 0: stop", players=players).extended_by(0).draw_pile(0).do("discard stop")
    assert position.phase == "round over"


def test_an_extended_round_is_won_while_hands_are_played_out() -> None:
    """With the stock empty: a crowning stroke too (000:237; 000:221; E34, E37)."""
    position = dutch("hand 0: stop", "battle 1: roll", "hand 1: 25").extended_by(0).draw_pile(0).km(1, 975)
    position.do("discard stop", "play 25")
    assert (position.phase, position.winner, position.sheet(1)["delayed_action"]) == ("round over", 1, 300)


def test_the_extension_is_worth_calling_with_the_stock_empty() -> None:
    """A team that reaches 700 in the turn of the last card can still drive on (000:235-237; E34, E45)."""
    position = dutch("battle 0: roll", "hand 0: 25 200", "hand 1: stop stop").draw_pile(0).km(0, 675)
    position.do("play 25", "extend")
    assert (position.phase, position.seat) == ("play", 1)
    position.do("discard stop", "play 200")
    assert (position.phase, position.seat, position.km_of(0)) == ("play", 1, 900)


@each("attacked", [False, True])
def test_safeties_bring_no_other_play_while_hands_are_played_out(attacked: bool) -> None:
    """As in the French booklet, which the text is taken from (000:237; FRC p. 16; E15 to E17, E34)."""
    position = dutch("battle 2: roll", "hand 1: stop", "hand 2: stop", players=3).extended_by(0).draw_pile(0)
    if attacked:
        position.hand(0, "flat_tire").hand(2, "puncture_proof", "stop")
        position.do("play flat_tire against team 2", "claim")
    else:
        position.hand(0, "puncture_proof", "stop").do("play puncture_proof")
    assert (position.phase, position.seat) == ("play", 1)


def test_the_crowning_stroke_after_a_safety_that_takes_the_last_card() -> None:
    """The last card of the stock may come as the extra one (000:221; E18)."""
    position = dutch("battle 0: roll", "hand 0: extra_tank", "stream 0: 25 ...", players=4)
    position.draw_pile(1).km(0, 975).do("play extra_tank", "play 25")
    assert position.sheet(0)["delayed_action"] == 300
