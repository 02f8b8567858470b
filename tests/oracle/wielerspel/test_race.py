"""Checks of the oracle that need no position: every test of `tests/rules/wielerspel` asks it, too."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env.games.wielerspel.editions import edition
from millebornes_env.games.wielerspel.state import STATE
from tests.each import each
from tests.oracle.wielerspel.arc_en_ciel import ARC_EN_CIEL
from tests.oracle.wielerspel.beside import RulebookChance
from tests.oracle.wielerspel.race import Race


def race(players: int) -> Race:
    """Begin a race with the rulebook's dice."""
    rules, state = edition("arc_en_ciel").table(3), np.zeros(1, STATE)[0]
    return Race(players, ARC_EN_CIEL, RulebookChance(state, rules))


def test_an_illegal_action_changes_nothing() -> None:
    game = race(3)
    before, legal = game.facts(), game.legal()
    with pytest.raises(ValueError, match="cannot 'bid 61'"):
        game.do("bid 61")
    assert (game.facts(), game.legal()) == (before, legal)


@each("players", [1, 7])
def test_the_number_of_seats(players: int) -> None:
    """003:7, and two by ruling."""
    with pytest.raises(ValueError, match="2 to 6 seats"):
        race(players)
