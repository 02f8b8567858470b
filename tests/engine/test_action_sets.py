"""`action_sets`: sets of actions as ints say what the masks say, compiled and not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from millebornes_env.engine import action_sets
from millebornes_env.engine.numba.compiling import kernel, plain


@kernel
def write(mask: Any, members: Any) -> None:
    action_sets.write_set_of_mask(mask, members)


@kernel
def is_in(members: Any, action: int) -> bool:
    return action_sets.is_in_set(members, action)


@kernel
def size(members: Any) -> int:
    return action_sets.size_of_set(members)


@kernel
def member(members: Any, index: int) -> int:
    return action_sets.member_of_set(members, index)


@kernel
def are_in(sets: Any, actions: Any, first: int, last: int) -> bool:
    return action_sets.are_in_sets(sets, actions, first, last)


COMPILED = (write, is_in, size, member)
NAMES = ("write_set_of_mask", "is_in_set", "size_of_set", "member_of_set")
PLAIN = tuple(plain(getattr(action_sets, name)) for name in NAMES)


@pytest.mark.parametrize("functions", [COMPILED, PLAIN], ids=["compiled", "plain"])
@pytest.mark.parametrize("actions", [1, 2, 15, 16, 17, 31, 42, 47, 48, 49, 62, 63, 64, 96, 100, 145])
def test_a_set_holds_what_the_mask_holds(functions: Any, actions: int) -> None:
    write, is_in, size, member = functions
    rng = np.random.default_rng(actions)
    for share in (0.0, 0.1, 0.5, 1.0):
        room = rng.integers(-1, 2, (2, actions + 40), np.int8)  # what is beside the mask does not matter
        mask = room[1, 3 : 3 + actions]
        mask[:] = (rng.random(actions) < share) * rng.choice(np.array([1, -1, 7], np.int8), actions)
        members = np.full(action_sets.ints_for(actions), -1, np.int64)
        write(mask, members)
        wanted = np.flatnonzero(mask).tolist()
        assert size(members) == len(wanted)
        assert [member(members, index) for index in range(len(wanted))] == wanted
        for action in (-(2**62), -1, *range(actions + 50), 2**62):
            assert is_in(members, action) == (action in wanted), action


@pytest.mark.parametrize("are_in", [are_in, plain(action_sets.are_in_sets)], ids=["compiled", "plain"])
def test_a_wrong_action_is_found_wherever_it_is(are_in: Any) -> None:
    rng = np.random.default_rng(1)
    sets = rng.integers(1, 1 << action_sets.SET_SIZE, (40, 1))
    actions = np.array([PLAIN[3](row, int(rng.integers(PLAIN[2](row)))) for row in sets])
    assert are_in(sets, actions, 0, 40)
    for game in range(40):
        for wrong in (-(2**63), -1, *range(70), 2**63 - 1):
            changed = actions.copy()
            changed[game] = wrong
            for first, last in ((0, 40), (game, game + 1), (0, game), (game + 1, 40)):
                is_right = not first <= game < last or PLAIN[1](sets[game], wrong)
                assert are_in(sets, changed, first, last) == is_right, (game, wrong)
