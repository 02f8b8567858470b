"""The questions, in their order: modules of this package that have a `QUESTION`."""

from __future__ import annotations

from typing import Final

QUESTIONS: Final[tuple[str, ...]] = ("exploitability",)
"""`python -m research.all` asks these."""
