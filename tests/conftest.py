"""Settings for all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# The same examples in every run, and no failure because a machine is slow.
settings.register_profile(
    "repeatable", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")


# Tests compare what a command writes to stderr; `test_cache` asks for the messages of the compiler.
os.environ.setdefault("MILLEBORNES_COMPILE_MESSAGES", "0")


# Waiting threads sleep instead of spinning. Libraries read this when they are loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "1000")


@pytest.fixture(autouse=True, scope="session")
def _logs_of_stable_baselines3(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep its logs in pytest's folder: it makes one in the system's for every model."""
    os.environ["SB3_LOGDIR"] = str(tmp_path_factory.mktemp("sb3"))


@pytest.fixture(autouse=True)
def _threads_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let threads share every loop that asks for them, also where one would be faster (on a busy machine)."""
    monkeypatch.setattr("millebornes_env.engine.numba.threads.Pace.shares", lambda self: True)


@pytest.fixture(autouse=True)
def _usual_signals() -> Iterator[None]:
    """Set signals as a program usually finds them, however the tests were started.

    Under `nohup` or a shell's `&` some are ignored, also in the processes that tests start and interrupt.
    """
    from millebornes_env._util.signals import SIGNALS  # noqa: PLC0415 - libraries are loaded after `pytest_configure`

    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
