"""The registry of games: their rulebooks, rule sheets and optional hooks.

A game of the package is a folder and an entry in `GAMES`; `register_game` adds a game of your own
(docs/environment/extend.md). A game's modules are imported when they are first needed.
"""

from __future__ import annotations

import functools
import importlib
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NamedTuple, Protocol

from millebornes_env._util.arguments import flag
from millebornes_env._util.texts import closest, text_of_file
from millebornes_env.engine.rulebook import Rulebook, StateArray, TableRules, checked_module
from millebornes_env.errors import (
    ConformanceError,
    EditionError,
    GameError,
    OptionError,
    shown,
)
from millebornes_env.games.sheets import (
    MOST_BYTES_OF_A_SHEET,
    NAME_IN_WORDS,
    is_name,
    missing_table,
    names_in,
    newest_version,
    split_label,
)

_HERE: Final = Path(__file__).parent
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")

HOOKS: Final = {
    "games.audit": "audit of states",
    "games.history": "history of events",
    "games.chance_nodes": "list of chance nodes",
    "games.play_until_refused": "compiled replay of plays",
    "games.variants": "distributions of rule sheets",
    "games.widest_rules": "largest values of rules",
    "testing.laws": "invariants of records",
    "notation.positions": "positions as text",
    "notation.action_words": "words for plays in records",
    "notation.describe_chance": "words for dice and cards",
    "render.draw": "drawing of its table",
    "render.draw_end": "drawing of its end",
    "render.picture": "picture of its table",
    "render.describe": "description of observations",
    "render.view": "view of a seat",
    "render.describe_event": "description of events",
    "render.pages": "pages of its rule sheets",
    "agents.decoder": "decoder of observations",
    "agents.features": "features of networks",
    "agents.champion": "preferred champion",
    "solving.solvable": "solver of small tables",
    "arena.counts": "statistics",
    "arena.luck": "value of luck",
    "play.words": "words for language models",
    "play.session": "session on the terminal",
    "play.table": "table in the browser",
    "play.study": "table for studies",
}
"""Optional parts of a game, as "room.name", with a noun for messages (docs/environment/extend.md)."""

OBSERVATION_OPTIONS: Final = {
    "unseen": ("observe_unseen", True),
    "rules": ("observe_rules", False),
    "padded": ("padded", False),
}
"""Name and default of each option of observations, by the field of a game's spec."""


# Rule sheets -----------------------------------------------------------------------------------------------


class Sheet(Protocol):
    """The interface of a rule sheet; `sheets.RuleSheet` implements it for sheets in files."""

    @property
    def name(self) -> str:
        """Name in code."""

    @property
    def label(self) -> str:
        """The name with the overridden rules."""

    @property
    def game(self) -> str:
        """Return the game of that name; raise GameError, which lists the games, for another name."""

    def table(self, players: int, teams: int | None = None, /) -> TableRules:
        """Return the rules at one table; raise OptionError if the sheet has no such table."""


@dataclass(frozen=True)
class SheetOfTables:
    """A rule sheet made of a list of tables, for a game without sheets in files.

    Attributes:
        game: name of the game.
        name: name of the sheet in code.
        tables: the rules of each table; the first with a given number of players is the default for it.

    Raises:
        GameError: `tables` is not a list of rules, or empty.
    """

    game: str
    name: str
    tables: Sequence[TableRules]

    def __post_init__(self) -> None:
        tables: Any = self.tables
        listed = isinstance(tables, Sequence) and len(tables) > 0
        if not listed or not all(hasattr(rules, "players") and hasattr(rules, "teams") for rules in tables):
            raise GameError(
                f"the tables of the sheet {shown(self.name)} are {shown(tables)}; they must be a list of "
                "rules with players and teams, at least one"
            )

    @property
    def label(self) -> str:
        """The name, as no rule can be overridden."""
        return self.name

    def table(self, players: int, teams: int | None = None) -> TableRules:
        """Return the rules at one table, else raise OptionError with the tables that there are."""
        for rules in self.tables:
            if rules.players == players and teams in (None, rules.teams):
                return rules
        raise missing_table(
            self.name, players, teams, [(rules.players, rules.teams) for rules in self.tables]
        )


