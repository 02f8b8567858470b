"""The opponents at the table: frozen earlier selves, or one agent that does not learn.

In a share of the games one team is theirs; what they decide is not learned from.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from millebornes_env import agents
from millebornes_env.agents import observation_reader as seen
from millebornes_env.agents.compiled.agent import MEMORY, decide
from millebornes_env.agents.protocol import Agent, CompiledFunction, ask_in, is_compiled
from millebornes_env.chance import random_word
from millebornes_env.compile import for_kernels, kernel
from millebornes_env.millebornes.rules import RulesRecord
from millebornes_env.millebornes.state import StateArray
from train.common.games import ManyGames, TableGames
from train.common.network import Perceptron
from train.common.ppo import Rollout, new_sampling, sample_actions

Int64Array = npt.NDArray[np.int64]

_SNAPSHOT_TAG: Final = 0x736E6170  # sets random numbers apart that would else have the same key
_AGENT_TAG: Final = 0x6167656E


class Opponents(Protocol):
    """Decides for a team in some games."""

    def begin(self, rng: np.random.Generator) -> None:
        """A rollout begins."""

    def decide(self, rollout: Rollout, step: int, key: tuple[int, int], actions: Int64Array) -> None:
        """Overwrite the actions of their seats, and set `opponent_mask` in those rows."""


def seats_at(games: ManyGames, share: float) -> npt.NDArray[np.int8]:
    """The team that is theirs in each game: one after the other, so that the learner sits everywhere.

    Args:
        games: the games of all tables.
        share: of each table's games, the first ones.

    Returns:
        int8[N]: a team, or -1 in games that the learner plays with itself.
    """
    teams = np.full(games.num_games, -1, np.int8)
    for _, where in games.parts:
        count = round(share * (where.stop - where.start))
        teams[where.start : where.start + count] = np.arange(count) % games.teams
    return teams


class Pool:
    """Frozen earlier selves; each rollout samples one of them.

    Attributes:
        snapshots: the weights of each, oldest first.
    """

    def __init__(self, games: ManyGames, network: Perceptron, share: float, size: int, threads: int) -> None:
        """An empty pool.

        Args:
            games: the games of all tables.
            network: of the same shape as the learner's, to be filled with weights of a snapshot.
            share: share of the games, 0 to 1.
            size: the most snapshots; then every second of the old ones is forgotten.
            threads: that sample actions.
        """
        self.snapshots: list[dict[str, Tensor]] = []
        self._network = network
        self._size = size
        self._threads = threads
        self._teams = seats_at(games, share)
        self._num_teams = games.teams
        self._is_on = False

    def add(self, network: Perceptron) -> None:
        """Freeze the network as it is."""
        if len(self.snapshots) >= self._size:
            self.snapshots = self.snapshots[1::2]
        self.snapshots.append({name: value.clone() for name, value in network.state_dict().items()})

    def begin(self, rng: np.random.Generator) -> None:
        """Sample the snapshot of the next rollout; without one the learner plays all games with itself."""
        self._is_on = bool(self.snapshots) and bool((self._teams >= 0).any())
        if self._is_on:
            self._network.load_state_dict(self.snapshots[int(rng.integers(len(self.snapshots)))])

    def decide(self, rollout: Rollout, step: int, key: tuple[int, int], actions: Int64Array) -> None:
        """See `Opponents.decide`."""
        if not self._is_on:
            rollout.opponent_mask[step] = False
            return
        theirs = rollout.seats[step] % self._num_teams == self._teams
        rollout.opponent_mask[step] = theirs
        rows = np.flatnonzero(theirs)
        if not len(rows):
            return
        with torch.no_grad():
            logits = self._network(torch.from_numpy(rollout.observations[step, rows]))
        sampling = new_sampling(logits.numpy(), rollout.masks[step, rows], self._threads)
        sample_actions(sampling, key[0] ^ _SNAPSHOT_TAG, key[1], self._threads)
        actions[rows] = sampling.actions


class FixedAgent:
    """One agent of a name in one team of every game: what a best response is trained against.

    Attributes:
        memories: int16[N * S, MEMORY], of a compiled agent.
    """

    def __init__(self, games: ManyGames, spec: str, share: float, seed: int, threads: int) -> None:
        """Load the agent for every table.

        Args:
            games: the games of all tables.
            spec: as for `agents.load`.
            share: share of the games, 0 to 1.
            seed: seed of its random numbers.
            threads: that it plays on.

        Raises:
            ValueError: there is no such agent, or it does not play at a table.
        """
        self._games = games
        self._teams = seats_at(games, share)
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads)
        self._agents: list[Agent] = [agents.make(spec, part.table, seed) for part, _ in games.parts]
        self.memories = np.zeros((games.num_games * games.players, MEMORY), np.int16)

    def begin(self, rng: np.random.Generator) -> None:
        """Nothing: it is the same in every rollout."""

    def decide(self, rollout: Rollout, step: int, key: tuple[int, int], actions: Int64Array) -> None:
        """See `Opponents.decide`."""
        theirs = rollout.seats[step] % self._games.teams == self._teams
        rollout.opponent_mask[step] = theirs
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
            choose_in_games(agent.address, states, part.rules, share, memories, agent.options, actions, own)

        list(self._pool.map(choose, np.array_split(rows, self._threads)))


@kernel
def choose_in_games(
    choose: int,
    states: StateArray,
    rules: RulesRecord,
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
