"""Every game pays a share of a win by one rule, and says who has what share."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env import vector_env
from millebornes_env.engine.kernels import SKIP
from millebornes_env.engine.numba.compiling import plain
from millebornes_env.engine.rewards import reward_of_share
from tests.each import each


@each(
    ("share", "teams", "reward"),
    [(1, 2, 1), (0, 2, -1), (0.5, 2, 0), (1, 4, 1), (0, 4, -1 / 3), (0.5, 4, 1 / 3), (0.25, 4, 0)],
)
def test_what_a_share_pays(share: float, teams: int, reward: float) -> None:
    assert plain(reward_of_share)(share, teams) == pytest.approx(reward)


@each("teams", range(2, 9))
def test_all_shares_together_pay_nothing(teams: int) -> None:
    for sharers in range(1, teams + 1):
        shares = [1 / sharers] * sharers + [0.0] * (teams - sharers)
        assert sum(plain(reward_of_share)(share, teams) for share in shares) == pytest.approx(0)


@each(
    ("edition", "players", "teams"),
    [("parker", 3, 3), ("dujardin_2014", 4, 2), ("arc_en_ciel", 2, 2), ("arc_en_ciel", 5, 5)],
)
def test_both_games_pay_by_the_share_that_they_say(edition: str, players: int, teams: int) -> None:
    env = vector_env(
        6, edition, players=players, teams=teams, reward="win", autoreset_mode="disabled", seed=2
    )
    env.reset()
    rewards = np.zeros((6, players), np.float32)
    rulebook, record = env.game.module(), env.game.module().rules_array(env.rules)[0]
    while (actions := env.sample_actions()).max() != SKIP:
        rewards += env.step(actions).rewards
    win_share, episode = plain(rulebook.win_share), env.settings.episode
    for game, state in enumerate(env.get_states().view(np.recarray)):
        shares = [win_share(state, record, episode, team) for team in range(teams)]
        assert sum(shares) == pytest.approx(1)
        paid = [plain(reward_of_share)(shares[seat % teams], teams) for seat in range(players)]
        assert rewards[game].tolist() == pytest.approx(paid)
