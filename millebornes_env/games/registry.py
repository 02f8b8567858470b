"""The table of games: what the environments (`envs/`) need to know of a game besides its rulebook.

A game of the package is a folder and an entry in `GAMES`; one of your own is added by `register_game`
(docs/add_a_game.md). Nothing of a game is imported before the game is asked for.
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
    missing_table,
    names_in,
    newest_version,
    split_label,
)

_HERE: Final = Path(__file__).parent
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")

HOOKS: Final = {
    "games.audit": "audit of states",
    "games.history": "account of what is seen of it",
    "games.chance_nodes": "account of what is left to chance",
    "games.play_until_refused": "compiled replay of plays",
    "testing.laws": "laws that every record keeps",
    "notation.positions": "positions as text",
    "notation.action_words": "words for plays in records",
    "notation.describe_chance": "words for dice and cards",
    "render.draw": "drawing of its table",
    "render.draw_end": "drawing of its end",
    "render.picture": "picture of its table",
    "render.describe": "words for what a seat sees",
    "render.view": "view of a seat",
    "render.describe_event": "words for what happens",
    "render.pages": "pages of its rule sheets",
    "agents.decoder": "reading of what a seat sees",
    "agents.features": "features of networks",
    "agents.champion": "preferred champion",
    "solving.solvable": "walk through its small tables",
    "arena.counts": "statistics",
    "arena.luck": "value of luck",
    "play.words": "words for language models",
    "play.session": "way to be played on the terminal",
    "play.table": "table in the browser",
    "play.study": "table for studies",
}
"""Optional parts of a game, as room and name, in words for messages; docs/add_a_game.md describes each."""

OBSERVATION_OPTIONS: Final = {
    "unseen": ("observe_unseen", True),
    "rules": ("observe_rules", False),
    "padded": ("padded", False),
}
"""The options of observations, by the field of a game's spec: name and default of each."""


# Rule sheets -----------------------------------------------------------------------------------------------


class Sheet(Protocol):
    """A rule sheet as the environments need it; `sheets.RuleSheet` is one that is read from a file."""

    @property
    def name(self) -> str:
        """Name in code."""

    @property
    def label(self) -> str:
        """The name, with the changes to the sheet's rules."""

    @property
    def game(self) -> str:
        """Name of its game."""

    def table(self, players: int, teams: int | None = None, /) -> TableRules:
        """Return the rules at one table.

        Raises:
            OptionError: the sheet has no such table.
        """


@dataclass(frozen=True)
class SheetOfTables:
    """A rule sheet that is just a list of tables, for a game without sheets in files.

    Attributes:
        game: name of the game.
        name: name of the sheet in code.
        tables: the rules of each table; the first with a given number of players is the default for it.
    """

    game: str
    name: str
    tables: Sequence[TableRules]

    @property
    def label(self) -> str:
        """The name: nothing can be changed."""
        return self.name

    def table(self, players: int, teams: int | None = None) -> TableRules:
        """Return the rules at one table.

        Raises:
            OptionError: the sheet has no such table; the message lists those it has.
        """
        for rules in self.tables:
            if rules.players == players and teams in (None, rules.teams):
                return rules
        raise missing_table(
            self.name, players, teams, [(rules.players, rules.teams) for rules in self.tables]
        )


class Everything(NamedTuple):
    """Options of an observation for a game without any: compiled code takes no empty tuple."""

    everything: int = 1


