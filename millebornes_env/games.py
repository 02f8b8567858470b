"""The table of games: what the environments (`envs/`) need to know of a game besides its rulebook.

A game of the package is a folder and an entry in `GAMES`; one of your own is added by `register_game`
(docs/add_a_game.md). An entry names modules, and imports none of them before the game is asked for.
"""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from millebornes_env.engine.rulebook import Rulebook, StateArray, checked_module
from millebornes_env.errors import (
    ConformanceError,
    EditionFileError,
    GameError,
    GamePartError,
    RulesError,
    UnknownEditionError,
    UnknownGameError,
    shown,
)
from millebornes_env.rule_sheet import Everything, Sheet, SheetOfTables
from millebornes_env.sheets import MOST_BYTES_OF_A_SHEET, mini_names_in, split_label
from millebornes_env.texts import closest, text_of_file

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,59}")

Part = str | Callable[..., Any] | None
"""Something that a game may have: itself, or where it stands, as "module:name"; None: the game has none."""

PARTS: Final = {
    "audit": "audit of states",
    "draw": "drawing of its table",
    "picture": "picture of its table",
    "describe": "words for what a seat sees",
    "seen": "reading of what a seat sees",
    "features": "features of networks",
    "champion": "preferred champion",
    "aivat": "value of luck",
    "positions": "positions as text",
    "fallen": "words for dice and cards",
    "words": "words for language models",
    "view": "view of a seat",
    "tell": "telling of what happens",
    "session": "way to be played on the terminal",
    "table": "table in the browser",
    "study": "table for studies with people",
    "pages": "pages of its rule sheets",
    "solvable": "walk through its small tables",
    "history": "account of what is seen of it",
    "chance_nodes": "account of what is left to chance",
}
"""Optional parts of a game, in words for error messages; in the order of `Game`."""


