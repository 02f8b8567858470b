"""The compiled loop of the single-agent environments: opponents play until the learner decides again.

As in `engine.kernels`, a rulebook defines the game; `agents.compiled` calls the compiled agents.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.compiled.agent import MEMORY, Int16Array, Int64Array, decide
from millebornes_env.agents.decoder import ObservationDecoder, decoder_of
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import (
    NO_GAME,
    SKIP,
    Buffers,
    GameRules,
    Settings,
    apply_action,
    end_episode,
    is_possible,
    named_for,
    rules_of,
    start_next_episode,
)
from millebornes_env.engine.numba.compiling import (
    for_kernels,
    kernel,
    rule,
    rule_of_rules,
    seldom_rule_of_rules,
)
from millebornes_env.engine.rulebook import NO_TEAM, Rulebook, State, StateArray, TableRules, checked_module

BoolArray = npt.NDArray[np.bool_]

# Tasks of `play_on`.
LEARNERS_STEP: Final = 0
"""The actions are the learners'; if one is illegal, no game is stepped."""
OPPONENTS_STEP: Final = 1
"""The actions are those of agents that are not compiled, and SKIP in all other games."""
RESET: Final = 2
"""Episodes have just begun: BEGIN in these games, SKIP in all others."""

CHECK: Final = 3
"""Only check that the learners' actions are legal."""
CHECKED_STEP: Final = 4
"""LEARNERS_STEP after a CHECK."""

# Markers in place of an action.
BEGIN: Final = -2
PUNISHED: Final = -3

PENALTY: Final = -1.0
"""The penalty for an illegal action, as in `engine.kernels.apply_action`."""

MIN_FUNCTIONS: Final = 8
"""Minimum length of `Others.choose`; a fixed length avoids compiling again for other numbers of agents."""

NOBODY: Final = -1

# Faults that stop `play_on`, in `Learners.fault`.
NO_FAULT: Final = 0
ILLEGAL_ACTION: Final = 1
ILLEGAL_CHOICE: Final = 2
NO_TURN: Final = 3

# Results of `apply_or_punish`, besides NO_TURN.
TURN: Final = 0
OVER: Final = 1

MAX_EPISODES_WITHOUT_A_TURN: Final = 1000
"""After this many in a row, the loop stops: the learner's seat probably never gets a turn."""

_DRAW_TAG: Final = 0x67796D31  # separates the opponents' random numbers from those of the game


class Others(NamedTuple):
    """K agents in the other seats, compiled functions or not."""

    choose: tuple[int, ...]  # [K] addresses of the compiled agents, else 0
    options: Int64Array  # [K, MAX_OPTIONS]
    is_compiled: BoolArray  # [K]
    agent_at: npt.NDArray[np.int32]  # [S] number of the agent, by the offset to the learner's left
    fixed_seat: int  # learner's seat, or NOBODY for a different seat in each episode
    restarts: int  # 1: the next episode begins in the step that ends one


LEARNER: Final = np.dtype(
    [
        ("choices", np.int64),  # decisions of compiled agents in this episode
        ("draw_key", np.int64),  # key of their random numbers in this episode
        ("earned", np.float64),  # learner's rewards that were not returned yet
        ("reward", np.float64),  # learner's reward in this step
        ("won", np.float64),  # learner's share of the win; valid if its episode ended in this step
        ("idle", np.int32),  # episodes since the learner's last decision
        ("waits_for", np.int32),  # number of the uncompiled agent to act, or NOBODY
        ("seat", np.int32),  # learner's seat
        ("final_seat", np.int32),  # learner's seat in the episode that ended
        ("final_sheet", np.int32),  # its sheet, where games draw their sheets
        ("has_begun", np.bool_),  # True if an episode began in this step
        ("is_new", np.bool_),  # True until the uncompiled agents have forgotten the game's last episode
        ("terminated", np.bool_),  # True if the learner's episode ended in this step
        ("illegal", np.bool_),  # True if an illegal action of the learner ended it
    ],
    align=True,
)
"""Record of a game: data between steps, and results of a step."""


class Learners(NamedTuple):
    """Arrays of N games; S seats, T teams, D numbers in an observation."""

    each: StateArray  # LEARNER[N]
    memories: Int16Array  # [N, S, MEMORY] of the compiled agents
    fault: Int64Array  # [2] kind of fault, and the action
    final_observation: npt.NDArray[np.int8]  # [N, D] learner's last observation; valid where `terminated`
    final_score: npt.NDArray[np.int16]  # [N, T] points of all teams; valid where `terminated`


def new_learners(num_envs: int, rules: TableRules, numbers: int) -> Learners:
    """Allocate zeroed arrays for `num_envs` games with observations of D `numbers`."""
    each = np.zeros(num_envs, LEARNER)
    each["waits_for"] = NOBODY
    return Learners(
        each=for_kernels(each),
        memories=np.zeros((num_envs, rules.players, MEMORY), np.int16),
        fault=np.zeros(2, np.int64),
        final_observation=np.zeros((num_envs, numbers), np.int8),
        final_score=np.zeros((num_envs, rules.teams), np.int16),
    )


