"""Checks of the oracle itself: every option, in the editions where it makes a difference.

A source such as "002:147" is a line of a rule text, "E30" a ruling of the specification's section 2.
"""

from __future__ import annotations

import pytest

from tests.each import each
from tests.oracle.oracle import TABLES, OracleRound
from tests.oracle.positions import (
    DE,
    DISTANCES,
    FILLER,
    FR01,
    FR14,
    FRC,
    NL,
    PK,
    POINTS,
    can_play,
    display,
    editions,
    ended,
    laid,
    play,
    playable,
    table,
    total,
)
from tests.oracle.rules import OPTIONS, SAFETIES, rules_for

# rules 1.2 to 1.5, column by column: what the options are when nobody sets them
# fmt: off
DEFAULTS: dict[str, set[str]] = {
    PK: {"start_needs_roll", "roll_after_remedy", "roll_after_safety", "exact_finish", "discard_safeties",
         "count_points"},
    FRC: {"start_needs_roll", "roll_after_remedy", "exact_finish", "discard_safeties", "count_points"},
    NL: {"start_needs_roll", "roll_after_remedy", "exact_finish", "discard_safeties", "count_points",
         "play_out_after_extension"},
    DE: {"start_needs_roll", "roll_after_remedy", "exact_finish", "discard_safeties", "count_points"},
    FR01: {"exact_finish", "discard_safeties"},
    FR14: {"start_needs_roll", "exact_finish", "discard_safeties"},
}
# fmt: on


@editions()
def test_defaults(edition: str) -> None:
    """Rules 1.7: the REC values of the edition, the same at each of its tables."""
    for players, teams in TABLES[edition]:
        rules = rules_for(edition, players, teams)
        assert {option for option in OPTIONS if getattr(rules, option)} == DEFAULTS[edition]


@each("options", [{"target": 1}, {"play_out": 1}, {"exact_finish": 2}])
def test_other_options_are_refused(options: dict[str, int]) -> None:
    """House: only the named options, and 0 or 1."""
    with pytest.raises(ValueError, match="no option"):
        OracleRound(PK, 2, 2, [[FILLER] * 7] * 2, 0, options)


# Movement -------------------------------------------------------------------------------------------------


@editions()
def test_start_needs_roll(edition: str) -> None:
    """001:11-12: without it a team with an empty pile rolls, may be attacked, and lays no Roll (E25)."""
    for value in (0, 1):
        game = table(["DISTANCE_25", "ROLL", "ACCIDENT"], [], edition=edition, start_needs_roll=value)
        # 002:147 and rules 1.7: in two editions a hazard may open a pile, whoever rolls.
        open_to_attack = {"ACCIDENT"} if value == 0 or edition in (DE, FR01) else set()
        assert playable(game) == open_to_attack | ({"ROLL"} if value else {"DISTANCE_25"})


@editions(PK, FRC, NL, DE, FR14)
def test_any_safety_starts(edition: str) -> None:
    """002:199; E31: with an empty pile any safety starts, and then one is open to attack."""
    for value in (0, 1):
        game = table(["EXTRA_TANK", "DISTANCE_25"], [FILLER], edition=edition, any_safety_starts=value)
        assert not can_play(game, "DISTANCE_25")
        play(game, "EXTRA_TANK")
        assert can_play(game, "DISTANCE_25") == bool(value)
        display(game, 0, battle=("ACCIDENT",), safeties=("EXTRA_TANK",))
        assert not can_play(game, "DISTANCE_25")  # a start, no cure
        game = table(["ACCIDENT"], [], edition=edition, any_safety_starts=value)
        display(game, 1, safeties=("EXTRA_TANK",))
        assert can_play(game, "ACCIDENT", "1") == (value == 1 or edition == DE)


