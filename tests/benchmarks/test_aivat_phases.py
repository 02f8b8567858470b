"""How much of the luck is still to come: only what neither game of a deal has drawn is shuffled."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.aivat_phases import Args, Left, Table, lines_of, shuffle_undrawn
from millebornes_env.errors import ArenaError
from millebornes_env.millebornes.state import STATE


def test_what_was_drawn_stays_and_both_games_get_the_same_order() -> None:
    states = np.zeros(2, STATE)
    deck = np.arange(states["deck"].shape[1], dtype=np.int8)
    states["deck"] = deck
    states["stream_next"][:, :2] = [[3, 50], [5, 52]]
    states["stream_end"][:, :2] = [[45, 90], [44, 88]]
    shuffle_undrawn(states, 1, np.random.default_rng(1))
    undrawn = np.zeros(len(deck), bool)
    undrawn[5:44] = undrawn[52:88] = True
    one, other = states["deck"]
    assert one.tolist() == other.tolist()
    assert (one[~undrawn] == deck[~undrawn]).all()
    assert sorted(one[undrawn]) == deck[undrawn].tolist()
    assert (one[undrawn] != deck[undrawn]).mean() > 0.8


def test_less_and_less_is_to_come() -> None:
    table = Table(Args(pair=("greedy", "holder"), deals=60))
    early, late, over = (table.left(pile, 1) for pile in (90, 20, 0))
    assert over == Left(0, (0.0, 0.0), (0.0, 0.0))
    assert early.plain[0] > late.plain[0] > 0.0
    assert table.left(20, 1) == late
    assert lines_of([over])[-1] == "| 0 | 0 ± 0 | 0 ± 0 | - |"


def test_only_compiled_agents_are_played() -> None:
    with pytest.raises(ArenaError, match="only the luck of compiled agents"):
        Table(Args(pair=("search", "holder"), deals=2))
