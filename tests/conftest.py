"""How the tests run side by side, in the processes of pytest-xdist; one process alone needs none of it."""

from __future__ import annotations

import os

import pytest

LONGEST_FIRST = ("test_other_ways.py",)
"""Files that take long. Begun last, each would keep one process busy when the others have nothing left."""


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        # Threads that wait leave the processor to other processes; by default they spin, which takes the time of
        # those that work. Libraries read it when they are loaded, which they are not yet.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        from tests.compile_once import lock_while_compiling  # noqa: PLC0415

        lock_while_compiling()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the files that take long before the others; all processes have to come to the same order."""
    if hasattr(config, "workerinput"):
        ranks = {name: rank for rank, name in enumerate(LONGEST_FIRST)}
        items.sort(key=lambda item: ranks.get(item.path.name, len(ranks)))