@editions(DE)
def test_any_safety_starts_after_an_opening_hazard(edition: str) -> None:
    """002:199; E31: the safety that takes the opening hazard away starts too."""
    for value in (0, 1):
        game = table(["DRIVING_ACE", "DISTANCE_25"], [], edition=edition, any_safety_starts=value)
        display(game, 0, battle=("ACCIDENT",))
        play(game, "DRIVING_ACE")
        assert can_play(game, "DISTANCE_25") == bool(value)


@editions()
def test_roll_after_remedy(edition: str) -> None:
    """000:174; 001:100-102: a remedy that shows drives, or takes a Roll."""
    for value in (0, 1):
        game = table(["DISTANCE_25", "ROLL"], ["FLAT_TIRE"], edition=edition, roll_after_remedy=value)
        display(game, 0, battle=("ROLL", "ACCIDENT", "REPAIRS"))
        assert playable(game) == ({"ROLL"} if value else {"DISTANCE_25"})
        game.step(("discard", "ROLL"))
        assert can_play(game, "FLAT_TIRE", "0") == (value == 0)


@editions()
def test_free_start_and_roll_after_remedy(edition: str) -> None:
    """002:184: that the first remedy starts alone is a rule of winning_moves, wherever the pile started."""
    game = table(["DISTANCE_25"], [], edition=edition, start_needs_roll=0, roll_after_remedy=1)
    display(game, 0, battle=("ACCIDENT", "REPAIRS"))
    assert game.is_moving(0) == (edition == DE)


@editions()
def test_roll_after_safety(edition: str) -> None:
    """E22: the hazard stays, cancelled, and takes a Roll; or it leaves and what lay beneath shows again."""
    for value in (0, 1):
        game = table(["EXTRA_TANK", "DISTANCE_25", "ROLL"], [], edition=edition, roll_after_safety=value)
        display(game, 0, battle=("ROLL", "OUT_OF_GAS"))
        play(game, "EXTRA_TANK")
        assert game.teams[0].battle_pile == ["ROLL", "OUT_OF_GAS"][: 1 + value]
        assert game.discard_pile == ["OUT_OF_GAS"][value:]
        assert playable(game) == ({"ROLL"} if value else {"DISTANCE_25"})


@editions()
def test_roll_after_safety_with_right_of_way(edition: str) -> None:
    """E22, E24, E3: with Right of Way no Roll is needed; a Stop leaves in any case."""
    game = table(["EXTRA_TANK", "DISTANCE_25"], [], edition=edition, roll_after_safety=1)
    display(game, 0, battle=("ROLL", "OUT_OF_GAS"), safeties=("RIGHT_OF_WAY",))
    play(game, "EXTRA_TANK")
    assert game.teams[0].battle_pile == ["ROLL", "OUT_OF_GAS"]
    assert can_play(game, "DISTANCE_25")
    game = table(["RIGHT_OF_WAY"], [], edition=edition, roll_after_safety=1)
    display(game, 0, battle=("ROLL", "STOP"))
    play(game, "RIGHT_OF_WAY")
    assert game.discard_pile == ["STOP"]


# Attacks --------------------------------------------------------------------------------------------------


@editions()
def test_one_hazard_at_a_time(edition: str) -> None:
    """002:61; E29: a Limit that shows keeps battle hazards away, and a battle hazard in force a Limit."""
    for value in (0, 1):
        game = table(["ACCIDENT", "SPEED_LIMIT"], [], edition=edition, one_hazard_at_a_time=value)
        display(game, 1, battle=("ROLL",), speed=("SPEED_LIMIT",))
        assert playable(game) == (set() if value else {"ACCIDENT"})
        display(game, 1, battle=("ROLL",), speed=("SPEED_LIMIT", "END_OF_LIMIT"))
        assert playable(game) == {"ACCIDENT", "SPEED_LIMIT"}
        display(game, 1, battle=("ROLL", "STOP"))
        assert playable(game) == (set() if value else {"SPEED_LIMIT"})
        display(game, 1, battle=("ROLL", "STOP", "ROLL"))
        assert playable(game) == {"ACCIDENT", "SPEED_LIMIT"}


