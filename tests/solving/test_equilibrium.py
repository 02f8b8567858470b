"""`equilibrium`: it finds its way, plays what it was solved to play, and gives nothing away."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from millebornes_env import agents, vector_env
from millebornes_env.arena.match import MatchConfig, play
from millebornes_env.errors import AgentError, SolvingError
from millebornes_env.solving.as_policy import policy_of
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.equilibrium.agent import FOLDER
from millebornes_env.solving.values import judge

SHIPPED = sorted(path.stem for path in FOLDER.glob("*.npz"))
MOST_NASH_CONV = {"mini7-v0": 0.01, "mini8-v0": 0.01, "mini10-v0": 0.1}


def test_seven_eight_and_ten_cards_are_shipped() -> None:
    assert sorted(MOST_NASH_CONV) == SHIPPED
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in SHIPPED:
        assert f"| `{name}` |" in card


@pytest.mark.parametrize("name", ["mini7-v0", "mini8-v0", pytest.param("mini10-v0", marks=pytest.mark.slow)])
def test_what_is_shipped_is_near_an_equilibrium(name: str) -> None:
    """Judged exactly."""
    game = solvable(name)
    assert judge(game, policy_of("equilibrium", game)).nash_conv < MOST_NASH_CONV[name]


@pytest.mark.parametrize("name", ["mini7-v0", "mini8-v0"])
def test_it_always_finds_its_place_and_wins_the_value_of_the_game(name: str) -> None:
    """In an environment that begins new rounds by itself; within four standard errors."""
    env = vector_env(256, name, players=2, seed=3)
    agent = agents.load("equilibrium", env, seed=1)
    seen, _ = env.reset()
    first = env.agent_selection.copy()
    won = []
    for _ in range(60):
        slots = np.arange(256) * 2 + env.agent_selection
        chosen = agent.act(seen["observation"], seen["action_mask"], slots)
        assert seen["action_mask"][np.arange(256), chosen].all()
        seen, _, ended, _, info = env.step(chosen)
        scores = info["final_score"].astype(float) if "final_score" in info else None
        for game in np.flatnonzero(ended):
            won.append(scores[game, first[game]] - scores[game, 1 - first[game]])
            first[game] = env.agent_selection[game]
    assert agent.num_unknown == 0
    assert len(won) > 1000
    error = np.std(won) / np.sqrt(len(won))
    assert abs(np.mean(won) - float(agent.policy.about["value"])) < 4 * error


def test_it_plays_in_the_arena() -> None:
    """Against any legal play it wins."""
    outcome = play(["equilibrium", "random"], MatchConfig("mini7-v0", 2, episode="round", seed=4), 100)
    assert outcome.points_per_episode().mean > 100


def test_in_the_middle_of_a_round_it_plays_on_by_chance() -> None:
    """It cannot know how the round came there: it does something legal, and counts it."""
    env = vector_env(64, "mini7", players=2, seed=5)
    seen, _ = env.reset()
    for _ in range(4):
        seen, *_ = env.step(env.sample_actions())
    agent = agents.load("equilibrium", env)
    chosen = agent.act(seen["observation"], seen["action_mask"])
    assert seen["action_mask"][np.arange(64), chosen].all()
    assert agent.num_unknown > 0


def test_tables_and_files_that_it_cannot_play(tmp_path: Path) -> None:
    with pytest.raises(AgentError, match=r"no policy for 'parker'; it has: mini10-v0, mini7-v0"):
        agents.load("equilibrium", vector_env(1, "parker"))
    path = tmp_path / "mine.npz"
    path.write_bytes((FOLDER / "mini8-v0.npz").read_bytes())
    with pytest.raises(SolvingError, match="'mini8-v0', and not of 'mini7-v0'"):
        agents.load(f"equilibrium:file={path}", vector_env(1, "mini7"))
    agents.load(f"equilibrium:file={path}", vector_env(1, "mini8"))
