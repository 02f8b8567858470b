"""The compiled loop of the single-agent environments: the others play until the learner is to decide again.

What is played is the rulebook's business, as in `engine.kernels`; how a compiled agent is asked, that of
`agents.compiled`.
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
    Settings,
    apply_action,
    end_episode,
    first_illegal,
    named_for,
    start_episode,
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

# What `play_on` is to do.
LEARNERS_STEP: Final = 0
"""The actions are the learners'; if one of them is illegal, nothing happens."""
ANSWERS: Final = 1
"""The actions are those of agents that were asked, and SKIP in all other games."""
EPISODES: Final = 2
"""Episodes have just started: the actions are BEGIN there, and SKIP in all other games."""

CHECK: Final = 3
"""See whether the learners' actions can be carried out; nothing else."""
CHECKED_STEP: Final = 4
"""As LEARNERS_STEP, after a CHECK."""

# In place of an action.
BEGIN: Final = -2
PUNISHED: Final = -3

PENALTY: Final = -1.0
"""The penalty for an illegal action, as in `engine.kernels.apply_action`."""

FEWEST_CHOICES: Final = 8
"""Smallest number of functions that kernels take, so that one compilation serves nearly all line-ups."""

NOBODY: Final = -1

# What stopped `play_on` in a game, in `Learners.fault`.
NO_FAULT: Final = 0
ILLEGAL_ACTION: Final = 1
ILLEGAL_CHOICE: Final = 2
NO_TURN: Final = 3

# How it went on after an action; or NO_TURN.
TURN: Final = 0
OVER: Final = 1

MOST_EPISODES_WITHOUT_A_TURN: Final = 1000
"""One after the other in a game; then the learner's seat has no part in it, and waiting would never end."""

_DRAW_TAG: Final = 0x67796D31  # sets the opponents' random numbers apart from those of the game


class Others(NamedTuple):
    """The agents in the other seats: K agents, of which only some are compiled functions."""

    choose: tuple[int, ...]  # [K] addresses of the compiled ones
    options: Int64Array  # [K, MAX_OPTIONS]
    is_compiled: BoolArray  # [K]
    agent_at: npt.NDArray[np.int32]  # [S] number of the agent by seats to the learner's left
    fixed_seat: int  # the learner's, or NOBODY: another one in each episode
    restarts: int  # 1: an episode that ends is followed by the next one at once


LEARNER: Final = np.dtype(
    [
        ("choices", np.int64),  # taken by compiled agents in this episode
        ("draw_key", np.int64),  # of their random numbers in this episode
        ("earned", np.float64),  # by the learner since its last decision
        ("reward", np.float64),  # of this step
        ("won", np.float64),  # the learner's share of the win; valid where its episode ended in this step
        ("idle", np.int32),  # episodes that went by since the learner was last to decide
        ("asks", np.int32),  # the number of the agent that is to be asked, or NOBODY
        ("seat", np.int32),  # the learner's
        ("final_seat", np.int32),  # the learner's in the episode that ended
        ("has_begun", np.bool_),  # whether an episode began in this step
        ("terminated", np.bool_),  # whether the learner's episode ended in this step
        ("illegal", np.bool_),  # whether an illegal action of the learner ended it
    ],
    align=True,
)
"""The data kept for each game, and the results of a step."""


class Learners(NamedTuple):
    """N games as their learners see them; S seats, T teams, D numbers in an observation."""

    each: StateArray  # LEARNER[N]
    memories: Int16Array  # [N, S, MEMORY] of the compiled agents
    fault: Int64Array  # [2] what stopped the call, and the action
    final_observation: npt.NDArray[np.int8]  # [N, D] what the learner saw at the end; valid where it ended
    final_score: npt.NDArray[np.int16]  # [N, T] points of all teams; valid where it ended


def new_learners(num_envs: int, rules: TableRules, numbers: int) -> Learners:
    """Allocate zeroed arrays for `num_envs` games.

    Args:
        num_envs: N.
        rules: of the table.
        numbers: D, in an observation.
    """
    each = np.zeros(num_envs, LEARNER)
    each["asks"] = NOBODY
    return Learners(
        each=for_kernels(each),
        memories=np.zeros((num_envs, rules.players, MEMORY), np.int16),
        fault=np.zeros(2, np.int64),
        final_observation=np.zeros((num_envs, numbers), np.int8),
        final_score=np.zeros((num_envs, rules.teams), np.int16),
    )


