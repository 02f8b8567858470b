"""Blocks of a page that commands write, each between two marks."""

from __future__ import annotations

from typing import Final

END: Final = "<!-- end -->\n"


def with_block(text: str, begin: str, block: str) -> str:
    """Replace the block after a mark in the text of a page.

    Args:
        text: text of the page, with a line `begin` and a line `END` after it.
        begin: the mark, with its line end.
        block: Markdown with a line end.

    Raises:
        ValueError: the page has no such marks.
    """
    before, result, after = text.partition(begin)
    _, ended, rest = after.partition(END)
    if not result or not ended:
        raise ValueError(f"the page has no lines {begin.strip()!r} and {END.strip()!r} for the block")
    return before + begin + block + END + rest
