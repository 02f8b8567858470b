"""Coup fourré: US, "Coup fourré"; 004:26; rules 1.3; rulings E7 to E15, E19, E61, E62.

The rest is in `editions/test_all*.py`.
"""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.games.millebornes.coup_fourre import can_claim, drop_pending_hazard
from millebornes_env.games.millebornes.rules import compiled_rules
from tests.each import each
from tests.support import HAZARDS, SAFETIES, SAFETY_AGAINST, Position


def attacked(hazard: str, *hand: str) -> Position:
    """Seat 0 has laid the hazard against seat 1, which rolls and holds the safety."""
    position = Position("battle 1: roll", f"hand 0: {hazard} stop").hand(1, SAFETY_AGAINST[hazard], *hand)
    return position.do(f"play {hazard}")


@each("hazard", HAZARDS)
def test_who_holds_the_safety_may_answer_a_hazard_at_once(hazard: str) -> None:
    """As soon as it is laid, before anybody draws, the holder is asked: claim, or let it stand (US)."""
    position = Position("battle 1: roll", f"hand 0: {hazard}", f"hand 1: {SAFETY_AGAINST[hazard]} roll")
    pile = position.pile_size
    position.do(f"play {hazard}")
    assert (position.phase, position.seat, position.pile_size) == ("claim", 1, pile)
    assert position.legal() == {"claim", "pass"}


def test_the_position_before_the_hazard_is_restored_and_no_better_one() -> None:
    """A limit that lay there before goes on limiting (E10)."""
    position = Position(
        "battle 1: roll", "speed 1: speed_limit", "hand 0: flat_tire", "hand 1: puncture_proof 50 75"
    )
    position.do("play flat_tire", "claim")
    assert position.speed_top(1) == "speed_limit"
    assert position.can("play 50")
    assert not position.can("play 75")


@each("pile", [(), ("roll",), ("roll", "accident", "repairs")])
def test_what_lay_under_the_hazard_shows_again(pile: tuple[str, ...]) -> None:
    """Be it a Roll, a remedy under Right of Way, or nothing at all (E10)."""
    position = Position("safeties 1: right_of_way", "hand 0: flat_tire", "hand 1: puncture_proof")
    position.battle(1, *pile).do("play flat_tire", "claim")
    assert position.battle_top(1) == (pile[-1] if pile else None)
    assert position.is_moving(1)


def test_both_cards_come_from_the_top_of_the_pile() -> None:
    """They are the next two that the seat was to draw (US)."""
    position = Position(
        "battle 1: roll", "hand 0: flat_tire", "hand 1: puncture_proof", "stream 1: roll 100 stop ..."
    )
    position.do("play flat_tire", "claim")
    assert position.hand_of(1) == ["100", "roll"]


def test_against_a_stop_right_of_way_takes_a_limit_along() -> None:
    """The other way round as well (E7; 004:26)."""
    position = Position("battle 1: roll", "speed 1: speed_limit", "hand 0: stop", "hand 1: right_of_way 200")
    position.do("play stop", "claim")
    assert position.discards == {"speed_limit": 1, "stop": 1}
    assert position.can("play 200")


def test_a_declined_limit_lies_on_the_speed_pile() -> None:
    """The same for the hazard of the other pile (E12)."""
    position = attacked("speed_limit", "25", "75").do("pass")
    assert (position.battle_top(1), position.speed_top(1)) == ("roll", "speed_limit")
    assert "75" not in position.plays()


@each("holder", [1, 2])
def test_after_a_refusal_play_goes_on_to_the_left_of_the_attacker(holder: int) -> None:
    """Nobody loses a turn (E12)."""
    position = Position(
        f"battle {holder}: roll", "hand 0: flat_tire", f"hand {holder}: puncture_proof", players=3
    )
    assert position.do(f"play flat_tire against team {holder}", "pass").seat == 1


def test_the_target_answers_before_he_draws_for_his_turn() -> None:
    """Also when it is his turn next; after the draw the moment is gone (E12; US; scenario 35)."""
    position = attacked("flat_tire")
    assert position.hand_of(1) == ["puncture_proof"]
    position.do("pass")
    assert position.hand_sizes()[1] == 2
    assert not position.legal() & {"claim", "pass"}


def test_played_later_in_turn_the_safety_is_a_normal_one() -> None:
    """100 and no more, and a Roll is needed (E12, E22)."""
    position = attacked("flat_tire", "roll").do("pass", "play puncture_proof")
    assert position.coups(1) == []
    assert position.plays() == {"roll"}
    assert position.do("discard roll").turn(0).run_out().points() == [0, 100]


def test_nobody_is_asked_when_nobody_holds_the_safety() -> None:
    """The hazard is laid and the turn passes on: nothing tells that it was looked for (E13)."""
    position = Position("battle 1: roll", "hand 0: flat_tire", players=3).do("play flat_tire against team 1")
    assert (position.phase, position.seat) == ("play", 1)
    assert position.battle_top(1) == "flat_tire"


