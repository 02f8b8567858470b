"""Untrusted text: read with a size limit, and shortened in error messages."""

from __future__ import annotations

import codecs
import difflib
import io
import itertools
import json
import re
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final, TextIO

from millebornes_env.errors import MilleBornesError, shown

MOST_BYTES: Final = 2**24
"""Size limit of a text file; a sheet has thousands of bytes, the longest match hundreds of thousands."""

_LONGEST_QUOTE: Final = 70
_LONGEST_NAME: Final = 250


def text_of_file(
    path: Path, error: type[MilleBornesError] = MilleBornesError, most_bytes: int = MOST_BYTES
) -> str:
    """Read a UTF-8 text file, with or without a byte order mark, and normalize its line ends to newlines.

    Args:
        path: the file.
        error: class of the error for invalid content.
        most_bytes: size limit, which also stops reading an endless file.

    Raises:
        OSError: the file cannot be read.
        MilleBornesError: of the class `error`: the file is not text, or too large; the message names it.
    """
    try:
        with path.open("rb") as file:
            content = file.read(most_bytes + 1)
    except ValueError as problem:  # a NUL in the name
        raise error(f"{shown(str(path))} names no file: {problem}") from None
    if len(content) > most_bytes:
        raise error(
            f"{file_name(path)}: the file has more than {most_bytes:,} bytes: it is probably the wrong file"
        )
    try:
        return io.StringIO(decoded(content), newline=None).read()
    except UnicodeDecodeError as problem:
        raise error(f"{file_name(path)}: {undecodable(content, problem)}") from None


def toml_of_file(path: Path, error: type[MilleBornesError], most_bytes: int = MOST_BYTES) -> dict[str, Any]:
    """Parse a TOML file of at most `most_bytes`; an error of the class `error` names the file."""
    try:
        return tomllib.loads(text_of_file(path, error, most_bytes))
    except error:
        raise
    except OSError as problem:
        raise error(f"{file_name(path)}: {problem.strerror or problem}") from None
    except (ValueError, RecursionError) as problem:  # not TOML; a number of thousands of digits; too deep
        raise error(f"{path}: this is not TOML: {problem}") from None


def json_of_file(path: Path, error: type[MilleBornesError]) -> dict[str, Any]:
    """Parse a file with a JSON object.

    Args:
        path: the file.
        error: class of the error for invalid content.

    Raises:
        OSError: the file cannot be read; FileNotFoundError if it is missing.
        MilleBornesError: of the class `error`; the message names the file.
    """
    try:
        content = json.loads(text_of_file(path, error))
    except error:
        raise
    except (ValueError, RecursionError) as problem:  # not JSON; a number of thousands of digits; too deep
        raise error(f"{file_name(path)}: this is not JSON: {problem}") from None
    if not isinstance(content, dict):
        raise error(f"{file_name(path)}: this is not a JSON object, but a {type(content).__name__}")
    return content


def decoded(content: bytes) -> str:
    """Decode UTF-8, with or without a byte order mark; `undecodable` describes a UnicodeDecodeError."""
    return content.removeprefix(codecs.BOM_UTF8).decode("utf-8")


def undecodable(content: bytes, problem: UnicodeDecodeError) -> str:
    """Describe why bytes are not valid UTF-8."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "its byte order mark says that it is UTF-16; save it as UTF-8 (utf-8)"
    where = f"byte {content[problem.start]:#04x} at index {problem.start}"
    return f"it is not text in UTF-8 (utf-8): {where} does not fit; is it the right file?"


def shortened(text: str) -> str:
    """Return the text, cut off if it is long."""
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."


def file_name(path: object) -> str:
    """Return the name of a file for error messages: whole, unless it is longer than a line or two."""
    name = str(path)
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_QUOTE]}...{name[-_LONGEST_QUOTE:]}"


def named(text: str) -> tuple[str, str]:
    """Split an agent's `name@spec`; without a name both are the text."""
    name, at, spec = text.partition("@")
    if not at or not re.fullmatch(r"[A-Za-z0-9_. +-]+", name):
        return text, text
    return name, spec


def items_of(given: object, most: int) -> list[Any] | None:
    """Return the items of an iterable, if there are at most `most`.

    Args:
        given: a caller's argument; at most `most` + 1 items are read, so an endless iterator is allowed.
        most: limit of the number of items.

    Returns:
        The items; None if there are more, or if the argument is not iterable.
    """
    try:
        result = list(itertools.islice(iter(given), most + 1))  # type: ignore[call-overload]
    except TypeError:
        return None
    return result if len(result) <= most else None


def print_text(text: str, *, end: str = "\n", file: TextIO | None = None) -> None:
    """Print a text, with letters that the stream's encoding lacks (the "é" of "coup fourré") escaped."""
    stream = sys.stdout if file is None else file
    try:
        print(text, end=end, file=stream, flush=True)
    except UnicodeEncodeError:
        encoding = getattr(stream, "encoding", None) or "ascii"
        print(text.encode(encoding, "backslashreplace").decode(encoding), end=end, file=stream, flush=True)


def closest(word: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown word, " Did you mean 'roll'?", or "" if no known word is similar."""
    close = difflib.get_close_matches(word[:_LONGEST_QUOTE], list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
