"""Rule-based agents, compiled so that they play at the speed of the environment.

Such an agent is one function, `choose(state, rules, seat, memory, options, draw)`, written like the rulebook
of its game. It may read only what its seat can see: its own hand, all piles, all counts, and `hidden` (the
numbers of unseen cards, not their positions); never another hand or the deck. Tests redeal the hidden cards
and expect the same choice, and compare it with the choice made from the observation alone.

Kernels that hold the games (the arena, search) call the function at its `address`. All other callers use
`act`, which decodes observations into states (`agents.decoder`).
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, ClassVar, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import checked_seed
from millebornes_env._util.guard import alone
from millebornes_env.agents.checks import (
    check_masks,
    checked_options,
    checked_rows,
    checked_slot_ids,
    row_error,
)
from millebornes_env.agents.decoder import (
    CHOSE_NOTHING,
    NO_FAULT,
    ObservationDecoder,
    bounds_of,
    decoder_of,
    reads_rows,
)
from millebornes_env.agents.protocol import (
    Actions,
    BaseAgent,
    Masks,
    Observations,
    Table,
    fill_no_ops,
    one_or_many,
)
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import key_of_seed, named_for
from millebornes_env.engine.numba.compiling import (
    address_of,
    call_at,
    for_kernels,
    kernel,
    rule,
    rule_of_rules,
)
from millebornes_env.engine.numba.machine_code import prepare
from millebornes_env.engine.rulebook import Rulebook, StateArray, TableRules, checked_module
from millebornes_env.errors import AgentError
from millebornes_env.games.registry import game as find_game

Number = TypeVar("Number", bound=np.generic)
Int16Array = npt.NDArray[np.int16]
Int8Array = npt.NDArray[np.int8]
Int64Array = npt.NDArray[np.int64]

Choose = Callable[[Any, Any, int, Int16Array, Int64Array, int], int]
"""`choose(state, rules, seat, memory, options, draw)`: return the action of the acting seat.

