"""Bytes, texts and figures that are written whole or not at all (`millebornes_env.files` says how)."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from millebornes_env.files import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_bytes_atomically(path: Path, content: bytes) -> None:
    """Write a file whole or not at all.

    Args:
        path: the file to write; its folder is made if it is missing.
        content: all of it.

    Raises:
        OSError: it could not be written; the old file, if there was one, is as it was.
    """
    with replacing(path) as draft:
        draft.write_bytes(content)


def write_text_atomically(path: Path, text: str) -> None:
    """Write a text file (UTF-8, line ends as given) whole or not at all; see `write_bytes_atomically`."""
    write_bytes_atomically(path, text.encode("utf-8"))


def write_json_atomically(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON for people and programs whole or not at all; see `write_bytes_atomically`.

    Raises:
        OSError: it could not be written.
        ValueError: a number is not finite, which JSON cannot hold.
    """
    write_text_atomically(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def save_figure_atomically(figure: Figure, path: Path, *, dots_per_inch: int = 150) -> None:
    """Write a Matplotlib figure whole or not at all; see `write_bytes_atomically`.

    Args:
        figure: what to draw.
        path: the file to write, in the format that its suffix names (PNG without one).
        dots_per_inch: resolution, in pixels for each inch of the figure's size.

    Raises:
        OSError: it could not be written.
    """
    content = io.BytesIO()
    figure.savefig(content, format=path.suffix.lstrip(".") or "png", dpi=dots_per_inch)
    write_bytes_atomically(path, content.getvalue())
