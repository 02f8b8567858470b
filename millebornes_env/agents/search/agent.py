"""`search`: looks one action ahead, over a compiled agent that plays everything after it.

For each decision the rollout agent proposes an action, the base. For every other action the hidden cards are
redealt many times, each deal that fits what the seat sees being equally probable. The rollout agent plays the
round to its end in all seats, once after the base and once after the other action, with the same cards. Gains
vary by some 400 points between redeals, and actions differ by some 50. So the base is played unless a gain
lies `z` standard errors above 0. (Over `holder`, 200 redeals with z=2 gained some 390 points a round; the
best mean of 10 redeals, z=0, lost 220.)

A trained policy with a value can evaluate a position instead of playing on: after `depth` decisions, when the
searching seat is to decide. Gains then differ less and playouts are shorter, but the value is an estimate:
with a small `depth` search plays worse than the policy alone.

`belief="network"` draws the other hand from a network (`beliefs`). For that search remembers its own last
decisions, and infers from its observations what the others have played since.

`sees` makes it a cheat, to measure the value of hidden cards: "hands" knows the other hands, "all" the draw
pile as well. A cheat needs the states themselves.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import checked_seed
from millebornes_env._util.guard import alone
from millebornes_env.agents.checks import (
    check_masks,
    checked_rows,
    checked_seats,
    checked_slot_ids,
    row_error,
)
from millebornes_env.agents.compiled.agent import MEMORY, Int64Array, clear_rows, with_rows
from millebornes_env.agents.decoder import NO_FAULT
from millebornes_env.agents.millebornes.observation_reader import (
    Starts,
    bounds_of,
    first_invalid_row,
    starts_of,
)
from millebornes_env.agents.millebornes.strategist.agent import StrategistAgent
from millebornes_env.agents.options import Between
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.protocol import (
    Actions,
    BaseAgent,
    CompiledFunction,
    Masks,
    Observations,
    SlotIds,
    Table,
    fill_no_ops,
    is_compiled,
    one_or_many,
)
from millebornes_env.agents.search.beliefs import (
    UNIFORM,
    Belief,
    KnownCards,
    NetworkBelief,
    belief_named,
    checked_hands,
)
from millebornes_env.agents.search.hidden_cards import ALL, HANDS, NOTHING, no_hands
from millebornes_env.agents.search.history import ObservationHistory, PlayWindow
from millebornes_env.agents.search.kernels import (
    CHUNK,
    Decisions,
    Searcher,
    begin_decisions,
    conclude,
    error_of,
    new_decisions,
    read_rows,
    read_states,
    search_on,
)
from millebornes_env.engine.kernels import key_of_seed
from millebornes_env.engine.numba.compiling import for_kernels, plain
from millebornes_env.errors import AgentError, StateError, shown
from millebornes_env.games.millebornes.audit import first_violation
from millebornes_env.games.millebornes.rules import compiled_rules, rules_array
from millebornes_env.games.millebornes.sections import sections
from millebornes_env.games.millebornes.state import ROUND_OVER, STATE, StateArray, new_states

SEES: Final = {"": NOTHING, "hands": HANDS, "all": ALL}
"""Hidden cards that a searcher may see, by the value of `sees`."""

VALUE_IN_POINTS: Final = "points"
"""Kind of a policy's value that estimates the points of a round."""

_TWO: Final = 2
_MS_IN_A_SECOND: Final = 1000.0
_ALL_REDEALS: Final = 1 << 40


