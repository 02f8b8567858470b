"""Everything a caller can get wrong has an error of its own, which says what was wrong and what to do.

`tests/hostile` tries every argument with every kind of value; here it is what the messages say.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, edition, errors, millebornes_v0, vector_env
from millebornes_env.envs.aec import raw_env
from millebornes_env.errors import (
    ActionError,
    CallError,
    EditionError,
    IllegalActionError,
    MilleBornesError,
    OptionError,
    StateError,
    shown,
)
from millebornes_env.games.millebornes.state import STATE
from tests.each import each
from tests.envs.playing import begun, choice, choose, look, refused, snapshot, started
from tests.support import Position

HUGE = 10**5000
"""More digits than Python writes down."""

# The errors as such.


def all_errors() -> list[type]:
    result = [value for value in vars(errors).values() if isinstance(value, type)]
    assert len(result) > 10
    return result


def test_each_is_a_value_error_of_this_package() -> None:
    for error in all_errors():
        assert issubclass(error, ValueError)
        assert issubclass(error, MilleBornesError)
        assert error.__doc__


def test_what_is_shown_is_one_short_line() -> None:
    for value in (HUGE, -HUGE, "x" * 10**6, list(range(10**6)), np.zeros((50, 50)), {1: [2] * 10**5}):
        text = shown(value)
        assert 0 < len(text) < 200
        assert "\n" not in text
    assert [shown(value) for value in (5, "5", 1.5, None, [1, 2])] == ["5", "'5'", "1.5", "None", "[1, 2]"]


# Construction.

OF_BOTH: list[tuple[dict[str, Any], type[ValueError], list[str]]] = [
    ({"edition": "praker"}, EditionError, ["'praker'", "parker"]),
    ({"edition": "x" * 10**5}, EditionError, [shown("x" * 10**5)]),
    ({"players": 5}, OptionError, ["5 players", "'parker'", "2 players in 2 teams", "4 players in 2 teams"]),
    ({"players": 2.0}, OptionError, ["players is 2.0", "whole number"]),
    ({"players": 6, "teams": 2}, OptionError, ["6 players in 2 teams", "4 players in 2 teams"]),
    ({"episode": "rounds"}, OptionError, ["episode is 'rounds'", "Did you mean 'round'?"]),
    ({"episode": 0}, OptionError, ["episode is 0", "'round', 'match'"]),
    ({"reward": "point"}, OptionError, ["'points', 'win'", "Did you mean 'points'?"]),
    ({"illegal_action": "ignore"}, OptionError, ["'error', 'terminate'"]),
    ({"padded": 0}, OptionError, ["padded is 0", "True or False"]),
]
OF_VECTOR: list[tuple[dict[str, Any], type[ValueError], list[str]]] = [
    *OF_BOTH,
    ({"num_envs": 0}, OptionError, ["num_envs is 0", "1 or more"]),
    ({"num_envs": True}, OptionError, ["num_envs is True", "whole number"]),
    ({"num_envs": 2**31}, OptionError, ["num_envs is", "2,147,483,647 or less"]),
    ({"num_envs": HUGE}, OptionError, ["num_envs is", "2,147,483,647 or less"]),
    ({"num_threads": 0}, OptionError, ["num_threads is", "1 or more"]),
    ({"num_threads": 1025}, OptionError, ["num_threads is", "1,024 or less"]),
    ({"autoreset_mode": "same step"}, OptionError, ["autoreset_mode is", "'same_step'"]),
]


OF_AEC = [*OF_BOTH, ({"render_mode": "humans"}, OptionError, ["render_mode is 'humans'", "'ansi', 'human'"])]


@pytest.mark.parametrize(("make", "table"), [(vector_env, OF_VECTOR), (millebornes_v0.env, OF_AEC)])
def test_options_of_the_constructors(make: Callable[..., Any], table: list[Any]) -> None:
    for options, error, words in table:
        refused(error, words, make, **options)


def test_more_games_than_there_is_memory_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are refused before the memory is asked for: some systems promise more than they have."""
    monkeypatch.setattr(
        "os.sysconf", lambda name: {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 100}[name], raising=False
    )
    assert vector_env(8).num_envs == 8
    refused(OptionError, ["num_envs is 1000000", "GiB", "make fewer"], vector_env, 1_000_000)


