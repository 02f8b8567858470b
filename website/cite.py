"""How to cite: CITATION.cff, which forges and reference managers read, as a page with BibTeX."""

from __future__ import annotations

import re
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Final

_FIELD: Final = re.compile(r'^(?:  - name|[\w-]+): *"?(.+?)"?$', flags=re.MULTILINE)


def fields(text: str) -> dict[str, str]:
    """The fields of CITATION.cff that fit on a line; `name` is the author.

    Args:
        text: of the file.
    """
    return {found[0].partition(":")[0].strip("- "): found[1] for found in _FIELD.finditer(text)}


def bibtex(known: dict[str, str]) -> str:
    """The entry of a bibliography, in braces so that names keep their letters."""
    lines = {
        "author": f"{{{known['name']}}}",
        "title": known["title"],
        "version": version_of("millebornes-env"),
        "note": f"Software, {known['license']} licence",
    }
    return "\n".join(
        ["@software{millebornes_env,", *(f"  {name} = {{{value}}}," for name, value in lines.items()), "}"]
    )


def pages(root: Path) -> dict[str, str]:
    """The page, by its place.

    Args:
        root: the checkout.
    """
    text = (root / "CITATION.cff").read_text(encoding="utf-8")
    known = fields(text)
    lines = ["# How to cite", "", known["message"], "", "```bibtex", bibtex(known), "```", ""]
    lines += ["`CITATION.cff` of the checkout, which forges and reference managers read:", ""]
    lines += [
        "```yaml",
        text.rstrip(),
        "```",
        "",
        "Games, rules and their sources: [rulings.md](rulings.md).",
    ]
    return {"cite.md": "\n".join(lines) + "\n"}


__all__ = ["bibtex", "fields", "pages"]
