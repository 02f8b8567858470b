"""Agents written as rules: compiled, so that they play at the speed of the environment.

Such an agent is one function, `choose(state, rules, seat, memory, options, draw)`, in the language of the
rulebook of its game. It may read only what its seat can see: the own hand, all piles, all counts, what is
`hidden` (counted, not where); never another hand nor the deck. Tests redeal the hidden cards and expect the
same choice, and compare it with the choice made from the observation alone.

There are two ways to play one: kernels that hold the games call its `address` (the arena, search); everybody
else calls `act` like any other agent's, which reads the game back from the observations (`agents.seen`).
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
from millebornes_env.agents.protocol import (
    Actions,
    BaseAgent,
    Masks,
    Observations,
    Table,
    actions_of_ended,
    one_or_many,
)
from millebornes_env.agents.seen import (
    CHOSE_NOTHING,
    NO_ODDITY,
    ObservationDecoder,
    bounds_of_sections,
    decoder_of,
    reads_rows,
)
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import key_of_seed, named_for
from millebornes_env.engine.numba.compiling import address_of, call_at, for_kernels, kernel, rule_of_rules
from millebornes_env.engine.numba.machine_code import prepare
from millebornes_env.engine.rulebook import Rulebook, StateArray, TableRules, checked_module
from millebornes_env.errors import AgentError
from millebornes_env.games.registry import game as find_game

Number = TypeVar("Number", bound=np.generic)
Int16Array = npt.NDArray[np.int16]
Int8Array = npt.NDArray[np.int8]
Int64Array = npt.NDArray[np.int64]

Choose = Callable[[Any, Any, int, Int16Array, Int64Array, int], int]
"""`choose(state, rules, seat, memory, options, draw)`: the action of the seat that is to decide.

`memory` is int16[MEMORY], the seat's own: what lies before `FIRST_FREE` is kept by `decide`, what lies
before `FIRST_OF_MATCH` is all 0 at its first decision of a round, the rest at that of a match. `options` is
int64[MAX_OPTIONS], the agent's own settings. `draw` is a random number from 0 to 2**32 - 1, another one at
each decision.
"""

MEMORY: Final = 48
"""Number of values that an agent can remember for a seat, from one decision to the next."""
MAX_OPTIONS: Final = 12

_CLOCK, _DECISIONS = 0, 1
FIRST_FREE: Final = 2
"""Index at which the agent's own part of its memory begins."""
FIRST_OF_MATCH: Final = 40
"""Index from which on memory lasts for a match."""

NO_ACTION: Final = -1
"""The action of a finished round, in which no seat has a decision."""

FEW: Final = 64
"""Rows of an observation up to which a call costs more than the choices, so that copying the rows pays."""

_ADDRESSES: dict[tuple[Choose, ModuleType], int] = {}


# What every kernel does that plays agents ------------------------------------------------------------------
#
# These rules take the module `seen` first (`agents.seen.decoder_of`): a kernel that is made for a rulebook
# names it as a variable of the function that makes it (`engine.kernels.named_for`), and is compiled for that
# game.


@rule_of_rules
def decisions_taken(seen: ObservationDecoder, state: Any, memory: Int16Array) -> int:
    """Count the decisions that the seat has taken in this round so far.

    The game's clock never grows within a round: if it is larger than at the seat's last decision, a new round
    has started.
    """
    return 0 if seen.clock(state) + 1 > int(memory[_CLOCK]) else int(memory[_DECISIONS])


@rule_of_rules
def decide(
    seen: ObservationDecoder,
    choose: int,
    state: Any,
    rules: Any,
    seat: int,
    memory: Int16Array,
    options: Int64Array,
    draw: int,
) -> int:
    """Let an agent take a decision; every kernel that plays agents calls this function.

    Args:
        seen: the observation reader of the game (`decoder_of`).
        choose: address of the agent's function.
        state: the game.
        rules: the rules of the table.
        seat: the seat that decides.
        memory: int16[MEMORY], memory of that seat; the part that lasts for a round is cleared at the first
            decision of a round.
        options: int64[MAX_OPTIONS], options of the agent.
        draw: a random number for this decision.
    """
    taken = decisions_taken(seen, state, memory)
    if taken == 0:
        memory[:FIRST_OF_MATCH] = 0
    memory[_CLOCK] = seen.clock(state) + 1
    memory[_DECISIONS] = taken + 1
    return call_at(choose, (state, rules, seat, memory, options, draw))


