"""A table of a question, printed by rich or written as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich import table as rich_table
from rich.text import Text

from millebornes_env.cli.console import table_console

PIPED_WIDTH = 160  # characters of a line in a file or a pipe


@dataclass(frozen=True)
class Table:
    """Cells as text.

    Attributes:
        headings: headings of the columns.
        rows: a cell for each column.
        title: title above the table; may be empty.
        text_columns: number of columns with text, from the left; the others hold right-aligned numbers.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    text_columns: int = 1

    def markdown(self) -> str:
        """Return the table as Markdown, with a line end."""
        rules = ["---" if column < self.text_columns else "--:" for column in range(len(self.headings))]
        lines = [f"**{self.title}**", ""] if self.title else []
        lines += [f"| {' | '.join(self.headings)} |", f"|{'|'.join(rules)}|"]
        lines += [f"| {' | '.join(row)} |" for row in self.rows]
        return "\n".join(lines) + "\n"

    def print(self) -> None:
        """Print the table in the width of the terminal."""
        shown = rich_table.Table(title=self.title or None, title_justify="left")
        for column, heading in enumerate(self.headings):
            shown.add_column(heading, justify="left" if column < self.text_columns else "right")
        for row in self.rows:
            shown.add_row(*(Text(cell.replace("`", "")) for cell in row))
        table_console(PIPED_WIDTH).print(shown)
