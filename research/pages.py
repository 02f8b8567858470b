"""Output of measurements in the docs: blocks between two marks of a page, and lines of figures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.pages import END, with_block
from millebornes_env._util.files import write_json_atomically, write_text_atomically
from millebornes_env.errors import MilleBornesError


def write_blocks(page: Path, module: str, blocks: Mapping[str, str]) -> None:
    """Replace blocks of Markdown, each between a line that names it and its module, and a line `END`.

    Args:
        page: page with the marks.
        module: name of the module in `research` that writes the blocks.
        blocks: Markdown with a line end, by the names of the blocks.

    Raises:
        MilleBornesError: the page has no such marks; nothing is written.
        OSError: the page cannot be read or written.
    """
    text = page.read_text(encoding="utf-8")
    for name, block in blocks.items():
        begin = f"<!-- {name}: written by python -m research.{module} --docs -->\n"
        try:
            text = with_block(text, begin, block)
        except ValueError:
            raise MilleBornesError(
                f"{str(page)!r} has no marks for {name}: add the lines {begin.strip()!r} and {END.strip()!r}"
            ) from None
    write_text_atomically(page, text)


def kept_lines(path: Path, new: Sequence[Mapping[str, Any]], *keys: str) -> list[Mapping[str, Any]]:
    """Return the lines of a file of figures that new ones with the same values of `keys` do not replace."""
    old = json.loads(path.read_text(encoding="utf-8"))["lines"] if path.exists() else []
    replaced = [[line[key] for key in keys] for line in new]
    return [line for line in old if [line[key] for key in keys] not in replaced]


def write_lines(path: Path, lines: Sequence[Mapping[str, Any]], about: Mapping[str, Any], *keys: str) -> None:
    """Write lines of figures, each with facts about its run, before other lines of the file.

    Args:
        path: the file.
        lines: the lines.
        about: facts about the run.
        *keys: names of the values that tell lines apart; lines of before with the same ones are replaced.
    """
    new = [{**line, **about} for line in lines]
    write_json_atomically(path, {"lines": [*new, *kept_lines(path, new, *keys)]})
    print(f"wrote {path}")
