"""Everything a caller can get wrong has an error of its own, which says what was wrong and what to do."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, edition, errors, millebornes_v0, vector_env
from millebornes_env.errors import (
    ActionRangeError,
    ActionShapeError,
    ClosedError,
    EditionFileError,
    IllegalActionError,
    MilleBornesError,
    NumEnvsError,
    OptionError,
    PlayersError,
    ResetNeededError,
    RulesError,
    SeedError,
    StateError,
    UnknownEditionError,
)
from millebornes_env.millebornes.state import STATE
from tests.envs.playing import choose, look, refused, snapshot, started
from tests.support import Position

# The errors as such.


def all_errors() -> list[type]:
    found = [value for value in vars(errors).values() if isinstance(value, type)]
    assert len(found) > 10
    return found


@pytest.mark.parametrize("error", all_errors())
def test_each_is_a_value_error_of_this_package(error: type) -> None:
    assert issubclass(error, ValueError)
    assert issubclass(error, MilleBornesError)
    assert error.__doc__


@pytest.mark.parametrize("error", all_errors())
def test_each_is_tested(error: type) -> None:
    """In this folder or that of the engine, the arena, the games or Ray, by a call that must raise it."""
    asked: set[str] = set()
    tests = Path(__file__).parents[1]
    folders = ("envs", "engine", "arena", "games", "on_ray")
    for file in [file for folder in folders for file in tests.glob(f"{folder}/test_*.py")]:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                name = ast.unparse(node.func)
                if name in ("refused", "pytest.raises") and node.args:
                    asked.add(ast.unparse(node.args[0]))
    assert error.__name__ in asked or error is MilleBornesError


# Construction.


@pytest.mark.parametrize("make", [vector_env, millebornes_v0.env])
@pytest.mark.parametrize("name", ["praker", "Parker", "", 3, None])
def test_unknown_edition(make: Callable[..., Any], name: object) -> None:
    refused(UnknownEditionError, [repr(name), "parker"], make, edition=name)


@pytest.mark.parametrize("make", [vector_env, millebornes_v0.env])
@pytest.mark.parametrize("players", [0, 1, 5, 7, 8, -2])
def test_a_number_of_players_that_the_edition_lacks(make: Callable[..., Any], players: object) -> None:
    known = ["'parker'", "2 players in 2 teams", "3 players in 3 teams", "4 players in 2 teams"]
    refused(PlayersError, [f"{players} players", *known, "6 players in 3 teams"], make, players=players)


@pytest.mark.parametrize(("players", "teams"), [(2, 1), (4, 4), (6, 2), (3, 2), (2, 0)])
def test_a_number_of_teams_that_the_edition_lacks(players: int, teams: int) -> None:
    asked = f"{players} players in {teams} teams"
    refused(PlayersError, [asked, "4 players in 2 teams"], vector_env, players=players, teams=teams)


def test_a_file_that_is_no_edition(tmp_path: Path) -> None:
    sheet = tmp_path / "mine.toml"
    refused(EditionFileError, [str(sheet), "No such file"], vector_env, edition=str(sheet))
    sheet.write_text('name = "mine"')
    refused(EditionFileError, [str(sheet), "'title'"], vector_env, edition=sheet)


def test_rules_that_make_no_game() -> None:
    replace = edition("parker").replace
    refused(RulesError, ["'max_two_hundreds'", "max_200"], replace, max_two_hundreds=4)
    refused(RulesError, ["max_200 is 5", "4 of them"], replace, max_200=5)
    refused(RulesError, ["target is 710 km", "multiple of 25"], replace, target=710)
    refused(RulesError, ["hand_limit is 51", "101"], replace, hand_limit=51)


@pytest.mark.parametrize("num_envs", [0, -1, -(2**70)])
def test_too_few_games(num_envs: int) -> None:
    refused(NumEnvsError, [f"num_envs is {num_envs}", "1 or more"], vector_env, num_envs)


@pytest.mark.parametrize("num_envs", [True, False, np.True_, 1.5, 2.0, "3", None, [2], np.float64(2)])
def test_a_number_of_games_that_is_no_whole_number(num_envs: object) -> None:
    words = [f"num_envs is {num_envs!r}", "whole number", "1 or more"]
    refused(NumEnvsError, words, vector_env, num_envs)


def test_a_number_of_games_may_be_any_whole_number() -> None:
    assert vector_env(np.int16(2)).num_envs == 2  # type: ignore[arg-type]


@pytest.mark.parametrize("threads", [0, -1, True, 1.5, "2", None])
def test_a_wrong_number_of_threads(threads: object) -> None:
    refused(OptionError, [f"num_threads is {threads!r}", "1 or more"], vector_env, num_threads=threads)


@pytest.mark.parametrize(
    ("option", "value", "words"),
    [
        ("episode", "rounds", ["'round', 'match'", "Did you mean 'round'?"]),
        ("episode", 0, ["'round', 'match'"]),
        ("reward", "point", ["'points', 'win'", "Did you mean 'points'?"]),
        ("reward", None, ["'points', 'win'"]),
        ("illegal_action", "ignore", ["'error', 'terminate'"]),
        ("illegal_action", "terminated", ["Did you mean 'terminate'?"]),
    ],
)
def test_options_that_have_a_few_values(option: str, value: object, words: list[str]) -> None:
    for make in (vector_env, millebornes_v0.env):
        refused(OptionError, [f"{option} is {value!r}", *words], make, **{option: value})


@pytest.mark.parametrize("mode", ["SAME", "same step", "next-step", "", 1, None])
def test_an_unknown_autoreset_mode(mode: object) -> None:
    known = ["'NEXT_STEP'", "'SAME_STEP'", "'DISABLED'"]
    refused(OptionError, ["autoreset_mode is", *known], vector_env, autoreset_mode=mode)


@pytest.mark.parametrize("mode", ["rgb_arrays", "humans", "", 1])
def test_an_unknown_render_mode(mode: object) -> None:
    words = [f"render_mode is {mode!r}", "'ansi', 'human'"]
    refused(OptionError, words, millebornes_v0.env, render_mode=mode)


# Seeds and resets.


@pytest.mark.parametrize("seed", [-1, 2**64, -(2**70)])
def test_seeds_out_of_range(seed: int) -> None:
    words = [f"seed is {seed}", "0 to 2**64 - 1"]
    refused(SeedError, words, vector_env, seed=seed)
    refused(SeedError, words, vector_env().reset, seed=seed)
    refused(SeedError, words, millebornes_v0.env().reset, seed=seed)


@pytest.mark.parametrize("seed", [1.5, 1.0, "1", True, np.False_, [1], np.float64(1)])
def test_seeds_that_are_no_whole_numbers(seed: Any) -> None:
    words = [f"seed is {seed!r}", "whole number", "None"]
    refused(SeedError, words, vector_env, seed=seed)
    refused(SeedError, words, vector_env().reset, seed=seed)
    refused(SeedError, words, millebornes_v0.env().reset, seed=seed)


def test_a_bad_seed_changes_nothing() -> None:
    env = started(2, steps=5)
    before = snapshot(env)
    refused(SeedError, [], env.reset, seed=-1)
    assert snapshot(env) == before


def test_an_unknown_reset_option() -> None:
    env = started(2)
    words = ["'rest_mask'", "'reset_mask'"]
    refused(OptionError, words, env.reset, options={"rest_mask": np.ones(2, np.bool_)})


@pytest.mark.parametrize(
    "mask",
    [
        np.ones(3, np.bool_),
        np.ones((2, 1), np.bool_),
        np.ones((), np.bool_),
        np.ones(2, np.int8),
        np.array([0.0, 1.0]),
        [0, 1],
        None,
        "yes",
    ],
    ids=repr,
)
def test_a_wrong_reset_mask(mask: object) -> None:
    env = started(2, steps=5)
    before = snapshot(env)
    refused(OptionError, ["reset_mask is", "bool[2]"], env.reset, options={"reset_mask": mask})
    assert snapshot(env) == before


def test_a_reset_mask_may_be_a_list() -> None:
    env = started(2, steps=5)
    env.reset(options={"reset_mask": [False, True]})
    assert env.games.states["episode"].tolist() == [0, 1]


def test_a_seed_for_some_of_the_games() -> None:
    env = started(2)
    options = {"reset_mask": np.array([True, False])}
    refused(OptionError, ["either seed or reset_mask"], env.reset, seed=1, options=options)


def test_a_first_reset_of_some_of_the_games() -> None:
    options = {"reset_mask": np.array([True, False])}
    refused(ResetNeededError, ["all games", "without a reset_mask"], vector_env(2).reset, options=options)


# Steps.


USES: dict[str, Callable[[VectorEnv], object]] = {
    "step": lambda env: env.step([19, 20]),
    "sample_actions": VectorEnv.sample_actions,
    "observe": lambda env: env.observe(0),
    "state": VectorEnv.state,
    "get_states": VectorEnv.get_states,
    "legal_actions": VectorEnv.legal_actions,
    "describe": lambda env: env.describe(0),
}


@pytest.mark.parametrize("use", USES)
def test_use_before_the_first_reset(use: str) -> None:
    refused(ResetNeededError, [use, "before reset()", "call reset()"], USES[use], vector_env(2))


@pytest.mark.parametrize("use", [*USES, "reset"])
def test_use_after_close(use: str) -> None:
    env = started(2, steps=3)
    env.close()
    env.close()  # twice is fine
    refused(ClosedError, ["closed", "make a new one"], {**USES, "reset": VectorEnv.reset}[use], env)


@pytest.mark.parametrize("actions", [[1], [1, 2, 3], [], 1, [[1], [2]], np.zeros((2, 2), np.int64), None])
def test_actions_of_the_wrong_shape(actions: Any) -> None:
    env = started(2)
    before = snapshot(env)
    refused(ActionShapeError, ["shape", str(np.shape(actions)), "(2,)"], env.step, actions)
    assert snapshot(env) == before


@pytest.mark.parametrize(
    "actions",
    [
        [0.0, 1.0],
        np.array([1, 2], np.float32),
        [True, False],
        np.array([0, 1], np.bool_),
        ["1", "2"],
        [None, 1],
        [1, 10**30],
        np.array([1, 2], np.complex64),
    ],
    ids=repr,
)
def test_actions_that_are_no_whole_numbers(actions: Any) -> None:
    env = started(2)
    before = snapshot(env)
    words = [f"dtype {np.asarray(actions).dtype}", "whole numbers"]
    refused(ActionShapeError, words, env.step, actions)
    assert snapshot(env) == before


@pytest.mark.parametrize(("players", "highest"), [(2, 41), (3, 46), (4, 41), (6, 46)])
@pytest.mark.parametrize("action", [47, 99, -2, 2**62, -(2**63)])
def test_ids_that_name_no_play(players: int, highest: int, action: int) -> None:
    env = started(3, players=players, steps=5)
    before = snapshot(env)
    actions = choose(look(env))
    actions[2] = action
    seat = env.agent_selection[2]
    words = [f"game 2, player_{seat}:", f"no action {action};", f"0 to {highest}"]
    refused(ActionRangeError, words, env.step, actions)
    assert snapshot(env) == before


def test_ids_too_large_for_64_bits_do_not_turn_into_other_ids() -> None:
    """2**64 - 1 has the bits of -1, which would skip the game."""
    env = started(2, steps=5)
    before = snapshot(env)
    actions = choose(look(env)).astype(np.uint64)
    actions[1] = 2**64 - 1
    with pytest.raises(MilleBornesError):
        env.step(actions)
    assert snapshot(env) == before


CARDS = (
    *("25 km", "50 km", "75 km", "100 km", "200 km"),
    *("Accident", "Out of gas", "Flat tire", "Stop", "Speed limit"),
    *("Repairs", "Gasoline", "Spare tire", "Roll", "End of limit"),
    *("Driving ace", "Extra tank", "Puncture proof", "Right of way"),
)


def in_words(action: int, teams: int, team: int) -> str:
    """What a person calls a play of a card."""
    if 19 <= action < 38:
        return f"discard {CARDS[action - 19]}"
    if 5 <= action < 10:
        return f"{CARDS[action]} against team {(team + 1) % teams}"
    if action >= 42:
        return f"{CARDS[5 + (action - 42) % 5]} against team {(team + 2) % teams}"
    return f"play {CARDS[action]}"


@pytest.mark.parametrize("players", [2, 3, 4, 6])
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


@pytest.mark.parametrize(
    ("card", "reason", "lines"),
    [
        ("25", "team 0 is not rolling", ()),
        ("75", "team 0 is under a Speed limit", (*BOTH_ROLL, "speed 0: speed_limit")),
        ("100", "team 0 has gone 650 of 700 km", (*BOTH_ROLL, "distance 0: 6x100 50")),
        ("stop", "team 1 is not rolling", ()),
        ("flat_tire", "team 1 is not rolling", ("battle 1: stop on roll",)),
        ("flat_tire", "team 1 is protected by Puncture proof", (*BOTH_ROLL, "safeties 1: puncture_proof")),
        ("stop", "team 1 is protected by Right of way", (*BOTH_ROLL, "safeties 1: right_of_way")),
        ("speed_limit", "team 1 is protected by Right of way", ("safeties 1: right_of_way",)),
        ("speed_limit", "team 1 is under a Speed limit already", ("speed 1: speed_limit",)),
        ("roll", "a Roll goes on", BOTH_ROLL),
        ("repairs", "no Accident stops team 0", ("battle 0: stop on roll",)),
        ("spare_tire", "no Flat tire stops team 0", BOTH_ROLL),
        ("end_of_limit", "no Speed limit shows on team 0", BOTH_ROLL),
    ],
)
def test_the_reason_is_one_of_the_game(card: str, reason: str, lines: tuple[str, ...]) -> None:
    """One card in hand that cannot be laid, and why."""
    built = Position(f"hand 0: {card}", *lines)
    env = started(1)
    env.set_states(built.games.states)
    name = next(name for name in CARDS if name.lower().replace(" ", "_").removesuffix("_km") == card)
    discard = f"Legal now: discard {name} ({19 + CARDS.index(name)})"
    refused(IllegalActionError, [f"is not legal: {reason}", discard], env.step, [CARDS.index(name)])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"discard_safeties": 0}, "this table allows no discard of a safety"),
        ({"discard_only_if_stuck": 1}, "this table allows a discard only when no card can be laid"),
    ],
)
def test_the_reason_why_a_safety_is_not_discarded(changes: dict[str, int], reason: str) -> None:
    env = VectorEnv(1, edition("parker").replace(**changes), seed=1)
    env.reset()
    env.set_states(Position("hand 0: driving_ace", **changes).games.states)
    refused(IllegalActionError, [f"is not legal: {reason}"], env.step, [19 + CARDS.index("Driving ace")])


def test_a_third_card_of_200_km_is_explained() -> None:
    built = Position("battle 0: roll", "hand 0: 200").km(0, 400, two_hundreds=2)
    env = started(1)
    env.set_states(built.games.states)
    refused(IllegalActionError, ["team 0 has laid 2 cards of 200 km"], env.step, [4])


def test_an_answer_to_no_question_is_explained() -> None:
    env = started(2, steps=12)
    assert env.games.states["phase"][0] == 0
    for action, words in {
        38: "claim the coup fourré",
        39: "let the hazard stand",
        40: "extend the trip",
        41: "finish the trip",
    }.items():
        refused(IllegalActionError, [f"'{words}' (action {action})", "'play'"], env.step, [action, -1])


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


def test_the_first_of_several_illegal_actions_is_named() -> None:
    env = started(4, steps=5)
    actions = choose(look(env))
    actions[[1, 3]] = 41
    assert re.match(r"game 1, player_\d: ", refused(IllegalActionError, [], env.step, actions))


# States and views.


def test_a_section_that_an_observation_does_not_have() -> None:
    refused(OptionError, ["'hands'", "hand, discard_pile, draw_pile"], vector_env().section, "hands")
    refused(OptionError, ["'unseen'"], vector_env(observe_unseen=False).section, "unseen")


@pytest.mark.parametrize(
    ("states", "words"),
    [
        (np.zeros(2, np.int8), "int8 of shape (2,)"),
        (np.zeros((2, STATE.itemsize), np.uint8), f"uint8 of shape (2, {STATE.itemsize})"),
        (np.zeros(2, np.dtype([("km", np.int8)])), "another version"),
        ([0, 1], "list"),
        (None, "None"),
        (SimpleNamespace(dtype="torch.int8", shape=(2,)), "got SimpleNamespace"),
    ],
    ids=["int8", "bytes", "fewer fields", "list", "None", "tensor"],
)
def test_what_is_no_array_of_states(states: Any, words: str) -> None:
    env = started(2, steps=5)
    before = snapshot(env)
    refused(StateError, ["2 records", "get_states", words], env.set_states, states)
    assert snapshot(env) == before


@pytest.mark.parametrize("shape", [(3,), (1,), (2, 1), ()])
def test_states_of_another_number_of_games(shape: tuple[int, ...]) -> None:
    env = started(2, steps=5)
    before = snapshot(env)
    message = refused(StateError, ["2 records", str(shape)], env.set_states, np.zeros(shape, STATE))
    assert "another version" not in message
    assert snapshot(env) == before


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("seats", [-1, 3, [0, 99], [-1, 0]])
def test_a_seat_that_the_table_does_not_have(seats: Any, players: int) -> None:
    env: VectorEnv = started(2, players=players)
    refused(OptionError, ["seats", f"0 to {players - 1}"], env.observe, seats)


@pytest.mark.parametrize("seats", [0.5, "0", None, [0, 1, 0], [[0], [1]]], ids=repr)
def test_seats_that_are_none(seats: Any) -> None:
    refused(OptionError, ["seats"], started(2).observe, seats)
