"""Checks of the oracle itself: the decks, the tables, the targets, and random play with random options.

`test_scenario_NN_...` is scenario NN of the specification, section 3; a source such as "004:18" is a line
of a rule text, "E37" a ruling of the specification's section 2, "house" a convention of this project.
"""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.each import each
from tests.oracle.oracle import (
    FULL_DECK,
    SAFETIES,
    SAFETY_AGAINST,
    TABLES,
    OracleRound,
    count_sequences,
    deck,
    next_dealer,
)
from tests.oracle.positions import (
    ALL_TABLES,
    DE,
    DISTANCES,
    FILLER,
    FR01,
    FR14,
    FRC,
    NL,
    PK,
    display,
    editions,
    laid,
    play,
    table,
)
from tests.oracle.rules import OPTIONS


def dealt(edition: str, players: int, teams: int, dealer: int = 0) -> OracleRound:
    """Deals an unshuffled deck."""
    cards = deck(edition, players, teams)
    return OracleRound(edition, players, teams, [cards[seat::players] for seat in range(players)], dealer)


# The deck and the table -----------------------------------------------------------------------------------


@editions()
def test_scenario_01_full_deck(edition: str) -> None:
    """Rules 0.2; 002:41-107: 106 cards; 46 distances, 18 hazards, 38 remedies, 4 safeties."""
    for players, teams in TABLES[edition]:
        if players >= 4:
            cards = Counter(deck(edition, players, teams))
            assert cards == Counter(FULL_DECK)
            assert cards.total() == 106
            assert sum(cards[card] for card in DISTANCES) == 46
            assert sum(cards[card] for card in SAFETY_AGAINST) == 18
            assert sum(cards[card] for card in SAFETIES) == 4


@editions(PK, FRC, NL)
@each(("players", "pile"), [(2, 89), (3, 83)])
def test_scenario_02_reduced_deck(edition: str, players: int, pile: int) -> None:
    """000:134; FRC 17; US rule A: one of each hazard out, 101 cards, 89 or 83 of them to draw."""
    cards = deck(edition, players, players)
    assert Counter(FULL_DECK) - Counter(cards) == Counter(SAFETY_AGAINST.keys())
    assert len(cards) == 101
    game = dealt(edition, players, players)
    assert [len(hand) for hand in game.hands] == [6, 7] + [6] * (players - 2)  # seat 1 has drawn
    assert game.pile_size() + 1 == pile
    assert game.target == 700


@each(("players", "pile"), [(2, 90), (3, 84)])
def test_scenario_03_reduced_deck_with_every_stop(players: int, pile: int) -> None:
    """002:25: one of each hazard but Stop out, 102 cards, 90 or 84 of them to draw."""
    cards = Counter(deck(DE, players, players))
    assert cards.total() == 102
    assert [cards[h] for h in ("STOP", "ACCIDENT", "OUT_OF_GAS", "FLAT_TIRE", "SPEED_LIMIT")] == [
        5,
        2,
        2,
        2,
        3,
    ]
    game = dealt(DE, players, players)
    assert game.pile_size() + 1 == pile
    assert game.target == 700


@editions(FR14, FR01)
@each(("players", "teams", "pile"), [(2, 2, 94), (3, 3, 88), (4, 4, 82), (4, 2, 82), (6, 3, 70), (8, 4, 58)])
def test_scenario_04_modern_deck(edition: str, players: int, teams: int, pile: int) -> None:
    """001:32; FR14; rules 0.2: 106 cards and target 1000 at every table, no extension."""
    assert len(deck(edition, players, teams)) == 106
    game = dealt(edition, players, teams)
    assert game.pile_size() + 1 == pile
    assert game.target == 1000
    assert [game.team_of(seat) for seat in range(players)] == [seat % teams for seat in range(players)]


@editions(PK, FRC, DE)
def test_scenario_06_six_players(edition: str) -> None:
    """002:33; FRC 17: three teams of two, target 700, extension possible, 106 cards, 70 to draw."""
    game = dealt(edition, 6, 3, dealer=5)
    assert len(game.teams) == 3
    assert game.target == 700
    assert game.pile_size() + 1 == 70
    assert [game.team_of(seat) for seat in range(6)] == [0, 1, 2, 0, 1, 2]
    game.hands[0] = ["DISTANCE_25"]
    display(game, 0, battle=("ROLL",), distance=laid(675))
    play(game, "DISTANCE_25")
    assert game.legal_actions() == {("extend",), ("finish",)}


