"""Many games at several tables, stepped as one batch: where `train.selfplay` gets its decisions from."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env import VectorEnv, vector_env
from millebornes_env.agents.policy.network import InputSpec
from millebornes_env.agents.protocol import Table
from millebornes_env.arena.match import MatchConfig
from millebornes_env.engine.kernels import named_for
from millebornes_env.engine.numba.compiling import for_kernels, kernel
from millebornes_env.engine.rulebook import StateArray
from millebornes_env.games.registry import Game
from train.common.equity import equity, equity_table, score_distribution
from train.common.oracle import oracle_size, streams_in, write_oracle_rows
from train.common.ppo import Int8Array, Rollout

POINTS: Final = "points"
WIN: Final = "win"
MATCH: Final = "match"
EQUITY: Final = "equity"
"""The trainer's own reward, beside those of the game's rulebook."""

EQUITY_UNIT: Final = 0.25
"""A match's worth of equity is a reward of 4: a round is then worth about 1, as with points."""

ROUND_NUMBER: Final = "round_number"
"""The field of a record that counts rounds, in a game whose episodes can have several."""


@dataclass(frozen=True)
class TableOptions:
    """The tables that are played at.

    Attributes:
        editions: names of rule sheets; the games are shared among them.
        players: seats at each table.
        teams: teams at each table; None: as usual for the sheet.
        episode: one of the game's.
        reward: one of the game's, or `EQUITY`.
        observe_rules: whether rows show the rules.
        features: whether those of the game (`Game.features`) stand behind an observation.
        seed: seed of the run.
        threads: that step them.
        seed_of_games: theirs; None: the run's.
    """

    editions: Sequence[str]
    players: int
    teams: int | None
    episode: str
    reward: str
    observe_rules: bool
    features: bool
    seed: int
    threads: int
    seed_of_games: int | None = None


class TableGames:
    """The games of one table, N of them.

    Attributes:
        env: the environment that they are played in.
        table: the table as agents are told of it.
        rules: its, as kernels take them.
    """

    def __init__(self, edition: str, number: int, games: int, options: TableOptions) -> None:
        """Begin the games.

        Args:
            edition: the rule sheet.
            number: of the table, so that tables have other deals.
            games: number of games, N.
            options: of all tables.

        Raises:
            MilleBornesError: there is no such table, or its game lacks something that is asked for.
            RunError: the reward is equity, and the table has none.
        """
        self.env: VectorEnv = vector_env(
            games,
            edition,
            players=options.players,
            teams=options.teams,
            episode=options.episode,
            reward=POINTS if options.reward == EQUITY else options.reward,
            observe_rules=options.observe_rules,
            num_threads=options.threads,
        )
        self.table = Table.of(self.env)
        rulebook = self.env.game.module()
        self.rules = for_kernels(rulebook.rules_array(self.env.rules))[0]
        self._has_rounds = options.reward != WIN and ROUND_NUMBER in (rulebook.STATE.names or ())
        self._features = features_of(self.env.game) if options.features else None
        self._equity: npt.NDArray[np.float32] | None = None
        if options.reward == "equity":
            self._equity = _equity_of(edition, options.players, options.teams, options.seed)
        seed = options.seed if options.seed_of_games is None else options.seed_of_games
        self._seed = (seed + (number << 32)) % 2**64
        self.restart()

    def restart(self) -> None:
        """Deal the first games again."""
        self.env.reset(seed=self._seed)
        self._look()

    @property
    def states(self) -> StateArray:
        """STATE[N], the games themselves."""
        return self.env.games.states

    def put_back(self, states: StateArray) -> None:
        """Go on from states that were saved."""
        self.env.set_states(states)
        self._look()

    def _look(self) -> None:
        if self._has_rounds:
            self._rounds = self.states[ROUND_NUMBER].copy()
        if self._equity is not None:
            self._scores = self.states["score"][:, : self.env.teams].astype(np.int64)

    def write_decisions(self, rollout: Rollout, step: int, games: slice) -> None:
        """Write what the deciding seats see into a step of the rollout."""
        buffers = self.env.games.buffers
        if self._features is not None:
            self._features.write_rows(
                self.rules,
                self.env.observation_spec,
                buffers.observation,
                rollout.observations[step, games],
            )
        else:
            rollout.observations[step, games] = buffers.observation
        rollout.masks[step, games] = buffers.action_mask
        rollout.seats[step, games] = buffers.agent_selection

    def step(self, actions: npt.NDArray[np.int64], rollout: Rollout, step: int, games: slice) -> None:
        """Carry out an action in each game, and write what it earned and whether something ended.

        With points and equity a round is played for itself: what a round is worth is told at its end, and
        what follows does not depend on it any more than the score says.
        """
        result = self.env.step(actions)
        if not self._has_rounds:
            rollout.dones[step, games] = result.terminations
            rollout.rewards[step, games] = result.rewards
            return
        rounds = self.states[ROUND_NUMBER]
        ended = result.terminations | (rounds != self._rounds)
        rollout.dones[step, games] = ended
        if self._equity is None:
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
        """Change of both teams' chances by a round that has just ended, float32[G, S]."""
        assert self._equity is not None
        before = self._scores[games]
        after = self.states["score"][games, :2].astype(np.int64)
        chance = equity(self._equity, after[:, 0], after[:, 1])
        winner = self.env.games.buffers.final_winner[games]
        decided = np.where(winner < 0, 0.5, winner == 0)
        chance = np.where(match_over, decided, chance)
        gain = (chance - equity(self._equity, before[:, 0], before[:, 1])) / EQUITY_UNIT
        self._scores[games] = after
        signs = np.where(np.arange(self.env.players) % 2 == 0, 1.0, -1.0)
        gains: npt.NDArray[np.float32] = (gain[:, np.newaxis] * signs).astype(np.float32)
        return gains