`memory` is int16[MEMORY], the seat's own. Values before `FIRST_FREE` belong to `decide`; values before
`FIRST_OF_MATCH` are 0 at the seat's first decision of a round, the others at its first decision of a match.
`options` is int64[MAX_OPTIONS], the agent's settings. `draw` is a random number from 0 to 2**32 - 1, a new
one for each decision.
"""

MEMORY: Final = 49
"""Number of values that an agent can remember for a seat, from one decision to the next."""
MAX_OPTIONS: Final = 12

_CLOCK, _DECISIONS = 0, 1
FIRST_FREE: Final = 2
"""Index of the first memory value that the agent may use."""
FIRST_OF_MATCH: Final = 40
"""Index of the first memory value that is kept for a match."""
_SHEET: Final = MEMORY - 1
"""Index of the code of the rule sheet, where games draw their sheets."""

NO_ACTION: Final = -1
"""The action of a finished round, in which no seat has a decision."""

FEW: Final = 64
"""Number of rows up to which the call overhead exceeds the time to choose, so that copying the rows pays."""

_ADDRESSES: dict[tuple[Choose, ModuleType], int] = {}


# Shared by all kernels that play agents ---------------------------------------------------------------------
#
# These rules take the module `decoder` of the game first (`agents.decoder.decoder_of`). A kernel for a
# rulebook captures it as a variable of its factory (`engine.kernels.named_for`), and is compiled for that
# game.


@rule
def forget_other_sheet(memory: Int16Array, code: int) -> None:
    """Clear a memory, int16[MEMORY], of a game with another rule sheet: its clock may have shown less.

    The code of the sheet is from 0 to 32,767, and always 0 where all games have the same.
    """
    if code != int(memory[_SHEET]):
        memory[:] = 0
        memory[_SHEET] = code


@rule_of_rules
def decisions_taken(decoder: ObservationDecoder, state: Any, memory: Int16Array) -> int:
    """Return the number of decisions that the seat has taken in this round.

    The game's clock never increases within a round: if it is larger than at the seat's last decision, a new
    round has started.
    """
    return 0 if decoder.clock(state) + 1 > int(memory[_CLOCK]) else int(memory[_DECISIONS])


@rule_of_rules
def decide(
    decoder: ObservationDecoder,
    choose: int,
    state: Any,
    rules: Any,
    seat: int,
    memory: Int16Array,
    options: Int64Array,
    draw: int,
) -> int:
    """Return the action of an agent, and update the seat's memory; called by all kernels that play agents.

    Args:
        decoder: the observation decoder of the game (`decoder_of`).
        choose: address of the agent's function; the remaining arguments are those of `Choose`.
        state: the game.
        rules: rules of the table.
        seat: the acting seat.
        memory: int16[MEMORY]; its values for a round are cleared at the first decision of a round.
        options: int64[MAX_OPTIONS].
        draw: a random number for this decision.
    """
    taken = decisions_taken(decoder, state, memory)
    if taken == 0:
        memory[:FIRST_OF_MATCH] = 0
    memory[_CLOCK] = decoder.clock(state) + 1
    memory[_DECISIONS] = taken + 1
    return call_at(choose, (state, rules, seat, memory, options, draw))


@rule
def list_legal(mask: Int8Array, actions: Int16Array) -> int:
    """List the actions that a mask, int8[A], allows, the lowest first, and return their number.

    `actions` is int16[A + 1 or more], overwritten.
    """
    count = 0
    for action in range(len(mask)):  # branch-free: a branch would be unpredictable
        actions[count] = action
        count += int(mask[action])
    return count


# The kernels of a game -------------------------------------------------------------------------------------


class AgentKernels(NamedTuple):
    """The kernels that play compiled agents of one game."""

    rulebook: Any
    decoder: Any
    choose_each: Callable[..., None]
    choose_from_rows: Callable[..., tuple[int, int, int]]

    def __reduce__(self) -> tuple[Callable[[str], AgentKernels], tuple[str]]:
        """Pickle the name of the rulebook, because modules cannot be pickled."""
        return _kernels_named, (self.rulebook.__name__,)


def agent_kernels_of(rulebook: Rulebook) -> AgentKernels:
    """Return the cached kernels for agents of a rulebook; they are compiled when first called.

    Raises:
        GameError: the module lacks a member that the engine needs.
    """
    return _agent_kernels_of(checked_module(rulebook), decoder_of(rulebook))


@functools.cache
def _agent_kernels_of(rulebook: Any, decoder: Any) -> AgentKernels:
    return AgentKernels(
        rulebook, decoder, _choose_each(rulebook, decoder), _choose_from_rows(rulebook, decoder)
    )


def _kernels_named(name: str) -> AgentKernels:
    rulebook: Any = importlib.import_module(name)
    return agent_kernels_of(rulebook)


def _choose_each(rulebook: Rulebook, decoder: Any) -> Callable[..., None]:
    def choose_each(
        choose: int,
        states: StateArray,
        rules: TableRules,
        seats: npt.NDArray[np.int32],
        memories: Int16Array,
        options: Int64Array,
        draws: Int64Array,
        actions: Int64Array,
    ) -> None:
        """Choose the action of one seat in each game.

        Args:
            choose: address of the agent's function.
            states: STATE[N], the games.
            rules: rules of the table.
            seats: int32[N], the acting seats.
            memories: int16[N, MEMORY], memory of that seat.
            options: int64[MAX_OPTIONS], options of the agent.
            draws: int64[N], a random number for each game.
            actions: int64[N], overwritten.
        """
        for game in range(len(states)):
            seat, draw = int(seats[game]), int(draws[game])
            actions[game] = decide(decoder, choose, states[game], rules, seat, memories[game], options, draw)

    return kernel(named_for(rulebook, choose_each, decoder))


def _choose_from_rows(rulebook: Rulebook, decoder: Any) -> Callable[..., tuple[int, int, int]]:
    def choose_from_rows(  # noqa: PLR0913, PLR0917 - Numba takes much longer to unbox them as a tuple
        choose: int,
        starts: Any,
        bounds: Int8Array,
        rules: StateArray,
        options: Int64Array,
        memories: Int16Array,
        scratch: StateArray,
        rows: Observations,
        slot_ids: Int64Array,
        actions: Int64Array,
        count: int,
        key_0: int,
        key_1: int,
        call: int,
    ) -> tuple[int, int, int]:
        """Choose actions from observations, if all of them are possible at the table.

        Args:
            choose: address of the agent's function.
            starts: section starts of the observations.
            bounds: int8[2, D], bounds of their numbers.
            rules: RULES[1], rules of the table.
            options: int64[MAX_OPTIONS], options of the agent.
            memories: int16[P, MEMORY], memories by slot.
            scratch: STATE[1], overwritten.
            rows: int8[N, D], observations.
            slot_ids: int64[N], slot of each row.
            actions: int64[N], overwritten; NO_ACTION where the round is over.
            count: number of rows to read, at most N.
            key_0: key of the agent's random numbers.
            key_1: key of the agent's random numbers.
            call: number of this call; each gives different random numbers.

        Returns:
            The number of finished rounds; the index of the first row with a fault, or -1; and its fault
            (`agents.decoder`). For a fault other than CHOSE_NOTHING, actions and memories are unchanged.
        """
        number, fault = decoder.first_invalid_row(rows[:count], starts, bounds, rules)
        if fault != NO_FAULT:
            return 0, number, fault
        state, table, ended = scratch[0], rules[0], 0
        key_of_call = random_word(key_0, key_1, call)
        for number in range(count):
            decoder.read_observation(rows[number], starts, table, state)
            actions[number] = NO_ACTION
            if rulebook.is_round_over(state):
                ended += 1
                continue
            draw = random_word(key_of_call, key_1, number)
            memory = memories[slot_ids[number]]
            forget_other_sheet(memory, decoder.sheet_code(rows[number], starts))
            actions[number] = decide(decoder, choose, state, table, 0, memory, options, draw)
            if actions[number] < 0:
                return ended, number, CHOSE_NOTHING
        return ended, -1, NO_FAULT

    return kernel(named_for(rulebook, choose_from_rows, decoder))


# The base class -------------------------------------------------------------------------------------------


def _examples(rulebook: Any, rules: Any) -> tuple[Any, Any, int, Int16Array, Int64Array, int]:
    """Return example arguments of `Choose`, for their types."""
    state = for_kernels(np.zeros(1, rulebook.STATE))[0]
    memory, options = np.zeros(MEMORY, np.int16), np.zeros(MAX_OPTIONS, np.int64)
    return state, for_kernels(rulebook.rules_array(rules))[0], 0, memory, options, 0


def address_to(choose: Choose, rulebook: Any, rules: Any) -> int:
    """Compile a function or load it from disk; return and cache its address, for `call_at`.

    Numba determines the type of a function argument at every call of a kernel, which takes fifty times as
    long as a step of one game; an address is an int. Kernels that take addresses are also compiled only once
    for all agents. Of the rules, any of the game, only the type matters.
    """
    address = address_of(kernel(choose), *_examples(rulebook, rules))
    _ADDRESSES[choose, rulebook] = address
    return address


def with_rows(rows: npt.NDArray[Number], count: int) -> npt.NDArray[Number]:
    """Return an array with at least `count` rows: the same one, or a copy extended by rows of zeros."""
    if count <= len(rows):
        return rows
    more = np.zeros((max(count, 2 * len(rows)), *rows.shape[1:]), rows.dtype)
    more[: len(rows)] = rows
    return more


def clear_rows(rows: npt.NDArray[Any], which: Int64Array) -> None:
    """Fill some rows with zeros; rows that the array lacks are ignored."""
    rows[which[which < len(rows)]] = 0


def legal_by_masks(agent: CompiledAgent, action_masks: Masks | None) -> npt.NDArray[np.bool_]:
    """Return the legal actions by the masks, bool[N, A], for a game without a decoder.

    Raises:
        AgentError: the masks are missing.
    """
    if action_masks is None:
        raise AgentError(
            f"{agent.name!r} needs action_masks in the game {agent.table.game!r}, which has no decoder"
        )
    legal: npt.NDArray[np.bool_] = np.asarray(action_masks) != 0
    return legal


class _FewRows:
    """`choose_from_rows` for a few rows, prepared with arrays of its own, to which the rows are copied.

    Numba unboxes each array in each call of a kernel, which takes longer than most agents do. Copies and
    pickles of an agent prepare the call again.

    Attributes:
        memories: memories of the agent that the call is prepared for; None before.
    """

    def __init__(self) -> None:
        """Create an unprepared call."""
        self.memories: Int16Array | None = None

    def __reduce__(self) -> tuple[type[_FewRows], tuple[()]]:
        return _FewRows, ()

    def prepare(
        self,
        choose_from_rows: Callable[..., Any],
        arguments: tuple[Any, ...],
        memories: Int16Array,
        size: int,
    ) -> None:
        """Prepare the call with the constant arguments of an agent, for observations of this size."""
        self._rows = np.zeros((FEW, size), np.int8)
        self._slot_ids, self._actions = np.arange(FEW), np.zeros(FEW, np.int64)
        self._are_slots_numbers = True  # row n has slot n, until a caller gives other slots
        self._call = prepare(choose_from_rows, *arguments, self._rows, self._slot_ids, self._actions)
        self.memories = memories

    def choose(
        self, rows: Observations, slot_ids: Int64Array | None, *numbers: int
    ) -> tuple[Actions, tuple[int, int, int]]:
        """Return the actions for the rows, and the result of the kernel."""
        count = len(rows)
        self._rows[:count] = rows
        if slot_ids is not None or not self._are_slots_numbers:
            self._slot_ids[:count] = np.arange(count) if slot_ids is None else slot_ids
            self._are_slots_numbers = False
        result = self._call(count, *numbers)
        return self._actions[:count].copy(), result


class CompiledAgent(BaseAgent):
    """An agent that is a compiled function.

    Attributes:
        name: name in tables of results.
        options: int64[MAX_OPTIONS], settings passed to the function.
    """

    name: str = "compiled"
    has_memory: bool = True
    is_compiled: bool = True
    rule: ClassVar[Choose]
    """The function; subclasses set it with `staticmethod`."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Reset `is_compiled` and `has_memory` of a subclass with an `act` of its own."""
        super().__init_subclass__(**kwargs)
        if cls.act is not CompiledAgent.act:
            cls.is_compiled = False
        if "act" in vars(cls) and "has_memory" not in vars(cls):
            cls.has_memory = False

    def __init__(
        self,
        table: Table,
        seed: int = 0,
        options: Sequence[int] | Int64Array = (),
        *,
        counts_unseen: bool = True,
    ) -> None:
        """Create the agent.

        Args:
            table: the table to play at.
            seed: seed of the agent's random numbers, 0 to 2**64 - 1.
            options: settings of the function, at most MAX_OPTIONS.
            counts_unseen: True if the function reads the numbers of unseen cards (`state.hidden`); False lets
                the agent play without the section `unseen` of observations.

        Raises:
            AgentError: there are too many options, or one is not a whole number; or the observations lack a
                section that the agent needs.
            OptionError: the seed is invalid.
        """
        settings = checked_options(self.name, options)
        if settings.ndim != 1 or len(settings) > MAX_OPTIONS:
            raise AgentError(f"{self.name!r} has {settings.size} options; at most {MAX_OPTIONS} fit")
        rulebook: Any = table.rulebook
        self.table = table
        self.options = np.zeros(MAX_OPTIONS, np.int64)
        self.options[: len(settings)] = settings
        self._key = key_of_seed(checked_seed(seed))
        self._calls = 0
        self._rules_in_array = for_kernels(rulebook.rules_array(table.rules))
        self._kernels = agent_kernels_of(rulebook)
        self._reads_rows = reads_rows(table)
        self._starts, self._bounds = None, bounds_of(table)
        if self._reads_rows:
            self._starts = self._kernels.decoder.starts_of(table, counts_unseen=counts_unseen)
        self._memories = np.zeros((0, MEMORY), np.int16)
        self._scratch = for_kernels(np.zeros(1, rulebook.STATE))
        self._few = _FewRows()

    def function(self) -> Choose:
        """Return the function, not yet compiled."""
        return type(self).rule

    @property
    def address(self) -> int:
        """Address of the compiled function, for `call_at` in kernels; compiles it on first use."""
        choose, rulebook = self.function(), self._kernels.rulebook
        address = _ADDRESSES.get((choose, rulebook))
        return address_to(choose, rulebook, self.table.rules) if address is None else address

    @one_or_many
    def act(self, observations: Observations, action_masks: Masks, slot_ids: Any = None) -> Actions:
        """Choose actions; see `Agent.act`.

        Args:
            observations: int8[N, D].
            action_masks: int8[N, A] or None; used only for finished rounds, because compiled agents know the
                rules.
            slot_ids: int64[N], see `BaseAgent.has_memory`; None: the row numbers. Rows with the same slot
                share its memory, in row order.

        Raises:
            AgentError: an argument has the wrong shape or type; or a row is not a valid observation of an
                acting seat at this table.
            OptionError: the game has no hook `agents.decoder`.
        """
        rows = checked_rows(self.name, observations, self._bounds.shape[1])
        if action_masks is not None:
            check_masks(self.name, action_masks, len(rows), self.table.num_actions)
        if slot_ids is not None:
            slot_ids = checked_slot_ids(self.name, slot_ids, len(rows))
        if not self._reads_rows:
            key_0, key_1 = self._key
            chosen = self._act_without_decoder(
                rows, action_masks, (random_word(key_0, key_1, self._calls + 1), key_1)
            )
            self._calls += 1
            return chosen
        slots = len(rows) if slot_ids is None else int(slot_ids.max(initial=-1)) + 1
        self._memories = with_rows(self._memories, slots)
        actions, (ended, row, fault) = self._choose(rows, slot_ids)
        if fault != NO_FAULT:
            raise row_error(self.name, self.table, rows, row, fault)
        self._calls += 1
        if ended:
            fill_no_ops(action_masks, actions, actions == NO_ACTION)
        return actions

    def _choose(
        self, rows: Observations, slot_ids: Int64Array | None
    ) -> tuple[Actions, tuple[int, int, int]]:
        """Return the actions and the result of `choose_from_rows`; without slot ids, row n has slot n."""
        count, few = len(rows), self._few
        if count <= FEW:
            if few.memories is not self._memories:
                few.prepare(self._kernels.choose_from_rows, self._arguments(), self._memories, rows.shape[1])
            return few.choose(rows, slot_ids, *self._key, self._calls + 1)
        slots = np.arange(count) if slot_ids is None else slot_ids
        actions: Actions = np.empty(count, np.int64)
        return actions, self._kernels.choose_from_rows(
            *self._arguments(), rows, slots, actions, count, *self._key, self._calls + 1
        )

    def _arguments(self) -> tuple[Any, ...]:
        """Return the arguments of `choose_from_rows` that are the same in every call."""
        return (
            self.address,
            self._starts,
            self._bounds,
            self._rules_in_array,
            self.options,
            self._memories,
            self._scratch,
        )

    def _act_without_decoder(
        self, rows: Observations, action_masks: Masks | None, key: tuple[int, int]
    ) -> Actions:
        """Choose actions in a game without a decoder; subclasses that can do so override this.

        Args:
            rows: int8[N, D].
            action_masks: int8[N, A] or None.
            key: key of the random numbers of this call.

        Raises:
            OptionError: the game has no hook `agents.decoder`.
        """
        find_game(self.table.game).hook("agents.decoder", f"the agent {self.name!r}")
        raise AssertionError("the game has a decoder")

    @alone
    def forget(self) -> None:
        """Clear the memory of all slots; call it before new matches start.

        New rounds are detected automatically; memory for a match is kept until this call.
        """
        self._memories = self._memories[:0]

    @alone
    def forget_slots(self, slot_ids: Int64Array) -> None:
        """Clear the memory of some slots."""
        clear_rows(self._memories, slot_ids)