# Seeds, resets and steps: refused, with nothing changed.


def test_seeds() -> None:
    env, aec = started(2, steps=5), millebornes_v0.env()
    before = snapshot(env)
    for seed in (-1, 2**64, 1.5, True):
        words = [f"seed is {seed!r}", "0 to 2**64 - 1" if type(seed) is int else "whole number"]
        given: Any = seed
        refused(OptionError, words, vector_env, seed=given)
        refused(OptionError, words, env.reset, seed=given)
        refused(OptionError, words, aec.reset, seed=given)
        refused(OptionError, [f"seed is {seed!r}", "0 to 2**64 - 1"], env.determinize, 0, seed=given)
    assert snapshot(env) == before
    same = [env.determinize(0, seed=one).tobytes() for one in (2**64 - 1, np.uint64(2**64 - 1))]
    assert same[0] == same[1]


def test_resets() -> None:
    env = started(2, steps=5)
    before = snapshot(env)
    for mask in (np.ones(3, np.bool_), np.ones(2, np.int8), None):
        refused(OptionError, ["reset_mask is", "bool[2]"], env.reset, options={"reset_mask": mask})
    for options in (5, ["reset_mask"]):
        refused(OptionError, ["reset options", "dictionary"], env.reset, options=options)
    for name in ("rest_mask", "x" * 10**5):
        words = ["unknown reset option", "'reset_mask'"]
        assert len(refused(OptionError, words, env.reset, options={name: 1})) < 300
    some = {"reset_mask": np.array([True, False])}
    refused(OptionError, ["either seed or reset_mask"], env.reset, seed=1, options=some)
    assert snapshot(env) == before
    env.reset(options={"reset_mask": [False, True]})  # a list is fine
    assert env.games.states["episode"].tolist() == [0, 1]
    refused(CallError, ["all games", "without a reset_mask"], vector_env(2).reset, options=some)


USES: dict[str, Callable[[Any], object]] = {
    "step": lambda env: env.step([19, 20]),
    "sample_actions": VectorEnv.sample_actions,
    "observe": lambda env: env.observe(0),
    "state": VectorEnv.state,
    "get_states": VectorEnv.get_states,
    "legal_actions": VectorEnv.legal_actions,
    "describe": lambda env: env.describe(0),
    "render": VectorEnv.render,
    "determinize": lambda env: env.determinize(0),
}
AFTER_CLOSE: dict[str, Callable[[Any], object]] = {
    **USES,
    "reset": VectorEnv.reset,
    "set_states": lambda env: env.set_states(np.zeros(2)),
}
AEC_USES: dict[str, Callable[[Any], Any]] = {
    "last": raw_env.last,
    "render": raw_env.render,
    "observe": lambda env: env.observe("player_0"),
    "state": raw_env.state,
    "step": lambda env: env.step(19),
    "legal_actions": raw_env.legal_actions,
    "reset": raw_env.reset,
}


def test_use_before_the_first_reset_and_after_close() -> None:
    for name, use in USES.items():
        refused(CallError, [name, "before reset()", "call reset()"], use, vector_env(2))
    env = started(2, steps=3)
    env.close()
    env.close()  # twice is fine
    for use in AFTER_CLOSE.values():
        refused(CallError, ["closed", "make a new one"], use, env)
    for is_over in (False, True):
        aec = begun(render_mode="ansi")
        if is_over:
            to_the_end(aec)
        aec.close()
        aec.close()
        for use in AEC_USES.values():
            refused(CallError, ["closed", "make a new one"], use, aec)


