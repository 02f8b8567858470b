"""The instructions of docs/start/play.md work."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from millebornes_env.play.study.session import Session
from tests.pages import section_of
from tests.play.study.served import play_out, study_of

PAGE = section_of("docs/start/play.md", "Studies with people")


def played(folder: Path) -> None:
    """A study in which the first participant has played a game."""
    session = Session(study_of(folder, 2), 0)
    session.begin(0, 0)
    play_out(session)


def test_the_example_reads_a_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pandas")
    played(tmp_path / "pilot")
    monkeypatch.chdir(tmp_path)
    (block,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(block, "docs/start/play.md", "exec"), {})
    said = capsys.readouterr().out
    assert re.search(r"s0001 0 \[\d+, \d+\] \d+ decisions", said)
    assert re.search(r"as the champion: \d+ %", said)
    assert "plays:\nseat" in said