# An entry --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Game:
    """An entry of the table of games.

    Attributes:
        name: of the game: letters, digits and underscores. A sheet says which game it is of by it.
        rulebook: what the engine asks (`engine.rulebook.Rulebook`): the module, or its name. Its attributes
            `ObservationSpec` and `OBSERVATION_VERSION` say which options observations have, and which version
            trained policies must agree with.
        sheets: the rule sheets; or a function `edition(given)`, or its place as "module:name", that returns
            the sheet of a name or file, or one as it is.
        sheet_names: names of the sheets that come with the game, where `sheets` is a function.
        title: what a person calls the game; "": its name.
        chance: what it leaves to chance, in a word: "cards", "dice".
        opponents: the agents that evaluations play against where none are named.
        eval_opponents: the agents that a policy is measured against while it is trained.
        rival: the agent that people play against if they name none.
        hooks: parts of the game by their names in `HOOKS`. A game of the package has them in files instead:
            the hook `render.draw` of Mille Bornes is `draw` in `millebornes_env/render/millebornes/hooks.py`.
    """

    name: str
    rulebook: str | ModuleType
    sheets: str | Callable[..., Any] | Sequence[Sheet]
    sheet_names: tuple[str, ...] = ()
    title: str = ""
    chance: str = "chance"
    opponents: tuple[str, ...] = ("random",)
    eval_opponents: tuple[str, ...] = ("random",)
    rival: str = "random"
    hooks: Mapping[str, Any] = field(default_factory=dict)

    @property
    def mini_decks(self) -> tuple[str, ...]:
        """The names of small sheets that come with the game, to be solved; found by their names only."""
        return names_in(_HERE / self.name / "mini_decks") if self.name in _SHIPPED else ()

    @property
    def editions(self) -> tuple[str, ...]:
        """The names of the sheets that come with the game, but for mini decks."""
        if _is_part(self.sheets):
            return self.sheet_names
        return tuple(one.name for one in self._listed)

    @property
    def shipped(self) -> tuple[str, ...]:
        """The names of all sheets that come with the game: its editions, then its mini decks."""
        return self.editions + self.mini_decks

    @property
    def _listed(self) -> Sequence[Sheet]:
        sheets: Any = self.sheets
        return [] if _is_part(sheets) else sheets

    def module(self) -> Rulebook:
        """Return the rulebook.

        Raises:
            GameError: it lacks something that the engine asks for.
        """
        rulebook: Any = self.rulebook
        if isinstance(rulebook, str):
            rulebook = importlib.import_module(rulebook)
        checked: Any = checked_module(rulebook)
        return checked  # type: ignore[no-any-return] # a module: mypy knows them by their files only

    def sheet(self, given: object) -> Sheet:
        """Return the sheet of that name or file; a sheet is handed back as it is.

        Raises:
            EditionError: the sheet does not exist, or the file is not a valid sheet.
            OptionError: the game has no files of sheets.
        """
        if _is_part(self.sheets):
            result: Sheet = _found(self.sheets)(given)
            return result
        if not isinstance(given, (str, Path)):
            own: Any = given
            return own  # type: ignore[no-any-return] # it said that it is a sheet of this game
        for one in self._listed:
            if one.name == str(given):
                return one
        if str(given).endswith(".toml"):
            raise OptionError(
                f"the game {self.name!r} reads no sheets from files, such as {shown(str(given))}"
            )
        raise EditionError(
            f"{shown(str(given))}: in a sheet of the game {self.name!r} no rule can be overridden"
        )

    def observation_kind(self) -> Any:
        """Return the class of the named tuple that says what an observation shows."""
        return getattr(self.module(), "ObservationSpec", Everything)

    def observation_spec(self, **options: object) -> Any:
        """Return what an observation shows, as the named tuple of ints that the game's kernels take.

        Args:
            options: `observe_unseen`, `observe_rules` and `padded`; those left out have their usual values.

        Raises:
            OptionError: one of them is neither True nor False, or is not as usual in a game without it.
        """
        kind = self.observation_kind()
        values = {}
        for name, (option, usual) in OBSERVATION_OPTIONS.items():
            chosen = flag(option, options.get(option, usual))
            if name in kind._fields:
                values[name] = int(chosen)
            elif chosen != usual:
                raise OptionError(
                    f"{option} is {chosen}; the game {self.name!r} has no such option: leave it out"
                )
        return kind(**values)

    def version(self) -> int:
        """Return the version of observations, which trained policies must agree with."""
        return int(getattr(self.module(), "OBSERVATION_VERSION", 1))

    def has(self, hook: str) -> bool:
        """Return True if the game has one of `HOOKS`."""
        return self.find_hook(hook) is not None

    def hook(self, hook: str, call: str) -> Any:
        """Return one of `HOOKS`.

        Args:
            hook: its room and name, such as "render.draw".
            call: who needs it, in the words of the caller.

        Raises:
            OptionError: the game has none.
        """
        result = self.find_hook(hook)
        if result is None:
            raise OptionError(
                f"the game {self.name!r} has no {HOOKS[hook]}, which {call} needs; docs/add_a_game.md says "
                "how a game gets one"
            )
        return result

    def find_hook(self, hook: str) -> Any:
        """Return one of `HOOKS`, or None if the game does not have it."""
        if self.name not in _SHIPPED:
            return self.hooks.get(hook)
        room, _, name = hook.partition(".")
        return getattr(_hooks_in(room, self.name), name, None)

    def check_laws(self, states: StateArray, rules: Any) -> None:
        """Check records by the laws of the game, as far as it has any.

        Raises:
            ConformanceError: a record breaks one.
        """
        laws, audit = self.find_hook("testing.laws"), self.find_hook("games.audit")
        if laws is not None:
            laws(states, rules)
        elif audit is not None:
            problem = audit(states, rules)
            if problem is not None:
                raise ConformanceError(f"game {problem[0]}, seat {states['seat'][problem[0]]}: {problem[1]}")

    def end_of_drawing(self, state: Any, rules: Any) -> str:
        """Return the text below the drawing of a finished game, or "" if there is none."""
        draw_end = self.find_hook("render.draw_end")
        text = "" if draw_end is None else str(draw_end(state, rules))
        return f"\n{text}" if text else ""


@functools.cache
def _hooks_in(room: str, game_name: str) -> ModuleType | None:
    """Return the module of a shipped game's hooks in a room; None if the room has none."""
    name = f"{__name__.partition('.')[0]}.{room}.{game_name}.hooks"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and name.startswith(error.name):  # the page's engine lacks some rooms
            return None
        raise