BIG = np.array([19, 2**64 - 1], np.uint64)
"""2**64 - 1 has the bits of -1, which would skip the game."""
ACTIONS: list[tuple[Any, type[ValueError], list[str]]] = [
    ([1], ActionError, ["shape", "(1,)", "(2,)"]),
    ([[1], [2]], ActionError, ["shape", "(2, 1)", "(2,)"]),
    (None, ActionError, ["shape", "()", "(2,)"]),
    ([0.0, 1.0], ActionError, ["dtype float64", "whole numbers"]),
    ([True, False], ActionError, ["dtype bool", "whole numbers"]),
    ([1, 10**30], ActionError, ["dtype object", "whole numbers"]),
    (BIG, ActionError, []),
    *(
        ([-1, action], ActionError, ["game 1, player_", f"no action {action};", "0 to 46"])
        for action in (47, -2, 2**62, -(2**63))
    ),
]


@each("actions, error, words", ACTIONS)
def test_actions_that_name_no_play(actions: Any, error: type[ValueError], words: list[str]) -> None:
    env = started(2, players=3, steps=5)
    before = snapshot(env)
    refused(error, words, env.step, actions)
    assert snapshot(env) == before


# Illegal actions.

CARDS = (
    *("25 km", "50 km", "75 km", "100 km", "200 km"),
    *("Accident", "Out of gas", "Flat tire", "Stop", "Speed limit"),
    *("Repairs", "Gasoline", "Spare tire", "Roll", "End of limit"),
    *("Driving ace", "Extra tank", "Puncture proof", "Right of way"),
)


def in_words(action: int, teams: int, team: int) -> str:
    """Return the name of an action."""
    if 19 <= action < 38:
        return f"discard {CARDS[action - 19]}"
    if 5 <= action < 10:
        return f"{CARDS[action]} against team {(team + 1) % teams}"
    if action >= 42:
        return f"{CARDS[5 + (action - 42) % 5]} against team {(team + 2) % teams}"
    return f"play {CARDS[action]}"


@each("players", [2, 3, 4, 6])
def test_an_illegal_action_is_explained_and_nothing_is_stepped(players: int) -> None:
    """Every illegal card of a position, in a middle game of the batch."""
    env = started(5, players=players, steps=10)
    mask = look(env)["action_mask"][3]
    while mask[:19].sum() == mask[19:38].sum():  # whatever may be discarded may be laid as well
        env.step(choose(look(env)))
    assert env.games.states["phase"][3] == 0
    before = snapshot(env)
    seat = int(env.agent_selection[3])
    team = seat % env.teams
    hand = env.games.states["hand"][3, seat]
    legal = ", ".join(f"{in_words(int(one), env.teams, team)} ({one})" for one in np.flatnonzero(mask))
    reasons = set()
    for action in np.flatnonzero(mask == 0):
        if 38 <= action < 42:
            continue
        actions = choose(look(env))
        actions[3] = action
        words = [f"game 3, player_{seat}: ", f"'{in_words(int(action), env.teams, team)}' (action {action})"]
        message = refused(IllegalActionError, [*words, "is not legal"], env.step, actions)
        assert message.endswith(f"Legal now: {legal}")
        card = 5 + (action - 42) % 5 if action >= 42 else action % 19
        reason = message.partition("is not legal: ")[2].removesuffix(f". Legal now: {legal}")
        assert (reason == f"the hand holds no {CARDS[card]}") == (hand[card] == 0)
        reasons.add(reason)
        assert snapshot(env) == before
    assert any("the hand holds no" not in reason for reason in reasons)
    assert len(reasons) > 5


