"""Energy, chance cards, retirements and exhaustion; 003:136 to 003:178."""

from __future__ import annotations

from tests.each import each
from tests.wielerspel.oracle.arc_en_ciel import ARC_EN_CIEL
from tests.wielerspel.oracle.chances import Scripted
from tests.wielerspel.oracle.positions import (
    CHANCE,
    CLIMB,
    EVENT,
    FILLER,
    FLAT,
    HEADWIND,
    ROAD_WORKS,
    START,
    asked,
    do,
    energy,
    held,
    landing,
    pass_all,
)
from tests.wielerspel.oracle.race import Race

# Squares and cards -----------------------------------------------------------------------------------------


@each(("square", "price"), [(EVENT, 2), (ROAD_WORKS, 3)])
def test_event_squares(square: int, price: int) -> None:
    """003:162: only who rolled the white die pays."""
    assert energy(landing(square)) == [60 - price, 60, 60]


@each(
    ("card", "energies"),
    [
        (("supply", 5), [45, 40, 40]),
        (("tail wind", 2), [42, 40, 40]),  # 003:148
        (("event", 4), [36, 40, 40]),  # 003:162: a red number
        (("yellow event", 2), [38, 38, 38]),  # 003:166: everybody
        (("no supply", 0), [40, 40, 40]),
        (("forced retirement", 0), [55, 40, 40]),  # 003:172, 003:174
    ],
)
def test_cards(card: tuple[str, int], energies: list[int]) -> None:
    """003:138: for this turn the square is what the card shows; unoccupied, so the leader goes last."""
    game = landing(CHANCE, card=card, energy=[40, 40, 40])
    assert energy(game) == energies
    assert game.race_order() == [1, 2, 0]
    assert not game.cards or card[0] == "forced retirement"


def test_no_supply_at_the_end_of_this_lap() -> None:
    """003:155: nobody gets the 15; in the next lap all get it again."""
    game = landing(CHANCE, card=("no supply", 0))
    assert game.no_supply
    game = landing(START, no_supply=1, energy=[9, 9, 9])
    assert energy(game) == [9, 9, 9]
    assert not game.no_supply
    assert energy(landing(START, energy=[9, 9, 9])) == [24, 24, 24]


def test_no_supply_drawn_right_after_the_line() -> None:
    """003:155: the line was passed before the card was drawn, so it holds for the lap that has begun."""
    game = landing(CHANCE, die=5, card=("no supply", 0), energy=[9, 9, 9])
    assert energy(game) == [24, 24, 24]
    assert game.no_supply


def test_no_supply_and_a_rainbow_lap() -> None:
    """003:155: the card withholds energy, not the jersey."""
    game = landing(START, no_supply=1, rainbow_lap=1, energy=[9, 9, 9])
    assert held(game, "rainbow") == [1, 0, 0]
    assert energy(game) == [9, 9, 9]


# The deck --------------------------------------------------------------------------------------------------


def decks(*shuffles: list[tuple[str, int]]) -> Race:
    """Rides on a board of nothing but chance squares behind the line, three turns."""
    sheet = ARC_EN_CIEL | {"board": [("start", 0)] + [("chance", 0)] * 30, "max_turns": 3}
    position = {"owner": [-1] * 31, "energy": [30, 30]}
    return Race(2, sheet, Scripted([0, 1], whites=[1, 1, 1], decks=list(shuffles)), position)


def test_drawn_without_replacement_and_shuffled_when_empty() -> None:
    """003:192: the pile shrinks; empty, it is shuffled."""
    game = decks([("supply", 5), ("event", 1)], [("supply", 1), FILLER])
    assert energy(game) == [36, 29]  # 0, 1 and again 0 drew
    assert game.cards == [FILLER]
    assert game.shuffles == 2


def test_reshuffled_after_the_forced_retirement() -> None:
    """003:192: the pile is always shuffled after that card."""
    game = decks([("supply", 5), ("forced retirement", 0), FILLER], [("event", 3), FILLER])
    assert energy(game) == [32, 45]
    assert game.teams[1].retired == 1
    assert game.cards == [FILLER]


