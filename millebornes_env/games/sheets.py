"""Rule sheets of all games: files, names, and labels such as `parker+max_200=4`."""

from __future__ import annotations

import dataclasses
import importlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, ClassVar, Final, Generic, Protocol, Self, TypeVar

from millebornes_env._util.arguments import whole_number
from millebornes_env._util.texts import closest, toml_of_file
from millebornes_env.errors import EditionError, OptionError, shown

MOST_BYTES_OF_A_SHEET: Final = 2**20

NO_OR_YES: Final = ("no", "yes")
"""The choices of a rule with a boolean value."""
NEUTRAL: Final = "roadtrip"
"""Name of mini decks for those who must avoid the trademark: `roadtrip8` is `mini8`."""

_TEXTS: Final = ("name", "title", "summary")
NAME_IN_WORDS: Final = (
    "use at most 60 letters (a to z), digits, '_', '-' and '.', beginning with a letter or digit and not "
    "ending in .toml"
)
"""The names of sheets, for messages."""
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,59}")
_DRAWN_NAME: Final = re.compile(r"[a-z0-9-]{1,40}:[a-z]{1,20}(/[a-z]{1,20})?/[0-9]{1,10}")
_NUMBER: Final = re.compile(r"[0-9]{1,18}")
_LARGEST_NUMBER: Final = 10**6
_MOST_LISTED: Final = 5

R = TypeVar("R", bound=Any)
"""The rules of a game, a named tuple."""

Tables = Mapping[tuple[int, int], Mapping[str, int]]
"""The tables of a sheet: for (players, teams), the rules that have another value there."""


class RuleField(Protocol):
    """The meaning of a rule."""

    @property
    def question(self) -> str:
        """The question that the value answers."""

    @property
    def choices(self) -> tuple[str, ...]:
        """Meanings of the values 0, 1, ...; empty for a number."""


