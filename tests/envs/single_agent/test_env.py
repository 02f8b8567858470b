"""`gymnasium.make`: one learner's turns, and all that happens between them."""

from __future__ import annotations

import math
import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import FlattenObservation

from millebornes_env import vector_env
from millebornes_env.errors import ActionError, CallError, IllegalActionError
from tests.envs.single_agent.support import PARKER, RACE, Asked, any_legal, first_legal, naive, table

TABLES: list[tuple[str, list[str], dict[str, Any]]] = [
    (PARKER, ["greedy"], {}),
    (PARKER, ["greedy", "holder"], {"players": 3, "edition": "dujardin"}),
    (PARKER, ["greedy", "racer", "holder"], {"players": 4, "teams": 2, "episode": "match"}),
    (PARKER, ["greedy", "racer", "holder", "racer", "greedy"], {"players": 6}),
]


@pytest.mark.parametrize(
    ("env_id", "options"),
    [
        (PARKER, {"opponent": "greedy", "observe_mask": True}),
        (PARKER, {"scaled": True, "seat": 1, "episode": "match"}),
        (PARKER, {"players": 4, "teams": 2, "opponent": ["greedy"], "partner": "holder", "padded": True}),
        (RACE, {}),
        (RACE, {"players": 2, "scaled": True, "observe_mask": True}),
    ],
    ids=str,
)
def test_gymnasium_finds_no_fault(env_id: str, options: dict[str, Any]) -> None:
    """Its checker also tries illegal actions, and the whole of it warns of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(env_id, **options)
        check_env(env.unwrapped)
        env.reset(seed=1)
        for _ in range(3):  # the wrapper that `make` adds checks the first calls
            env.step(env.action_space.sample())
            env.reset()


@pytest.mark.parametrize(("env_id", "opponents", "options"), TABLES, ids=str)
@pytest.mark.parametrize("asked", [False, True])
def test_it_is_the_game_played_by_hand(
    env_id: str, opponents: list[str], options: dict[str, Any], asked: bool
) -> None:
    """Every observation, mask, reward and end; opponents that are asked play as those that are compiled."""
    others: list[Any] = [Asked(name, table(**options)) if asked else name for name in opponents]
    env = gymnasium.make(env_id, opponent=others, **options)
    observation, info = env.reset(seed=5)
    turns, ended_by_others = 150, 0
    for left, turn in zip(range(turns, 0, -1), naive(5, opponents, turns, **options), strict=True):
        assert (observation == turn.observation).all()
        assert (info["action_mask"] == turn.mask).all()
        assert info["seat"] == turn.seat
        action = any_legal(turn.mask, left)
        observation, reward, over, truncated, info = env.step(action)
        assert (reward, over, truncated) == (pytest.approx(turn.reward), turn.over, False)
        if over:
            ended_by_others += env.unwrapped.games.vector.games.states["seat"][0] != turn.seat
            observation, info = env.reset()
    assert ended_by_others > 0


def test_what_is_told_at_the_end() -> None:
    """The points are the rewards' in Mille Bornes, and the win goes to whoever has more of them."""
    env = gymnasium.make(PARKER, opponent="greedy", seat=1)
    _, info = env.reset(seed=2)
    won = set()
    for _ in range(12):
        over, total = False, 0.0
        while not over:
            assert math.isnan(info["won"])
            assert not info["final_score"].any()
            _, reward, over, _, info = env.step(first_legal(info["action_mask"]))
            total += float(reward)
        theirs, mine = info["final_score"].tolist()
        assert total == pytest.approx((mine - theirs) / 1000)
        assert info["won"] == (0.5 if mine == theirs else float(mine > theirs))
        assert info["action_mask"].all()  # nothing is excluded where an action does not count
        assert info["illegal_action"] is False
        won.add(info["won"])
        _, info = env.reset()
        assert info["seat"] == 1
    assert won == {0.0, 1.0}


def test_an_illegal_action_ends_the_episode() -> None:
    env = gymnasium.make(PARKER, opponent="greedy")
    _, info = env.reset(seed=1)
    illegal = int(info["action_mask"].argmin())
    _, reward, over, _, info = env.step(illegal)
    assert (reward, over, info["illegal_action"], info["won"]) == (-1.0, True, True, 0.0)
    with pytest.raises(CallError, match=r"the episode has ended: call reset\(\) first"):
        env.step(0)
    env.reset()
    assert env.step(-1)[2] is True
    env.reset()
    assert env.step(10**30)[4]["illegal_action"] is True


