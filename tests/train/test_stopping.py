"""Signals: at once, or when what is half done is done; and as before when the block is left."""

from __future__ import annotations

import signal
import threading

import pytest

from millebornes_env._util.signals import SIGNALS, Stopped, Stops, exit_code_of
from tests.each import each

every_signal = each("number", SIGNALS)


@pytest.fixture(autouse=True)
def handlers_are_as_they_were() -> object:
    before = [signal.getsignal(number) for number in SIGNALS]
    yield
    assert [signal.getsignal(number) for number in SIGNALS] == before


@every_signal
def test_a_signal_stops_at_once(number: int) -> None:
    with pytest.raises(Stopped) as stop, Stops():
        signal.raise_signal(number)
    assert exit_code_of(stop.value) == 128 + number
    assert not stop.value.half_done


def in_the_middle(*numbers: int) -> list[str]:
    """Signals come while something is half done; how far that went."""
    done: list[str] = []
    with pytest.raises(Stopped) as stop, Stops() as stops:
        half_done(stops, numbers, done)
    done.append(f"{exit_code_of(stop.value)}, half done: {stop.value.half_done}")
    return done


def half_done(stops: Stops, numbers: tuple[int, ...], done: list[str]) -> None:
    with stops.deferred():
        for number in numbers:
            signal.raise_signal(number)
            done.append(f"goes on, waiting: {stops.is_waiting}")
    done.append("after the block")


@every_signal
def test_what_is_half_done_is_finished_first(number: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert in_the_middle(number) == ["goes on, waiting: True", f"{128 + number}, half done: False"]
    assert "signal again to stop now" in capfd.readouterr().err


def test_a_second_signal_does_not_wait() -> None:
    done = in_the_middle(signal.SIGINT, signal.SIGTERM, signal.SIGTERM)
    assert done == ["goes on, waiting: True", "143, half done: True"]


def test_a_signal_is_raised_once() -> None:
    with Stops() as stops:
        with pytest.raises(Stopped), stops.deferred():
            signal.raise_signal(signal.SIGTERM)
        with stops.deferred():
            assert not stops.is_waiting


def test_what_goes_wrong_in_the_block_is_told_first() -> None:
    def fails() -> None:
        signal.raise_signal(signal.SIGTERM)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Stops() as stops, stops.deferred():
        fails()


@every_signal
def test_ignored_signals_stay_ignored(number: int) -> None:
    before = signal.signal(number, signal.SIG_IGN)  # as nohup and a shell's & leave them
    try:
        with Stops():
            signal.raise_signal(number)
    finally:
        signal.signal(number, before)


def test_other_threads_are_left_alone() -> None:
    problems: list[BaseException] = []

    def work() -> None:
        try:
            with Stops() as stops, stops.deferred():
                pass
        except BaseException as error:
            problems.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert problems == []


def test_blocks_in_blocks_give_the_handlers_back() -> None:
    with Stops():
        outer = signal.getsignal(signal.SIGTERM)
        with pytest.raises(Stopped), Stops():
            signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) == outer
