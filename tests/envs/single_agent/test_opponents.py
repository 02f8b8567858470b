"""Opponents in the other seats: how they are named, asked and rejected, and how failures end."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from millebornes_env import agents, vector_env
from millebornes_env.agents import registry
from millebornes_env.envs.single_agent.opponents import specs_by_offset
from millebornes_env.envs.single_agent.vector import SingleAgentVectorEnv
from millebornes_env.errors import AgentError, CallError, OptionError
from millebornes_env.games.millebornes.actions import discard_action
from millebornes_env.games.registry import GAMES
from tests.each import each
from tests.envs.single_agent.support import PARKER, RACE, Asked, Lowest, table
from tests.games.conftest import examples


def make_vec(**options: Any) -> Any:
    return gymnasium.make_vec(PARKER, num_envs=6, **options)


@each(
    "players, teams, opponent, partner, seats",
    [
        (2, 2, "a", None, "a"),
        (2, 2, ["a"], None, "a"),
        (3, 3, ["a", "b"], None, "ab"),
        (4, 2, "a", None, "aaa"),
        (4, 2, ["a"], None, "aaa"),
        (4, 2, ["a"], "p", "apa"),
        (4, 2, ["a", "b", "c"], None, "abc"),
        (4, 2, ["a", "b", "c"], "p", "apc"),
        (6, 3, ["a", "b"], None, "abaab"),
        (6, 3, ["a", "b"], "p", "abpab"),
    ],
)
def test_who_sits_where(players: int, teams: int, opponent: Any, partner: Any, seats: str) -> None:
    """From the learner's left on; partners are played by the first opponent, if nobody is named."""
    edition = "dutch" if (players, teams) == (6, 3) else "parker"
    try:
        rules = vector_env(1, edition, players=players, teams=teams).rules
    except ValueError:
        rules = vector_env(1, "dujardin", players=players, teams=teams).rules
    assert "".join(map(str, specs_by_offset(opponent, partner, rules, lambda rows, masks: rows))) == seats


WRONG_OPTIONS: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    (PARKER, {"opponent": "gredy"}, AgentError, "there is no agent 'gredy'.*Did you mean 'greedy'"),
    (PARKER, {"opponent": 7}, AgentError, "7 is not an agent"),
    (
        PARKER,
        {"opponent": []},
        OptionError,
        "opponent is a list of 0; it must have 1, one for each other seat",
    ),
    (
        PARKER,
        {"opponent": ["greedy"] * 2, "players": 4, "teams": 2},
        OptionError,
        "it must have 3, one for each other seat .*, or 1, one for each other team",
    ),
    (PARKER, {"partner": "greedy"}, OptionError, "each seat plays alone: leave it out"),
    (PARKER, {"seat": 2}, OptionError, "there is no seat 2; the seats are 0 to 1"),
    (PARKER, {"observe_mask": 1}, OptionError, "observe_mask is 1"),
    (PARKER, {"illegal_action": "ignore"}, OptionError, "illegal_action is 'ignore'"),
    (RACE, {"opponent": "greedy"}, AgentError, "'greedy' plays millebornes, not wielerspel"),
]


def test_what_cannot_be() -> None:
    for env_id, options, error, told in WRONG_OPTIONS:
        for maker in (gymnasium.make, gymnasium.make_vec):
            with pytest.raises(error, match=told):
                maker(env_id, **options)
    with pytest.raises(AgentError, match="make the agent for this table"):
        gymnasium.make(PARKER, opponent=agents.load("greedy", table(players=3)))


def test_a_function_can_play() -> None:
    """A function plays as an agent with the same `act`; in several seats it is one agent."""

    def lowest(observations: Any, action_masks: Any) -> Any:
        return action_masks.argmax(axis=1)

    ours, theirs = make_vec(opponent=lowest), make_vec(opponent=Lowest())
    (rows, infos), (others, _) = ours.reset(seed=1), theirs.reset(seed=1)
    for _ in range(30):
        assert (rows == others).all()
        actions = infos["action_mask"].argmax(axis=1)
        rows, _, _, _, infos = ours.step(actions)
        others = theirs.step(actions)[0]
    table = gymnasium.make(PARKER, players=4, teams=2, opponent=[lowest], partner=lowest).unwrapped
    assert [agent.name for agent in table.games.opponents.agents] == ["lowest"]
    table.reset(seed=1)
    wrong = gymnasium.make(PARKER, opponent=lambda observations, action_masks: None, seat=1)
    with pytest.raises(AgentError, match="'<lambda>' raised AgentError"):
        wrong.reset(seed=1)


