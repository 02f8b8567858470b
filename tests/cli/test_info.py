"""`millebornes info`: what a bug report should say."""

from __future__ import annotations

import importlib.metadata
import platform

import numpy as np
import pytest

from millebornes_env.__main__ import main
from millebornes_env.cli import info


def test_it_prints_a_line_for_each_fact(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    lines = dict(line.split(":", 1) for line in capsys.readouterr().out.splitlines())
    assert list(lines) == ["versions", "system", "processor", "instructions", "kernels", "cache", "extras"]
    assert f"numpy {np.__version__}" in lines["versions"]
    assert f"Python {platform.python_version()}" in lines["system"]
    assert "threads" in lines["processor"]
    assert "not installed: " in lines["extras"]


def test_an_extra_needs_the_packages_of_those_that_it_includes() -> None:
    assert info.extras_of(
        [
            "numpy<3,>=2.0",
            "rich>=13; extra == 'arena'",
            "millebornes-env[arena]; extra == 'train'",
            "torch>=2.8; extra == 'train'",
            "millebornes_env[arena,train]; extra == 'all'",
        ]
    ) == {"arena": {"rich"}, "train": {"rich", "torch"}, "all": {"rich", "torch"}}


def test_sources_alone_have_no_extras(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "requires", missing)
    assert "extras:       unknown: millebornes-env is not installed" in info.report()


def test_an_extra_without_one_of_its_packages_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = ["pytest; extra == 'known'", "pytest; extra == 'lacking'", "no-such-package; extra == 'lacking'"]
    monkeypatch.setattr(importlib.metadata, "requires", lambda name: needed)
    assert "extras:       known; not installed: lacking" in info.report()