@rule
def take_seat(state: State, players: int, others: Others, learners: Learners, game: int) -> None:
    """Seat the learner in an episode that begins; the others forget the last one."""
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


@seldom_rule_of_rules
def close_episode(
    rulebook: Rulebook,
    state: State,
    rules: TableRules,
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
    seat = int(learner.seat)
    learner.terminated = True
    learner.reward = learner.earned
    learner.final_seat = seat
    for number in range(learners.final_observation.shape[1]):
        learners.final_observation[game, number] = buffers.final_observation[game, seat, number]
    for team in range(rules.teams):
        learners.final_score[game, team] = buffers.final_score[game, team]
    learner.won = 0.0
    if not learner.illegal:
        learner.won = rulebook.win_share(state, rules, settings.episode, seat % rules.teams)


@seldom_rule_of_rules
def check_actions(  # noqa: PLR0913, PLR0917 - those of `play_on`
    rulebook: Rulebook,
    states: StateArray,
    rules: TableRules,
    settings: Settings,
    learners: Learners,
    actions: Int64Array,
    first: int,
    last: int,
    task: int,
) -> int:
    """Check the actions; the first illegal game, or NO_GAME."""
    learners.fault[0] = NO_FAULT
    if task in (EPISODES, CHECKED_STEP):
        return NO_GAME
    illegal = first_illegal(rulebook, states, rules, settings, actions, first, last)
    if illegal != NO_GAME:
        learners.fault[0] = ILLEGAL_CHOICE if task == ANSWERS else ILLEGAL_ACTION
        learners.fault[1] = actions[illegal]
    return illegal


@rule_of_rules
def begin_step(
    rulebook: Rulebook, state: State, rules: TableRules, settings: Settings, learner: Any, action: int
) -> int:
    """Clear the results of the last step of a game; return the learner's action in this one, or PUNISHED."""
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
    rules: TableRules,
    settings: Settings,
    buffers: Buffers,
    game: int,
) -> None:
    """End the episode at once: the learner has tried what is not legal."""
    buffers.rewards[game, int(state.seat)] = PENALTY
    rulebook.break_off(state)
    end_episode(rulebook, state, rules, settings, NO_TEAM, buffers, game)


@rule_of_rules
def carry_on(  # noqa: PLR0913, PLR0917 - those of `play_on`, and whose game it is
    rulebook: Rulebook,
    state: State,
    rules: TableRules,
    settings: Settings,
    others: Others,
    learners: Learners,
    buffers: Buffers,
    game: int,
    action: int,
) -> int:
    """Carry out a legal action, or PUNISHED; after an episode's last, begin the next where that is wanted.

    Returns:
        TURN, if the game waits for a seat; OVER, if it is over; NO_TURN.
    """
    buffers.rewards[game, :] = 0.0
    buffers.terminations[game] = False
    learner = learners.each[game]
    if action == PUNISHED:
        punish(rulebook, state, rules, settings, buffers, game)
    else:  # whether it is legal has been asked
        unasked = Settings(
            settings.episode, settings.reward, settings.autoreset, settings.observation_spec, 0
        )
        apply_action(rulebook, state, rules, unasked, action, buffers, game)
    learner.earned += float(buffers.rewards[game, int(learner.seat)])
    if not buffers.terminations[game]:
        return TURN
    close_episode(rulebook, state, rules, settings, buffers, learners, game)
    if others.restarts == 0 and learner.terminated:
        return OVER
    if learner.idle > MOST_EPISODES_WITHOUT_A_TURN:
        return NO_TURN
    start_episode(rulebook, state, rules)
    take_seat(state, rules.players, others, learners, game)
    return TURN


@rule_of_rules
def write_view(
    rulebook: Rulebook,
    state: State,
    rules: TableRules,
    settings: Settings,
    learners: Learners,
    buffers: Buffers,
    game: int,
) -> None:
    """Write the observation and mask of the deciding seat, or of the learner if the game is over."""
    over = rulebook.is_round_over(state)
    learner = learners.each[game]
    viewer = int(learner.seat) if over else int(state.seat)
    rulebook.write_observation(state, rules, viewer, settings.observation_spec, buffers.observation[game])
    rulebook.write_mask(state, rules, buffers.action_mask[game])
    buffers.agent_selection[game] = viewer
    if over:  # an action does not count there, so none is excluded
        buffers.action_mask[game, :] = 1


