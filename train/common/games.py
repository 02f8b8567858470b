"""Games at one or several tables, stepped as one batch, with the rollouts and oracle rows that they write."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env import VectorEnv, vector_env
from millebornes_env.agents.policy.network import InputSpec
from millebornes_env.agents.protocol import Table
from millebornes_env.arena.match import MatchConfig
from millebornes_env.engine.kernels import GameRules, named_for, rules_of
from millebornes_env.engine.numba.compiling import kernel, plain
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.games.millebornes.cards import NUM_CARD_TYPES
from millebornes_env.games.registry import Game
from train.common.match_win_prob import match_win_prob, match_win_prob_table, score_distribution
from train.common.options import POINTS, WIN_PROB, Args
from train.common.run_folder import RunError

Float32Array = npt.NDArray[np.float32]
Float64Array = npt.NDArray[np.float64]
Int64Array = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]
Int8Array = npt.NDArray[np.int8]
BoolArray = npt.NDArray[np.bool_]

WIN_PROB_UNIT: Final = 0.25
"""Divisor of the match-win probability: winning a match is worth 4, a round then about 1, as with points."""

ROUND_NUMBER: Final = "round_number"
"""Field of a state that counts rounds, in games whose episodes can have several."""

STREAMS: Final = "streams"
"""Section of a full state with the cards to come."""

SOONEST: Final = 100.0  # the next card of a stream, in a row of the oracle critic
LATER: Final = 0.9  # factor for each card before it
MOST: Final = 127.0


class Rollout(NamedTuple):
    """The decisions of T steps of N games."""

    observations: Int8Array  # [T, N, D]
    masks: Int8Array  # [T, N, A] legal actions
    seats: Int8Array  # [T, N] the deciding seats
    actions: npt.NDArray[np.int16]  # [T, N]
    log_probs: Float32Array  # [T, N] of the actions when they were sampled
    values: Float32Array  # [T, N] to the deciding seat; of the oracle critic, if there is one
    action_values: Float32Array  # [T, N] of the actions; the values, unless the critic knows better
    rewards: Float32Array  # [T, N, S] of the following step, to every seat
    dones: BoolArray  # [T, N] True if the step ended the episode (or the round that is rewarded)
    opponent_mask: BoolArray  # [T, N] True if an opponent decided, not the learner
    advantages: Float32Array  # [T, N] of the actions; written by `write_advantages` of train.selfplay
    returns: Float32Array  # [T, N] targets of the value; likewise
    loss_mask: BoolArray  # [T, N] True if the row counts in the loss; likewise


def new_rollout(steps: int, games: int, obs_size: int, actions: int, seats: int) -> Rollout:
    """Allocate the arrays of a rollout, zeroed."""
    shape = (steps, games)
    return Rollout(
        np.zeros((*shape, obs_size), np.int8),
        np.zeros((*shape, actions), np.int8),
        np.zeros(shape, np.int8),
        np.zeros(shape, np.int16),
        np.zeros(shape, np.float32),
        np.zeros(shape, np.float32),
        np.zeros(shape, np.float32),
        np.zeros((*shape, seats), np.float32),
        np.zeros(shape, np.bool_),
        np.zeros(shape, np.bool_),
        np.zeros(shape, np.float32),
        np.zeros(shape, np.float32),
        np.zeros(shape, np.bool_),
    )


class TableGames:
    """N games of one table.

    Attributes:
        env: the environment.
        table: the table in the form that agents take.
        rules: the rules of the games in the form that kernels take.
    """

    def __init__(self, edition: str, games: int, args: Args, seed: int) -> None:
        """Start N games of a rule sheet.

        Raises:
            MilleBornesError: there is no such table, or its game does not support an option.
            RunError: the reward is `WIN_PROB`, which is not defined at this table.
        """
        reward = args.chosen_reward
        self.env: VectorEnv = vector_env(
            games,
            edition,
            players=args.players,
            teams=args.teams,
            episode=args.chosen_episode,
            reward=POINTS if reward == WIN_PROB else reward,
            observe_rules=args.observe_rules,
            num_threads=args.threads,
        )
        self.table = Table.of(self.env)
        self.rules = self.env.games.game_rules
        self._has_rounds = reward != "win" and ROUND_NUMBER in (self.env.game.module().STATE.names or ())
        self._features = features_of(self.env.game) if args.has_features else None
        self._win_probs: npt.NDArray[np.float32] | None = None
        if reward == WIN_PROB:
            self._win_probs = _win_probs_of(edition, args.players, args.teams, args.seed)
        self._seed = seed
        self.restart()

    def restart(self) -> None:
        """Deal the first games again."""
        self.env.reset(seed=self._seed)
        self._remember()

    @property
    def states(self) -> StateArray:
        """The states of the games, STATE[N]."""
        return self.env.games.states

    def load_states(self, states: StateArray) -> None:
        """Continue from saved states."""
        self.env.set_states(states)
        self._remember()

    def _remember(self) -> None:
        if self._has_rounds:
            self._rounds = self.states[ROUND_NUMBER].copy()
        if self._win_probs is not None:
            self._scores = self.states["score"][:, : self.env.teams].astype(np.int64)

    def write_decisions(self, rollout: Rollout, step: int, games: slice) -> None:
        """Write the observations, masks and deciding seats into a step of the rollout."""
        buffers = self.env.games.buffers
        if self._features is not None:
            rows, spec = rollout.observations[step, games], self.env.observation_spec
            self._features.write_rows(self.rules, spec, buffers.observation, rows)
        else:
            rollout.observations[step, games] = buffers.observation
        rollout.masks[step, games] = buffers.action_mask
        rollout.seats[step, games] = buffers.agent_selection

    def step(self, actions: npt.NDArray[np.int64], rollout: Rollout, step: int, games: slice) -> None:
        """Apply an action in each game, and write rewards and ends into a step of the rollout.

        Unless the reward is "win", each round is an episode: it is rewarded at its end, and later rounds
        depend on it only through the score.
        """
        result = self.env.step(actions)
        if not self._has_rounds:
            rollout.dones[step, games] = result.terminations
            rollout.rewards[step, games] = result.rewards
            return
        rounds = self.states[ROUND_NUMBER]
        ended = result.terminations | (rounds != self._rounds)
        rollout.dones[step, games] = ended
        if self._win_probs is None:
            rollout.rewards[step, games] = result.rewards
        else:
            rollout.rewards[step, games] = 0.0
            over = np.flatnonzero(ended)
            if len(over):
                rollout.rewards[step, games][over] = self._gains(over, result.terminations[over])
        self._rounds = rounds.copy()

    def _gains(
        self, games: npt.NDArray[np.int64], match_over: npt.NDArray[np.bool_]
    ) -> npt.NDArray[np.float32]:
        """Return the change of match-win probability by rounds that have just ended, float32[G, S]."""
        assert self._win_probs is not None
        before = self._scores[games]
        after = self.states["score"][games, :2].astype(np.int64)
        chance = match_win_prob(self._win_probs, after[:, 0], after[:, 1])
        winner = self.env.games.buffers.final_winner[games]
        decided = np.where(winner < 0, 0.5, winner == 0)
        chance = np.where(match_over, decided, chance)
        gain = (chance - match_win_prob(self._win_probs, before[:, 0], before[:, 1])) / WIN_PROB_UNIT
        self._scores[games] = after
        signs = np.where(np.arange(self.env.players) % 2 == 0, 1.0, -1.0)
        gains: npt.NDArray[np.float32] = (gain[:, np.newaxis] * signs).astype(np.float32)
        return gains


@functools.cache
def _win_probs_of(edition: str, players: int, teams: int | None, seed: int) -> npt.NDArray[np.float32]:
    config = MatchConfig(edition, players, teams, episode="round", seed=seed)
    return match_win_prob_table(score_distribution(config), config.rules)


class Features(NamedTuple):
    """The features of a game."""

    size: Callable[[Any, Any], int]  # the number of features, from rules and spec
    write_rows: Callable[[GameRules, Any, Int8Array, Int8Array], None]  # kernel; see `_features_of`


def features_of(game: Game) -> Features:
    """Return the features of a game, with the kernel that writes them.

    Raises:
        OptionError: the game has none.
    """
    rulebook: Any = game.module()
    return _features_of(rulebook, game.hook("agents.features", "--features"))


@functools.cache
def _features_of(rulebook: Any, features: Any) -> Features:
    def write_rows(rules: GameRules, spec: Any, observations: Int8Array, rows: Int8Array) -> None:
        """Write observations int8[N, D] followed by their features into rows int8[N, D + num_features]."""
        size = observations.shape[1]
        for game in range(len(observations)):
            for column in range(size):
                rows[game, column] = observations[game, column]
            features.write_features(rules_of(rules, game), spec, rows[game], size)

    return Features(plain(features.num_features), kernel(named_for(rulebook, write_rows, features)))


class ManyGames:
    """The games of all tables as one batch.

    Attributes:
        parts: the tables, each with its slice of the batch.
        num_games: number of games, N.
        obs_size: length of an observation, D.
        num_inputs: inputs of a network: the observation and the features.
        num_actions: number of actions, A.
        players: number of seats, S.
        teams: number of teams, T.
        input_spec: the sections of the observation, and whether features follow.
    """

    def __init__(self, num_games: int, args: Args, seed: int) -> None:
        """Start all games, shared among the sheets as evenly as possible; each table has its own deals.

        Raises:
            MilleBornesError: there is no such table.
            ValueError: the tables differ too much for one network, or outnumber the games.
        """
        count = len(args.sheets)
        if count > num_games:
            raise ValueError(f"{num_games} games cannot be shared among {count} editions")
        ends = [part * num_games // count for part in range(count + 1)]
        self.parts: list[tuple[TableGames, slice]] = []
        for number, edition in enumerate(args.sheets):
            games = slice(ends[number], ends[number + 1])
            table = TableGames(edition, games.stop - games.start, args, (seed + (number << 32)) % 2**64)
            self.parts.append((table, games))
        self.num_games = num_games
        first = self.parts[0][0].env
        self.input_spec = InputSpec(first.observation_spec, args.has_features)
        self.obs_size = first.games.buffers.observation.shape[1]
        self.num_inputs = self.obs_size
        if args.has_features:
            self.num_inputs += features_of(first.game).size(first.rules, first.observation_spec)
        self.num_actions = first.games.buffers.action_mask.shape[1]
        self.players, self.teams = first.players, first.teams
        for part, _ in self.parts:
            shape = part.env.games.buffers.observation.shape[1], part.env.games.buffers.action_mask.shape[1]
            if shape != (self.obs_size, self.num_actions):
                raise ValueError(
                    f"the tables of {args.sheets[0]!r} and {part.env.edition.label!r} have rows of "
                    "other lengths: train a network for each"
                )

    @property
    def tables(self) -> list[Table]:
        """The tables in the form that agents take."""
        return [part.table for part, _ in self.parts]

    @property
    def observation(self) -> npt.NDArray[np.int8]:
        """An observation of a game of the first table, int8[1, D]."""
        return self.parts[0][0].env.games.buffers.observation[:1]

    def write_decisions(self, rollout: Rollout, step: int) -> None:
        """Write the observations, masks and deciding seats into a step of the rollout."""
        for part, games in self.parts:
            part.write_decisions(rollout, step, games)

    def step(self, actions: npt.NDArray[np.int64], rollout: Rollout, step: int) -> None:
        """Apply actions int64[N]; see `TableGames.step`."""
        for part, games in self.parts:
            part.step(actions[games], rollout, step, games)

    @property
    def oracle_size(self) -> int:
        """Length of a row of `write_oracle_rows`.

        Raises:
            RunError: the game has neither hands nor streams of cards.
        """
        return oracle_size(streams_in(self.parts[0][0].env), self.players)

    def write_oracle_rows(self, rows: npt.NDArray[np.int8]) -> None:
        """Write the rows of the oracle critic, int8[N, oracle_size]."""
        streams = streams_in(self.parts[0][0].env)
        for part, games in self.parts:
            write_oracle_rows(part.env.state(), streams, self.players, rows[games])

    def restart(self) -> None:
        """Deal the first games again."""
        for part, _ in self.parts:
            part.restart()

    def save(self) -> npt.NDArray[np.uint8]:
        """Return all games as bytes, uint8[N, size]."""
        states = np.concatenate([part.states for part, _ in self.parts])
        return np.frombuffer(states.tobytes(), np.uint8).reshape(self.num_games, states.itemsize).copy()

    def load(self, saved: npt.NDArray[np.uint8]) -> None:
        """Continue from the games that `save` returned.

        Raises:
            StateError: the bytes are not games of these tables.
        """
        record = self.parts[0][0].states.dtype
        states = np.frombuffer(np.ascontiguousarray(saved).tobytes(), record)
        for part, games in self.parts:
            part.load_states(states[games].copy())


# The rows of the oracle critic -----------------------------------------------------------------------------

# The critic is needed for training only, so it may see hidden information: luck explains most of the value of
# a round, and is not due to its actions. A row holds the observation of the deciding seat, all other hands,
# and how soon each type of card comes in each seat's stream: 100 for the next card, a tenth less for each
# card before it.


def streams_in(env: VectorEnv) -> int:
    """Return the offset of the streams in a full state, behind the observation and the other hands.

    Raises:
        RunError: the game has neither hands nor streams of cards.
    """
    for section in env.state_sections:
        if section.name == STREAMS:
            return section.start
    raise RunError(
        f"--oracle is a critic that sees all hands and the cards that each seat will draw; the game "
        f"{env.game.name!r} has neither: leave it out"
    )


def oracle_size(streams: int, players: int) -> int:
    """Return the length of a row, from the offset of the streams in a full state and the number of seats."""
    return streams + players * NUM_CARD_TYPES


def oracle_scale(scale: npt.NDArray[np.float32], players: int) -> npt.NDArray[np.float32]:
    """Return the scale of a row, from the scale of an observation: 0.5 for hands, 0.01 for streams."""
    hands = np.full((players - 1) * NUM_CARD_TYPES, 0.5, np.float32)
    soon = np.full(players * NUM_CARD_TYPES, 0.01, np.float32)
    return np.concatenate([scale, hands, soon])


@kernel
def write_oracle_rows(full: Int8Array, streams: int, players: int, rows: Int8Array) -> None:
    """Write the critic's rows, int8[N, oracle_size].

    The states are int8[N, K], from `VectorEnv.state`: observation, other hands, and from `streams` the
    streams.
    """
    length = (full.shape[1] - streams) // players
    for game in range(len(full)):
        row, everything = rows[game], full[game]
        for column in range(streams):
            row[column] = everything[column]
        for column in range(streams, len(row)):
            row[column] = 0
        for seat in range(players):
            first, weight = streams + seat * NUM_CARD_TYPES, SOONEST
            for column in range(streams + seat * length, streams + (seat + 1) * length):
                card = int(everything[column]) - 1
                if card < 0:
                    break
                row[first + card] = int(min(row[first + card] + weight, MOST))
                weight *= LATER
