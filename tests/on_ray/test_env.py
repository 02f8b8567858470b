"""RLlib's environment: the same games as `vector_env`, in RLlib's words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("ray")

from millebornes_env import vector_env
from millebornes_env.envs.rllib import RLlibEnv
from millebornes_env.errors import ActionError, CallError, IllegalActionError, OptionError

pytestmark = pytest.mark.ray

TABLES: list[dict[str, Any]] = [
    {},
    {"edition": "parker", "players": 4, "episode": "match", "reward": "win"},
    {"edition": "dutch", "players": 3},
    {"edition": "parker", "players": 6, "padded": True, "observe_rules": True},
    {"edition": "arc_en_ciel", "players": 3},
    {"edition": "variants-v1:train"},
]


def first_legal(observation: dict[str, Any]) -> int:
    return int(observation["action_mask"].argmax())


@pytest.mark.parametrize("options", TABLES, ids=str)
def test_it_is_game_0_of_the_vector_env(options: dict[str, Any]) -> None:
    env = RLlibEnv({**options, "scaled": False})
    games = vector_env(1, autoreset_mode="disabled", **options)
    for episode in range(2):
        observed, _ = env.reset(seed=7 if episode == 0 else None)
        seen, _ = games.reset(seed=7 if episode == 0 else None)
        over = False
        while not over:
            seat = int(games.agent_selection[0])
            ((agent, row),) = observed.items()
            assert agent == games.possible_agents[seat]
            assert env.observation_spaces[agent].contains(row)
            assert (row["observations"] == seen["observation"][0]).all()
            assert (row["action_mask"] == seen["action_mask"][0]).all()
            action = first_legal(row)
            observed, rewards, terminateds, truncateds, infos = env.step({agent: action})
            seen, paid, ended, _, of_games = games.step([action])
            assert list(rewards.values()) == paid[0].tolist()
            over = bool(ended[0])
            assert terminateds["__all__"] is over
            assert truncateds["__all__"] is False
        assert list(observed) == env.possible_agents
        assert all(terminateds.values())
        for seat, agent in enumerate(env.possible_agents):
            assert (observed[agent]["observations"] == of_games["final_obs"][0, seat]).all()
            assert observed[agent]["action_mask"].all()  # no action follows, so none is excluded
            assert infos[agent]["final_score"] == of_games["final_score"][0].tolist()


def test_numbers_are_scaled_to_0_to_1() -> None:
    env = RLlibEnv({"players": 3})
    observed, _ = env.reset(seed=1)
    ((agent, row),) = observed.items()
    assert env.observation_spaces[agent].contains(row)
    plain = RLlibEnv({"players": 3, "scaled": False})
    raw = plain.reset(seed=1)[0][agent]["observations"]
    highs = np.concatenate([np.full(one.size, max(one.high, 1)) for one in env.vector.observation_sections])
    np.testing.assert_allclose(row["observations"] * highs, raw, atol=1e-5)


def test_an_illegal_action_ends_the_episode_or_is_an_error() -> None:
    env = RLlibEnv()
    observed, _ = env.reset(seed=1)
    ((agent, row),) = observed.items()
    illegal = int(row["action_mask"].argmin())
    _, rewards, terminateds, _, _ = env.step({agent: illegal})
    assert rewards[agent] == -1.0
    assert terminateds["__all__"]
    with pytest.raises(CallError, match="the episode has ended: call reset"):
        env.step({agent: 0})
    strict = RLlibEnv({"illegal_action": "error"})
    strict.reset(seed=1)
    with pytest.raises(IllegalActionError, match="player_"):
        strict.step({agent: illegal})


def test_other_actions_than_the_one_asked_for_are_refused() -> None:
    env = RLlibEnv()
    with pytest.raises(CallError):
        env.step({"player_0": 0})
    ((agent, row),) = env.reset(seed=1)[0].items()
    other = next(name for name in env.possible_agents if name != agent)
    for wrong in ({other: 0}, {agent: first_legal(row), other: 0}, {}, None):
        with pytest.raises(OptionError, match=f"{agent} is to act"):
            env.step(wrong)  # type: ignore[arg-type]
    with pytest.raises(ActionError, match="whole number"):
        env.step({agent: 0.5})


def test_unknown_options_are_refused_with_those_there_are() -> None:
    with pytest.raises(OptionError, match=r"unexpected .* 'player'.*Did you mean 'players'\?"):
        RLlibEnv({"player": 3})
    with pytest.raises(OptionError, match="must be a dictionary"):
        RLlibEnv("parker")  # type: ignore[arg-type]


def test_rllibs_own_checker_passes() -> None:
    from ray.rllib.utils.pre_checks.env import check_multiagent_environments  # noqa: PLC0415

    check_multiagent_environments(RLlibEnv())
