"""Names of the questions in order: the modules of this package with a `QUESTION`."""

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
    "variants",
)
"""Questions of `python -m research.all`."""
