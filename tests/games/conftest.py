"""Pig, as the page on adding a game has it: taken from there, imported, registered."""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from millebornes_env import agents
from millebornes_env.agents import registry
from millebornes_env.games.registry import GAMES, Game, SheetOfTables, register_game
from tests.pages import section_of

PAGE = section_of("docs/environment/extend.md", "Add a game")


def examples() -> list[str]:
    """Return the Python blocks of the page; the first one is the file `pig.py`."""
    return re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.fixture(autouse=True)
def _games_and_agents_as_they_were(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "AGENTS", dict(agents.AGENTS))
    before = dict(GAMES)
    yield
    GAMES.clear()
    GAMES.update(before)


@pytest.fixture(scope="session")
def pig_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return the folder of `pig.py`, on Python's path."""
    folder = tmp_path_factory.mktemp("pig")
    (folder / "pig.py").write_text(examples()[0], encoding="utf-8")
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    yield folder / "pig.py"
    sys.path.remove(str(folder))
    sys.modules.pop("pig", None)


def entry(pig: ModuleType, name: Any = "pig", **changes: Any) -> Game:
    """Return an entry of the registry with pig's rulebook and tables, in a sheet of the same name."""
    return Game(
        **{"name": name, "rulebook": pig, "sheets": [SheetOfTables(name, name, pig.TABLES)]} | changes
    )


@pytest.fixture
def pig(pig_file: Path) -> ModuleType:
    """Return the module, its game registered."""
    module = importlib.import_module("pig")
    register_game(entry(module, rulebook="pig"))
    return module
