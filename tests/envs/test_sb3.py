"""Stable-Baselines3: transitions run from a seat's decision to its own next decision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env
from millebornes_env.errors import ActionError, AgentError, CallError, IllegalActionError, OptionError, shown
from millebornes_env.games.millebornes.actions import CLAIM_COUP_FOURRE, play_action
from millebornes_env.games.millebornes.cards import Card
from millebornes_env.games.millebornes.rules import Rules
from tests.each import each
from tests.envs.playing import refused, sb3, snapshot
from tests.support import Position

if TYPE_CHECKING:
    from millebornes_env.envs.sb3 import SB3VecEnv


def vec_env() -> Any:
    return pytest.importorskip("stable_baselines3.common.vec_env")


class Script:
    """A policy that plays a list of actions, one for each call, and keeps what it was shown."""

    def __init__(self, *actions: int) -> None:
        self.left = list(actions)
        self.shown: list[np.ndarray] = []

    def __call__(self, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        assert len(observations) == 1
        self.shown.append(observations[0].copy())
        action = self.left.pop(0) if self.left else int(np.flatnonzero(masks[0])[0])
        assert masks[0, action] == 1
        return np.array([action])


def known_round(scores: tuple[int, int], reward: str) -> tuple[SB3VecEnv, Script]:
    """The end of a round whose every move is known, seat 0 learning.

    The draw pile is empty, both teams roll. Seat 0 has gone 650 of 700 km and holds Extra Tank, Stop and
    25 km; seat 1 has gone 300 and holds Right of Way, 100 and 50 km.

        seat 0 plays Extra Tank            the turn comes back to seat 0
        seat 0 plays Stop                  seat 1 is asked, and
        seat 1 claims the coup fourré      plays again:
        seat 1 plays 100 km
        seat 0 plays 25 km
        seat 1 plays 50 km                 no card is left: the round ends in the opponent's step

    Team 0 has 675 km and a safety: 775 points. Team 1 has 450 km, a safety and a coup fourré: 850 points.
    """
    position = Position("battle 0: roll", "battle 1: roll", "hand 0: extra_tank stop 25", players=2)
    position.km(0, 650).km(1, 300).hand(1, "right_of_way", "100", "50").draw_pile(0).turn(0)
    position.state.score[:2] = scores
    script = Script(
        CLAIM_COUP_FOURRE, play_action(Card.DISTANCE_100.value, 0), play_action(Card.DISTANCE_50.value, 0)
    )
    env = sb3(1, script, seat=0, episode="match", reward=reward)
    script.left, actions = [], script.left
    env.seed(1)
    env.reset()  # deals some round, which the known one then takes the place of
    games_of(env).set_states(np.asarray(position.games.states))
    script.left, script.shown = actions, []
    return env, script


def games_of(env: SB3VecEnv) -> VectorEnv:
    return env.envs.games.vector


LEARNER_PLAYS = [play_action(card.value, 0) for card in (Card.EXTRA_TANK, Card.STOP, Card.DISTANCE_25)]


def unscaled(env: SB3VecEnv, row: np.ndarray) -> np.ndarray:
    """An observation of the face as the small integers that it was made of."""
    highs = np.concatenate([np.full(s.size, max(s.high, 1)) for s in games_of(env).observation_sections])
    return np.rint(row * highs).astype(np.int64)


def test_every_transition_of_a_known_round_by_hand() -> None:
    env, script = known_round((0, 0), "points")

    # Extra Tank: the learner itself decides next; nobody else was asked, nothing was earned.
    observations, rewards, dones, infos = env.step(np.array(LEARNER_PLAYS[:1]))
    assert (rewards.tolist(), dones.tolist(), infos) == ([0.0], [False], [{}])
    assert script.shown == []
    hand = unscaled(env, observations[0])[games_of(env).section("hand")].tolist()
    assert {card for card, count in enumerate(hand) if count} == {Card.STOP, Card.DISTANCE_25}

    # Stop: the opponent claims and plays 100 km before the learner decides again.
    observations, rewards, dones, _ = env.step(np.array(LEARNER_PLAYS[1:2]))
    assert (rewards.tolist(), dones.tolist()) == ([0.0], [False])
    assert len(script.shown) == 2
    own = unscaled(env, observations[0])
    assert own[games_of(env).section("km")].tolist() == [650 // 25, 400 // 25]
    assert own[games_of(env).section("coups_fourres")].tolist() == [0, 0, 0, 0, 0, 0, 0, 1]

    # 25 km: the opponent's 50 km end the round; what that earned belongs to this transition.
    _, rewards, dones, _ = env.step(np.array(LEARNER_PLAYS[2:]))
    assert rewards.tolist() == pytest.approx([(775 - 850) / 1000])
    assert dones.tolist() == [False]  # the match goes on with another round
    assert games_of(env).games.states["score"][0, :2].tolist() == [775, 850]


@pytest.mark.parametrize(("reward", "last"), [("points", (775 - 850) / 1000), ("win", 1.0)])
def test_returns_of_a_known_round_by_hand(reward: str, last: float) -> None:
    # 4,900 + 775 points win the match against 1,000 + 850, although the round itself is lost.
    env, _ = known_round((4900, 1000), reward)
    buffers = pytest.importorskip("stable_baselines3.common.buffers")
    buffer = buffers.RolloutBuffer(
        3, env.observation_space, env.action_space, device="cpu", gae_lambda=1.0, gamma=0.9, n_envs=1
    )
    zero: Any = __import__("torch").zeros(1)
    start = np.array([True])
    for number, action in enumerate(LEARNER_PLAYS):
        before = np.zeros((1, *env.observation_space.shape), np.float32)
        _, rewards, dones, infos = env.step(np.array([action]))
        assert dones.tolist() == [number == 2]
        buffer.add(before, np.array([[action]]), rewards, start, zero, zero)
        start = dones
    buffer.compute_returns_and_advantage(last_values=zero, dones=dones)
    assert buffer.returns[:, 0].tolist() == pytest.approx([0.81 * last, 0.9 * last, last])
    assert infos[0]["episode"]["r"] == pytest.approx(last)
    assert infos[0]["episode"]["l"] == 3
    assert infos[0]["final_score"] == [5675, 1850]
    assert infos[0]["won"] == 1.0
    final = unscaled(env, infos[0]["terminal_observation"])
    assert final[games_of(env).section("km")].tolist() == [675 // 25, 450 // 25]


def test_masks_come_in_one_array_that_maskable_ppo_finds() -> None:
    env = sb3(5)
    with pytest.raises(CallError, match="reset"):
        env.action_masks()
    env.reset()
    utils = pytest.importorskip("sb3_contrib.common.maskable.utils")
    assert utils.is_masking_supported(env)
    masks = env.env_method("action_masks")
    assert isinstance(masks, np.ndarray)
    assert (masks.shape, masks.dtype) == ((5, 42), np.bool_)
    assert (utils.get_action_masks(env) == masks).all()
    assert masks.any(axis=1).all()
    assert (env.env_method("action_masks", indices=[1, 3]) == masks[[1, 3]]).all()


def test_maskable_ppo_learns_a_few_steps_against_itself() -> None:
    env = sb3(8, seed=1)
    model = pytest.importorskip("sb3_contrib").MaskablePPO(
        "MlpPolicy", vec_env().VecMonitor(env), n_steps=32, batch_size=64, n_epochs=1, seed=1
    )
    asked: list[int] = []
    predict = model.predict

    def counted(observation: np.ndarray, *, action_masks: np.ndarray) -> Any:
        asked.append(len(observation))
        return predict(observation, action_masks=action_masks)

    model.predict = counted
    env.set_opponent(model)
    model.learn(2 * 8 * 32)
    assert model.num_timesteps == 2 * 8 * 32
    assert sum(asked) > 200


def test_maskable_ppo_learns_sheets_of_a_split() -> None:
    env = sb3(8, seed=1, edition="variants-v1:train", opponent="greedy")
    size = vector_env(1).observation_sections[-1].stop
    assert env.observation_space.shape == (size + len(Rules._fields),)
    model = pytest.importorskip("sb3_contrib").MaskablePPO(
        "MlpPolicy", vec_env().VecMonitor(env), n_steps=32, batch_size=64, n_epochs=1, seed=1
    )
    model.learn(8 * 32)
    env.reset()
    ended: list[int] = []
    while len(ended) < 12:
        infos = env.step(env.action_masks().argmax(axis=1))[3]
        ended += [info["sheet"] for info in infos if info]
    assert len(set(ended)) == len(ended)


class Model:
    """A stand-in for MaskablePPO: scaled observations and masks in, actions out."""

    def __init__(self) -> None:
        self.shown: list[np.ndarray] = []

    def predict(self, observation: np.ndarray, *, action_masks: np.ndarray) -> tuple[np.ndarray, None]:
        self.shown.append(observation)
        assert action_masks.dtype == np.bool_
        return action_masks.argmax(axis=1), None


def test_a_model_sees_what_the_learner_sees() -> None:
    model = Model()
    env, same = sb3(4, model, seed=1), sb3(4, seed=1)
    same.set_opponent(lowest)
    assert np.array_equal(env.reset(), same.reset())
    for ours, theirs in zip(play(env, 20), play(same, 20), strict=True):
        assert np.array_equal(ours[0], theirs[0])
    seen = np.concatenate(model.shown)
    assert (seen.dtype, seen.shape[1]) == (np.float32, env.observation_space.shape[0])
    assert 0.0 == seen.min() < seen.max() <= 1.0


def lowest(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    return masks.argmax(axis=1)


def play(env: SB3VecEnv, steps: int) -> list[Any]:
    return [env.step(env.action_masks().argmax(axis=1)) for _ in range(steps)]


def begun(opponent: Any = lowest) -> SB3VecEnv:
    env = sb3(6, opponent, seed=1)
    env.reset()
    return env


def test_opponents_are_replaced_between_steps() -> None:
    """The next decision is the new opponent's; what a compiled one remembered is forgotten."""
    env, same = begun("greedy"), begun("greedy")
    play(env, 10), play(same, 10)
    asked: list[int] = []

    def counting(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        asked.append(len(masks))
        return lowest(observations, masks)

    env.set_opponent(counting)
    same.set_opponent(lowest)
    assert not asked
    for ours, theirs in zip(play(env, 30), play(same, 30), strict=True):
        assert np.array_equal(ours[0], theirs[0])
    assert sum(asked) >= 100
    with pytest.raises(AgentError, match="there is no agent 'gredy'"):
        env.set_opponent("gredy")
    play(env, 1)


def test_options_are_those_of_the_next_reset() -> None:
    env = sb3(2, seed=1, seat=0)
    env.set_options({"positions": "hand 0: roll 25\nhand 1: 50\n"})
    hands = [unscaled(env, env.reset()[0])[:19].sum() for _ in range(2)]
    assert hands == [2, 7]


def test_a_model_that_knows_no_masks_is_refused() -> None:
    class Plain:
        def predict(self, observation: Any, deterministic: bool = False) -> Any:
            return observation

    with pytest.raises(OptionError, match=r"opponent is .*takes no action_masks.*use MaskablePPO"):
        sb3(2).set_opponent(Plain())


def test_pictures_of_game_0() -> None:
    pytest.importorskip("resvg_py", reason="no rasteriser: pip install -e '.[pictures]'")
    env = sb3(3, seed=1, render_mode="rgb_array")
    monitored = vec_env().VecMonitor(env)
    monitored.reset()
    assert monitored.render_mode == "rgb_array"
    assert np.array_equal(monitored.render(), games_of(env).render(0, "rgb_array"))
    assert begun().render() is None


# What is refused.


@pytest.mark.parametrize(
    ("actions", "error"),
    [
        ([41] * 6, IllegalActionError),
        ([-1] * 6, ActionError),
        ([0.0] * 6, ActionError),
        ([0] * 5, ActionError),
    ],
    ids=shown,
)
def test_a_refused_action_changes_nothing_and_is_not_counted(actions: Any, error: type[ValueError]) -> None:
    env, same = begun(), begun()
    play(env, 3), play(same, 3)
    before = snapshot(games_of(env))
    refused(error, [], env.step, actions)
    assert snapshot(games_of(env)) == before
    ended = 0
    for ours, theirs in zip(play(env, 150), play(same, 150), strict=True):
        for info, other in zip(ours[3], theirs[3], strict=True):
            assert info.get("episode", {}).get("l") == other.get("episode", {}).get("l")
            ended += "episode" in info
    assert ended > 0


@each(
    "call, error, words",
    [
        (lambda: sb3(2, autoreset_mode="disabled"), TypeError, "autoreset_mode"),
        (lambda: sb3(2, colour="red"), OptionError, "unexpected keyword argument 'colour'"),
        (lambda: sb3(2, seed=-1).reset(), OptionError, "seed is"),
        (lambda: begun().step_wait(), ActionError, "actions"),
        (lambda: begun().get_attr("colour"), AttributeError, "colour"),
    ],
)
def test_wrong_arguments(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
