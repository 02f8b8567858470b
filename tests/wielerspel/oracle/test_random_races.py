"""The sheet, and random races to the end: what must hold at every decision, and how long they last."""

from __future__ import annotations

import random
import statistics
from collections import Counter
from collections.abc import Callable

import pytest

from tests.each import each
from tests.wielerspel.oracle.arc_en_ciel import ARC_EN_CIEL, BOARD
from tests.wielerspel.oracle.chances import Seeded, whole_deck
from tests.wielerspel.oracle.race import Race

PLAYERS = range(2, 7)
Chooser = Callable[[Race, random.Random], str]


def any_action(game: Race, lots: random.Random) -> str:
    """Chooses any legal action."""
    return lots.choice(game.legal())


def sensible_action(game: Race, lots: random.Random) -> str:
    """Chooses as the specification's heuristic random players might: no needless retirements, low bids."""
    legal = game.legal()
    if game.phase == "EXCHANGE":
        return legal[0]
    if game.phase == "BID":
        low = [action for action in legal if action.startswith("bid")][:4]
        return lots.choice(low) if low and lots.random() < 0.5 else "pass"
    if game.phase in ("AWAY", "ESCAPE"):
        legal = [action for action in legal if not action.startswith("retire")]
    return lots.choice(legal)


def ride(players: int, seed: int, choose: Chooser = sensible_action, check: bool = False) -> Race:
    """Rides a race to its end, with all laws checked at each decision if asked for."""
    game = Race(players, ARC_EN_CIEL, Seeded(seed, players, ARC_EN_CIEL))
    lots = random.Random(seed)
    while not game.over:
        if check:
            check_laws(game)
            assert len(game.legal()) >= 2
        game.do(choose(game, lots))
    return game


def check_laws(game: Race) -> None:
    """Asserts what holds in every position."""
    for seat, team in enumerate(game.teams):
        on_board = game.owner.count(seat)
        assert team.off_board + on_board + team.retired == 6
        assert 0 <= team.energy <= 60
        assert team.off_board >= 0
        if team.out:
            assert team.energy == team.off_board == on_board == 0
    for kind, left in game.stacks.items():
        assert left >= 0
        assert left + sum(getattr(team, kind) for team in game.teams) == 12
    riding = [seat for seat, team in enumerate(game.teams) if not team.out]
    assert sorted(game.race_order()) == riding
    assert (game.escaped == -1) == (game.lead == 0)
    assert game.lead <= 18 or game.over
    assert all(owner == -1 for owner, (kind, _) in zip(game.owner, BOARD, strict=True) if kind != "effort")


def test_sheet() -> None:
    """Specification 4.10, 4.11: 40 squares, 22 for effort worth 55 (003:109); 25 cards (003:15)."""
    kinds = Counter(kind for kind, _ in BOARD)
    assert kinds == {
        **{"effort": 22, "chance": 6, "escape": 4, "supply": 2, "event": 2},
        **{"green": 1, "polka": 2, "start": 1},
    }
    assert BOARD[0] == ("start", 0)
    assert sum(value for kind, value in BOARD if kind == "effort") == 55
    cards = whole_deck(ARC_EN_CIEL)
    assert len(cards) == 25
    assert Counter(kind for kind, _ in cards) == {
        **{"supply": 4, "tail wind": 4, "no supply": 1, "escape": 5},
        **{"event": 9, "yellow event": 1, "forced retirement": 1},
    }


@each("players", PLAYERS)
@each(("choose", "races"), [(any_action, 200), (sensible_action, 20)])
def test_laws(players: int, choose: Chooser, races: int) -> None:
    """Servants, jerseys, energy, places: conserved at every decision of all races to the end."""
    for seed in range(races):
        game = ride(players, seed, choose, check=True)
        check_laws(game)
        assert game.winners()
        assert sum(game.shares()) == pytest.approx(1)
        by_jerseys = any(game.teams[seat].rainbow >= 3 for seat in game.winners())
        by_track = game.lead > 18 and game.winners() == [game.escaped]
        exhausted = all(team.out for team in game.teams)
        assert by_jerseys or by_track or exhausted


def test_every_decision_occurs() -> None:
    """Random races ask every question there is, so that the laws are checked at each."""
    phases: set[str] = set()
    for seed in range(40):
        game = Race(4, ARC_EN_CIEL, Seeded(seed, 4, ARC_EN_CIEL))
        lots = random.Random(seed)
        choose = any_action if seed % 2 else sensible_action
        while not game.over:
            phases.add(game.phase)
            game.do(choose(game, lots))
    assert phases == {"AWAY", "EXCHANGE", "MUST PAY", "MUST RETIRE", "ESCAPE", "BID", "MOVE"}


@each(("players", "turns"), [(3, 155), (4, 181), (5, 202), (6, 213)])
def test_length_of_a_race(players: int, turns: int) -> None:
    """Specification 4.11: medians of a simulation whose players are not written down: within a quarter."""
    median = statistics.median(ride(players, seed).turn for seed in range(60))
    assert 0.75 * turns < median < 1.25 * turns


def test_same_seed_same_race() -> None:
    first, second = ride(4, 7), ride(4, 7)
    assert first.facts() == second.facts()
    assert first.facts() != ride(4, 8).facts()


def test_illegal_action_changes_nothing() -> None:
    game = Race(3, ARC_EN_CIEL, Seeded(1, 3, ARC_EN_CIEL))
    before, legal = game.facts(), game.legal()
    with pytest.raises(ValueError, match="cannot 'bid 61'"):
        game.do("bid 61")
    assert (game.facts(), game.legal()) == (before, legal)


@each("players", [1, 7])
def test_number_of_seats(players: int) -> None:
    """003:7, and two by ruling."""
    with pytest.raises(ValueError, match="2 to 6 seats"):
        Race(players, ARC_EN_CIEL, Seeded(1, players, ARC_EN_CIEL))


def test_position_from_facts() -> None:
    """The facts at the start of a turn are enough to set the race up again."""
    chance = Seeded(5, 4, ARC_EN_CIEL)
    game, lots, times = Race(4, ARC_EN_CIEL, chance), random.Random(5), 0
    while not game.over:
        if game.phase == "AWAY":
            again = Race(4, ARC_EN_CIEL, chance, game.facts())
            assert (again.facts(), again.legal()) == (game.facts(), game.legal())
            times += 1
        game.do(sensible_action(game, lots))
    assert times > 9
