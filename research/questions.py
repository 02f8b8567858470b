"""The questions, in their order: modules of this package that have a `QUESTION`."""

from __future__ import annotations

from typing import Final

QUESTIONS: Final[tuple[str, ...]] = (
    "exploitability",
    "safeties",
    "coup_fourre",
    "match_equity",
    "extensions",
    "information",
    "variance",
    "signalling",
    "transfer",
    "scaling",
)
"""`python -m research.all` asks these."""
