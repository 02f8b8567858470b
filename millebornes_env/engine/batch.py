"""N games of one rulebook: their records, their buffers and their kernels."""

from __future__ import annotations

import copy
import functools
import importlib
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env.engine import kernels, sampling
from millebornes_env.engine.action_sets import ints_for
from millebornes_env.engine.kernels import (
    NO_GAME,
    Buffers,
    GameRules,
    Settings,
    drawn_sheet,
    kernels_of,
    key_of_seed,
)
from millebornes_env.engine.numba import machine_code
from millebornes_env.engine.numba.compiling import address_of, for_kernels, plain
from millebornes_env.engine.numba.threads import Pace, has_threads, launch, unpaced
from millebornes_env.engine.rulebook import Rulebook, StateArray, TableRules
from millebornes_env.errors import EditionError


def new_buffers(rulebook: Rulebook, num_games: int, rules: TableRules, settings: Settings) -> Buffers:
    """Return zeroed arrays of the shapes and dtypes that a step writes (see `Buffers`)."""
    numbers = rulebook.sections(rules, settings.observation_spec)[-1].stop
    return Buffers(
        observation=np.zeros((num_games, numbers), np.int8),
        action_mask=np.zeros((num_games, rulebook.action_count(rules, settings.observation_spec)), np.int8),
        agent_selection=np.zeros(num_games, np.int32),
        rewards=np.zeros((num_games, rules.players), np.float32),
        terminations=np.zeros(num_games, np.bool_),
        truncations=np.zeros(num_games, np.bool_),
        final_observation=np.zeros((num_games, rules.players, numbers), np.int8),
        final_score=np.zeros((num_games, rules.teams), np.int16),
        final_winner=np.zeros(num_games, np.int8),
    )


def same_rules(rulebook: Rulebook, rules: TableRules, num_games: int) -> GameRules:
    """Return the rules of games that all have the same."""
    record = for_kernels(rulebook.rules_array(rules))
    return GameRules(record, record, np.zeros(num_games, np.int32), np.zeros(num_games, np.int32))


GAMES_WORTH_A_THREAD: Final = 256
"""Minimum number of games for each thread: for fewer, waking it costs more time than it saves."""


