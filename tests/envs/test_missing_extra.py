"""What an interface says whose library is not installed."""

from __future__ import annotations

import importlib
import sys

import pytest

from millebornes_env.errors import MissingExtraError


def test_an_interface_whose_library_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "millebornes_env.envs.sb3", raising=False)
    monkeypatch.setitem(sys.modules, "stable_baselines3.common.vec_env", None)
    monkeypatch.setitem(sys.modules, "stable_baselines3", None)
    told = r"envs\.sb3 needs stable_baselines3.*: pip install 'millebornes-env\[train\]'"
    with pytest.raises(MissingExtraError, match=told):
        importlib.import_module("millebornes_env.envs.sb3")
