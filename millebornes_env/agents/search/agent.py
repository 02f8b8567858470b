"""`search`: looks one action ahead, over a compiled agent that plays everything after it.

For every decision the rollout agent is asked what it would do: the base. For each other action the hidden
cards are redealt again and again, each deal that fits what the seat sees with the same probability, and the
round is played to its end by the rollout agent in all seats, once after the base and once after the action,
with the same cards. From redeal to redeal a gain differs by some 400 points, of two actions by some 50;
so the base is played unless a gain lies `z` standard errors above 0. (Over `holder`, with 200 redeals and z=2
it gained some 390 points a round; the best mean of 10 redeals, z=0, lost 220.)

A trained policy that has learned what positions are worth can judge a position instead of playing on: after
`depth` decisions, when the searching seat is to decide. Cut off like that, gains differ less and playouts are
shorter; but what the policy thinks is not what is so, and with a small `depth` search plays worse than the
policy alone.

`belief="policy"` weighs redeals by how probable the others' last plays would have been (`beliefs`),
`belief="network"` draws them as a network says (`network_belief`). For that search remembers its own last
decisions, and reads from what it saw there what the others have played since.

`sees` makes a cheat of it, to measure what hidden cards are worth: "hands" knows the other hands, "all" the
cards to come as well. A cheat plays only where it is handed the games themselves.
"""

from __future__ import annotations

import time
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
from millebornes_env.agents.compiled.agent import MEMORY, Int64Array, with_room
from millebornes_env.agents.millebornes.observation_reader import Starts, bounds_of, first_odd_row, starts_of
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
    actions_of_ended,
    is_compiled,
    one_or_many,
)
from millebornes_env.agents.search.all_beliefs import BELIEFS, belief_named, is_belief
from millebornes_env.agents.search.beliefs import UNIFORM, Belief, Known, UniformBelief, Weighed, believed
from millebornes_env.agents.search.hidden_cards import ALL, HANDS, NOTHING, nothing_believed
from millebornes_env.agents.search.history import Past
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
from millebornes_env.agents.seen import NO_ODDITY
from millebornes_env.engine.kernels import key_of_seed
from millebornes_env.engine.numba.compiling import for_kernels, plain
from millebornes_env.errors import AgentError, StateError, UnknownAgentError, shown
from millebornes_env.games.millebornes.audit import first_violation
from millebornes_env.games.millebornes.rules import compiled_rules, rules_array
from millebornes_env.games.millebornes.sections import sections
from millebornes_env.games.millebornes.state import ROUND_OVER, STATE, StateArray, new_states

SEES: Final = {"": NOTHING, "hands": HANDS, "all": ALL}
"""Hidden cards that a searcher may see, by the value of `sees`."""

VALUE_IN_POINTS: Final = "points"
"""The kind of a policy's value that can stand for the points of a round."""

_TWO: Final = 2
_MS_IN_A_SECOND: Final = 1000.0
_ALL_REDEALS: Final = 1 << 40


