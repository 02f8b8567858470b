"""Every argument of notation, JSON Lines and SB3 with every hostile value: refused in words, or fine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hostile import texts
from tests.hostile.table import Argument, each, judge_all


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@each(texts.ARGUMENTS)
def test_a_hostile_call_of_a_reader_writer_or_sb3(argument: Argument) -> None:
    judge_all(argument)
