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

`sees` makes a cheat of it, to measure what hidden cards are worth: "hands" knows the other hands, "all" the
cards to come as well. A cheat plays only where it is handed the games themselves.
"""

from __future__ import annotations

import inspect
import math
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.compiled import MEMORY, CompiledAgent, Int64Array, with_room
from agents.policy import PolicyAgent
from agents.protocol import Actions, Masks, Observations, Places, Table
from agents.reading import Layout, layout_of
from agents.search_kernels import (
    ALL,
    CHUNK,
    HANDS,
    NOTHING,
    Decisions,
    Searcher,
    begin_decisions,
    conclude,
    new_decisions,
    read_rows,
    read_states,
    search_on,
)
from millebornes_env.compile import for_kernels
from millebornes_env.engine.kernels import key_of_seed
from millebornes_env.millebornes.observation import sections
from millebornes_env.millebornes.rules import compiled_rules
from millebornes_env.millebornes.state import ROUND_OVER, StateArray, new_states

SEES: Final = {"": NOTHING, "hands": HANDS, "all": ALL}
"""What a searcher may see of the hidden cards, by the value of `sees`."""

OVER_A_JUDGE: Final[dict[str, Any]] = {"rollouts": 140, "z": 1.0, "depth": 24}
"""Options of `X+search` over a policy that can judge positions, whose decisions take their time."""

OPTION_SEPARATORS: Final = ";+"
"""Between options of the rollout agent, as a comma is taken: `search:rollout=arnold:debian+openbsd,z=3`."""

VALUE_IN_POINTS: Final = "points"
"""The kind of a policy's value that can stand for the points of a round."""

_TWO: Final = 2
_MS_IN_A_SECOND: Final = 1000.0
_ALL_REDEALS: Final = 1 << 40


class SearchOptionError(ValueError):
    """An option of `search` that it cannot have; the message says what it may be."""


class HiddenCardsError(ValueError):
    """An agent that sees hidden cards was to play from an observation."""