@editions(DE)
def test_one_hazard_at_a_time_and_the_opening(edition: str) -> None:
    """002:61, E29: a Speed Limit on a team that has not started keeps the opening hazard away."""
    game = table(["ACCIDENT"], [], edition=edition, one_hazard_at_a_time=1)
    display(game, 1, speed=("SPEED_LIMIT",))
    assert not playable(game)


@editions(FR14, FR01)
def test_attack_needs_roll(edition: str) -> None:
    """E55: who has remedied is immune until a Roll shows, unless Right of Way is out."""
    for value in (0, 1):
        game = table(["FLAT_TIRE"], [], edition=edition, attack_needs_roll=value)
        display(game, 1, battle=("ROLL", "OUT_OF_GAS", "GASOLINE"))
        assert can_play(game, "FLAT_TIRE", "1") == (value == 0)
        display(game, 1, battle=("ROLL", "OUT_OF_GAS", "GASOLINE"), safeties=("RIGHT_OF_WAY",))
        assert can_play(game, "FLAT_TIRE", "1")
        display(game, 1, battle=("ROLL", "ACCIDENT"), safeties=("RIGHT_OF_WAY",))
        assert not can_play(game, "FLAT_TIRE", "1")
        display(game, 1, battle=("ROLL",))
        assert can_play(game, "FLAT_TIRE", "1")


def test_attack_needs_roll_with_an_empty_pile() -> None:
    """E55: FR01 (rules 1.7) and DE (002:147): the opening is a rule of its own; FR14 has none."""
    for edition, legal in ((FR14, False), (FR01, True), (DE, True)):
        game = table(["FLAT_TIRE"], [], edition=edition, attack_needs_roll=1)
        assert can_play(game, "FLAT_TIRE", "1") == legal
    display(game, 1, battle=("ACCIDENT", "REPAIRS"))
    assert game.is_moving(1)
    assert not can_play(game, "FLAT_TIRE", "1")


# Discards and the end -------------------------------------------------------------------------------------


@editions()
def test_discard_only_if_stuck(edition: str) -> None:
    """000:184; 002:148: nothing may be discarded while any card can be laid, an attack or a safety too."""
    game = table(["DISTANCE_25", FILLER], ["STOP"], edition=edition, discard_only_if_stuck=1)
    display(game, 0, battle=("ROLL",))
    assert game.legal_actions() == {("play", "DISTANCE_25")}
    game.hands[0] = ["EXTRA_TANK", FILLER]
    assert game.legal_actions() == {("play", "EXTRA_TANK")}
    game.hands[0] = [FILLER, "REPAIRS"]
    assert game.legal_actions() == {("discard", FILLER), ("discard", "REPAIRS")}
    game.step(("discard", FILLER))
    assert game.legal_actions() == {("play", "STOP", "0")}


@editions()
def test_discard_safeties(edition: str) -> None:
    """E21: without it a safety stays in the hand until it is laid, which is always possible (004:17)."""
    for value in (0, 1):
        for safety in SAFETIES:
            game = table([safety, FILLER], [], edition=edition, discard_safeties=value)
            kept = {("play", safety), ("discard", FILLER)}
            assert game.legal_actions() == kept | ({("discard", safety)} if value else set())
        game = table([*SAFETIES], [], edition=edition, discard_safeties=value)
        assert playable(game) == set(SAFETIES)


@editions()
def test_no_exact_finish(edition: str) -> None:
    """AS; E64: overshooting is legal, the km count as printed, and the trip is complete."""
    game = table(DISTANCES, [], [], [], edition=edition, teams=2, exact_finish=0)
    display(game, 0, battle=("ROLL",), distance=laid(950))
    assert playable(game) == set(DISTANCES)  # scenario 44
    play(game, "DISTANCE_100")
    assert game.over
    assert game.winner == 0 == game.round_winner()
    assert game.teams[0].km == 1050
    assert game.score(0)["distance"] == (1050 if edition in POINTS else 0)


