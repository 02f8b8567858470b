"""A game as one seat sees it, in values that JSON can hold: the prompt as data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from millebornes_env.engine.numba.compiling import for_kernels, plain
from millebornes_env.engine.rulebook import Rulebook, StateArray, TableRules
from millebornes_env.errors import GameError, PlayError, shown
from millebornes_env.games.registry import Game
from millebornes_env.games.registry import game as find_game
from millebornes_env.play.language.shapes import Items, Shape, check

FORMAT: Final = "millebornes_env view"
FORMAT_VERSION: Final = 1
"""Goes up when views of an older version can no longer be read."""

View = dict[str, Any]
"""The result of `see`: numbers, strings, lists and dicts that `json.dumps` accepts."""


class SituationLike(Protocol):
    """A game as it stands; `notation.Position` is one, and so is `Situation`."""

    @property
    def edition(self) -> Any:
        """The rule sheet that is played."""

    @property
    def rules(self) -> Any:
        """Its rules at this table."""

    @property
    def state(self) -> StateArray:
        """`STATE[1]`, the record of the game."""


class Situation(NamedTuple):
    """A game as it stands.

    Attributes:
        edition: the rule sheet that is played.
        rules: its rules at this table.
        state: `STATE[1]`, the record of the game.
        plays: what was played before, pairs (seat, action id), where the environment keeps a history.
    """

    edition: Any
    rules: Any
    state: StateArray
    plays: tuple[tuple[int, int], ...] = ()


class Words(Protocol):
    """The description of a game in words: a module that the game's entry names (`Game.words`).

    Places are counted from the seat that looks, to the left: 0 is itself.
    """

    @property
    def SYNONYMS(self) -> dict[str, str]:  # noqa: N802 - a constant of a module
        """Words of an answer, and the words of the moves' names that they stand for."""

    def table(self, state: Any, rules: Any, seat: int, /) -> dict[str, Any]:
        """Return the game as the seat sees it, in JSON values: places instead of seats, nothing hidden.

        The entry `place` is the place that is to act (None: nobody).
        """

    def table_shape(self, rules: Any, table: dict[str, Any], /) -> Shape:
        """The shape of `table` (`play.language.shapes`): each entry with its kind and range, at every level.

        It may depend on values of the table given, once it has checked those itself.
        """

    def table_text(self, view: View, /) -> str:
        """The same in words, as lines."""

    def rules_text(self, view: View, /) -> str:
        """The rules of the table, from their values."""

    def rules_of(self, view: View, /) -> Any:
        """The rules of a view.

        Raises:
            PlayError: they are none of this game's, or make no game.
        """

    def move_names(self, rules: Any, /) -> Sequence[str]:
        """Return the acting seat's name for each action, by action id."""

    def other_names(self, rules: Any, /) -> Sequence[Sequence[str]]:
        """Return other unambiguous names for each action, by action id."""

    def line_of_play(self, rules: Any, place: int, action: int, /) -> str | None:
        """A play of the history, as told to the seat; None: it cannot see that there was one."""

    def reason_against(self, view: View, action: int, /) -> str:
        """Why the action is not legal now, half a sentence."""


def situation(env: Any, game: int = 0) -> Situation:
    """One game of a vector or AEC environment, as it stands.

    Args:
        env: `vector_env(...)`, or an AEC environment of the package.
        game: which of its games.

    Returns:
        The game; with what was played in it, if the environment was made with `history=True`.

    Raises:
        PlayError: it is no such environment, or has no such game.
    """
    vector = getattr(getattr(env, "unwrapped", env), "vector", env)
    try:
        states = vector.get_states()
        history = vector.history
        plays = tuple(history.plays(int(game))) if history is not None and 0 <= game < len(history) else ()
        found = Situation(vector.edition, vector.rules, states[game : game + 1], plays)
    except (AttributeError, TypeError):
        raise PlayError(
            f"a situation is that of an environment of millebornes_env, not of {shown(env)}"
        ) from None
    if len(found.state) != 1:
        raise PlayError(f"there is no game {shown(game)}; the environment has {len(states)}, counted from 0")
    return found


def words_of(game: Game) -> Words:
    """Return the module that describes a game in words.

    Raises:
        OptionError: it has no words.
    """
    found: Words = game.hook("play.words", "millebornes_env.play.language")
    return found


