"""Wrong arguments of every constructor and method: refused in words, with nothing changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, millebornes_v0, vector_env
from millebornes_env.engine.games import new_buffers
from millebornes_env.envs.aec import raw_env
from millebornes_env.errors import (
    ActionRangeError,
    ActionShapeError,
    ClosedError,
    NumEnvsError,
    OptionError,
    PlayersError,
    ResetNeededError,
    SeedError,
    UnknownEditionError,
    shown,
)
from millebornes_env.millebornes import rulebook
from tests.envs.playing import choose, refused, snapshot, started


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError("no words for it")


HUGE = 10**5000
"""More digits than Python writes down."""


def named(value: object) -> str:
    """What a test is called, the same in all processes."""
    return "unshowable" if isinstance(value, Unshowable) else shown(value)


makers = pytest.mark.parametrize("make", [vector_env, millebornes_v0.env])


# How a message shows a value.


def test_what_is_shown_is_one_short_line() -> None:
    for value in (
        HUGE,
        -HUGE,
        "x" * 10**6,
        list(range(10**6)),
        np.zeros((50, 50)),
        {1: [2] * 10**5},
        Unshowable(),
    ):
        text = shown(value)
        assert 0 < len(text) < 200
        assert "\n" not in text
    assert [shown(value) for value in (5, "5", 1.5, None, [1, 2])] == ["5", "'5'", "1.5", "None", "[1, 2]"]


# Constructors.


@pytest.mark.parametrize("num_envs", [10**20, 2**31, HUGE], ids=named)
def test_more_games_than_can_be_numbered(num_envs: int) -> None:
    refused(NumEnvsError, ["num_envs is", "2,147,483,647 or less"], vector_env, num_envs)


def test_more_games_than_there_is_memory_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are refused before the memory is asked for: some systems promise more than they have."""
    monkeypatch.setattr(
        "os.sysconf", lambda name: {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 100}[name], raising=False
    )
    assert vector_env(8).num_envs == 8
    refused(NumEnvsError, ["num_envs is 1000000", "GiB", "make fewer"], vector_env, 1_000_000)


def test_memory_that_runs_out_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("millebornes_env.envs.vector.new_buffers", full)
    refused(NumEnvsError, ["num_envs is 4", "more memory than there is"], vector_env, 4)


@pytest.mark.parametrize("threads", [1025, 10**9, HUGE], ids=named)
def test_more_threads_than_any_machine_has(threads: int) -> None:
    refused(OptionError, ["num_threads is", "1,024 or less"], vector_env, num_threads=threads)


def test_more_threads_than_this_machine_has_are_fine() -> None:
    assert vector_env(2, num_threads=1024).games.num_threads == 1


@makers
@pytest.mark.parametrize("name", ["observe_unseen", "observe_rules", "padded"])
@pytest.mark.parametrize(
    "value", ["no", "False", 0, 1, 0.0, None, [], np.array([1, 0]), np.array([True])], ids=repr
)
def test_what_is_neither_true_nor_false(make: Callable[..., Any], name: str, value: object) -> None:
    refused(OptionError, [f"{name} is {shown(value)}", "True or False"], make, **{name: value})


def test_numpys_booleans_are_fine() -> None:
    env = vector_env(observe_unseen=np.False_, padded=np.True_)  # type: ignore[arg-type]
    assert env.observation_spec == vector_env(observe_unseen=False, padded=True).observation_spec


@makers
@pytest.mark.parametrize("name", ["players", "teams"])
@pytest.mark.parametrize(
    "value", ["2", 2.0, True, np.float64(2), [2], np.array([2, 2]), Unshowable()], ids=named
)
def test_seats_and_teams_that_are_no_whole_numbers(
    make: Callable[..., Any], name: str, value: object
) -> None:
    words = [f"{name} is {shown(value)}", "whole number", "'parker'", "4 players in 2 teams"]
    refused(PlayersError, words, make, **{name: value})


@makers
def test_no_players(make: Callable[..., Any]) -> None:
    refused(PlayersError, ["players is None", "whole number"], make, players=None)
    refused(PlayersError, ["players"], make, players=HUGE)


@makers
def test_numpys_whole_numbers_are_fine(make: Callable[..., Any]) -> None:
    assert len(make(players=np.int8(4), teams=np.uint16(2)).possible_agents) == 4


@makers
@pytest.mark.parametrize("name", ["episode", "reward", "illegal_action"])
@pytest.mark.parametrize(
    "value", [b"round", 1.5, ["round"], np.array(["a", "b"]), HUGE, "x" * 10**5, Unshowable()], ids=named
)
def test_options_that_are_no_text(make: Callable[..., Any], name: str, value: object) -> None:
    message = refused(OptionError, [f"{name} is {shown(value)}"], make, **{name: value})
    assert len(message) < 400


