"""No honest agent peeks: whatever the hidden cards are, it chooses the same, with the same random numbers.

Every agent that has a name is tried, but for `human`, which gets observations only and cannot peek; `policy`
with networks by chance, in two views. (`check_agent` tries them at Parker's tables.)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.agents.compiled.agent import MEMORY
from millebornes_env.agents.protocol import Agent, StateAgent, is_compiled, sees_hidden_cards
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC, ObservationSpec
from millebornes_env.games.millebornes.state import StateArray
from tests.agents.choosing import chosen_by_state
from tests.agents.policies import network_for, write_run
from tests.each import each

POLICIES = {
    "policy:usual": DEFAULT_SPEC,
    "policy:features": DEFAULT_SPEC,
    "policy:padded,mode=sample": ObservationSpec(rules=1, padded=1),
}
"""They are in folders of these names."""
SPECS = [
    *sorted(set(agents.names("millebornes")) - {"human", "search", "policy", "champion", "equilibrium"}),
    *POLICIES,
    *("arnold:debian,carry_need", "arnold:right_of_way", "strategist:score=no"),
    *("search:rollout=greedy,rollouts=20,z=0", "search:rollout=arnold,rollouts=8"),
]
TABLES = [("parker", 2), ("parker", 3), ("parker", 4), ("dujardin", 8), ("winning_moves", 6)]
GAMES = 16


def choices(
    spec: str, env: VectorEnv, states: StateArray, memories: np.ndarray, draws: np.ndarray
) -> np.ndarray:
    """Return the choices of a new agent in those games; `memories` are overwritten."""
    agent: Agent = agents.load(spec, env, seed=5)
    seats = states["seat"].astype(np.int32)
    if isinstance(agent, StateAgent):
        return agent.act_on(states, seats, np.arange(len(states)))
    assert is_compiled(agent), "an agent of a kind that this test does not know"
    return chosen_by_state(agent, env.rules, states, draws, memories)


@pytest.mark.parametrize("spec", SPECS)
@each(("name", "players"), TABLES)
def test_the_hidden_cards_change_no_choice(
    spec: str, name: str, players: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = 6 if spec.startswith("search") else GAMES
    env = vector_env(games, name, players=players, episode="match", seed=2)
    if spec in POLICIES:
        monkeypatch.chdir(tmp_path)
        shown = POLICIES[spec]
        folder = Path(spec.removeprefix("policy:").split(",")[0])
        features = "features" in spec
        layers = network_for(env, (64,), shown, features=features)
        write_run(folder, env, layers, shown=shown, features=features)
    assert not sees_hidden_cards(agents.load(spec, env))
    env.reset()
    rng = np.random.default_rng(3)
    memories = np.zeros((games, players, MEMORY), np.int16)
    for turn in range(8 if spec.startswith("search") else 30):
        states = env.get_states()
        seats = states["seat"].astype(np.int64)
        own = memories[np.arange(games), seats]
        draws = rng.integers(2**32, size=games)
        seen, redealt = own.copy(), own.copy()
        chosen = choices(spec, env, states, seen, draws)
        other = env.determinize(seats, seed=turn)
        assert not np.array_equal(other["hand"], states["hand"])
        assert np.array_equal(choices(spec, env, other, redealt, draws), chosen)
        assert np.array_equal(redealt, seen), "it remembers what it cannot know"
        memories[np.arange(games), seats] = seen
        env.step(chosen)
        if spec.startswith("search"):  # so that its few decisions are from all over
            for _ in range(3):
                env.step(env.sample_actions())