class Batch:
    """A batch of games.

    Attributes:
        rulebook: the game.
        rules: the table's rules; with `sheets`, the largest values of all games.
        game_rules: records of the rules, and the index of each game's.
        settings: settings of the environment.
        states: `STATE[N]`, one record for each game.
        buffers: the arrays that `start` and `step` write.
        legal: int64[N, W], the legal actions of each game as a set (`engine.action_sets`).
        num_threads: maximum number of CPU threads for `step`; it does not change any result. At most one for
            each `GAMES_WORTH_A_THREAD` games. One thread is used in a process without threads
            (`engine.numba.threads.has_threads`), and while several are slower (`engine.numba.threads.Pace`).
    """

    def __init__(
        self,
        rulebook: Rulebook,
        num_games: int,
        rules: TableRules,
        settings: Settings,
        buffers: Buffers | None = None,
        num_threads: int = 1,
        sheets: StateArray | None = None,
    ) -> None:
        """Make the games; call `seed` and `start` before the first step.

        Args:
            rulebook: as the attribute.
            num_games: number of games, N.
            rules: as the attribute.
            settings: as the attribute.
            buffers: as the attribute; None for new ones.
            num_threads: as the attribute.
            sheets: records of rules (`Rulebook.rules_array`) of which each game draws one when an episode
                begins, all with the same seats and teams; None: `rules` for all games.

        Raises:
            GameError: the rulebook is incomplete.
        """
        kernels_of(rulebook)  # first, as it checks the rulebook
        self.rulebook = rulebook
        self.rules = rules
        self.settings = settings
        self.num_threads = max(1, min(num_threads, num_games // GAMES_WORTH_A_THREAD))
        self.buffers = buffers or new_buffers(rulebook, num_games, rules, settings)
        self.legal = np.zeros((num_games, ints_for(self.buffers.action_mask.shape[1])), np.int64)
        self.states: StateArray = np.zeros(num_games, rulebook.STATE).view(np.recarray)
        self.game_rules = same_rules(rulebook, rules, num_games)
        if sheets is not None:  # one sheet is never drawn: it is the record of all games
            records = sheets.copy() if len(sheets) == 1 else np.repeat(self.game_rules.records, num_games)
            self.game_rules = self.game_rules._replace(records=records, sheets=sheets)
        self._prepare()

    def _prepare(self) -> None:
        """Set up what is not copied or pickled: the kernels and their view of the states."""
        self._is_checked = False
        self._kernels = kernels_of(self.rulebook)
        self._states = for_kernels(self.states)
        records, sheets = for_kernels(self.game_rules.records), for_kernels(self.game_rules.sheets)
        self.game_rules = self.game_rules._replace(records=records, sheets=sheets)
        self._actions = np.zeros(len(self.states), np.int64)
        self._step_range_address = machine_code.address_of(self._kernels.step_range)
        self._pace_of_steps, self._pace_of_samples = Pace(), Pace()

    def __len__(self) -> int:
        return len(self.states)

    def seed(self, seed: int, first_game: int = 0) -> None:
        """Write the key of every game; the next `start` begins its first episode.

        Args:
            seed: 0 to 2**64 - 1.
            first_game: number of the first game; a game's key depends on the seed and its number only.
        """
        machine_code.of(self._kernels.seed_games)(self._states, first_game, *key_of_seed(seed))

    def start(self, chosen: npt.NDArray[np.bool_] | None = None) -> None:
        """Begin the next episode of the chosen games (all, if None) and write the decisions of all games.

        Raises:
            EditionError: with these rules a game ends before its first decision.
        """
        self.buffers.truncations[:] = False
        self._run(1 if chosen is None else chosen, kernels.BEGIN)
        if not self._is_checked:
            begins = self._actions == 1
            has_no_decision = begins & ~self.buffers.action_mask.any(axis=1)
            if has_no_decision.any():  # it could never be stepped
                game = int(has_no_decision.argmax())
                raise EditionError(
                    f"with these rules of {self.rulebook.NAME}, game {game} ended before its first decision: "
                    "choose another sheet or other overrides"
                )
            self._is_checked = bool(begins.any())

    def load(self, states: StateArray) -> None:
        """Copy records of the same games, or of others with the same rules, and write their decisions.

        Args:
            states: `STATE[N]`; each game's sheet follows from its key and episode.
        """
        self.states[:] = states
        rules = self.game_rules
        if len(rules.sheets) > 1:
            rules.sheet[:] = self.sheets_of(states)
            rules.records[:] = rules.sheets[rules.sheet]
        self.write_decisions()

    def sheets_of(self, states: StateArray) -> npt.NDArray[np.int64]:
        """Return the index of the sheet of each record, int64[len(states)]."""
        (key_0, key_1), episodes = states["key"].T, states["episode"].astype(np.int64)
        drawn: Any = plain(drawn_sheet)(key_0, key_1, episodes, len(self.game_rules.sheets))
        return np.asarray(drawn)

    def write_decisions(self) -> None:
        """Rewrite the buffers from the states, with rewards of 0."""
        self.start(np.zeros(len(self), np.bool_))

    def _arguments(self) -> tuple[Any, ...]:
        """Return the arguments of `kernels.step_range` for all games, but for the task."""
        table = (self._states, self.game_rules, self.settings)
        return (*table, self._actions, self.buffers, self.legal, 0, len(self))

    @functools.cached_property
    def _run_task(self) -> Callable[[int], int]:
        return machine_code.prepare(self._kernels.step_range, *self._arguments())

    @functools.cached_property
    def _sample(self) -> Callable[[int, int, int], None]:
        return machine_code.prepare(sampling.sample_range, self.legal, self._actions, 0, len(self))

    @functools.cached_property
    def _run_on_threads(self) -> Callable[[int, int], int]:
        plain_settings, spec = self.settings._replace(observation_spec=0), self.settings.observation_spec
        table = (self._states, self.game_rules, plain_settings, spec)
        loop = unpaced(kernels.step_on_threads)
        return machine_code.prepare(loop, *table, self._actions, self.buffers, self.legal)

    @functools.cached_property
    def _sample_on_threads(self) -> Callable[[int, int, int, int], None]:
        return machine_code.prepare(unpaced(sampling.sample_on_threads), self.legal, self._actions)

    def _run(self, actions: npt.ArrayLike, task: int) -> int:
        self._actions[...] = actions
        return self._run_task(task)

    def step(self, actions: npt.NDArray[np.int64]) -> int:
        """Apply one action in each game; if any is illegal, in none.

        Args:
            actions: int64[N], C-contiguous; `kernels.SKIP` leaves a game unchanged.

        Returns:
            `NO_GAME`, or the first game whose action is illegal.
        """
        if self.num_threads == 1 or not has_threads():
            return self._run(actions, kernels.CHECK_AND_STEP)
        shared = self._pace_of_steps.shares()
        began = perf_counter()
        result = self._step_on_threads(actions) if shared else self._run(actions, kernels.CHECK_AND_STEP)
        self._pace_of_steps.note(shared, began, perf_counter())
        return result

    def _step_on_threads(self, actions: npt.NDArray[np.int64]) -> int:
        if self._step_range_address is None:
            examples = (*self._arguments(), kernels.STEP)
            self._step_range_address = address_of(self._kernels.step_range, *examples)
        self._actions[...] = actions
        return launch(self.num_threads, self._run_on_threads, self.num_threads, self._step_range_address)

    def sample(
        self, key: tuple[int, int], call: int, out: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.int64]:
        """Sample one of the legal actions of each game, uniformly.

        Args:
            key: of the random numbers.
            call: number of the call; other numbers give other actions.
            out: int64[N] to write to; None: a new array.

        Returns:
            int64[N].
        """
        is_threaded = self.num_threads > 1 and has_threads()
        shared = is_threaded and self._pace_of_samples.shares()
        began = perf_counter() if is_threaded else 0.0
        if shared:
            launch(self.num_threads, self._sample_on_threads, *key, call, self.num_threads)
        else:
            self._sample(*key, call)
        if is_threaded:
            self._pace_of_samples.note(shared, began, perf_counter())
        if out is None:
            return self._actions.copy()
        out[...] = self._actions
        return out

    def observe(self, seats: npt.NDArray[np.int32], observation: npt.NDArray[np.int8]) -> None:
        """Write the observation of the given seat of each game into `observation` int8[N, D]."""
        observe_seats = machine_code.of(self._kernels.observe_seats)
        observe_seats(self._states, self.game_rules, self.settings, seats, observation)

    def full_states(self) -> npt.NDArray[np.int8]:
        """Return the full state of each game, int8[N, K] (`Rulebook.full_state_sections`)."""
        layout = self.rulebook.full_state_sections(self.rules, self.settings.observation_spec)
        full = np.zeros((len(self), layout[-1].stop), np.int8)
        numbers = self.buffers.observation.shape[1]
        full_states = machine_code.of(self._kernels.full_states)
        full_states(self._states, self.game_rules, self.settings, numbers, full)
        return full

    def determinize(self, seats: npt.NDArray[np.int32], key: tuple[int, int]) -> StateArray:
        """Copy the games and resample everything hidden from the given seat of each.

        Args:
            seats: int32[N].
            key: key of the random numbers.

        Returns:
            `STATE[N]`.
        """
        redealt = self.states.copy()
        redeal_games = machine_code.of(self._kernels.redeal_games)
        scratch = np.zeros(self.rulebook.REDEAL_ROOM, np.int8)
        redeal_games(for_kernels(redealt), self.game_rules, seats, *key, scratch)
        if len(self.game_rules.sheets) > 1:
            redealt["key"] = self.states["key"]  # a game's sheet is drawn with its key
        return redealt

    def win_shares(self, games: Sequence[int] | slice = slice(None)) -> npt.NDArray[np.float64]:
        """Return each team's share of the win in the episodes that ended in the last step.

        A shared win (`final_winner` is -1) goes to the teams with the most points, or with the highest reward
        if the game is not won by score.

        Args:
            games: indices of the games; all by default.

        Returns:
            float64[N, T]: 1 for a sole winner, 1 / k for each of k teams that share the win, else 0;
            0 for all if no episode ended or an illegal action ended it.
        """
        teams, sheets = self.rules.teams, self.game_rules.final_sheet[games]
        rewards = self.buffers.rewards[games]
        records = self.game_rules.sheets.view(np.recarray)
        by_score = {sheet: self.rulebook.is_won_by_score(records[sheet]) for sheet in set(sheets.tolist())}
        by_scores = np.array([by_score[sheet] for sheet in sheets.tolist()], np.bool_)[:, np.newaxis]
        # Seat t belongs to team t for t < T.
        values = np.where(by_scores, self.buffers.final_score[games], rewards[:, :teams])
        alone = self.buffers.final_winner[games][:, np.newaxis]
        won = np.where(alone < 0, values == values.max(axis=1, keepdims=True), alone == np.arange(teams))
        # Rewards of a finished round add up to 0; after an illegal action none is positive.
        was_punished = (rewards.min(axis=1) < 0) & (rewards.max(axis=1) <= 0)
        won &= (self.buffers.terminations[games] & ~was_punished)[:, np.newaxis]
        shares: npt.NDArray[np.float64] = won / np.maximum(won.sum(axis=1, keepdims=True), 1)
        return shares

    def clone(self) -> Batch:
        """Return an independent copy, buffers included."""
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, object]) -> Batch:
        copied = Batch(
            self.rulebook,
            len(self),
            self.rules,
            self.settings,
            Buffers._make(array.copy() for array in self.buffers),
            self.num_threads,
            self.game_rules.sheets,
        )
        copied.states[:] = self.states
        copied.legal[:] = self.legal
        for name in ("records", "sheet", "final_sheet"):
            getattr(copied.game_rules, name)[:] = getattr(self.game_rules, name)
        return copied

    def __getstate__(self) -> dict[str, object]:
        values = {name: value for name, value in vars(self).items() if not name.startswith("_")}
        return values | {"rulebook": self.rulebook.__name__}  # type: ignore[attr-defined] # it is a module

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        self.rulebook = importlib.import_module(values["rulebook"])
        self._prepare()


__all__ = ["NO_GAME", "Batch", "Buffers", "Settings", "new_buffers"]
