"""The engine of the page, run in Wasmtime: it plays the golden games, and decides as this machine's does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from export import page_kernels
from export.page_kernels import agents_of, table_of
from export.wasm import build
from millebornes_env.agents import registry
from millebornes_env.agents.champion import ChampionAgent
from millebornes_env.agents.compiled.agent import MEMORY, CompiledAgent, agent_kernels_of
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.search.hidden_cards import no_hands
from millebornes_env.agents.search.kernels import new_decisions
from millebornes_env.engine.batch import NO_GAME, Batch
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import SAME_STEP
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.editions import edition, editions
from millebornes_env.games.millebornes.rules import compiled_rules
from tests.golden import trace
from tests.golden.test_golden import differences
from tests.play.web.host import Host, PageGames

pytestmark = pytest.mark.web

TABLES = [(name, *table) for name in editions() for table in edition(name).tables]
tables = pytest.mark.parametrize("where", TABLES, ids=lambda where: "{}-{}-in-{}".format(*where))


@pytest.fixture
def page_games(host: Host, monkeypatch: pytest.MonkeyPatch) -> type[PageGames]:
    games = type("Games", (PageGames,), {"host": host})
    monkeypatch.setattr(trace, "Batch", games)
    return games


@tables
def test_the_golden_games_come_out_the_same(where: Any, page_games: type[PageGames]) -> None:
    name, players, teams = where
    assert differences(trace.file_of(edition(name), players, teams).read_text(encoding="utf-8")) == []


@pytest.mark.slow
def test_the_same_sources_make_the_same_bytes(host: Host, tmp_path: Path) -> None:
    """Built once more, in a process of its own: a minute or two."""
    again = {file.name: file.read_bytes() for file in build(tmp_path)}
    assert again == {file.name: file.read_bytes() for file in host.folder.iterdir()}


@pytest.mark.slow
@tables
def test_10_000_rounds_of_random_play_come_out_the_same(where: Any, page_games: type[PageGames]) -> None:
    """Every record and every buffer after every step."""
    check_rounds(where, page_games, 10_000, 1_000)


@pytest.mark.parametrize("where", [("parker", 2, 2), ("dujardin", 8, 4)])
def test_random_play_comes_out_the_same(where: Any, page_games: type[PageGames]) -> None:
    check_rounds(where, page_games, 100, 100)


def check_rounds(where: Any, page_games: type[PageGames], rounds: int, count: int) -> None:
    settings = trace.SETTINGS._replace(autoreset=SAME_STEP, episode=1)
    rules = edition(where[0]).table(*where[1:])
    here, there = (kind(rulebook, count, rules, settings) for kind in (Batch, page_games))
    for games in (here, there):
        games.seed(12)
        games.start()
    ended = turn = 0
    while ended < rounds:
        before = here.states["round_number"] + here.states["episode"]
        chosen = here.sample((0, 3), turn)
        np.testing.assert_array_equal(there.sample((0, 3), turn), chosen)
        assert here.step(chosen) == there.step(chosen) == NO_GAME
        assert here.states.tobytes() == there.states.tobytes()
        for name, array in here.buffers._asdict().items():
            assert array.tobytes() == getattr(there.buffers, name).tobytes(), name
        ended += int((here.states["round_number"] + here.states["episode"] != before).sum())
        turn += 1


def positions(where: Any, count: int, seed: int = 1) -> Batch:
    """Games of a table, each at another place of a round of random play."""
    games = Batch(rulebook, count, edition(where[0]).table(*where[1:]), trace.SETTINGS)
    games.seed(seed)
    games.start()
    for turn in range(120):
        actions = games.sample((0, seed), turn)
        actions[np.arange(count) % 100 < turn] = -1
        games.step(actions)
    return games


@tables
def test_agents_decide_as_natively(where: Any, host: Host) -> None:
    games = positions(where, 60)
    table = table_of(*where)
    for name, agent in agents_of(table).items():
        chosen = decided_here(agent, games)
        options = host.copy(np.array(told_of(host, where)["agents"][name], np.int64))
        np.testing.assert_array_equal(decided_there(host, name, options, games), chosen, err_msg=name)


@tables
def test_the_champion_decides_as_natively(where: Any, host: Host) -> None:
    games = positions(where, 300)
    table = table_of(*where)
    agent = ChampionAgent(table)
    chosen = decided_here(agent, games)
    result = decided_there(host, page_kernels.NETWORK, host.champion_options(table), games)
    np.testing.assert_array_equal(result, chosen)


@pytest.mark.parametrize(
    "spec", ["strategist+search:rollouts=20", "champion+search:rollouts=20,belief=uniform"]
)
def test_search_decides_as_natively(spec: str, host: Host) -> None:
    games = positions(("parker", 2, 2), 12, seed=3)
    states = for_kernels(games.states[games.buffers.action_mask.any(axis=1)])
    check_search(host, spec, "parker", states)


@pytest.mark.parametrize("agent", ["strategist", "champion"])
def test_ends_of_rounds_are_searched_as_natively(agent: str, host: Host) -> None:
    name = "parker+hand_limit=3+count_points=0"
    check_search(host, f"{agent}+search:rollouts=20,belief=uniform", name, ends(name, 8))


def ends(name: str, count: int) -> Any:
    """Positions with an empty draw pile in which there is a choice, one of a round, early or late."""
    games = Batch(rulebook, 200, edition(name).table(2), trace.SETTINGS)
    games.seed(5)
    games.start()
    result, left = [], np.arange(200) % 8
    for turn in range(200):
        masks = games.buffers.action_mask
        is_end = (games.states["draw_pile"] == 0) & (masks.sum(axis=1) > 1)
        result.append(games.states[is_end & (left == 0)].copy())
        left -= is_end
        actions = games.sample((0, 6), turn)
        actions[~masks.any(axis=1)] = -1
        games.step(actions)
    states = np.concatenate(result)
    assert len(states) >= count
    return for_kernels(states[:: len(states) // count][:count].copy())


def check_search(host: Host, spec: str, name: str, states: Any, players: int = 2) -> None:
    """Compare what search decides here and there."""
    seats, slots = states["seat"].astype(np.int32), np.arange(len(states))
    table = table_of(name, players, players)
    search: Any = registry.make(spec, table, 5)
    chosen = search.act_on(states, seats, slots)
    np.testing.assert_array_equal(searched_there(host, search, states, seats), chosen)


def searched_there(host: Host, search: Any, states: Any, seats: Any) -> Any:
    """The actions of a `SearchAgent`, by the page's kernels, in decisions that it has not met before."""
    count, name, players = len(states), search.rollout_agent.name, search.table.rules.players
    is_network = isinstance(search.rollout_agent, PolicyAgent)
    options = host.champion_options(search.table) if is_network else host.copy(search.rollout_agent.options)
    address = host.function(page_kernels.NETWORK if is_network else name)
    searcher = (address, options, search._default_starts, 0, search._rollouts, search._depth, *search._key)
    room = host.array(3 * count, states.dtype)
    made = new_decisions(count, players, search.table.num_actions, room)
    decisions = [array if name in STATES else host.copy(array) for name, array in made._asdict().items()]
    rules = host.copy(rulebook.rules_array(search.table.rules).view(np.ndarray))[0]
    row, memories = host.array(search._default_size, np.int8), host.array((count, MEMORY), np.int16)
    slots, taken, actions = (
        host.copy(np.arange(count)),
        host.array(count, np.int64),
        host.array(count, np.int64),
    )
    at_table = (host.copy(states), rules, host.copy(seats), row, slots, memories, taken, decisions)
    host.kernel("begin_search")(*searcher, *at_table)
    go_on = host.kernel("go_on_searching")
    hands = host.array(no_hands().shape, np.int8)
    assert all(go_on(*searcher, rules, decisions, number, 1 << 40, hands) == 1 for number in range(count))
    thousandths = round(1000 * search._z)
    host.kernel("conclude_search")(options, search._default_starts, thousandths, decisions, actions)
    return actions


