"""The opponents of the learner: frozen earlier selves, and agents that do not learn.

In a share of the games they play one team, or all teams but one. Their decisions are masked from the loss.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from millebornes_env import agents
from millebornes_env.agents.compiled.agent import MEMORY, decide, forget_other_sheet
from millebornes_env.agents.decoder import decoder_of
from millebornes_env.agents.protocol import Agent, CompiledFunction, ask_in, is_compiled
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import GameRules, named_for, rules_of
from millebornes_env.engine.numba.compiling import for_kernels, kernel
from millebornes_env.engine.rulebook import StateArray
from train.common.games import BoolArray, Int8Array, Int64Array, ManyGames, Rollout, TableGames
from train.common.options import Args, Teams
from train.common.run_folder import with_prefix

MEMORIES: Final = "memories"
"""Prefix of the tensors in a checkpoint that hold the memories of agents."""

_SNAPSHOT_TAG: Final = 0x736E6170  # separates random numbers that would otherwise have the same key
_AGENT_TAG: Final = 0x6167656E
_MAX_INT16: Final = 2**15 - 1


class Policy(Protocol):
    """`Policy` of `train.selfplay`, which imports this file."""

    @property
    def network(self) -> nn.Module:
        """The network, which holds the weights."""

    def load(self) -> None:
        """Read the weights of the network after a change."""

    def act(self, observations: Int8Array, masks: Int8Array, key: tuple[int, int]) -> Any:
        """Sample an action of each row of observations int8[N, D], by the random numbers of a key."""


class Seats(NamedTuple):
    """The seats of an opponent."""

    teams: Int8Array  # [N] a team, or -1 in games of the learner with itself
    are_others: bool  # True if the opponent plays all other teams
    num_teams: int

    def mask(self, seats: Int8Array) -> BoolArray:
        """Mask the games in which the opponent decides, bool[N], given the deciding seats int8[N]."""
        is_team: BoolArray = seats % self.num_teams == self.teams
        result: BoolArray = (self.teams >= 0) & ~is_team if self.are_others else is_team
        return result


def seats_at(games: ManyGames, first: float, last: float, teams: Teams = "one") -> Seats:
    """Assign the seats of an opponent in a part of each table's games, from `first` to `last`, 0 to 1.

    It gets one team after the other, so that the learner plays in all seats.
    """
    chosen = np.full(games.num_games, -1, np.int8)
    for _, where in games.parts:
        size = where.stop - where.start
        begin, end = round(first * size), round(last * size)
        chosen[where.start + begin : where.start + end] = np.arange(end - begin) % games.teams
    return Seats(chosen, teams == "others", games.teams)


class Pool:
    """Frozen earlier selves, of which each rollout samples one.

    Attributes:
        snapshots: the weights of each, oldest first.
    """

    def __init__(self, policy: Policy, seats: Seats, size: int) -> None:
        """Create an empty pool, with a network of the learner's shape for the weights of a snapshot.

        When there are as many snapshots as `size`, every second one is dropped.
        """
        self.snapshots: list[dict[str, Tensor]] = []
        self._policy = policy
        self._size = size
        self._seats = seats
        self._is_on = False

    def add(self, network: nn.Module) -> None:
        """Add the network as it is."""
        if len(self.snapshots) >= self._size:
            self.snapshots = self.snapshots[1::2]
        self.snapshots.append({name: value.clone() for name, value in network.state_dict().items()})

    def begin(self, rng: np.random.Generator) -> None:
        """Sample the snapshot of the next rollout; without one the learner plays all games with itself."""
        self._is_on = bool(self.snapshots) and bool((self._seats.teams >= 0).any())
        if self._is_on:
            self._policy.network.load_state_dict(self.snapshots[int(rng.integers(len(self.snapshots)))])
            self._policy.load()

    def decide(self, rollout: Rollout, step: int, key: tuple[int, int], actions: Int64Array) -> None:
        """Overwrite the actions of the pool's seats, and set `opponent_mask` in those rows."""
        if not self._is_on:
            return
        theirs = self._seats.mask(rollout.seats[step])
        rollout.opponent_mask[step] |= theirs
        rows = np.flatnonzero(theirs)
        if len(rows):
            own = key[0] ^ _SNAPSHOT_TAG, key[1]
            shown = rollout.observations[step, rows], rollout.masks[step, rows]
            actions[rows] = self._policy.act(*shown, own).actions


