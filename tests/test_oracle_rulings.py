"""Checks of the oracle itself: the rulings, the house's conventions, and random play.

A source such as "004:18" is a line of a rule text, "E37" a ruling of the specification's section 2, "house" a
convention of this project.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.oracle import (
    OracleRound,
    deck,
)
from tests.oracle_positions import (
    FILLER,
    can_play,
    display,
    laid,
    playable,
    table,
    total,
)

# Rulings of section 2 and house conventions beyond the scenarios ------------------------------------------


def test_e02_attack_on_right_of_way_with_empty_pile() -> None:
    """E2: Right of Way and an empty battle area: moving, so open to attack."""
    game = table(["ACCIDENT"], [])
    display(game, 1, safeties=("RIGHT_OF_WAY",))
    assert game.is_moving(1)
    assert can_play(game, "ACCIDENT", "1")


def test_e04_right_of_way_while_a_hazard_shows() -> None:
    """E4: Right of Way leaves the Accident; after the Repairs no Roll is needed, but may be laid (E25)."""
    game = table(["RIGHT_OF_WAY", "REPAIRS", "DISTANCE_25", "ROLL"], [FILLER])
    display(game, 0, battle=("ROLL", "ACCIDENT"))
    game.step(("play", "RIGHT_OF_WAY"))
    assert not game.is_moving(0)
    assert playable(game) == {"REPAIRS"}
    game.step(("play", "REPAIRS"))
    game.step(("discard", FILLER))
    assert game.is_moving(0)
    assert {"DISTANCE_25", "ROLL"} <= playable(game)


def test_e05_right_of_way_on_a_remedy() -> None:
    """E5: a remedy that waits for its Roll: Right of Way and the team moves at once."""
    game = table(["RIGHT_OF_WAY", "DISTANCE_25"], [FILLER])
    display(game, 0, battle=("ROLL", "ACCIDENT", "REPAIRS"))
    assert not can_play(game, "DISTANCE_25")
    game.step(("play", "RIGHT_OF_WAY"))
    assert can_play(game, "DISTANCE_25")


def test_e07_coup_with_right_of_way_takes_the_stop_too() -> None:
    """E7; 004:26: claimed against a Limit while a Stop lies: both go, one coup."""
    game = table(["SPEED_LIMIT"], ["RIGHT_OF_WAY"])
    display(game, 1, battle=("ROLL", "STOP"))
    game.step(("play", "SPEED_LIMIT", "1"))
    game.step(("claim",))
    assert sorted(game.discard_pile) == ["SPEED_LIMIT", "STOP"]
    assert game.teams[1].battle_pile == ["ROLL"]
    assert len(game.teams[1].coups_fourres) == 1


def test_e07_coup_against_the_stop_takes_the_limit_too() -> None:
    """E7, E10: claimed against a Stop while a Limit lies: both go, the Roll beneath shows again."""
    game = table(["STOP"], ["RIGHT_OF_WAY", "DISTANCE_100"])
    display(game, 1, battle=("ROLL",), speed=("SPEED_LIMIT",))
    game.step(("play", "STOP", "1"))
    game.step(("claim",))
    assert sorted(game.discard_pile) == ["SPEED_LIMIT", "STOP"]
    assert can_play(game, "DISTANCE_100")


def test_e09_coup_against_limit_leaves_the_accident() -> None:
    """E9: the Accident stays; the extra turn comes anyway."""
    game = table(["SPEED_LIMIT"], ["RIGHT_OF_WAY"])
    display(game, 1, battle=("ROLL", "ACCIDENT"))
    game.step(("play", "SPEED_LIMIT", "1"))
    game.step(("claim",))
    assert not game.is_moving(1)
    assert game.seat == 1
    assert game.decision == "play"


def test_e13_nobody_holds_it() -> None:
    """E13: without a holder there is no decision; a holder in another team is not asked (E62)."""
    game = table(["ACCIDENT"], [FILLER], ["DRIVING_ACE"])
    display(game, 1, battle=("ROLL",))
    game.step(("play", "ACCIDENT", "1"))
    assert game.decision == "play"
    assert game.teams[1].battle_pile == ["ROLL", "ACCIDENT"]


@pytest.mark.parametrize(("pile", "drawn"), [(2, 2), (1, 1), (0, 0)])
def test_e14_coup_draws_what_there_is(pile: int, drawn: int) -> None:
    """E14, E15: with one card or none to draw the coup stays legal and so does its extra play."""
    game = table(["FLAT_TIRE"], ["PUNCTURE_PROOF", FILLER], pile=pile)
    display(game, 1, battle=("ROLL",))
    game.step(("play", "FLAT_TIRE", "1"))
    game.step(("claim",))
    assert len(game.hands[1]) == 1 + drawn
    assert game.seat == 1
    assert game.decision == "play"


def test_e15_coup_with_the_last_card() -> None:
    """E15, E20; house: the last card claimed, no pile: no extra play; the responder's left is next."""
    game = table(["FLAT_TIRE", FILLER], [FILLER], ["PUNCTURE_PROOF"], pile=0)
    display(game, 2, battle=("ROLL",))
    game.step(("play", "FLAT_TIRE", "2"))
    game.step(("claim",))
    assert game.seat == 0


