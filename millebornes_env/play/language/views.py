"""A game as one seat sees it, in JSON values: the data of the prompt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from millebornes_env.engine.numba.compiling import for_kernels, plain
from millebornes_env.engine.rulebook import Rulebook, StateArray, TableRules
from millebornes_env.errors import GameError, MilleBornesError, PlayError, shown
from millebornes_env.games.registry import Game
from millebornes_env.games.registry import game as find_game
from millebornes_env.notation import Position

FORMAT: Final = "millebornes_env view"
FORMAT_VERSION: Final = 1
"""Increased when older views can no longer be read."""

_ENTRIES: Final = {
    "game": str,
    "edition": str,
    "episode": str,
    "rules": dict,
    "table": dict,
    "history": list,
    "moves": dict,
}

View = dict[str, Any]
"""The result of `see`: numbers, strings, lists and dicts that `json.dumps` accepts."""


class Situation(NamedTuple):
    """The state of a game with its rules.

    Attributes:
        edition: the rule sheet that is played.
        rules: its rules at this table.
        state: `STATE[1]`, the record of the game.
        plays: the plays so far as pairs (seat, action id), if the environment keeps a history.
    """

    edition: Any
    rules: Any
    state: StateArray
    plays: tuple[tuple[int, int], ...] = ()


class Words(Protocol):
    """The description of a game in words: the module of its hook `play.words`.

    Seats are given as offsets to the left of the observing seat, which is 0.
    """

    @property
    def SYNONYMS(self) -> dict[str, str]:  # noqa: N802 - a constant of a module
        """Words of an answer, and the words of the moves' names that they stand for."""

    def table(self, state: Any, rules: Any, seat: int, /) -> dict[str, Any]:
        """Return the game as the seat sees it, in JSON values: with offsets, and nothing hidden.

        The entry `place` is the offset of the seat to act (None: no seat). If the decision of another seat
        must be hidden, the table is that before the last play, with the seat that made it in `place`.
        """

    def table_text(self, view: View, /) -> str:
        """Return the table of a view as lines of text."""

    def rules_text(self, view: View, /) -> str:
        """Return the rules of the table in words."""

    def rules_of(self, view: View, /) -> Any:
        """Return the rules of a view.

        Raises:
            PlayError: they are not the rules of a table of this game.
        """

    def move_names(self, rules: Any, /) -> Sequence[str]:
        """Return the acting seat's name for each action, by action id."""

    def other_names(self, rules: Any, /) -> Sequence[Sequence[str]]:
        """Return other unambiguous names for each action, by action id."""

    def line_of_play(self, rules: Any, offset: int, action: int, /) -> str | None:
        """Describe a play of the history to the seat; None if the seat cannot see it."""

    def reason_against(self, view: View, action: int, /) -> str:
        """Return the reason why the action is not legal now, half a sentence."""


def situation(env: Any, game: int = 0) -> Situation:
    """Return the current situation in a game of a vector or AEC environment.

    Args:
        env: `vector_env(...)`, or an AEC environment of the package.
        game: index of the game.

    Returns:
        The situation, with the plays so far if the environment was made with `history=True`.

    Raises:
        PlayError: it is another kind of environment, or the index is out of range.
    """
    vector = getattr(getattr(env, "unwrapped", env), "vector", env)
    try:
        states = vector.get_states()
        history = vector.history
        plays = tuple(history.plays(int(game))) if history is not None and 0 <= game < len(history) else ()
        state = states[game : game + 1]
    except (AttributeError, TypeError):
        raise PlayError(f"env is {shown(env)}; it must be an environment of millebornes_env") from None
    if len(state) != 1 or game < 0:
        raise PlayError(f"there is no game {shown(game)}; the environment has {len(states)}, counted from 0")
    sheet = vector.sheet(int(vector.games.game_rules.sheet[game]))
    return Situation(sheet, vector.rules_of(int(game)), state, plays)


def words_of(game: Game) -> Words:
    """Return the module that describes a game in words.

    Raises:
        OptionError: it has no words.
    """
    result: Words = game.hook("play.words", "millebornes_env.play.language")
    return result