BOTH_ROLL = ("battle 0: roll", "battle 1: roll")
REASONS: list[tuple[str, str, tuple[str, ...], dict[str, int]]] = [
    ("25", "team 0 is not rolling", (), {}),
    ("75", "team 0 is under a Speed limit", (*BOTH_ROLL, "speed 0: speed_limit"), {}),
    ("100", "team 0 has gone 650 of 700 km", (*BOTH_ROLL, "distance 0: 6x100 50"), {}),
    ("200", "team 0 has laid 2 cards of 200 km", (*BOTH_ROLL, "distance 0: 2x200"), {}),
    ("200", "team 0 has laid 2 cards of 200 km", (*BOTH_ROLL, "distance 0: 2x200 2x75"), {"exact_finish": 0}),
    ("flat_tire", "team 1 is not rolling", ("battle 1: stop on roll",), {}),
    ("stop", "team 1 is protected by Right of way", (*BOTH_ROLL, "safeties 1: right_of_way"), {}),
    ("speed_limit", "team 1 is under a Speed limit already", ("speed 1: speed_limit",), {}),
    ("roll", "a Roll goes on", BOTH_ROLL, {}),
    ("repairs", "no Accident stops team 0", ("battle 0: stop on roll",), {}),
    ("end_of_limit", "no Speed limit shows on team 0", BOTH_ROLL, {}),
    ("discard driving_ace", "this table allows no discard of a safety", (), {"discard_safeties": 0}),
    (
        "discard driving_ace",
        "this table allows a discard only when no card can be laid",
        (),
        {"discard_only_if_stuck": 1},
    ),
]


@each("play, reason, lines, changes", REASONS)
def test_the_reason_is_one_of_the_game(
    play: str, reason: str, lines: tuple[str, ...], changes: dict[str, int]
) -> None:
    """One card in hand that cannot be played so, and why."""
    card = play.removeprefix("discard ")
    number = [name.lower().replace(" ", "_").removesuffix("_km") for name in CARDS].index(card)
    env = VectorEnv(1, edition("parker").replace(**changes), seed=1)
    env.reset()
    env.set_states(Position(f"hand 0: {card}", *lines, **changes).games.states)
    action = number + 19 * (card != play)
    refused(IllegalActionError, [f"is not legal: {reason}", "Legal now: "], env.step, [action])


@pytest.mark.parametrize(
    ("phase", "name", "legal"),
    [
        (1, "claim", "claim the coup fourré (38), let the hazard stand (39)"),
        (2, "extension", "extend the trip (40), finish the trip (41)"),
    ],
)
def test_a_card_where_a_question_is_to_be_answered_is_explained(phase: int, name: str, legal: str) -> None:
    env = started(16)
    for _ in range(2_000):
        asked = np.flatnonzero(env.games.states["phase"] == phase)
        if asked.size:
            break
        env.step(choose(look(env)))
    game = int(asked[0])
    before = snapshot(env)
    actions = choose(look(env))
    actions[game] = 0
    words = [f"game {game}, ", "'play 25 km' (action 0)", repr(name), f"Legal now: {legal}"]
    refused(IllegalActionError, words, env.step, actions)
    assert snapshot(env) == before


# States, seats and views.


def test_states() -> None:
    env = started(2, steps=5)
    before = snapshot(env)
    for states, words in (
        (np.zeros(2, np.int8), "int8 of shape (2,)"),
        (np.zeros((2, STATE.itemsize), np.uint8), f"uint8 of shape (2, {STATE.itemsize})"),
        (np.zeros(2, np.dtype([("km", np.int8)])), "another version"),
        ([0, 1], "list"),
        (None, "None"),
        (SimpleNamespace(dtype="torch.int8", shape=(2,)), "got SimpleNamespace"),
        *((np.zeros(shape, STATE), str(shape)) for shape in ((3,), (1,), (2, 1), ())),
    ):
        given: Any = states
        message = refused(StateError, ["2 records", "get_states", words], env.set_states, given)
        assert ("another version" in message) == (words == "another version")
    assert snapshot(env) == before