def test_agents_are_asked_about_all_their_games_at_once() -> None:
    """Not once for each game: an opponent of six games is shown about six rows."""
    asked = Asked("greedy", table())
    env = make_vec(opponent=asked)
    _, infos = env.reset(seed=1)
    assert len(asked.rows) <= 2  # player_1 begins in some games, and may play again
    asked.rows.clear()
    env.step(infos["action_mask"].argmax(axis=1))
    assert asked.rows[0] >= 4


@each(
    "answer, told",
    [
        (RuntimeError("out of memory\nat once"), "'lowest' raised RuntimeError: out of memory at once"),
        (lambda lowest: lowest[1:], "AgentError"),
        (
            lambda lowest: lowest * 0 + 41,
            "the opponent 'lowest' chose an illegal action. game 0, player_1: .*not legal",
        ),
        (lambda lowest: lowest * 0 - 1, "chose an illegal action. game 0, player_1: there is no action"),
    ],
)
def test_an_opponent_that_fails(answer: Any, told: str) -> None:
    """The message says who; nothing but a reset goes on, and then all is well again."""
    opponent = Lowest()
    env = make_vec(opponent=opponent, seat=0)
    _, infos = env.reset(seed=3)
    actions = infos["action_mask"].argmax(axis=1)
    actions[0] = int(np.flatnonzero(infos["action_mask"][0])[-1])
    opponent.answer = answer
    with pytest.raises(AgentError, match=told):
        env.step(actions)
    with pytest.raises(CallError, match=re.escape("its games cannot continue: call reset() first")):
        env.step(actions)
    opponent.answer = None
    with pytest.raises(CallError, match="without a reset_mask"):
        env.reset(options={"reset_mask": np.arange(6) == 0})
    _, infos = env.reset(seed=3)
    env.step(infos["action_mask"].argmax(axis=1))


def test_a_call_that_is_interrupted_is_not_gone_on_from() -> None:
    class Interrupted(Lowest):
        def act(self, observations: Any, action_masks: Any) -> Any:
            raise KeyboardInterrupt

    env = make_vec(opponent=Interrupted(), seat=1)
    with pytest.raises(KeyboardInterrupt):
        env.reset(seed=1)
    with pytest.raises(CallError, match="the last call was interrupted"):
        env.step(np.zeros(6, np.int64))


@pytest.mark.parametrize("opponent", ["champion:mode=sample", "greedy+search:rollouts=8"])
def test_networks_and_search_play_too(opponent: str) -> None:
    env = gymnasium.make(PARKER, opponent=opponent)
    _, info = env.reset(seed=1)
    for _ in range(5):
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
        if over:
            _, info = env.reset()


def test_an_opponent_that_fails_is_named_whatever_thread_plays() -> None:
    opponent = Lowest()
    env = gymnasium.make_vec(PARKER, num_envs=600, opponent=opponent, num_threads=2, seat=0)
    env.reset(seed=3)
    opponent.answer = lambda lowest: np.where(np.arange(len(lowest)) < 400, lowest, 4_000)
    with pytest.raises(AgentError, match=r"game \d+, player_1: there is no action 4000"):
        env.step(env.games.buffers.action_mask[:, ::-1].argmax(axis=1) * -1 + 41)


