"""The frame of compiled agents: what they are shown, what they remember, how they are loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from millebornes_env import agents, edition, editions, vector_env
from millebornes_env.agents.compiled.agent import (
    FIRST_OF_MATCH,
    MAX_OPTIONS,
    MEMORY,
    CompiledAgent,
    Int16Array,
    Int64Array,
    agent_kernels_of,
    decisions_taken,
)
from millebornes_env.agents.millebornes import observation_reader as seen
from millebornes_env.agents.millebornes.observation_reader import read_observation, starts_of
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.cache import sources_on_top
from millebornes_env.engine.numba.compiling import for_kernels, plain
from millebornes_env.games.millebornes.legality import write_mask
from millebornes_env.games.millebornes.motion import is_moving
from millebornes_env.games.millebornes.rules import RulesRecord, compiled_rules
from millebornes_env.games.millebornes.state import State, new_states
from tests.each import each

TABLES = [(name, *table) for name in editions() for table in edition(name).tables]

VISIBLE = (
    *("draw_pile", "phase", "pending_hazard", "target", "discard_pile", "hidden"),
    *("km", "battle", "opening"),
)
"""Fields that the observer sees unchanged, apart from the order of teams."""


def choose_by_count(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    """Counts its decisions of the round and of the match, and says so by the action that it would choose."""
    memory[2] += 1
    memory[FIRST_OF_MATCH] += 1
    return int(options[0]) * int(memory[2]) + 1000 * int(memory[FIRST_OF_MATCH])


class CountingAgent(CompiledAgent):
    rule = staticmethod(choose_by_count)

    def __init__(self, table: Table, seed: int = 0, step: int = 1) -> None:
        super().__init__(table, seed, (step,))


def choose_draw(
    state: State, rules: RulesRecord, seat: int, memory: Int16Array, options: Int64Array, draw: int
) -> int:
    return draw


class DrawingAgent(CompiledAgent):
    rule = staticmethod(choose_draw)


@each("number", range(len(TABLES)))
def test_what_a_seat_sees_is_read_back(number: int) -> None:
    name, players, teams = TABLES[number]
    env = vector_env(16, name, players=players, teams=teams, padded=number % 2 == 1, episode="match", seed=5)
    table = Table.of(env)
    starts, rules = starts_of(table), compiled_rules(env.rules)
    read = for_kernels(new_states(1))[0]
    env.reset()
    for turn in range(90):
        env.step(env.sample_actions())
        if turn % 10:
            continue
        states = env.get_states()
        seats = (np.arange(16) + turn) % players
        rows = env.observe(seats)
        for game, seat in enumerate(int(seat) for seat in seats):
            state = states[game]
            read_observation(rows[game], starts, rules, read)
            order = [(seat + place) % teams for place in range(teams)]
            for field in VISIBLE:
                seen = state[field][order] if field in ("km", "battle", "opening") else state[field]
                known = read[field][:teams] if field in ("km", "battle", "opening") else read[field]
                assert np.array_equal(known, seen), field
            assert np.array_equal(read["hand"][0], state["hand"][seat])
            assert not read["hand"][1:].any()
            assert (read["deck"] == -1).all()
            assert (int(read["seat"]) + seat) % players == state["seat"]
            assert [int(count) for count in read["hand_count"][:players]] == [
                int(state["hand_count"][(seat + place) % players]) for place in range(players)
            ]
            assert [is_moving(read, rules, team) for team in range(teams)] == [
                is_moving(states[game], rules, team) for team in order
            ]
            if seat == state["seat"]:
                masks = np.zeros((2, 42 + 5 * (teams - 2)), np.int8)
                write_mask(read, rules, masks[0])
                write_mask(for_kernels(states)[game], rules, masks[1])
                assert np.array_equal(*masks)


def test_observations_without_the_unseen_cards_are_refused() -> None:
    env = vector_env(2, observe_unseen=False)
    with pytest.raises(ValueError, match=r"no section .unseen.*observe_unseen=True"):
        CountingAgent(Table.of(env))


def test_a_memory_lasts_for_a_round_and_a_part_of_it_for_the_match() -> None:
    table = Table.of(vector_env(1))
    agent, states, rules = CountingAgent(table), for_kernels(new_states(1)), compiled_rules(table.rules)
    memories, actions, zeros = np.zeros((1, MEMORY), np.int16), np.zeros(1, np.int64), np.zeros(1, np.int64)
    memory, seats = memories[0], np.zeros(1, np.int32)
    choose_each = agent_kernels_of(table.rulebook).choose_each

    def chosen() -> int:
        choose_each(agent.address, states, rules, seats, memories, agent.options, zeros, actions)
        return int(actions[0])

    for number, pile in enumerate((80, 78, 78, 60, 3, 0, 0)):
        states[0]["draw_pile"] = pile
        assert plain(decisions_taken)(seen, states[0], memory) == number
        assert chosen() == 1001 * (number + 1)
        memory[3:FIRST_OF_MATCH] += 1
    states[0]["draw_pile"] = 79
    assert plain(decisions_taken)(seen, states[0], memory) == 0
    assert chosen() == 8001
    assert not memory[3:FIRST_OF_MATCH].any()


def test_slots_keep_memories_apart() -> None:
    env = vector_env(3, seed=1)
    observations, _ = env.reset()
    rows, masks = observations["observation"], observations["action_mask"]
    agent = CountingAgent(Table.of(env))
    assert agent.act(rows, masks).tolist() == [1001, 1001, 1001]
    assert agent.act(rows, masks).tolist() == [2002, 2002, 2002]
    assert agent.act(rows[1:], masks[1:], slot_ids=np.array([1, 70])).tolist() == [3003, 1001]
    assert agent.act(rows[:1], masks[:1], slot_ids=np.array([70])).tolist() == [2002]
    assert agent.act(rows, masks).tolist() == [3003, 4004, 3003]


def test_every_decision_has_another_random_number_and_the_seed_gives_them_all() -> None:
    env = vector_env(64, seed=1)
    observations, _ = env.reset()
    rows = (observations["observation"], observations["action_mask"])
    agent, twin, other = (DrawingAgent(Table.of(env), seed) for seed in (3, 3, 4))
    draws = np.concatenate([agent.act(*rows) for _ in range(20)])
    assert len(set(draws.tolist())) == 1280
    assert draws.tolist() == np.concatenate([twin.act(*rows) for _ in range(20)]).tolist()
    assert not set(draws.tolist()) & set(np.concatenate([other.act(*rows) for _ in range(20)]).tolist())
    assert abs(draws.mean() / 2**32 - 0.5) < 0.05


def test_options_that_stand_alone_are_switches(monkeypatch: pytest.MonkeyPatch) -> None:
    class SwitchedAgent(CountingAgent):
        def __init__(self, table: Table, seed: int = 0, bold: bool = False, pile: int = 7) -> None:
            CompiledAgent.__init__(self, table, seed, (int(bold), pile))

    monkeypatch.setitem(agents.AGENTS, "switched", SwitchedAgent)
    env = vector_env(1)
    for spec, expected in {
        "switched": [0, 7],
        "switched:bold": [1, 7],
        "switched:bold=0,pile=9": [0, 9],
        "switched:pile=9,bold=yes": [1, 9],
    }.items():
        loaded = agents.load(spec, env)
        assert loaded.options[:2].tolist() == expected
        assert len(loaded.options) == MAX_OPTIONS
        assert loaded.name == spec
    with pytest.raises(agents.AgentError, match="the option bold is '2'"):
        agents.load("switched:bold=2", env)
    with pytest.raises(agents.AgentError, match="the option pile is ''"):
        agents.load("switched:pile", env)


def test_the_cache_of_a_compiled_agent_depends_on_all_files_that_it_calls() -> None:
    folder = Path(agents.__file__).parent
    names = {
        str(path.relative_to(folder))
        for path in sources_on_top("millebornes_env.agents.millebornes.arnold.agent")
    }
    assert {f"millebornes/arnold/{name}.py" for name in ("agent", "values", "questions")} <= names
    assert {"compiled/agent.py", "decoder.py"} <= names
    assert "millebornes/racer.py" not in names
    assert not sources_on_top("millebornes_env.games.millebornes.turn")