def _is_part(given: object) -> bool:
    return isinstance(given, str) or callable(given)


def _found(part: Any) -> Any:
    """Return the object that a part is or names."""
    if not isinstance(part, str):
        return part
    module, _, name = part.partition(":")
    result = importlib.import_module(module)
    return getattr(result, name) if name else result


# The table -------------------------------------------------------------------------------------------------


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
        GameError: there is none; the message lists those there are.
    """
    given: object = name
    if isinstance(given, str) and given in GAMES:
        return GAMES[given]
    raise GameError(f"there is no game {shown(given)}; {_known_games(given)}")


def game_of(rulebook: Rulebook | ModuleType) -> Game | None:
    """Return the game whose rulebook the module is; None: it is that of no game."""
    name = getattr(rulebook, "__name__", None)
    return next((one for one in GAMES.values() if one.rulebook is rulebook or one.rulebook == name), None)


def _known_games(given: object) -> str:
    hint = closest(given, GAMES) if isinstance(given, str) else ""
    return f"the games are: {', '.join(GAMES)} (millebornes_env.register_game adds one).{hint}"


def edition(name: str | Path | Sheet) -> Any:
    """Return the rule sheet of that name, or that of a file (a sheet is returned as it is).

    Args:
        name: the name of a sheet of any game (`editions` lists them), a label such as `parker+max_200=4` or
            `arc_en_ciel+target_rainbows=5`, or the path of a sheet of your own, ending in `.toml`, whose
            entry `game` names its game.

    Returns:
        An `Edition` of the game; its `game` is the name of the game in the table of games.

    Raises:
        EditionError: the sheet is unknown (the message lists the known ones), the file is not a valid sheet,
            or an override is not possible.
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
        raise EditionError(f"{error} Of other games: {', '.join(others)}.{hint}") from None


def _is_known(given: object, entry: Game) -> bool:
    """Return True if the name, label or path means a sheet of the game, though perhaps an invalid one."""
    if not isinstance(given, (str, Path)):
        return False
    stem, _ = split_label(str(given))
    return stem.endswith(".toml") or stem in entry.shipped or bool(newest_version(stem, entry.mini_decks))


def editions(of: str | None = DEFAULT_GAME) -> tuple[str, ...]:
    """Return the names of a game's rule sheets, in alphabetical order.

    Args:
        of: the game: "millebornes", "wielerspel" (the cycling race) or a registered one; None: all games, one
            after the other.

    Raises:
        GameError: there is no such game.
    """
    entries = GAMES.values() if of is None else [game(of)]
    return tuple(name for entry in entries for name in sorted(entry.editions))


def mini_decks(of: str = DEFAULT_GAME) -> tuple[str, ...]:
    """Return the names of a game's mini decks, the smallest first: sheets small enough to be solved exactly.

    They are not among its `editions`, so that a loop over all editions does not play them; `edition` finds
    them by name (`mini8` means the newest version, such as `mini8-v0`).

    Args:
        of: the game.

    Raises:
        GameError: there is no such game.
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
    except Exception:  # whatever an attribute of theirs raises
        name = None
    return game(name) if isinstance(name, str) else GAMES[DEFAULT_GAME]


def _game_of_file(path: Path) -> Game:
    """Return the game that the entry `game` names; for an unreadable file the default, which reports it."""
    try:
        if not path.is_file():  # a pipe can be read once only
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
    """Add a game of your own to the table, so that `vector_env` and the other environments know its sheets.

    An entry of the same name is replaced, so that a notebook's cell can be run again.

    Args:
        entry: what the table is to say; docs/add_a_game.md has an example.

    Raises:
        GameError: no entry; a name that is none, or that of a game of the package; no sheets, or sheets that
            are of another game or have the name of another game's sheet.
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
    unknown = [hook for hook in entry.hooks if hook not in HOOKS]
    if unknown:
        raise GameError(
            f"the game {entry.name!r} has a hook {shown(unknown[0])}; the hooks are {', '.join(HOOKS)}."
            f"{closest(str(unknown[0]), HOOKS)}"
        )
    _check_sheets(entry)
    GAMES[entry.name] = entry


def _check_sheets(entry: Game) -> None:
    if not _is_part(entry.sheets):
        if not entry._listed:
            raise GameError(f"the game {entry.name!r} has no sheets: it needs one at least")
        for sheet in entry._listed:
            if sheet.game != entry.name:
                raise GameError(
                    f"the sheet {sheet.name!r} says that it is of the game {sheet.game!r}; it is "
                    f"registered for {entry.name!r}"
                )
    taken = _taken(entry)
    for name in entry.shipped:
        if name in taken:
            raise GameError(
                f"the game {entry.name!r} has a sheet {name!r}, and so has the game {taken[name]!r}: the "
                "name of a sheet says which game is meant, so give yours another one"
            )


def _taken(entry: Game) -> dict[str, str]:
    """Return the names of the other games' sheets, and whose they are."""
    return {name: one.name for one in GAMES.values() if one.name != entry.name for name in one.shipped}
