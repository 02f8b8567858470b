"""Perfect recall: the events of each game, and keys of information states.

A seat's *information state* is everything that it has seen since the deal. It has two keys, each available as
bytes, text or tensor (docs/research/hidden_information.md):

* the **full** key: all public events and the seat's own draws, in order (the action-observation history);
* the **compact** key: the public events in order, and the cards that the seat holds now. The time at which a
  card was drawn does not affect the rest of the game, so the compact key loses nothing that a player can use.

No key depends on information that is hidden from the seat.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import checked_index, flag, one_of
from millebornes_env._util.guard import Guard, alone
from millebornes_env.engine.batch import Batch
from millebornes_env.engine.kernels import SKIP, GameRules, named_for, rules_of
from millebornes_env.engine.numba.compiling import for_kernels, kernel
from millebornes_env.engine.numba.machine_code import prepare
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.envs.arrays import checked_seats
from millebornes_env.errors import OptionError, shown
from millebornes_env.games.registry import Game
from millebornes_env.games.registry import game as find_game

FORMS: Final = ("bytes", "text", "tensor")
"""The formats in which a key can be returned."""

Codes = npt.NDArray[np.uint16]
"""Events as numbers: `event * players + seat`, where events are the actions, then the game's `EVENTS`."""

_CODE: Final = np.dtype("<u2")
_INITIAL_CAPACITY: Final = 64

BEGIN: Final = -2
"""Marker in place of an action: the game begins with a deal."""

# The first byte of a key.
_COMPACT: Final = 1
_FROM_POSITION: Final = 2


class GameHistory(Protocol):
    """Interface of a game's module `games.history`, such as `games.millebornes.history`.

    The functions `remember`, `write_deal` and `write_events` are compiled rules for one game
    (`engine.numba.compiling.rule`). The last two write codes of events into a row from index `at` on, and
    return the index after the last one.
    """

    @property
    def EVENTS(self) -> tuple[str, ...]:  # noqa: N802 - a constant of a module
        """Names of events other than actions, as predicates of a seat ("draws Roll")."""

    @property
    def PRIVATE_EVENTS(self) -> int:  # noqa: N802
        """Number of leading `EVENTS` that only their own seat sees."""

    @property
    def PRIVATE_ACTIONS(self) -> tuple[int, ...]:  # noqa: N802
        """Actions that only their own seat sees; if one is legal, any other action reveals it."""

    @property
    def PRIVATE_SECTIONS(self) -> tuple[str, ...]:  # noqa: N802
        """Sections of an observation that are hidden from other seats."""

    @property
    def DEALS(self) -> int:  # noqa: N802
        """Index of the event that begins a round."""

    @property
    def BEFORE(self) -> np.dtype[np.void]:  # noqa: N802
        """Dtype of the fields that `write_events` needs from before a step: `episode`, `seat` and others."""

    def remember(self, state: Any, before: Any, /) -> None:
        """Copy the fields of `BEFORE` from a record."""

    def write_deal(self, state: Any, rules: Any, num_actions: int, row: Codes, at: int, /) -> int:
        """Write the events of a game in which no seat has acted yet."""

    def write_events(
        self, before: Any, after: Any, rules: Any, num_actions: int, row: Codes, at: int, /
    ) -> int:
        """Write the events of a step within an episode, apart from the action itself."""

    def most_events_of_step(self, rules: Any, /) -> int:
        """Return an upper bound on the number of events of one step, including the action."""

    def decision_events(self, before: Any, after: Any, /) -> Sequence[tuple[int, int]]:
        """Return (seat, event) pairs of one step within a round, apart from the action and draws."""

    def holding(self, state: Any, seat: int, /) -> npt.NDArray[np.int8]:
        """Return the counts of the seat's hidden cards."""

    def describe_holding(self, counts: npt.NDArray[np.int8], /) -> str:
        """Describe the counts from `holding` in words."""

    def most_events(self, rules: Any, /) -> int:
        """Return an upper bound on the number of events that a seat can see in a round."""


