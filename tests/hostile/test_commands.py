"""Every command line here is wrong: the commands say so, exit with 2, and write nothing."""

from __future__ import annotations

import importlib
import io
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.hostile import commands
from tests.hostile.table import has

MODULES = {name: f"millebornes_env.commands.{name}" for name in commands.COMMANDS}
MODULES["millebornes_env"] = "millebornes_env.__main__"
NEEDS: dict[str, tuple[str, ...]] = {"millebornes_env": ()}
CASES = [
    pytest.param(name, arguments, id=f"{name} {place}: {' '.join(arguments)[:40]!r}")
    for name, lines in commands.COMMANDS.items()
    for place, arguments in enumerate(lines)
    if has(*NEEDS.get(name, ("tyro",)))
]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").touch()
    for name in ("binary.txt", "binary.jsonl"):
        (tmp_path / name).write_bytes(b"\x89PNG\r\n\x1a\n\0")


@pytest.mark.parametrize(("name", "arguments"), CASES)
def test_a_command_line_that_makes_no_sense(
    name: str,
    arguments: Sequence[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = sorted(tmp_path.rglob("*"))
    monkeypatch.setattr(sys, "argv", [name, *arguments])
    monkeypatch.setattr(sys, "stdin", io.StringIO("q\n"))
    main = importlib.import_module(MODULES[name]).main
    try:
        code = main()
    except SystemExit as end:  # as argparse and tyro end
        code = end.code
    told = capsys.readouterr()
    assert code == 2, told.err
    assert told.err.strip()
    assert "Traceback" not in told.err
    complaint = told.err.strip().splitlines()
    if complaint[-1].startswith("error: "):
        assert len(complaint[-1]) < 2000
    assert sorted(tmp_path.rglob("*")) == before
