"""What one seat sees of a game, as values that JSON can hold: the twin of the prompt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, Protocol

import numpy as np

from millebornes_env.compile import for_kernels, plain
from millebornes_env.engine.rulebook import Rulebook, StateArray, TableRules
from millebornes_env.errors import shown
from millebornes_env.games import Game
from millebornes_env.games import game as find_game
from millebornes_env.text.errors import ViewError

FORMAT: Final = "millebornes_env view"
FORMAT_VERSION: Final = 1
"""Goes up when views of an older version can no longer be read."""

_ENTRIES: Final = {"game": str, "episode": str, "rules": dict, "table": dict, "history": list, "moves": dict}

View = dict[str, Any]
"""What `see` returns: numbers, texts, lists and objects, as `json.dumps` takes them."""


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
    """

    edition: Any
    rules: Any
    state: StateArray


class Words(Protocol):
    """What a game says in words: a module that its entry in the table of games names (`Game.words`).

    Places are counted from the seat that looks, to the left: 0 is itself.
    """

    @property
    def SYNONYMS(self) -> dict[str, str]:  # noqa: N802 - a constant of a module
        """What words of an answer mean in the words of the moves' names."""

    def table(self, state: Any, rules: Any, seat: int, /) -> dict[str, Any]:
        """What the seat sees of the game, as JSON values: places instead of seats, nothing that is hidden.

        It has `place`, whose decision it is (None: nobody's).
        """

    def table_text(self, view: View, /) -> str:
        """The same in words, as lines."""

    def rules_text(self, view: View, /) -> str:
        """The rules of the table, from their values."""

    def rules_of(self, view: View, /) -> Any:
        """The rules of a view."""

    def move_names(self, rules: Any, /) -> Sequence[str]:
        """What each action is called by who does it, by action id."""

    def other_names(self, rules: Any, /) -> Sequence[Sequence[str]]:
        """What else each action may be called without being mistaken for another one, by action id."""

    def line_of_play(self, rules: Any, place: int, action: int, /) -> str | None:
        """A play of the history, as told to the seat; None: it cannot see that there was one."""

    def reason_against(self, view: View, action: int, /) -> str:
        """Why the action is not legal now, half a sentence."""


def situation(env: Any, game: int = 0) -> Situation:
    """One game of a vector or AEC environment, as it stands.

    Args:
        env: `vector_env(...)`, or an AEC environment of the package.
        game: which of its games.

    Raises:
        ViewError: it is no such environment, or has no such game.
    """
    vector = getattr(getattr(env, "unwrapped", env), "vector", env)
    try:
        states = vector.get_states()
        found = Situation(vector.edition, vector.rules, states[game : game + 1])
    except (AttributeError, TypeError):
        raise ViewError(
            f"a situation is that of an environment of millebornes_env, not of {shown(env)}"
        ) from None
    if len(found.state) != 1:
        raise ViewError(f"there is no game {shown(game)}; the environment has {len(states)}, counted from 0")
    return found


def words_of(game: Game) -> Words:
    """What a game says in words.

    Raises:
        GamePartError: it has no words.
    """
    found: Words = game.part("words", "millebornes_env.text")
    return found


def see(
    situation: SituationLike,
    history: Iterable[tuple[int, int]] = (),
    *,
    seat: int | None = None,
    episode: str = "",
) -> View:
    """What a seat sees, and what it may do if it is its turn.

    Args:
        situation: the game, such as `situation(env)` or a `notation.Position`.
        history: what was played before, from the beginning: pairs (seat, action id), such as the `plays` of a
            `notation.Record`. What the seat could not see of it is left out.
        seat: who looks; None: who is to act.
        episode: what is played, one of the rulebook's `EPISODES`; "": the first.

    Returns:
        A view, the same whatever the seat cannot see.

    Raises:
        ViewError: one of them is none.
        GamePartError: the game has no words.
    """
    try:
        game = find_game(situation.edition.game)
        rules, state = situation.rules, situation.state.view(np.recarray)[0]
        rulebook = game.module()
        is_one = situation.state.dtype == rulebook.STATE and len(situation.state) == 1
    except (AttributeError, TypeError, IndexError):
        is_one = False
    if not is_one:
        raise ViewError(f"a situation has an edition, its rules and STATE[1]; got {shown(situation)}")
    words = words_of(game)
    viewer = _seat_of(int(state.seat) if seat is None else seat, rules)
    table = words.table(state, rules, viewer)
    kind = episode or rulebook.EPISODES[0]
    if kind not in rulebook.EPISODES:
        known = " or ".join(map(repr, rulebook.EPISODES))
        raise ViewError(f"episode is {shown(episode)}; it must be {known}")
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
        "history": _lines(words, rules, viewer, history),
        "moves": {str(action): names[action] for action in legal},
    }


def _fields(rules: TableRules) -> Iterable[tuple[str, Any]]:
    named: Any = rules  # rules are named tuples of ints
    fields: Iterable[tuple[str, Any]] = named._asdict().items()
    return fields


def _seat_of(seat: object, rules: TableRules) -> int:
    if not isinstance(seat, (int, np.integer)) or isinstance(seat, bool) or not 0 <= seat < rules.players:
        raise ViewError(f"there is no seat {shown(seat)}; they are 0 to {rules.players - 1}")
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
        raise ViewError(
            f"a history is pairs of seat and action id, such as [(0, 13)]; got {shown(history)}"
        ) from None
    count = len(words.move_names(rules))
    for seat, action in plays:
        if not -1 <= seat < rules.players or not -1 <= action < count:
            raise ViewError(f"the history has a play that there is not: seat {seat}, action {action}")
    lines = (words.line_of_play(rules, (seat - viewer) % rules.players, action) for seat, action in plays)
    return [line for line in lines if line is not None]


def checked_view(view: object) -> View:
    """The view, if it is one; JSON of one does too.

    Raises:
        ViewError: it is none, or of another version.
    """
    if not isinstance(view, dict) or view.get("format") != FORMAT:
        raise ViewError(f"a view is what text.see returns; got {shown(view)}")
    if view.get("format_version") != FORMAT_VERSION:
        raise ViewError(
            f"the view is of version {shown(view.get('format_version'))}; this release reads {FORMAT_VERSION}"
        )
    for name, kind in _ENTRIES.items():
        if not isinstance(view.get(name), kind):
            raise ViewError(f"the view's {name!r} is {shown(view.get(name))}: it was cut off, or changed")
    return view