class Keys:
    """Encoder that builds the keys of a table from events.

    Attributes:
        actions: number of actions, which come before the game's own events.
        players: seats at the table.
        events: number of events, including actions.
        most_events: maximum number of events that fit into a tensor.
    """

    def __init__(self, game: Game, rules: Any) -> None:
        """Create the encoder of a table.

        Raises:
            OptionError: the game does not support histories, or has more events than a key can encode.
        """
        self._module = history_of(game)
        self._rules, self._rulebook = rules, game.module()
        self.actions = int(self._rulebook.action_count(rules, None))
        self.players = int(rules.players)
        self.events = self.actions + len(self._module.EVENTS)
        self.most_events = int(self._module.most_events(rules))
        if self.events * self.players > np.iinfo(_CODE).max:
            raise OptionError(
                f"the game {game.name!r} has {self.events} kinds of events, too many for histories"
            )
        self._words: dict[int, str] = {}
        self._is_private = np.zeros(self.events, np.bool_)
        self._is_private[self.actions : self.actions + self._module.PRIVATE_EVENTS] = True
        self._is_private[list(self._module.PRIVATE_ACTIONS)] = True

    def code(self, seat: int, event: int) -> int:
        """Return the code of an event of a seat."""
        return event * self.players + seat

    def is_private(self, codes: Codes) -> npt.NDArray[np.bool_]:
        """Return bool[K]: True for events that only their own seat sees."""
        return self._is_private[codes // self.players]

    def is_event_private(self, event: int) -> bool:
        """Return True if only the event's own seat sees it."""
        return bool(self._is_private[event])

    def seen_by(self, seat: int | None, codes: Codes) -> Codes:
        """Return the events that a seat sees, or the public events if `seat` is None."""
        seen = ~self.is_private(codes)
        return codes[seen if seat is None else seen | (codes % self.players == seat)]

    def of_round(self, codes: Codes) -> Codes:
        """Return the events of the current round."""
        begins = np.flatnonzero(codes // self.players == self.actions + self._module.DEALS)
        return codes[begins[-1] :] if len(begins) else codes

    def words(self, code: int) -> str:
        """Describe an event in words: "0 draws Roll", "1 play 25 km"."""
        if code not in self._words:
            event, seat = divmod(code, self.players)
            what = (
                self._rulebook.action_name(event, self._rules, seat)
                if event < self.actions
                else self._module.EVENTS[event - self.actions]
            )
            self._words[code] = f"{seat} {what}"
        return self._words[code]

    def full(self, seat: int, seen: bytes, start: bytes = b"") -> bytes:
        """Return the full key of a seat: kind, seat, first observation, and events in two bytes each."""
        return bytes([_FROM_POSITION if start else 0, seat]) + start + seen

    def compact(self, seat: int, public: bytes, holding: bytes, start: bytes = b"") -> bytes:
        """Return the compact key of a seat: like the full key, with the held cards appended as bytes."""
        return bytes([_COMPACT + (_FROM_POSITION if start else 0), seat]) + start + public + holding

    def text(self, seat: int, seen: bytes, holding: bytes | None = None) -> str:
        """Return a key as text; `holding` is for a compact key: the counts of the seat's cards as bytes."""
        words = "; ".join(map(self.words, np.frombuffer(seen, _CODE).tolist()))
        if holding is None:
            return f"player_{seat}: {words}"
        held = self._module.describe_holding(np.frombuffer(holding, np.int8))
        return f"player_{seat}: {words}; holds {held}"

    def tensor_size(self, holding: int) -> int:
        """Return the size of a tensor, where `holding` is the number of counts of a hand."""
        return self.players + holding + self.most_events * (self.players + self.events)

    def write_tensor(self, seat: int, seen: Codes, holding: npt.NDArray[np.int8], row: Any) -> None:
        """Write a key as a tensor: the seat, the cards it holds, and each event as two one-hot vectors.

        `seen` has at most `most_events` events of the round, `holding` the counts of the seat's cards, and
        `row` `tensor_size` numbers, which are overwritten.
        """
        row[:] = 0
        row[seat] = 1
        first, width = self.players + len(holding), self.players + self.events
        row[self.players : first] = holding
        events, seats = np.divmod(seen.astype(np.int64), self.players)
        offsets = first + np.arange(len(seen)) * width
        row[offsets + seats] = 1
        row[offsets + self.players + events] = 1


def history_of(game: Game) -> GameHistory:
    """Return the history module of a game.

    Raises:
        OptionError: the game does not support histories.
    """
    module: GameHistory = game.hook("games.history", "a history (`history=True`)")
    return module


@functools.cache
def record_range_of(rulebook: Any, module: Any) -> Callable[..., int]:
    """Return the compiled loop that records a step of all games."""

    def record_range(
        before: StateArray,
        after: StateArray,
        rules: GameRules,
        actions: npt.NDArray[np.int64],
        codes: Codes,
        lengths: npt.NDArray[np.int64],
        num_actions: int,
    ) -> int:
        """Write the events of a step into `codes`, uint16[N, L]; return the largest length.

        `before`, BEFORE[N], and `lengths`, int64[N], are updated to the states after the step. An action is
        BEGIN for a game that begins with a deal, and otherwise negative for games that were not stepped.
        """
        longest = 0
        for game in range(len(after)):
            row, at, action = codes[game], int(lengths[game]), int(actions[game])
            own = rules_of(rules, game)
            if action == BEGIN or int(after[game].episode) != int(before[game].episode):
                at = module.write_deal(after[game], own, num_actions, row, 0)
                module.remember(after[game], before[game])
            elif 0 <= action < num_actions:
                row[at] = action * own.players + int(before[game].seat)
                at = module.write_events(before[game], after[game], own, num_actions, row, at + 1)
                module.remember(after[game], before[game])
            lengths[game] = at
            longest = max(longest, at)
        return longest

    return kernel(named_for(rulebook, record_range, module))


class History:
    """Events of N games since the deal, recorded with `history=True`.

    Attributes:
        keys: encoder of the table's keys.
        codes: uint16[N, L]: event `k` of game `n` for `k < lengths[n]`.
        lengths: int64[N]: number of events of each game.
        starts: first observation by game and seat, as bytes, for games that did not begin with a deal.
    """

    def __init__(self, game: Game, rules: Any, num_games: int) -> None:
        """Create empty histories for `num_games` games.

        Raises:
            OptionError: the game does not support histories.
        """
        self._game, self._rules = game.name, rules
        self.codes: Codes = np.zeros((num_games, _INITIAL_CAPACITY), _CODE)
        self.lengths = np.zeros(num_games, np.int64)
        self.starts: dict[int, list[bytes]] = {}
        self._bind()

    def _bind(self) -> None:
        """Set up the attributes that are not pickled: the game's module, the kernel and its buffers."""
        game = find_game(self._game)
        self.keys = Keys(game, self._rules)
        self._module = history_of(game)
        rulebook: Any = game.module()
        self._record_range = record_range_of(rulebook, vars(self)["_module"])
        self._most_of_step = int(self._module.most_events_of_step(self._rules))
        self._before = np.zeros(len(self), self._module.BEFORE).view(np.recarray)
        self._actions = np.zeros(len(self), np.int64)
        self._record: Callable[[], int] | None = None  # prepared for the current arrays
        self._longest = int(self.lengths.max(initial=0))

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_game", "_rules", "codes", "lengths", "starts")
        return {name: vars(self)[name] for name in kept}

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        self._bind()

    def __len__(self) -> int:
        return len(self.lengths)

    def copy(self) -> History:
        """Return an independent copy."""
        return copy.deepcopy(self)

    def copy_for(self, games: Batch) -> History:
        """Return a copy that continues from the current states of `games`."""
        copied = self.copy()
        copied.remember(games)
        return copied

    def checked(self, history: object) -> History:
        """Return a history that can replace this one.

        Raises:
            OptionError: the value is not a history, or belongs to other games.
        """
        if not isinstance(history, History):
            raise OptionError(
                f"history is {shown(history)}; it must be env.history.copy(), taken with the states"
            )
        if (history._game, history._rules, len(history)) != (self._game, self._rules, len(self)):
            raise OptionError(
                f"the history is of {len(history)} games of {history._game!r}, or of other rules; this "
                f"environment has {len(self)} games of {self._game!r}"
            )
        return history

    def begin(self, games: Batch, chosen: npt.NDArray[np.bool_], *, is_dealt: bool) -> None:
        """Clear the events of the chosen games, bool[N], which are already reset, and start again.

        If they do not begin with a deal, the keys begin with the current observations.
        """
        indices = np.flatnonzero(chosen).tolist()
        for game in indices if self.starts else ():
            self.starts.pop(game, None)
        self.lengths[chosen] = 0
        if is_dealt:
            self._write(games, np.where(chosen, BEGIN, SKIP))
            return
        self.remember(games)
        observation = np.zeros_like(games.buffers.observation)
        rows = []
        for seat in range(self.keys.players):
            games.observe(np.full(len(games), seat, np.int32), observation)
            rows.append(observation.copy())
        for game in indices:
            self.starts[game] = [row[game].tobytes() for row in rows]

    def remember(self, games: Batch) -> None:
        """Copy the current states for the next `record`; needed after any change other than a step."""
        for name in self._module.BEFORE.names or ():
            self._before[name] = games.states[name]

    def record(self, games: Batch, actions: npt.NDArray[np.int64]) -> None:
        """Record a step, after it; actions are int64[N], negative where a game was not stepped."""
        if self.starts:
            for game in np.flatnonzero(games.states["episode"] != self._before["episode"]).tolist():
                self.starts.pop(game, None)
        self._write(games, actions)

    def _write(self, games: Batch, actions: npt.NDArray[np.int64]) -> None:
        self._actions[...] = actions
        while self._longest + self._most_of_step > self.codes.shape[1]:
            self.codes = np.concatenate([self.codes, np.zeros_like(self.codes)], axis=1)
            self._record = None
        if self._record is None:
            records = for_kernels(self._before), games._states, games.game_rules
            arrays = self._actions, self.codes, self.lengths
            self._record = prepare(self._record_range, *records, *arrays, self.keys.actions)
        self._longest = self._record()

    def seen(self, game: int, seat: int | None) -> Codes:
        """Return the events of a game that a seat sees, or the public events if `seat` is None."""
        return self.keys.seen_by(seat, self.codes[game, : self.lengths[game]])

    def plays(self, game: int) -> list[tuple[int, int]]:
        """Return all actions of a game in order as (seat, action id), with (-1, -1) for each later deal."""
        result: list[tuple[int, int]] = []
        deal = self.keys.actions + self._module.DEALS
        for code in self.codes[game, : self.lengths[game]].tolist():
            event, seat = divmod(code, self.keys.players)
            if event < self.keys.actions:
                result.append((seat, event))
            elif event == deal and result:
                result.append((-1, -1))
        return result

    def key(self, states: StateArray, game: int, seat: int, *, is_compact: bool) -> bytes:
        """Return a seat's key as bytes."""
        start = self.starts[game][seat] if game in self.starts else b""
        seen = self.seen(game, None if is_compact else seat).tobytes()
        if not is_compact:
            return self.keys.full(seat, seen, start)
        return self.keys.compact(seat, seen, self._module.holding(states[game], seat).tobytes(), start)

    def text(self, states: StateArray, game: int, seat: int, *, is_compact: bool) -> str:
        """Return a seat's key as text, with the first observation if the game began at a position."""
        holding = self._module.holding(states[game], seat).tobytes() if is_compact else None
        words = self.keys.text(seat, self.seen(game, None if is_compact else seat).tobytes(), holding)
        if game not in self.starts:
            return words
        return f"{words} (from a position, {self.starts[game][seat].hex()})"

    def tensor(self, states: StateArray, seats: npt.NDArray[np.int32], *, is_compact: bool) -> Any:
        """Return the keys of one seat of each game as int8[N, K], limited to the current round of a match.

        Raises:
            OptionError: a game did not begin with a deal.
        """
        if self.starts:
            raise OptionError(
                f"game {min(self.starts)} began at a position, which a tensor cannot encode: use the "
                'form "bytes" or "text"'
            )
        holdings = [self._module.holding(states[game], int(seat)) for game, seat in enumerate(seats)]
        rows = np.zeros((len(self), self.keys.tensor_size(len(holdings[0]))), np.int8)
        for game, (seat, holding) in enumerate(zip(seats.tolist(), holdings, strict=True)):
            seen = self.seen(game, None if is_compact else seat)
            self.keys.write_tensor(seat, self.keys.of_round(seen), holding, rows[game])
        return rows


class HistoryMixin:
    """Mixin of `VectorEnv` with the methods that need a history.

    Attributes:
        history: events of the games (`History`); None unless created with `history=True`.
    """

    num_envs: int
    players: int
    games: Batch
    history: History | None = None
    _guard: Guard

    def _check_ready(self, method: str) -> None:
        raise NotImplementedError

    def _require_history(self, method: str) -> History:
        """Return the history; raise if there is none or the environment is not ready."""
        self._check_ready(method)
        if self.history is None:
            raise OptionError(f"{method}() needs a history: make the environment with history=True")
        return self.history

    def _checked_history(self, history: object) -> History:
        """Return the history passed to `set_states` after validation."""
        if self.history is None:
            raise OptionError("this environment has no history: make it with history=True")
        return self.history.checked(history)

    @alone
    def information_states(
        self, seats: npt.ArrayLike | None = None, *, form: str = "bytes", compact: bool = False
    ) -> Any:
        """Return a key of the information state of one seat of each game, with perfect recall.

        Args:
            seats: one seat for all games, or integers [N]; None for the seats to act.
            form: "bytes", "text" or "tensor".
            compact: encode only the public events and the seat's current cards, instead of everything that
                the seat has seen, in order (docs/research/hidden_information.md).

        Returns:
            A list of N bytes objects or N strings, or int8[N, K]. Equal keys are equal in all three forms,
            but a tensor has only the current round of a match.

        Raises:
            OptionError: the environment has no history; no such seat or form; or a tensor of a game that
                began at a position.
            CallError: before the first `reset`.
        """
        history = self._require_history("information_states")
        one_of("form", form, FORMS)
        is_compact = flag("compact", compact)
        seats = self.games.buffers.agent_selection if seats is None else seats
        checked = checked_seats(seats, self.num_envs, self.players)
        states = self.games.states
        if form == "tensor":
            return history.tensor(states, checked, is_compact=is_compact)
        key: Any = history.key if form == "bytes" else history.text
        return [key(states, game, seat, is_compact=is_compact) for game, seat in enumerate(checked.tolist())]

    @alone
    def public_events(self, game: int = 0) -> list[str]:
        """Return the public events of a game as text, in order: `["1 deals", "0 play Roll", ...]`.

        Raises:
            OptionError: the environment has no history, or no such game.
            CallError: before the first `reset`.
        """
        history = self._require_history("public_events")
        seen = history.seen(checked_index("game", game, self.num_envs), None)
        return [history.keys.words(code) for code in seen.tolist()]