def see(
    situation: Situation | Position,
    history: Iterable[tuple[int, int]] | None = None,
    *,
    seat: int | None = None,
    episode: str = "",
) -> View:
    """Return a seat's view of a game, with its legal moves if it is its turn.

    Args:
        situation: the game, such as `situation(env)` or a `notation.Position`.
        history: all plays so far as pairs (seat, action id), such as the `plays` of a `notation.Record`;
            plays that the seat could not see are left out. None: `Situation.plays`.
        seat: the observing seat; None: the seat to act.
        episode: one of the rulebook's `EPISODES`; "": the first.

    Returns:
        The view, which does not depend on anything that the seat cannot see.

    Raises:
        PlayError: an argument is invalid.
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
        raise PlayError(f"a situation must have an edition, its rules and STATE[1]; got {shown(situation)}")
    words = words_of(game)
    viewer = _seat_of(int(state.seat) if seat is None else seat, rules)
    table = words.table(state, rules, viewer)
    kind = rulebook.EPISODES[0] if episode == "" else episode
    _check_episode(kind, rulebook)
    plays = getattr(situation, "plays", ()) if history is None else history
    names = words.move_names(rules)
    is_earlier = table["place"] not in (None, (int(state.seat) - viewer) % rules.players)
    legal = _legal(rulebook, situation.state, rules) if table["place"] == 0 and not is_earlier else []
    return {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "game": game.name,
        "edition": situation.edition.label,
        "episode": kind,
        "rules": {name: int(value) for name, value in rules._asdict().items()},
        "table": table,
        "history": _lines(words, rules, viewer, plays, hides_last=is_earlier),
        "moves": {str(action): names[action] for action in legal},
    }


def _seat_of(seat: object, rules: TableRules) -> int:
    if not isinstance(seat, (int, np.integer)) or isinstance(seat, bool) or not 0 <= seat < rules.players:
        raise PlayError(f"there is no seat {shown(seat)}; they are 0 to {rules.players - 1}")
    return int(seat)


def _legal(rulebook: Rulebook, states: StateArray, rules: Any) -> list[int]:
    """List the ids of the legal actions, with the rules as plain Python so that nothing is compiled."""
    state = states.view(np.recarray)[0]
    record = for_kernels(rulebook.rules_array(rules)).view(np.recarray)[0]
    is_legal = plain(rulebook.is_legal)
    return [action for action in range(rulebook.action_count(rules, None)) if is_legal(state, record, action)]


def _lines(
    words: Words, rules: Any, viewer: int, history: Iterable[tuple[int, int]], *, hides_last: bool
) -> list[str]:
    try:
        plays = [(int(seat), int(action)) for seat, action in history]
    except Exception:  # anything but pairs of numbers
        raise PlayError(
            f"a history must be pairs of seat and action id, such as [(0, 13)]; got {shown(history)}"
        ) from None
    count = len(words.move_names(rules))
    for seat, action in plays:
        if not -1 <= seat < rules.players or not -1 <= action < count:
            raise PlayError(f"the history has an impossible play: seat {seat}, action {action}")
    shown_plays = plays[:-1] if hides_last else plays
    lines = (
        words.line_of_play(rules, (seat - viewer) % rules.players, action) for seat, action in shown_plays
    )
    return [line for line in lines if line is not None]


def checked_view(view: object) -> View:
    """Return the view if its format, version and entries are valid, also after a round trip through JSON.

    Raises:
        PlayError: the view is invalid; the message names the entry.
    """
    if not isinstance(view, dict) or view.get("format") != FORMAT:
        raise PlayError(f"a view must come from play.language.see; got {shown(view)}")
    if view.get("format_version") != FORMAT_VERSION:
        raise PlayError(
            f"the view has version {shown(view.get('format_version'))}; this release reads {FORMAT_VERSION}"
        )
    for name, kind in _ENTRIES.items():
        if not isinstance(view.get(name), kind):
            raise PlayError(f"view[{name!r}] is {shown(view.get(name))}; it must be a {kind.__name__}")
    try:
        game = find_game(view["game"])
    except GameError as error:
        raise PlayError(f"view['game'] is {shown(view['game'])}: {error}") from None
    _check_episode(view["episode"], game.module())
    _check_lines(view)
    return view


def _check_lines(view: View) -> None:
    if not all(isinstance(line, str) for line in view["history"]):
        raise PlayError("view['history'] has a line that is not text")
    for action, name in view["moves"].items():
        if not (str(action).isdecimal() and isinstance(name, str)):
            entry = f"{shown(action)}: {shown(name)}"
            raise PlayError(f"view['moves'] has {entry}; it must be the id of an action and its name")


@contextmanager
def reading_a_view() -> Iterator[None]:
    """Raise PlayError where the words of a game cannot read the table of a view."""
    try:
        yield
    except MilleBornesError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise PlayError(
            f"view['table'] cannot be read ({type(error).__name__}: {error}); a view must come from "
            "play.language.see"
        ) from error


def _check_episode(episode: object, rulebook: Rulebook) -> None:
    if not isinstance(episode, str) or episode not in rulebook.EPISODES:
        known = " or ".join(map(repr, rulebook.EPISODES))
        raise PlayError(f"episode is {shown(episode)}; it must be {known}")