@pytest.mark.parametrize("value", [b"same_step", 1.5, ["same_step"], HUGE, Unshowable()], ids=named)
def test_autoreset_modes_that_are_no_text(value: object) -> None:
    refused(OptionError, ["autoreset_mode is", "'SAME_STEP'"], vector_env, autoreset_mode=value)


@makers
@pytest.mark.parametrize(
    "value", [b"parker", ["parker"], 1.5, HUGE, Unshowable(), "x" * 10**5, "par\0ker", "par\nker"], ids=named
)
def test_editions_that_are_none(make: Callable[..., Any], value: object) -> None:
    message = refused(UnknownEditionError, ["parker"], make, edition=value)
    assert len(message) < 600


@pytest.mark.parametrize("value", [[1, 2], np.array([1, 2]), b"1", {}, HUGE, Unshowable()], ids=named)
def test_seeds_of_any_other_kind(value: object) -> None:
    refused(SeedError, ["seed is"], vector_env, seed=value)
    env = started(2, steps=3)
    before = snapshot(env)
    refused(SeedError, ["seed is"], env.reset, seed=value)
    refused(SeedError, ["seed is"], env.determinize, 0, seed=value)
    refused(SeedError, ["seed is"], millebornes_v0.env().reset, seed=value)
    assert snapshot(env) == before


# Methods of the vector environment.


@pytest.mark.parametrize("seed", [1.5, 1.0, "x", None, -1, 2**64, 2**70, True, np.True_, np.float64(1)])
def test_redealing_by_a_seed_that_is_none(seed: Any) -> None:
    env = started(2, steps=3)
    refused(SeedError, [f"seed is {seed!r}", "0 to 2**64 - 1"], env.determinize, 0, seed=seed)
    same = [env.determinize(0, seed=one).tobytes() for one in (2**64 - 1, np.uint64(2**64 - 1))]
    assert same[0] == same[1]


@pytest.mark.parametrize("method", ["render", "legal_actions"])
@pytest.mark.parametrize(
    "game", [1.5, 0.0, "0", None, True, [0], np.zeros(2, np.int64), -1, 2, HUGE, Unshowable()], ids=named
)
def test_a_game_that_there_is_not(method: str, game: Any) -> None:
    env = started(2, steps=3)
    words = [f"no game {shown(game)}", "0 to 1"]
    refused(OptionError, words, getattr(env, method), game)
    assert getattr(env, method)(np.int16(1)) == getattr(env, method)(1)


@pytest.mark.parametrize(
    "options", [5, 0, "", "reset_mask", [], ["reset_mask"], (), np.ones(2, np.bool_), True], ids=named
)
def test_reset_options_that_are_no_dictionary(options: Any) -> None:
    env = started(2, steps=3)
    before = snapshot(env)
    refused(OptionError, ["reset options", "dictionary"], env.reset, options=options)
    assert snapshot(env) == before


@pytest.mark.parametrize("options", [{5: 1}, {None: None}, {"x" * 10**5: 1}, {Unshowable(): 1}], ids="abcd")
def test_reset_options_of_other_names(options: Any) -> None:
    message = refused(OptionError, ["unknown reset option", "reset_mask"], started(2).reset, options=options)
    assert len(message) < 300


@pytest.mark.parametrize(
    "positions",
    [5, None, {}, {"a": 1}, np.zeros(2), [1, 2], [None, None], b"position", Unshowable()],
    ids=named,
)
def test_positions_that_are_none(positions: Any) -> None:
    env = started(2, steps=3)
    before = snapshot(env)
    refused(OptionError, ["positions"], env.reset, options={"positions": positions})
    assert snapshot(env) == before


@pytest.mark.parametrize(
    "name", [None, 5, "", ["hand"], np.array(["hand", "phase"]), "x" * 10**5, Unshowable()], ids=named
)
def test_a_section_of_another_kind(name: Any) -> None:
    message = refused(OptionError, ["no section", "hand, discard_pile"], vector_env().section, name)
    assert len(message) < 600


SEATS: list[Any] = [
    True,
    [True, False],
    1.5,
    "0",
    None,
    {},
    [],
    [[0, 1]],
    [HUGE, 0],
    2**40,
    -(2**40),
    Unshowable(),
]


@pytest.mark.parametrize("seats", SEATS, ids=named)
@pytest.mark.parametrize("method", ["observe", "determinize"])
def test_seats_of_any_other_kind(method: str, seats: Any) -> None:
    env = started(2, steps=3)
    refused(OptionError, ["seats"], getattr(env, method), seats)


@pytest.mark.parametrize("actions", [{}, "19", b"1", 1.5, [HUGE, 0], [{}, {}], Unshowable()], ids=named)
def test_actions_of_any_other_kind(actions: Any) -> None:
    env = started(2, steps=3)
    before = snapshot(env)
    refused(ActionShapeError, ["actions have the"], env.step, actions)
    assert snapshot(env) == before