def test_e17_safety_with_empty_pile() -> None:
    """E17, E20: an extra play without a draw; void when the safety was the last card."""
    game = table(["EXTRA_TANK", "DRIVING_ACE"], [FILLER], pile=0)
    game.step(("play", "EXTRA_TANK"))
    assert game.seat == 0
    game.step(("play", "DRIVING_ACE"))
    assert game.seat == 1


def test_e22_cured_hazard() -> None:
    """E22; 004:22; house: it stays, needs a Roll, takes no remedy, and is no target without Right of Way."""
    game = table(["FLAT_TIRE"], ["SPARE_TIRE", "ROLL", "OUT_OF_GAS"])
    display(game, 1, battle=("ROLL", "ACCIDENT"), safeties=("DRIVING_ACE",))
    assert not game.is_moving(1)
    assert not playable(game)
    game.step(("discard", "FLAT_TIRE"))
    assert playable(game) == {"ROLL"}
    game.step(("play", "ROLL"))
    assert game.is_moving(1)


def test_e24_cured_hazard_with_right_of_way() -> None:
    """E24, E2; house: moving at once, open to attack, and a Roll may be laid."""
    game = table(["FLAT_TIRE"], ["ROLL"])
    display(game, 1, battle=("ROLL", "ACCIDENT"), safeties=("RIGHT_OF_WAY", "DRIVING_ACE"))
    assert game.is_moving(1)
    assert can_play(game, "FLAT_TIRE", "1")
    game.step(("discard", "FLAT_TIRE"))
    assert can_play(game, "ROLL")


def test_right_of_way_leaves_a_cured_hazard() -> None:
    """House "cured hazard": it is not a Stop, so it stays; moving at once (E5)."""
    game = table(["RIGHT_OF_WAY"], [])
    display(game, 0, battle=("ROLL", "ACCIDENT"), safeties=("DRIVING_ACE",))
    game.step(("play", "RIGHT_OF_WAY"))
    assert game.teams[0].battle_pile == ["ROLL", "ACCIDENT"]
    assert game.is_moving(0)
    assert not game.discard_pile


def test_e25_roll_on_each_remedy() -> None:
    """004:18, E25, E27: a Roll on every remedy; a remedy on nothing but its own hazard."""
    game = table(["ROLL", "REPAIRS", "GASOLINE", "SPARE_TIRE"], [])
    pairs = (("ACCIDENT", "REPAIRS"), ("OUT_OF_GAS", "GASOLINE"), ("FLAT_TIRE", "SPARE_TIRE"))
    for hazard, remedy in pairs:
        display(game, 0, battle=("ROLL", hazard))
        assert playable(game) == {remedy}
        display(game, 0, battle=("ROLL", hazard, remedy))
        assert playable(game) == {"ROLL"}


def test_e38_delayed_action_is_judged_at_the_finish() -> None:
    """E38, E39: an extended trip, finished by another card after the pile was used up, with a 200 laid."""
    game = table(["DISTANCE_25"], [FILLER], pile=0)
    game.target, game.extension_caller = 1000, 0
    display(game, 0, battle=("ROLL",), distance=laid(975, with_200=True))
    display(game, 1, distance=laid(25))
    game.step(("play", "DISTANCE_25"))
    points = game.score(0)
    assert points["delayed_action"] == 300
    assert points["safe_trip"] == 0
    assert points["shutout"] == 0


def test_e41_shutout_after_an_extension() -> None:
    """E41: judged at the end; 1000 + 400 + 300 + 200 + 500."""
    game = table(["DISTANCE_25"], [FILLER])
    game.target, game.extension_caller = 1000, 0
    display(game, 0, battle=("ROLL",), distance=laid(975))
    game.step(("play", "DISTANCE_25"))
    assert total(game, 0) == 2400


def test_e45_extension_with_no_cards_left() -> None:
    """E45: it may be called although nobody holds a card; then it has failed at once."""
    game = table(["DISTANCE_25"], [], pile=0)
    display(game, 0, battle=("ROLL",), distance=laid(675))
    game.step(("play", "DISTANCE_25"))
    game.step(("extend",))
    assert game.over
    assert game.winner is None
    assert (total(game, 0), total(game, 1)) == (700, 200)


def test_e46_extension_in_the_extra_turn_of_a_coup() -> None:
    """E46: the offer is the same; then play goes on at the left of the one who reached 700."""
    game = table(["FLAT_TIRE", FILLER], [FILLER], ["PUNCTURE_PROOF", "DISTANCE_25"])
    display(game, 2, battle=("ROLL",), distance=laid(675))
    for action in (("play", "FLAT_TIRE", "2"), ("claim",), ("play", "DISTANCE_25"), ("extend",)):
        game.step(action)
    assert game.seat == 0
    assert game.extension_caller == 2


