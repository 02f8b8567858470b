"""Modules that a lower room imports so that they register their agents; the package's root lists them."""

from __future__ import annotations

from typing import Final

AGENT_MODULES: Final[list[str]] = []
"""Modules of higher rooms that call `agents.registry.register` when they are imported."""
