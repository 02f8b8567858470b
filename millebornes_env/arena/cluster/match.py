"""Tournaments on a Ray cluster, with bitwise the same results as on one machine.

A tournament's deals are split into the same turns as on one machine, because agents get new random numbers
there. Turns of compiled agents are split further, as for threads. Each share is a task (`play_share`).
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from millebornes_env import agents
from millebornes_env.agents.fingerprint import fingerprint
from millebornes_env.agents.protocol import Agent, is_compiled
from millebornes_env.arena.cluster.ray import Cluster
from millebornes_env.arena.match import MatchConfig, agent_seed, play
from millebornes_env.arena.outcome import Lineup, Outcome
from millebornes_env.arena.tournament import (
    OnTurn,
    Tournament,
    Until,
    check_until,
    deals_of,
    is_open,
    keep_turn,
    lineups,
    rest_kept,
    turn_after,
)
from millebornes_env.errors import AgentFaultError, ArenaError

SECONDS_OF_A_TASK: Final = 1.0
"""Intended seconds of a task of compiled agents: about a hundred times the cost of sending it."""

FIRST_DEALS: Final = 64
"""Deals of a task of compiled agents until their speed is known."""

_SHORTEST: Final = 1e-6  # seconds

_CHECKED: Final[set[tuple[object, ...]]] = set()
"""Agents whose fingerprints were checked in this process."""

Played = Outcome | AgentFaultError


@dataclass(frozen=True)
class Player:
    """The agent of a role in a share of a match.

    Attributes:
        spec: specification of the agent; a Path is a run folder.
        seed: seed of its random numbers. Roles with equal specification and seed are one agent.
        fingerprint: expected fingerprint; "": not checked.
    """

    spec: str | Path
    seed: int
    fingerprint: str = ""

    def made(self, config: MatchConfig) -> Agent:
        """Make the agent.

        Raises:
            ArenaError: the agent differs on this node.
            ValueError: there is no such agent on this node; the message says which.
        """
        agent = agents.make(self.spec, config.table(), self.seed)
        checked = (self.fingerprint, str(self.spec), config.edition, config.players, config.teams)
        if (
            self.fingerprint
            and checked not in _CHECKED
            and self.fingerprint != fingerprint(agent, str(self.spec))
        ):
            raise ArenaError(
                f"the agent {str(self.spec)!r} differs between a node of the cluster and the machine that "
                "runs the command: put the same files in the same place on all nodes"
            )
        _CHECKED.add(checked)  # a fingerprint reads all sources, which may take longer than a task
        return agent


def play_share(config: MatchConfig, roles: Sequence[Player], first: int, deals: int) -> Played:
    """Play some deals of a match on one thread, as a task.

    Args:
        config: the table.
        roles: one for each team.
        first: number of the first deal.
        deals: number of deals.

    Returns:
        The outcome, or the fault of an agent.

    Raises:
        ArenaError: an agent differs on this node.
        ValueError: there is no such agent on this node.
    """
    made = {player: player.made(config) for player in dict.fromkeys(roles)}
    # At a split `play` makes the agents for each sheet, from their specifications.
    playing = [player.spec if config.table().varies else made[player] for player in roles]
    try:
        return play(playing, replace(config, threads=1), deals, first_deal=first)
    except AgentFaultError as fault:
        return fault


def timed_share(config: MatchConfig, roles: Sequence[Player], first: int, deals: int) -> tuple[Played, float]:
    """Return `play_share` and the processor seconds per deal, compiling included."""
    start = time.process_time()
    played = play_share(config, roles, first, deals)
    return played, max(time.process_time() - start, _SHORTEST) / deals


@dataclass(eq=False)
class _Turn:
    """The deals of a turn, in shares; compared by identity."""

    first: int
    shares: list[tuple[int, int]]
    played: dict[int, Played] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        return len(self.played) == len(self.shares)

    def together(self) -> Played:
        """Return the outcome of all shares, or the first fault."""
        outcomes = []
        for first, _ in self.shares:
            played = self.played[first]
            if isinstance(played, AgentFaultError):
                return played
            outcomes.append(played)
        return Outcome.joined(outcomes)


# Tournaments ----------------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Line:
    """The remaining play of a lineup; compared by identity.

    Attributes:
        turns: planned turns that are not yet saved, in order.
        planned: deals played or planned.
        seconds: processor seconds per deal in the fastest task (others compile, too); None: unknown.
    """

    lineup: Lineup
    name: str
    are_compiled: bool
    planned: int
    turns: deque[_Turn] = field(default_factory=deque)
    is_open: bool = True
    seconds: float | None = None

    def plan_turn(self, deals: int) -> _Turn:
        """Plan the next turn, the same as in `play_tournament`, for a tournament of `deals` deals."""
        count = min(turn_after(self.planned), deals - self.planned)
        size = count
        if self.are_compiled:
            size = FIRST_DEALS if self.seconds is None else max(1, int(SECONDS_OF_A_TASK / self.seconds))
        first, end = self.planned, self.planned + count
        turn = _Turn(first, [(start, min(size, end - start)) for start in range(first, end, size)])
        self.turns.append(turn)
        self.planned = end
        return turn


_Waiting = tuple[_Line, _Turn, int, int]
"""A share to play: its lineup and turn, its first deal and number of deals."""


class _Director:
    """The scheduler of a tournament's shares, which saves results in the order of one machine."""

    def __init__(self, tournament: Tournament, folder: Path, only: int | None) -> None:
        """Plan all turns; with a condition to stop, only the next turn of each lineup."""
        config = tournament.config
        self.tournament = tournament
        self._folder = folder
        self._until: Until | None = check_until(config.until, config.match)
        chosen = lineups(len(tournament.entrants), config.match.rules.teams, only)
        self.total = float(len(chosen) * config.deals)
        self.done = dict.fromkeys(chosen, config.deals)
        compiled = [
            is_compiled(agents.make(entrant.spec, config.match.table())) for entrant in tournament.entrants
        ]
        self._lines = []
        for lineup in chosen:
            if is_open(tournament, lineup, self._until):
                self.done[lineup] = deals_of(tournament, lineup)
                name = " - ".join(tournament.names[agent] for agent in lineup)
                every = all(compiled[agent] for agent in lineup)
                self._lines.append(_Line(lineup, name, every, self.done[lineup]))
        self._plan = self._planned()
        self.waiting: deque[_Waiting] = deque()

    def _planned(self) -> Iterator[list[_Waiting]]:
        """Yield the shares of the first turn of each lineup, then of the second, and so on."""
        deals = self.tournament.config.deals
        lines = list(self._lines)
        while lines:
            for line in lines:
                if line.is_open and line.planned < deals:
                    yield self._shares_of_next_turn(line)
            lines = [line for line in lines if line.planned < deals and line.is_open and self._until is None]

    def _shares_of_next_turn(self, line: _Line) -> list[_Waiting]:
        turn = line.plan_turn(self.tournament.config.deals)
        return [(line, turn, *share) for share in turn.shares]

    def next_share(self) -> _Waiting | None:
        """Return the next share to play; None: all planned shares are being played."""
        while True:
            while self.waiting:
                share = self.waiting.popleft()
                if share[0].is_open:
                    return share
            following = next(self._plan, None)
            if following is None:
                return None
            self.waiting.extend(following)

    def arguments(self, share: _Waiting) -> tuple[MatchConfig, list[Player], int, int]:
        """Return the arguments of `play_share` for a share."""
        line, turn, first, deals = share
        match, entrants = self.tournament.config.match, self.tournament.entrants
        roles = [
            Player(
                entrants[agent].spec, agent_seed(match.seed, role, turn.first), entrants[agent].fingerprint
            )
            for role, agent in enumerate(line.lineup)
        ]
        return match, roles, first, deals

    def take_in(self, share: _Waiting, played: Played, seconds: float) -> None:
        """Save the result of a share once all shares before it are complete.

        Args:
            share: share from `next_share`.
            played: its outcome or fault.
            seconds: processor seconds per deal.

        Raises:
            OSError: a file could not be written.
        """
        line, turn, first, deals = share
        if not line.is_open:
            return
        line.seconds = seconds if line.seconds is None else min(line.seconds, seconds)
        self.done[line.lineup] += deals
        turn.played[first] = played
        while line.turns and line.turns[0].is_complete:
            self._keep(line, line.turns.popleft())

    def _keep(self, line: _Line, turn: _Turn) -> None:
        played = turn.together()
        if isinstance(played, Outcome):
            played = replace(played, lineup=line.lineup)
        keep_turn(self.tournament, line.lineup, played, self._folder)
        deals = self.tournament.config.deals
        line.is_open = is_open(self.tournament, line.lineup, self._until)
        if not line.is_open:
            self.done[line.lineup] = deals
            line.turns.clear()
        elif not line.turns:
            self.waiting.extend(self._shares_of_next_turn(line))


def play_tournament_on(
    cluster: Cluster,
    tournament: Tournament,
    folder: Path,
    only: int | None = None,
    on_turn: OnTurn | None = None,
) -> Tournament:
    """Play a tournament on a cluster: the same arguments, files and results as `play_tournament`.

    Args:
        cluster: the cluster.
        tournament: tournament from `opened`.
        folder: its folder on this machine.
        only: play only the lineups with this agent; None: all.
        on_turn: called whenever a task is done.

    Returns:
        The tournament, complete.

    Raises:
        ArenaError: the cluster is gone, or lacks an agent; results are saved.
        OSError: a file could not be written.
    """
    director = _Director(tournament, folder, only)
    with rest_kept(tournament, folder):
        while True:
            while not cluster.is_full and (share := director.next_share()) is not None:
                cluster.submit(share, timed_share, director.arguments(share))
            if not cluster.num_waiting:
                return tournament
            share, (played, seconds) = cluster.next()
            director.take_in(share, played, seconds)
            if on_turn is not None:
                on_turn(share[0].name, float(sum(director.done.values())), director.total)
