"""Checks of the oracle itself: the end of a hand, its points and its winner, in every edition.

`test_scenario_NN_...` is scenario NN of the specification, section 3; a source such as "004:18" is a line
of a rule text, "E37" a ruling of the specification's section 2, "house" a convention of this project.
"""

from __future__ import annotations

import pytest

from tests.each import each
from tests.oracle.oracle import (
    SAFETIES,
    OracleRound,
    match_winner,
)
from tests.oracle.positions import (
    DE,
    FILLER,
    FR01,
    FR14,
    FRC,
    NL,
    PK,
    POINTS,
    display,
    editions,
    ended,
    laid,
    play,
    table,
    total,
)


def totals(game: OracleRound) -> list[int]:
    """Adds up the points of every team."""
    return [total(game, team) for team in range(len(game.teams))]


def extended(game: OracleRound, caller: int = 0) -> OracleRound:
    """Declares the extension to have been called."""
    game.target, game.extension_caller = 1000, caller
    return game


# Safeties and coups fourrés -------------------------------------------------------------------------------


@editions(*POINTS)
def test_scenario_49_nobody_finishes(edition: str) -> None:
    """FRC scoring example 1 (100 and 300 in every edition): 850 : 925."""
    game = ended(table([], [], [], [], edition=edition))
    display(game, 0, distance=laid(350), safeties=("EXTRA_TANK", "DRIVING_ACE"))
    display(game, 1, distance=laid(825), safeties=("PUNCTURE_PROOF",))
    game.teams[0].coups_fourres = ["EXTRA_TANK"]
    assert totals(game) == [850, 925]
    assert game.round_winner() == 1


@editions(*POINTS)
def test_scenario_52_all_safeties_two_coups(edition: str) -> None:
    """US hint G; 000:257-258; 002:122-130: 400 + 300 + 600; three safeties have no bonus."""
    game = ended(table([], [], edition=edition))
    display(game, 0, safeties=SAFETIES)
    game.teams[0].coups_fourres = ["EXTRA_TANK", "DRIVING_ACE"]
    assert total(game, 0) == 1300
    assert game.score(0)["all_safeties"] == 300
    display(game, 0, safeties=SAFETIES[:3])
    assert game.score(0)["safeties"] == 300
    assert game.score(0)["all_safeties"] == 0


# The extension --------------------------------------------------------------------------------------------


@editions(*POINTS)
def test_scenario_54_extension_succeeds(edition: str) -> None:
    """000:235-245; 002:29; US C: 1000 + 400 + 300 safe + 200 extension + 100 = 2000 against 450."""
    game = extended(table(["DISTANCE_25"], [FILLER], edition=edition))
    display(game, 0, battle=("ROLL",), distance=laid(975), safeties=("EXTRA_TANK",))
    display(game, 1, distance=laid(450))
    play(game, "DISTANCE_25")
    assert game.over
    assert totals(game) == [2000, 450]
    assert game.round_winner() == 0


@editions(PK, FRC, NL)
def test_scenario_57_extension_fails(edition: str) -> None:
    """FRC 18; 000:245; US C: the cards run out, the caller has his 900, the opponent 300 + 200."""
    game = extended(table([FILLER], [], pile=0, edition=edition))
    display(game, 0, distance=laid(900))
    display(game, 1, distance=laid(300))
    game.step(("discard", FILLER))
    assert game.over
    assert game.winner is None
    assert totals(game) == [900, 500]


def test_e48_extension_fails_in_winning_moves() -> None:
    """002:29; E48: nothing for the opponents; the caller keeps km, safeties and coups."""
    game = ended(extended(table([], [], edition=DE)))
    display(game, 0, distance=laid(900), safeties=("EXTRA_TANK",))
    display(game, 1, distance=laid(300))
    game.teams[0].coups_fourres = ["EXTRA_TANK"]
    assert totals(game) == [900 + 100 + 300, 300]


