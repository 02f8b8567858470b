"""Redealing what a seat cannot see, through the face of the vector environment."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env


@pytest.mark.parametrize("players", [2, 3, 4, 6])
def test_the_seat_sees_the_same_in_other_games(players: int) -> None:
    env = vector_env(40, players=players, seed=1)
    env.reset()
    for _ in range(30):
        env.step(env.sample_actions())
    before = env.get_states()
    for seats in (0, players - 1, env.agent_selection.copy()):
        redealt = env.determinize(seats, seed=5)
        assert np.array_equal(env.get_states(), before)
        other = vector_env(40, players=players, seed=1)
        other.reset()
        other.set_states(redealt)
        assert np.array_equal(other.observe(seats), env.observe(seats))
        assert not np.array_equal(redealt["hand"], before["hand"])
        assert not np.array_equal(redealt["deck"], before["deck"])
        assert np.array_equal(redealt, env.determinize(seats, seed=5))
        assert not np.array_equal(redealt, env.determinize(seats, seed=6))


def test_later_rounds_of_a_match_are_hidden_too() -> None:
    def next_hands(env: VectorEnv) -> list[list[int]]:
        """Return both hands after the next deal."""
        begun = int(env.get_states()["round_number"][0])
        while (state := env.get_states()[0])["round_number"] == begun:
            env.step(np.flatnonzero(env.games.buffers.action_mask[0])[:1])
        hands: list[list[int]] = state["hand"][:2].tolist()
        return hands

    env = vector_env(1, episode="match", seed=1)
    env.reset()
    imagined = []
    for seed in (1, 2):
        other = env.clone()
        other.set_states(env.determinize(env.agent_selection, seed=seed))
        imagined.append(next_hands(other))
    assert imagined[0] != imagined[1]
    assert next_hands(env) not in imagined


def test_a_game_keeps_the_sheet_that_it_drew() -> None:
    env = vector_env(6, ["parker", "dujardin", "winning_moves"], seed=1)
    env.reset()
    other = env.clone()
    other.set_states(env.determinize(env.agent_selection))
    assert np.array_equal(other.games.game_rules.sheet, env.games.game_rules.sheet)


def test_games_alike_are_redealt_differently() -> None:
    env = vector_env(2, seed=1)
    env.reset()
    env.set_states(np.repeat(env.get_states()[:1], 2))
    redealt = env.determinize(0)
    assert not np.array_equal(redealt[0]["deck"], redealt[1]["deck"])