# An entry --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Game:
    """An entry of the table of games.

    Where it says *part*, the entry has a function or class, or where it stands, as "module:name".

    Attributes:
        name: of the game: letters, digits and underscores. A sheet says which game it is of by it.
        rulebook: what the engine asks (`engine.rulebook.Rulebook`): the module, or its name.
        sheets: the rule sheets; or the part `edition(given)`: the sheet of a name or file, or one as it is.
        sheet_names: of the sheets that come with the game, where `sheets` is a part.
        mini_decks: names of small sheets that come with it, to be solved; found by their names only.
        audit: part `audit(states, rules)`: the first of `STATE[N]` that is no game of this table and why, as
            (number, words), or None. `set_states` and positions need it: kernels trust what is in a record.
            Where the rulebook has `was_broken_off(state, rules)`, `set_states` asks it about ended games.
        laws: part `laws(states, rules)`: raises `ConformanceError` for records that no play leads to.
        observation: the part that says what can be chosen about observations: a named tuple of ints, with a
            field `unseen`, `rules` or `padded` for each of the options that the game knows; None: nothing.
        observation_version: a number that goes up when trained policies would notice, or its part.
        draw: part `draw(state, rules)`: the table as text.
        picture: part `picture(state, rules, observer=None, theme="auto")`: the table as SVG.
        draw_end: part `draw_end(state, rules)`: what is drawn below it when an episode is over.
        describe: part `describe(row, sections, rules)`: an observation in words.
        seen: part: a module that reads an observation back into a record (`agents.seen.Seen`), for agents.
        features: part: what networks are shown behind an observation (`agents.policy.network.Features`).
        champion: part `champion(table)`: which of several folders of `agents/champions` plays better there.
        counts: part: a module of what the arena counts of it (`arena.statistics.GameCounts`).
        aivat: part: a module that values luck (`arena.statistics.GameLuck`), such as `arena.aivat`.
        opponents: the agents that evaluations play against where none are named.
        gauntlet: names of the agents that a policy is measured against while it is trained.
        title: what a person calls the game; "": its name.
        chance: what it leaves to chance, in a word: "cards", "dice".
        positions: part: a module with `Position` (attributes `edition`, `rules`, `state`, `has_key`) and
            `read_position(text, edition=, players=, teams=)`.
        records: the module that writes, reads and replays games as text (as `notation.game_records`, which is
            meant by None).
        fallen: part `fallen(state, rules, action)`: carries the action out on a record and returns which dice
            and cards fell, in a few words each; with None for an action, those of this turn so far.
        words: part: a module that says to language models what a seat sees and may do (`text.views.Words`).
        view: part `view(state, rules, seat)`: the table as text, with nothing that the seat cannot see.
        tell: part `tell(state, rules, action)`: carries the action out; returns lines that all are told.
        session: part: the class that plays it on the terminal; None: `commands.session.Session`.
        table: part: the class behind its page in the browser, such as `web.table.CardTable`.
        study: part: the class behind its page in a study with people, such as `study.card_table.StudyTable`.
        rival: the agent that people play against if they name none.
        pages: module that prints rule sheets: `description(sheet)` of one, `comparison(names)` of several.
        solvable: part `solvable(sheet)`: a table that can be solved exactly (`solving.deck.Solvable`).
        history: part: a module that says what each seat has seen (`envs.history.GameHistory`).
        chance_nodes: part: a module that lays open what is left to chance (`extensive.spots.GameChance`).
    """

    # What is played
    name: str
    rulebook: str | ModuleType
    sheets: str | Callable[..., Any] | Sequence[Sheet]
    sheet_names: tuple[str, ...] = ()
    mini_decks: tuple[str, ...] = ()
    audit: Part = None
    laws: Part = None
    # What is seen
    observation: Part = None
    observation_version: int | str = 1
    draw: Part = None
    picture: Part = None
    draw_end: Part = None
    describe: Part = None
    # How agents play it
    seen: str | ModuleType | None = None
    features: str | ModuleType | None = None
    champion: Part = None
    # How good they are: arena and training
    counts: str | ModuleType = "millebornes_env.arena.plain_counters"
    aivat: str | ModuleType | None = None
    opponents: tuple[str, ...] = ("random",)
    gauntlet: tuple[str, ...] = ("random",)
    title: str = ""
    chance: str = "chance"
    # As text, and for language models
    positions: str | ModuleType | None = None
    records: str | ModuleType | None = None
    fallen: Part = None
    words: str | ModuleType | None = None
    # With people
    view: Part = None
    tell: Part = None
    session: Part = None
    table: Part = None
    study: Part = None
    rival: str = "random"
    pages: str | ModuleType | None = None
    # Small tables, and as a tree
    solvable: Part = None
    history: str | ModuleType | None = None
    chance_nodes: str | ModuleType | None = None

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
        """The rulebook.

        Raises:
            RulebookError: it lacks something that the engine asks for.
        """
        rulebook: Any = self.rulebook
        if isinstance(rulebook, str):
            rulebook = importlib.import_module(rulebook)
        checked: Any = checked_module(rulebook)
        return checked  # type: ignore[no-any-return] # a module: mypy knows them by their files only

    def sheet(self, given: object) -> Sheet:
        """The sheet of that name or file; a sheet is handed back as it is.

        Raises:
            UnknownEditionError: there is none.
            EditionFileError: the file describes none.
            GamePartError: the game has no files of sheets.
        """
        if _is_part(self.sheets):
            found: Sheet = _found(self.sheets)(given)
            return found
        if not isinstance(given, (str, Path)):
            own: Any = given
            return own  # type: ignore[no-any-return] # it said that it is a sheet of this game
        for one in self._listed:
            if one.name == str(given):
                return one
        if str(given).endswith(".toml"):
            raise GamePartError(
                f"the game {self.name!r} reads no sheets from files, such as {shown(str(given))}"
            )
        raise RulesError(
            f"{shown(str(given))}: in a sheet of the game {self.name!r} no rule can be overridden"
        )

    def observation_kind(self) -> Any:
        """The named tuple that says what an observation shows."""
        return Everything if self.observation is None else _found(self.observation)

    def version(self) -> int:
        """Of observations."""
        version = self.observation_version
        return int(version) if isinstance(version, int) else int(_found(version))

    def has(self, part: str) -> bool:
        """Return True if the game has one of `PARTS`."""
        return getattr(self, part) is not None

    def part(self, part: str, call: str) -> Any:
        """One of `PARTS`.

        Args:
            part: its name.
            call: who needs it, in the words of the caller.

        Raises:
            GamePartError: the game has none.
        """
        if not self.has(part):
            raise GamePartError(
                f"the game {self.name!r} has no {PARTS[part]}, which {call} needs; docs/add_a_game.md says "
                "how a game gets one"
            )
        return _found(getattr(self, part))

    def check_laws(self, states: StateArray, rules: Any) -> None:
        """Check records by the laws of the game, as far as it has any.

        Raises:
            ConformanceError: a record breaks one.
        """
        if self.laws is not None:
            _found(self.laws)(states, rules)
        elif self.audit is not None:
            problem = _found(self.audit)(states, rules)
            if problem is not None:
                raise ConformanceError(f"game {problem[0]}, seat {states['seat'][problem[0]]}: {problem[1]}")

    def end_of_drawing(self, state: Any, rules: Any) -> str:
        """Return the text below the drawing of a finished game, or "" if there is none."""
        text = "" if self.draw_end is None else str(_found(self.draw_end)(state, rules))
        return f"\n{text}" if text else ""