@editions(FRC, NL)
def test_scenario_58_blank_team_has_the_extension_money(edition: str) -> None:
    """FRC; E43, E47: C is blank: no capot money but the 200; B is placed: 500 for C and the 200."""
    game = ended(extended(table([], [], [], edition=edition)))
    display(game, 0, distance=laid(900))
    display(game, 1, distance=laid(300))
    assert totals(game) == [900 + 500, 300 + 500 + 200, 200]


@each(("edition", "failure"), [(PK, 200), (FRC, 200), (NL, 200), (DE, 0)])
def test_e47_another_team_wins_the_extension(edition: str, failure: int) -> None:
    """E47, E49; 000:239: who first reaches 1000 has the 400; no new offer at 700; 200 for each opponent."""
    game = extended(table(["DISTANCE_25"], ["DISTANCE_25"], [FILLER], edition=edition), caller=2)
    display(game, 0, battle=("ROLL",), distance=laid(675))
    display(game, 1, battle=("ROLL",), distance=laid(975, with_200=True))
    display(game, 2, battle=("ROLL",), distance=laid(700))
    play(game, "DISTANCE_25")
    assert game.decision == "play"
    assert game.seat == 1
    play(game, "DISTANCE_25")
    assert totals(game) == [700 + failure, 1000 + 400 + failure, 700]


@editions(*POINTS)
def test_scenario_73_extension_declined(edition: str) -> None:
    """000:241; 002:156; US: at exactly 700 without an extension the hand ends, 400."""
    game = table(["DISTANCE_25"], [FILLER], edition=edition)
    display(game, 0, battle=("ROLL",), distance=laid(675))
    play(game, "DISTANCE_25")
    game.step(("finish",))
    assert game.over
    assert game.winner == 0
    assert game.score(0)["trip_completed"] == 400
    assert game.score(0)["extension"] == 0 == game.score(1)["extension"]


@each(("edition", "failure"), [(PK, 200), (FRC, 200), (NL, 200), (DE, 0)])
def test_e45_extension_with_no_cards_left(edition: str, failure: int) -> None:
    """E45: it may be called although nobody holds a card; then it has failed at once."""
    game = table(["DISTANCE_25"], [], pile=0, edition=edition)
    display(game, 0, battle=("ROLL",), distance=laid(675))
    display(game, 1, distance=laid(25))
    play(game, "DISTANCE_25")
    game.step(("extend",))
    assert game.over
    assert game.winner is None
    assert totals(game) == [700, 25 + failure]


def test_e34_extension_with_an_empty_pile() -> None:
    """000:237; E34: NL: an extended hand goes on until all cards are played out, others end (000:219)."""
    game = table(["DISTANCE_25", FILLER], [FILLER] * 2, pile=0, edition=NL)
    display(game, 0, battle=("ROLL",), distance=laid(675))
    display(game, 1, distance=laid(25))
    play(game, "DISTANCE_25")
    game.step(("extend",))
    for seat in (1, 0, 1):
        assert game.seat == seat
        game.step(("discard", FILLER))
    assert game.over
    assert totals(game) == [700, 225]
    game = table([FILLER], [FILLER] * 2, pile=0, edition=NL)
    game.step(("discard", FILLER))
    assert game.over


# Shut-out -------------------------------------------------------------------------------------------------


@each(("edition", "capot"), [(PK, 0), (DE, 0), (FRC, 500), (NL, 500)])
def test_scenario_60_blank_opponent_without_a_winner(edition: str, capot: int) -> None:
    """002:140; US: only the winner has a shut-out; 000:225-229, FRC: every placed side has it."""
    game = ended(table([], [], [], edition=edition))
    display(game, 0, distance=laid(300))
    display(game, 1, distance=laid(200))
    assert totals(game) == [300 + capot, 200 + capot, 0]


@each(("edition", "shutout"), [(PK, 500), (DE, 500), (FRC, 1000), (NL, 1000)])
def test_scenario_62_two_blank_opponents(edition: str, shutout: int) -> None:
    """US scoring; E42: 700 + 400 + 500, the 500 once; 000:227, FRC: 500 for each blank opponent."""
    game = table(["DISTANCE_25"], [FILLER], [FILLER], edition=edition)
    display(game, 0, battle=("ROLL",), distance=laid(675, with_200=True))
    play(game, "DISTANCE_25")
    game.step(("finish",))
    assert totals(game) == [700 + 400 + shutout, 0, 0]