class SearchAgent(BaseAgent):
    """Search one action ahead over a compiled agent.

    Attributes:
        name: name in tables of results.
        table: the table that it plays at.
        rollout_agent: the agent that proposes actions, and plays all seats in playouts.
        playouts: number of rounds played out so far.
        sees_hidden_cards: True for a cheat.
        belief: draws the others' hands; None for uniform redeals.
    """

    name = "search"
    game = "millebornes"
    has_memory = True

    def __init__(  # noqa: PLR0913, PLR0917 - options, all by keyword
        self,
        table: Table,
        seed: int = 0,
        rollout: CompiledFunction | None = None,
        rollouts: Annotated[int, Between(2, 1_000_000)] = 400,
        ms: Annotated[float, Between(0, 86_400_000)] = 0.0,
        z: Annotated[float, Between(0, 1_000_000_000)] = 2.0,
        sees: str = "",
        threads: Annotated[int, Between(1, 1_024)] = 2,
        depth: Annotated[int, Between(0, 4_096)] = 0,
        belief: str = UNIFORM,
        candidates: Annotated[int, Between(2, 100_000)] = 256,
    ) -> None:
        """Make a searcher.

        Args:
            table: the table to play at.
            seed: seed of the redeals, 0 to 2**64 - 1.
            rollout: a compiled agent; None for `strategist` (`agents.load("search:rollout=X")` takes names).
            rollouts: redeals per action; clearly worse actions pass theirs on to the others.
            ms: instead, if above 0: milliseconds per decision (results then depend on the machine).
            z: number of standard errors by which a gain must exceed 0.
            sees: "", or to cheat: "hands" (only the draw pile is shuffled) or "all" (nothing is redealt, each
                action is played out once, and any gain is enough).
            threads: number of threads; results do not depend on it.
            depth: number of decisions after which the rollout agent evaluates the position, at the own seat's
                next decision, if `can_judge`; 0 plays rounds to their ends.
            belief: "uniform": all deals that fit are equally probable; "network", or the folder of one: hands
                are drawn from a network.
            candidates: number of hands that a belief draws for each decision.

        Raises:
            AgentError: a number is out of range; or `sees`, `belief` or `rollout` is invalid, `depth`
                needs another rollout agent, a cheat is given a belief, or the games draw their sheets.
        """
        if table.varies:
            raise AgentError(
                f"{self.name!r} plays rounds out by one sheet, but these games draw theirs from "
                f"{shown(table.edition)}: make the environment of one sheet, or take an agent without search"
            )
        if belief != UNIFORM and sees:
            raise AgentError(
                f"the option sees is {shown(sees)}, so the hands are known: omit belief={belief}"
            )
        if sees not in SEES:
            raise AgentError(
                f"the option sees is {shown(sees)}; omit it (no cheat), or set it to "
                + " or ".join(repr(name) for name in SEES if name)
            )
        self.rollout_agent = StrategistAgent(table, seed) if rollout is None else _checked_rollout(rollout)
        if depth > 0:
            _check_judge(self.rollout_agent, table)
        self.playouts = 0
        self.table = table
        self._threads = threads
        self._seconds = ms / _MS_IN_A_SECOND
        self._rules = compiled_rules(table.rules)
        self._rules_in_array = for_kernels(rules_array(table.rules))
        self._starts = starts_of(table)
        self._bounds = bounds_of(table)
        self._default_starts, self._default_size = _starts_by_default(table)
        self._sees = SEES[sees]
        self.sees_hidden_cards = self._sees != NOTHING
        self._rollouts = 0 if ms > 0 else rollouts
        self._z = z
        self._depth = depth
        self._key = key_of_seed(checked_seed(seed))
        self._memories = np.zeros((0, MEMORY), np.int16)
        self._taken = np.zeros(0, np.int64)
        self._last: Decisions | None = None
        self.belief: Belief | None = belief_named(belief, table)
        self._candidates = candidates
        self._past = ObservationHistory(table.rules)

    @one_or_many
    def act(self, observations: Observations, action_masks: Masks, slot_ids: Any = None) -> Actions:
        """Choose actions; see `CompiledAgent.act`.

        Raises:
            AgentError: the agent is a cheat; an argument has the wrong shape or type; or a row is not a valid
                observation of an acting seat at this table.
        """
        if self.sees_hidden_cards:
            raise AgentError(
                f"{self.name!r} sees hidden cards, so it needs the states themselves, as in the arena "
                "(`act_on`); without `sees` it plays everywhere"
            )
        rows = checked_rows(self.name, observations, self._bounds.shape[1])
        if action_masks is not None:
            check_masks(self.name, action_masks, len(rows), self.table.num_actions)
        memory_of = checked_slot_ids(self.name, slot_ids, len(rows))
        row, fault = first_invalid_row(rows, self._starts, self._bounds, self._rules_in_array)
        if fault != NO_FAULT:
            raise row_error(self.name, self.table, rows, row, fault)
        decisions = self._new_decisions(len(rows))
        searcher = self._searcher(self._starts)
        read_rows(searcher, self._rules, rows, decisions.roots)
        actions = self._decided(searcher, decisions, memory_of)
        fill_no_ops(action_masks, actions, decisions.roots["phase"] == ROUND_OVER)
        return actions

    @alone
    def act_on(self, states: StateArray, seats: npt.NDArray[np.int32], slot_ids: SlotIds) -> Actions:
        """Choose actions; see `StateAgent.act_on`. Unless it is a cheat it ignores all hidden cards.

        Raises:
            StateError: the records are invalid, or of another table.
            AgentError: seats or slot_ids have the wrong shape or type, or it is another seat's turn.
        """
        return self._decided(*self._looked_at(states, seats, slot_ids))

    @alone
    def known(self, states: StateArray, seats: npt.NDArray[np.int32], slot_ids: SlotIds) -> list[KnownCards]:
        """Return the knowledge of the acting seats for `Belief.sample`, without searching.

        Arguments and errors are those of `act_on`.
        """
        return self._known(*self._looked_at(states, seats, slot_ids)[1:])

    def _known(self, decisions: Decisions, memory_of: Int64Array) -> list[KnownCards]:
        """Return the knowledge of the acting seats."""
        known = []
        for number, slot in enumerate(memory_of.tolist()):
            windows: tuple[PlayWindow, ...] = ()
            if self.belief is not None:
                windows = self._past.look(slot, decisions.roots[number : number + 1], self.belief.window)
            known.append(KnownCards(self._rules, decisions.roots[number], windows, slot))
        return known

    @alone
    def note(
        self, states: StateArray, seats: npt.NDArray[np.int32], slot_ids: SlotIds, actions: Actions
    ) -> None:
        """Remember decisions of the seats that another agent took, int64[N].

        The other arguments and the errors are those of `act_on`; states are those before the decisions.
        """
        _, decisions, memory_of = self._looked_at(states, seats, slot_ids)
        self._note(decisions, self._known(decisions, memory_of), actions)

    def _note(self, decisions: Decisions, known: list[KnownCards], actions: Actions) -> None:
        """Remember decisions, for the belief."""
        for number, one in enumerate(known):
            root = decisions.roots[number : number + 1]
            self._past.note(one.slot, root, int(actions[number]), one.windows)

    def _looked_at(
        self, states: StateArray, seats: npt.NDArray[np.int32], slot_ids: SlotIds
    ) -> tuple[Searcher, Decisions, SlotIds]:
        """Convert states to what their acting seats know, and check the arguments of `act_on`."""
        games = self._checked_games(states)
        seats = checked_seats(self.name, seats, len(games), self.table.rules.players)
        wrong = np.flatnonzero((games["seat"] != seats) & (games["phase"] != ROUND_OVER))
        if len(wrong):
            game = int(wrong[0])
            raise AgentError(
                f"game {game}: seat {int(seats[game])} was asked to choose, but it is the turn of seat "
                f"{int(games['seat'][game])}"
            )
        decisions = self._new_decisions(len(games))
        searcher = self._searcher(self._default_starts)
        row = np.zeros(self._default_size, np.int8)
        read_states(searcher, self._rules, games, seats, row, decisions.roots)
        return searcher, decisions, checked_slot_ids(self.name, slot_ids, len(games))

    def _checked_games(self, states: Any) -> StateArray:
        """Convert states for kernels; raise a StateError if they are not valid ones of this table."""
        if not isinstance(states, np.ndarray) or states.dtype != STATE or states.ndim != 1:
            kind = states.dtype if isinstance(states, np.ndarray) else None
            what = f"of shape {states.shape}" if kind == STATE else "of another kind or version"
            raise StateError(
                f"{self.name!r} needs states as returned by get_states, STATE[N]; got an array {what}"
            )
        problem = first_violation(states, self.table.rules)
        if problem is not None:
            raise StateError(
                f"states[{problem[0]}] is not a valid state for the table of {self.name!r} "
                f"({self.table.edition}, {self.table.rules.players} players): {problem[1]}"
            )
        return for_kernels(np.ascontiguousarray(states))

    def loaded_arrays(self) -> Iterable[npt.NDArray[Any]]:
        """Return the weights of its belief; those of the rollout agent are its own."""
        return self.belief.network if isinstance(self.belief, NetworkBelief) else ()

    @alone
    def forget(self) -> None:
        """Forget all slots; see `CompiledAgent.forget`."""
        self._memories, self._taken = self._memories[:0], self._taken[:0]
        self._past.forget()
        if self.belief is not None:
            self.belief.forget()

    @alone
    def forget_slots(self, slot_ids: SlotIds) -> None:
        """Forget some slots."""
        clear_rows(self._memories, slot_ids)
        self._past.forget_slots(slot_ids.tolist())

    @alone
    def last_gains(self, number: int = 0) -> list[tuple[int, float, float]]:
        """Return the result of the last search for decision `number`.

        Returns:
            The id, the mean gain over the rollout agent's action and the standard error of each action that
            was tried to the end (fewer than 40 rollouts drop none). The rollout agent's comes first, with 0.
        """
        decisions = self._last
        if decisions is None or not 0 <= number < len(decisions.base) or decisions.base[number] < 0:
            return []
        redeals = float(max(1, decisions.redeals[number]))
        gains = [(int(decisions.base[number]), 0.0, 0.0)]
        for other in range(int(decisions.num_tried[number])):
            mean = float(decisions.gains[number, other]) / redeals
            action = int(decisions.tried[number, other])
            gains.append((action, mean, plain(error_of)(decisions, number, other)))
        return gains

    def _new_decisions(self, count: int) -> Decisions:
        states = for_kernels(new_states(3 * count))
        return new_decisions(count, self.table.rules.players, self.table.num_actions, states)

    def _searcher(self, starts: Starts) -> Searcher:
        agent = self.rollout_agent
        settings = (self._sees, self._rollouts, self._depth, self._z)
        return Searcher(agent.address, agent.options, starts, *settings, *self._key)

    def _decided(self, searcher: Searcher, decisions: Decisions, memory_of: Int64Array) -> Actions:
        """Run the search for states already loaded into `decisions.roots`."""
        slots_used = int(memory_of.max(initial=-1)) + 1
        self._memories = with_rows(self._memories, slots_used)
        self._taken = with_rows(self._taken, slots_used)
        begin_decisions(searcher, self._rules, memory_of, self._memories, self._taken, decisions)
        known = [] if self.belief is None else self._known(decisions, memory_of)

        def search(number: int) -> None:
            self._search(searcher, decisions, number, known[number] if known else None)

        numbers = np.flatnonzero(decisions.num_tried).tolist()
        if min(self._threads, len(numbers)) <= 1:
            for number in numbers:
                search(number)
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                list(pool.map(search, numbers))
        actions: Actions = np.empty(len(memory_of), np.int64)
        conclude(searcher, decisions, actions)
        self._last = decisions
        self.playouts += int(decisions.playouts.sum())
        self._note(decisions, known, actions)
        return actions

    def _search(
        self, searcher: Searcher, decisions: Decisions, number: int, known: KnownCards | None
    ) -> None:
        """Search one decision, on the thread that calls; `known` is None without a belief."""
        end = time.perf_counter() + self._seconds
        hands = no_hands()
        if self.belief is not None and known is not None:
            key = int(decisions.keys[number, 0]), int(decisions.keys[number, 1])
            hands = checked_hands(self.belief, self.belief.sample(known, self._candidates, key), known)
        if self._seconds == 0:
            search_on(searcher, self._rules, decisions, number, _ALL_REDEALS, hands)
        while self._seconds > 0 and time.perf_counter() < end:
            if search_on(searcher, self._rules, decisions, number, CHUNK, hands):
                break