@editions(*POINTS)
def test_no_exact_finish_of_a_trip_that_can_be_extended(edition: str) -> None:
    """E44, E64: past 700 the extension is offered; then the trip is complete at 1000 or more."""
    game = table(["DISTANCE_200", "DISTANCE_200"], [FILLER] * 2, edition=edition, exact_finish=0)
    display(game, 0, battle=("ROLL",), distance=laid(675))
    play(game, "DISTANCE_200")
    assert game.legal_actions() == {("extend",), ("finish",)}
    game.step(("extend",))
    game.step(("discard", FILLER))
    play(game, "DISTANCE_200")
    assert game.over
    assert game.teams[0].km == 1075
    assert game.score(0)["extension"] == 200


@editions(NL)
def test_play_out_after_extension(edition: str) -> None:
    """000:237; E34: "tot alle kaarten uitgespeeld zijn"; without an extension the hand ends as ever."""
    hands = ["DISTANCE_25", FILLER, FILLER], ["EXTRA_TANK", FILLER]
    game = table(*hands, pile=0, edition=edition)
    display(game, 0, battle=("ROLL",), distance=laid(675))
    play(game, "DISTANCE_25")
    game.step(("extend",))
    seats = []
    while not game.over:
        seats.append(game.seat)
        game.step(min(game.legal_actions(), key=lambda action: action[0] != "play"))
    assert seats == [1, 0, 1, 0]  # the safety gives no extra play: E17
    assert game.winner is None
    for value, is_over in ((0, True), (1, False)):
        game = table([FILLER] * 2, [FILLER], pile=0, edition=edition, play_out_after_extension=value)
        game.extension_caller = 1
        game.step(("discard", FILLER))
        assert game.over == is_over
    game = table([FILLER] * 2, [FILLER], pile=0, edition=edition)
    game.step(("discard", FILLER))
    assert game.over


@editions(PK, FRC, DE)
def test_end_when_stuck(edition: str) -> None:
    """BSD: the hand ends with a turn after which nobody can lay a card, whatever is left in the hands."""
    for value in (0, 1):
        game = table([FILLER] * 2, ["REPAIRS", "DISTANCE_25"], pile=0, edition=edition, end_when_stuck=value)
        game.step(("discard", FILLER))
        assert game.over == bool(value)
        assert game.winner is None
        game = table(["ROLL", FILLER], ["REPAIRS"], pile=0, edition=edition, end_when_stuck=value)
        play(game, "ROLL")  # to lay the last card that can be laid is a turn too
        assert game.over == bool(value)


@editions(PK, FRC, DE)
@each("holder", [0, 1, 2])
@each(
    ("card", "battle"),
    [
        ("DISTANCE_25", ("ROLL",)),
        ("REPAIRS", ("ROLL", "ACCIDENT")),
        ("ROLL", ("ROLL", "STOP")),
        ("SPEED_LIMIT", ()),
        ("EXTRA_TANK", ()),
    ],
)
def test_not_stuck(edition: str, holder: int, card: str, battle: tuple[str, ...]) -> None:
    """BSD: one card that can be laid is enough, whoever holds it and whoever's turn is next."""
    game = table([FILLER] * 2, [FILLER], [FILLER], pile=0, edition=edition, end_when_stuck=1)
    display(game, holder, battle=battle)
    game.hands[holder].append(card)
    game.step(("discard", FILLER))
    assert (game.decision, game.seat) == ("play", 1)


@editions(PK, FRC, DE)
def test_stuck_with_cards_to_draw(edition: str) -> None:
    """BSD: while there are cards to draw nobody asks; who draws the last one has the turn."""
    game = table([FILLER] * 2, [FILLER], pile=1, edition=edition, end_when_stuck=1)
    game.step(("discard", FILLER))
    assert (game.decision, game.seat, game.pile_size()) == ("play", 1, 0)
    game.step(("discard", FILLER))
    assert game.over