@functools.cache
def _equity_of(edition: str, players: int, teams: int | None, seed: int) -> npt.NDArray[np.float32]:
    config = MatchConfig(edition, players, teams, episode="round", seed=seed)
    return equity_table(score_distribution(config), config.rules)


class Features(NamedTuple):
    """The features of a game.

    Attributes:
        size: `size(rules, spec)`: how many numbers they are.
        write_rows: kernel that writes observations with features behind them; see `features_of`.
    """

    size: Callable[[Any, Any], int]
    write_rows: Callable[[Any, Any, Int8Array, Int8Array], None]


def features_of(game: Game) -> Features:
    """The features of a game, and a kernel that writes them.

    Raises:
        OptionError: it has none.
    """
    rulebook: Any = game.module()
    return _features_of(rulebook, game.hook("agents.features", "--features"))


@functools.cache
def _features_of(rulebook: Any, features: Any) -> Features:
    def write_rows(rules: Any, spec: Any, observations: Int8Array, rows: Int8Array) -> None:
        """Write observations with features behind them.

        Args:
            rules: the rules of the table.
            spec: what an observation shows.
            observations: int8[N, D].
            rows: int8[N, D + num_features], overwritten.
        """
        size = observations.shape[1]
        for game in range(len(observations)):
            for column in range(size):
                rows[game, column] = observations[game, column]
            features.write_features(rules, spec, rows[game], size)

    return Features(features.num_features, kernel(named_for(rulebook, write_rows, features)))


class ManyGames:
    """The games of all tables as one batch of N.

    Attributes:
        parts: the tables, each with the slice of the batch that is its own.
        num_games: N.
        obs_size: D, of an observation.
        num_inputs: of a network: D, and features behind them.
        num_actions: A.
        players: S.
        teams: T.
    """

    def __init__(self, num_games: int, options: TableOptions) -> None:
        """Begin all games.

        Args:
            num_games: N, shared as evenly as it goes.
            options: what is played.

        Raises:
            MilleBornesError: there is no such table.
            ValueError: the tables are too different for one network, or more than the games.
        """
        count = len(options.editions)
        if not 1 <= count <= num_games:
            raise ValueError(f"{num_games} games cannot be shared among {count} editions")
        ends = [part * num_games // count for part in range(count + 1)]
        self.parts: list[tuple[TableGames, slice]] = []
        for number, edition in enumerate(options.editions):
            games = slice(ends[number], ends[number + 1])
            table = TableGames(edition, number, games.stop - games.start, options)
            self.parts.append((table, games))
        self.num_games = num_games
        first, rules = self.parts[0][0].env, self.parts[0][0].rules
        self.features = options.features
        self.obs_size = first.games.buffers.observation.shape[1]
        self.num_inputs = self.obs_size
        if options.features:
            self.num_inputs += features_of(first.game).size(rules, first.observation_spec)
        self.num_actions = first.games.buffers.action_mask.shape[1]
        self.players, self.teams = first.players, first.teams
        for part, _ in self.parts:
            shape = part.env.games.buffers.observation.shape[1], part.env.games.buffers.action_mask.shape[1]
            if shape != (self.obs_size, self.num_actions):
                raise ValueError(
                    f"the tables of {options.editions[0]!r} and {part.env.edition.label!r} have rows of "
                    "other lengths: train a network for each"
                )

    @property
    def tables(self) -> list[Table]:
        """The tables as agents are told of them."""
        return [part.table for part, _ in self.parts]

    @property
    def observation(self) -> npt.NDArray[np.int8]:
        """int8[1, D], what is seen of a game of the first table."""
        return self.parts[0][0].env.games.buffers.observation[:1]

    def write_decisions(self, rollout: Rollout, step: int) -> None:
        """Write what the deciding seats see into a step of the rollout."""
        for part, games in self.parts:
            part.write_decisions(rollout, step, games)

    def step(self, actions: npt.NDArray[np.int64], rollout: Rollout, step: int) -> None:
        """Carry out `actions` int64[N]; see `TableGames.step`."""
        for part, games in self.parts:
            part.step(actions[games], rollout, step, games)

    @property
    def input_spec(self) -> InputSpec:
        """The input of a network: what observations show, and whether there are features."""
        return InputSpec(self.parts[0][0].env.observation_spec, self.features)

    @property
    def oracle_size(self) -> int:
        """Length of a row of `write_oracle_rows`."""
        return oracle_size(self._streams, self.players)

    @property
    def _streams(self) -> int:
        """Offset of the streams in a full state."""
        return streams_in(self.parts[0][0].env)

    def write_oracle_rows(self, rows: npt.NDArray[np.int8]) -> None:
        """Write what the oracle critic sees, into int8[N, oracle_size]."""
        for part, games in self.parts:
            write_oracle_rows(part.env.state(), self._streams, self.players, rows[games])

    def restart(self) -> None:
        """Deal the first games again."""
        for part, _ in self.parts:
            part.restart()

    def save(self) -> npt.NDArray[np.uint8]:
        """All games as bytes, uint8[N, size]."""
        states = np.concatenate([part.states for part, _ in self.parts])
        return np.frombuffer(states.tobytes(), np.uint8).reshape(self.num_games, states.itemsize).copy()

    def put_back(self, saved: npt.NDArray[np.uint8]) -> None:
        """Go on from what `save` returned.

        Raises:
            StateError: they are no games of these tables.
        """
        record = self.parts[0][0].states.dtype
        states = np.frombuffer(np.ascontiguousarray(saved).tobytes(), record)
        for part, games in self.parts:
            part.put_back(states[games].copy())
