"""Rules that editions share, parker's too: safeties and the coup fourré (rules 1.3)."""

from __future__ import annotations

from tests.each import each
from tests.rules.editions.tables import (
    ROLLING,
    TABLES,
    WITHOUT_POINTS,
    all_but,
    at,
    every_edition,
    every_table,
    in_editions,
    lay,
)
from tests.support import BREAKDOWNS, DISTANCES, HAZARDS, SAFETIES, SAFETY_AGAINST

# Safeties -------------------------------------------------------------------------------------------------


@every_edition
@each("safety", SAFETIES)
def test_a_safety_may_be_laid_in_any_own_turn(name: str, safety: str) -> None:
    """Before the first distance, rolling, under attack: always (000:118; 000:187; 002:109; 002:199)."""
    for pile in ((), ROLLING[name], (*ROLLING[name], "stop"), (*ROLLING[name], "accident")):
        position = at(name, "speed 0: speed_limit", f"hand 0: {safety}").battle(0, *pile)
        assert position.can(f"play {safety}")
    assert at(name).hand(0, *SAFETIES).do(*(f"play {card}" for card in SAFETIES)).laid(0) == dict.fromkeys(
        SAFETIES, 1
    )


@every_edition
def test_a_safety_gives_a_card_and_another_play(name: str) -> None:
    """One draws a card in its place and plays at once again: six in hand at the end of the turn.

    Source: 000:191; 001:29; 001:168; 002:148; 002:168; 001:28; FR14 possibility 5; scenario 27.
    """
    position = at(name, "hand 0: stop", "hand 1: extra_tank 25 4x gasoline")
    position.battle(1, *ROLLING[name]).draw_pile(50).do("discard stop", "play extra_tank")
    assert (position.seat, position.phase, position.hand_sizes()[1]) == (1, "play", 7)
    position.do("play 25")
    assert (position.seat, position.hand_sizes()[1]) == (0, 6)
    assert position.pile_size == 50 - 2 - 1  # the next player has drawn


@every_edition
def test_each_further_safety_gives_the_same_again(name: str) -> None:
    """Cards drawn in the turn: one, and one for each safety (000:189; E19, E35); last card drawn: E18.

    Source: FRC p. 16; scenario 28; 004:22.
    """
    position = at(name).draw_pile(50).hand(0, *SAFETIES, "stop", "stop", "stop")
    for number, safety in enumerate(SAFETIES, 1):
        position.do(f"play {safety}")
        assert (position.seat, position.hand_sizes()[0], position.pile_size) == (0, 7, 50 - number)
    position = at(name, "hand 0: extra_tank").draw_pile(1).do("play extra_tank")
    assert (position.seat, position.hand_sizes()[0], position.pile_size) == (0, 1, 0)


@all_but("parker")
@each(("hazard", "remedy", "safety"), BREAKDOWNS)
def test_a_safety_takes_its_hazard_away_and_one_drives_on(
    name: str, hazard: str, remedy: str, safety: str
) -> None:
    """The hazard goes to the discard pile; no Roll is needed, what lay beneath shows again.

    Source: 000:79; 000:85; 000:91; 000:97; 000:104-107; 000:174; 001:164-166; 002:109; E22, E23;
    FR14 possibility 5; scenarios 29 31.
    """
    position = at(name).battle(0, *ROLLING[name], hazard).hand(0, safety, remedy, "roll", *DISTANCES)
    position.do(f"play {safety}")
    assert position.discards == {hazard: 1}
    assert position.battle_top(0) == (ROLLING[name][0] if ROLLING[name] else None)
    assert position.plays() == set(DISTANCES)


@every_edition
def test_another_hazard_stays_under_a_safety(name: str) -> None:
    """A safety lifts its own hazard and no other (000:93; 001:158-166; 002:109; E4; 004:22)."""
    for hazard in HAZARDS[:-1]:
        for safety in SAFETIES:
            if SAFETY_AGAINST[hazard] != safety:
                position = at(name).battle(0, *ROLLING[name], hazard).hand(0, safety, *DISTANCES)
                assert not position.do(f"play {safety}").plays()
                assert position.battle_top(0) == hazard


# Coup fourré ----------------------------------------------------------------------------------------------


