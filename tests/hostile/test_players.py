"""Every argument of agents and entry of a run folder with hostile values: refused in words, or fine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import players
from tests.hostile.table import Argument, each, judge_all


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@each(players.ARGUMENTS)
def test_a_hostile_call_of_an_agent(argument: Argument) -> None:
    judge_all(argument)