class SearchAgent:
    """One action ahead of a compiled agent.

    Attributes:
        name: what tables of results call it.
        rollout_agent: who plays after the action, and decides where nothing better is found.
        playouts: rounds played to their ends so far.
    """

    name = "search"

    def __init__(  # noqa: PLR0913, PLR0917 - options, all by keyword
        self,
        table: Table,
        seed: int = 0,
        rollout: str | CompiledAgent = "strategist",
        rollouts: int = 400,
        ms: float = 0.0,
        z: float = 2.0,
        sees: str = "",
        threads: int = 2,
        depth: int = 0,
    ) -> None:
        """Make a searcher.

        Args:
            table: the table to play at.
            seed: of the redeals, 0 to 2**64 - 1.
            rollout: a compiled agent, or its name as for `agents.load`; its options are separated by ";" or
                "+".
            rollouts: redeals for each action; actions that turn out clearly worse leave theirs to the others.
            ms: instead, if above 0: milliseconds for each decision (the play then depends on the machine).
            z: so many standard errors above 0 must a gain lie.
            sees: "", or to cheat: "hands" (the cards to come are shuffled, the hands are not) or "all"
                (nothing is redealt, each action is played out once, and any gain will do).
            threads: that share a batch of decisions; they change no choice.
            depth: after so many decisions more, at the own seat's next one, the rollout agent judges the
                position: a policy that has learned the value "points"; 0: rounds are played to their ends.

        Raises:
            SearchOptionError: an option that cannot be.
            UnknownAgentError: no such rollout agent.
        """
        _check(rollouts, ms, z, sees, threads, depth)
        if isinstance(rollout, str):
            self.rollout_agent = _compiled_agent(_without_separators(rollout), table, seed)
            self.rollout_agent.name = rollout
        else:
            self.rollout_agent = rollout
        if depth > 0:
            _check_judge(self.rollout_agent, table)
        self.playouts = 0
        self._table = table
        self._threads = threads
        self._seconds = ms / _MS_IN_A_SECOND
        self._rules = compiled_rules(table.rules)
        self._layout = layout_of(table)
        self._usual_layout, self._usual_size = _usual_layout(table)
        self._sees = SEES[sees]
        self._rollouts = 0 if ms > 0 else rollouts
        self._z = z
        self._depth = depth
        self._key = key_of_seed(seed)
        self._memories = np.zeros((0, MEMORY), np.int16)
        self._taken = np.zeros(0, np.int64)

    @property
    def is_honest(self) -> bool:
        """Whether it sees no more than its seat does."""
        return self._sees == NOTHING

    def act(self, observations: Observations, action_masks: Masks, places: Any = None) -> Actions:
        """Choose; see `Agent.act`.

        Args:
            observations: int8[N, D].
            action_masks: int8[N, A]; not needed.
            places: int64[N], as for `Agent`; None: the number of the row.

        Raises:
            HiddenCardsError: it is a cheat.
        """
        if not self.is_honest:
            raise HiddenCardsError(
                f"{self.name!r} sees hidden cards, it plays only where it is handed the games themselves: "
                "the arena (`act_on`); without `sees` it plays everywhere"
            )
        rows = np.ascontiguousarray(observations)
        decisions = self._new_decisions(len(rows))
        searcher = self._searcher(self._layout)
        read_rows(searcher, self._rules, rows, decisions.roots)
        return self._decided(searcher, decisions, np.arange(len(rows)) if places is None else places)

    def act_on(self, states: StateArray, seats: npt.NDArray[np.int32], places: Places) -> Actions:
        """Choose; see `StateAgent.act_on`. Unless it is a cheat it redeals before it looks.

        Args:
            states: STATE[N], left as they are.
            seats: int32[N], who decides.
            places: int64[N].

        Raises:
            ValueError: it is another seat's turn.
        """
        games = for_kernels(np.ascontiguousarray(states))
        wrong = np.flatnonzero((games["seat"] != seats) & (games["phase"] != ROUND_OVER))
        if len(wrong):
            game = int(wrong[0])
            raise ValueError(
                f"game {game}: seat {int(seats[game])} is to choose, but it is the turn of seat "
                f"{int(games['seat'][game])}"
            )
        decisions = self._new_decisions(len(games))
        searcher = self._searcher(self._usual_layout)
        row = np.zeros(self._usual_size, np.int8)
        read_states(searcher, self._rules, games, np.asarray(seats, np.int32), row, decisions.roots)
        return self._decided(searcher, decisions, places)

    def forget(self) -> None:
        """Forget all places; see `CompiledAgent.forget`."""
        self._memories, self._taken = self._memories[:0], self._taken[:0]

    def _new_decisions(self, count: int) -> Decisions:
        states = for_kernels(new_states(3 * count))
        return new_decisions(count, self._table.rules.players, self._table.num_actions, states)

    def _searcher(self, layout: Layout) -> Searcher:
        agent = self.rollout_agent
        settings = (self._sees, self._rollouts, self._depth, self._z)
        return Searcher((agent.pointer,), agent.options, layout, *settings, *self._key)

    def _decided(self, searcher: Searcher, decisions: Decisions, places: Any) -> Actions:
        """Take decisions whose roots have been read."""
        memory_of = np.asarray(places, np.int64)
        places_used = int(memory_of.max(initial=-1)) + 1
        self._memories = with_room(self._memories, places_used)
        self._taken = with_room(self._taken, places_used)
        begin_decisions(searcher, self._rules, memory_of, self._memories, self._taken, decisions)
        self._search(searcher, decisions, np.flatnonzero(decisions.num_tried))
        actions: Actions = np.empty(len(memory_of), np.int64)
        conclude(searcher, decisions, actions)
        self.playouts += int(decisions.playouts.sum())
        return actions

    def _search(self, searcher: Searcher, decisions: Decisions, numbers: Int64Array) -> None:
        """Search where there is something to decide, on all threads."""

        def search(number: int) -> None:
            if self._seconds == 0:
                search_on(searcher, self._rules, decisions, number, _ALL_REDEALS)
                return
            end = time.perf_counter() + self._seconds
            while time.perf_counter() < end:
                if search_on(searcher, self._rules, decisions, number, CHUNK):
                    return

        if min(self._threads, len(numbers)) <= 1:
            for number in numbers:
                search(int(number))
            return
        with ThreadPoolExecutor(self._threads) as pool:
            list(pool.map(search, numbers.tolist()))


