"""`gymnasium.make_vec`: many learners at once, in Gymnasium's words for what follows an end."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
import pytest
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import RecordEpisodeStatistics

from millebornes_env.errors import ActionError, CallError, IllegalActionError, OptionError
from tests.envs.single_agent.support import PARKER, RACE, any_legal

GAMES = 5


def make(env_id: str = PARKER, **options: Any) -> Any:
    given = {"num_envs": GAMES, **({"opponent": "greedy"} if env_id == PARKER else {}), **options}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return gymnasium.make_vec(env_id, **given)


def actions_for(masks: npt.NDArray[np.int8], turn: int) -> npt.NDArray[np.int64]:
    return np.array([any_legal(mask, turn) for mask in masks])


@pytest.mark.parametrize("env_id", [PARKER, RACE])
def test_a_row_is_what_a_single_environment_shows(env_id: str) -> None:
    """Game 0 of a batch is the game of `gymnasium.make`, step by step, over several episodes."""
    one = gymnasium.make(env_id, **({"opponent": "greedy"} if env_id == PARKER else {}))
    many = make(env_id)
    observation, info = one.reset(seed=6)
    rows, infos = many.reset(seed=6)
    ends = 0
    for turn in range(120):
        assert (rows[0] == observation).all()
        assert (infos["action_mask"][0] == info["action_mask"]).all()
        assert infos["seat"][0] == info["seat"]
        rows, rewards, over, truncated, infos = many.step(actions_for(infos["action_mask"], turn))
        observation, reward, ended, _, info = one.step(any_legal(info["action_mask"], turn))
        assert (rewards[0], over[0], truncated[0]) == (pytest.approx(reward), ended, False)
        if ended:
            ends += 1
            assert infos["_final_obs"][0]
            assert (infos["final_obs"][0] == observation).all()
            for name in ("won", "seat", "illegal_action"):
                assert infos["final_info"][name][0] == info[name]
                assert infos["final_info"][f"_{name}"][0]
            assert (infos["final_info"]["final_score"][0] == info["final_score"]).all()
            observation, info = one.reset()
    assert ends >= 2


def test_shapes_and_kinds_are_gymnasiums() -> None:
    env = make(scaled=True)
    assert isinstance(env, gymnasium.vector.VectorEnv)
    assert env.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert env.spec.id == PARKER.partition(":")[2]
    observations, infos = env.reset(seed=1)
    assert observations in env.observation_space
    assert infos["action_mask"].shape == (GAMES, env.single_action_space.n)
    observations, rewards, over, truncated, infos = env.step(actions_for(infos["action_mask"], 0))
    assert observations in env.observation_space
    assert (rewards.dtype, over.dtype, truncated.dtype) == (np.float64, np.bool_, np.bool_)
    assert rewards.shape == over.shape == truncated.shape == (GAMES,)
    assert env.action_space.sample() in env.action_space


def test_what_a_step_returns_is_the_callers() -> None:
    env, live = make(), make(copy=False)
    kept, infos = env.reset(seed=1)
    before = kept.copy(), infos["action_mask"].copy()
    shown, _ = live.reset(seed=1)
    step = env.step(actions_for(infos["action_mask"], 0))
    assert not np.shares_memory(step[0], kept)
    assert (kept == before[0]).all()
    assert (infos["action_mask"] == before[1]).all()
    live.step(actions_for(before[1], 0))
    assert (shown == step[0]).all()  # overwritten


@pytest.mark.parametrize("env_id", [PARKER, RACE])
def test_the_three_modes_play_the_same_episodes(env_id: str) -> None:
    """Observations, rewards and infos of each game are the same; only their timing differs."""
    assert episodes(env_id, "same_step") == episodes(env_id, "next_step") == episodes(env_id, "disabled")


def episodes(env_id: str, mode: str) -> list[list[Any]]:
    """Return each learner's observations and rewards in its first three episodes."""
    env = make(env_id, autoreset_mode=mode)
    observations, infos = env.reset(seed=9)
    told: list[list[Any]] = [[] for _ in range(GAMES)]
    turns, ends, dead = [0] * GAMES, [0] * GAMES, np.zeros(GAMES, bool)
    while min(ends) < 3:
        actions = np.array(
            [any_legal(mask, turn) for mask, turn in zip(infos["action_mask"], turns, strict=True)]
        )
        seen, was_dead = observations, dead
        if mode == "next_step":
            assert (infos["action_mask"][dead] == 1).all()
        observations, rewards, over, _, infos = env.step(actions)
        for game in range(GAMES):
            if was_dead[game]:
                assert (rewards[game], over[game]) == (0.0, False)
                continue
            if ends[game] < 3:
                told[game].append((seen[game].tobytes(), int(actions[game]), float(rewards[game])))
            turns[game] += 1
            if over[game]:
                final = infos["final_obs"][game] if mode == "same_step" else observations[game]
                end = infos["final_info"] if mode == "same_step" else infos
                assert end["_won"][game]
                if ends[game] < 3:
                    told[game].append(
                        (final.tobytes(), float(end["won"][game]), end["final_score"][game].tolist())
                    )
                ends[game] += 1
        dead = over if mode == "next_step" else dead
        if mode == "disabled" and over.any():
            fresh, infos = env.reset(options={"reset_mask": over})
            assert (fresh[~over] == observations[~over]).all()
            observations = fresh
    return told


