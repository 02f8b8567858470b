"""Optional methods of agents beside `act`: declared, used as declared, and contradictions raise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.agents import BaseAgent
from millebornes_env.agents.protocol import (
    ask,
    ask_in,
    forget,
    has_memory,
    is_compiled,
    is_state_agent,
    sees_hidden_cards,
)
from millebornes_env.errors import AgentError
from tests.each import each


class Short:
    """As short as an agent can be."""

    name = "short"

    def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
        return action_masks.argmax(axis=1)


class Remembering(Short):
    """Keeps the slot ids that it was handed."""

    has_memory = True

    def __init__(self) -> None:
        self.slots: list[list[int]] = []

    def act(self, observations: np.ndarray, action_masks: np.ndarray, slot_ids: Any = None) -> Any:
        self.slots.append(list(slot_ids))
        return super().act(observations, action_masks)

    def forget(self) -> None:
        self.slots = []


class OfStates(Short):
    """Wants the games themselves."""

    def act_on(self, states: np.ndarray, seats: np.ndarray, slot_ids: np.ndarray) -> Any:
        assert (seats == states["seat"]).all()
        states["seat"] = 7  # it was handed copies
        return np.full(len(states), 19 + (states["hand"][0, seats[0]] > 0).argmax())


@pytest.fixture
def env() -> VectorEnv:
    env = vector_env(2)
    env.reset(seed=4)
    return env


def shown(env: VectorEnv) -> dict[str, np.ndarray]:
    buffers = env.games.buffers
    return {"observation": buffers.observation, "action_mask": buffers.action_mask}


def test_what_is_not_said_is_assumed() -> None:
    short = Short()
    assert [read(short) for read in (has_memory, sees_hidden_cards, is_compiled, is_state_agent)] == [
        False
    ] * 4
    forget(short)
    assert not any((BaseAgent.has_memory, BaseAgent.sees_hidden_cards, BaseAgent.is_compiled))


def test_agents_of_our_own_say_what_they_are(env: VectorEnv) -> None:
    for name in ("random", "strategist", "champion"):
        agent = agents.load(name, env)
        assert (has_memory(agent), is_compiled(agent), is_state_agent(agent)) == (True, True, False)
    search = agents.load("search", env)
    assert (has_memory(search), is_compiled(search), is_state_agent(search)) == (True, False, True)
    assert not sees_hidden_cards(search)
    assert sees_hidden_cards(agents.load("search:sees=all", env))
    human = agents.load("human", env)
    assert (has_memory(human), is_compiled(human), is_state_agent(human)) == (True, False, False)


def test_a_compiled_agent_with_an_act_of_its_own_is_not_called_by_kernels(env: VectorEnv) -> None:
    class Asked(agents.RandomAgent):
        def act(self, observations: np.ndarray, action_masks: np.ndarray) -> Any:
            return action_masks.argmax(axis=1)

    class Mixed(Short, agents.RandomAgent):
        has_memory = False

    class Named(agents.RandomAgent):
        pass

    table = agents.Table.of(env)
    assert [is_compiled(kind(table)) for kind in (Asked, Mixed, Named)] == [False, False, True]
    assert [has_memory(kind(table)) for kind in (Asked, Mixed, Named)] == [False, False, True]
    for kind in (Asked, Mixed):
        assert (
            ask_in(env, agents.load(kind(table), env), shown(env)) == shown(env)["action_mask"].argmax(1)
        ).all()


def test_who_remembers_is_handed_slot_ids(env: VectorEnv) -> None:
    agent = Remembering()
    ask_in(env, agent, shown(env))
    assert agent.slots == [[int(seat) + 2 * game for game, seat in enumerate(env.agent_selection)]]
    forget(agent)
    assert agent.slots == []


def test_who_wants_the_games_is_handed_copies(env: VectorEnv) -> None:
    before = env.get_states()
    chosen = ask_in(env, OfStates(), shown(env))
    assert (chosen >= 19).all()
    assert np.array_equal(env.get_states(), before)
    rows = shown(env)
    seen = ask(OfStates(), rows["observation"], rows["action_mask"], np.arange(2))  # there are no games
    assert np.array_equal(seen, rows["action_mask"].argmax(axis=1))


@each("returned", [3, [1], [1.0, 2.0], [[1], [2]], [[1], [2, 3]], None, "ab", [True, False]])
@each("method", ["act", "act_on"])
def test_what_is_no_action_for_each_row_is_refused(env: VectorEnv, returned: Any, method: str) -> None:
    class Wrong(OfStates if method == "act_on" else Short):  # type: ignore[misc]
        name = "wrong"

    setattr(Wrong, method, lambda self, *batch: returned)
    with pytest.raises(
        AgentError, match=rf"^'wrong': {method} returned .* for 2 rows; it must be int64\[2\]"
    ):
        ask_in(env, Wrong(), shown(env))


def with_act(act: Callable[..., Any], **members: Any) -> Any:
    return type("Made", (), {"name": "made", "act": act, **members})()


CONTRADICTIONS = {
    "places": (
        with_act(lambda self, observations, action_masks, places=None: 0),
        "places is now called slot_ids: rename the argument of act, and declare has_memory = True",
    ),
    "is_honest": (
        with_act(Short.act, is_honest=False),
        "is_honest is called sees_hidden_cards now and means the opposite: .* write sees_hidden_cards = True",
    ),
    "memory not declared": (
        with_act(Remembering.act),
        "act takes slot_ids, but has_memory is not declared: write has_memory = True in the class",
    ),
    "too few arguments": (
        with_act(lambda self, observations: 0),
        r"act must take \(self, observations, action_masks\): too many positional arguments",
    ),
    "a flag that is none": (
        with_act(Short.act, sees_hidden_cards="no"),
        "sees_hidden_cards is 'no'; it must be True or False",
    ),
    "a method that is none": (with_act(Short.act, forget=3), "forget is 3; it must be a method"),
    "compiled from nothing": (
        with_act(Short.act, is_compiled=True),
        "is_compiled is True, but it has no compiled function: omit is_compiled, or derive",
    ),
}


@pytest.mark.parametrize("kind", CONTRADICTIONS)
def test_contradictions_are_refused_at_load(
    env: VectorEnv, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent, words = CONTRADICTIONS[kind]
    monkeypatch.setitem(agents.AGENTS, "registered", lambda table, seed=0: agent)
    for spec, name in ((agent, "made"), ("registered", "registered")):
        with pytest.raises(AgentError, match=f"^'{name}': {words}") as refused:
            agents.load(spec, env)
        assert isinstance(refused.value, AgentError)
        assert agent.name == "made"


class Racer(Short):
    """Rides races only."""

    name = "racer of mine"
    game = "wielerspel"


@pytest.fixture
def race() -> VectorEnv:
    env = vector_env(2, "arc_en_ciel", players=4)
    env.reset(seed=4)
    return env


def test_agents_that_play_another_game_are_refused(
    env: VectorEnv, race: VectorEnv, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(agents.registry, "AGENTS", dict(agents.AGENTS))
    agents.register("mine", lambda table, seed=0: Racer())
    agents.register("my_class", type("Made", (Racer,), {"__init__": lambda self, table, seed=0: None}))
    for spec in ("greedy", "strategist", "search"):
        words = rf"^'{spec}' plays millebornes, not wielerspel; agents that play it: random, "
        with pytest.raises(AgentError, match=words):
            agents.load(spec, race)
    with pytest.raises(AgentError, match=r"^'search' plays millebornes, not wielerspel"):
        agents.load("random+search", race)
    for own in (Racer(), "mine", "my_class"):
        assert agents.load(own, race).name in {"racer of mine", "mine", "my_class"}
        with pytest.raises(AgentError, match=r"plays wielerspel, not millebornes; .*: random, gre"):
            agents.load(own, env)
    with pytest.raises(AgentError, match=r"no agent 'nobody'; the agents are random, (?!.*greedy)"):
        agents.load("nobody", race)
    with pytest.raises(AgentError, match=r"was made for parker, 2 players; this table is arc_en"):
        agents.load(agents.load("random", env), race)


def test_where_a_round_of_any_game_is_over_nothing_is_chosen() -> None:
    class Last(Short):
        def act_on(self, states: np.ndarray, seats: np.ndarray, slot_ids: np.ndarray) -> Any:
            return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)

    env = vector_env(3, "arc_en_ciel", players=2, autoreset_mode="disabled")
    masks = env.reset(seed=1)[0]["action_mask"]
    for _ in range(2000):
        actions = ask_in(env, Last(), shown(env))
        assert ((actions == -1) == ~masks.any(axis=1)).all()
        if not masks.any():
            return
        masks = env.step(actions).observations["action_mask"]
    raise AssertionError("the races did not end")
