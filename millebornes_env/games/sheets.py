"""Rule sheets of any game: found by name, by path or by a label such as `parker+max_200=4`.

What stands in a sheet, and the class that holds it, are the game's own (`editions` in its folder); what they
share is here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from numbers import Integral
from pathlib import Path
from typing import Any, Final, Generic, Protocol, TypeVar

from millebornes_env._util.texts import closest
from millebornes_env.errors import EditionError, UnknownEditionError, shown

MOST_BYTES_OF_A_SHEET: Final = 2**20

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
"""Of a sheet: it stands in labels, positions, command lines and the names of files."""
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_MOST_LISTED: Final = 5


class Overridable(Protocol):
    """A sheet of which rules can be overridden."""

    def replace(self, **changes: int) -> Any:
        """The same sheet with some rules overridden."""


T = TypeVar("T", bound=Overridable)


class SheetFolder(Generic[T]):
    """The sheets that come with a game, and how others are found.

    Attributes:
        path: of the folder.
        minis: of the folder with sheets that are found by their names, but are none of the editions; or None.
    """

    def __init__(
        self,
        path: Path,
        read: Callable[[Path], T],
        unknown: Callable[[object], str],
        example: str,
        minis: Path | None = None,
    ) -> None:
        """Take a folder.

        Args:
            path: of the folder; its TOML files are the sheets.
            read: reads a sheet from a file.
            unknown: what is said of something that names no sheet.
            example: of an override, such as "max_200=4".
            minis: path of the folder with the mini decks, if the game has any.
        """
        self.path = path
        self.minis = minis
        self._read = read
        self._unknown = unknown
        self._example = example
        self.names = cache(self._names)
        self.mini_names = cache(self._mini_names)
        self.shipped = cache(self._shipped)

    def _names(self) -> tuple[str, ...]:
        """The names of all editions, in alphabetical order."""
        return tuple(sorted(file.stem for file in self.path.glob("*.toml")))

    def _mini_names(self) -> tuple[str, ...]:
        """The names of all mini decks, the smallest first."""
        return () if self.minis is None else mini_names_in(self.minis)

    def _shipped(self, name: str) -> T:
        """The sheet of that name; it is read once."""
        is_mini = self.minis is not None and name in self.mini_names()
        folder = self.minis if is_mini and self.minis is not None else self.path
        return self._read(folder / f"{name}.toml")

    def is_shipped(self, name: str) -> bool:
        """Return True if a sheet of that name comes with the game, an edition or a mini deck."""
        return name in self.names() or name in self.mini_names()

    def has_file(self, path: Path) -> bool:
        """Return True if the path is that of a file in one of the folders."""
        return path.parent in (self.path, self.minis)

    def find(self, given: object) -> T:
        """The sheet that a name, a label or a path means.

        Raises:
            UnknownEditionError: there is none.
            EditionError: the file does not describe a sheet.
            EditionError: the label overrides something that cannot be overridden so.
        """
        if not isinstance(given, (str, Path)):
            raise UnknownEditionError(self._unknown(given))
        stem, overrides = split_label(str(given))
        if stem.endswith(".toml"):
            found = self._read(Path(stem))
        elif self.is_shipped(stem):
            found = self.shipped(stem)
        elif newest := newest_version(stem, self.mini_names()):
            found = self.shipped(newest)
        elif not self.path.is_dir():
            raise UnknownEditionError(
                f"the rule sheets in {self.path} cannot be read: they must lie in a folder. "
                "Unpack the package, or install it with pip."
            )
        else:
            raise UnknownEditionError(self._unknown(stem))
        changes = self._changes(str(given), overrides)
        changed: T = found.replace(**changes) if changes else found
        return changed

    def _changes(self, label: str, overrides: Iterable[str]) -> dict[str, int]:
        """The numbers that a label overrides."""
        changes: dict[str, int] = {}
        for one in overrides:
            name, _, value = one.partition("=")
            if _NUMBER.fullmatch(value) is None:
                raise EditionError(
                    f"{shown(one)} overrides no rule: it must read name=number, such as {self._example}"
                )
            if name in changes:
                raise EditionError(f"{shown(label)} overrides a rule twice: {shown(name)}")
            changes[name] = int(value)
        return changes


def mini_names_in(folder: Path) -> tuple[str, ...]:
    """The names of the mini decks of a folder, the smallest first: `mini7-v0`, ..., `mini10-v0`."""
    return tuple(sorted((file.stem for file in folder.glob("*.toml")), key=lambda name: (len(name), name)))


def newest_version(name: str, names: Iterable[str]) -> str | None:
    """The newest of the names that add a version to this one: of `mini8`, `mini8-v0`; None: there is none."""
    versions = [(int(version), one) for one in names if (version := _version_of(one, name)) is not None]
    return max(versions)[1] if versions else None


def _version_of(one: str, name: str) -> str | None:
    stem, _, version = one.rpartition("-v")
    return version if stem == name and _NUMBER.fullmatch(version) else None


def split_label(label: str) -> tuple[str, list[str]]:
    """The name or path of a label, and what it overrides; a path may hold a "+"."""
    path, suffix, rest = label.rpartition(".toml")
    last, *overrides = rest.split("+")
    return path + suffix + last, overrides


def label_of(name: str, changes: Mapping[str, int]) -> str:
    """The name of a sheet with what was overridden: `parker` or `parker+max_200=4`."""
    return "+".join([name, *(f"{rule}={value}" for rule, value in sorted(changes.items()))])


def checked_changes(changes: Mapping[str, int], overridable: tuple[str, ...]) -> dict[str, int]:
    """The overrides as plain ints; what is no whole number is left for the rules to refuse.

    Raises:
        EditionError: there is no such rule to override; the message names the closest first, then some.
    """
    for name in changes:
        if name not in overridable:
            raise EditionError(
                f"there is no rule {shown(name)} to override.{closest(name, overridable)} The "
                f"{len(overridable)} rules are: {', '.join(overridable[:_MOST_LISTED])} ...; "
                "`millebornes editions SHEET` lists them all."
            )
    # an int of a class of its own may add what rules would calculate with
    return {name: int(value) if whole(value) is not None else value for name, value in changes.items()}


def whole(value: object) -> int | None:
    """The value as an int, if it is a whole number."""
    if isinstance(value, bool):
        return None
    return int(value) if isinstance(value, Integral) else None


# What stands in a sheet ------------------------------------------------------------------------------------


def check_name(name: object, of_what: str) -> None:
    """Refuse a name that a label, a position or a command line could not hold.

    Args:
        name: as it stands in the sheet.
        of_what: "an edition", or what people call a sheet of the game.

    Raises:
        EditionError: it is none; the message says what may stand in one.
    """
    if isinstance(name, str) and _NAME.fullmatch(name) and not name.endswith(".toml"):
        return
    raise EditionError(
        f"the name {shown(name)} is none for {of_what}: it is made of letters (a to z), digits, '_', '-' "
        "and '.', begins with a letter or digit, has at most 60 of them and does not end in .toml; what "
        "people call it is the title"
    )


def is_text(value: object) -> bool:
    """Return True if the value is text, and not blank."""
    return isinstance(value, str) and bool(value.strip())


def one_line(what: str, text: object) -> str:
    """The text in one line, as tables and error messages print it.

    Raises:
        EditionError: it is none, or a control character stands in it.
    """
    if not isinstance(text, str):
        raise EditionError(f"{what} is {shown(text)}; it must be text")
    line = " ".join(text.split())
    if not line.isprintable():
        odd = next(character for character in line if not character.isprintable())
        raise EditionError(f"{what} holds {odd!r}, which does not print")
    return line


def refuse_unknown(given: Iterable[str], known: Iterable[str], complaint: str) -> None:
    """Refuse the first entry, in alphabetical order, that is none of the known ones.

    Raises:
        EditionError: there is one; `complaint` has a "{}" where it is named.
    """
    unknown = set(given) - set(known)
    if unknown:
        first = min(unknown)
        hint = closest(first, known)
        raise EditionError(complaint.format(shown(first)) + (f".{hint}" if hint else ""))