def _checked_rollout(rollout: CompiledFunction) -> CompiledFunction:
    given: object = rollout
    if isinstance(given, str) or not is_compiled(rollout):
        raise AgentError(
            f"the rollout agent is {shown(given)}; it must be a compiled agent, such as "
            "agents.make('holder', table) (or let agents.load make both: 'search:rollout=holder')"
        )
    return rollout


def can_judge(agent: CompiledFunction, table: Table) -> bool:
    """Return True if the agent estimates the value of a round to the acting seat, in the unit of search.

    Rewards in points are the own points less the mean of the others', as in search. Without points the
    reward of a lost round depends on the number of losers, so the units agree only for two players.
    """
    knows_points = isinstance(agent, PolicyAgent) and agent.value == VALUE_IN_POINTS
    return knows_points and (table.rules.teams == _TWO or table.rules.count_points == 1)


def _check_judge(agent: CompiledFunction, table: Table) -> None:
    if not can_judge(agent, table):
        raise AgentError(
            f"the option depth needs a rollout agent that can evaluate positions: a policy with the value "
            f"{VALUE_IN_POINTS!r}, at a table of two teams or where points are counted; {agent.name!r} "
            "cannot at this table: omit depth"
        )


def _starts_by_default(table: Table) -> tuple[Starts, int]:
    """Return the section starts and the size of default observations."""
    default = sections(table.rules)
    return starts_of(Table(table.edition, table.rules, default, 0, table.num_actions)), default[-1].stop