@rule
def take_seat(state: State, players: int, others: Others, learners: Learners, game: int) -> None:
    """Choose the learner's seat in a new episode, and reset the opponents' memories and random numbers."""
    learner = learners.each[game]
    learner.seat = others.fixed_seat
    if others.fixed_seat == NOBODY:
        learner.seat = (game + int(state.episode)) % players
    learners.memories[game, :, :] = 0
    learner.choices = 0
    key_0, key_1 = int(state.key[0]), int(state.key[1])
    learner.draw_key = random_word(key_1 ^ _DRAW_TAG, key_0, int(state.episode))
    learner.earned = 0.0
    learner.has_begun = True
    learner.is_new = True


@seldom_rule_of_rules
def close_episode(
    rulebook: Rulebook,
    state: State,
    rules: GameRules,
    settings: Settings,
    buffers: Buffers,
    learners: Learners,
    game: int,
) -> None:
    """Report the end of an episode to its learner, unless the learner had no turn in it."""
    learner = learners.each[game]
    if learner.has_begun:
        learner.idle += 1
        return
    seat, own = int(learner.seat), rules_of(rules, game)
    learner.terminated = True
    learner.reward = learner.earned
    learner.final_seat = seat
    learner.final_sheet = int(rules.sheet[game])
    for number in range(learners.final_observation.shape[1]):
        learners.final_observation[game, number] = buffers.final_observation[game, seat, number]
    for team in range(own.teams):
        learners.final_score[game, team] = buffers.final_score[game, team]
    learner.won = 0.0
    if not learner.illegal:
        learner.won = rulebook.win_share(state, own, settings.episode, seat % own.teams)


@seldom_rule_of_rules
def check_actions(  # noqa: PLR0913, PLR0917 - those of `play_on`
    rulebook: Rulebook,
    states: StateArray,
    rules: GameRules,
    settings: Settings,
    learners: Learners,
    actions: Int64Array,
    first: int,
    last: int,
    task: int,
) -> int:
    """Return the first game whose action is illegal, or NO_GAME."""
    learners.fault[0] = NO_FAULT
    if task in (RESET, CHECKED_STEP):
        return NO_GAME
    for game in range(first, last):
        action = int(actions[game])
        if action != SKIP and not is_possible(
            rulebook, states[game], rules_of(rules, game), settings, action
        ):
            learners.fault[0] = ILLEGAL_CHOICE if task == OPPONENTS_STEP else ILLEGAL_ACTION
            learners.fault[1] = action
            return game
    return NO_GAME


@rule_of_rules
def begin_step(
    rulebook: Rulebook, state: State, rules: TableRules, settings: Settings, learner: Any, action: int
) -> int:
    """Clear the results of the last step; return the learner's action, or PUNISHED if it is illegal."""
    learner.reward = 0.0
    learner.terminated = False
    learner.has_begun = False
    learner.illegal = False
    if settings.punish_illegal == 1 and not rulebook.is_round_over(state):
        learner.illegal = not rulebook.is_legal(state, rules, action)
    return PUNISHED if learner.illegal else action


@seldom_rule_of_rules
def punish(
    rulebook: Rulebook,
    state: State,
    rules: GameRules,
    settings: Settings,
    buffers: Buffers,
    game: int,
) -> None:
    """End the episode after an illegal action of the learner."""
    buffers.rewards[game, int(state.seat)] = PENALTY
    rulebook.break_off(state)
    end_episode(rulebook, state, rules, settings, NO_TEAM, buffers, game)


@rule_of_rules
def apply_or_punish(  # noqa: PLR0913, PLR0917 - those of `play_on`, and the game
    rulebook: Rulebook,
    state: State,
    rules: GameRules,
    settings: Settings,
    others: Others,
    learners: Learners,
    buffers: Buffers,
    game: int,
    action: int,
) -> int:
    """Apply a legal action or PUNISHED; start the next episode with `restarts` or without a learner turn.

    Returns:
        TURN if the game waits for a seat, OVER if it is over, NO_TURN if the learner's seat gets no turns.
    """
    buffers.rewards[game, :] = 0.0
    buffers.terminations[game] = False
    learner = learners.each[game]
    if action == PUNISHED:
        punish(rulebook, state, rules, settings, buffers, game)
    else:  # the action is known to be legal
        unchecked = Settings(
            settings.episode, settings.reward, settings.autoreset, settings.observation_spec, 0
        )
        apply_action(rulebook, state, rules, unchecked, action, buffers, game)
    learner.earned += float(buffers.rewards[game, int(learner.seat)])
    if not buffers.terminations[game]:
        return TURN
    close_episode(rulebook, state, rules, settings, buffers, learners, game)
    if others.restarts == 0 and learner.terminated:
        return OVER
    if learner.idle > MAX_EPISODES_WITHOUT_A_TURN:
        return NO_TURN
    start_next_episode(rulebook, state, rules, game)
    take_seat(state, rules_of(rules, game).players, others, learners, game)
    return TURN