def test_the_partner_who_does_not_hold_it_is_not_asked() -> None:
    """One decision, of the one who holds the card (E13, E11)."""
    position = Position("battle 1: roll", "hand 0: flat_tire", "hand 3: puncture_proof", players=4)
    assert position.do("play flat_tire").seat == 3
    assert position.do("pass").phase == "play"


@each(("pile", "drawn"), [(3, 2), (2, 2), (1, 1)])
def test_one_draws_what_there_is(pile: int, drawn: int) -> None:
    """With a single card left it is drawn, and the play follows all the same (E14)."""
    position = Position("battle 1: roll", "hand 0: flat_tire", "hand 1: puncture_proof roll stop")
    position.draw_pile(pile).do("play flat_tire", "claim")
    assert position.hand_sizes()[1] == 2 + drawn
    assert (position.pile_size, position.seat, position.phase) == (pile - drawn, 1, "play")


def test_with_an_empty_pile_the_coup_fourre_is_still_legal() -> None:
    """400 points, no draw, and the extra play (E15; rules 1.4)."""
    position = Position("battle 1: roll", "hand 0: flat_tire stop", "hand 1: puncture_proof 25 roll")
    position.draw_pile(0).do("play flat_tire", "claim")
    assert (position.seat, position.phase) == (1, "play")
    assert position.hand_of(1) == ["25", "roll"]
    assert position.do("play 25", "discard stop", "discard roll").points() == [0, 425]


def test_a_coup_fourre_with_the_last_card_in_hand() -> None:
    """No card is left for an extra play, so the turn passes on (E15, E20)."""
    position = Position(
        "battle 2: roll", "hand 0: flat_tire stop", "hand 1: stop", "hand 2: puncture_proof", players=3
    )
    position.draw_pile(0).do("play flat_tire against team 2", "claim")
    assert (position.seat, position.phase) == (0, "play")


def test_the_first_attacker_may_answer_with_a_coup_of_his_own() -> None:
    """The counter-attack in the extra play hits him, and he parries it (E61)."""
    position = Position(
        "battle 0: roll",
        "battle 1: roll",
        "hand 0: flat_tire driving_ace stop",
        "hand 1: puncture_proof accident",
    )
    position.do("play flat_tire", "claim", "play accident", "claim")
    assert (position.seat, position.phase, position.coups(0)) == (0, "play", ["driving_ace"])


def test_the_attackers_partner_has_no_say() -> None:
    """Nor has he when he sits between the others (E62)."""
    position = Position("battle 1: roll", "hand 0: flat_tire", "hand 2: puncture_proof", players=4)
    assert position.do("play flat_tire").phase == "play"


def test_the_claim_is_for_the_hazard_just_laid() -> None:
    """A hazard that has lain there for a while cannot be parried any more (US; E12)."""
    position = Position(
        "battle 1: accident on roll",
        "battle 2: roll",
        "hand 0: flat_tire",
        "hand 1: driving_ace",
        "hand 2: stop",
        players=3,
    )
    position.do("play flat_tire against team 2")
    assert (position.phase, position.seat) == ("play", 1)
    assert "claim" not in position.legal()


def claimants(position: Position) -> list[int]:
    """The seats that may answer, by the rule itself: the environment asks it about the seat to act only."""
    state, rules = for_kernels(position.games.states)[0], compiled_rules(position.rules)
    return [seat for seat in range(position.rules.players) if can_claim(state, rules, seat)]


def test_nobody_may_answer_when_no_hazard_was_laid() -> None:
    """A coup fourré answers the hazard just laid (US), whatever the hands hold."""
    position = Position("battle 1: roll").hand(0, *HAZARDS).hand(1, *HAZARDS, *SAFETIES)
    assert claimants(position) == []
    assert claimants(position.do("play stop")) == [1]
    assert claimants(position.do("pass")) == []


@each("hazard", HAZARDS)
def test_a_seat_of_another_side_may_not_answer_whatever_it_holds(hazard: str) -> None:
    """Asked about each seat, only the attacked side's is told yes (E62)."""
    position = attacked(hazard)
    assert claimants(position) == [1]
    position.hand(1).hand(0, SAFETY_AGAINST[hazard])
    assert claimants(position) == []


@each("hazard", HAZARDS)
def test_a_hazard_that_is_never_answered_goes_to_the_discard_pile(hazard: str) -> None:
    """If an illegal action ends the round first, it goes where a parried one goes, once (E10)."""
    position = attacked(hazard)
    for _ in range(2):  # the second time nothing is pending
        drop_pending_hazard(for_kernels(position.games.states)[0])
        position.check()
        assert position.discards == {hazard: 1}
        assert claimants(position) == []