ALL_USES: dict[str, Callable[[VectorEnv], Any]] = {
    "render": VectorEnv.render,
    "determinize": lambda env: env.determinize(0),
    "set_states": lambda env: env.set_states(np.zeros(2)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", ALL_USES)
def test_after_close(name: str) -> None:
    env = started(2)
    env.close()
    refused(ClosedError, ["closed"], ALL_USES[name], env)


def test_what_the_constructor_refuses_leaves_the_callers_buffers_alone() -> None:
    plain = vector_env(2)
    buffers = new_buffers(rulebook, 2, plain.rules, plain.settings)
    kept = [array.tobytes() for array in buffers]
    refused(SeedError, [], vector_env, 2, buffers=buffers, seed=-1)
    assert [array.tobytes() for array in buffers] == kept


# The AEC environment.


def begun(**options: Any) -> raw_env:
    env = millebornes_v0.env(**options)
    env.reset(seed=1)
    return env


def to_the_end(env: raw_env) -> raw_env:
    while not any(env.terminations.values()):
        seen = env.observe(env.agent_selection)
        env.step(int(choose({name: array[np.newaxis] for name, array in seen.items()})[0]))
    return env


@pytest.mark.parametrize(
    "agent",
    ["player_2", "player_-1", "", None, 0, True, [], ["player_0"], np.array(["a", "b"]), Unshowable()],
    ids=named,
)
@pytest.mark.parametrize("method", ["action_space", "observation_space", "observe"])
def test_an_agent_that_there_is_not(method: str, agent: Any) -> None:
    words = [f"no agent {shown(agent)}", "player_0", "player_1"]
    refused(OptionError, words, getattr(begun(), method), agent)


def test_an_agent_that_there_is_not_cannot_be_selected() -> None:
    env = begun()
    selected = env.agent_selection
    with pytest.raises(OptionError, match="no agent 'player_9'"):
        env.agent_selection = "player_9"
    assert env.agent_selection == selected


@pytest.mark.parametrize("options", [5, "", [], "positions", True], ids=named)
def test_aec_reset_options_that_are_no_dictionary(options: Any) -> None:
    env = begun()
    before = env.state()
    refused(OptionError, ["reset options", "dictionary"], env.reset, options=options)
    assert np.array_equal(env.state(), before)


@pytest.mark.parametrize("action", [HUGE, -HUGE], ids=named)
def test_an_aec_action_too_large_to_be_written_down(action: int) -> None:
    refused(ActionRangeError, ["no action", "very large"], begun().step, action)


@pytest.mark.parametrize(
    "action", [[], [1, 2], {}, 1.5, b"1", np.array([1]), np.zeros(2), Unshowable()], ids=named
)
def test_aec_actions_of_any_other_kind(action: Any) -> None:
    refused(ActionShapeError, ["whole number"], begun().step, action)


@pytest.mark.parametrize("observe", ["no", 0, None, np.array([0, 1])], ids=named)
def test_last_is_told_whether_to_observe(observe: Any) -> None:
    refused(OptionError, [f"observe is {shown(observe)}", "True or False"], begun().last, observe)


class OwnIndex:
    def __index__(self) -> int:
        raise RuntimeError("I am none")


def test_a_number_that_fails_when_it_is_asked_for_its_value() -> None:
    refused(NumEnvsError, ["num_envs is", "whole number"], vector_env, OwnIndex())
    refused(SeedError, ["seed is", "whole number"], vector_env, seed=OwnIndex())
    refused(OptionError, ["no game"], started(2).render, OwnIndex())
    refused(ActionShapeError, ["whole number"], begun().step, OwnIndex())


def test_last_after_the_last_agent() -> None:
    env = to_the_end(begun())
    refused(ActionShapeError, ["player_", "must be None", "19"], env.step, 19)
    while env.agents:
        env.last()
        env.step(None)
    refused(ResetNeededError, ["over for all agents", "reset()"], env.last)
    env.reset(seed=2)
    assert env.last()[0] is not None


AEC_USES: dict[str, Callable[[raw_env], Any]] = {
    "last": raw_env.last,
    "render": raw_env.render,
    "observe": lambda env: env.observe("player_0"),
    "state": raw_env.state,
    "step": lambda env: env.step(19),
    "reset": raw_env.reset,
}


@pytest.mark.parametrize("name", AEC_USES)
@pytest.mark.parametrize("is_over", [False, True])
def test_the_aec_environment_after_close(name: str, is_over: bool) -> None:
    env = begun(render_mode="ansi")
    if is_over:
        to_the_end(env)
    env.close()
    env.close()
    refused(ClosedError, ["closed", "make a new one"], AEC_USES[name], env)
