"""Shared wins: their rewards and shares, through every interface (E53)."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, millebornes_v0, vector_env
from millebornes_env.games.millebornes.actions import discard_action
from millebornes_env.games.millebornes.cards import Card
from tests.each import each
from tests.envs.playing import MODES, sb3
from tests.support import Position

Km = tuple[int, ...]
LAST_DISCARD = discard_action(Card.END_OF_LIMIT.value)

SHARED: dict[Km, list[float]] = {
    (900, 900, 100): [0.5, 0.5, 0],
    (100, 900, 900): [0, 0.5, 0.5],
    (900, 875, 100): [1, 0, 0],
    (300, 300, 300): [1 / 3, 1 / 3, 1 / 3],
    (500, 500): [0.5, 0.5],
    (25, 700, 700, 0): [0, 0.5, 0.5, 0],
    (700, 25, 700, 700): [1 / 3, 0, 1 / 3, 1 / 3],
    (0, 0, 0, 0): [0.25, 0.25, 0.25, 0.25],
}
"""Km of the teams, and each team's share of the win."""

PAID: dict[Km, list[float]] = {
    (900, 900, 100): [1 / 4, 1 / 4, -1 / 2],
    (100, 900, 900): [-1 / 2, 1 / 4, 1 / 4],
    (900, 875, 100): [1, -1 / 2, -1 / 2],
    (300, 300, 300): [0, 0, 0],
    (500, 500): [0, 0],
    (25, 700, 700, 0): [-1 / 3, 1 / 3, 1 / 3, -1 / 3],
    (700, 25, 700, 700): [1 / 9, -1 / 3, 1 / 9, 1 / 9],
    (0, 0, 0, 0): [0, 0, 0, 0],
}
"""The reward of each team, written out by hand."""


def before_the_end(km: Km, name: str, seats: int = 1) -> np.ndarray:
    """A game in which the last card of all is about to be discarded, by seat 0."""
    position = Position(players=len(km) * seats, edition=name, teams=len(km)).empty_hands()
    for team, length in enumerate(km):
        position.km(team, length)
    return np.asarray(position.draw_pile(0).hand(0, "end_of_limit").games.states)


def ended(km: Km, name: str, seats: int = 1, **options: Any) -> tuple[VectorEnv, Any]:
    """An environment in which such a game has just ended, and what the step returned."""
    env = vector_env(1, name, players=len(km) * seats, teams=len(km), **options)
    env.reset(seed=1)
    env.set_states(before_the_end(km, name, seats))
    step = env.step([LAST_DISCARD])
    assert step.terminations.tolist() == [True]
    return env, step


@each(
    "km, name, reward, episode",
    itertools.product(SHARED, ["dujardin", "dujardin_2014"], ["points", "win"], ["round", "match"]),
)
def test_without_points(km: Km, name: str, reward: str, episode: str) -> None:
    env, step = ended(km, name, reward=reward, episode=episode)
    assert step.rewards[0].tolist() == pytest.approx(PAID[km])
    assert step.rewards.sum() == pytest.approx(0, abs=1e-6)
    assert env.games.win_shares().tolist() == [pytest.approx(SHARED[km])]
    alone = SHARED[km].index(1) if 1 in SHARED[km] else -1
    assert step.infos["final_winner"].tolist() == [alone]


def test_partners_are_paid_alike() -> None:
    env, step = ended((500, 0, 500), "dujardin", seats=2)
    assert step.rewards[0].tolist() == pytest.approx(2 * [1 / 4, -1 / 2, 1 / 4])
    assert env.games.win_shares().tolist() == [[0.5, 0, 0.5]]


@each("mode", MODES)
def test_in_every_mode_of_autoreset(mode: str) -> None:
    env, step = ended((900, 900, 100), "dujardin", autoreset_mode=mode)
    assert step.rewards[0].tolist() == pytest.approx([1 / 4, 1 / 4, -1 / 2])
    assert env.games.win_shares().tolist() == [[0.5, 0.5, 0]]


