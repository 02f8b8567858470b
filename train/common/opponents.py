"""The opponents at the table: frozen earlier selves, and agents that do not learn.

In a share of the games one team is theirs, or all teams but one; what they decide is not learned from.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from millebornes_env import agents
from millebornes_env.agents.compiled.agent import MEMORY, decide
from millebornes_env.agents.protocol import Agent, CompiledFunction, ask_in, is_compiled
from millebornes_env.agents.seen import decoder_of
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import named_for
from millebornes_env.engine.numba.compiling import for_kernels, kernel
from millebornes_env.engine.rulebook import StateArray
from train.common.checkpoints import with_prefix
from train.common.games import ManyGames, TableGames
from train.common.learners import Policy
from train.common.network import Perceptron
from train.common.ppo import BoolArray, Int8Array, Rollout, new_sampling

Int64Array = npt.NDArray[np.int64]

Teams = Literal["one", "others"]
"""The opponents' teams in a game: one of them, or all but one."""

MEMORIES: Final = "memories"
"""Prefix of the tensors that hold the agents' memories of their games."""

_SNAPSHOT_TAG: Final = 0x736E6170  # sets random numbers apart that would else have the same key
_AGENT_TAG: Final = 0x6167656E


class Opponent(Protocol):
    """Decides for some teams in some games."""

    def begin(self, rng: np.random.Generator) -> None:
        """A rollout begins."""

    def decide(self, rollout: Rollout, step: int, key: tuple[int, int], actions: Int64Array) -> None:
        """Overwrite the actions of their seats, and set `opponent_mask` in those rows."""


class Places(NamedTuple):
    """The opponents' teams in each game.

    Attributes:
        teams: int8[N], a team, or -1 in games that the learner plays with itself.
        are_others: whether the opponents have all teams but that one.
        num_teams: T.
    """

    teams: Int8Array
    are_others: bool
    num_teams: int

    def theirs(self, seats: Int8Array) -> BoolArray:
        """In which games it is theirs to decide: bool[N].

        Args:
            seats: int8[N], who decides.
        """
        is_team: BoolArray = seats % self.num_teams == self.teams
        found: BoolArray = (self.teams >= 0) & ~is_team if self.are_others else is_team
        return found


def places_at(games: ManyGames, first: float, last: float, teams: Teams = "one") -> Places:
    """The seats of opponents: one team after the other, so that the learner sits everywhere.

    Args:
        games: the games of all tables.
        first: where their part of each table's games begins, 0 to 1.
        last: where it ends.
        teams: which are theirs there.
    """
    chosen = np.full(games.num_games, -1, np.int8)
    for _, where in games.parts:
        size = where.stop - where.start
        begin, end = round(first * size), round(last * size)
        chosen[where.start + begin : where.start + end] = np.arange(end - begin) % games.teams
    return Places(chosen, teams == "others", games.teams)


class Pool:
    """Frozen earlier selves; each rollout samples one of them.

    Attributes:
        snapshots: the weights of each, oldest first.
    """

    def __init__(self, policy: Policy, places: Places, size: int, threads: int) -> None:
        """An empty pool.

        Args:
            policy: of a network of the learner's shape, to be filled with weights of a snapshot.
            places: where they sit.
            size: the most snapshots; then every second of the old ones is forgotten.
            threads: that sample actions.
        """
        self.snapshots: list[dict[str, Tensor]] = []
        self._policy = policy
        self._size = size
        self._threads = threads
        self._places = places
        self._is_on = False

    def add(self, network: Perceptron) -> None:
        """Freeze the network as it is."""
        if len(self.snapshots) >= self._size:
            self.snapshots = self.snapshots[1::2]
        self.snapshots.append({name: value.clone() for name, value in network.state_dict().items()})

    def begin(self, rng: np.random.Generator) -> None:
        """Sample the snapshot of the next rollout; without one the learner plays all games with itself."""
        self._is_on = bool(self.snapshots) and bool((self._places.teams >= 0).any())
        if self._is_on:
            self._policy.network.load_state_dict(self.snapshots[int(rng.integers(len(self.snapshots)))])
            self._policy.take()

    def decide(self, rollout: Rollout, step: int, key: tuple[int, int], actions: Int64Array) -> None:
        """See `Opponent.decide`."""
        if not self._is_on:
            return
        theirs = self._places.theirs(rollout.seats[step])
        rollout.opponent_mask[step] |= theirs
        rows = np.flatnonzero(theirs)
        if not len(rows):
            return
        logits = np.zeros((len(rows), rollout.masks.shape[2] + 1), np.float32)
        sampling = new_sampling(logits, rollout.masks[step, rows], self._threads)
        own = key[0] ^ _SNAPSHOT_TAG, key[1]
        self._policy.choose(rollout.observations[step, rows], sampling, own)
        actions[rows] = sampling.actions