# The kernels of a game -------------------------------------------------------------------------------------


class AgentKernels(NamedTuple):
    """The kernels that play compiled agents of one game; each is described below, where it is made."""

    rulebook: Any
    seen: Any  # what `decide` and `decisions_taken` take first
    choose_each: Callable[..., None]
    choose_from_rows: Callable[..., tuple[int, int, int]]

    def __reduce__(self) -> tuple[Callable[[str], AgentKernels], tuple[str]]:
        """Agents are copied and pickled, modules cannot be: a copy finds them by their name."""
        return _kernels_named, (self.rulebook.__name__,)


def agent_kernels_of(rulebook: Rulebook) -> AgentKernels:
    """The kernels that play compiled agents of a rulebook, made once; they are compiled when they are called.

    Raises:
        GameError: the module lacks something that the engine asks for.
    """
    return _agent_kernels_of(checked_module(rulebook), decoder_of(rulebook))


@functools.cache
def _agent_kernels_of(module: ModuleType, seen: ModuleType) -> AgentKernels:
    rulebook: Any = module
    return AgentKernels(rulebook, seen, _choose_each(rulebook, seen), _choose_from_rows(rulebook, seen))


def _kernels_named(name: str) -> AgentKernels:
    rulebook: Any = importlib.import_module(name)
    return agent_kernels_of(rulebook)


def _choose_each(rulebook: Rulebook, seen: Any) -> Callable[..., None]:
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
        """Let an agent choose for one seat of each game.

        Args:
            choose: of the agent, by address.
            states: STATE[N], the games.
            rules: the table's.
            seats: int32[N], who chooses.
            memories: int16[N, MEMORY], of the seat in each game.
            options: int64[MAX_OPTIONS], of the agent.
            draws: int64[N], a random number for each.
            actions: int64[N], overwritten.
        """
        for game in range(len(states)):
            seat, draw = int(seats[game]), int(draws[game])
            actions[game] = decide(seen, choose, states[game], rules, seat, memories[game], options, draw)

    return kernel(named_for(rulebook, choose_each, seen))