def test_a_game_that_is_over_waits_for_a_reset() -> None:
    env = make(autoreset_mode=AutoresetMode.DISABLED)
    _, infos = env.reset(seed=1)
    actions = actions_for(infos["action_mask"], 0)
    actions[3] = int(infos["action_mask"][3].argmin())  # illegal: the end
    _, rewards, over, _, infos = env.step(actions)
    assert over.tolist() == [False, False, False, True, False]
    assert rewards[3] == -1.0
    assert infos["illegal_action"].tolist() == over.tolist()
    assert infos["action_mask"][3].all()
    with pytest.raises(CallError, match="the episode of game 3 has ended: call reset"):
        env.step(actions_for(np.ones_like(infos["action_mask"]), 0))
    _, infos = env.reset(options={"reset_mask": over})
    assert infos["action_mask"][3].any()
    env.step(actions_for(infos["action_mask"], 1))


@pytest.mark.parametrize("mode", [AutoresetMode.DISABLED, AutoresetMode.NEXT_STEP])
def test_games_that_wait_are_shown_as_before_when_others_begin_again(mode: AutoresetMode) -> None:
    """Above all a game that is over, whose last decision may have been the opponent's."""
    env = make(num_envs=40, autoreset_mode=mode, seat=0)
    observations, infos = env.reset(seed=1)
    for turn in range(300):
        observations, _, over, _, infos = env.step(actions_for(infos["action_mask"], turn))
        if over.any():
            break
    begun = np.zeros(40, np.bool_)
    begun[int((~over).argmax())] = True
    shown, known = env.reset(options={"reset_mask": begun})
    assert over.any()
    assert (shown[~begun] == observations[~begun]).all()
    assert (known["action_mask"][~begun] == infos["action_mask"][~begun]).all()


def test_an_illegal_action_that_is_an_error_steps_no_game() -> None:
    env = make(illegal_action="error")
    observations, infos = env.reset(seed=1)
    actions = actions_for(infos["action_mask"], 0)
    wrong = actions.copy()
    wrong[4] = int(infos["action_mask"][4].argmin())
    with pytest.raises(IllegalActionError, match="game 4, player_"):
        env.step(wrong)
    wrong[4] = -1
    with pytest.raises(ActionError, match="game 4, player_0: there is no action -1"):
        env.step(wrong)
    twin = make()
    assert (twin.reset(seed=1)[0] == observations).all()
    assert (env.step(actions)[0] == twin.step(actions)[0]).all()