class FixedAgent:
    """One agent of a name: what a best response is trained against, or who keeps the learner on its toes.

    Attributes:
        memories: int16[N * S, MEMORY], of a compiled agent.
    """

    def __init__(self, games: ManyGames, spec: str, places: Places, seed: int, threads: int) -> None:
        """Load the agent for every table.

        Args:
            games: the games of all tables.
            spec: as for `agents.load`.
            places: where it sits.
            seed: seed of its random numbers.
            threads: that it plays on.

        Raises:
            ValueError: there is no such agent, or it does not play at a table.
        """
        self._games = games
        self._places = places
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads)
        self._agents: list[Agent] = [agents.make(spec, part.table, seed) for part, _ in games.parts]
        rulebook: Any = games.parts[0][0].env.game.module()
        self._choose = choose_in_games_of(rulebook)
        self.memories = np.zeros((games.num_games * games.players, MEMORY), np.int16)

    def begin(self, rng: np.random.Generator) -> None:
        """Nothing: it is the same in every rollout."""

    def decide(self, rollout: Rollout, step: int, key: tuple[int, int], actions: Int64Array) -> None:
        """See `Opponent.decide`."""
        theirs = self._places.theirs(rollout.seats[step])
        rollout.opponent_mask[step] |= theirs
        for (part, where), agent in zip(self._games.parts, self._agents, strict=True):
            rows = np.flatnonzero(theirs[where])
            if is_compiled(agent):
                self._ask_compiled(agent, part, where, rows, key, actions[where])
            else:
                buffers = part.env.games.buffers
                shown = {"observation": buffers.observation, "action_mask": buffers.action_mask}
                actions[where.start + rows] = ask_in(part.env, agent, shown)[rows]

    def _ask_compiled(
        self,
        agent: CompiledFunction,
        part: TableGames,
        where: slice,
        rows: Int64Array,
        key: tuple[int, int],
        actions: Int64Array,
    ) -> None:
        """Let a compiled agent choose in some games of a table, on all threads."""
        players = self._games.players
        memories = self.memories[where.start * players : where.stop * players]
        own = key[0] ^ _AGENT_TAG, random_word(key[1], key[0], where.start)
        states = for_kernels(part.states)

        def choose(share: Int64Array) -> None:
            self._choose(agent.address, states, part.rules, share, memories, agent.options, actions, own)

        list(self._pool.map(choose, np.array_split(rows, self._threads)))


@functools.cache
def choose_in_games_of(rulebook: Any) -> Any:
    """The kernel that lets a compiled agent choose in games of a rulebook."""
    seen = decoder_of(rulebook)

    def choose_in_games(
        choose: int,
        states: StateArray,
        rules: Any,
        games: Int64Array,
        memories: npt.NDArray[np.int16],
        options: Int64Array,
        actions: Int64Array,
        key: tuple[int, int],
    ) -> None:
        """Let an agent choose for the seat that decides.

        Args:
            choose: address of the agent's compiled function.
            states: STATE[N].
            rules: the rules of the table.
            games: int64[G], which games.
            memories: int16[N * S, MEMORY], of all seats of all games.
            options: int64[MAX_OPTIONS], of the agent.
            actions: int64[N], overwritten in those games.
            key: of the random numbers, two words.
        """
        for game in games:
            state = states[game]
            seat = int(state.seat)
            memory = memories[game * rules.players + seat]
            draw = random_word(key[0], key[1], game)
            actions[game] = decide(seen, choose, state, rules, seat, memory, options, draw)

    return kernel(named_for(rulebook, choose_in_games, seen))