def _choose_from_rows(rulebook: Rulebook, seen: Any) -> Callable[..., tuple[int, int, int]]:
    def choose_from_rows(  # noqa: PLR0913, PLR0917 - as a tuple they would take Numba much longer to look at
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
        """Let an agent choose from what its seats see, if the table can show all that.

        Args:
            choose: of the agent, by address.
            starts: of the sections of the observations.
            bounds: int8[2, D], of their numbers.
            rules: RULES[1], the table's.
            options: int64[MAX_OPTIONS], of the agent.
            memories: int16[P, MEMORY], of the agent.
            scratch: STATE[1], where a game is read to.
            rows: int8[N, D], observations.
            slot_ids: int64[N], whose memory each row's seat has.
            actions: int64[N], overwritten; NO_ACTION where the round is over.
            count: number of rows to be read, N or less.
            key_0: of the agent's random numbers.
            key_1: of the agent's random numbers.
            call: number of this call; other numbers give other random numbers.

        Returns:
            How many rounds are over; the first row with an oddity or -1, and its oddity (`agents.seen`).
            If that is of the row, nothing was chosen and nothing remembered.
        """
        number, oddity = seen.first_odd_row(rows[:count], starts, bounds, rules)
        if oddity != NO_ODDITY:
            return 0, number, oddity
        state, table, ended = scratch[0], rules[0], 0
        key_of_call = random_word(key_0, key_1, call)
        for number in range(count):
            seen.read_observation(rows[number], starts, table, state)
            actions[number] = NO_ACTION
            if rulebook.is_round_over(state):
                ended += 1
                continue
            draw = random_word(key_of_call, key_1, number)
            memory = memories[slot_ids[number]]
            actions[number] = decide(seen, choose, state, table, 0, memory, options, draw)
            if actions[number] < 0:
                return ended, number, CHOSE_NOTHING
        return ended, -1, NO_ODDITY

    return kernel(named_for(rulebook, choose_from_rows, seen))


# The agents' common part ----------------------------------------------------------------------------------


def _examples(rulebook: Any, rules: Any) -> tuple[Any, Any, int, Int16Array, Int64Array, int]:
    """One of each argument of `Choose`."""
    state = for_kernels(np.zeros(1, rulebook.STATE))[0]
    memory, options = np.zeros(MEMORY, np.int16), np.zeros(MAX_OPTIONS, np.int64)
    return state, for_kernels(rulebook.rules_array(rules))[0], 0, memory, options, 0


def address_to(choose: Choose, rulebook: Any, rules: Any) -> int:
    """Compile the function, or find it on disk: its address, for `call_at`, which `_ADDRESSES` keeps.

    Numba determines the type of a function argument of a kernel again at every call, which takes fifty times
    as long as a step of one game; an address is an int. And kernels that take functions by address are
    compiled once for all agents.

    Args:
        choose: the agent's.
        rulebook: of its game.
        rules: of any table, for their type only.
    """
    address = address_of(kernel(choose), *_examples(rulebook, rules))
    _ADDRESSES[choose, rulebook] = address
    return address


def with_room(rows: npt.NDArray[Number], count: int) -> npt.NDArray[Number]:
    """The array if it has so many rows, else its rows and as many more, all 0, and some for later."""
    if count <= len(rows):
        return rows
    more = np.zeros((max(count, 2 * len(rows)), *rows.shape[1:]), rows.dtype)
    more[: len(rows)] = rows
    return more


def legal_by_masks(agent: CompiledAgent, action_masks: Masks | None) -> npt.NDArray[np.bool_]:
    """Return the actions that masks allow, bool[N, A], for an agent without any other source.

    Raises:
        AgentError: the masks are missing.
    """
    if action_masks is None:
        raise AgentError(
            f"{agent.name!r} needs action_masks in the game {agent.table.game!r}, whose observations nothing "
            "reads back"
        )
    legal: npt.NDArray[np.bool_] = np.asarray(action_masks) != 0
    return legal


class _FewRows:
    """`choose_from_rows`, prepared for calls with a few rows, which are copied to arrays of its own.

    Numba looks at each array in each call of a kernel, for longer than most agents think. Copies and pickles
    of an agent prepare it again.

    Attributes:
        memories: of the agent that it is prepared for; None: it is not.
    """

    def __init__(self) -> None:
        """Make one that is not prepared."""
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
        """Prepare it for calls of an agent with these arguments, and observations of that size."""
        self._rows = np.zeros((FEW, size), np.int8)
        self._slot_ids, self._actions = np.zeros(FEW, np.int64), np.zeros(FEW, np.int64)
        self._call = prepare(choose_from_rows, *arguments, self._rows, self._slot_ids, self._actions)
        self.memories = memories

    def choose(
        self, rows: Observations, slot_ids: Int64Array, numbers: tuple[int, ...]
    ) -> tuple[Actions, tuple[int, int, int]]:
        """Return the actions for the rows, and what the kernel returns."""
        count = len(rows)
        self._rows[:count] = rows
        self._slot_ids[:count] = slot_ids
        result = self._call(*numbers)
        return self._actions[:count].copy(), result


class CompiledAgent(BaseAgent):
    """An agent that is a compiled function.

    Attributes:
        name: what tables of results call it.
        options: int64[MAX_OPTIONS], its settings as the function gets them.
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
        """Compile the function or find it on disk.

        Args:
            table: the table to play at.
            seed: of the agent's random numbers, 0 to 2**64 - 1.
            options: the settings of the function, at most MAX_OPTIONS.
            counts_unseen: whether the function asks which cards are unseen (`state.hidden`); if not, the
                agent also plays where observations do not show them.

        Raises:
            AgentError: there are too many options, or one is not a whole number; or the table's observations
                lack what the agent needs.
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
        self._starts, self._bounds = None, bounds_of_sections(table)
        if self._reads_rows:
            self._starts = self._kernels.seen.starts_of(table, counts_unseen=counts_unseen)
            self._bounds = self._kernels.seen.bounds_of(table)
        self._memories = np.zeros((0, MEMORY), np.int16)
        self._scratch = for_kernels(np.zeros(1, rulebook.STATE))
        self._few = _FewRows()

    def function(self) -> Choose:
        """The function, which is compiled when it is called."""
        return type(self).rule

    @property
    def address(self) -> int:
        """The function, as kernels take it for `call_at`."""
        choose, rulebook = self.function(), self._kernels.rulebook
        address = _ADDRESSES.get((choose, rulebook))
        return address_to(choose, rulebook, self.table.rules) if address is None else address

    @one_or_many
    def act(self, observations: Observations, action_masks: Masks, slot_ids: Any = None) -> Actions:
        """Choose; see `Agent.act`.

        Args:
            observations: int8[N, D].
            action_masks: int8[N, A] or None; these agents know the rules and ask it only what is to be done
                where a round is over.
            slot_ids: int64[N], one number from 0 on for each game and seat, such as `game * players +
                seat`, so that each keeps a memory of its own; None: the number of the row. Rows that share a
                slot share its memory, in their order.

        Raises:
            AgentError: one of them has another shape or type; or a row that the table cannot show to a seat
                that is to decide.
            OptionError: the game has no `seen`, by which observations are read.
        """
        rows = checked_rows(self.name, observations, self._bounds.shape[1])
        if action_masks is not None:
            check_masks(self.name, action_masks, len(rows), self.table.num_actions)
        memory_of = checked_slot_ids(self.name, slot_ids, len(rows))
        if not self._reads_rows:
            key_0, key_1 = self._key
            chosen = self._act_on_unread(
                rows, action_masks, (random_word(key_0, key_1, self._calls + 1), key_1)
            )
            self._calls += 1
            return chosen
        slots = len(rows) if slot_ids is None else int(memory_of.max(initial=-1)) + 1
        self._memories = with_room(self._memories, slots)
        actions, (ended, row, oddity) = self._choose(rows, memory_of)
        if oddity != NO_ODDITY:
            raise row_error(self.name, self.table, rows, row, oddity)
        self._calls += 1
        if ended:
            actions_of_ended(action_masks, actions, actions == NO_ACTION)
        return actions

    def _choose(self, rows: Observations, slot_ids: Int64Array) -> tuple[Actions, tuple[int, int, int]]:
        """Return the actions and what `choose_from_rows` returns."""
        numbers = (len(rows), *self._key, self._calls + 1)
        few = self._few
        if len(rows) > FEW:
            actions: Actions = np.empty(len(rows), np.int64)
            return actions, self._kernels.choose_from_rows(
                *self._arguments(), rows, slot_ids, actions, *numbers
            )
        if few.memories is not self._memories:
            few.prepare(self._kernels.choose_from_rows, self._arguments(), self._memories, rows.shape[1])
        return few.choose(rows, slot_ids, numbers)

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

    def _act_on_unread(self, rows: Observations, action_masks: Masks | None, key: tuple[int, int]) -> Actions:
        """Choose where the game cannot read observations back.

        Args:
            rows: int8[N, D].
            action_masks: int8[N, A] or None.
            key: of the random numbers of this call.

        Raises:
            OptionError: which is all that most agents can do.
        """
        find_game(self.table.game).hook("agents.decoder", f"the agent {self.name!r}")
        raise AssertionError("the game reads observations")

    @alone
    def forget(self) -> None:
        """Clear the memory of all slots, before other matches begin.

        An agent detects a new round by itself; its memory for a match lasts until this call.
        """
        self._memories = self._memories[:0]
