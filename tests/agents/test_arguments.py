"""Arguments that do not fit the table: agents raise a clear error and remember nothing."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env
from millebornes_env.agents import load
from millebornes_env.agents.millebornes.observation_reader import FAULTS
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.engine.numba.compiling import IS_COMPILED
from millebornes_env.errors import AgentError, StateError
from millebornes_env.play.terminal.cards import HumanAgent
from tests.agents.policies import network_for, write_run
from tests.each import each

GAMES = 6
COMPILED = ("random", "greedy", "holder", "arnold", "racer", "attacker", "hoarder", "strategist")
QUICK_SEARCH = "search:rollout=greedy,rollouts=2,threads=1"


def agent_of(spec: str, env: VectorEnv) -> Any:
    agent = load(spec, env, seed=3)
    if isinstance(agent, HumanAgent):
        agent.source, agent.sink = StringIO("1\n" * 100), StringIO()
    return agent


@pytest.fixture
def env() -> VectorEnv:
    """Some decisions into a round."""
    env = vector_env(GAMES, seed=2)
    env.reset()
    for _ in range(11):
        env.step(env.sample_actions())
    return env


def shown(env: VectorEnv) -> tuple[np.ndarray, np.ndarray]:
    buffers = env.games.buffers
    return buffers.observation.copy(), buffers.action_mask.copy()


every_kind = pytest.mark.parametrize("spec", ["greedy", QUICK_SEARCH, "human"])


# Shapes and types -------------------------------------------------------------------------------------------

WRONG_ROWS: dict[str, tuple[Callable[[np.ndarray], Any], str]] = {
    "two columns narrow": (lambda rows: rows[:, :-2], r"shape \(6, 117\).*expected \(N, 119\)"),
    "a number": (lambda rows: 0, r"shape \(\)"),
    "text": (lambda rows: rows.astype(str), "observations have the dtype <U"),
    "scaled": (lambda rows: rows / 2 + 0.25, "contain values other than whole numbers from -128 to 127"),
    "no numbers": (lambda rows: np.full(rows.shape, np.nan), "contain values other than whole numbers"),
    "large": (
        lambda rows: rows.astype(np.int32) + 256,
        "contain values other than whole numbers from -128 to 127",
    ),
    "ragged": (lambda rows: [[1, 2], [3]], "rows have different lengths"),
}


@each("spec", ["greedy", QUICK_SEARCH, "human"])
@each("kind", WRONG_ROWS)
def test_observations_of_another_shape_or_type_are_refused(env: VectorEnv, spec: str, kind: str) -> None:
    rows, masks = shown(env)
    spoil, words = WRONG_ROWS[kind]
    agent = agent_of(spec, env)
    with pytest.raises(AgentError, match=words) as refused:
        agent.act(spoil(rows), masks)
    assert agent.name in str(refused.value)
    chosen = agent.act(rows, masks)
    assert (masks[np.arange(GAMES), chosen] == 1).all()


@pytest.mark.parametrize("spec", ["greedy", QUICK_SEARCH])
def test_the_same_numbers_in_other_arrays_are_welcome(env: VectorEnv, spec: str) -> None:
    rows, masks = shown(env)
    expected = agent_of(spec, env).act(rows, masks)
    frozen = rows.copy()
    frozen.setflags(write=False)
    others = (
        *(rows.tolist(), rows.astype(np.float64), rows.astype(np.uint8), rows.astype(">i4"), frozen),
        *(np.asfortranarray(rows), np.repeat(rows, 2, axis=0)[::2], rows.view(np.recarray)),
        np.ma.masked_array(rows),
    )
    for other in others:
        assert np.array_equal(agent_of(spec, env).act(other, masks), expected)
        assert np.array_equal(agent_of(spec, env).act(other, masks.tolist()), expected)
    assert agent_of(spec, env).act(rows[:0], masks[:0]).tolist() == []
    assert agent_of(spec, env).act(rows[:0], masks[:0], slot_ids=[]).tolist() == []


@every_kind
def test_masks_of_another_shape_are_refused(env: VectorEnv, spec: str) -> None:
    rows, masks = shown(env)
    agent = agent_of(spec, env)
    for wrong in (masks[:-1], masks[:, :-1], masks[0], np.zeros((GAMES, 52), np.int8), 7, [[1, 2], [3]]):
        with pytest.raises(AgentError, match=r"action_masks have the shape .* expected \(6, 42\)"):
            agent.act(rows, wrong)


# Slot ids ---------------------------------------------------------------------------------------------------

WRONG_SLOT_IDS: dict[str, tuple[Any, str]] = {
    "negative": (np.arange(-1, GAMES - 1), r"slot_ids\[0\] is -1; it must be from 0"),
    "far beyond": (np.array([0, 1, 10**11, 3, 4, 5]), r"slot_ids\[2\] is 100000000000"),
    "unsigned": (np.full(GAMES, 2**64 - 1, np.uint64), r"is 18446744073709551615"),
    "too few": (np.arange(2), r"slot_ids have the shape \(2,\); expected \(6,\)"),
    "a number": (3, r"slot_ids have the shape \(\)"),
    "float": (np.arange(GAMES) + 0.5, "slot_ids have the dtype float64; expected whole numbers"),
    "text": (["a"] * GAMES, "slot_ids have the dtype <U1"),
    "ragged": ([[1], [2, 3], 1, 2, 3, 4], r"slot_ids have the shape \(0, 0\)"),
}


@each("spec", ["greedy", QUICK_SEARCH, "human"])
@each("kind", WRONG_SLOT_IDS)
def test_places_that_are_none_are_refused(env: VectorEnv, spec: str, kind: str) -> None:
    rows, masks = shown(env)
    slot_ids, words = WRONG_SLOT_IDS[kind]
    with pytest.raises(AgentError, match=words):
        agent_of(spec, env).act(rows, masks, slot_ids=slot_ids)


def test_rows_may_share_a_place(env: VectorEnv) -> None:
    rows, masks = shown(env)
    for spec in ("arnold", QUICK_SEARCH):
        chosen = agent_of(spec, env).act(rows, masks, slot_ids=np.zeros(GAMES, np.int32))
        assert (masks[np.arange(GAMES), chosen] == 1).all()


# Rows that the table cannot show ----------------------------------------------------------------------------


def changed(row: np.ndarray, env: VectorEnv, name: str, value: int, place: int = 0) -> np.ndarray:
    row = row.copy()
    row[env.section(name).start + place] = value
    return row


def moved(row: np.ndarray, env: VectorEnv, name: str, by: int) -> np.ndarray:
    """The row with ones of a section in the next places."""
    row = row.copy()
    row[env.section(name)] = np.roll(row[env.section(name)], by)
    return row


def test_each_fault_is_named(env: VectorEnv) -> None:
    rows, masks = shown(env)
    row = rows[2]
    assert row[env.section("phase")].tolist() == [1, 0, 0]
    held = int(row[env.section("hand")].argmax())
    less = int(row[env.section("hand")][held]) - 1
    unseen = int(row[env.section("unseen")].argmax())
    copies = changed(row, env, "discard_pile", env.rules.deck[unseen], unseen)
    odd = {
        "number 3 of 'hand' is -1; allowed: 0 to": changed(row, env, "hand", -1, 3),
        "number 0 of 'draw_pile' is 107; allowed: 0 to 106": changed(row, env, "draw_pile", 107),
        FAULTS[2]: changed(row, env, "phase", 1, 1),
        "number 1 of 'pending_hazard' is 2": changed(row, env, "pending_hazard", 2, 1),
        FAULTS[3]: moved(row, env, "to_act", 1),
        FAULTS[4]: changed(row, env, "hand", less, held),
        FAULTS[5]: changed(row, env, "draw_pile", int(row[env.section("draw_pile")][0]) - 1),
        FAULTS[6]: copies,
        FAULTS[7]: changed(changed(row, env, "battle", 1), env, "battle", 1, 8),
        FAULTS[8]: changed(row, env, "target", 20),
        FAULTS[9]: moved(row, env, "phase", 2),
    }
    for spec in ("greedy", QUICK_SEARCH):
        agent = agent_of(spec, env)
        for words, wrong in odd.items():
            shown_rows = rows.copy()
            shown_rows[2] = wrong
            with pytest.raises(AgentError) as refused:
                agent.act(shown_rows, masks)
            assert "observations[2] is impossible" in str(refused.value)
            assert words in str(refused.value), str(refused.value)


def test_rows_of_other_tables_are_refused() -> None:
    agent = load("greedy", vector_env(1))
    for name, players, words in (
        ("parker", 3, r"shape \(4, \d+\)"),
        ("dujardin", 2, "more copies of a card than in the deck"),
        ("parker+target=500", 2, "the target does not go with the extension"),
    ):
        env = vector_env(4, name, players=players, seed=1)
        env.reset()
        with pytest.raises(AgentError, match=words):
            agent.act(*shown(env))
    shows_rules = vector_env(4, seed=1, observe_rules=True)
    by_rules = load("greedy", shows_rules)
    by_rules.act(shows_rules.reset()[0]["observation"], None)  # type: ignore[arg-type]
    other = vector_env(4, "parker+goal=1000", seed=1, observe_rules=True)
    with pytest.raises(AgentError, match="of 'rules' is 10; allowed: 50"):
        by_rules.act(other.reset()[0]["observation"], None)  # type: ignore[arg-type]


@each("spec", [*COMPILED, QUICK_SEARCH, "human"])
def test_random_bytes_are_refused(env: VectorEnv, spec: str) -> None:
    rows, masks = shown(env)
    bytes_of_chance = np.random.default_rng(1).integers(-128, 128, rows.shape, np.int8)
    with pytest.raises(AgentError, match=r"observations\[0\] is impossible at its table"):
        agent_of(spec, env).act(bytes_of_chance, masks)


def test_a_policy_refuses_them_too(env: VectorEnv, tmp_path: Path) -> None:
    agent = load(str(write_run(tmp_path / "run", env, network_for(env))), env)
    rows, masks = shown(env)
    bytes_of_chance = np.random.default_rng(1).integers(-128, 128, rows.shape, np.int8)
    for call in (lambda: agent.act(bytes_of_chance, masks), lambda: agent.inputs(bytes_of_chance)):
        with pytest.raises(AgentError, match=r"observations\[0\]"):
            call()
    with pytest.raises(AgentError, match=r"expected \(N, 119\)"):
        agent.inputs(rows[:, :-2])
    for wrong in (agent.inputs(rows)[:, :-1], agent.inputs(rows)[0]):
        with pytest.raises(AgentError, match=r"its network takes \(N, 119\)"):
            agent.logits(wrong)


@pytest.mark.parametrize(("name", "players"), [("parker", 2), ("dujardin", 4), ("winning_moves", 3)])
def test_a_changed_number_is_refused_or_harmless(name: str, players: int) -> None:
    """Fuzzing: what an agent answers at all is an action of the table."""
    random = np.random.default_rng(5)
    env = vector_env(64, name, players=players, seed=4, episode="match")
    env.reset()
    choosers = [load(spec, env) for spec in COMPILED]
    refused = answered = 0
    for turn in range(40):
        env.step(env.sample_actions())
        rows, masks = shown(env)
        for row in rows:
            for _ in range(random.integers(1, 3)):
                row[random.integers(len(row))] = random.integers(-2, 4)
        for number in range(turn % 8, 64, 8):
            agent = choosers[number % len(choosers)]
            try:
                (action,) = agent.act(rows[number : number + 1], masks[number : number + 1])
            except AgentError:
                refused += 1
            else:
                answered += 1
                assert 0 <= action < masks.shape[1]
    assert refused > 100
    assert answered > 20  # a number that was the same, or did not matter


@pytest.mark.parametrize("spec", ["random", "arnold", QUICK_SEARCH])
def test_after_an_error_an_agent_is_as_it_was(env: VectorEnv, spec: str) -> None:
    rows, masks = shown(env)
    agent, twin = agent_of(spec, env), agent_of(spec, env)
    odd = rows.copy()
    odd[5] = 127
    for _ in range(4):
        assert np.array_equal(agent.act(rows, masks), twin.act(rows, masks))
        for wrong, slot_ids in ((rows[:, 1:], None), (odd, None), (rows, np.full(GAMES, -1))):
            with pytest.raises(AgentError):
                agent.act(wrong, masks, slot_ids=slot_ids)
    agent.forget()
    agent.forget()
    assert agent.act(rows, masks).shape == (GAMES,)


# Search that is handed the games ----------------------------------------------------------------------------


@pytest.fixture
def searcher(env: VectorEnv) -> SearchAgent:
    agent = load(QUICK_SEARCH, env)
    return agent


def test_search_refuses_games_that_are_none_of_its_table(env: VectorEnv, searcher: SearchAgent) -> None:
    states, seats, slot_ids = env.get_states(), env.agent_selection.astype(np.int32), np.arange(GAMES)
    of_three = vector_env(GAMES, players=3, seed=2)
    of_three.reset()
    full_of_100 = states.copy()
    full_of_100["deck"][3] = 100
    for wrong, words in (
        (
            of_three.get_states(),
            r"states\[0\] is not a valid state for the table of .* \(parker, 2 players\)",
        ),
        (full_of_100, r"states\[3\]"),
        (states["seat"], "got an array of another kind or version"),
        (states.tobytes(), "of another kind or version"),
        (states.reshape(2, 3), r"got .*shape \(2, 3\)"),
    ):
        with pytest.raises(StateError, match=words):
            searcher.act_on(wrong, seats, slot_ids)  # type: ignore[arg-type]
    assert searcher.act_on(states, seats, slot_ids).shape == (GAMES,)


def test_search_refuses_seats_and_slot_ids_that_are_none(env: VectorEnv, searcher: SearchAgent) -> None:
    states, seats, slot_ids = env.get_states(), env.agent_selection.astype(np.int32), np.arange(GAMES)
    for wrong, words in (
        (seats[:2], r"seats are int32\[2\]; expected int32\[6\]"),
        (seats * 1.0, "seats are float64"),
        (seats + 2, "seats range from 2 to 3; at its table from 0 to 1"),
        (1 - seats, "was asked to choose, but it is the turn of seat"),
    ):
        with pytest.raises(AgentError, match=words):
            searcher.act_on(states, wrong, slot_ids)
    for wrong in (slot_ids[:2], slot_ids - 1, slot_ids + 0.5, slot_ids * 10**11):
        with pytest.raises(AgentError, match="slot"):
            searcher.act_on(states, seats, wrong)


# What a call costs ------------------------------------------------------------------------------------------


@pytest.mark.skipif(not IS_COMPILED, reason="plain Python looks at no types")
@pytest.mark.parametrize("spec", ["greedy", "arnold"])
def test_numba_works_out_no_type_anew_at_a_call(
    env: VectorEnv, spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it did, of the agent's function, took fifty times as long as a step of the environment."""
    from numba.core import dispatcher  # noqa: PLC0415 - not there in plain Python

    rows, masks = shown(env)
    agent = load(spec, env)
    agent.act(rows[:1], masks[:1])
    asked: list[object] = []
    typeof = dispatcher.typeof
    monkeypatch.setattr(dispatcher, "typeof", lambda *given: (asked.append(given[0]), typeof(*given))[1])
    for _ in range(3):
        agent.act(rows[:1], masks[:1])
    assert asked == []
