"""Positions and records on the pages of docs/ become pictures that open in the table."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Final

from millebornes_env.notation import read_record, replay
from millebornes_env.render.svg import draw_picture

PICTURES: Final = "positions"
"""The folder of pictures, below the site's first page."""

_BLOCK: Final = re.compile(r"^```(position|record|picture)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
_SYMBOL: Final = re.compile(r'<symbol id="(card-\w+)".*?</symbol>', flags=re.DOTALL)
_THEMES: Final = ("light", "dark")


def link(text: str) -> str:
    """Where the table opens a position or a record, below the site's first page.

    `web/table/keeping.js` reads it; the page's own links are packed, which a text of a few lines need not be.

    Args:
        text: in our notation.
    """
    code = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    return f"table/index.html#t={code}"


def picture(text: str, theme: str) -> str:
    """A position, or the end of a record, as SVG; without the cards that do not occur in it.

    Args:
        text: in our notation.
        theme: "light" or "dark".

    Raises:
        NotationError: the text describes no position.
    """
    record = read_record(text)
    *_, end = replay(record)
    drawn = draw_picture(end[0], record.position.rules, theme=theme)
    return _SYMBOL.sub(lambda found: found[0] if f'href="#{found[1]}"' in drawn else "", drawn)


def with_pictures(page: str, place: str, folder: Path) -> str:
    """A page whose positions and records have a picture below them, and a link that opens them in the table.

    A block `picture` holds a position whose text is not shown.

    Args:
        page: Markdown.
        place: where it goes, below the site's first page.
        folder: where that stands; pictures are written into it.
    """
    up = "../" * place.count("/")

    def pictured(block: re.Match[str]) -> str:
        kind, text = block.groups()
        name = hashlib.sha256(text.encode()).hexdigest()[:12]
        (folder / PICTURES).mkdir(parents=True, exist_ok=True)
        is_record = "\nplays:" in text
        what = "The table after these plays" if is_record else "The table in this position"
        # The pictures stand in a box: the theme hides a caption that follows a picture of the other theme.
        begun = ["```{raw} html", '<figure class="position">', "<div>"]
        lines = [*([] if kind == "picture" else [block[0], ""]), *begun]
        for theme in _THEMES:
            (folder / PICTURES / f"{name}-{theme}.svg").write_text(picture(text, theme), encoding="utf-8")
            source = f"{up}{PICTURES}/{name}-{theme}.svg"
            lines.append(f'<img class="only-{theme}" src="{source}" alt="{what}" loading="lazy">')
        words = "Step through it in the table" if is_record else "Play it in the table"
        lines += [
            "</div>",
            f'<figcaption><a href="{up}{link(text)}">{words}</a></figcaption>',
            "</figure>",
            "```",
        ]
        return "\n".join(lines)

    return _BLOCK.sub(pictured, page)


__all__ = ["PICTURES", "link", "picture", "with_pictures"]
