"""Sections of the documents, for the tests of their examples."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def section_of(name: str, heading: str = "") -> str:
    """Return a section of a document, up to the next heading of its level; "": all of the document."""
    text = (ROOT / name).read_text(encoding="utf-8")
    if not heading:
        return text
    pattern = rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)"
    (found,) = re.findall(pattern, text, flags=re.DOTALL | re.MULTILINE)
    return str(found)


def examples_of(text: str) -> list[tuple[str, str]]:
    """Return each Python block of a text, with the output that is shown below it, or ""."""
    return re.findall(r"```python\n(.*?)```\n(?:\n```(?:text)?\n(.*?)```)?", text, flags=re.DOTALL)