class Everything(NamedTuple):
    """Observation options of a game without any; compiled code does not accept an empty tuple."""

    everything: int = 1


# An entry --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Game:
    """An entry of the registry of games.

    Attributes:
        name: name of the game, made of letters, digits and underscores; its sheets refer to it.
        rulebook: the rulebook module (`engine.rulebook.Rulebook`), or its name. Its optional attributes
            `ObservationSpec` and `OBSERVATION_VERSION` are the options of observations and the version that
            trained policies must match.
        sheets: the rule sheets; or a function `edition(given)`, or its import path "module:name", that
            returns the sheet of a name or file, and returns a sheet unchanged.
        sheet_names: names of the shipped sheets, if `sheets` is a function.
        title: title for captions; the name if empty.
        chance: noun for the game's chance in captions, such as "cards" or "dice".
        opponents: default agents to evaluate against.
        eval_opponents: agents that a policy is measured against during training.
        rival: default agent to play against a person.
        hooks: optional parts of the game by their names in `HOOKS`. A game of the package has them in files:
            the hook `render.draw` of Mille Bornes is `draw` in `millebornes_env/render/millebornes/hooks.py`.
    """

    name: str
    rulebook: str | ModuleType
    sheets: str | Callable[..., Any] | Sequence[Sheet]
    sheet_names: Sequence[str] = ()
    title: str = ""
    chance: str = "chance"
    opponents: tuple[str, ...] = ("random",)
    eval_opponents: tuple[str, ...] = ("random",)
    rival: str = "random"
    hooks: Mapping[str, Any] = field(default_factory=dict)

    @functools.cached_property
    def mini_decks(self) -> tuple[str, ...]:
        """The names of the mini decks: small sheets to be solved, which are not listed as editions."""
        return names_in(_HERE / self.name / "mini_decks") if self.name in _SHIPPED else ()

    @property
    def editions(self) -> tuple[str, ...]:
        """The names of the shipped sheets, except for mini decks."""
        if _is_function(self.sheets):
            return tuple(self.sheet_names)
        return tuple(one.name for one in self._listed)

    @property
    def shipped(self) -> tuple[str, ...]:
        """The names of all shipped sheets: the editions, then the mini decks."""
        return self.editions + self.mini_decks

    def knows(self, name: str) -> bool:
        """Return True if the name means a shipped sheet."""
        return name in self.shipped or newest_version(name, self.mini_decks) is not None

    @property
    def _listed(self) -> Sequence[Sheet]:
        sheets: Any = self.sheets
        return [] if _is_function(sheets) else sheets

    def module(self) -> Rulebook:
        """Return the rulebook; raise GameError if it is incomplete."""
        rulebook: Any = self.rulebook
        if isinstance(rulebook, str):
            rulebook = importlib.import_module(rulebook)
        checked: Any = checked_module(rulebook)
        return checked  # type: ignore[no-any-return] # a module: mypy knows them by their files only

    def sheet(self, given: object) -> Sheet:
        """Return the sheet of that name or file; a sheet is returned unchanged.

        Raises:
            EditionError: the name is unknown, or the file is not a valid sheet.
            OptionError: the game reads no sheets from files.
        """
        sheets: Any = self.sheets
        if _is_function(sheets):
            if isinstance(sheets, str):
                module, _, name = sheets.partition(":")
                sheets = getattr(importlib.import_module(module), name)
            result: Sheet = sheets(given)
            return result
        if not isinstance(given, (str, Path)):
            own: Any = given
            return own  # type: ignore[no-any-return] # its `game` is this one
        for one in self._listed:
            if one.name == str(given):
                return one
        if str(given).endswith(".toml"):
            raise OptionError(
                f"the game {self.name!r} reads no sheets from files, such as {shown(str(given))}"
            )
        raise EditionError(f"{shown(str(given))}: sheets of the game {self.name!r} have no rules to override")

    def observation_kind(self) -> Any:
        """Return the class of observation specs, a named tuple."""
        return getattr(self.module(), "ObservationSpec", Everything)

    def observation_spec(self, **options: object) -> Any:
        """Return an observation spec, the named tuple of ints that the game's kernels take.

        Args:
            options: `observe_unseen`, `observe_rules` and `padded`, each with a default.

        Raises:
            OptionError: an option is not a bool, or differs from the default in a game without it.
        """
        kind = self.observation_kind()
        values = {}
        for name, (option, default) in OBSERVATION_OPTIONS.items():
            chosen = flag(option, options.get(option, default))
            if name in kind._fields:
                values[name] = int(chosen)
            elif chosen != default:
                raise OptionError(
                    f"{option} is {chosen}; the game {self.name!r} has no such option: leave it out"
                )
        return kind(**values)

    def version(self) -> int:
        """Return the version of observations, which trained policies must match."""
        return int(getattr(self.module(), "OBSERVATION_VERSION", 1))

    def has(self, hook: str) -> bool:
        """Return True if the game has one of `HOOKS`."""
        return self.find_hook(hook) is not None

    def hook(self, hook: str, call: str) -> Any:
        """Return one of `HOOKS`; raise OptionError, which names the caller `call`, if the game lacks it."""
        result = self.find_hook(hook)
        if result is None:
            raise OptionError(
                f"the game {self.name!r} has no {HOOKS[hook]}, which {call} needs; "
                "docs/environment/extend.md says how a game gets one"
            )
        return result

    def find_hook(self, hook: str) -> Any:
        """Return one of `HOOKS`, or None if the game does not have it."""
        if self.name not in _SHIPPED:
            return self.hooks.get(hook)
        room, _, name = hook.partition(".")
        return getattr(_hooks_in(room, self.name), name, None)

    def check_laws(self, states: StateArray, rules: Any) -> None:
        """Check records by `testing.laws`, else by `games.audit`; raise ConformanceError for a broken law."""
        laws, audit = self.find_hook("testing.laws"), self.find_hook("games.audit")
        if laws is not None:
            laws(states, rules)
        elif audit is not None:
            problem = audit(states, rules)
            if problem is not None:
                raise ConformanceError(f"game {problem[0]}, seat {states['seat'][problem[0]]}: {problem[1]}")

    def end_of_drawing(self, state: Any, rules: Any) -> str:
        """Return the text below the drawing of a finished game, or ""."""
        draw_end = self.find_hook("render.draw_end")
        text = "" if draw_end is None else str(draw_end(state, rules))
        return f"\n{text}" if text else ""


