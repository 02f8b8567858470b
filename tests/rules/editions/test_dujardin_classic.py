"""Dujardin's classic booklet (FRC): what it says otherwise (the rest: `test_all*.py`)."""

from __future__ import annotations

from tests.each import each
from tests.rules.editions.tables import at
from tests.support import BREAKDOWNS, Position


def frc(*lines: str, **options: int) -> Position:
    return at("dujardin_classic", *lines, **options)


# Moving and attacking -------------------------------------------------------------------------------------


@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_safety_against_a_hazard_on_a_remedy_shows_the_remedy(
    hazard: str, remedy: str, safety: str
) -> None:
    """With Right of Way out one was rolling on it, and rolls again (rules 1.3; E10, E22)."""
    position = frc("safeties 0: right_of_way", f"hand 0: {safety} 25")
    position.battle(0, "roll", "accident", "repairs", hazard)
    assert not position.can("play 25")
    position.do(f"play {safety}")
    assert (position.battle_top(0), position.can("play 25")) == ("repairs", True)


# With the shoe empty (FRC p. 16) --------------------------------------------------------------------------


def test_a_safety_gives_no_second_play_any_more() -> None:
    """Once the shoe is empty the turn is over with it (FRC p. 16; E17; scenario 40)."""
    position = frc("hand 0: extra_tank stop", "hand 1: stop", "hand 2: stop", players=3).draw_pile(0)
    position.do("play extra_tank")
    assert (position.seat, position.hand_of(0), position.laid(0)) == (1, ["stop"], {"extra_tank": 1})


@each(
    ("players", "responder", "follows", "next_seat"),
    [(3, 2, 0, 1), (3, 2, 1, 0), (3, 1, 0, 1), (4, 3, 0, 1), (4, 3, 1, 0), (6, 4, 0, 1), (6, 4, 1, 5)],
)
def test_a_coup_fourre_is_still_allowed_but_gives_no_turn(
    players: int, responder: int, follows: int, next_seat: int
) -> None:
    """100 and 300, the hazard undone, and the turn goes to the left of the attacker (FRC p. 16; E15, E16).

    As an option to the left of who answered, as the sentence about the extra turn would have it.
    """
    position = frc(players=players, turn_follows_claim_when_empty=follows).draw_pile(0)
    team = responder % position.rules.teams
    for seat in range(players):
        position.hand(seat, "gasoline" if seat % 2 else "repairs")
    position.battle(team, "roll").hand(0, "flat_tire", "repairs").hand(responder, "puncture_proof", "roll")
    position.do(f"play flat_tire against team {team}", "claim")
    assert (position.seat, position.hand_of(responder)) == (next_seat, ["roll"])
    assert (position.coups(team), position.battle_top(team)) == (["puncture_proof"], "roll")
    position.run_out()
    assert position.sheet(team) == {"safeties": 100, "coups_fourres": 300}


def test_an_attacker_without_cards_is_followed_by_his_left_neighbour_too() -> None:
    """Also if the responder has none left either (E16, E20, E50)."""
    position = frc("battle 2: roll", "hand 0: flat_tire", "hand 1: stop", "hand 2: puncture_proof", players=3)
    position.draw_pile(0).do("play flat_tire against team 2", "claim")
    assert (position.seat, position.hand_sizes()) == (1, [0, 1, 0])
    assert position.do("discard stop").phase == "round over"


# Points ---------------------------------------------------------------------------------------------------


def test_capot_of_both_opponents() -> None:
    """Paid for each of them: 700 + 400 + 1000, with a 200 laid (rules 1.5; E42)."""
    assert frc(players=3).km(0, 200, two_hundreds=1).finish_trip(0).points() == [2100, 0, 0]
