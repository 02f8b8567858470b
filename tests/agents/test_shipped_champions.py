"""The policies that come with the project: they are there, small, and play as their cards say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from millebornes_env import agents, editions, vector_env
from millebornes_env.agents.champion import CHAMPIONS, champions_of
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.arena.gauntlet import Score
from millebornes_env.arena.match import MatchConfig, play

TWO_MEGABYTES = 2_000_000
THREE_MEGABYTES = 3_000_000
RACE = MatchConfig("arc_en_ciel", 4, seed=13)
TABLES = {"parker-2": MatchConfig("parker", 2), "all-2": MatchConfig("parker", 2), "arc_en_ciel-4": RACE}


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def test_all_are_listed_here_and_together_small() -> None:
    folders = {path.name: size_of(path) for path in CHAMPIONS.iterdir()}
    assert set(folders) == set(TABLES)
    assert sum(folders.values()) < THREE_MEGABYTES


@pytest.mark.parametrize("which", TABLES)
def test_it_is_small_and_has_a_card(which: str) -> None:
    folder, config = CHAMPIONS / which, TABLES[which]
    assert size_of(folder) < TWO_MEGABYTES
    assert which in champions_of(config.game.name)
    card = (folder / "README.md").read_text(encoding="utf-8")
    strongest = "bidder" if config is RACE else "arnold"
    for word in ("--seed", "minutes", strongest, "## Limits"):
        assert word in card
    agent = agents.make(f"champion:which={which}", config.table())
    assert isinstance(agent, PolicyAgent)
    assert agent.value == ("win" if config is RACE else "points")
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


def test_in_the_race_it_beats_three_bidders() -> None:
    """Even is one race in four."""
    champion, bidder = (
        agents.make(spec, RACE.table(), seed) for seed, spec in enumerate(("champion", "bidder"))
    )
    score = Score.of(play([champion, bidder], RACE, 60))
    assert score.matches == 240
    assert score.win_rate - 2 * score.win_error > 0.35


def test_in_the_race_it_plays_from_observations() -> None:
    env = vector_env(20, "arc_en_ciel", players=4, seed=6)
    observations, _ = env.reset()
    champion, games = agents.load("champion", env), np.arange(20)
    for _ in range(100):
        mask = observations["action_mask"]
        chosen = champion.act(observations["observation"], mask)
        assert (mask[games, chosen] == 1).all()
        observations = env.step(chosen).observations


def test_search_looks_ahead_with_it() -> None:
    env = vector_env(3, seed=5)
    observations, _ = env.reset()
    searcher = agents.load("champion+search:rollouts=4", env)
    for _ in range(6):
        mask = observations["action_mask"]
        chosen = searcher.act(observations["observation"], mask)
        assert (mask[np.arange(3), chosen] == 1).all()
        observations = env.step(chosen).observations