@functools.cache
def _hooks_in(room: str, game_name: str) -> ModuleType | None:
    """Return the module of a shipped game's hooks in a room, or None."""
    name = f"{__name__.partition('.')[0]}.{room}.{game_name}.hooks"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name):  # the page's engine lacks some rooms
            return None
        raise


def _is_function(sheets: object) -> bool:
    """Return True for a function or its import path."""
    return isinstance(sheets, str) or callable(sheets)


# The registry ----------------------------------------------------------------------------------------------


DEFAULT_GAME: Final = "millebornes"
"""The game of a sheet that does not name one."""

GAMES: Final[dict[str, Game]] = {
    "millebornes": Game(
        name="millebornes",
        rulebook="millebornes_env.games.millebornes.rulebook",
        sheets="millebornes_env.games.millebornes.editions:edition",
        sheet_names=names_in(_HERE / "millebornes" / "sheets"),
        title="Mille Bornes",
        chance="cards",
        opponents=("random", "greedy", "holder"),
        eval_opponents=("greedy", "holder", "arnold"),
        rival="strategist",
    ),
    "wielerspel": Game(
        name="wielerspel",
        rulebook="millebornes_env.games.wielerspel.rulebook",
        sheets="millebornes_env.games.wielerspel.editions:edition",
        sheet_names=names_in(_HERE / "wielerspel" / "sheets"),
        title="Maillot Arc-en-ciel",
        chance="dice and cards",
        opponents=("random", "saver", "escaper", "bidder"),
        eval_opponents=("saver", "escaper", "bidder"),
        rival="bidder",
    ),
}
"""Every game, by its name."""

