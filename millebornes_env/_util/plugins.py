"""Modules that a lower room imports for what they register; the root of the package names them."""

from __future__ import annotations

from typing import Final

AGENT_MODULES: Final[list[str]] = []
"""Modules with agents of higher rooms: each calls `agents.registry.register` when it is imported."""