def see(
    situation: SituationLike,
    history: Iterable[tuple[int, int]] | None = None,
    *,
    seat: int | None = None,
    episode: str = "",
) -> View:
    """Return a seat's view of a game, with its legal moves if it is its turn.

    Args:
        situation: the game, such as `situation(env)` or a `notation.Position`.
        history: what was played before, from the beginning: pairs (seat, action id), such as the `plays` of a
            `notation.Record`. What the seat could not see of it is left out. None: what the situation knows
            of it (`Situation.plays`).
        seat: who looks; None: who is to act.
        episode: what is played, one of the rulebook's `EPISODES`; "": the first.

    Returns:
        A view, the same whatever the seat cannot see.

    Raises:
        PlayError: one of them is none.
        OptionError: the game has no words.
    """
    try:
        game = find_game(situation.edition.game)
        rules, state = situation.rules, situation.state.view(np.recarray)[0]
        rulebook = game.module()
        is_one = situation.state.dtype == rulebook.STATE and len(situation.state) == 1
    except (AttributeError, TypeError, IndexError):
        is_one = False
    if not is_one:
        raise PlayError(f"a situation has an edition, its rules and STATE[1]; got {shown(situation)}")
    words = words_of(game)
    viewer = _seat_of(int(state.seat) if seat is None else seat, rules)
    table = words.table(state, rules, viewer)
    kind: object = episode
    if isinstance(kind, str):
        kind = kind or rulebook.EPISODES[0]
    if not isinstance(kind, str) or kind not in rulebook.EPISODES:
        known = " or ".join(map(repr, rulebook.EPISODES))
        raise PlayError(f"episode is {shown(episode)}; it must be {known}")
    plays = getattr(situation, "plays", ()) if history is None else history
    names = words.move_names(rules)
    legal = _legal(rulebook, situation.state, rules) if table["place"] == 0 else []
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "game": game.name,
        "edition": situation.edition.label,
        "episode": kind,
        "rules": {name: int(value) for name, value in _fields(rules)},
        "table": table,
        "history": _lines(words, rules, viewer, plays),
        "moves": {str(action): names[action] for action in legal},
    }


def _fields(rules: TableRules) -> Iterable[tuple[str, Any]]:
    named: Any = rules  # rules are named tuples of ints
    fields: Iterable[tuple[str, Any]] = named._asdict().items()
    return fields


def _seat_of(seat: object, rules: TableRules) -> int:
    if not isinstance(seat, (int, np.integer)) or isinstance(seat, bool) or not 0 <= seat < rules.players:
        raise PlayError(f"there is no seat {shown(seat)}; they are 0 to {rules.players - 1}")
    return int(seat)


def _legal(rulebook: Rulebook, states: StateArray, rules: Any) -> list[int]:
    """The ids of the legal actions; from Python as the rules are written, so that nothing is compiled."""
    state = states.view(np.recarray)[0]
    record = for_kernels(rulebook.rules_array(rules)).view(np.recarray)[0]
    is_legal = plain(rulebook.is_legal)
    return [action for action in range(rulebook.action_count(rules, None)) if is_legal(state, record, action)]


def _lines(words: Words, rules: Any, viewer: int, history: Iterable[tuple[int, int]]) -> list[str]:
    try:
        plays = [(int(seat), int(action)) for seat, action in history]
    except Exception:  # whatever is no list of pairs
        raise PlayError(
            f"a history is pairs of seat and action id, such as [(0, 13)]; got {shown(history)}"
        ) from None
    count = len(words.move_names(rules))
    for seat, action in plays:
        if not -1 <= seat < rules.players or not -1 <= action < count:
            raise PlayError(f"the history has a play that there is not: seat {seat}, action {action}")
    lines = (words.line_of_play(rules, (seat - viewer) % rules.players, action) for seat, action in plays)
    return [line for line in lines if line is not None]


def checked_view(view: object) -> View:
    """Return the view, if it is one at every level; JSON of one does too.

    Raises:
        PlayError: it is none, or of another version; the message names the path of the wrong entry.
        OptionError: the game has no words.
    """
    if not isinstance(view, dict) or not _is(view.get("format"), FORMAT):
        raise PlayError(f"a view is what text.see returns; got {shown(view)}")
    if not _is(view.get("format_version"), FORMAT_VERSION):
        raise PlayError(
            f"the view is of version {shown(view.get('format_version'))}; this release reads {FORMAT_VERSION}"
        )
    known = {"format": str, "format_version": int, "game": str, "edition": str, "episode": str}
    check({name: view[name] for name in known if name in view}, known, "view")
    try:
        game = find_game(view["game"])
    except GameError as error:
        raise PlayError(f"view['game'] is {shown(view['game'])}: {error}") from None
    words = words_of(game)
    parts = {"rules": dict, "table": dict, "history": Items(str), "moves": dict}
    check({name: view[name] for name in parts if name in view}, parts, "view")
    check(view["episode"], tuple(game.module().EPISODES), "view['episode']")
    rules = words.rules_of(view)
    check(view["table"], words.table_shape(rules, view["table"]), "view['table']")
    _check_moves(view["moves"], words.move_names(rules))
    return view


def _is(value: object, wanted: object) -> bool:
    """Return True for an equal value of the same type; no code of the value's own runs."""
    return type(value) is type(wanted) and value == wanted


def _check_moves(moves: dict[Any, Any], names: Sequence[str]) -> None:
    """Raise unless the moves are action ids with the names of these actions."""
    ids = {str(action): name for action, name in enumerate(names)}
    for action, name in moves.items():
        if not isinstance(action, str) or action not in ids:
            raise PlayError(f"view['moves'] has an entry {shown(action)}, which is no action id of the table")
        check(name, (ids[action],), f"view['moves'][{action!r}]")