_SHIPPED: Final = tuple(GAMES)


def game(name: str) -> Game:
    """Return the game of that name.

    Raises:
        GameError: the name is unknown; the message lists the games.
    """
    given: object = name
    if isinstance(given, str) and given in GAMES:
        return GAMES[given]
    raise GameError(f"there is no game {shown(given)}; {_known_games(given)}")


def game_of(rulebook: Rulebook | ModuleType) -> Game | None:
    """Return the game with that rulebook, or None."""
    name = getattr(rulebook, "__name__", None)
    return next((one for one in GAMES.values() if one.rulebook is rulebook or one.rulebook == name), None)


def _known_games(given: object) -> str:
    hint = closest(given, GAMES) if isinstance(given, str) else ""
    return f"the games are: {', '.join(GAMES)} (millebornes_env.register_game adds one).{hint}"


def edition(name: str | Path | Sheet) -> Any:
    """Return the rule sheet of that name or file (a sheet is returned unchanged).

    Args:
        name: the name of a sheet of any game (`editions` lists them), a label such as `parker+max_200=4` or
            `arc_en_ciel+target_rainbows=5`, or the path of a sheet of your own, ending in `.toml`, whose
            entry `game` names its game.

    Returns:
        An `Edition` of the game; its attribute `game` is the game's name.

    Raises:
        EditionError: the name is unknown (the message lists the sheets), the file is not a valid sheet, or an
            override is impossible.
        GameError: the sheet is of a game that is not registered.
        OptionError: the game of the file reads no sheets from files.
    """
    given: object = name
    result = _game_of(given)
    try:
        return result.sheet(given)
    except EditionError as error:
        others = [name for one in GAMES.values() if one.name != result.name for name in one.editions]
        if not others or _is_known(given, result):
            raise
        hint = closest(given, others) if isinstance(given, str) else ""
        said = str(error)
        stop = "" if said.endswith((".", "?")) else "."
        raise EditionError(f"{said}{stop} Of other games: {', '.join(others)}.{hint}") from None


def _is_known(given: object, entry: Game) -> bool:
    """Return True if the name, label or path means a sheet of the game, though perhaps an invalid one."""
    if not isinstance(given, (str, Path)):
        return False
    stem, _ = split_label(str(given))
    return stem.endswith(".toml") or entry.knows(stem)


def editions(of: str | None = DEFAULT_GAME) -> tuple[str, ...]:
    """Return the names of a game's rule sheets, in alphabetical order.

    Args:
        of: "millebornes", "wielerspel" (the cycling race) or a registered game; None for all games, one after
            the other.

    Raises:
        GameError: the game is unknown.
    """
    entries = GAMES.values() if of is None else [game(of)]
    return tuple(name for entry in entries for name in sorted(entry.editions))


def mini_decks(of: str = DEFAULT_GAME) -> tuple[str, ...]:
    """Return the names of a game's mini decks, the smallest first: sheets small enough to be solved exactly.

    They are not among the `editions`, so that a loop over all editions skips them; `edition` finds them by
    name (`mini8` means the newest version, such as `mini8-v0`).

    Args:
        of: the game.

    Raises:
        GameError: the game is unknown.
    """
    return game(of).mini_decks


def _game_of(given: object) -> Game:
    """Return the game of a sheet; for anything else the game whose error message applies."""
    if isinstance(given, (str, Path)):
        stem, _ = split_label(str(given))
        if stem.endswith(".toml"):
            return _game_of_file(Path(stem))
        return next((one for one in GAMES.values() if stem in one.shipped), GAMES[DEFAULT_GAME])
    try:
        name = getattr(given, "game", None)
    except Exception:  # a property of a user's class may raise anything
        name = None
    return game(name) if isinstance(name, str) else GAMES[DEFAULT_GAME]