@rule_of_rules
def write_outputs(
    rulebook: Rulebook,
    state: State,
    rules: TableRules,
    settings: Settings,
    learners: Learners,
    buffers: Buffers,
    game: int,
) -> None:
    """Write the observation and mask of the seat to act, or of the learner if the game is over."""
    over = rulebook.is_round_over(state)
    learner = learners.each[game]
    viewer = int(learner.seat) if over else int(state.seat)
    rulebook.write_observation(state, rules, viewer, settings.observation_spec, buffers.observation[game])
    rulebook.write_mask(state, rules, buffers.action_mask[game])
    buffers.agent_selection[game] = viewer
    if over:  # the next action is ignored, so all are allowed
        buffers.action_mask[game, :] = 1


@rule_of_rules
def choose_for(
    decoder: ObservationDecoder,
    state: State,
    rules: TableRules,
    others: Others,
    learners: Learners,
    game: int,
    number: int,
) -> int:
    """Return a compiled agent's action for the seat to act, with the game's decoder (`decoder_of`)."""
    learner = learners.each[game]
    seat = int(state.seat)
    draw = random_word(int(learner.draw_key), _DRAW_TAG, int(learner.choices))
    learner.choices += 1
    memory, options = learners.memories[game, seat], others.options[number]
    return int(decide(decoder, others.choose[number], state, rules, seat, memory, options, draw))


PlayOn = Callable[
    [StateArray, GameRules, Settings, Others, Learners, Buffers, Int64Array, int, int, int], int
]


def play_on_of(rulebook: Rulebook) -> PlayOn:
    """Return the loop for the games of a rulebook, which is cached and compiled when it is called.

    Raises:
        GameError: the module does not implement `Rulebook`.
    """
    return _play_on_of_module(checked_module(rulebook))


@functools.cache
def _play_on_of_module(module: ModuleType) -> PlayOn:
    rulebook: Any = module
    decoder = decoder_of(rulebook)

    def play_on(  # noqa: PLR0913, PLR0917 - Numba would take longer to type a tuple
        states: StateArray,
        rules: GameRules,
        settings: Settings,
        others: Others,
        learners: Learners,
        buffers: Buffers,
        actions: Int64Array,
        first: int,
        last: int,
        task: int,
    ) -> int:
        """Apply an action in each game, then play the compiled agents until another seat is to act.

        `settings` have autoreset DISABLED or NEXT_STEP. `actions`, int64[N], have the meaning that `task`
        gives them: LEARNERS_STEP, OPPONENTS_STEP (with `punish_illegal` 0) or RESET; with several threads,
        CHECK and CHECKED_STEP instead of LEARNERS_STEP. Afterwards, `waits_for` names the uncompiled agent
        that is to act, or NOBODY for the learner. The buffers have the observation and mask of the seat to
        act, or of the learner if the episode has ended.

        Returns:
            The first game with a fault (`learners.fault`), or NO_GAME.
        """
        illegal = check_actions(rulebook, states, rules, settings, learners, actions, first, last, task)
        if illegal != NO_GAME or task == CHECK:
            return illegal
        for game in range(first, last):
            state, learner, action = states[game], learners.each[game], int(actions[game])
            if action == SKIP:
                continue
            own = rules_of(rules, game)
            if task in (LEARNERS_STEP, CHECKED_STEP):
                action = begin_step(rulebook, state, own, settings, learner, action)
            if action != BEGIN and rulebook.is_round_over(state):  # NEXT_STEP: any action begins an episode
                start_next_episode(rulebook, state, rules, game)
                action = BEGIN
            if action == BEGIN:
                take_seat(state, own.players, others, learners, game)
            learner.waits_for = NOBODY
            while True:
                if action != BEGIN:
                    result = apply_or_punish(
                        rulebook, state, rules, settings, others, learners, buffers, game, action
                    )
                    if result == NO_TURN:
                        learners.fault[0] = NO_TURN
                        return game
                    if result == OVER:
                        break
                own = rules_of(rules, game)  # a new episode has other rules
                offset = int(state.seat) - int(learner.seat)
                if offset == 0:
                    learner.idle = 0
                    break
                number = int(others.agent_at[offset % own.players])
                if not others.is_compiled[number]:
                    learner.waits_for = number
                    break
                action = choose_for(decoder, state, own, others, learners, game, number)
                if not rulebook.is_legal(state, own, action):
                    learner.waits_for = number
                    learners.fault[0], learners.fault[1] = ILLEGAL_CHOICE, action
                    return game
            write_outputs(rulebook, state, rules_of(rules, game), settings, learners, buffers, game)
            if learner.waits_for == NOBODY and not learner.has_begun:
                learner.reward = learner.earned
                learner.earned = 0.0
        return NO_GAME

    return kernel(named_for(rulebook, play_on, decoder))
