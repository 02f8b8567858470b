"""N games with one learning seat each: the common part of both single-agent environments."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from millebornes_env._util.arguments import at_least_one, checked_index, flag
from millebornes_env._util.texts import closest
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.batch import GAMES_WORTH_A_THREAD
from millebornes_env.engine.kernels import NO_GAME, SKIP, Settings
from millebornes_env.engine.numba.compiling import for_kernels, plain
from millebornes_env.engine.numba.machine_code import prepare
from millebornes_env.envs import options as check
from millebornes_env.envs.arrays import array_of
from millebornes_env.envs.illegal_action import illegal_action_error
from millebornes_env.envs.single_agent.kernels import (
    BEGIN,
    CHECK,
    CHECKED_STEP,
    ILLEGAL_ACTION,
    LEARNERS_STEP,
    MAX_EPISODES_WITHOUT_A_TURN,
    NO_TURN,
    NOBODY,
    OPPONENTS_STEP,
    RESET,
    Learners,
    new_learners,
    play_on_of,
)
from millebornes_env.envs.single_agent.opponents import Opponents, OpponentSpec, specs_by_offset
from millebornes_env.envs.vector import VectorEnv
from millebornes_env.errors import ActionError, AgentError, CallError, OptionError, shown

MASK = "action_mask"
_INTERRUPTED = "the last call was interrupted"
_FAILED = "an opponent failed, so its games cannot continue"
Observation = Any
"""int8[..., D] or float32[..., D]; or a dictionary of `observation` and `action_mask`."""


def reject_unknown(options: Iterable[str], cls: type, *classes: type) -> None:
    """Raise if an option is none of a class, or of `classes`, from which it takes others.

    Raises:
        OptionError: an option is unknown; the message lists the known ones.
    """
    parameters = [one for kind in (cls, *classes) for one in inspect.signature(kind).parameters.values()]
    known = list(dict.fromkeys(one.name for one in parameters if one.kind is not one.VAR_KEYWORD))
    for name in options:
        if name not in known:
            raise OptionError(
                f"{cls.__name__}() got an unexpected keyword argument {shown(name)}; the options are "
                f"{', '.join(known)}.{closest(name, known)}"
            )


@functools.cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Return the thread pool of a process; a forked process gets a new one."""
    return ThreadPoolExecutor(threads, thread_name_prefix=f"millebornes-{process}")


