"""The build backend: Hatchling's, with additional requirements for a wheel with machine code.

`build-system.requires` would also install them for an editable installation or a source distribution.
"""

from __future__ import annotations

import tomllib
from typing import Any

from hatchling import build as hatchling
from hatchling.build import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
)

from export.build import ROOT, holds_machine_code

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]


def get_requires_for_build_wheel(config_settings: dict[str, Any] | None = None) -> list[str]:
    """List the build requirements of a wheel: a linker, and everything that the compiled kernels import."""
    needed: list[str] = hatchling.get_requires_for_build_wheel(config_settings)
    if not holds_machine_code():
        return needed
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [*needed, *settings["project"]["dependencies"], *settings["dependency-groups"]["wheel"]]