@each(("edition", "shutout"), [(PK, 0), (DE, 0), (FRC, 500), (NL, 500)])
def test_e42_one_blank_opponent_of_two(edition: str, shutout: int) -> None:
    """E42: US and DE ask for all opponents; FRC and NL pay winner and placed loser for the blank one."""
    game = table(["DISTANCE_25"], [FILLER], [FILLER], edition=edition)
    display(game, 0, battle=("ROLL",), distance=laid(675, with_200=True))
    display(game, 1, distance=laid(25))
    play(game, "DISTANCE_25")
    game.step(("finish",))
    assert totals(game) == [700 + 400 + shutout, 25 + shutout, 0]


@editions(*POINTS)
def test_e43_all_blank(edition: str) -> None:
    """E43: blank sides get no capot money."""
    game = ended(table([], [], [], edition=edition))
    display(game, 0, safeties=("EXTRA_TANK",))
    assert totals(game) == [100, 0, 0]


def test_shutout_counts_teams_not_riders() -> None:
    """000:229: 500 for each blank team, not for each of its three riders."""
    game = ended(table([], [], [], [], [], [], edition=NL))
    display(game, 0, distance=laid(100))
    assert totals(game) == [600, 0]


@editions(*POINTS)
def test_e41_shutout_after_an_extension(edition: str) -> None:
    """E41: judged at the end; 1000 + 400 + 300 + 200 + 500."""
    game = extended(table(["DISTANCE_25"], [FILLER], edition=edition))
    display(game, 0, battle=("ROLL",), distance=laid(975))
    play(game, "DISTANCE_25")
    assert total(game, 0) == 2400


# Delayed action and safe trip -----------------------------------------------------------------------------


@editions(*POINTS)
def test_scenario_65_delayed_action(edition: str) -> None:
    """002:17; 000:221; E34, E37: who draws the last card and finishes in that turn has the 300."""
    game = table([FILLER], ["DISTANCE_25"], pile=1, edition=edition)
    display(game, 1, battle=("ROLL",), distance=laid(675, with_200=True))
    game.step(("discard", FILLER))
    assert game.pile_size() == 0
    play(game, "DISTANCE_25")
    game.step(("finish",))
    assert game.score(1)["delayed_action"] == 300


@editions(*POINTS)
def test_no_delayed_action_with_a_card_to_draw(edition: str) -> None:
    """002:17; 000:221: the pile must be used up."""
    game = table(["DISTANCE_25"], [FILLER], pile=1, edition=edition)
    display(game, 0, battle=("ROLL",), distance=laid(675))
    play(game, "DISTANCE_25")
    game.step(("finish",))
    assert game.score(0)["delayed_action"] == 0
    assert game.score(0)["safe_trip"] == 300


@editions(*POINTS)
def test_e38_delayed_action_is_judged_at_the_finish(edition: str) -> None:
    """E38, E39: an extended trip, finished after the pile was used up, with a 200 laid."""
    game = extended(table(["DISTANCE_25"], [FILLER], pile=0, edition=edition))
    display(game, 0, battle=("ROLL",), distance=laid(975, with_200=True))
    display(game, 1, distance=laid(25))
    play(game, "DISTANCE_25")
    points = game.score(0)
    assert points["delayed_action"] == 300
    assert points["safe_trip"] == 0
    assert points["shutout"] == 0


@editions(*POINTS)
def test_e40_no_safe_trip_without_the_trip(edition: str) -> None:
    """E40; 000:261; 002:136: only the winner has the 300 for no 200."""
    game = ended(table([], [], edition=edition))
    display(game, 0, distance=laid(650))
    assert game.score(0)["safe_trip"] == 0


# The end of the hand --------------------------------------------------------------------------------------