def test_an_illegal_action_can_be_an_error_that_changes_nothing() -> None:
    env = gymnasium.make(PARKER, opponent="greedy", illegal_action="error")
    observation, info = env.reset(seed=1)
    with pytest.raises(IllegalActionError, match=r"player_0: .* is not legal: .* Legal now:"):
        env.step(int(info["action_mask"].argmin()))
    with pytest.raises(ActionError, match="player_0: there is no action -1"):
        env.step(-1)
    with pytest.raises(ActionError, match="there is no action 99"):
        env.step(99)
    after = env.step(first_legal(info["action_mask"]))[0]
    other = gymnasium.make(PARKER, opponent="greedy")
    assert (other.reset(seed=1)[0] == observation).all()
    assert (other.step(first_legal(info["action_mask"]))[0] == after).all()


def test_wrong_calls() -> None:
    env = gymnasium.make(PARKER).unwrapped
    with pytest.raises(CallError, match=r"reset\(\) has not been called"):
        env.step(0)
    env.reset()
    for action in (1.5, None, [1, 2], True):
        with pytest.raises(ActionError, match="it must be a whole number"):
            env.step(action)
    with pytest.raises(ValueError, match="seed is -1"):
        env.reset(seed=-1)
    env.close()
    env.close()
    with pytest.raises(CallError):
        env.step(0)
    with pytest.raises(CallError):
        env.reset()


def test_an_episode_can_begin_at_a_position() -> None:
    env = gymnasium.make(PARKER, opponent="greedy", seat=0)
    position = "hand 0: right_of_way 25\nbattle 0: roll\nto act: seat 0, play"
    _, info = env.reset(seed=1, options={"positions": position})
    assert "Right of way" in " ".join(env.unwrapped.legal_actions().values())
    assert env.step(first_legal(info["action_mask"]))[2] is False


def test_a_seed_is_all_that_chance_depends_on() -> None:
    """`random` draws from the games' own numbers; a second episode follows from the seed, too."""
    shown = []
    for _ in range(2):
        env = gymnasium.make(PARKER, opponent="random")
        rows = []
        observation, info = env.reset(seed=11)
        for turn in range(60):
            rows.append(observation)
            observation, _, over, _, info = env.step(any_legal(info["action_mask"], turn))
            if over:
                observation, info = env.reset()
        shown.append(np.array(rows))
    assert (shown[0] == shown[1]).all()
    assert (np.array(rows[0]) != gymnasium.make(PARKER).reset(seed=12)[0]).any()


def test_observations_scaled_and_with_the_mask() -> None:
    plain, both = gymnasium.make(PARKER), gymnasium.make(PARKER, observe_mask=True, scaled=True)
    numbers, info = plain.reset(seed=3)
    seen, _ = both.reset(seed=3)
    highs = np.concatenate([np.full(s.size, s.high) for s in vector_env(1).observation_sections])
    np.testing.assert_allclose(seen["observation"] * np.maximum(highs, 1), numbers, rtol=1e-6)
    assert (seen["action_mask"] == info["action_mask"]).all()
    assert seen in both.observation_space
    flat = FlattenObservation(both)
    assert flat.reset(seed=3)[0].shape == (len(numbers) + len(info["action_mask"]),)


def test_masks_reach_maskable_ppo() -> None:
    """The learner of sb3-contrib asks for `action_masks`: it never ends an episode by an illegal action."""
    ppo = pytest.importorskip("sb3_contrib")
    env = gymnasium.make(PARKER, opponent="greedy", scaled=True)
    seen: list[bool] = []
    step = env.unwrapped.step

    def watched(action: Any) -> Any:
        told = step(action)
        seen.append(told[4]["illegal_action"])
        return told

    env.unwrapped.step = watched  # type: ignore[method-assign]
    ppo.MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=64, n_epochs=1, seed=1).learn(128)
    assert len(seen) >= 128
    assert not any(seen)