def test_e47_another_team_wins_the_extension() -> None:
    """E47; US: who first reaches 1000 has the 400; each opponent of the caller has 200; E49: no new offer."""
    game = table(["DISTANCE_25"], ["DISTANCE_25"], [FILLER])
    game.target, game.extension_caller = 1000, 2
    display(game, 0, battle=("ROLL",), distance=laid(675))
    display(game, 1, battle=("ROLL",), distance=laid(975, with_200=True))
    display(game, 2, battle=("ROLL",), distance=laid(700))
    game.step(("play", "DISTANCE_25"))
    assert game.decision == "play"
    assert game.seat == 1
    game.step(("play", "DISTANCE_25"))
    assert [total(game, team) for team in range(3)] == [700 + 200, 1000 + 400 + 200, 700]


def test_e50_seats_without_cards_are_skipped() -> None:
    """E50: uneven hands in the play-out; a lone player goes on alone."""
    game = table([FILLER] * 3, [FILLER], [], pile=0)
    seats = []
    while not game.over:
        seats.append(game.seat)
        game.step(("discard", FILLER))
    assert seats == [0, 1, 0, 0]


def test_e59_choice_of_the_target() -> None:
    """E59: each team that can be hit is a target of its own; never one's own team."""
    game = table(["STOP"], [], [])
    for team in range(3):
        display(game, team, battle=("ROLL",))
    assert {a for a in game.legal_actions() if a[0] == "play"} == {
        ("play", "STOP", "1"),
        ("play", "STOP", "2"),
    }


def test_e61_chain_of_coups() -> None:
    """E61: in his extra turn the responder attacks and is answered; order follows the last responder."""
    game = table(["FLAT_TIRE", FILLER], ["DRIVING_ACE", FILLER], ["PUNCTURE_PROOF", "ACCIDENT"])
    for team in range(3):
        display(game, team, battle=("ROLL",))
    for action in (("play", "FLAT_TIRE", "2"), ("claim",), ("play", "ACCIDENT", "1"), ("claim",)):
        game.step(action)
    assert game.seat == 1
    game.step(("discard", FILLER))
    assert game.seat == 2


def test_draws_come_from_the_streams() -> None:
    """House: the first card of the own stream, else the last of the nearest non-empty one to the left."""
    game = table([FILLER], [FILLER], [FILLER], pile=0)
    game.streams = [["ROLL", "STOP", "ACCIDENT"], ["REPAIRS", "GASOLINE"], []]
    drawn = []
    for _ in range(5):
        game.step(("discard", FILLER))
        assert game.seat is not None
        drawn.append(game.hands[game.seat][-1])
        game.hands[game.seat] = [FILLER]
    # Seats 1, 2, 0, 1, 2: seat 2 has no stream, seat 0 is nearest to its left; then seat 1 empties its own.
    assert drawn == ["REPAIRS", "ACCIDENT", "ROLL", "GASOLINE", "STOP"]


def test_score_needs_an_end() -> None:
    """House: there is no score before the hand is over."""
    with pytest.raises(ValueError, match="not over"):
        table([FILLER], [FILLER]).score(0)


# Random play ----------------------------------------------------------------------------------------------


def all_cards(game: OracleRound) -> Counter[str]:
    """Counts every card, wherever it is."""
    cards = Counter(game.discard_pile)
    for pile in game.hands + game.streams:
        cards.update(pile)
    for team in game.teams:
        for pile in (team.battle_pile, team.speed_pile, team.distance_pile, team.safeties):
            cards.update(pile)
    if game.pending_hazard is not None:
        cards[game.pending_hazard] += 1
    return cards


@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_random_rounds(players: int) -> None:
    """300 random hands end, lose no card, never pass the target and meet every kind of decision."""
    rng = random.Random(players)
    seen: Counter[str] = Counter()
    for number in range(300):
        cards = deck(players)
        rng.shuffle(cards)
        game = OracleRound(players, [cards[seat::players] for seat in range(players)], number % players)
        steps = 0
        while not game.over:
            actions = sorted(game.legal_actions())
            # Discards outnumber the rest by far; without a bias to play hardly any hand would be finished.
            plays = [action for action in actions if action[0] != "discard"]
            action = rng.choice(plays if plays and rng.random() < 0.9 else actions)
            assert game.decision is not None
            seen[game.decision] += 1
            game.step(action)
            steps += 1
            assert steps < 1000
            assert all_cards(game) == Counter(cards)
            assert all(team.km <= game.target for team in game.teams)
        assert game.seat is None
        assert game.decision is None
        assert game.pending_hazard is None
        if game.winner is None:
            seen["nobody finished"] += 1
            assert game.pile_size() == 0
            assert not any(game.hands)
        else:
            seen["finished"] += 1
            assert game.teams[game.winner].km == game.target
        for number_of_team in range(len(game.teams)):
            seen.update(item for item, points in game.score(number_of_team).items() if points)
    expected = {"play", "claim", "nobody finished", "finished", "safeties", "coups_fourres", "delayed_action"}
    if players != 4:
        expected |= {"extension"}
    assert expected <= set(seen), seen
