"""Calls of agents: one game or many, one thread at a time, arrays and no dictionaries."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.arena.dealing import dealt_batch
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.stepping import SteppedGames
from millebornes_env.errors import AgentError, CallError

SPECS = {
    "greedy": "parker",
    "random": "parker",
    "champion": "parker",
    "champion:mode=sample": "parker",
    "search:rollout=greedy,rollouts=2": "parker",
    "equilibrium": "mini7",
    "saver": "arc_en_ciel",
}


@pytest.mark.parametrize(("spec", "edition"), SPECS.items())
def test_one_game_is_played_without_the_axis_of_a_batch(spec: str, edition: str) -> None:
    env = vector_env(1, edition, autoreset_mode="disabled")
    many, one, listed = (agents.load(spec, env, 3) for _ in range(3))
    observations, _ = env.reset(seed=3)
    for _ in range(12):
        rows, masks = observations["observation"], observations["action_mask"]
        slot = int(env.agent_selection[0])
        expected = many.act(rows, masks, slot_ids=np.array([slot]))
        for result in (
            one.act(rows[0], masks[0], slot_ids=slot),
            listed.act(rows[0].tolist(), masks[0].tolist(), slot_ids=[slot]),
        ):
            assert type(result) is int
            assert result == expected[0]
        observations = env.step(expected).observations


def calls_of(env: VectorEnv) -> list[tuple[Any, Callable[[], object]]]:
    """Methods that read or write what an object remembers, after the object."""
    observations, _ = env.reset(seed=1)
    rows, masks = observations["observation"], observations["action_mask"]
    states, seats, slots = env.get_states(), env.agent_selection.astype(np.int32), np.zeros(1, np.int64)
    compiled, policy = agents.load("greedy", env), agents.load("champion", env)
    search: Any = agents.load("search:rollout=greedy,rollouts=2", env)
    games = SteppedGames(dealt_batch(MatchConfig(), 0, 1), [compiled, compiled], MatchConfig())
    mini = vector_env(1, "mini7")
    seen, _ = mini.reset(seed=1)
    solved: Any = agents.load("equilibrium", mini)
    return [
        (compiled, lambda: compiled.act(rows, masks)),
        (compiled, lambda: compiled.act(rows[0], masks[0])),
        (compiled, compiled.forget),
        (policy, lambda: policy.inputs(rows)),
        (policy, lambda: policy.probabilities(rows, masks)),
        (search, lambda: search.act(rows, masks)),
        (search, lambda: search.act_on(states, seats, slots)),
        (search, lambda: search.known(states, seats, slots)),
        (search, lambda: search.note(states, seats, slots, slots)),
        (search, search.forget),
        (search, search.last_gains),
        (solved, lambda: solved.act(seen["observation"], seen["action_mask"])),
        (solved, solved.forget),
        (games, games.begin),
        (games, games.choose),
        (games, games.apply_actions),
    ]


def test_a_second_thread_is_refused_and_disturbs_nothing() -> None:
    for owner, call in calls_of(vector_env(1)):
        call()
        held, done = threading.Event(), threading.Event()

        def hold(guard: Any = owner._guard, held: Any = held, done: Any = done) -> None:
            guard.acquire(False)
            held.set()
            done.wait(60)
            guard.release()

        other = threading.Thread(target=hold)
        other.start()
        assert held.wait(60)
        try:
            with pytest.raises(CallError, match=r"^(?!.*environment).*another thread"):
                call()
        finally:
            done.set()
            other.join()
        call()


def test_copies_have_a_guard_of_their_own() -> None:
    env = vector_env(1)
    agent: Any = agents.load("greedy", env)
    for copied in (copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert copied._guard is not agent._guard
        assert copied._guard.kind == "agent"


@pytest.mark.parametrize(("spec", "edition"), SPECS.items())
def test_a_dictionary_is_refused_with_what_to_write(spec: str, edition: str) -> None:
    env = vector_env(1, edition)
    observations, _ = env.reset(seed=1)
    with pytest.raises(AgentError, match=r"observations\['observation'\] and observations\['action_mask'\]"):
        agents.load(spec, env).act(observations)
