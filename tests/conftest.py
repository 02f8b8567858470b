"""What holds for all tests, and how they run side by side in the processes of pytest-xdist."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

LONGEST_FIRST = (
    "tests/test_other_ways.py",  # waits for two more processes, which work while the kernels are compiled
    "tests/train/test_selfplay.py",
    "tests/test_notebooks.py",
    "tests/agents/test_agents.py",
    "tests/agents/test_champion.py",
    "tests/envs/test_copies.py",
    "tests/train/test_exploit.py",
    "tests/train/test_maskable_ppo.py",
    "tests/train/test_workers.py",
    "tests/train/test_other_games.py",
    "tests/laws/test_audit.py",
    "tests/laws/test_perft.py",
    "tests/laws/test_oracle_agrees.py",
    "tests/laws/test_options_agree.py",
    "tests/agents/test_characters.py",
    "tests/agents/test_arnold.py",
    "tests/agents/test_search.py",
    "tests/agents/test_policy.py",
    "tests/agents/test_race_agents.py",
    "tests/envs/test_aec.py",
    "tests/single_agent/test_env.py",
    "tests/single_agent/test_opponents.py",
    "tests/rules/editions/test_all.py",
    "tests/wielerspel/test_engine.py",
)
"""Files that take long. Begun last, each would keep one process busy when the others have nothing left."""

# The same examples in every run, and no complaint about a machine that is slow.
settings.register_profile(
    "repeatable",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("repeatable")


# What a command says on stderr is compared in tests; that it compiles, `test_compile_cache` asks for.
os.environ.setdefault("MILLEBORNES_COMPILE_MESSAGES", "0")


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        # Threads that wait leave the processor to other processes; by default they spin and take the time of
        # those that work. Libraries read it when they are loaded, which they are not yet.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        from tests.compile_once import lock_while_compiling  # noqa: PLC0415

        lock_while_compiling()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the files that take long before the others; all processes have to come to the same order."""
    if hasattr(config, "workerinput"):
        ranks = {name: rank for rank, name in enumerate(LONGEST_FIRST)}
        items.sort(key=lambda item: ranks.get(item.nodeid.partition("::")[0], len(ranks)))


@pytest.fixture(autouse=True)
def _usual_signals() -> Iterator[None]:
    """Signals as a program usually finds them, however the tests were started.

    Under `nohup` or a shell's `&` some are ignored, also in the processes that tests start and interrupt.
    """
    from millebornes_env.stopping import SIGNALS  # noqa: PLC0415 - libraries are loaded after `pytest_configure`

    before = {number: signal.getsignal(number) for number in SIGNALS}
    for number in SIGNALS:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)