@every_table
def test_a_coup_fourre_at_every_table(name: str, players: int, teams: int) -> None:
    """Any member of the attacked side answers at once, draws two, plays; those between lose their turn.

    Source: 000:205-207; 000:211-214; 001:192-211; 002:174; rules 1.3; E11;
    001:34-36; FRC p. 11; scenarios 32 34; US.
    """
    for attacker in (0, players - 1):
        for responder in range(players):
            team = responder % teams
            if team == attacker % teams:
                continue
            position = at(
                name,
                f"to act: seat {attacker}",
                f"hand {attacker}: flat_tire",
                f"hand {responder}: puncture_proof end_of_limit",
                players=players,
                teams=teams,
            )
            position.battle(team, *ROLLING[name]).do(lay(position, "flat_tire", team))
            assert (position.phase, position.seat) == ("claim", responder)
            held, pile = position.hand_sizes(), position.pile_size
            position.do("claim")
            assert (position.phase, position.seat) == ("play", responder)
            held[responder] += -1 + 2
            assert (position.hand_sizes(), position.pile_size) == (held, pile - 2)
            assert position.discards == {"flat_tire": 1}
            assert position.coups(team) == ["puncture_proof"]
            assert position.is_moving(team)
            position.do("discard end_of_limit")
            assert position.seat == (responder + 1) % players
            assert [size for seat, size in enumerate(position.hand_sizes()) if seat != position.seat] == [
                size - (seat == responder) for seat, size in enumerate(held) if seat != position.seat
            ]


@every_edition
@each("hazard", HAZARDS)
def test_a_coup_fourre_undoes_the_hazard(name: str, hazard: str) -> None:
    """It counts as not laid and goes to the discard pile; one drives on without a Roll; from then on immune.

    Source: 000:205-211; 001:202-203; 001:213-214; 002:174; E10; US; rules 1.3.
    """
    safety = SAFETY_AGAINST[hazard]
    position = at(name, f"hand 0: {hazard}").battle(1, *ROLLING[name]).hand(1, safety, *DISTANCES)
    position.do(f"play {hazard}", "claim")
    assert position.discards == {hazard: 1}
    assert position.laid(1) == {**dict.fromkeys(ROLLING[name], 1), safety: 1}
    assert position.speed_top(1) is None
    assert position.plays() == set(DISTANCES)
    position.turn(0).hand(1).hand(0, hazard)
    assert not position.plays()


@every_edition
def test_a_coup_fourre_lies_crosswise(name: str) -> None:
    """It stays marked, other safeties lie upright; 300 besides the 100, where points count.

    Source: 000:144-146; 000:215; 001:213-217; 002:129-130; 002:174-176; 004:9.
    """
    position = at(name, "hand 0: flat_tire", "hand 1: puncture_proof extra_tank stop")
    position.battle(1, *ROLLING[name]).do("play flat_tire", "claim", "play extra_tank", "discard stop")
    assert (position.coups(1), position.coups(0)) == (["puncture_proof"], [])
    lines = {} if name in WITHOUT_POINTS else {"safeties": 200, "coups_fourres": 300}
    assert position.run_out().sheet(1) == lines


@every_edition
def test_a_hazard_is_answered_only_with_its_own_safety(name: str) -> None:
    """One must hold the safety that belongs to it (000:207; 001:192-194; 002:174; US; rules 1.3)."""
    for hazard in HAZARDS:
        others = [safety for safety in SAFETIES if safety != SAFETY_AGAINST[hazard]]
        position = at(name, f"hand 0: {hazard}")
        position.battle(1, *ROLLING[name]).hand(1, *others).do(f"play {hazard}")
        assert (position.phase, position.seat) == ("play", 1)


@each(("name", "players", "teams"), [table for table in TABLES if table[2] > 2])
def test_only_the_attacked_side_is_asked(name: str, players: int, teams: int) -> None:
    """Another side that holds the safety has no say (001:192-194; 002:174; E13, E62)."""
    for holder in range(players):
        if holder % teams == 1:
            continue
        position = at(name, f"hand {holder}: puncture_proof", players=players, teams=teams)
        position.battle(1, *ROLLING[name])
        position.turn(0).hand(0, "flat_tire", *["puncture_proof"] * (holder == 0))
        position.do("play flat_tire against team 1")
        assert (position.phase, position.seat, position.battle_top(1)) == ("play", 1, "flat_tire")


@every_edition
def test_an_answer_may_be_declined(name: str) -> None:
    """Then the hazard lies there, and the safety laid later is an ordinary one (E12; rules 1.3)."""
    position = at(name, "hand 0: flat_tire", "hand 1: puncture_proof stop").battle(1, *ROLLING[name])
    position.do("play flat_tire", "pass")
    assert (position.seat, position.battle_top(1)) == (1, "flat_tire")
    position.do("play puncture_proof")
    assert (position.coups(1), position.laid(1)["puncture_proof"]) == ([], 1)