def test_wrong_calls() -> None:
    env = make()
    with pytest.raises(CallError, match=r"reset\(\) has not been called: call reset\(\) first"):
        env.step(np.zeros(GAMES, np.int64))
    with pytest.raises(CallError, match="the first reset must reset all games"):
        env.reset(options={"reset_mask": np.arange(GAMES) == 1})
    env.reset()
    for actions in (np.zeros(3, np.int64), np.zeros(GAMES)):
        with pytest.raises(ActionError):
            env.step(actions)
    with pytest.raises(OptionError, match=r"reset_mask is bool\[2\]"):
        env.reset(options={"reset_mask": np.ones(2, bool)})
    with pytest.raises(OptionError, match=r"reset_mask are .* cannot be converted"):
        env.reset(options={"reset_mask": [[True], [True, False]]})
    env.close()
    env.close()
    with pytest.raises(CallError):
        env.step(np.zeros(GAMES, np.int64))


@pytest.mark.parametrize("mode", ["same_step", "next_step"])
def test_returns_are_counted_by_gymnasiums_wrapper(mode: str) -> None:
    env = RecordEpisodeStatistics(make(autoreset_mode=mode))
    _, infos = env.reset(seed=1)
    totals, counted = np.zeros(GAMES), 0
    for turn in range(120):
        _, rewards, over, _, infos = env.step(actions_for(infos["action_mask"], turn))
        totals += rewards
        for game in np.flatnonzero(over):
            episode = (
                infos["final_info"]["episode"]
                if "final_info" in infos and "episode" in infos["final_info"]
                else infos["episode"]
            )
            assert episode["r"][game] == pytest.approx(totals[game])
            totals[game] = 0.0
            counted += 1
    assert counted > GAMES


def test_pictures_are_drawn_when_they_are_asked_for() -> None:
    """Of the games as they were: Gymnasium's RecordVideo looks at game 0 only."""
    pytest.importorskip("resvg_py", reason="no rasteriser: pip install -e '.[pictures]'")
    env, svg = make(render_mode="rgb_array"), make(render_mode="svg")
    _, infos = env.reset(seed=1)
    svg.reset(seed=1)
    frames, texts = env.render(), svg.render()
    first, drawn = frames[0], svg.games.vector.render(0, "svg")
    assert (len(frames), first.dtype, first.ndim) == (GAMES, np.uint8, 3)
    actions = actions_for(infos["action_mask"], 0)
    env.step(actions)
    svg.step(actions)
    assert frames[0] is first
    assert texts[0] == drawn != svg.render()[0]
    assert len(texts[1:]) == GAMES - 1
    assert not np.array_equal(first, env.render()[0])
    with pytest.raises(IndexError):
        frames[GAMES]


def test_copies_and_pickles_play_on_alike() -> None:
    env = make(opponent=["holder", "greedy"], players=3)
    _, infos = env.reset(seed=4)
    for turn in range(30):
        infos = env.step(actions_for(infos["action_mask"], turn))[4]
    twins = [env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for turn in range(60):
        actions = actions_for(infos["action_mask"], turn)
        steps = [twin.step(actions) for twin in twins]
        for other in steps[1:]:
            assert all((mine == theirs).all() for mine, theirs in zip(steps[0][:4], other[:4], strict=True))
        infos = steps[0][4]


def test_threads_change_no_result() -> None:
    """Neither of what is played nor of what is refused."""
    alone, shared = make(num_envs=600), make(num_envs=600, num_threads=2)
    (rows, infos), (others, _) = alone.reset(seed=2), shared.reset(seed=2)
    for turn in range(40):
        assert (rows == others).all()
        actions = actions_for(infos["action_mask"], turn)
        if turn == 20:
            actions[[450, 590]] = infos["action_mask"][[450, 590]].argmin(axis=1)
        one, other = alone.step(actions), shared.step(actions)
        assert all((mine == theirs).all() for mine, theirs in zip(one[:4], other[:4], strict=True))
        rows, infos, others = one[0], one[4], other[0]
    strict = make(num_envs=600, num_threads=2, illegal_action="error")
    _, infos = strict.reset(seed=2)
    actions = actions_for(infos["action_mask"], 0)
    actions[[450, 590]] = infos["action_mask"][[450, 590]].argmin(axis=1)
    before = strict.games.vector.get_states()
    with pytest.raises(IllegalActionError, match="game 450, player_0"):
        strict.step(actions)
    assert (strict.games.vector.get_states() == before).all()