@editions()
def test_four_players_in_two_teams(edition: str) -> None:
    """Rules 1.1: two teams of two, 106 cards, 82 to draw, target 1000."""
    game = dealt(edition, 4, 2, dealer=3)
    assert game.pile_size() + 1 == 82
    assert len(game.teams) == 2
    assert game.target == 1000


@editions()
def test_scenario_70_dealer_moves_left(edition: str) -> None:
    """Rules 1.1 (FRC 6-7; REC elsewhere): the left neighbour deals next; the dealer's left starts."""
    assert next_dealer(0, 3) == 1
    assert next_dealer(2, 3) == 0
    assert dealt(edition, 3, 3, dealer=2).seat == 0


@editions(FRC, DE, PK, NL)
def test_extension_only_where_the_trip_is_700(edition: str) -> None:
    """Rules 1.1 "target", "extension"; 000:122, 000:233; 002:29, 002:33; E58."""
    for players, teams in TABLES[edition]:
        rules = dealt(edition, players, teams).rules
        short = players in (2, 3) or teams == 3
        assert (rules.target, rules.extended_target) == ((700, 1000) if short else (1000, None))


def test_e58_two_teams_of_three() -> None:
    """000:126, 000:122; E58: six seats A B A B A B, target 1000, no extension, 106 cards."""
    game = dealt(NL, 6, 2, dealer=5)
    assert [game.team_of(seat) for seat in range(6)] == [0, 1, 0, 1, 0, 1]
    assert game.pile_size() + 1 == 70
    game.hands[0] = ["DISTANCE_25"]
    display(game, 0, battle=("ROLL",), distance=laid(975))
    play(game, "DISTANCE_25")
    assert game.over
    assert game.winner == 0


@editions()
def test_no_such_table(edition: str) -> None:
    """Rules 1.1 "players": five players, or six for themselves, find no table; nor does another game."""
    for players, teams in ((5, 5), (6, 6), (1, 1)):
        with pytest.raises(ValueError, match="no table"):
            deck(edition, players, teams)
    with pytest.raises(ValueError, match="no table"):
        deck("touring", 2, 2)
    with pytest.raises(ValueError, match="streams"):
        OracleRound(edition, 2, 2, [[FILLER] * 7], 0)
    with pytest.raises(ValueError, match="no option"):
        table([FILLER], [FILLER], edition=edition, single_pile=1)


# Counted sequences ----------------------------------------------------------------------------------------


def test_count_sequences() -> None:
    """House: sequences of exactly so many legal actions; those that end the hand earlier do not count."""
    game = table(["DISTANCE_25", FILLER], [FILLER], pile=0)
    display(game, 0, battle=("ROLL",), distance=laid(675))
    # Discard one of two kinds, or finish the trip: 3. Then 1 each, or extend or finish: 1 + 1 + 2.
    # Then seat 0 discards or plays what it has left (1 and 2); "extend" lets seat 1 go on (1), "finish" ends.
    assert [count_sequences(game, depth) for depth in range(4)] == [1, 3, 4, 4]
    assert game.hands == [["DISTANCE_25", FILLER], [FILLER]]
    assert count_sequences(table([FILLER], [], pile=0), 2) == 0


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


def play_at_random(game: OracleRound, rng: random.Random) -> None:
    """Plays a hand to its end and checks after every action that no card was lost."""
    cards = all_cards(game)
    for _ in range(1000):
        if game.over:
            break
        actions = sorted(game.legal_actions())
        # Discards outnumber the rest by far; without a bias to play hardly any hand would be finished.
        plays = [action for action in actions if action[0] != "discard"]
        game.step(rng.choice(plays if plays and rng.random() < 0.9 else actions))
        assert all_cards(game) == cards
    assert game.over
    assert game.seat is None
    assert game.decision is None
    assert game.pending_hazard is None
    for team in range(len(game.teams)):
        assert set(game.score(team)) >= {"safeties", "trip_completed"}


@each(("edition", "players", "teams"), ALL_TABLES)
def test_random_rounds_with_random_options(edition: str, players: int, teams: int) -> None:
    """10 random hands with any combination of options end and lose no card.

    House: `laws/test_oracle_agrees` and `laws/test_options_agree` play the oracle beside the rulebook as the
    sheets say and with one option changed; combinations are played here only.
    """
    rng = random.Random(f"options {edition} {players} {teams}")
    for number in range(10):
        cards = deck(edition, players, teams)
        rng.shuffle(cards)
        options = {option: rng.randrange(2) for option in OPTIONS}
        streams = [cards[seat::players] for seat in range(players)]
        game = OracleRound(edition, players, teams, streams, number % players, options)
        play_at_random(game, rng)
        assert game.round_winner() in {None, *range(teams)}