@each("km, winner", [((300, 300, 100), -1), ((300, 100, 0), 0), ((0, 0, 0), -1)])
def test_a_round_with_points(km: Km, winner: int) -> None:
    """Equal points share the round; the reward by points does not ask who has won."""
    shares = [(length == max(km)) / km.count(max(km)) for length in km]
    env, step = ended(km, "parker", reward="win")
    assert step.infos["final_winner"].tolist() == [winner]
    assert step.rewards[0].tolist() == pytest.approx([(3 * share - 1) / 2 for share in shares])
    assert env.games.win_shares().tolist() == [pytest.approx(shares)]
    env, step = ended(km, "parker", reward="points")
    means = [(own - (sum(km) - own) / 2) / 1000 for own in km]
    assert step.rewards[0].tolist() == pytest.approx(means)
    assert env.games.win_shares().tolist() == [pytest.approx(shares)]


def test_a_match_with_points_goes_on_after_a_shared_round() -> None:
    env = vector_env(1, players=3, episode="match", reward="win")
    env.reset(seed=1)
    env.set_states(before_the_end((300, 300, 100), "parker"))
    step = env.step([LAST_DISCARD])
    assert (step.terminations.tolist(), step.rewards.tolist()) == ([False], [[0, 0, 0]])
    assert env.games.win_shares().tolist() == [[0, 0, 0]]


def test_the_shares_of_some_games() -> None:
    env = vector_env(3, "dujardin", players=3)
    env.reset(seed=1)
    states = env.get_states()
    states[0], states[2] = (before_the_end(km, "dujardin")[0] for km in ((500, 500, 0), (0, 500, 25)))
    env.set_states(states)
    env.step([LAST_DISCARD, -1, LAST_DISCARD])
    assert env.games.win_shares().tolist() == [[0.5, 0.5, 0], [0, 0, 0], [0, 1, 0]]
    assert env.games.win_shares([2, 0]).tolist() == [[0, 1, 0], [0.5, 0.5, 0]]


@each(
    "name, episode, km",
    itertools.product(["dujardin", "parker"], ["round", "match"], [(500, 500, 0), (500, 400, 0)]),
)
def test_nobody_wins_what_an_illegal_action_ended(name: str, episode: str, km: Km) -> None:
    """Neither the offender nor who is nearest."""
    env = vector_env(2, name, players=3, episode=episode, illegal_action="terminate")
    env.reset(seed=1)
    states = env.get_states()
    states[:] = before_the_end(km, name)
    env.set_states(states)
    step = env.step([LAST_DISCARD - 1, -1])
    assert step.terminations.tolist() == [True, False]
    assert step.infos["final_winner"][0] == -1
    assert env.games.win_shares().tolist() == [[0, 0, 0], [0, 0, 0]]


def test_one_agent_at_a_time() -> None:
    env = millebornes_v0.env(edition="dujardin", players=3)
    env.reset(seed=1)
    env.reset(
        options={
            "positions": "hand 0: end_of_limit\nstream 0: none\nstream 1: none\nstream 2: none\n"
            "distance 0: 2x100\ndistance 1: 4x50\ndistance 2: 25\ndiscard pile: ..."
        }
    )
    env.step(LAST_DISCARD)
    assert list(env.rewards.values()) == pytest.approx([1 / 4, 1 / 4, -1 / 2])


@each("km, won", [((500, 500, 0), 0.5), ((0, 500, 500), 0.0), ((500, 0, 25), 1.0)])
def test_stable_baselines3(km: Km, won: float) -> None:
    env = sb3(1, edition="dujardin", players=3, seat=0, seed=1)
    env.reset()
    env.envs.games.vector.set_states(before_the_end(km, "dujardin"))
    _, rewards, dones, infos = env.step(np.array([LAST_DISCARD]))
    assert (dones.tolist(), infos[0]["won"]) == ([True], won)
    assert rewards.tolist() == pytest.approx([(3 * won - 1) / 2])
