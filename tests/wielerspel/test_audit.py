"""The audit notices a broken law: each of them is broken here."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from millebornes_env.wielerspel.audit import violations
from tests.wielerspel.support import FLAT_2, SUPPLY, Race


def _position() -> Race:
    return Race(players=4).servants(1, 4, 5).jerseys(2, green=1).away(3, 5).land_on(FLAT_2).do("pay")


BROKEN: dict[str, Callable[[Race], object]] = {
    "seat 1 has 61 energy": lambda race: race.energy(1, 61),
    "seat 0 has -1 energy": lambda race: race.energy(0, -1),
    "seat 1 has 5 servants, not 6": lambda race: race.state.owner.__setitem__(4, -1),
    "seat 0 has left the race with energy or servants": lambda race: race.order(1, 2).set(
        out=[1, 0, 0, 0, 0, 0]
    ),
    "the peloton [0, 1] and the escaped seat 3 are not the seats in the race": lambda race: race.order(0, 1),
    "the peloton [0, 1, 2, 3] and the escaped seat 3 are not the seats in the race": lambda race: race.order(
        0, 1, 2, 3
    ),
    "a seat stands behind the last of the peloton": lambda race: race.state.peloton.__setitem__(4, 2),
    "the lead of seat 3 is 0": lambda race: race.set(lead=0),
    "the lead is 19, and the race is not over": lambda race: race.set(lead=19),
    "the rainbow rider is on square 40": lambda race: race.set(square=40),
    f"a servant stands on square {SUPPLY}, which is no effort square": lambda race: race.servants(0, SUPPLY),
    "of the set green there are [10, 0, 0, 1, 0] cards": lambda race: race.stack("green", 10),
    "there is a gap in the deck": lambda race: race.state.deck.__setitem__(3, -1),
    "there are 2 cards of type 9 in the deck": lambda race: race.deck(
        "forced_retirement", "forced_retirement"
    ),
    "the phase is 0": lambda race: race.set(phase=0),
    "seat 4 decides, which is not in the race": lambda race: race.set(seat=4),
}


def test_a_position_that_breaks_no_law() -> None:
    assert violations(_position().state, _position().rules) == []


@pytest.mark.parametrize("message", BROKEN)
def test_a_broken_law_is_named(message: str) -> None:
    race = _position()
    BROKEN[message](race)
    assert message in violations(race.state, race.rules)