STATES = ("roots", "dealt", "games")


def decided_here(agent: CompiledAgent, games: Batch) -> Any:
    """Return an agent's choice in each game, computed by native code."""
    return _decided(agent_kernels_of(rulebook).choose_each, agent.address, agent.options, games, np.zeros)


def decided_there(host: Host, name: str, options: Any, games: Batch) -> Any:
    """Return an agent's choice in each game, computed by the page's code."""
    return _decided(host.kernel("choose_each"), host.function(name), options, games, host.array, host)


def _decided(
    choose_each: Callable[..., Any],
    choose: int,
    options: Any,
    games: Batch,
    room: Callable[..., Any],
    host: Host | None = None,
) -> Any:
    count = len(games)
    states = for_kernels(games.states)
    rules = games.rules
    record = compiled_rules(rules)
    if host is not None:
        states = host.copy(states)
        record = host.copy(rulebook.rules_array(rules).view(np.ndarray))[0]
    seats, memories = room(count, np.int32), room((count, MEMORY), np.int16)
    draws, actions = room(count, np.int64), room(count, np.int64)
    seats[:] = games.states["seat"]
    draws[:] = [random_word(7, 8, number) for number in range(count)]
    open_games = np.flatnonzero(games.buffers.action_mask.any(axis=1))
    choose_each(choose, states, record, seats, memories, options, draws, actions)
    return actions[open_games].copy()


def told_of(host: Host, where: Any) -> dict[str, Any]:
    """Return the page's data about a table."""
    name, players, teams = where
    sheet = next(one for one in host.data["editions"] if one["name"] == name)
    return next(one for one in sheet["tables"] if (one["players"], one["teams"]) == (players, teams))
