"""A table of a question: printed by rich, and as Markdown in its page."""

from __future__ import annotations

from dataclasses import dataclass

from rich import table as rich_table
from rich.text import Text

from millebornes_env.cli.console import table_console

PIPED_WIDTH = 160  # columns of the table when it goes into a file or a pipe


@dataclass(frozen=True)
class Table:
    """Cells as text.

    Attributes:
        headings: of the columns.
        rows: a cell for each column.
        title: stands above it; may be empty.
        text_columns: so many columns from the left hold text, the others numbers, which stand at the right.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    text_columns: int = 1

    def markdown(self) -> str:
        """As Markdown, ending in a line end."""
        rules = ["---" if column < self.text_columns else "--:" for column in range(len(self.headings))]
        lines = [f"**{self.title}**", ""] if self.title else []
        lines += [f"| {' | '.join(self.headings)} |", f"|{'|'.join(rules)}|"]
        lines += [f"| {' | '.join(row)} |" for row in self.rows]
        return "\n".join(lines) + "\n"

    def print(self) -> None:
        """Print it, as wide as the terminal."""
        shown = rich_table.Table(title=self.title or None, title_justify="left")
        for column, heading in enumerate(self.headings):
            shown.add_column(heading, justify="left" if column < self.text_columns else "right")
        for row in self.rows:
            shown.add_row(*(Text(cell.replace("`", "")) for cell in row))
        table_console(PIPED_WIDTH).print(shown)