def test_forced_retirement_as_the_last_card() -> None:
    """It is shuffled once, not twice."""
    game = decks([("supply", 5), ("forced retirement", 0)], [("event", 3), FILLER])
    assert game.shuffles == 2


# Retirements -----------------------------------------------------------------------------------------------


def test_forced_retirement_is_a_choice() -> None:
    """003:172, 003:174: on or off the board."""
    game = landing(CHANCE, card=("forced retirement", 0), owner={FLAT: 0, CLIMB: 0}, energy=[50, 60, 60])
    assert asked(game) == (0, "MUST RETIRE")
    assert game.legal() == ["retire", "retire 1", "retire 14"]
    do(game, "retire 14")
    assert game.owner[CLIMB] == -1
    assert energy(game)[0] == 60
    assert (game.teams[0].off_board, game.teams[0].retired) == (4, 1)


def test_forced_retirement_without_servants() -> None:
    """Ruling: no effect; but the pile is shuffled."""
    game = landing(CHANCE, card=("forced retirement", 0), off_board=[0, 6, 6], retired=[6, 0, 0])
    assert not game.teams[0].out
    assert energy(game)[0] == 60
    assert game.shuffles == 2


def test_forced_retirement_hits_the_escaped_rider() -> None:
    """Ruling on 003:192: the race leader."""
    game = do(landing(CHANCE, card=("forced retirement", 0), escaped=2, lead=4), "pay")
    assert [team.retired for team in game.teams] == [0, 0, 1]


def test_must_pay_is_a_choice() -> None:
    """003:178: who cannot pay retires a servant; which one is his choice."""
    game = landing(HEADWIND, energy=[60, 2, 1], owner={FLAT: 1, 9: 2}, off_board=[6, 2, 0])
    assert energy(game) == [57, 2, 1]
    assert asked(game) == (1, "MUST PAY")
    assert game.legal() == ["retire", "retire 1"]
    do(game, "retire 1")
    assert energy(game) == [57, 14, 13]  # 2 had no choice: he retired the servant on square 9
    assert game.owner == [-1] * 40
    assert asked(game) == (1, "BID")


def test_must_pay_again_and_again() -> None:
    """003:178: until the energy suffices."""
    options = {"retirement": 1}
    game = landing(CLIMB, energy=[60, 2, 60], options=options, owner={FLAT: 1})
    do(game, "retire", "retire 1")
    assert energy(game) == [56, 0, 56]


def test_payments_in_race_order() -> None:
    """Ruling: seat by seat in race order as it was before the first payment: the escaped rider first."""
    game = landing(FLAT, energy=[1, 1, 1], escaped=2, lead=3, owner={4: 0, 5: 1, 7: 2})
    order = []
    do(game, "pay")
    while game.phase == "MUST PAY":
        order.append(game.seat)
        game.do("retire")
    assert order == [2, 0, 1]


def test_owner_does_not_pay() -> None:
    """003:115: only the team with the servant on the square."""
    game = do(landing(CLIMB, owner={CLIMB: 1}, energy=[60, 0, 60]), "stay")
    assert energy(game) == [56, 0, 56]


def test_exhausted_seat_leaves_the_race() -> None:
    """003:178: out altogether: no place in the race, no energy at the line; the jerseys stay with him."""
    game = landing(
        FLAT,
        energy=[60, 1, 60],
        off_board=[6, 0, 6],
        retired=[0, 6, 0],
        jerseys={"green": [0, 2, 0]},
        options={"max_turns": 2},
    )
    game.chance.whites.append(39)  # on to the start square
    pass_all(game)
    assert game.turn == 2
    assert energy(game) == [60, 0, 60]
    assert game.race_order() == [0, 2]
    assert held(game, "green") == [0, 2, 0]


def test_exhausted_escaped_rider() -> None:
    """003:178, W6: nobody is away any more; the first of the peloton rolls next."""
    game = landing(EVENT, escaped=2, lead=5, energy=[60, 60, 2], off_board=[6, 6, 0], retired=[0, 0, 6])
    do(game, "pay")
    assert game.teams[2].out
    assert (game.escaped, game.lead) == (-1, 0)
    assert game.race_order() == [0, 1]
