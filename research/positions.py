"""Decisions out of rounds that an agent has played, and what actions bring there, by rollouts.

Mille Bornes at tables of two. Hidden cards are dealt anew, every deal that fits what the deciding seat sees
with the same probability; after each action the round is played to its end by the agent, in both seats, with
the same cards.
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
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.errors import MilleBornesError
from millebornes_env.games.millebornes.cards import DECK_SIZE
from millebornes_env.games.millebornes.determinize import redeal_hidden_cards
from millebornes_env.games.millebornes.rules import RulesRecord, compiled_rules
from millebornes_env.games.millebornes.scoring import round_score
from millebornes_env.games.millebornes.state import ROUND_OVER, Int8Array, StateArray, new_states
from millebornes_env.games.millebornes.turn import step
from research.frame import Options

BoolArray = npt.NDArray[np.bool_]
Float64Array = npt.NDArray[np.float64]
Points = npt.NDArray[np.int32]
Wanted = Callable[[StateArray], BoolArray]
"""Given `STATE[N]`, which of these decisions are looked for."""
OnProgress = Callable[[float], None]
"""Called with the share of the work that is done."""

NOTHING: Final = -1
"""In a list of actions: a place without one."""
AT_ONCE: Final = 1024
"""Rounds that are played at the same time to find decisions."""
_CHUNK: Final = 32
"""Positions whose rollouts a thread takes at a time."""
_DECISIONS_OF_A_SEAT: Final = 4096  # more than a seat can take in a round


@dataclass(frozen=True)
class RolloutOptions(Options):
    """Options of the questions that roll decisions of full games out."""

    agent: str = "champion"
    """a compiled agent, which plays the rounds and the rollouts"""
    positions: int = 1_000
    """decisions for each seed"""
    redeals: int = 64
    """of each decision"""

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
        agent: compiled, for a table of two.
        table: where it plays.
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
    """Decisions that were found, N of them.

    Attributes:
        states: STATE[N], the games before them.
        chosen: int64[N], what the agent did.
        rounds: that were played to find them.
        met: decisions of that kind that there were, those not kept included.
    """

    states: StateArray
    chosen: Int64Array
    rounds: int
    met: int

    @property
    def own(self) -> npt.NDArray[np.int8]:
        """int8[N], the seats that decide, which are their teams' numbers too."""
        seats: npt.NDArray[np.int8] = self.states["seat"]
        return seats

    @property
    def other(self) -> npt.NDArray[np.int8]:
        """int8[N], the other seats."""
        others: npt.NDArray[np.int8] = 1 - self.own
        return others

    def of(self, seats: npt.NDArray[np.int8], field: str) -> Int64Array:
        """A field that each seat or team has, that of one seat in each game: int64[N, ...]."""
        column: Int64Array = self.states[field][np.arange(len(self.states)), seats].astype(np.int64)
        return column

    def at(self, rows: Int64Array) -> Decisions:
        """Some of them."""
        return Decisions(self.states[rows], self.chosen[rows], self.rounds, self.met)

    @property
    def per_round(self) -> float:
        """Decisions of the kind in a round."""
        return self.met / self.rounds