@every_edition
def test_a_coup_fourre_with_right_of_way_lifts_what_else_it_can(name: str) -> None:
    """Against a Limit while a Stop lies there both are gone, for one bonus (E7); an Accident stays (E9).

    Source: 004:26.
    """
    position = at(name, "hand 0: speed_limit", "hand 1: right_of_way").battle(1, *ROLLING[name], "stop")
    position.do("play speed_limit", "claim")
    assert position.discards == {"speed_limit": 1, "stop": 1}
    assert (position.coups(1), position.is_moving(1)) == (["right_of_way"], True)
    position = at(name, "hand 0: speed_limit", "hand 1: right_of_way").battle(1, *ROLLING[name], "accident")
    position.do("play speed_limit", "claim")
    assert (position.seat, position.battle_top(1), position.is_moving(1)) == (1, "accident", False)


@every_edition
def test_before_the_start_right_of_way_answers_a_limit_and_starts(name: str) -> None:
    """Legal with an empty pile, and a distance may follow (000:113; E8; FRC pp. 10-11; scenario 36)."""
    position = at(name, "hand 0: speed_limit", "hand 1: right_of_way 200")
    position.do("play speed_limit", "claim")
    assert position.can("play 200")


@every_edition
def test_in_the_extra_turn_one_may_attack_and_be_answered(name: str) -> None:
    """The order follows the last one who answered (E61)."""
    position = at(
        name, "hand 0: flat_tire", "hand 2: puncture_proof accident", "hand 1: driving_ace stop", players=3
    )
    position.battle(2, *ROLLING[name]).battle(1, *ROLLING[name])
    position.do("play flat_tire against team 2", "claim", "play accident against team 1", "claim")
    assert (position.seat, position.phase) == (1, "play")
    assert position.do("discard stop").seat == 2
    assert position.discards == {"flat_tire": 1, "accident": 1, "stop": 1}


@every_edition
def test_after_a_coup_fourre_another_safety_gives_another_play(name: str) -> None:
    """Each safety in the extra turn gives card and play as ever (E19)."""
    position = at(name, "hand 0: flat_tire", "hand 2: puncture_proof extra_tank stop", players=3)
    position.battle(2, *ROLLING[name]).draw_pile(50)
    position.do("play flat_tire against team 2", "claim", "play extra_tank")
    assert (position.seat, position.hand_sizes()[2], position.pile_size) == (2, 4, 47)
    assert position.coups(2) == ["puncture_proof"]
    assert position.do("discard stop").seat == 0


@every_edition
def test_a_coup_fourre_with_one_card_left_draws_that(name: str) -> None:
    """Draw one, then play (E14)."""
    position = at(name, "hand 0: flat_tire", "hand 2: puncture_proof stop", players=3)
    position.battle(2, *ROLLING[name]).draw_pile(1)
    position.do("play flat_tire against team 2", "claim")
    assert (position.seat, position.phase, position.hand_sizes()[2], position.pile_size) == (2, "play", 2, 0)


# Safety and coup fourré with nothing left to draw (E15, E16, E17) ----------------------------------------


@in_editions("parker", "winning_moves")
def test_with_the_pile_empty_safeties_still_give_a_play(name: str) -> None:
    """In the play-out a safety and a coup fourré give another play, without a card (E15, E17; rules 1.4)."""
    position = at(
        name,
        "hand 0: extra_tank flat_tire stop",
        "hand 1: stop",
        "hand 2: puncture_proof roll",
        "battle 2: roll",
        players=3,
    )
    position.draw_pile(0)
    assert position.do("play extra_tank").seat == 0
    position.do("play flat_tire against team 2", "claim")
    assert (position.seat, position.hand_of(2)) == (2, ["roll"])
    assert position.do("discard roll").seat == 0


@in_editions("dutch", *WITHOUT_POINTS)
def test_in_the_last_turn_nothing_is_played_again(name: str) -> None:
    """No card to draw, no extra play: the round is over (E17); a coup fourré still counts (E15).

    Source: 000:219; rules 1.4.
    """
    position = at(name, "hand 0: extra_tank stop", "hand 1: stop", players=3).draw_pile(0)
    assert position.do("play extra_tank").phase == "round over"
    position = at(name, "hand 0: flat_tire stop", "hand 1: puncture_proof stop", players=3)
    position.draw_pile(0).battle(1, *ROLLING[name])
    position.do("play flat_tire against team 1", "claim")
    assert (position.phase, position.coups(1)) == ("round over", ["puncture_proof"])
    assert position.battle_top(1) == (ROLLING[name][0] if ROLLING[name] else None)


@all_but("dutch", *WITHOUT_POINTS)
def test_a_safety_as_the_last_card_of_the_play_out(name: str) -> None:
    """It may be laid; the extra play is void with an empty hand (E20)."""
    position = at(name, "hand 0: extra_tank", "hand 1: stop", "hand 2: stop", players=3).draw_pile(0)
    position.do("play extra_tank")
    assert (position.seat, position.laid(0)) == (1, {"extra_tank": 1})