class FixedAgent:
    """An agent that does not learn.

    Attributes:
        memories: int16[N * S, MEMORY], memory of each seat of a compiled agent.
    """

    def __init__(self, games: ManyGames, spec: str, seats: Seats, seed: int, threads: int) -> None:
        """Load the agent for every table; `spec` as for `agents.load`.

        Raises:
            ValueError: there is no such agent, or it does not play at a table.
        """
        self._games = games
        self._seats = seats
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads)
        self._agents: list[Agent] = [agents.make(spec, part.table, seed) for part, _ in games.parts]
        rulebook: Any = games.parts[0][0].env.game.module()
        self._choose = choose_in_games_of(rulebook)
        self.memories = np.zeros((games.num_games * games.players, MEMORY), np.int16)

    def decide(self, rollout: Rollout, step: int, key: tuple[int, int], actions: Int64Array) -> None:
        """Overwrite the actions of the agent's seats, and set `opponent_mask` in those rows."""
        theirs = self._seats.mask(rollout.seats[step])
        rollout.opponent_mask[step] |= theirs
        for (part, where), agent in zip(self._games.parts, self._agents, strict=True):
            rows = np.flatnonzero(theirs[where])
            if is_compiled(agent):
                self._decide_compiled(agent, part, where, rows, key, actions[where])
            else:
                buffers = part.env.games.buffers
                observations = {"observation": buffers.observation, "action_mask": buffers.action_mask}
                actions[where.start + rows] = ask_in(part.env, agent, observations)[rows]

    def _decide_compiled(
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
    """Build the kernel by which a compiled agent chooses in games of a rulebook."""
    seen = decoder_of(rulebook)

    def choose_in_games(
        choose: int,
        states: StateArray,
        rules: GameRules,
        games: Int64Array,
        memories: npt.NDArray[np.int16],
        options: Int64Array,
        actions: Int64Array,
        key: tuple[int, int],
    ) -> None:
        """Let an agent choose for the deciding seats.

        Args:
            choose: address of the agent's compiled function.
            states: STATE[N].
            rules: the rules of the games.
            games: int64[G], indices of the games to choose in.
            memories: int16[N * S, MEMORY], of all seats of all games.
            options: int64[MAX_OPTIONS], options of the agent.
            actions: int64[N], overwritten in those games.
            key: two words.
        """
        for game in games:
            state, own_rules = states[game], rules_of(rules, game)
            seat = int(state.seat)
            memory = memories[game * own_rules.players + seat]
            forget_other_sheet(memory, int(rules.sheet[game]) & _MAX_INT16)
            draw = random_word(key[0], key[1], game)
            actions[game] = decide(seen, choose, state, own_rules, seat, memory, options, draw)

    return kernel(named_for(rulebook, choose_in_games, seen))


class Opponents:
    """All opponents of a run.

    Attributes:
        pool: the earlier selves; None if one agent plays in every game.
    """

    def __init__(self, games: ManyGames, policy: Policy, args: Args, seed: int) -> None:
        """Assign games to each opponent; the earlier selves and the agents of the pool get equally many.

        The policy is for earlier selves, as for `Pool`.

        Raises:
            ValueError: there is no such agent, or it does not play at a table.
        """
        self.pool: Pool | None = None
        self._agents: list[FixedAgent] = []
        if args.opponent:
            everywhere = seats_at(games, 0.0, 1.0, args.opponent_teams)
            self._agents.append(FixedAgent(games, args.opponent, everywhere, seed, args.threads))
            return
        width = args.pool_share / (1 + len(args.pool_agent))
        self.pool = Pool(policy, seats_at(games, 0.0, width, args.opponent_teams), args.pool_size)
        for number, spec in enumerate(args.pool_agent, 1):
            seats = seats_at(games, number * width, (number + 1) * width, args.opponent_teams)
            self._agents.append(FixedAgent(games, spec, seats, seed + number, args.threads))

    def begin(self, rng: np.random.Generator) -> None:
        """Begin a rollout."""
        if self.pool is not None:
            self.pool.begin(rng)

    def decide(self, rollout: Rollout, step: int, key: tuple[int, int], actions: Int64Array) -> None:
        """Overwrite the actions of the opponents' seats, and write `opponent_mask` of the step."""
        rollout.opponent_mask[step] = False
        if self.pool is not None:
            self.pool.decide(rollout, step, key, actions)
        for agent in self._agents:
            agent.decide(rollout, step, key, actions)

    def checkpoint(self) -> tuple[dict[str, Tensor], int]:
        """Return memories and earlier selves as tensors by name, and the number of earlier selves."""
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
        """Continue from the tensors that `checkpoint` returned; there may be other tensors among them.

        Raises:
            KeyError, ValueError: the tensors are of another run.
        """
        for number, agent in enumerate(self._agents):
            agent.memories[:] = tensors[_memories_of(number)].numpy()
        if self.pool is not None:
            self.pool.snapshots = [with_prefix(tensors, f"pool.{number}.") for number in range(snapshots)]


def _memories_of(number: int) -> str:
    return MEMORIES if number == 0 else f"{MEMORIES}.{number}"