class SearchAgent(BaseAgent):
    """One action ahead of a compiled agent.

    Attributes:
        name: what tables of results call it.
        table: where it plays.
        rollout_agent: who plays after the action, and decides where nothing better is found.
        playouts: rounds played to their ends so far.
        sees_hidden_cards: whether it is a cheat.
        belief: what it makes of the hidden hands.
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
        window: Annotated[int, Between(1, 64)] = 6,
        epsilon: Annotated[float, Between(0.001, 1)] = 0.15,
        temperature: Annotated[float, Between(0.01, 100)] = 1.0,
    ) -> None:
        """Make a searcher.

        Args:
            table: the table to play at.
            seed: of the redeals, 0 to 2**64 - 1.
            rollout: a compiled agent; None: `strategist`. (`agents.load("search:rollout=...")` takes text.)
            rollouts: redeals for each action; actions that turn out clearly worse leave theirs to the others.
            ms: instead, if above 0: milliseconds for each decision (the play then depends on the machine).
            z: so many standard errors above 0 must a gain lie.
            sees: "", or to cheat: "hands" (the cards to come are shuffled, the hands are not) or "all"
                (nothing is redealt, each action is played out once, and any gain will do).
            threads: that share a batch of decisions; they change no choice.
            depth: after so many decisions more, at the own seat's next one, the rollout agent judges the
                position, if `can_judge`; 0: rounds are played to their ends.
            belief: "uniform": every deal that fits is as probable as any other; "policy": deals are as
                probable as they make the others' last plays (`window`, `epsilon`, `temperature` are of this
                one); "network", or the folder of one: as probable as a network says.
            candidates: hands that are weighed, or drawn, for each decision.
            window: own decisions back to which plays are weighed.
            epsilon: so often, a belief takes it, others play any legal action.
            temperature: by which a policy's logits are divided before others are judged by them.

        Raises:
            UnknownAgentError: a number that an option cannot have.
            UnknownAgentError: `sees`, `belief` or `rollout` is none, `depth` has nobody who can judge, or a
                cheat is to have a belief.
        """
        _check_belief(belief, sees)
        if sees not in SEES:
            raise UnknownAgentError(
                f"the option sees is {shown(sees)}; it may be left away (no cheat), or be "
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
        settings = {"window": window, "epsilon": epsilon, "temperature": temperature}
        self.belief: Belief = belief_named(belief, table, self.rollout_agent, **settings)
        self._candidates = candidates
        self._past = Past(table.rules)

    @one_or_many
    def act(self, observations: Observations, action_masks: Masks, slot_ids: Any = None) -> Actions:
        """Choose; see `Agent.act`.

        Args:
            observations: int8[N, D].
            action_masks: int8[N, A]; not needed.
            slot_ids: int64[N], as for `Agent`; None: the number of the row.

        Raises:
            AgentError: it is a cheat.
            AgentError: one of the arguments has another shape or type.
            AgentError: a row that the table cannot show to a seat that is to decide.
        """
        if self.sees_hidden_cards:
            raise AgentError(
                f"{self.name!r} sees hidden cards, it plays only where it is handed the games themselves: "
                "the arena (`act_on`); without `sees` it plays everywhere"
            )
        rows = checked_rows(self.name, observations, self._bounds.shape[1])
        if action_masks is not None:
            check_masks(self.name, action_masks, len(rows), self.table.num_actions)
        memory_of = checked_slot_ids(self.name, slot_ids, len(rows))
        row, oddity = first_odd_row(rows, self._starts, self._bounds, self._rules_in_array)
        if oddity != NO_ODDITY:
            raise row_error(self.name, self.table, rows, row, oddity)
        decisions = self._new_decisions(len(rows))
        searcher = self._searcher(self._starts)
        read_rows(searcher, self._rules, rows, decisions.roots)
        actions = self._decided(searcher, decisions, memory_of)
        actions_of_ended(action_masks, actions, decisions.roots["phase"] == ROUND_OVER)
        return actions

    @alone
    def act_on(self, states: StateArray, seats: npt.NDArray[np.int32], slot_ids: SlotIds) -> Actions:
        """Choose; see `StateAgent.act_on`. Unless it is a cheat it redeals before it looks.

        Args:
            states: STATE[N], left as they are.
            seats: int32[N], who decides.
            slot_ids: int64[N].

        Raises:
            StateError: records that are none, or of games of another table.
            AgentError: seats or slot_ids of the wrong shape or type, or it is another seat's turn.
        """
        searcher, decisions = self._looked_at(states, seats)
        memory_of = checked_slot_ids(self.name, slot_ids, len(decisions.roots))
        return self._decided(searcher, decisions, memory_of)

    @alone
    def known(self, states: StateArray, seats: npt.NDArray[np.int32], slot_ids: SlotIds) -> list[Known]:
        """Return the knowledge of the acting seats for `Belief.weigh`, without searching.

        Args:
            states: STATE[N], not modified.
            seats: int32[N], the acting seats.
            slot_ids: int64[N].

        Raises:
            StateError: as `act_on`.
            AgentError: as `act_on`.
        """
        _, decisions = self._looked_at(states, seats)
        memory_of = checked_slot_ids(self.name, slot_ids, len(decisions.roots))
        return self._known(decisions, memory_of)

    def _known(self, decisions: Decisions, memory_of: Int64Array) -> list[Known]:
        """Return the knowledge of the acting seats."""
        found = []
        for number, slot in enumerate(memory_of.tolist()):
            windows = self._past.look(slot, decisions.roots[number : number + 1], self.belief.window)
            found.append(Known(self._rules, decisions.roots[number], windows, slot))
        return found

    @alone
    def note(
        self, states: StateArray, seats: npt.NDArray[np.int32], slot_ids: SlotIds, actions: Actions
    ) -> None:
        """Remember decisions of the seats that somebody else has taken.

        Args:
            states: STATE[N], the games before them.
            seats: int32[N], who decided.
            slot_ids: int64[N].
            actions: int64[N], what they did.

        Raises:
            StateError: as `act_on`.
            AgentError: as `act_on`.
        """
        _, decisions = self._looked_at(states, seats)
        memory_of = checked_slot_ids(self.name, slot_ids, len(decisions.roots))
        self._note(decisions, self._known(decisions, memory_of), actions)

    def _note(self, decisions: Decisions, known: list[Known], actions: Actions) -> None:
        """Remember decisions, for the belief."""
        for number, one in enumerate(known):
            root = decisions.roots[number : number + 1]
            self._past.note(one.slot, root, int(actions[number]), one.windows)

    def _looked_at(self, states: StateArray, seats: npt.NDArray[np.int32]) -> tuple[Searcher, Decisions]:
        """The games as their seats see them."""
        games = self._checked_games(states)
        seats = checked_seats(self.name, seats, len(games), self.table.rules.players)
        wrong = np.flatnonzero((games["seat"] != seats) & (games["phase"] != ROUND_OVER))
        if len(wrong):
            game = int(wrong[0])
            raise AgentError(
                f"game {game}: seat {int(seats[game])} is to choose, but it is the turn of seat "
                f"{int(games['seat'][game])}"
            )
        decisions = self._new_decisions(len(games))
        searcher = self._searcher(self._default_starts)
        row = np.zeros(self._default_size, np.int8)
        read_states(searcher, self._rules, games, seats, row, decisions.roots)
        return searcher, decisions

    def _checked_games(self, states: Any) -> StateArray:
        """The games as kernels take them.

        Raises:
            StateError: they are no records of games, or not of this table.
        """
        if not isinstance(states, np.ndarray) or states.dtype != STATE or states.ndim != 1:
            kind = states.dtype if isinstance(states, np.ndarray) else None
            what = f"of shape {states.shape}" if kind == STATE else "of another kind or version"
            raise StateError(
                f"{self.name!r} plays records as get_states returns them, STATE[N]; got such {what}"
            )
        problem = first_violation(states, self.table.rules)
        if problem is not None:
            raise StateError(
                f"game {problem[0]} of the states that {self.name!r} was asked about is no game of its table "
                f"({self.table.edition}, {self.table.rules.players} players): {problem[1]}"
            )
        return for_kernels(np.ascontiguousarray(states))

    @alone
    def forget(self) -> None:
        """Forget all slots; see `CompiledAgent.forget`."""
        self._memories, self._taken = self._memories[:0], self._taken[:0]
        self._past.forget()
        self.belief.forget()

    @alone
    def last_gains(self, number: int = 0) -> list[tuple[int, float, float]]:
        """Return the result of the last search for a decision; fewer than 40 rollouts drop no action.

        Args:
            number: index of the decision.

        Returns:
            The id, the mean gain over the rollout agent's action and the standard error of each action that
            was tried to the end. The rollout agent's action comes first, with a gain of 0.
        """
        decisions = self._last
        if decisions is None or not 0 <= number < len(decisions.base) or decisions.base[number] < 0:
            return []
        redeals = float(max(1, decisions.redeals[number]))
        found = [(int(decisions.base[number]), 0.0, 0.0)]
        for other in range(int(decisions.num_tried[number])):
            mean = float(decisions.gains[number, other]) / redeals
            action = int(decisions.tried[number, other])
            found.append((action, mean, plain(error_of)(decisions, number, other)))
        return found

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
        self._memories = with_room(self._memories, slots_used)
        self._taken = with_room(self._taken, slots_used)
        begin_decisions(searcher, self._rules, memory_of, self._memories, self._taken, decisions)
        believes = not isinstance(self.belief, UniformBelief)
        known = self._known(decisions, memory_of) if believes else []
        weighed = self._search(searcher, decisions, np.flatnonzero(decisions.num_tried), known)
        actions: Actions = np.empty(len(memory_of), np.int64)
        conclude(searcher, decisions, actions)
        self._last = decisions
        self.playouts += int(decisions.playouts.sum())
        self._note(decisions, known, actions)
        for number, found in weighed:
            self.belief.learn(int(memory_of[number]), found)
        return actions

    def _search(
        self, searcher: Searcher, decisions: Decisions, numbers: Int64Array, known: list[Known]
    ) -> list[tuple[int, Weighed]]:
        """Search where there is something to decide, on all threads; what was believed there.

        Args:
            searcher: who searches.
            decisions: that are being taken.
            numbers: of those that are to be searched.
            known: what the seats know, of all decisions; empty: redeals are uniform.
        """

        def search(number: int) -> tuple[int, Weighed] | None:
            end = time.perf_counter() + self._seconds
            hands, weighed = nothing_believed(), None
            if known:
                key = int(decisions.keys[number, 0]), int(decisions.keys[number, 1])
                hands, weighed = believed(self.belief, known[number], self._candidates, key)
            if self._seconds == 0:
                search_on(searcher, self._rules, decisions, number, _ALL_REDEALS, hands)
            while self._seconds > 0 and time.perf_counter() < end:
                if search_on(searcher, self._rules, decisions, number, CHUNK, hands):
                    break
            return None if weighed is None else (number, weighed)

        if min(self._threads, len(numbers)) <= 1:
            found = [search(int(number)) for number in numbers]
        else:
            with ThreadPoolExecutor(self._threads) as pool:
                found = list(pool.map(search, numbers.tolist()))
        return [one for one in found if one is not None]


def _check_belief(belief: str, sees: str) -> None:
    if not is_belief(belief):
        raise UnknownAgentError(
            f"the option belief is {shown(belief)}; it may be {', '.join(map(repr, BELIEFS))}, or the folder "
            "of a network that `python -m train.tools.belief` has written"
        )
    if belief != UNIFORM and sees:
        raise UnknownAgentError(
            f"the option sees is {shown(sees)}, so the hands are known: leave belief={belief} away"
        )


def _checked_rollout(rollout: CompiledFunction) -> CompiledFunction:
    given: object = rollout
    if isinstance(given, str) or not is_compiled(rollout):
        raise UnknownAgentError(
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
        raise UnknownAgentError(
            f"the option depth needs a rollout agent that can judge a position: a policy with the value "
            f"{VALUE_IN_POINTS!r}, at a table of two teams or where points are counted; {agent.name!r} "
            "cannot at this one: leave depth away"
        )


def _starts_by_default(table: Table) -> tuple[Starts, int]:
    """Of the observations that games are handed over by, and the size of those."""
    shown_here = sections(table.rules)
    here = Table(table.edition, table.rules, shown_here, 0, table.num_actions)
    return starts_of(here), shown_here[-1].stop
