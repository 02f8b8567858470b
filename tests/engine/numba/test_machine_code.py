"""The wheel's machine code: when it is used, how it is called, and that it does what Numba's does.

A checkout has none: what needs it is skipped here, and run where a wheel is installed (`make test-wheel`).
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from millebornes_env import VectorEnv, vector_env
from millebornes_env.engine import kernels, sampling
from millebornes_env.engine.kernels import kernels_of
from millebornes_env.engine.numba import machine_code
from millebornes_env.engine.numba.cache import source_digest
from millebornes_env.engine.numba.compiling import IS_BOUNDS_CHECKED, IS_COMPILED, kernel
from millebornes_env.engine.numba.machine_code import _loaded
from millebornes_env.engine.numba.words import write
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.audit import first_violation
from tests.each import each

IS_USED = machine_code.status().startswith("used")
STEPS = 200
STEP_RANGE = kernels_of(rulebook).step_range

with_machine_code = pytest.mark.skipif(not IS_USED, reason=machine_code.status())
with_numba = pytest.mark.skipif(
    not IS_COMPILED or IS_BOUNDS_CHECKED, reason="neither plain Python nor bounds-checked kernels use it"
)


# When it is used -------------------------------------------------------------------------------------------


def folder_with(folder: Path, **changed: Any) -> Path:
    """A folder with the files of a wheel; the object is none, which is found out last."""
    described = {
        "format": machine_code.FORMAT,
        "platform": machine_code.this_platform(),
        "object": "kernels.so",
        "sha256": machine_code.checksum(b"no object", {}),
        "source_digest": source_digest(),
        "kernels": {},
    }
    (folder / "kernels.so").write_bytes(b"no object")
    (folder / "kernels.json").write_text(json.dumps(described | changed), encoding="utf-8")
    return folder


@with_numba
@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"format": 99}, "its format is 99"),
        ({"platform": "linux-z80"}, "it is for linux-z80"),
        ({"source_digest": "0" * 16}, "it was made from other sources"),
        ({"sha256": "0" * 64}, "kernels.so or kernels.json is not what was built"),
        ({"kernels": {"step_range": 3}}, "kernels.so or kernels.json is not what was built"),
        ({"object": "missing.so"}, "this installation has none"),
        ({}, "it cannot be loaded"),
    ],
)
def test_what_does_not_fit_is_not_used(changed: dict[str, Any], reason: str, tmp_path: Path) -> None:
    told, library = _loaded(folder_with(tmp_path, **changed), "")
    assert reason in told
    assert library is None


@with_numba
@pytest.mark.parametrize("text", ["", "[]", "{}", '{"object": 3}', "\0\0"])
def test_a_damaged_description_is_not_used(text: str, tmp_path: Path) -> None:
    (tmp_path / "kernels.json").write_text(text, encoding="utf-8")
    told, library = _loaded(tmp_path, "")
    assert "it cannot be loaded" in told
    assert library is None


def test_it_can_be_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLEBORNES_MACHINE_CODE", "0")
    assert machine_code.status() == "not used: MILLEBORNES_MACHINE_CODE=0"
    assert machine_code.of(STEP_RANGE) is STEP_RANGE


@pytest.mark.skipif(IS_COMPILED and not IS_BOUNDS_CHECKED, reason="is about the other ways to run")
def test_the_other_ways_to_run_do_not_use_it() -> None:
    assert machine_code.status().startswith("not used: NUMBA_")


# How it is called ------------------------------------------------------------------------------------------


def words_of(argument: Any, *parameter: Any) -> list[int]:
    words = array("q", [0] * 20)
    write(argument, words, 0, list(parameter))
    return words.tolist()


READ_ONLY = np.zeros(4, np.int64)
READ_ONLY.setflags(write=False)
TUPLE = ("tuple", [["int"], ["tuple", [["int"], ["int"]]], ["int"]])


@each(
    "argument, parameter",
    [
        *(
            (argument, ("array", "<i8", 1, True))
            for argument in (
                None,
                [1, 2],
                np.zeros(4, np.int32),
                np.zeros(4, ">i8"),
                np.zeros((2, 2), np.int64),
                np.zeros(8, np.int64)[::2],
                np.zeros(9, np.int8)[1:].view(np.int64),
                READ_ONLY,
            )
        ),
        *((argument, ("record", 4)) for argument in (np.void(b"1234"), 3, np.zeros(1, "V8")[0])),
        ((1, (2, 3)), TUPLE),
    ],
)
def test_what_the_machine_code_was_not_made_for_is_refused(argument: Any, parameter: Any) -> None:
    """The address of a record that owns its bytes would be that of a copy."""
    with pytest.raises(NotImplementedError):
        words_of(argument, *parameter)


def test_arguments_become_words() -> None:
    numbers = np.zeros((3, 5), np.int16)
    expected = [0, 0, 15, 2, numbers.ctypes.data, 3, 5, 10, 2, 0]
    assert words_of(numbers, "array", "<i2", 2, True)[:10] == expected
    assert words_of(READ_ONLY, "array", "<i8", 1, False)[4] == READ_ONLY.ctypes.data
    records = np.zeros(2, [("km", np.int16), ("seat", np.int16)])
    assert words_of(records[1], "record", 4)[0] == records.ctypes.data + 4
    assert words_of((1, (2, 3), 4), *TUPLE)[:4] == [1, 2, 3, 4]


@kernel
def weighed(weights: Any, table: Any, factor: int, offset: int) -> int:
    """Sum of the weights, times a factor; counts its calls in the table."""
    table[0][0] += 1
    return int(weights.sum()) * factor + offset


def test_a_prepared_kernel_takes_the_other_arguments_and_reads_its_arrays_as_they_are_now() -> None:
    weights, calls = np.array([1, 2, 3], np.int16), np.zeros(1, np.int64)
    prepared = machine_code.prepare(weighed, weights, (calls,))
    assert prepared(10, 1) == 61
    weights[0] = 5
    assert (prepared(10, 1), prepared(-1, 0), calls[0]) == (101, -10, 3)
    with pytest.raises(TypeError):
        prepared(10)


def test_a_kernel_whose_arguments_fit_into_no_words_is_called_as_it_is() -> None:
    prepared = machine_code.prepare(weighed, np.arange(6)[::2], (np.zeros(1, np.int64),))
    assert isinstance(prepared, partial)
    assert prepared(10, 1) == 61


@with_machine_code
def test_arguments_of_other_types_go_to_the_kernel() -> None:
    """Here keys of a strided array, which Numba compiles `sample_range` anew for."""
    env = vector_env(8, seed=1)
    env.reset()
    expected = env.sample_actions()
    env.reset(seed=1)
    spread = np.zeros(16, np.int64)[::2]
    machine_code.of(sampling.sample_range)(env.games.legal, spread, 0, 8, 1, 0, 1)
    np.testing.assert_array_equal(spread, expected)


@with_machine_code
def test_one_function_may_be_called_by_several_threads() -> None:
    env = vector_env(2_000, seed=1)
    env.reset()
    check = machine_code.of(STEP_RANGE)
    games = env.games
    table = (games._states, games.game_rules, games.settings)
    actions = [env.sample_actions() for _ in range(4)]
    for number, chosen in enumerate(actions):
        chosen[number * 400 + 7] = 10_000
    with ThreadPoolExecutor(4) as pool:
        rest = (games.buffers, games.legal, 0, 2_000, kernels.CHECK)
        result = list(pool.map(lambda chosen: [check(*table, chosen, *rest) for _ in range(300)], actions))
    assert result == [[number * 400 + 7] * 300 for number in range(4)]


# That it does the same -------------------------------------------------------------------------------------

TABLES: dict[str, dict[str, Any]] = {
    "two players": {},
    "partners, matches, rules shown": {"players": 4, "episode": "match", "observe_rules": True},
    "three players, padded, next step, punished": {
        "edition": "parker",
        "players": 3,
        "padded": True,
        "autoreset_mode": "NEXT_STEP",
        "illegal_action": "terminate",
        "observe_unseen": False,
    },
    "dutch": {"edition": "dutch", "reward": "win"},
    "dujardin": {"edition": "dujardin", "players": 6},
}


def both(monkeypatch: pytest.MonkeyPatch, num_envs: int, options: dict[str, Any]) -> list[VectorEnv]:
    """Two environments of the same games: the wheel's machine code, and what Numba compiles."""
    envs = []
    for switch in ("1", "0"):
        monkeypatch.setenv("MILLEBORNES_MACHINE_CODE", switch)
        assert (machine_code.of(STEP_RANGE) is STEP_RANGE) == (switch == "0")
        envs.append(vector_env(num_envs, seed=5, **options))
        envs[-1].reset()
    return envs