def search_over(rollout: str, table: Table, seed: int = 0, **options: Any) -> SearchAgent:
    """Search with what suits the rollout agent: `X+search`.

    Args:
        rollout: the rollout agent, as for `SearchAgent`.
        table: the table to play at.
        seed: of the redeals.
        **options: of `SearchAgent`, instead of what suits.

    Raises:
        SearchOptionError: an option that cannot be.
        UnknownAgentError: no such rollout agent.
    """
    agent = _compiled_agent(rollout, table, seed)
    usual = OVER_A_JUDGE if can_judge(agent, table) else {}
    return SearchAgent(table, seed, agent, **(usual | options))


def _check(rollouts: int, ms: float, z: float, sees: str, threads: int, depth: int) -> None:
    if sees not in SEES:
        raise SearchOptionError(
            f"the option sees is {sees!r}; it may be left away (an honest player), or be "
            + " or ".join(repr(name) for name in SEES if name)
        )
    for name, value, least in (
        ("rollouts", rollouts, 2),
        ("ms", ms, 0),
        ("z", z, 0),
        ("threads", threads, 1),
        ("depth", depth, 0),
    ):
        if not (math.isfinite(value) and value >= least):
            raise SearchOptionError(f"the option {name} is {value}; it must be {least} or more")


def can_judge(agent: CompiledAgent, table: Table) -> bool:
    """Whether the agent can say what a round is worth to the seat that is to decide, as search counts it."""
    knows_points = isinstance(agent, PolicyAgent) and agent.value == VALUE_IN_POINTS
    return knows_points and table.rules.teams == _TWO


def _check_judge(agent: CompiledAgent, table: Table) -> None:
    if not can_judge(agent, table):
        raise SearchOptionError(
            f"the option depth needs a rollout agent that can judge a position: a policy with the value "
            f"{VALUE_IN_POINTS!r}, at a table of two teams; {agent.name!r} cannot at this one: leave "
            "depth away"
        )


def _usual_layout(table: Table) -> tuple[Layout, int]:
    """Of the observations that games are handed over by, and the size of those."""
    usual = sections(table.rules)
    return layout_of(Table(table.edition, table.rules, usual, 0, table.num_actions)), usual[-1].stop


def _without_separators(rollout: str) -> str:
    """The rollout agent as `agents.load` takes it, with commas between its options."""
    name, colon, rest = rollout.partition(":")
    if not Path(rest).is_dir():  # there may be a + in the name of a folder
        for separator in OPTION_SEPARATORS:
            rest = rest.replace(separator, ",")
    return f"{name}{colon}{rest}"


def _compiled_agent(spec: str, table: Table, seed: int) -> CompiledAgent:
    """The rollout agent.

    Raises:
        SearchOptionError: it is none of the compiled agents.
        UnknownAgentError: there is no such agent, or option.
        RunFolderError: a policy that cannot be played.
    """
    import agents  # noqa: PLC0415 - the package names this agent

    name = spec.partition(":")[0]
    compiled = {
        known: make
        for known, make in agents.AGENTS.items()
        if inspect.isclass(make) and issubclass(make, CompiledAgent)
    }
    is_run_folder = name not in agents.AGENTS and bool(spec) and ("/" in spec or Path(spec).is_dir())
    if name not in compiled and not is_run_folder:
        raise SearchOptionError(
            f"the rollout agent is {spec!r}; it must be one of the compiled agents: "
            f"{', '.join(compiled) or 'there are none'} (with options as in 'holder:pile=30'; "
            "between two options of it in the option rollout write + instead of a comma)"
        )
    agent = agents.make(spec, table, seed)
    if not isinstance(agent, CompiledAgent):
        raise SearchOptionError(f"the rollout agent is {spec!r}, which makes no compiled agent")
    return agent
