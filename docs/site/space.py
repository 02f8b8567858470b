"""Write the table as a static Space of Hugging Face: files to upload, which play in any browser.

make space     # python -m docs.site.space space
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Final

from docs.site.stage import ROOT, copy_table

CARD: Final = """---
title: Mille Bornes against a trained champion
colorFrom: green
colorTo: blue
sdk: static
app_file: index.html
license: mit
short_description: Play a card game with hidden hands against a network
---

The card game Mille Bornes in six editions, against agents of the Python package `millebornes-env`: rule-based
ones, and champions trained by self-play. The rules, the agents and the networks run in your browser, compiled
to WebAssembly from the Python sources; nothing is sent anywhere.
"""


def write(folder: Path) -> None:
    """Write the Space, after emptying the folder; exit if the engine has not been built."""
    if not (ROOT / "millebornes_env" / "play" / "web" / "engine").is_dir():
        raise SystemExit("the page has no engine yet: run make web first, or make space")
    shutil.rmtree(folder, ignore_errors=True)
    copy_table(folder)
    (folder / "README.md").write_text(CARD, encoding="utf-8")
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"wrote {folder}: {size / 1e6:.1f} MB; docs/publish.md says how to upload it")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
