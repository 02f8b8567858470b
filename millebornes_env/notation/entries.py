"""Validation of a record read from JSON."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from millebornes_env._util.texts import closest
from millebornes_env.errors import NotationError, shown

FORMAT_VERSION: Final = 1
"""Version of the format; increased when older files can no longer be read."""


class Entries(NamedTuple):
    """The entries of a record.

    Attributes:
        words: the lines of the position, by name.
        plays: the text of each play.
        others: all other entries, by name.
    """

    words: dict[str, str]
    plays: list[str]
    others: dict[str, Any]


def checked_entries(entries: object, game: str, others: tuple[str, ...]) -> Entries:
    """Return the entries of a record after checking their names and types.

    Args:
        entries: the parsed JSON.
        game: name of the game, which is also the name of the entry with the format version.
        others: names of entries other than position and plays.

    Raises:
        NotationError: an entry is invalid; the message names it.
    """
    if not isinstance(entries, dict):
        raise NotationError("a record is an object, {...}")
    known = (game, "position", "plays", *others)
    for name in entries:
        if name not in known:
            raise NotationError(
                f"unknown entry {shown(name)}; the entries are {', '.join(known)}.{closest(name, known)}"
            )
    version = entries.get(game)
    if type(version) is not int or version != FORMAT_VERSION:
        raise NotationError(
            f"{game!r}, the version of the format, is {shown(version)}; this release reads {FORMAT_VERSION}"
        )
    words, plays = entries.get("position"), entries.get("plays", [])
    if not isinstance(words, dict):
        raise NotationError('\'position\' must be an object of names and words, {"dealer": "1", ...}')
    for name, said in words.items():
        if not isinstance(said, str):
            raise NotationError(
                f'\'position\' must be an object of names and words, {{"dealer": "1", ...}}; '
                f"{shown(name)} is {shown(said)}, not text"
            )
    if not isinstance(plays, list):
        raise NotationError("'plays' must be a list of texts, [\"seat 0: 25\", ...]")
    for number, play in enumerate(plays, 1):
        if not isinstance(play, str):
            raise NotationError(
                f"'plays' must be a list of texts, [\"seat 0: 25\", ...]; play {number} is {shown(play)}"
            )
    return Entries(words, plays, {name: entries.get(name) for name in others})