class LearnerGames:
    """N games with one learning seat each; agents play the other seats up to the learner's decisions.

    Attributes:
        vector: the games, for inspection only; stepping them corrupts the learner's rewards.
        opponents: agents in the other seats.
        learners: arrays that every step overwrites (`kernels.Learners`).
        observation_space: observation space of one game.
    """

    def __init__(  # noqa: PLR0913 - options, nearly all by keyword
        self,
        num_envs: int,
        mode: AutoresetMode,
        opponent: OpponentSpec,
        *,
        num_threads: int = 1,
        partner: Any = None,
        seat: int | None = None,
        observe_mask: bool = False,
        scaled: bool = False,
        illegal_action: str = "terminate",
        **options: Any,
    ) -> None:
        """Create the games and the agents, with the options of `SingleAgentVectorEnv` and `VectorEnv`.

        Raises:
            MilleBornesError: an option is invalid; the subclass and the message say which one and why.
        """
        # The compiled loop begins the next episode itself, after it has recorded the winner.
        engine_mode = "next_step" if mode is AutoresetMode.NEXT_STEP else "disabled"
        self.vector = VectorEnv(
            num_envs, autoreset_mode=engine_mode, illegal_action=illegal_action, **options
        )
        vector = self.vector
        fixed_seat = NOBODY if seat is None else checked_index("seat", seat, vector.players)
        self._observes_mask = flag("observe_mask", observe_mask)
        self._is_scaled = flag("scaled", scaled)
        numbers = vector.observation_sections[-1].stop
        try:
            self.learners: Learners = new_learners(vector.num_envs, vector.rules, numbers)
        except MemoryError:
            raise check.too_many_games(vector.num_envs, "need more memory than there is") from None
        highs = np.concatenate([np.full(s.size, max(s.high, 1)) for s in vector.observation_sections])
        self._scale = (1.0 / highs).astype(np.float32)
        self.observation_space = self._space()
        if not vector.draws_sheets:  # libraries save the space with a model: `solving` knows its deck by this
            vars(self.observation_space)["sheet"] = vector.edition.label
        self._partner = partner
        self._seating = fixed_seat, int(mode is AutoresetMode.SAME_STEP)
        self.set_opponent(opponent)
        threads = at_least_one("num_threads", num_threads, check.MAX_THREADS, OptionError)
        self._threads = max(1, min(threads, vector.num_envs // GAMES_WORTH_A_THREAD))
        self._why_reset = "reset() has not been called"
        self._bind()

    def set_opponent(self, opponent: OpponentSpec) -> None:
        """Replace the opponents; a partner that was given stays.

        Raises:
            MilleBornesError: the opponent is invalid; the message says why.
        """
        specs = specs_by_offset(opponent, self._partner, self.vector.rules, self._view)
        self.opponents = Opponents(specs, Table.of(self.vector), self._seating)
        self.learners.memories[:] = 0
        vars(self).pop("_run_task", None)  # prepared for the previous agents

    def _view(self, rows: npt.NDArray[np.int8], masks: npt.NDArray[np.int8]) -> Observation:
        """Return observations in the learner's format."""
        numbers: npt.NDArray[Any] = rows * self._scale if self._is_scaled else rows
        return {"observation": numbers, MASK: masks} if self._observes_mask else numbers

    def _space(self) -> gymnasium.Space[Any]:
        spaces = self.vector.single_observation_space.spaces
        numbers: gymnasium.Space[Any] = spaces["observation"]
        if self._is_scaled:
            numbers = gymnasium.spaces.Box(0.0, 1.0, numbers.shape, np.float32)
        if self._observes_mask:
            return gymnasium.spaces.Dict({"observation": numbers, MASK: spaces[MASK]})
        return numbers

    def _bind(self) -> None:
        """Set up the attributes that are not copied or pickled: the kernel and its array views."""
        games = self.vector.games
        self.buffers = games.buffers
        self._play_on = play_on_of(games.rulebook)
        self._states = for_kernels(games.states)
        self._rules = games.game_rules
        self._settings = self.vector.settings
        self._opponent_settings = self._settings._replace(punish_illegal=0)
        self._actions = np.zeros(self.vector.num_envs, np.int64)

    @functools.cached_property
    def _run_task(self) -> Callable[[int], int]:
        return prepare(
            self._play_on,
            self._states,
            self._rules,
            self._settings,
            self.opponents.others,
            self.learners,
            self.buffers,
            self._actions,
            0,
            self.vector.num_envs,
        )

    def __getstate__(self) -> dict[str, Any]:
        bound = ("buffers", "_play_on", "_states", "_rules", "_run_task")
        return {name: value for name, value in vars(self).items() if name not in bound}

    def __setstate__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)
        self._bind()

    def reset(self, seed: int | None, options: Mapping[str, Any] | None, random: Any) -> None:
        """Begin new episodes and play until the learners' first decisions.

        `random` returns the generator for the seed of a first reset without one.

        Raises:
            AgentError: an agent failed.
            MilleBornesError: as in `VectorEnv.reset`.
        """
        options = check.checked_mapping(options)
        opponents_seed = seed
        chosen = array_of("reset_mask", options.get("reset_mask", True), OptionError)
        if self.vector._was_reset and self._why_reset and chosen.dtype == np.bool_ and not chosen.all():
            raise CallError(f"{self._why_reset}: call reset() without a reset_mask first")
        if seed is None and not self.vector._was_reset:
            opponents_seed = self.vector._next_seed = int(random().integers(2**63))
        buffers = self.vector.games.buffers
        decisions = buffers.observation, buffers.action_mask, buffers.agent_selection
        shown = [(rows, rows.copy()) for rows in decisions]
        self.vector.reset(seed=seed, options=options)
        if chosen.all():
            self.opponents.begin(opponents_seed)
        self._why_reset = _INTERRUPTED
        self.learners.each["idle"][:] = 0
        reset_mask = np.broadcast_to(chosen, self.vector.num_envs)
        for rows, before in shown:  # the learner's, where `vector.reset` wrote those of the seat to act
            rows[~reset_mask] = before[~reset_mask]
        self.learners.each["terminated"][reset_mask] = False
        self._play(np.where(reset_mask, BEGIN, SKIP), RESET)

    def step(self, actions: npt.NDArray[np.int64]) -> None:
        """Apply the learners' actions, int64[N] and not negative, and play until the learners decide again.

        Raises:
            IllegalActionError: (or `ActionError`) an illegal action; no game has been stepped.
            AgentError: an agent failed.
            CallError: before the first reset, after a failure, in an episode that is over, or after `close`.
        """
        self.check_ready()
        self._play(actions, LEARNERS_STEP)

    def check_ready(self) -> None:
        """Raise unless every game waits for its learner.

        Raises:
            CallError: before the first reset, after a failure, or after `close`.
        """
        if self.vector.closed or self._why_reset:
            self.vector._check_open()
            raise CallError(f"{self._why_reset}: call reset() first")

    def without_negative(self, actions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Replace negative actions, which would skip games, by an illegal one.

        Raises:
            ActionError: an action is negative, and illegal actions are errors.
        """
        if actions.min() >= 0:
            return actions
        count = int(self.vector.single_action_space.n)
        if self._settings.punish_illegal == 0:
            game = int(np.flatnonzero(actions < 0)[0])
            raise ActionError(
                f"{self._who(game)}: there is no action {int(actions[game])}; ids go from 0 to {count - 1}"
            )
        return np.where(actions < 0, count, actions)

    def _play(self, actions: npt.NDArray[np.int64], task: int) -> None:
        """Play until every game waits for its learner or is over."""
        self._why_reset = _INTERRUPTED
        stopped = self._run(actions, self._settings, task)
        if stopped != NO_GAME:
            self._fail(stopped)
        if not self.opponents.all_compiled:
            try:
                self._play_uncompiled()
            except AgentError:
                self._why_reset = _FAILED
                raise
        self._why_reset = ""

    def _run(self, actions: npt.NDArray[np.int64], settings: Settings, task: int) -> int:
        """Run the compiled loop over all games; return the first game that failed, or NO_GAME."""
        games = self.vector.num_envs
        if self._threads == 1 and settings is self._settings:
            self._actions[...] = actions
            return self._run_task(task)
        if self._threads == 1:
            return self._loop(self.learners, settings, actions, 0, games, task)
        if task == LEARNERS_STEP:  # check all actions before stepping any game
            illegal = self._loop(self.learners, settings, actions, 0, games, CHECK)
            if illegal != NO_GAME:
                return illegal
            task = CHECKED_STEP

        def share(thread: int) -> tuple[int, npt.NDArray[np.int64]]:
            first, last = (edge * games // self._threads for edge in (thread, thread + 1))
            own = self.learners._replace(fault=np.zeros_like(self.learners.fault))
            return self._loop(own, settings, actions, first, last, task), own.fault

        for stopped, fault in _pool(os.getpid(), self._threads).map(share, range(self._threads)):
            if stopped != NO_GAME:
                self.learners.fault[:] = fault
                return stopped
        return NO_GAME

    def _loop(
        self,
        learners: Learners,
        settings: Settings,
        actions: npt.NDArray[np.int64],
        first: int,
        last: int,
        task: int,
    ) -> int:
        others = self.opponents.others
        return self._play_on(
            self._states, self._rules, settings, others, learners, self.buffers, actions, first, last, task
        )

    def _play_uncompiled(self) -> None:
        """Play the agents that are not compiled functions, each with one call for all its games."""
        waits_for = self.learners.each["waits_for"]
        while (waiting := np.flatnonzero(waits_for != NOBODY)).size:
            self._forget_ended()
            actions = np.full(len(waits_for), SKIP, np.int64)
            for number in range(len(self.opponents.agents)):
                games = waiting[waits_for[waiting] == number]
                if games.size:
                    actions[games] = self._choose(number, games)
            stopped = self._run(actions, self._opponent_settings, OPPONENTS_STEP)
            if stopped != NO_GAME:
                self._fail(stopped)

    def _forget_ended(self) -> None:
        """Let the uncompiled agents forget the last episodes of games that have begun anew."""
        new, players = self.learners.each["is_new"], self.vector.players
        if new.any():
            first = np.flatnonzero(new)[:, np.newaxis] * players
            self.opponents.forget_slots((first + np.arange(players)).ravel())
            new[:] = False

    def _choose(self, number: int, games: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return an agent's actions in some games."""
        slot_ids = games * self.vector.players + self.buffers.agent_selection[games]
        chosen = self.opponents.choose(
            number,
            self.buffers.observation[games],
            self.buffers.action_mask[games],
            slot_ids,
            lambda: self.vector.games.states[games],
        )
        # A negative action would skip the game, and the loop would never end.
        return np.where(chosen < 0, np.iinfo(np.int64).max, chosen)

    def _who(self, game: int) -> str:
        seat = self.vector.possible_agents[int(self.learners.each["seat"][game])]
        return seat if self.vector.num_envs == 1 else f"game {game}, {seat}"

    def _fail(self, game: int) -> NoReturn:
        """Raise the error for the fault in a game."""
        vector = self.vector
        kind, action = self.learners.fault.tolist()
        state, rulebook, rules = vector.games.states[game], vector.games.rulebook, vector.rules_of(game)
        number = game if vector.num_envs > 1 else None
        if kind == ILLEGAL_ACTION:
            self._why_reset = ""  # nothing has changed
            if plain(rulebook.is_round_over)(state):
                if number is None:
                    raise CallError("the episode has ended: call reset() first")
                raise CallError(
                    f'the episode of game {game} has ended: call reset(options={{"reset_mask": ...}}) first'
                )
            raise illegal_action_error(rulebook, state, rules, vector.possible_agents, action, number)
        self._why_reset = _FAILED
        if kind == NO_TURN:
            raise OptionError(
                f"{self._who(game)} had no turn in {MAX_EPISODES_WITHOUT_A_TURN:,} episodes: a seat without "
                "decisions cannot learn; choose another seat"
            )
        agent = self.opponents.agents[int(self.learners.each["waits_for"][game])]
        error = illegal_action_error(rulebook, state, rules, vector.possible_agents, action, number)
        raise AgentError(f"the opponent {shown(agent.name)} chose an illegal action. {error}. Call reset()")

    def observation(self, copies: bool = True) -> Observation:
        """Return the learners' observations, [N, D] or a dictionary, copied if `copies` is True."""
        numbers: npt.NDArray[Any] = self.buffers.observation
        if self._is_scaled:
            numbers = numbers * self._scale
        elif copies:
            numbers = numbers.copy()
        if not self._observes_mask:
            return numbers
        mask = self.buffers.action_mask
        return {"observation": numbers, MASK: mask.copy() if copies else mask}

    def final_observations(self, which: npt.NDArray[np.int64]) -> list[Observation]:
        """Return the learners' last observations in episodes that just ended: [D] each, or dictionaries."""
        rows: npt.NDArray[Any] = self.learners.final_observation[which]
        if self._is_scaled:
            rows = rows * self._scale
        if not self._observes_mask:
            return list(rows)
        masks = np.ones_like(self.buffers.action_mask[which])
        return [{"observation": row, MASK: mask} for row, mask in zip(rows, masks, strict=True)]