@rule_of_rules
def choose_for(
    seen: ObservationDecoder,
    state: State,
    rules: TableRules,
    others: Others,
    learners: Learners,
    game: int,
    number: int,
) -> int:
    """Return a compiled agent's action for the deciding seat; `seen` is the game's, by `decoder_of`."""
    learner = learners.each[game]
    seat = int(state.seat)
    draw = random_word(int(learner.draw_key), _DRAW_TAG, int(learner.choices))
    learner.choices += 1
    memory, options = learners.memories[game, seat], others.options[number]
    return int(decide(seen, others.choose[number], state, rules, seat, memory, options, draw))


PlayOn = Callable[[StateArray, Any, Settings, Others, Learners, Buffers, Int64Array, int, int, int], int]


def play_on_of(rulebook: Rulebook) -> PlayOn:
    """The loop for the games of a rulebook, made once for each; it is compiled when it is called.

    Raises:
        GameError: the module lacks something that the engine asks for.
    """
    return _play_on_of_module(checked_module(rulebook))


@functools.cache
def _play_on_of_module(module: ModuleType) -> PlayOn:
    rulebook: Any = module
    seen = decoder_of(rulebook)

    def play_on(  # noqa: PLR0913, PLR0917 - as a tuple they would take Numba longer to look at
        states: StateArray,
        rules: TableRules,
        settings: Settings,
        others: Others,
        learners: Learners,
        buffers: Buffers,
        actions: Int64Array,
        first: int,
        last: int,
        task: int,
    ) -> int:
        """Carry out an action in each game, and let the compiled agents play until another is to decide.

        Where it stops, `asks` says whether that is an agent that must be asked, and the buffers have
        what the one who decides sees and may do; where the episode has ended, what the learner sees.

        Args:
            states: the games.
            rules: the table's rules.
            settings: of the environment; with autoreset DISABLED or NEXT_STEP.
            others: who plays the other seats.
            learners: what is kept of the games; overwritten.
            buffers: overwritten.
            actions: int64[N], what `task` says of each game.
            first: first game.
            last: one past the last game.
            task: LEARNERS_STEP, ANSWERS (which `settings` must not punish), EPISODES; or CHECK and
                CHECKED_STEP, in place of the first, where games are shared among threads.

        Returns:
            The first game that was stopped, as `learners.fault` says, or NO_GAME.
        """
        illegal = check_actions(rulebook, states, rules, settings, learners, actions, first, last, task)
        if illegal != NO_GAME or task == CHECK:
            return illegal
        for game in range(first, last):
            state, learner, action = states[game], learners.each[game], int(actions[game])
            if action == SKIP:
                continue
            if task in (LEARNERS_STEP, CHECKED_STEP):
                action = begin_step(rulebook, state, rules, settings, learner, action)
            if action != BEGIN and rulebook.is_round_over(state):  # NEXT_STEP: any action begins an episode
                start_episode(rulebook, state, rules)
                action = BEGIN
            if action == BEGIN:
                take_seat(state, rules.players, others, learners, game)
            learner.asks = NOBODY
            while True:
                if action != BEGIN:
                    went = carry_on(rulebook, state, rules, settings, others, learners, buffers, game, action)
                    if went == NO_TURN:
                        learners.fault[0] = NO_TURN
                        return game
                    if went == OVER:
                        break
                to_the_left = int(state.seat) - int(learner.seat)
                if to_the_left == 0:
                    learner.idle = 0
                    break
                number = int(others.agent_at[to_the_left % rules.players])
                if not others.is_compiled[number]:
                    learner.asks = number
                    break
                action = choose_for(seen, state, rules, others, learners, game, number)
                if not rulebook.is_legal(state, rules, action):
                    learner.asks = number
                    learners.fault[0], learners.fault[1] = ILLEGAL_CHOICE, action
                    return game
            write_view(rulebook, state, rules, settings, learners, buffers, game)
            if learner.asks == NOBODY and not learner.has_begun:
                learner.reward = learner.earned
                learner.earned = 0.0
        return NO_GAME

    return kernel(named_for(rulebook, play_on, seen))


__all__ = ["Learners", "Others", "new_learners", "play_on_of"]
