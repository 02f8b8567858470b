"""Tournaments on a Ray cluster, with the same results as on one machine, bit for bit.

A tournament's deals are cut where one machine cuts them, into the turns of its lineups: agents get new random
numbers there. Turns of compiled agents are cut further, as threads share them. Each piece is a task
(`play_share`).
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
"""That a task of compiled agents is to take on one core: some hundred times what it costs to send it."""

FIRST_DEALS: Final = 64
"""Of a task of compiled agents, until it is known how long they take."""

_SHORTEST: Final = 1e-6  # seconds

_CHECKED: Final[set[tuple[object, ...]]] = set()
"""Agents whose fingerprints were found to be right in this process."""

Played = Outcome | AgentFaultError


@dataclass(frozen=True)
class Player:
    """Who has a role in a share of a match.

    Attributes:
        spec: what it is made of; a Path is a run folder.
        seed: of its random numbers. Roles with the same agent and the same seed are one agent.
        fingerprint: that it must have on every node; "" if it need not be looked at.
    """

    spec: str | Path
    seed: int
    fingerprint: str = ""

    def made(self, config: MatchConfig) -> Agent:
        """The agent.

        Raises:
            ArenaError: it is another one here.
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
                f"the agent {str(self.spec)!r} is another one on a node of the cluster than where the "
                "command was given: put the same files in the same place on all nodes"
            )
        _CHECKED.add(checked)  # a fingerprint reads all sources, and a task may take less time than that
        return agent


def play_share(config: MatchConfig, roles: Sequence[Player], first: int, deals: int) -> Played:
    """Some deals of a match, on one thread: what a task does.

    Args:
        config: the table.
        roles: one for each team.
        first: number of the first deal.
        deals: how many.

    Returns:
        What happened, or what an agent did wrong.

    Raises:
        ArenaError: an agent is another one on this node.
        ValueError: there is no such agent on this node.
    """
    made = {player: player.made(config) for player in dict.fromkeys(roles)}
    try:
        return play([made[player] for player in roles], replace(config, threads=1), deals, first_deal=first)
    except AgentFaultError as fault:
        return fault


def timed_share(config: MatchConfig, roles: Sequence[Player], first: int, deals: int) -> tuple[Played, float]:
    """`play_share`, and the seconds of a core that a deal took, compiling included.

    Raises:
        ArenaError: as in `play_share`.
        ValueError: as in `play_share`.
    """
    begun = time.process_time()
    played = play_share(config, roles, first, deals)
    return played, max(time.process_time() - begun, _SHORTEST) / deals


@dataclass
class _Turn:
    """Deals that one machine plays at a time, in shares."""

    first: int
    deals: int
    shares: list[tuple[int, int]]
    played: dict[int, Played] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        return len(self.played) == len(self.shares)

    def together(self) -> Played:
        """All shares one after the other, or the first fault."""
        outcome: Outcome | None = None
        for first, _ in self.shares:
            played = self.played[first]
            if isinstance(played, AgentFaultError):
                return played
            outcome = played if outcome is None else outcome.followed_by(played)
        assert outcome is not None
        return outcome


def _shares(first: int, deals: int, size: int) -> list[tuple[int, int]]:
    """First deal and number of deals of each task."""
    return [(begin, min(size, first + deals - begin)) for begin in range(first, first + deals, size)]


# Tournaments ----------------------------------------------------------------------------------------------


@dataclass
class _Line:
    """What a lineup has still to play.

    Attributes:
        turns: that were planned and are not yet kept, in their order.
        planned: deals that were played or are planned.
        seconds: of one core for a deal, as the fastest task had it (others have compiled too); None: unknown.
    """

    lineup: Lineup
    name: str
    are_compiled: bool
    planned: int
    turns: deque[_Turn] = field(default_factory=deque)
    is_open: bool = True
    seconds: float | None = None

    def plan_turn(self, deals: int) -> _Turn:
        """The next turn, as `play_tournament` would take it, of a tournament of so many deals."""
        count = min(turn_after(self.planned), deals - self.planned)
        size = count
        if self.are_compiled:
            size = FIRST_DEALS if self.seconds is None else max(1, int(SECONDS_OF_A_TASK / self.seconds))
        turn = _Turn(self.planned, count, _shares(self.planned, count, size))
        self.turns.append(turn)
        self.planned += count
        return turn


_Waiting = tuple[_Line, _Turn, int, int]
"""A share that is to be played: its lineup and turn, its first deal and number of deals."""


class _Director:
    """Hands out the shares of a tournament, and keeps what comes back in the order of one machine."""

    def __init__(self, tournament: Tournament, folder: Path, only: int | None) -> None:
        """Plan all turns, or of a tournament that plays until a condition is met, the next ones."""
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
        """The shares of the first turn of each lineup, then of the second ...; cut when they are needed."""
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
        """What to play next; None: all that is planned is being played."""
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
        """Of `play_share`."""
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
        """Keep what was played, as soon as all before it was.

        Args:
            share: from `next_share`.
            played: what came of it.
            seconds: of one core that each of its deals took.

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
            line.turns.clear()  # planned in vain
        elif not line.turns:
            self.waiting.extend(self._shares_of_next_turn(line))


def play_tournament_on(
    cluster: Cluster,
    tournament: Tournament,
    folder: Path,
    only: int | None = None,
    on_turn: OnTurn | None = None,
) -> Tournament:
    """`tournament.play_tournament` on a cluster: the same arguments, files and results.

    Args:
        cluster: where to play.
        tournament: from `opened`.
        folder: where it is kept, on this machine.
        only: play only the lineups with this agent; None: all.
        on_turn: called whenever a task is done.

    Returns:
        The same, complete.

    Raises:
        ArenaError: the cluster is gone, or lacks an agent; what was played is kept.
        OSError: a file could not be written.
    """
    director = _Director(tournament, folder, only)
    with rest_kept(tournament, folder):
        while True:
            while not cluster.is_full and (share := director.next_share()) is not None:
                cluster.submit(_Key(share), timed_share, director.arguments(share))
            if not cluster.num_waiting:
                return tournament
            key, (played, seconds) = cluster.next()
            director.take_in(key.share, played, seconds)
            if on_turn is not None:
                on_turn(key.share[0].name, float(sum(director.done.values())), director.total)


@dataclass(frozen=True, eq=False)
class _Key:
    """A share as what its result is known by."""

    share: _Waiting
