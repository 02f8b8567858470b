"""What tests of commands share."""

from __future__ import annotations

import functools

import pytest

from millebornes_env.arena import tournament

_sources_of = functools.cache(tournament._sources_of)


@pytest.fixture(autouse=True)
def sources_are_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding the files that decide what is played takes half a second, for each tournament."""
    monkeypatch.setattr(tournament, "_sources_of", _sources_of)
