"""The questions, in their order: modules of this package that have a `QUESTION`."""

from __future__ import annotations

from typing import Final

QUESTIONS: Final[tuple[str, ...]] = (
    "safeties",
    "coup_fourre",
    "match_equity",
    "extensions",
    "information",
)
"""`python -m research.all` asks these."""
