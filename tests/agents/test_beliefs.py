"""The plays of others that a belief gets: those of the game, read from what one seat sees."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.search.beliefs import KnownCards
from millebornes_env.agents.search.hidden_cards import hand_for, no_hands
from millebornes_env.agents.search.history import Interpretation, PlayWindow
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.errors import AgentError
from millebornes_env.games.millebornes.cards import DRIVING_ACE, NUM_CARD_TYPES
from millebornes_env.games.millebornes.observation import write_observation
from millebornes_env.games.millebornes.rules import rules_record
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC
from millebornes_env.games.millebornes.state import StateArray
from tests.agents.test_search import seats_of
from tests.arena.players import AGENTS
from tests.each import each

PASS = 39


@pytest.fixture(autouse=True)
def known_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(agents.AGENTS, "lot", AGENTS["lot"])


class Asked(NamedTuple):
    """A call of a belief and the plays that it read."""

    slot: int
    windows: tuple[PlayWindow, ...]


class Spy:
    """A belief that records its calls, and leaves redeals uniform."""

    window = 6

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def sample(self, known: KnownCards, count: int, key: tuple[int, int]) -> np.ndarray:
        self.asked.append(Asked(known.slot, known.windows))
        return no_hands()

    def forget(self) -> None: ...


class Decision(NamedTuple):
    """A decision in a game."""

    seat: int
    action: int
    row: np.ndarray
    hand: np.ndarray


def events_of(interpretation: Interpretation) -> list[tuple[StateArray, int]]:
    """Return the events: the state before each, and its action."""
    return list(zip(interpretation.states, interpretation.actions.tolist(), strict=True))


def played_games(name: str, players: int, steps: int) -> tuple[VectorEnv, list[tuple[Asked, list[Decision]]]]:
    """Let a searcher play all seats; return the calls of its belief, each with the decisions before it."""
    env = vector_env(6, name, players=players, autoreset_mode="disabled")
    searcher = agents.load("lot+search:rollouts=2,z=1e9,threads=1", env)
    assert isinstance(searcher, SearchAgent)
    searcher.belief = spy = Spy()
    observations, _ = env.reset(seed=5)
    logs: list[list[Decision]] = [[] for _ in range(6)]
    result = []
    for _ in range(steps):
        states, masks = env.get_states(), observations["action_mask"]
        seats = env.agent_selection.copy()
        spy.asked = []
        actions = searcher.act_on(states, seats_of(states), np.arange(6) * players + seats)
        for one in spy.asked:
            game = one.slot // players
            result.append((one, list(logs[game])))
        for game in np.flatnonzero(masks.any(axis=1)):
            seat = int(seats[game])
            row, hand = observations["observation"][game].copy(), states["hand"][game, seat].copy()
            logs[game].append(Decision(seat, int(actions[game]), row, hand))
        observations = env.step(actions).observations
    return env, result


@pytest.mark.parametrize(("name", "players", "steps"), [("parker", 2, 150), ("dutch", 4, 90)])
def test_what_others_played_is_read_as_it_was(name: str, players: int, steps: int) -> None:
    env, result = played_games(name, players, steps)
    rules, read, refused = rules_record(env.rules), 0, 0
    for asked, log in result:
        own = asked.slot % players
        mine = [place for place, one in enumerate(log) if one.seat == own]
        if not mine:
            assert asked.windows == ()
            continue
        truth = log[mine[-1] + 1 :]
        refusals = [one for one in truth if one.action == PASS]
        plays = [one for one in truth if one.action != PASS]
        if not asked.windows:  # there were too many interpretations
            assert players > 2
            continue
        told = [
            interpretation
            for interpretation in map(events_of, asked.windows[0])
            if [
                ((int(state["seat"]) + own) % players, action)
                for state, action in interpretation
                if action != PASS
            ]
            == [(one.seat, one.action) for one in plays]
        ]
        assert len(told) == 1, (plays, refusals)
        asked_to_claim = [(int(state["seat"]) + own) % players for state, action in told[0] if action == PASS]
        assert {one.seat for one in refusals} <= set(asked_to_claim)
        refused += len(refusals)
        events = [(state, action) for state, action in told[0] if action != PASS]
        for (state, _), one in zip(events, plays, strict=True):
            records = np.array([state]).view(np.recarray)
            seat = int(records[0].seat)
            records[0].hand[seat] = one.hand
            row = np.zeros(len(one.row), np.int8)
            write_observation(for_kernels(records)[0], rules, seat, DEFAULT_SPEC, row)
            assert np.array_equal(row, one.row)
            read += 1
    assert read > 150
    assert refused > 0


def test_redeals_take_all_hands_equally_often() -> None:
    for count in (4, 256):
        dealt = np.bincount([hand_for(count, turn) for turn in range(4_000)], minlength=count)
        assert np.abs(dealt - 4_000 / count).max() <= 3


WRONG_HANDS: dict[str, tuple[Callable[[np.ndarray], object], str]] = {
    "nothing": (lambda hands: None, "drew None; sample must return int8"),
    "a list": (lambda hands: hands.tolist(), "sample must return int8"),
    "one seat": (lambda hands: hands[:, :1], r"sample must return int8\[C, 2, 19\]"),
    "fractions": (lambda hands: hands * 0.5, "sample must return int8"),
    "no cards": (
        lambda hands: hands * 0,
        r"hands that cannot be: hands\[0, 1:\] must hold \[6\] of the cards",
    ),
    "a card twice": (lambda hands: hands * 2, "hands that cannot be"),
    "six Driving aces": (
        lambda hands: hands * 0 + 6 * (np.arange(19) == DRIVING_ACE),
        "hands that cannot be",
    ),
}


@each("name", WRONG_HANDS)
def test_hands_that_cannot_be_are_refused(name: str) -> None:
    """Compiled search would read beyond the ends of arrays."""
    change, message = WRONG_HANDS[name]
    env = vector_env(1, seed=1)
    see, _ = env.reset()
    agent: Any = agents.load("search:rollouts=4", env)

    def sample(known: KnownCards, count: int, key: object) -> object:
        unseen = np.array(known.root.hidden, np.int64) - known.root.hand[0]
        hands = np.zeros((count, 2, NUM_CARD_TYPES), np.int8)
        hands[:, 1] = np.bincount(np.repeat(np.arange(NUM_CARD_TYPES), unseen)[:6], minlength=NUM_CARD_TYPES)
        return change(hands)

    agent.belief = types.SimpleNamespace(window=0, sample=sample)
    with pytest.raises(AgentError, match=message):
        agent.act(see["observation"], see["action_mask"])