def player(spec: str, edition: str, seed: int = 0) -> Player:
    """An agent at the table for two of an edition.

    Args:
        spec: as for `agents.load`.
        edition: with overrides, if any.
        seed: of the agent.

    Raises:
        MilleBornesError: it is not compiled, so that it cannot play rollouts.
        ValueError: there is no such agent or table; the message says what there is.
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
    """Let an agent play against itself, and keep some of the decisions of a kind, drawn by chance.

    Args:
        player: who plays both seats.
        wanted: which decisions are looked for.
        count: how many are kept; all if there are fewer. With no more than one for each episode they are
            nearly independent.
        episodes: that are played.
        seed: of the deals, and of the draw.
        episode: "round", or "match": the score of the match shows.
    """
    states: list[StateArray] = []
    chosen: list[Int64Array] = []
    rounds = 0
    for first in range(0, episodes, AT_ONCE):
        env = vector_env(
            min(AT_ONCE, episodes - first),
            player.edition,
            players=2,
            episode=episode,
            autoreset_mode="disabled",
        )
        rounds += _play(player, env, wanted, agent_seed(seed, first), (states, chosen))
    result, actions = np.concatenate(states), np.concatenate(chosen)
    rng = np.random.default_rng([seed, 1])
    kept = np.sort(rng.permutation(len(result))[:count])
    return Decisions(result[kept], actions[kept], rounds, len(result))


def _play(
    player: Player,
    env: VectorEnv,
    wanted: Wanted,
    seed: int,
    kept: tuple[list[StateArray], list[Int64Array]],
) -> int:
    """Play all episodes to their ends; how many rounds they were."""
    observations, _ = env.reset(seed=seed)
    live = np.ones(env.num_envs, np.bool_)
    rounds = np.zeros(env.num_envs, np.int64)
    while live.any():
        games = env.get_states()
        rounds = np.maximum(rounds, games["round_number"] + 1)
        actions = player.agent.act(observations["observation"], observations["action_mask"])
        asked = live & (games["phase"] != ROUND_OVER)
        asked &= wanted(games)
        kept[0].append(games[asked])
        kept[1].append(actions[asked])
        after = env.step(np.where(live, actions, -1))
        observations = after.observations
        live &= ~after.terminations
    return int(rounds.sum())


# Rollouts ---------------------------------------------------------------------------------------------------


class Rollout(NamedTuple):
    """Settings of rollouts, for kernels."""

    choose: int  # address of the agent's function
    options: Int64Array  # [MAX_OPTIONS] of the agent
    redeals: int  # of each position
    key_0: int  # of all random numbers
    key_1: int


class Room(NamedTuple):
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
    agent = player.agent
    who = Rollout(agent.address, agent.options, redeals, *key_of_seed(seed))
    rules, roots = compiled_rules(player.table.rules), for_kernels(np.ascontiguousarray(states))

    def part(first: int) -> None:
        room = Room(for_kernels(new_states(2)), np.zeros((2, MEMORY), np.int16), np.zeros(DECK_SIZE, np.int8))
        chunk = slice(first, first + _CHUNK)
        play_actions(who, rules, roots[chunk], actions[chunk], first, room, result[chunk])

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
    room: Room,
    points: Points,
) -> None:
    """Redeal each position, and play it out after each action.

    Args:
        who: plays on.
        rules: of the table.
        roots: STATE[N].
        actions: int64[N, A].
        first: number of the first position, which its redeals depend on.
        room: overwritten.
        points: int32[N, A, R, 2], overwritten where there are actions.
    """
    dealt = room.games[0]
    for number in range(len(roots)):
        seat = int(roots[number].seat)
        of_position = random_word(who.key_0, who.key_1, first + number)
        for redeal in range(who.redeals):
            key_0 = random_word(of_position, who.key_1, redeal)
            key_1 = random_word(who.key_1, key_0, redeal)
            room.games[0] = roots[number]
            redeal_hidden_cards(dealt, rules, seat, key_0, key_1, room.hidden)
            for place in range(actions.shape[1]):
                action = int(actions[number, place])
                if action == NOTHING:
                    continue
                room.games[1] = room.games[0]
                play_to_the_end(who, rules, action, key_0, key_1, room)
                for side in range(2):
                    points[number, place, redeal, side] = round_score(room.games[1], seat ^ side)


@kernel
def play_to_the_end(
    who: Rollout, rules: RulesRecord, action: int, key_0: int, key_1: int, room: Room
) -> None:
    """Carry out an action; the agent plays the rest of the round, in both seats."""
    game = room.games[1]
    room.memories[:, :] = 0
    step(game, rules, action)
    while int(game.phase) != ROUND_OVER:
        seat = int(game.seat)
        memory = room.memories[seat]
        count = decisions_taken(seen, game, memory)
        draw = random_word(key_1, key_0, seat * _DECISIONS_OF_A_SEAT + count)
        step(game, rules, decide(seen, who.choose, game, rules, seat, memory, who.options, draw))