def in_turn(
    monkeypatch: pytest.MonkeyPatch, envs: list[VectorEnv], ask: Callable[[VectorEnv], Any]
) -> list[Any]:
    """Return the answers of both environments, each run in its own way."""
    answers = []
    for switch, env in zip("10", envs, strict=True):
        monkeypatch.setenv("MILLEBORNES_MACHINE_CODE", switch)
        answers.append(ask(env))
    return answers


@with_machine_code
@pytest.mark.parametrize("options", TABLES.values(), ids=TABLES)
def test_all_states_and_buffers_are_the_same(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    envs = both(monkeypatch, 512, options)
    chance = np.random.default_rng(3)
    ended = 0
    for number in range(STEPS):
        ours, numbas = in_turn(monkeypatch, envs, lambda env: env.sample_actions())
        np.testing.assert_array_equal(ours, numbas)
        ours[chance.random(512) < 0.02] = -1
        if "illegal_action" in options:
            ours[chance.random(512) < 0.01] = chance.integers(0, envs[0].single_action_space.n)
        in_turn(monkeypatch, envs, lambda env, actions=ours: env.step(actions))
        assert_same(*envs)
        ended += int(envs[0].games.buffers.terminations.sum())
        if number % 40 == 0:
            seats = chance.integers(0, envs[0].players, 512).astype(np.int32)
            for ask in (
                lambda env, seats=seats: env.observe(seats),
                lambda env, seats=seats: env.determinize(seats, seed=9),
                lambda env: env.state(),
                lambda env: env.set_states(env.get_states())["observation"],
            ):
                first, second = in_turn(monkeypatch, envs, ask)
                assert first.tobytes() == second.tobytes()
    assert ended > 0 or options.get("episode") == "match"


def assert_same(ours: VectorEnv, numbas: VectorEnv) -> None:
    assert ours.games.states.tobytes() == numbas.games.states.tobytes()
    for name, result in ours.games.buffers._asdict().items():
        assert result.tobytes() == getattr(numbas.games.buffers, name).tobytes(), name


@with_machine_code
def test_threads_call_the_same_machine_code(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numba's code shares the games among threads, and calls the wheel's code by its address."""
    address = machine_code.address_of(STEP_RANGE)
    envs = both(monkeypatch, 600, {"num_threads": 2})
    assert [env.games._step_range_address for env in envs] == [address, None]
    assert address is not None
    for _ in range(60):
        ours, numbas = in_turn(monkeypatch, envs, lambda env: env.sample_actions())
        np.testing.assert_array_equal(ours, numbas)
        in_turn(monkeypatch, envs, lambda env, actions=ours: env.step(actions))
        assert_same(*envs)


@with_machine_code
def test_the_same_action_is_found_illegal(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = both(monkeypatch, 64, {})
    actions = envs[0].sample_actions()
    for illegal in (10_000, -2, -(2**63), 2**63 - 1):
        actions[37] = illegal
        assert in_turn(monkeypatch, envs, lambda env: env.games.step(actions)) == [37, 37]
    assert_same(*envs)


@with_machine_code
def test_the_same_records_are_found_unsound(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = both(monkeypatch, 64, {})
    garbage = np.random.default_rng(4)
    for _ in range(50):
        states = envs[0].get_states()
        game, place = int(garbage.integers(64)), int(garbage.integers(states.dtype.itemsize))
        states[game : game + 1].view(np.uint8)[place] = garbage.integers(256)
        ours, numbas = in_turn(
            monkeypatch, envs, lambda env, states=states: first_violation(states, env.rules)
        )
        assert ours == numbas