def _game_of_file(path: Path) -> Game:
    """Return the game that the entry `game` names; for an unreadable file the default, which reports it."""
    try:
        if not path.is_file():  # a pipe can be read only once
            return GAMES[DEFAULT_GAME]
        entries = tomllib.loads(text_of_file(path, most_bytes=MOST_BYTES_OF_A_SHEET))
    except (OSError, ValueError, RecursionError):
        return GAMES[DEFAULT_GAME]
    name: object = entries.get("game", DEFAULT_GAME)
    if isinstance(name, str) and name in GAMES:
        return GAMES[name]
    raise EditionError(f"{path}: the entry 'game' is {shown(name)}; {_known_games(name)}")


# Games of users ---------------------------------------------------------------------------------------------


def register_game(entry: Game) -> None:
    """Register a game of your own, so that `vector_env` and the other environments find its sheets.

    An entry of the same name is replaced, so that a notebook's cell can be run again.

    Args:
        entry: the game; docs/environment/extend.md has an example.

    Raises:
        GameError: `entry` is not a `Game`; its name is invalid or that of a game of the package; a hook is
            unknown; it has no sheets or sheets of another game; or the name of a sheet is invalid, there
            twice, or that of another game's sheet.
    """
    given: object = entry
    if not isinstance(given, Game):
        raise GameError(f"a game is registered by a millebornes_env.games.registry.Game; got {shown(given)}")
    name: object = entry.name
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise GameError(
            f"a game cannot be called {shown(entry.name)}: its name is made of letters (a to z), digits and "
            "'_', and begins with a letter"
        )
    if entry.name in _SHIPPED:
        raise GameError(f"the game {entry.name!r} comes with the package: give yours a name of its own")
    _check_hooks(entry)
    if not _is_function(entry.sheets):
        _check_sheets(entry)
    _check_sheet_names(entry)
    GAMES[entry.name] = entry


def _check_hooks(entry: Game) -> None:
    hooks: object = entry.hooks
    if not isinstance(hooks, Mapping):
        raise GameError(f"the hooks of the game {entry.name!r} are {shown(hooks)}; they must be a dict")
    for hook in hooks:
        if hook not in HOOKS:
            raise GameError(
                f"the game {entry.name!r} has a hook {shown(hook)}; the hooks are {', '.join(HOOKS)}."
                f"{closest(str(hook), HOOKS)}"
            )


def _check_sheets(entry: Game) -> None:
    sheets: object = entry.sheets
    if not isinstance(sheets, Sequence):
        raise GameError(f"the sheets of the game {entry.name!r} are {shown(sheets)}; they must be a list")
    if not sheets:
        raise GameError(f"the game {entry.name!r} has no sheets: it needs at least one")
    for sheet in sheets:
        for member in ("game", "name", "label", "table"):
            if not hasattr(sheet, member):
                raise GameError(
                    f"a sheet of the game {entry.name!r} is {shown(sheet)}, which has no {member!r}: make it "
                    f"a SheetOfTables({entry.name!r}, name, [rules, ...])"
                )
        if sheet.game != entry.name:
            raise GameError(
                f"the sheet {sheet.name!r} says that it is of the game {sheet.game!r}; it is "
                f"registered for {entry.name!r}"
            )


def _check_sheet_names(entry: Game) -> None:
    names: object = entry.sheet_names
    if not isinstance(names, (tuple, list)):
        raise GameError(f"sheet_names of the game {entry.name!r} is {shown(names)}; it must be a tuple")
    for name in entry.editions:
        if not is_name(name):
            raise GameError(
                f"the game {entry.name!r} has a sheet {shown(name)}, which is no valid name: {NAME_IN_WORDS}"
            )
        if entry.editions.count(name) > 1:
            raise GameError(f"the game {entry.name!r} has two sheets {name!r}: give each a name of its own")
        other = next((one for one in GAMES.values() if one.name != entry.name and one.knows(name)), None)
        if other is not None:
            raise GameError(
                f"the game {entry.name!r} has a sheet {name!r}, and so has the game {other.name!r}: the "
                "name of a sheet says which game is meant, so give yours another one"
            )