@dataclass(frozen=True, kw_only=True)
class RuleSheet(Generic[R]):
    """A rule sheet as data; each game derives its `Edition` from it.

    Attributes:
        name: name in code and on command lines.
        title: title for people.
        summary: description in a sentence or two.
        rules: the value of each rule, unless the table has another one.
        tables: for (players, teams), the rules that have another value there. The first table with a given
            number of players is the default for that number.
        sources: for each rule, the passage of the sheet or the ruling that states it.
        changes: rules overridden with `replace`, so that saved results name them.

    Raises:
        EditionError: the name is invalid in labels and positions.
    """

    name: str
    title: str
    summary: str
    rules: R
    tables: Tables
    sources: Mapping[str, str]
    changes: Mapping[str, int] = dataclasses.field(default_factory=dict)

    game: ClassVar[str]
    """Name of the game in the registry."""
    game_title: ClassVar[str]
    rules_type: ClassVar[Callable[..., Any]]
    fields: ClassVar[Mapping[str, RuleField]]
    overridable: ClassVar[tuple[str, ...]]
    """The rules that a sheet states and that a user may override."""
    parts: ClassVar[tuple[str, ...]]
    """Entries of a file that are not rules; `read_parts` reads them."""
    example: ClassVar[str]
    """An override for messages, such as "max_200=4"."""
    folder: ClassVar[Path]
    """The folder of the editions."""
    mini_folder: ClassVar[Path | None] = None
    """The folder of the mini decks, which are found by name but are not editions."""
    drawn: ClassVar[str] = ""
    """Import path "module:name" of the function that returns a sheet of a split by its name; "" for none."""

    def __post_init__(self) -> None:
        name: object = self.name
        if not is_name(name) and not (isinstance(name, str) and _DRAWN_NAME.fullmatch(name)):
            raise EditionError(
                f"the name {shown(name)} is not valid for an edition: {NAME_IN_WORDS}; the title is free text"
            )

    # Tables ------------------------------------------------------------------------------------------------

    @property
    def players(self) -> tuple[int, ...]:
        """The numbers of players that the sheet has a table for."""
        return tuple(sorted({players for players, _ in self.tables}))

    def table(self, players: int, teams: int | None = None) -> R:
        """Return the rules at one table.

        Args:
            players: number of seats.
            teams: number of teams; None for the sheet's default with this number of players.

        Raises:
            OptionError: the sheet has no such table.
            EditionError: the overridden rules are impossible at this table.
        """
        for table in self.tables:
            if table[0] == whole_number(players) and (teams is None or table[1] == whole_number(teams)):
                if table not in self._checked:
                    self._checked[table] = self._rules_at(table)
                return self._checked[table]
        raise missing_table(self.name, players, teams, self.tables)

    @cached_property
    def _checked(self) -> dict[tuple[int, int], R]:
        """Cache of checked rules, by table."""
        return {}

    def _rules_at(self, table: tuple[int, int]) -> R:
        values = {**self.tables[table], "players": table[0], "teams": table[1], **self.changes}
        try:
            return self.validate(self.rules._replace(**values))  # type: ignore[no-any-return]
        except EditionError as error:
            alone = sum(players == table[0] for players, _ in self.tables) == 1
            where = f"{table[0]} players" if alone else table_words(*table)
            raise EditionError(f"at the table of {where}, {error}") from None

    # Overrides ---------------------------------------------------------------------------------------------

    def replace(self, **changes: int) -> Self:
        """Return a copy with some rules overridden, e.g. `edition("parker").replace(max_200=4)`.

        Args:
            changes: rules with their new values, the same at every table.

        Returns:
            A new edition; its `changes` and `label` name the overrides.

        Raises:
            EditionError: a rule is unknown (the message names the closest), or a value is impossible at all
                tables. (If it is impossible at some tables only, `table` raises there.)
        """
        for name in changes:
            if name not in self.overridable:
                raise EditionError(
                    f"there is no rule {shown(name)} to override.{closest(name, self.overridable)} The "
                    f"{len(self.overridable)} rules are: {', '.join(self.overridable[:_MOST_LISTED])} ...; "
                    "`millebornes editions SHEET` lists them all."
                )
        # Convert subclasses of int, which may override arithmetic.
        plain = {
            name: value if (number := whole_number(value)) is None else number
            for name, value in changes.items()
        }
        changed = dataclasses.replace(self, changes={**self.changes, **plain})
        errors = []
        for table in self.tables:
            try:
                changed.table(*table)
            except EditionError as error:
                errors.append(error)
        if len(errors) == len(self.tables):
            raise errors[0]
        return changed

    @property
    def label(self) -> str:
        """The name with the overrides: `parker` or `parker+max_200=4`."""
        return "+".join([self.name, *(f"{rule}={value}" for rule, value in sorted(self.changes.items()))])

    # Sheets by name ----------------------------------------------------------------------------------------

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the game's editions, in alphabetical order."""
        return names_in(cls.folder)

    @classmethod
    def mini_names(cls) -> tuple[str, ...]:
        """Return the names of the game's mini decks, the smallest first."""
        return () if cls.mini_folder is None else names_in(cls.mini_folder)

    @classmethod
    def find(cls, given: object) -> Self:
        """Return the sheet of a name, a label or a path; a sheet is returned unchanged.

        Args:
            given: one of `names()` or of `mini_names()` (`mini8`, or neutrally `roadtrip8`, means the newest
                version, `mini8-v0`), a sheet of a split such as `variants-v1:train/123456`, a label such as
                `parker+max_200=4`, or the path of a file, ending in `.toml`.

        Raises:
            EditionError: the name is unknown (the message lists the sheets), the file is not a valid sheet,
                or an override of the label is impossible.
        """
        if isinstance(given, cls):
            return given
        if not isinstance(given, (str, Path)):
            raise cls._unknown(given)
        stem, overrides = split_label(str(given))
        minis = cls.mini_names()
        if stem.endswith(".toml"):
            sheet = cls.load(Path(stem))
        elif ":" in stem and cls.drawn:
            module, _, function = cls.drawn.partition(":")
            sheet = getattr(importlib.import_module(module), function)(stem)
        elif name := stem if stem in cls.names() + minis else newest_version(stem, minis):
            sheet = cls.shipped(name)
        else:
            raise cls._unknown(stem)
        return sheet.replace(**cls._changes(str(given), overrides)) if overrides else sheet

    @classmethod
    def shipped(cls, name: str) -> Self:
        """Return the edition or mini deck of that name; each file is read once."""
        kind: Any = cls
        return _shipped(kind, name)  # type: ignore[no-any-return]

    @classmethod
    def _unknown(cls, given: object) -> EditionError:
        if not cls.folder.is_dir():
            return EditionError(
                f"the rule sheets in {cls.folder} cannot be read: they must be in a folder. "
                "Unpack the package, or install it with pip."
            )
        minis = ", ".join(name.rpartition("-v")[0] for name in cls.mini_names())
        hint = closest(given, cls.names() + cls.mini_names()) if isinstance(given, str) else ""
        return EditionError(
            f"there is no edition {shown(given)}; the editions are: {', '.join(cls.names())}, or the path of "
            f"a sheet, ending in .toml{minis and f'; mini decks: {minis}'}.{hint}"
        )

    @classmethod
    def _changes(cls, label: str, overrides: Iterable[str]) -> dict[str, int]:
        """Return the overrides of a label as ints."""
        changes: dict[str, int] = {}
        for one in overrides:
            name, _, value = one.partition("=")
            if _NUMBER.fullmatch(value) is None:
                raise EditionError(
                    f"{shown(one)} overrides no rule: it must read name=number, such as {cls.example}"
                )
            if name in changes:
                raise EditionError(f"{shown(label)} overrides a rule twice: {shown(name)}")
            changes[name] = int(value)
        return changes

    # Sheets from files -------------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a sheet from a TOML file (docs/environment/extend.md describes its entries).

        Raises:
            EditionError: the file is unreadable or not a valid sheet; the message names file and entry.
        """
        given: object = path
        if not isinstance(given, Path):
            raise EditionError(f"a sheet is read from a pathlib.Path; got {shown(given)}")
        entries = toml_of_file(path, EditionError, MOST_BYTES_OF_A_SHEET)
        try:
            sheet = cls._of_entries(entries)
            if path.parent not in (cls.folder, cls.mini_folder):
                sheet._check_name()
        except EditionError as error:
            raise EditionError(f"{path}: {error}") from None
        return sheet

    @classmethod
    def read_parts(
        cls, entries: dict[str, Any], values: dict[str, Any], sources: dict[str, str]
    ) -> dict[str, Any]:
        """Read the entries `parts` of a file, which differ from game to game.

        Args:
            entries: all entries of the file.
            values: rules by name; extended in place.
            sources: sources by rule; extended in place.

        Returns:
            More attributes of the sheet: `tables`, and attributes of the game's `Edition`.
        """
        raise NotImplementedError

    @staticmethod
    def validate(rules: Any) -> Any:
        """Return the rules unchanged, or raise EditionError if they are impossible."""
        raise NotImplementedError

    @classmethod
    def _of_entries(cls, entries: dict[str, Any]) -> Self:
        for name in _TEXTS:
            need_text(f"the entry {name!r}", entries.get(name))
        if entries.get("game", cls.game) != cls.game:
            raise EditionError(
                f"the entry 'game' is {shown(entries['game'])}; "
                f"an edition of {cls.game_title} says {cls.game!r}"
            )
        check_known(entries, ("game", *_TEXTS, *cls.parts, *cls.overridable), "unknown entry {}")
        values: dict[str, Any] = {}
        sources: dict[str, str] = {}
        attributes = cls.read_parts(entries, values, sources)
        values["players"], values["teams"] = next(iter(attributes["tables"]))
        sheet = cls(
            name=entries["name"],
            title=one_line("the title", entries["title"]),
            summary=one_line("the summary", entries["summary"]),
            rules=cls.rules_type(**values),
            sources={name: one_line(f"the source of {name}", source) for name, source in sources.items()},
            **attributes,
        )
        for table in sheet.tables:
            sheet.table(*table)
        return sheet

    @classmethod
    def read_rule(cls, name: str, entry: object) -> tuple[int, str]:
        """Read the entry of a rule, `{ value = ..., source = ... }`, as value and source."""
        wanted = f"write {name} = {{ value = ..., source = ... }}; it answers: {cls.fields[name].question}"
        if entry is None:
            raise EditionError(f"the rule {name!r} is missing; {wanted}")
        if not isinstance(entry, dict) or entry.keys() != {"value", "source"}:
            raise EditionError(f"the rule {name!r} is not understood; {wanted}")
        if not is_text(entry["source"]):
            raise EditionError(f"the rule {name!r} has no source; {wanted}")
        return cls.read_value(name, entry["value"]), entry["source"]

    @classmethod
    def read_value(cls, name: str, value: object) -> int:
        """Return the value of a rule as an int; in a file it may be a bool, or the name of a choice."""
        choices = cls.fields[name].choices
        if not choices:
            return read_number(f"the rule {name!r}", value)
        if choices == NO_OR_YES:
            if isinstance(value, bool):
                return int(value)
        elif value in choices:
            return choices.index(str(value))
        known = "true or false" if choices == NO_OR_YES else " or ".join(map(repr, choices))
        raise EditionError(f"the rule {name!r} is {shown(value)}; it must be {known}")

    def _check_name(self) -> None:
        """Raise if the name already means other rules, since positions store the name only."""
        if ":" in self.name:
            raise EditionError(
                f"the name {self.name!r} is that of a drawn sheet: choose one without ':' and '/'"
            )
        try:
            other = importlib.import_module("millebornes_env.games.registry").edition(self.name)
        except EditionError:
            return
        if other.game != self.game:
            raise EditionError(
                f"the name {self.name!r} is that of a sheet of the game {other.game!r}: choose another name"
            )
        differences = []
        for table in self.tables:
            if table not in other.tables:
                differences.append(table_words(*table))
                continue
            ours, theirs = self.table(*table), other.table(*table)
            differences += [
                f"{name} {shown(value)}, there {shown(getattr(theirs, name))}"
                for name, value in ours._asdict().items()
                if value != getattr(theirs, name)
            ]
        if tuple(self.tables) != tuple(other.tables) or differences:
            first = f" ({differences[0]})" if differences else ""
            raise EditionError(
                f"the name {self.name!r} is that of a shipped sheet, and this one differs from it{first}: "
                "choose another name, so that positions and results of the two cannot be confused"
            )


@cache
def _shipped(kind: Any, name: str) -> Any:
    folder = kind.mini_folder if name in kind.mini_names() else kind.folder
    return kind.load(folder / f"{name}.toml")


# Names and labels ------------------------------------------------------------------------------------------


@cache
def names_in(folder: Path) -> tuple[str, ...]:
    """Return the names of the sheets in a folder, in natural order (`mini7-v0` before `mini10-v0`)."""

    def order(name: str) -> list[str | int]:
        return [int(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", name)]

    return tuple(sorted((file.stem for file in folder.glob("*.toml")), key=order))


def is_name(name: object) -> bool:
    """Return True for a name that can stand in labels and positions."""
    return isinstance(name, str) and _NAME.fullmatch(name) is not None and not name.endswith(".toml")


def newest_version(name: str, names: Iterable[str]) -> str | None:
    """Return the newest version of a name among `names` (such as `mini8-v0` for `mini8`), or None.

    A mini deck has a neutral name, too: `roadtrip8` is `mini8`.
    """
    name = re.sub(rf"^{NEUTRAL}(?=\d)", "mini", name)
    versions = []
    for one in names:
        stem, _, version = one.rpartition("-v")
        if name in (stem, one) and _NUMBER.fullmatch(version):
            versions.append((int(version), one))
    return max(versions)[1] if versions else None


def split_label(label: str) -> tuple[str, list[str]]:
    """Split a label into its name or path, which may contain a "+", and its overrides."""
    path, suffix, rest = label.rpartition(".toml")
    last, *overrides = rest.split("+")
    return path + suffix + last, overrides


def table_words(players: int, teams: int) -> str:
    """Describe a table: "4 players in 2 teams"."""
    return f"{players} players in {teams} teams"


def missing_table(
    name: str, players: object, teams: object, tables: Iterable[tuple[int, int]]
) -> OptionError:
    """Return the error for a table that a sheet does not have; `tables` are those that it has."""
    requested = {"players": players} | ({} if teams is None else {"teams": teams})
    words = " in ".join(f"{shown(value)} {noun}" for noun, value in requested.items())
    invalid = [
        f"{noun} is {shown(value)}" for noun, value in requested.items() if whole_number(value) is None
    ]
    why = f" ({' and '.join(invalid)}, not a whole number)" if invalid else ""
    known = ", ".join(table_words(*table) for table in tables)
    return OptionError(f"the edition {name!r} has no table for {words}{why}; it has: {known}")


# Entries of a file -----------------------------------------------------------------------------------------


def is_text(value: object) -> bool:
    """Return True for a str that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def need_text(what: str, value: object) -> None:
    """Raise EditionError unless the value is a str that is not blank."""
    if not is_text(value):
        raise EditionError(f"{what} is missing, or not text")


def read_number(what: str, value: object) -> int:
    """Return an int from a file; raise EditionError for other values."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise EditionError(f"{what} is {shown(value)}; it must be a whole number")
    if abs(value) > _LARGEST_NUMBER:
        raise EditionError(f"{what} is {shown(value)}: it may be at most {_LARGEST_NUMBER}")
    return value


def one_line(what: str, text: object) -> str:
    """Return the text on one line, for tables and messages; raise EditionError if it cannot be printed."""
    if not isinstance(text, str):
        raise EditionError(f"{what} is {shown(text)}; it must be text")
    line = " ".join(text.split())
    if not line.isprintable():
        first = next(character for character in line if not character.isprintable())
        raise EditionError(f"{what} contains {first!r}, which cannot be printed")
    return line


def check_known(names: Iterable[str], known: Iterable[str], message: str) -> None:
    """Raise EditionError if an entry is unknown; `message` has a "{}" for its name."""
    unknown = set(names) - set(known)
    if unknown:
        first = min(unknown)
        hint = closest(first, known)
        raise EditionError(message.format(shown(first)) + (f".{hint}" if hint else ""))
