"""A page's blocks that commands write, each between two marks."""

from __future__ import annotations

from typing import Final

END: Final = "<!-- end -->\n"


def with_block(text: str, begin: str, block: str) -> str:
    """The text of a page with another block after a mark.

    Args:
        text: of the page; has a line `begin`, and a line `END` after it.
        begin: the mark, with its line end.
        block: Markdown, ending in a line end.

    Raises:
        ValueError: the page has no such marks.
    """
    before, result, after = text.partition(begin)
    _, ended, rest = after.partition(END)
    if not result or not ended:
        raise ValueError(f"the page has no lines {begin.strip()!r} and {END.strip()!r} for the block")
    return before + begin + block + END + rest
