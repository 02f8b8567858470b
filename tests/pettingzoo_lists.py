"""PettingZoo's `api_test` with its warnings as errors, for environments that it does not know."""

from __future__ import annotations

import importlib

import pytest


def enter(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Enter an environment in the lists of `api_test`.

    PettingZoo warns of dictionary observations, and of masks without a legal action (those of the agents
    whose episode is over), unless the environment's name is in lists that it keeps, of its own environments,
    in the module `api_test`. A function of the same name hides the module in the package `pettingzoo.test`.

    Args:
        monkeypatch: of the test, which takes the name out again.
        name: `metadata["name"]`.
    """
    module = importlib.import_module("pettingzoo.test.api_test")
    for known in ("env_obs_dicts", "env_obs_space", "env_all_zeros_obs"):
        monkeypatch.setattr(module, known, [*getattr(module, known), name])
