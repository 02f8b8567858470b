"""Games one decision at a time: the same as those played at full speed, and open to whoever looks on."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env.agents import make
from millebornes_env.arena.batch import NO_ROLE
from millebornes_env.arena.dealing import dealt_batch
from millebornes_env.arena.match import MatchConfig, agent_seed, by_deal, play
from millebornes_env.arena.stepping import SteppedGames

DEALS = 20
TABLES = [
    MatchConfig(episode="round", seed=4),
    MatchConfig("dujardin", 6, 3, seed=5),
    MatchConfig("arc_en_ciel", 4, seed=6),
]


def begun(config: MatchConfig, *specs: str) -> SteppedGames:
    """Dealt games of these agents, seeded as `play` does."""
    roles = [make(spec, config.table(), agent_seed(config.seed, role, 0)) for role, spec in enumerate(specs)]
    games = SteppedGames(dealt_batch(config, 0, DEALS), roles, config)
    games.begin()
    return games


@pytest.mark.parametrize("config", TABLES, ids=lambda config: f"{config.edition}-{config.players}")
@pytest.mark.parametrize(
    "other", ["random", "tests.arena.players:SlowFirstAgent"], ids=["compiled", "not compiled"]
)
def test_they_are_the_games_that_are_played(config: MatchConfig, other: str) -> None:
    teams = config.rules.teams
    specs = ["champion", *[other] * (teams - 1)]
    games, steps = begun(config, *specs), 0
    while games.batch.live.any():
        games.choose()
        left = games.apply_actions()
        assert left == games.batch.live.sum()
        steps += 1
    expected = play(specs, config, DEALS)
    assert np.array_equal(by_deal([games.batch], "points", teams), expected.points)
    assert np.array_equal(by_deal([games.batch], "shares", teams), expected.wins)
    assert steps >= expected.decisions.max()


def test_they_can_be_stopped_in_between() -> None:
    """A caller who ends a game finds it as it was; the others go on."""
    games = begun(TABLES[0], "champion", "random")
    for _ in range(5):
        games.choose()
        games.apply_actions()
    games.batch.live[0] = False
    before, chosen = games.batch.states[0].copy(), games.actions[0]
    while games.batch.live.any():
        games.choose()
        games.apply_actions()
    assert games.batch.states[0] == before
    assert games.actions[0] == chosen
    assert (games.batch.rounds[1:] == 1).all()


def test_what_is_illegal_ends_its_game_and_is_noted() -> None:
    games = begun(TABLES[0], "champion", "random")
    actions = games.choose()
    actions[3] = games.batch.states["hand"].shape[-1] + 1000
    assert games.apply_actions() == len(actions) - 1
    assert np.flatnonzero(games.batch.faults[:, 0] != NO_ROLE).tolist() == [3]