def _is_part(given: object) -> bool:
    return isinstance(given, str) or callable(given)


def _found(part: Any) -> Any:
    """Return the object that a part is or names."""
    if not isinstance(part, str):
        return part
    module, _, name = part.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found


# The table -------------------------------------------------------------------------------------------------


def _sheets_in(package: str) -> tuple[str, ...]:
    """The names of a package's sheets, without importing it."""
    return tuple(sorted(file.stem for file in (Path(__file__).parent / package / "sheets").glob("*.toml")))


DEFAULT_GAME: Final = "millebornes"
"""The game of a sheet that does not name one."""

GAMES: Final[dict[str, Game]] = {
    "millebornes": Game(
        name="millebornes",
        rulebook="millebornes_env.millebornes.rulebook",
        sheets="millebornes_env.millebornes.editions:edition",
        sheet_names=_sheets_in("millebornes"),
        mini_decks=mini_names_in(Path(__file__).parent / "millebornes" / "mini_decks"),
        audit="millebornes_env.millebornes.audit:first_violation",
        laws="millebornes_env.testing.states:check_state",
        observation="millebornes_env.millebornes.sections:ObservationSpec",
        observation_version="millebornes_env.millebornes.observation:OBSERVATION_VERSION",
        draw="millebornes_env.render.text:draw_game",
        picture="millebornes_env.render.svg:draw_picture",
        draw_end="millebornes_env.render.text:draw_end",
        describe="millebornes_env.render.seat:describe_seat",
        seen="millebornes_env.agents.observation_reader",
        features="millebornes_env.agents.policy.features",
        champion="millebornes_env.agents.champion:champion_of_millebornes",
        counts="millebornes_env.arena.counters",
        aivat="millebornes_env.arena.aivat",
        opponents=("random", "greedy", "holder"),
        gauntlet=("greedy", "holder", "arnold"),
        title="Mille Bornes",
        chance="cards",
        positions="millebornes_env.notation.positions",
        records="millebornes_env.notation.replays",
        words="millebornes_env.text.mille_bornes",
        session="millebornes_env.commands.card_session:CardSession",
        table="millebornes_env.web.table:CardTable",
        study="millebornes_env.study.card_table:StudyTable",
        rival="strategist",
        pages="millebornes_env.render.editions",
        solvable="millebornes_env.solving.deck:solvable",
        history="millebornes_env.millebornes.history",
        chance_nodes="millebornes_env.millebornes.chance_nodes",
    ),
    "wielerspel": Game(
        name="wielerspel",
        rulebook="millebornes_env.wielerspel.rulebook",
        sheets="millebornes_env.wielerspel.editions:edition",
        sheet_names=_sheets_in("wielerspel"),
        audit="millebornes_env.wielerspel.audit:first_violation",
        laws="millebornes_env.wielerspel.audit:check_laws",
        observation="millebornes_env.wielerspel.sections:ObservationSpec",
        observation_version="millebornes_env.wielerspel.observation:OBSERVATION_VERSION",
        draw="millebornes_env.render.race:draw_race",
        draw_end="millebornes_env.render.race:draw_end",
        describe="millebornes_env.render.race:describe",
        seen="millebornes_env.agents.race_reader",
        features="millebornes_env.agents.policy.race_features",
        counts="millebornes_env.arena.race_counters",
        opponents=("random", "saver", "escaper", "bidder"),
        gauntlet=("saver", "escaper", "bidder"),
        title="Maillot Arc-en-ciel",
        chance="dice and cards",
        positions="millebornes_env.notation.race_positions",
        fallen="millebornes_env.notation.race_chance:chance",
        view="millebornes_env.render.race:view",
        tell="millebornes_env.render.race_events:tell",
        rival="bidder",
        pages="millebornes_env.render.race_editions",
    ),
}
"""Every game, by its name."""