@editions(PK, FRC, DE)
def test_stuck_by_the_call_of_the_extension(edition: str) -> None:
    """BSD, E44: the longer trip decides what can be laid; nobody has completed it when all are stuck."""
    for card, is_over in (("DISTANCE_200", False), ("REPAIRS", True)):
        hands = ["DISTANCE_25", card], [FILLER]
        game = table(*hands, pile=0, edition=edition, end_when_stuck=1)
        display(game, 0, battle=("ROLL",), distance=laid(675))
        play(game, "DISTANCE_25")
        assert game.legal_actions() == {("extend",), ("finish",)}
        game.step(("extend",))
        assert (game.over, game.winner) == (is_over, None)


@editions(NL)
def test_end_when_stuck_after_an_extension(edition: str) -> None:
    """000:237, E34, BSD: where the hands are played out after an extension only, then there only."""
    options = {"end_when_stuck": 1}
    for card, is_over in (("ROLL", False), ("REPAIRS", True)):
        game = table([FILLER] * 2, [card], pile=0, edition=edition, **options)
        game.extension_caller = 0
        game.step(("discard", FILLER))
        assert game.over == is_over


# Points ---------------------------------------------------------------------------------------------------


@editions(*POINTS)
def test_failed_extension_forfeits_bonuses(edition: str) -> None:
    """002:29 "überhaupt keine Bonuspunkte"; E48: the caller who fails scores his km only."""
    game = ended(table([], [], edition=edition, failed_extension_forfeits_bonuses=1), winner=1)
    game.target, game.extension_caller = 1000, 0
    display(game, 0, distance=laid(900), safeties=("EXTRA_TANK",))
    game.teams[0].coups_fourres = ["EXTRA_TANK"]
    display(game, 1, distance=laid(1000, with_200=True), safeties=("DRIVING_ACE",))
    assert total(game, 0) == 900
    assert total(game, 1) == 1000 + 400 + 100 + (0 if edition == DE else 200)
    game.winner, game.extension_caller = 1, 1  # the caller who succeeds, and who never called, keep theirs
    assert (total(game, 0), total(game, 1)) == (900 + 100 + 300, 1000 + 400 + 100 + 200)


@editions(FR01, FR14)
def test_safeties_break_tie(edition: str) -> None:
    """E53: equal km: more safeties laid; equal safeties too: shared. More km come first."""
    for value in (0, 1):
        game = ended(table([], [], [], edition=edition, teams=3, safeties_break_tie=value))
        display(game, 0, distance=laid(500), safeties=("EXTRA_TANK",))
        display(game, 1, distance=laid(500))
        display(game, 2, distance=laid(475), safeties=("DRIVING_ACE", "PUNCTURE_PROOF"))
        assert game.round_winner() == (0 if value else None)
        display(game, 1, distance=laid(500), safeties=("RIGHT_OF_WAY",))
        assert game.round_winner() is None


@editions(FR01, FR14)
def test_count_points(edition: str) -> None:
    """Rules 1.5, last paragraph: scored as FRC does, capot included; target 1000, no extension."""
    game = table(["DISTANCE_25"], [], [], edition=edition, teams=3, count_points=1)
    assert game.target == 1000
    display(game, 0, battle=("ROLL",), distance=laid(975), safeties=("EXTRA_TANK",))
    display(game, 1, distance=laid(100))
    play(game, "DISTANCE_25")
    assert game.over
    assert [total(game, team) for team in range(3)] == [1000 + 100 + 400 + 300 + 500, 600, 0]
    game.winner = None
    display(game, 0, distance=laid(100))
    display(game, 1, distance=laid(75), safeties=("EXTRA_TANK",))
    assert game.round_winner() == 1  # by points, not by distance


@editions(*POINTS)
def test_count_no_points(edition: str) -> None:
    """E53: without points the nearest wins."""
    game = ended(table([], [], edition=edition, count_points=0))
    display(game, 0, distance=laid(100))
    display(game, 1, distance=laid(75), safeties=("EXTRA_TANK",))
    assert total(game, 1) == 0
    assert game.round_winner() == 0
