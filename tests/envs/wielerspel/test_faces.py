"""The race in the environments: what they do for any game, they do for this one."""

from __future__ import annotations

import pettingzoo
import pytest
from pettingzoo.test import api_test, seed_test

from millebornes_env import vector_env, wielerspel_v0
from millebornes_env.errors import EditionError, OptionError, StateError
from millebornes_env.testing import check_env
from tests.pettingzoo_lists import enter

ALL_TABLES = pytest.mark.parametrize("players", [2, 4, 6])


@ALL_TABLES
def test_it_is_an_environment_as_ours_are(players: int) -> None:
    check_env(vector_env(8, "arc_en_ciel", players=players, seed=2))


@ALL_TABLES
def test_pettingzoos_api(players: int, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(monkeypatch, "wielerspel_v0")
    api_test(wielerspel_v0.env(players=players), num_cycles=200)


def test_pettingzoos_seeds() -> None:
    seed_test(wielerspel_v0.env, num_cycles=200)


def test_pettingzoo_finds_it_by_its_name() -> None:
    env = pettingzoo.make("aec", "millebornes/wielerspel-v0", players=5)
    env.reset(seed=1)
    assert (len(env.agents), env.metadata["name"]) == (5, "wielerspel_v0")


def test_states_travel_and_those_of_no_race_are_refused() -> None:
    env = vector_env(4, "arc_en_ciel", players=3, seed=1)
    env.reset()
    states = env.get_states()
    env.step(env.sample_actions())
    env.set_states(states)
    assert (env.get_states() == states).all()
    states["energy"][2, 1] = 61
    with pytest.raises(StateError, match="energy"):
        env.set_states(states)


def test_what_the_race_has_not_is_said_by_its_name() -> None:
    with pytest.raises(OptionError, match="'wielerspel' has no such option"):
        vector_env(1, "arc_en_ciel", players=3, observe_rules=True)
    with pytest.raises(OptionError, match="no table for 7 players; it has: 2 players"):
        vector_env(1, "arc_en_ciel", players=7)
    with pytest.raises(OptionError, match="has no table for 4 players in 2 teams"):
        vector_env(1, "arc_en_ciel", players=4, teams=2)
    with pytest.raises(EditionError, match="Did you mean 'arc_en_ciel'"):
        vector_env(1, "arc_en_cil")
