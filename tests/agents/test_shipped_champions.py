"""The policies that come with the project: they are there, small, and play as their cards say."""

from __future__ import annotations

import numpy as np
import pytest

from millebornes_env import agents, editions, vector_env
from millebornes_env.agents.champion import CHAMPIONS, champions_of
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.arena.gauntlet import Score
from millebornes_env.arena.match import MatchConfig, play

TWO_MEGABYTES = 2_000_000


@pytest.mark.parametrize("which", champions_of("millebornes"))
def test_it_is_small_and_has_a_card(which: str) -> None:
    folder = CHAMPIONS / which
    assert sum(path.stat().st_size for path in folder.iterdir()) < TWO_MEGABYTES
    card = (folder / "README.md").read_text(encoding="utf-8")
    for word in ("--seed", "minutes", "arnold", "## Limits"):
        assert word in card
    config = MatchConfig("parker", 2)
    agent = agents.make(f"champion:which={which}", config.table())
    assert isinstance(agent, PolicyAgent)
    assert agent.value == "points"
    weights = sum(weight.size + bias.size for weight, bias in agent.layers)
    assert f"{weights:,} weights" in card


@pytest.mark.parametrize("name", editions())
def test_it_beats_greedy_in_every_edition(name: str) -> None:
    config = MatchConfig(name, 2, seed=11)
    champion, greedy = (
        agents.make(spec, config.table(), seed) for seed, spec in enumerate(("champion", "greedy"))
    )
    score = Score.of(play([champion, greedy], config, 300))
    assert score.win_rate - 3 * score.win_error > 0.55


def test_it_beats_arnold() -> None:
    config = MatchConfig("parker", 2, seed=12)
    champion, arnold = (
        agents.make(spec, config.table(), seed) for seed, spec in enumerate(("champion", "arnold"))
    )
    score = Score.of(play([champion, arnold], config, 1500))
    assert score.win_rate - 2 * score.win_error > 0.53


def test_search_looks_ahead_with_it() -> None:
    env = vector_env(3, seed=5)
    observations, _ = env.reset()
    searcher = agents.load("champion+search:rollouts=4", env)
    for _ in range(6):
        mask = observations["action_mask"]
        chosen = searcher.act(observations["observation"], mask)
        assert (mask[np.arange(3), chosen] == 1).all()
        observations = env.step(chosen).observations
