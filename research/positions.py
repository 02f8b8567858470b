"""Decisions from rounds of an agent, and the values of actions there by rollouts.

For Mille Bornes at tables of two. Hidden cards are redealt uniformly among all deals that are consistent with
what the deciding seat sees; after each action the agent plays the round to its end, in both seats, with the
same cards.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env import agents, vector_env
from millebornes_env.agents.compiled.agent import MEMORY, Int16Array, Int64Array, decide, decisions_taken
from millebornes_env.agents.millebornes import observation_reader as seen
from millebornes_env.agents.protocol import Agent, CompiledFunction, Table, is_compiled
from millebornes_env.arena.match import agent_seed
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import key_of_seed
from millebornes_env.engine.numba.compiling import for_kernels, kernel
from millebornes_env.errors import MilleBornesError
from millebornes_env.games.millebornes.cards import DECK_SIZE
from millebornes_env.games.millebornes.determinize import redeal_hidden_cards
from millebornes_env.games.millebornes.rules import RulesRecord, compiled_rules
from millebornes_env.games.millebornes.scoring import round_score
from millebornes_env.games.millebornes.state import ROUND_OVER, Int8Array, StateArray, new_states
from millebornes_env.games.millebornes.turn import step
from research.frame import OnProgress, Options

BoolArray = npt.NDArray[np.bool_]
Float64Array = npt.NDArray[np.float64]
Points = npt.NDArray[np.int32]
Wanted = Callable[[StateArray], BoolArray]
"""Function that returns True for the wanted decisions in `STATE[N]`."""

NOTHING: Final = -1
"""Padding in a list of actions."""
AT_ONCE: Final = 1024
"""Number of parallel rounds in the search for decisions."""
_CHUNK: Final = 32
"""Positions that a thread rolls out at a time."""
_DECISIONS_OF_A_SEAT: Final = 4096  # more than a seat can take in a round


@dataclass(frozen=True)
class RolloutOptions(Options):
    """Options of questions with rollouts of decisions of full games."""

    agent: str = "champion"
    """a compiled agent, which plays the rounds and the rollouts"""
    positions: int = 1_000
    """decisions per seed"""
    redeals: int = 64
    """redeals of each decision"""

    def rollouts(self, few: int) -> dict[str, Any]:
        """Return the settings of rollouts as the config of a part.

        Args:
            few: number of decisions with `quick`, which also takes a quarter of the redeals.
        """
        return {
            "agent": self.agent,
            "positions": few if self.quick else self.positions,
            "redeals": max(2, self.redeals // 4) if self.quick else self.redeals,
        }


@dataclass(frozen=True)
class Player:
    """An agent at its table.

    Attributes:
        agent: a compiled agent for a table of two.
        table: the table.
    """

    agent: CompiledFunction
    table: Table

    @property
    def edition(self) -> str:
        """Label of the rules."""
        return self.table.edition

    def shown(self, states: StateArray) -> tuple[Int8Array, Int8Array]:
        """Return the observations int8[N, D] and action masks int8[N, A] of the acting seats."""
        env = vector_env(len(states), self.edition, players=2)
        observations = env.set_states(states)
        return observations["observation"], observations["action_mask"]


@dataclass(frozen=True)
class Decisions:
    """N decisions.

    Attributes:
        states: STATE[N], the games before them.
        chosen: int64[N], actions of the agent.
        rounds: number of rounds played to find them.
        met: number of decisions of that kind in those rounds.
    """

    states: StateArray
    chosen: Int64Array
    rounds: int
    met: int

    @property
    def own(self) -> npt.NDArray[np.int8]:
        """Deciding seats, int8[N], which are also their teams."""
        seats: npt.NDArray[np.int8] = self.states["seat"]
        return seats

    @property
    def other(self) -> npt.NDArray[np.int8]:
        """The other seats, int8[N]."""
        others: npt.NDArray[np.int8] = 1 - self.own
        return others

    def of(self, seats: npt.NDArray[np.int8], field: str) -> Int64Array:
        """Return a field of seats or teams for one seat in each game, int64[N, ...]."""
        column: Int64Array = self.states[field][np.arange(len(self.states)), seats].astype(np.int64)
        return column

    def at(self, rows: Int64Array) -> Decisions:
        """Return the decisions at some indices."""
        return Decisions(self.states[rows], self.chosen[rows], self.rounds, self.met)

    @property
    def per_round(self) -> float:
        """Mean number of decisions of the kind in a round."""
        return self.met / self.rounds


def player(spec: str, edition: str, seed: int = 0) -> Player:
    """Load an agent at the table for two of an edition.

    Args:
        spec: as for `agents.load`.
        edition: the edition, with optional overrides.
        seed: seed of the agent.

    Raises:
        MilleBornesError: the agent is not compiled, so it cannot play rollouts.
        ValueError: there is no such agent or table; the message lists the valid names.
    """
    table = Table.of(vector_env(1, edition, players=2))
    agent: Agent = agents.make(spec, table, seed)
    if not is_compiled(agent):
        raise MilleBornesError(
            f"the agent {spec!r} is not compiled, so it cannot play rollouts; take a rule agent or a policy, "
            "such as 'strategist' or 'champion'"
        )
    return Player(agent, table)


def find_decisions(
    player: Player, wanted: Wanted, count: int, episodes: int, seed: int, *, episode: str = "round"
) -> Decisions:
    """Play an agent against itself, and sample decisions of a kind.

    Args:
        player: the player in both seats.
        wanted: selects the decisions.
        count: largest number of decisions to keep. With at most one for each episode they are nearly
            independent.
        episodes: number of episodes.
        seed: seed of the deals and of the sample.
        episode: "round", or "match", in which the score of the match is visible.
    """
    states: list[StateArray] = []
    chosen: list[Int64Array] = []
    rounds = 0
    for first in range(0, episodes, AT_ONCE):
        size = min(AT_ONCE, episodes - first)
        env = vector_env(size, player.edition, players=2, episode=episode, autoreset_mode="disabled")
        observations, _ = env.reset(seed=agent_seed(seed, first))
        live = np.ones(size, np.bool_)
        while live.any():
            games = env.get_states()
            actions = player.agent.act(observations["observation"], observations["action_mask"])
            asked = live & (games["phase"] != ROUND_OVER) & wanted(games)
            states.append(games[asked])
            chosen.append(actions[asked])
            after = env.step(np.where(live, actions, -1))
            observations = after.observations
            live &= ~after.terminations
        rounds += int((env.get_states()["round_number"] + 1).sum())
    result, actions = np.concatenate(states), np.concatenate(chosen)
    rng = np.random.default_rng([seed, 1])
    kept = np.sort(rng.permutation(len(result))[:count])
    return Decisions(result[kept], actions[kept], rounds, len(result))


# Rollouts ---------------------------------------------------------------------------------------------------


class Rollout(NamedTuple):
    """Settings of rollouts, for kernels."""

    choose: int  # address of the agent's function
    options: Int64Array  # [MAX_OPTIONS] of the agent
    redeals: int  # of each position
    key_0: int  # of all random numbers
    key_1: int


class Scratch(NamedTuple):
    """Scratch arrays of one thread."""

    games: StateArray  # [2] after the redeal, and being played
    memories: Int16Array  # [2, MEMORY]
    hidden: Int8Array  # [DECK_SIZE]


def roll_out(
    player: Player,
    states: StateArray,
    actions: Int64Array,
    redeals: int,
    seed: int,
    *,
    threads: int = 2,
    on_progress: OnProgress | None = None,
) -> Points:
    """Play rounds to the end after each action, on the same redeals for all actions of a position.

    Args:
        player: the player in both seats after the action.
        states: STATE[N], not modified.
        actions: int64[N, A], legal actions of the acting seat, or NOTHING.
        redeals: R, number of redeals per position.
        seed: seed of the redeals.
        threads: number of threads; results do not depend on it.
        on_progress: called with the progress.

    Returns:
        int32[N, A, R, 2], points of the round of the acting seat and of the other one; 0 without an action.
    """
    result = np.zeros((*actions.shape, redeals, 2), np.int32)
    who = Rollout(player.agent.address, player.agent.options, redeals, *key_of_seed(seed))
    rules, roots = compiled_rules(player.table.rules), for_kernels(np.ascontiguousarray(states))

    def part(first: int) -> None:
        memories, hidden = np.zeros((2, MEMORY), np.int16), np.zeros(DECK_SIZE, np.int8)
        scratch = Scratch(for_kernels(new_states(2)), memories, hidden)
        chunk = slice(first, first + _CHUNK)
        play_actions(who, rules, roots[chunk], actions[chunk], first, scratch, result[chunk])

    starts = range(0, len(states), _CHUNK)
    with ThreadPoolExecutor(threads) as pool:
        for done, _ in enumerate(pool.map(part, starts), 1):
            if on_progress is not None:
                on_progress(done / len(starts))
    return result


@kernel
def play_actions(
    who: Rollout,
    rules: RulesRecord,
    roots: StateArray,
    actions: Int64Array,
    first: int,
    scratch: Scratch,
    points: Points,
) -> None:
    """Redeal each position, and play it out after each action.

    Args:
        who: the player that continues.
        rules: rules of the table.
        roots: STATE[N].
        actions: int64[N, A].
        first: index of the first position, on which its redeals depend.
        scratch: overwritten.
        points: int32[N, A, R, 2], overwritten where there are actions.
    """
    dealt = scratch.games[0]
    for number in range(len(roots)):
        seat = int(roots[number].seat)
        of_position = random_word(who.key_0, who.key_1, first + number)
        for redeal in range(who.redeals):
            key_0 = random_word(of_position, who.key_1, redeal)
            key_1 = random_word(who.key_1, key_0, redeal)
            scratch.games[0] = roots[number]
            redeal_hidden_cards(dealt, rules, seat, key_0, key_1, scratch.hidden)
            for index in range(actions.shape[1]):
                action = int(actions[number, index])
                if action == NOTHING:
                    continue
                scratch.games[1] = scratch.games[0]
                play_to_the_end(who, rules, action, key_0, key_1, scratch)
                for side in range(2):
                    points[number, index, redeal, side] = round_score(scratch.games[1], seat ^ side)


@kernel
def play_to_the_end(
    who: Rollout, rules: RulesRecord, action: int, key_0: int, key_1: int, scratch: Scratch
) -> None:
    """Apply an action; the agent plays the rest of the round, in both seats."""
    game = scratch.games[1]
    scratch.memories[:, :] = 0
    step(game, rules, action)
    while int(game.phase) != ROUND_OVER:
        seat = int(game.seat)
        memory = scratch.memories[seat]
        count = decisions_taken(seen, game, memory)
        draw = random_word(key_1, key_0, seat * _DECISIONS_OF_A_SEAT + count)
        step(game, rules, decide(seen, who.choose, game, rules, seat, memory, who.options, draw))
