"""The agents of `players.py` and `race_players.py` have names in every test of the arena."""

from __future__ import annotations

import pytest

from millebornes_env import agents
from tests.arena.players import AGENTS
from tests.arena.race_players import AGENTS as RACE_AGENTS


@pytest.fixture(autouse=True)
def known_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, make in (AGENTS | RACE_AGENTS).items():
        monkeypatch.setitem(agents.AGENTS, name, make)
