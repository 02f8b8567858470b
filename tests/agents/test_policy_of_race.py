"""Networks in the race: the same by kernels and by NumPy, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.agents.policy.network import InputSpec
from millebornes_env.agents.policy.writing import save_policy_files
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.errors import AgentError
from millebornes_env.games.wielerspel import rulebook
from millebornes_env.games.wielerspel.sections import ObservationSpec, sections
from tests.agents.choosing import chosen_by_state
from tests.agents.policies import network

GAMES = 12


def saved(folder: Path, env: VectorEnv, shown: ObservationSpec | None = None, **more: Any) -> Path:
    """A run folder of a network by chance for the table of the race."""
    shown = shown or ObservationSpec()
    outputs = int(env.single_action_space.n) + (more.get("value") is not None)
    layers = network((sections(env.rules, shown)[-1].stop, 16, 8, outputs))
    more = {"input_spec": InputSpec(shown, features=False)} | more
    save_policy_files(folder, layers, Table.of(env), **more)
    return folder


def race(players: int = 4, **options: Any) -> VectorEnv:
    return vector_env(GAMES, "arc_en_ciel", players=players, seed=5, **options)


@pytest.mark.parametrize(("shown_padded", "sees_padded"), [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("players", [3, 6])
def test_the_compiled_network_of_a_race_is_that_of_numpy(
    tmp_path: Path, players: int, shown_padded: bool, sees_padded: bool
) -> None:
    """Whatever the environment shows, the policy sees what it was trained on."""
    env = race(players, padded=shown_padded)
    shown = ObservationSpec(int(sees_padded))
    agent = agents.load(str(saved(tmp_path / "run", env, shown, value="win")), env)
    rules = for_kernels(rulebook.rules_array(env.rules))[0]
    observations, _ = env.reset()
    for number in range(120):
        rows, masks = observations["observation"], observations["action_mask"]
        actions = agent.act(rows, masks)
        if number % 12 == 0:
            inputs = agent.inputs(rows)
            states, expected = for_kernels(env.get_states()), np.zeros(inputs.shape[1], np.int8)
            for game in range(GAMES):
                seat = int(env.agent_selection[game])
                rulebook.write_observation(states[game], rules, seat, shown, expected)
                assert np.array_equal(inputs[game], expected)
            logits = np.where(masks != 0, agent.logits(inputs), -np.inf)
            assert np.array_equal(actions, logits.argmax(axis=1))
            assert np.array_equal(chosen_by_state(agent, env.rules, env.get_states()), actions)
        observations = env.step(actions if number % 3 else env.sample_actions()).observations


def test_a_sampling_policy_draws_as_it_says(tmp_path: Path) -> None:
    env = race()
    agent = agents.load(f"policy:{saved(tmp_path / 'run', env)},mode=sample", env, seed=1)
    observations, _ = env.reset()
    row, mask = observations["observation"][:1], observations["action_mask"][:1]
    count = 20_000
    drawn = agent.act(np.repeat(row, count, 0), np.repeat(mask, count, 0))
    frequencies = np.bincount(drawn, minlength=mask.shape[1]) / count
    assert frequencies == pytest.approx(agent.probabilities(row, mask)[0], abs=0.02)


def test_a_policy_says_which_game_it_plays(tmp_path: Path) -> None:
    folder = saved(tmp_path / "run", race())
    described = json.loads((folder / "policy.json").read_text())
    assert described["game"] == "wielerspel"
    assert described["view"] == {"padded": False}
    for other in (vector_env(1), vector_env(1, "parker", players=4)):
        with pytest.raises(AgentError, match=r"plays 'wielerspel', not 'millebornes': play it at a table"):
            agents.load(str(folder), other)
    with pytest.raises(AgentError, match=r"has players 4, but this table needs 3"):
        agents.load(str(folder), race(3))
    del described["game"]
    (folder / "policy.json").write_text(json.dumps(described))
    with pytest.raises(AgentError, match=r"plays 'millebornes', not 'wielerspel'"):
        agents.load(str(folder), race())
