"""The end of a round: 004:32 to 004:37; rules 1.4; rulings E17, E45, E50, E51.

The rest is in `editions/test_all*.py`.
"""

from __future__ import annotations

from tests.each import each
from tests.support import PLAYERS, Position


@each("players", PLAYERS)
def test_play_continues_until_a_trip_is_complete_or_all_cards_are_played(players: int) -> None:
    """Not a move earlier, for whatever other reason, and both kinds of end do occur (004:32)."""
    ends = set()
    for seed in range(40):
        for position in Position(players=players, dealt=True, seed=seed).play_at_random(seed):
            arrived = position.target in [position.km_of(team) for team in range(position.rules.teams)]
            played_out = position.pile_size == 0 and not any(position.hand_sizes())
            if position.phase == "extension":
                assert arrived
            else:
                assert (position.phase == "round over") == (arrived or played_out)
        ends.add(position.winner is None)
        assert (position.winner is not None) == arrived
        if len(ends) == 2:
            break
    assert ends == {True, False}


def test_with_neither_the_round_goes_on() -> None:
    """A team 25 km short and one last card in a hand: still not over (004:32)."""
    position = Position("battle 0: roll", "hand 0: 25", "hand 1: stop", players=4).draw_pile(0).km(0, 950)
    assert position.do("play 25").phase == "play"


def test_the_round_ends_when_a_team_reaches_exactly_1000() -> None:
    """With two pairs: at once, cards to draw and cards in hand or not (004:34)."""
    position = Position("battle 0: roll", "hand 0: 100 roll", "hand 1: stop", players=4).km(0, 900)
    position.do("play 100")
    assert (position.phase, position.winner, position.km_of(0)) == ("round over", 0, 1000)
    assert position.legal() == set()
    assert position.pile_size > 0


@each("players", PLAYERS)
def test_the_round_ends_when_all_players_have_played_all_their_cards(players: int) -> None:
    """With nothing left to draw the last card laid or discarded is the end, without a winner (004:35)."""
    position = Position(players=players).draw_pile(0)
    for seat in range(players):
        position.hand(seat, "roll", "roll")
    for turn in range(2 * players):
        assert (position.phase, position.seat) == ("play", turn % players)
        position.do(
            "discard roll" if turn % 3 else f"{'play' if turn < position.rules.teams else 'discard'} roll"
        )
    assert (position.phase, position.winner) == ("round over", None)
    assert position.legal() == set()


def test_play_continues_after_the_draw_pile_is_exhausted() -> None:
    """The turn in which the last card is drawn is followed by others, without a draw (004:37)."""
    position = Position("hand 0: stop roll", "hand 1: stop roll").draw_pile(1).do("discard stop")
    assert (position.pile_size, position.hand_sizes()) == (0, [1, 3])
    position.do("discard stop")
    assert (position.seat, position.hand_sizes()) == (0, [1, 2])


def test_each_player_plays_or_discards_one_card_per_turn() -> None:
    """The hands get shorter card by card, in turn (004:37)."""
    position = Position("battle 0: roll", "hand 0: 25 stop roll", "hand 1: roll repairs gasoline")
    position.draw_pile(0)
    sizes = []
    for move in ("play 25", "play roll", "play stop", "discard repairs", "discard roll", "discard gasoline"):
        sizes.append((position.seat, *position.hand_sizes()))
        position.do(move)
    assert sizes == [(0, 3, 3), (1, 2, 3), (0, 2, 2), (1, 1, 2), (0, 1, 1), (1, 0, 1)]
    assert position.phase == "round over"


def test_once_both_have_run_out_of_cards_play_ends() -> None:
    """One empty hand is not enough: the other one is played out (004:37)."""
    position = Position("hand 0: stop", "hand 1: stop roll").draw_pile(0).do("discard stop")
    assert position.phase == "play"
    assert position.do("discard stop").phase == "play"
    assert position.do("discard roll").phase == "round over"


def test_while_there_are_cards_to_draw_nobody_is_skipped() -> None:
    """Whoever's hand is empty draws and plays (E50, 004:5)."""
    position = Position("hand 0: stop", players=3).draw_pile(2).do("discard stop")
    assert (position.seat, position.hand_sizes()) == (1, [0, 1, 0])


def test_what_can_be_played_in_the_play_out_is_what_could_always_be_played() -> None:
    """Hazards, remedies and safeties keep their rules, and a safety its other play (004:37, E17)."""
    position = Position("battle 1: roll", "hand 0: extra_tank stop roll", "hand 1: roll").draw_pile(0)
    position.do("play extra_tank", "play stop")
    assert position.plays() == {"roll"}
    assert position.do("play roll").seat == 0