@dataclass(frozen=True)
class OpponentOptions:
    """The players at the table beside the learner.

    Attributes:
        opponent: an agent in every game, instead of the pool; "": none.
        teams: which teams are the opponents' in their games.
        pool_share: share of the games that the pool plays in.
        pool_size: earlier selves that it keeps.
        pool_agents: agents that it has too; they and the earlier selves share its games equally.
    """

    opponent: str
    teams: Teams
    pool_share: float
    pool_size: int
    pool_agents: Sequence[str]


class Opponents:
    """All opponents of a run.

    Attributes:
        pool: the earlier selves; None if one agent plays in every game.
    """

    def __init__(
        self, games: ManyGames, policy: Policy, options: OpponentOptions, seed: int, threads: int
    ) -> None:
        """Give each its games.

        Args:
            games: the games of all tables.
            policy: of a network of the learner's shape, to be filled with the weights of earlier selves.
            options: who they are.
            seed: of the agents' random numbers.
            threads: that they play on.

        Raises:
            ValueError: there is no such agent, or it does not play at a table.
        """
        self.pool: Pool | None = None
        self._agents: list[FixedAgent] = []
        if options.opponent:
            everywhere = places_at(games, 0.0, 1.0, options.teams)
            self._agents.append(FixedAgent(games, options.opponent, everywhere, seed, threads))
            return
        width = options.pool_share / (1 + len(options.pool_agents))
        places = places_at(games, 0.0, width, options.teams)
        self.pool = Pool(policy, places, options.pool_size, threads)
        for number, spec in enumerate(options.pool_agents, 1):
            places = places_at(games, number * width, (number + 1) * width, options.teams)
            self._agents.append(FixedAgent(games, spec, places, seed + number, threads))

    def begin(self, rng: np.random.Generator) -> None:
        """A rollout begins."""
        if self.pool is not None:
            self.pool.begin(rng)

    def decide(self, rollout: Rollout, step: int, key: tuple[int, int], actions: Int64Array) -> None:
        """Overwrite the actions of their seats, and write `opponent_mask` of the step."""
        rollout.opponent_mask[step] = False
        if self.pool is not None:
            self.pool.decide(rollout, step, key, actions)
        for agent in self._agents:
            agent.decide(rollout, step, key, actions)

    def checkpoint(self) -> tuple[dict[str, Tensor], int]:
        """Return the opponents' memories, as tensors by name, and the number of earlier selves."""
        tensors = {
            _memories_of(number): torch.from_numpy(agent.memories)
            for number, agent in enumerate(self._agents)
        }
        if self.pool is None:
            return tensors, 0
        for number, snapshot in enumerate(self.pool.snapshots):
            tensors |= {f"pool.{number}.{name}": value for name, value in snapshot.items()}
        return tensors, len(self.pool.snapshots)

    def restore(self, tensors: Mapping[str, Tensor], snapshots: int) -> None:
        """Go on from what `checkpoint` returned, other tensors may be among it.

        Raises:
            KeyError, ValueError: the tensors are of another run.
        """
        for number, agent in enumerate(self._agents):
            agent.memories[:] = tensors[_memories_of(number)].numpy()
        if self.pool is not None:
            self.pool.snapshots = [with_prefix(tensors, f"pool.{number}.") for number in range(snapshots)]


def _memories_of(number: int) -> str:
    return MEMORIES if number == 0 else f"{MEMORIES}.{number}"