@pytest.mark.parametrize(
    ("options", "phase"),
    [({}, 3), ({"edition": "arc_en_ciel", "players": 3}, 8)],
    ids=["millebornes", "wielerspel"],
)
@pytest.mark.parametrize("mode", ["same_step", "next_step", "disabled"])
def test_a_game_that_says_it_is_over_is_refused_where_it_cannot_be(
    options: dict[str, Any], phase: int, mode: str
) -> None:
    """It would wait for ever: nothing is legal in it, and no step ends it."""
    env = started(8, autoreset_mode=mode, **options)
    for _ in range(12):
        if mode == "disabled":
            env.reset(options={"reset_mask": env.games.buffers.terminations})
        env.step(env.sample_actions())
        good = env.get_states()
        for value in range(-1, 12):
            for game in range(8):
                states = good.copy()
                states["phase"][game] = value
                is_over = int(good["phase"][game]) == phase
                if value == phase and not is_over:
                    refused(StateError, [f"states[{game}]"], env.set_states, states)
                    continue
                try:
                    env.set_states(states)
                except StateError:
                    continue
                assert value == good["phase"][game] or look(env)["action_mask"][game].any()
        env.set_states(good)


def test_games_that_have_ended_go_on_where_they_wait() -> None:
    for options in ({}, {"illegal_action": "terminate"}):
        waiting = started(2, autoreset_mode="disabled", **options)
        while not waiting.games.buffers.terminations[0]:
            actions = choose(look(waiting))
            actions[0] = 41 if options else actions[0]  # broken off by an illegal action
            waiting.step(np.where(look(waiting)["action_mask"].any(axis=1), actions, -1))
        states = waiting.get_states()
        refused(StateError, ["states[0]", "has ended", "SAME_STEP"], started(2).set_states, states)
        later = started(2, autoreset_mode="next_step", **options)
        assert later.set_states(states)["action_mask"][0].all()
        assert later.step([0, -1]).observations["action_mask"][0].sum() < 42  # a new episode
        other = started(2, autoreset_mode="disabled", **options)
        assert not other.set_states(states)["action_mask"][0].any()
        other.reset(options={"reset_mask": np.array([True, False])})
        assert other.sample_actions()[0] >= 0
    words = ["states[0]", 'illegal_action="terminate"']
    refused(StateError, words, started(2, autoreset_mode="disabled").set_states, states)


def test_seats_games_and_sections() -> None:
    for players in (2, 3):
        env = started(2, players=players)
        for seats in (-1, 3, [0, 99], [-1, 0]):
            for method in (env.observe, env.determinize):
                refused(OptionError, ["seats", f"0 to {players - 1}"], method, seats)
        refused(OptionError, ["one whole number, or 2 of them"], env.determinize, [0, 1, 0])
    env = started(2, steps=3)
    for method in (env.render, env.legal_actions):
        for game in (1.5, "0", None, -1, 2, HUGE):
            refused(OptionError, [f"no game {shown(game)}", "0 to 1"], method, game)
    words = ["'hands'", "hand, discard_pile, draw_pile"]
    refused(OptionError, words, vector_env().section, "hands")
    refused(OptionError, ["'unseen'"], vector_env(observe_unseen=False).section, "unseen")


# The AEC environment.


def to_the_end(env: raw_env) -> raw_env:
    while not any(env.terminations.values()):
        env.step(choice(env))
    return env


def test_agents_and_options_of_the_aec_environment() -> None:
    env = begun()
    before, selected = env.state(), env.agent_selection
    for agent in ("player_2", None, ["player_0"]):
        words = [f"no agent {shown(agent)}", "player_0", "player_1"]
        given: Any = agent
        for method in (env.action_space, env.observation_space, env.observe):
            refused(OptionError, words, method, given)
    with pytest.raises(OptionError, match="no agent 'player_9'"):
        env.agent_selection = "player_9"
    refused(OptionError, ["reset options", "dictionary"], env.reset, options=5)
    refused(OptionError, ["observe is 'no'", "True or False"], env.last, "no")  # type: ignore[arg-type]
    refused(ActionError, ["no action", "very large"], env.step, HUGE)
    assert np.array_equal(env.state(), before)
    assert env.agent_selection == selected
