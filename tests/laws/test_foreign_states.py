"""States from elsewhere: of another edition, or of a hazard that nobody could have laid."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env import edition, vector_env
from millebornes_env.errors import StateError
from millebornes_env.games.millebornes.audit import first_violation
from millebornes_env.games.millebornes.state import StateArray
from millebornes_env.notation import read_position, write_position


def states_of(name: str, players: int) -> StateArray:
    env = vector_env(16, name, players=players, seed=4)
    env.reset()
    return env.get_states()


def test_a_fresh_deal_of_another_edition_is_a_game_of_every_table_with_its_deck() -> None:
    """A record holds cards, not rules: the first deal of `dutch` is one that `parker` might have dealt."""
    rules = edition("parker").table(2)
    states = states_of("dutch", 2)
    assert edition("dutch").table(2).deck == rules.deck
    assert first_violation(states, rules) is None
    for game in states.view(np.recarray):
        read = read_position(write_position(game, "parker", rules))
        assert read.state.tobytes() == game.tobytes()


def test_a_deal_of_another_deck_or_trip_is_not() -> None:
    problem = first_violation(states_of("winning_moves", 2), edition("parker").table(4))
    assert problem is not None
    problem = first_violation(states_of("parker", 2), edition("parker").replace(target=800).table(2))
    assert problem == (0, "target is neither this table's nor that of its extension")


def test_a_hazard_that_waits_is_one_that_may_be_laid() -> None:
    """A pending hazard may face an empty pile only if hazards may open a pile."""
    lines = "hand 0: roll ...\nhand 1: right_of_way\npending: stop by seat 0 against team 1"
    opening = edition("parker").replace(hazard_opens_pile=1)
    states = read_position(lines, edition=opening).state
    assert first_violation(states, opening.table(2)) is None
    assert first_violation(states, edition("parker").table(2)) == (
        0,
        "the pending hazard could not have been laid",
    )
    env = vector_env(1, "parker")
    with pytest.raises(StateError, match="could not have been laid"):
        env.set_states(states.view(np.ndarray))
