"""Pictures of positions and records on the pages, with links that open them in the table."""

from __future__ import annotations

import base64
import hashlib
import re
from pathlib import Path
from typing import Final

from millebornes_env.notation import read_record, replay
from millebornes_env.render.millebornes.svg import draw_picture

_SYMBOL: Final = re.compile(r'<symbol id="(card-\w+)".*?</symbol>', flags=re.DOTALL)


def link(text: str) -> str:
    """Return the link, relative to the site's first page, that opens a position or a record in the table.

    `table/keeping.js` reads it; unlike the page's own links it is not compressed.

    Args:
        text: position or record in our notation.
    """
    code = base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")
    return f"table/index.html#t={code}"


def picture(text: str, theme: str) -> str:
    """Render a position, or the end of a record, as SVG without the symbols of unused cards."""
    record = read_record(text)
    *_, end = replay(record)
    svg = draw_picture(end[0], record.position.rules, theme=theme)
    return _SYMBOL.sub(lambda match: match[0] if f'href="#{match[1]}"' in svg else "", svg)


def figure(text: str, up: str, folder: Path) -> str:
    """Return the pictures of a position or a record as HTML, with a link that opens it in the table.

    Args:
        text: position or record in our notation.
        up: relative path from the page to the site's first page, such as "../".
        folder: folder of the site; pictures are written to its folder `positions`.
    """
    name = hashlib.sha256(text.encode()).hexdigest()[:12]
    (folder / "positions").mkdir(parents=True, exist_ok=True)
    is_record = "\nplays:" in text
    alt = "The table after these plays" if is_record else "The table in this position"
    words = "Step through it in the table" if is_record else "Play it in the table"
    images = []
    for theme in ("light", "dark"):
        path = f"positions/{name}-{theme}.svg"
        (folder / path).write_text(picture(text, theme), encoding="utf-8")
        images.append(f'<img class="only-{theme}" src="{up}{path}" alt="{alt}" loading="lazy">')
    # The pictures are in a box because the theme hides a caption that follows a picture of the other theme.
    caption = f'<figcaption><a href="{up}{link(text)}">{words}</a></figcaption>'
    return f'<figure class="position"><div>{"".join(images)}</div>{caption}</figure>'


__all__ = ["figure", "link", "picture"]
