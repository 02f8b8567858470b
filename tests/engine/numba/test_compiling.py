"""Additions of `compiling` to Numba: arrays on the stack, numbers by address, floats added in any order."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
import pytest
from numba.core.caching import NullCache
from numba.core.event import Listener, install_listener

from millebornes_env._util.signals import Stopped, Stops
from millebornes_env.engine.numba.compiling import (
    IS_BOUNDS_CHECKED,
    IS_COMPILED,
    float32_at,
    float_kernel,
    float_rule,
    kernel,
    plain,
    rule,
    seldom,
    stack_array,
)

SIZE: Final = 300


compiled_only = pytest.mark.skipif(not IS_COMPILED, reason="is about the compiler")


@rule
def alternating_sum(first: int) -> int:
    """Of so many numbers from `first` on, by way of two arrays of its own."""
    plus, minus = stack_array(np.float32, SIZE), stack_array(np.int8, SIZE)
    for place in range(SIZE):
        plus[place] = first + place
        minus[place] = place & 1
    total = 0
    for place in range(SIZE):
        total += int(plus[place]) * (1 - 2 * int(minus[place]))
    return total


@seldom
def alternating_sum_by_call(first: int) -> int:
    """The same, not copied to its caller."""
    return alternating_sum(first)


@rule
def somewhere(number: int) -> int:
    """A place that no compiler foresees."""
    return (number * 2654435761 >> 7) & 255


@kernel
def stack_arrays_in_a_loop(rounds: int) -> int:
    """Were each of them another one, the stack would overflow."""
    total = 0
    for number in range(rounds):
        room = stack_array(np.int64, SIZE)
        for place in range(SIZE):
            room[place] = number
        room[somewhere(number)] += 1
        total += room[somewhere(number + total)]
    return total


@kernel
def alternating_sums(totals: np.ndarray, rounds: int) -> None:
    """Many calls for each number; were the room not given back, the stack would overflow."""
    for _ in range(rounds):
        for number in range(len(totals)):
            totals[number] = alternating_sum(number) + alternating_sum_by_call(number)


@float_rule
def total_of(numbers: np.ndarray) -> float:
    total = np.float32(0.0)
    for place in range(len(numbers)):
        total += numbers[place]
    return total


@kernel
def total_at(address: int, size: int) -> float:
    return total_of(float32_at(address, size))


@float_kernel
def total_in_any_order(numbers: np.ndarray) -> float:
    total = np.float32(0.0)
    for place in range(len(numbers)):
        total += numbers[place]
    return total


@kernel
def total_in_order(numbers: np.ndarray) -> float:
    total = np.float32(0.0)
    for place in range(len(numbers)):
        total += numbers[place]
    return total


@float_kernel
def number_of_infinities_and_nans(numbers: np.ndarray) -> int:
    count = 0
    for number in numbers:
        if number in (-np.inf, np.inf) or np.isnan(number):
            count += 1
    return count


def test_arrays_on_the_stack_are_apart_and_given_back() -> None:
    totals = np.zeros(100, np.int64)
    alternating_sums(totals, 2_000 if IS_COMPILED else 1)
    assert (totals == -SIZE).all()


def test_each_thread_has_a_stack_of_its_own() -> None:
    totals = np.zeros((4, 100), np.int64)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(alternating_sums, totals, [500 if IS_COMPILED else 1] * 4))
    assert (totals == -SIZE).all()


def test_a_stack_array_in_a_loop_is_the_same_in_every_round() -> None:
    rounds = 100_000 if IS_COMPILED else 10
    expected = sum(range(rounds))
    assert expected <= stack_arrays_in_a_loop(rounds) <= expected + rounds


@rule
def first_of(numbers: np.ndarray) -> int:
    return int(numbers[0])


@rule
def first_doubled(numbers: np.ndarray) -> int:
    return 2 * first_of(numbers)


def test_a_plain_rule_is_not_compiled_and_nor_is_what_it_calls() -> None:
    assert plain(first_doubled)(np.full(3, 7)) == 14
    assert plain(plain(first_doubled)) is plain(first_doubled)
    if IS_COMPILED:
        assert "_called" not in vars(first_of) | vars(first_doubled)
        assert first_doubled(np.full(3, 7)) == 14
        assert "_called" in vars(first_doubled)


@kernel
def raise_entry(numbers: Any, table: Any, row: int, index: int) -> int:
    table[row, index] += 1
    return int(numbers[index])


@kernel
def last_entries(numbers: Any, table: Any, row: int) -> tuple[int, int]:
    return int(numbers[-1]), int(table[row, -1])


@compiled_only
def test_an_index_counts_from_the_end_only_if_it_is_a_constant() -> None:
    """A rule has none that does, and testing for it would take a tenth of the time of a step."""
    numbers = np.arange(10, 20)
    part = numbers[3:6]
    table = part.reshape(1, 3)
    assert raise_entry(part, table, 0, 1) == numbers[4] == 15
    assert last_entries(part, table, 0) == (15, 15)
    if IS_BOUNDS_CHECKED:
        with pytest.raises(IndexError):
            raise_entry(part, table, 0, -1)
    else:
        assert raise_entry(part, table, 0, -1) == numbers[2] == 13


def test_numbers_are_read_at_their_address() -> None:
    numbers = np.array([3.0, 4.5, 100.25], np.float32)
    assert total_at(numbers.ctypes.data, 3) == 107.75
    assert total_at(numbers.ctypes.data + 4, 1) == 4.5
    assert total_at(numbers.ctypes.data, 0) == 0.0
    numbers[0] = 0.0
    assert total_at(numbers.ctypes.data, 3) == 104.75


@compiled_only
def test_fast_sums_are_not_taken_in_order_and_keep_infinities() -> None:
    numbers = np.ones(1_002, np.float32)
    numbers[0], numbers[-1] = 1e9, -1e9  # a 1 added to this is lost
    assert total_in_order(numbers) == 0.0
    assert total_in_any_order(numbers) > 500.0, "it was added up one by one, which is slow"
    assert total_in_any_order(np.array([1.0, -np.inf], np.float32)) == -np.inf
    special = np.array([1.0, np.inf, np.nan, -np.inf], np.float32)
    assert number_of_infinities_and_nans(special) == 3


class Interrupting(Listener):  # type: ignore[misc] # Numba has no type hints
    """Sends signals to this process while Numba compiles."""

    def __init__(self, *numbers: int) -> None:
        self.numbers = list(numbers)

    def on_start(self, event: Any) -> None:
        while self.numbers:
            signal.raise_signal(self.numbers.pop(0))

    def on_end(self, event: Any) -> None:
        pass


def new_kernel() -> Any:
    @kernel
    def tripled(number: int) -> int:
        return alternating_sum(number) + 3 * number

    made: Any = tripled
    made._cache = NullCache()
    return made


@compiled_only
def test_a_signal_waits_for_the_compiler() -> None:
    made = new_kernel()
    with install_listener("numba:compile", Interrupting(signal.SIGINT)), pytest.raises(KeyboardInterrupt):
        made(1)
    assert len(made.overloads) == 1
    assert made(1) == 3 - SIZE // 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@compiled_only
def test_every_signal_that_came_meanwhile_is_handled(monkeypatch: pytest.MonkeyPatch) -> None:
    handled: list[int] = []

    def handle(number: int, frame: object) -> None:
        handled.append(number)
        if number == signal.SIGTERM:
            raise Stopped(number)

    before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGUSR1)}
    try:
        numbers = (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR1)
        with install_listener("numba:compile", Interrupting(*numbers)), pytest.raises(Stopped):
            new_kernel()(1)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    assert handled == [signal.SIGTERM, signal.SIGUSR1]


@compiled_only
def test_a_second_signal_ends_a_command_that_compiles(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """There is no other way out that does no harm."""
    ended: list[int] = []
    monkeypatch.setattr(os, "_exit", ended.append)
    numbers = (signal.SIGINT, signal.SIGTERM)
    with install_listener("numba:compile", Interrupting(*numbers)), pytest.raises(Stopped), Stops():
        new_kernel()(1)
    assert ended == [128 + signal.SIGTERM]
    assert "signal again to stop now" in capfd.readouterr().err