@each("mode", ["next_step", "same_step"])
def test_agents_that_are_asked_forget_a_game_when_its_next_episode_begins(mode: str) -> None:
    """Episodes end early by an illegal action, so that the cards of the pile do not tell."""

    class Forgetful:
        name = "forgetful"
        has_memory = True

        def __init__(self) -> None:
            self.known: set[int] = set()
            self.begun: list[tuple[int, int]] = []
            self.episodes: set[tuple[int, int]] = set()

        def act(self, observations: Any, action_masks: Any, slot_ids: Any) -> Any:
            raise AssertionError("it is shown states")

        def act_on(self, states: Any, seats: Any, slot_ids: Any) -> Any:
            for slot, episode in zip(slot_ids.tolist(), states["episode"].tolist(), strict=True):
                self.episodes.add((slot, episode))
                if slot not in self.known:
                    self.known.add(slot)
                    self.begun.append((slot, episode))
            hands = states["hand"][np.arange(len(states)), seats]
            return np.array([discard_action(int(card)) for card in hands.argmax(axis=1)])

        def forget_slots(self, slot_ids: Any) -> None:
            self.known -= set(slot_ids.tolist())

    opponent = Forgetful()
    env = SingleAgentVectorEnv(4, opponent, seat=1, autoreset_mode=mode)
    env.reset(seed=1)
    for _ in range(6):
        env.step(np.full(4, 41))
    env.reset(options={"reset_mask": np.arange(4) < 2})
    assert len(opponent.episodes) > 8
    assert sorted(opponent.begun) == sorted(opponent.episodes)


def test_agents_that_are_asked_forget_when_all_games_begin_anew() -> None:
    forgotten = []

    class Forgetful(Lowest):
        def forget(self) -> None:
            forgotten.append(True)

    env = make_vec(opponent=Forgetful())
    env.reset(seed=1)
    env.reset()
    assert len(forgotten) == 2
    env.reset(options={"reset_mask": np.arange(6) == 2})  # the other games go on
    assert len(forgotten) == 2


def test_a_seed_is_one_of_the_opponents_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """Agents given by name that draw by chance themselves are made anew with a seed of their own."""

    class Drawing:
        def __init__(self, table: Any, seed: int = 0) -> None:
            self.name = "drawing"
            self._random = np.random.default_rng(seed)

        def act(self, observations: Any, action_masks: Any) -> Any:
            return (action_masks * self._random.random(action_masks.shape)).argmax(axis=1)

    monkeypatch.setattr(registry, "AGENTS", {**agents.AGENTS, "drawing": Drawing})
    env = make_vec(opponent="drawing")
    shown = []
    for seed in (5, 5, 6):
        observations, infos = env.reset(seed=seed)
        rows = [observations]
        for _ in range(20):
            observations, *_, infos = env.step(infos["action_mask"].argmax(axis=1))
            rows.append(observations)
        shown.append(np.array(rows))
    assert (shown[0] == shown[1]).all()
    assert (shown[0] != shown[2]).any()


@pytest.fixture
def solo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pig, the game of docs/environment/extend.md, but that only player_0 ever rolls."""
    text = examples()[0].replace('"pig"', '"solo"')
    for whose in ("(seat + 1) % rules.players", "int(state.episode) % rules.players"):
        assert whose in text
        text = text.replace(whose, "0")
    (tmp_path / "solo.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    before = dict(GAMES)
    importlib.import_module("solo")  # which registers it
    yield
    sys.modules.pop("solo")
    GAMES.clear()
    GAMES.update(before)


@pytest.mark.usefixtures("solo")
def test_a_game_of_ones_own() -> None:
    """The dice game of the docs needs nothing more for this; a seat that never decides is said."""
    env = gymnasium.make(PARKER, edition="solo", players=3, seat=0)
    _, info = env.reset(seed=1)
    over, total = False, 0.0
    while not over:
        _, reward, over, _, info = env.step(int(info["action_mask"][::-1].argmax() == 0))
        total += float(reward)
    assert (info["won"], total) == (1.0, 1.0)
    assert env.metadata["render_modes"] == []
    with pytest.raises(OptionError, match="no drawing of its table"):
        gymnasium.make(PARKER, edition="solo", render_mode="ansi")

    idle = gymnasium.make(PARKER, edition="solo", seat=1).unwrapped
    with pytest.raises(OptionError, match=r"player_1 had no turn in 1,000 episodes: .* choose another seat"):
        idle.reset(seed=1)
    with pytest.raises(CallError):
        idle.step(0)
