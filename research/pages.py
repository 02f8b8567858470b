"""Write the block of a question between two marks of a page of the docs."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from benchmarks.pages import END, with_block
from millebornes_env._util.files import write_text_atomically
from millebornes_env.errors import MilleBornesError

BEGIN: Final = "<!-- {name}: written by python -m research.{name} --docs -->\n"


def write_block(page: Path, name: str, block: str) -> None:
    """Replace the block between the marks of a question.

    Args:
        page: page with a line `BEGIN` for the question's name, and a line `END` after it.
        name: name of the question.
        block: Markdown with a line end.

    Raises:
        MilleBornesError: the page has no such marks; nothing is written.
        OSError: the page cannot be read or written.
    """
    begin = BEGIN.format(name=name)
    text = page.read_text(encoding="utf-8")
    try:
        text = with_block(text, begin, block)
    except ValueError:
        raise MilleBornesError(
            f"{str(page)!r} has no marks for {name}: add the lines {begin.strip()!r} and {END.strip()!r}"
        ) from None
    write_text_atomically(page, text)
