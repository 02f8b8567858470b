"""Markdown tables, aligned to be readable as plain text."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

Row = list[str]


def markdown(rows: Sequence[Row]) -> list[str]:
    """Return the lines of a Markdown table with aligned columns; the first row is its header."""
    rows = [[text.replace("|", "\\|") for text in row] for row in rows]  # a "|" would end the cell
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return [lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]]


def wrapped(text: str) -> list[str]:
    """Wrap a text at 110 columns."""
    return textwrap.wrap(text, 110, break_long_words=False, break_on_hyphens=False)