@editions(NL, FR01, FR14)
def test_hand_ends_with_the_turn_of_the_last_card(edition: str) -> None:
    """000:219; rules 1.4 REC; E54: seat 1 draws the last card, plays one, and the hand is over."""
    game = table([FILLER] * 6, [FILLER] * 6, pile=1, edition=edition)
    game.step(("discard", FILLER))
    assert game.seat == 1
    assert game.pile_size() == 0
    game.step(("discard", FILLER))
    assert game.over
    assert game.winner is None
    assert [len(hand) for hand in game.hands] == [5, 6]


@editions(NL, FR01, FR14)
def test_e18_last_card_drawn_for_a_safety(edition: str) -> None:
    """E18, E17: the last card replaces a safety: one more play; a second safety then has none."""
    game = table(["EXTRA_TANK", "DRIVING_ACE", FILLER], [FILLER], pile=1, edition=edition)
    play(game, "EXTRA_TANK")
    assert game.seat == 0
    play(game, "DRIVING_ACE")
    assert game.over
    assert game.teams[0].safeties == ["EXTRA_TANK", "DRIVING_ACE"]


@editions(NL, FR01, FR14)
def test_e15_coup_in_the_very_last_turn(edition: str) -> None:
    """E15, E16: the claim is legal, but there is no extra play and the hand is over."""
    game = table(["FLAT_TIRE"], ["PUNCTURE_PROOF", "DISTANCE_25"], pile=0, edition=edition)
    display(game, 1, battle=("ROLL",))
    play(game, "FLAT_TIRE 1")
    game.step(("claim",))
    assert game.over
    assert game.teams[1].coups_fourres == ["PUNCTURE_PROOF"]
    assert game.discard_pile == ["FLAT_TIRE"]


# Who has won ----------------------------------------------------------------------------------------------


@editions(FR01, FR14)
def test_no_points_in_the_modern_editions(edition: str) -> None:
    """Rules 1.5: win or lose; 001:32: who completes the 1000 has won."""
    game = table([FILLER], ["DISTANCE_100"], edition=edition)
    display(game, 0, distance=laid(950), safeties=SAFETIES)
    display(game, 1, battle=("ROLL",), distance=laid(900))
    game.step(("discard", FILLER))
    play(game, "DISTANCE_100")
    assert game.over
    assert totals(game) == [0, 0]
    assert game.round_winner() == 1 == game.winner


@editions(FR01, FR14)
def test_e53_the_nearest_has_won(edition: str) -> None:
    """Rules 1.4; E53: nobody at 1000: most km; those with equal km share it, the others have lost."""
    game = ended(table([], [], [], edition=edition, teams=3))
    display(game, 0, distance=laid(300))
    display(game, 1, distance=laid(500))
    display(game, 2, distance=laid(300), safeties=SAFETIES)
    assert game.round_winner() == 1
    assert game.round_winners() == [1]
    display(game, 2, distance=laid(500), safeties=SAFETIES)
    assert game.round_winner() is None
    assert game.round_winners() == [1, 2]


@editions(*POINTS)
def test_points_decide_the_hand(edition: str) -> None:
    """Rules 1.5: the higher score, though another team has completed the trip; equal scores: shared."""
    game = ended(table([], [], edition=edition), winner=1)
    display(game, 0, distance=laid(675), safeties=SAFETIES)
    display(game, 1, distance=laid(700, with_200=True))
    assert totals(game) == [1375, 1100]
    assert game.round_winner() == 0
    assert game.winner == 1
    game.winner = None
    display(game, 0, distance=laid(700))
    assert game.round_winner() is None


@editions()
def test_score_needs_an_end(edition: str) -> None:
    """House: there is neither a score nor a winner before the hand is over."""
    game = table([FILLER], [FILLER], edition=edition)
    with pytest.raises(ValueError, match="not over"):
        game.score(0)
    with pytest.raises(ValueError, match="not over"):
        game.round_winner()


def test_scenario_69_match() -> None:
    """US winning; 000:249; E52: the higher total wins; equal highest or nobody at 5000: another hand."""
    assert match_winner([5100, 5250]) == 1
    assert match_winner([5000, 4995]) == 0
    assert match_winner([4995, 4000]) is None
    assert match_winner([5100, 5100, 5000]) is None
    assert match_winner([2100, 2000], goal=2000) == 0