_SHIPPED: Final = tuple(GAMES)


def game(name: str) -> Game:
    """The game of that name.

    Raises:
        UnknownGameError: there is none; the message lists those there are.
    """
    given: object = name
    if isinstance(given, str) and given in GAMES:
        return GAMES[given]
    raise UnknownGameError(f"there is no game {shown(given)}; {_known_games(given)}")


def game_of(rulebook: Rulebook | ModuleType) -> Game | None:
    """The game whose rulebook the module is; None: it is that of no game."""
    name = getattr(rulebook, "__name__", None)
    return next((one for one in GAMES.values() if one.rulebook is rulebook or one.rulebook == name), None)


def _known_games(given: object) -> str:
    hint = closest(given, GAMES) if isinstance(given, str) else ""
    return f"the games are: {', '.join(GAMES)} (millebornes_env.register_game adds one).{hint}"


def find_sheet(given: object) -> Sheet:
    """The rule sheet that is meant; it says which game it is of.

    Args:
        given: the name of a sheet of any game, with overrides where its game knows them
            (`parker+max_200=4`); the path of a file, ending in `.toml`, whose entry `game` says of which game
            it is; or a sheet, which is handed back as it is.

    Raises:
        UnknownEditionError: there is none; the message lists those there are.
        UnknownGameError: the sheet is of a game that is not registered.
        EditionFileError: the file does not describe a sheet.
        RulesError: an override that cannot be.
        GamePartError: the file is of a game that reads none.
    """
    found = _game_of(given)
    try:
        return found.sheet(given)
    except UnknownEditionError as error:
        others = [name for one in GAMES.values() if one.name != found.name for name in one.editions]
        if not others:
            raise
        hint = closest(given, others) if isinstance(given, str) else ""
        raise UnknownEditionError(f"{error} Of other games: {', '.join(others)}.{hint}") from None


def _game_of(given: object) -> Game:
    """The game of a sheet; of what is no sheet at all, the one whose complaint is told."""
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
    raise EditionFileError(f"{path}: the entry 'game' is {shown(name)}; {_known_games(name)}")


# A game of one's own ---------------------------------------------------------------------------------------


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
        raise GameError(f"a game is registered by a millebornes_env.games.Game; got {shown(given)}")
    name: object = entry.name
    if not isinstance(name, str) or _NAME.fullmatch(name) is None:
        raise GameError(
            f"a game cannot be called {shown(entry.name)}: its name is made of letters (a to z), digits and "
            "'_', and begins with a letter"
        )
    if entry.name in _SHIPPED:
        raise GameError(f"the game {entry.name!r} comes with the package: give yours a name of its own")
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
    """The names of the other games' sheets, and whose they are."""
    return {name: one.name for one in GAMES.values() if one.name != entry.name for name in one.shipped}


__all__ = [
    "DEFAULT_GAME",
    "GAMES",
    "Everything",
    "Game",
    "Sheet",
    "SheetOfTables",
    "find_sheet",
    "game",
    "register_game",
]
