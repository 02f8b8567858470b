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
from millebornes_env.agents.seen import Seen, seen_of
from millebornes_env.chance import random_word
from millebornes_env.compile import kernel, rule, rule_of_rules, seldom_rule_of_rules
from millebornes_env.engine.kernels import (
    NEXT_STEP,
    NO_GAME,
    SKIP,
    Buffers,
    Settings,
    carry_out,
    end_episode,
    first_illegal,
    named_for,
    start_episode,
)
from millebornes_env.engine.rulebook import NO_TEAM, Rulebook, State, StateArray, TableRules, checked_module

BoolArray = npt.NDArray[np.bool_]

# What `play_on` is to do.
LEARNERS_STEP: Final = 0
"""The actions are the learners'; if one of them is illegal, nothing happens."""
ANSWERS: Final = 1
"""The actions are those of agents that were asked, and SKIP in all other games."""
EPISODES: Final = 2
"""Episodes have just begun, and nobody has acted: BEGIN there, and SKIP in all other games."""

# In place of an action.
BEGIN: Final = -2
PUNISHED: Final = -3

PENALTY: Final = -1.0
"""What an illegal action costs, as in `engine.kernels.carry_out`."""

FEWEST_CHOICES: Final = 8
"""Kernels take so many functions or more, so that they are compiled once for nearly all line-ups."""

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
    """Who plays the other seats: K agents, of which only some are compiled functions."""

    choose: tuple[int, ...]  # [K] addresses of the compiled ones
    options: Int64Array  # [K, MAX_OPTIONS]
    is_compiled: BoolArray  # [K]
    agent_at: npt.NDArray[np.int32]  # [S] the agent's number, so many seats to the learner's left
    fixed_seat: int  # the learner's, or NOBODY: another one in each episode
    restarts: int  # 1: an episode that ends is followed by the next one at once


class Learners(NamedTuple):
    """What is kept of each game, and what a step tells of it; N games, S seats, T teams, D numbers."""

    seat: npt.NDArray[np.int32]  # [N] the learner's
    memories: Int16Array  # [N, S, MEMORY] of the compiled agents
    choices: Int64Array  # [N] taken by compiled agents in this episode
    draw_key: Int64Array  # [N] of their random numbers in this episode
    earned: npt.NDArray[np.float64]  # [N] by the learner, not told yet
    has_begun: BoolArray  # [N] whether an episode began in this step
    idle: Int64Array  # [N] episodes that went by since the learner was last to decide
    asks: npt.NDArray[np.int32]  # [N] the number of the agent that is to be asked, or NOBODY
    fault: Int64Array  # [2] what stopped the call, and the action or the agent's number
    rewards: npt.NDArray[np.float64]  # [N] of this step
    terminations: BoolArray  # [N] whether the learner's episode ended in this step
    illegal: BoolArray  # [N] whether an illegal action of the learner ended it
    final_seat: npt.NDArray[np.int32]  # [N] the learner's; this and what follows is valid where it ended
    final_observation: npt.NDArray[np.int8]  # [N, D] what the learner saw then
    final_score: npt.NDArray[np.int16]  # [N, T] points of all teams
    won: npt.NDArray[np.float64]  # [N] the learner's share of the win


def new_learners(num_envs: int, rules: TableRules, numbers: int) -> Learners:
    """Room for so many games, zeroed.

    Args:
        num_envs: N.
        rules: of the table.
        numbers: D, in an observation.
    """
    games = num_envs
    return Learners(
        seat=np.zeros(games, np.int32),
        memories=np.zeros((games, rules.players, MEMORY), np.int16),
        choices=np.zeros(games, np.int64),
        draw_key=np.zeros(games, np.int64),
        earned=np.zeros(games, np.float64),
        has_begun=np.zeros(games, np.bool_),
        idle=np.zeros(games, np.int64),
        asks=np.full(games, NOBODY, np.int32),
        fault=np.zeros(2, np.int64),
        rewards=np.zeros(games, np.float64),
        terminations=np.zeros(games, np.bool_),
        illegal=np.zeros(games, np.bool_),
        final_seat=np.zeros(games, np.int32),
        final_observation=np.zeros((games, numbers), np.int8),
        final_score=np.zeros((games, rules.teams), np.int16),
        won=np.zeros(games, np.float64),
    )


@rule
def take_seat(state: State, players: int, others: Others, learners: Learners, game: int) -> None:
    """Seat the learner in an episode that begins; the others forget the last one."""
    learners.seat[game] = others.fixed_seat
    if others.fixed_seat == NOBODY:
        learners.seat[game] = (game + int(state.episode)) % players
    learners.memories[game, :, :] = 0
    learners.choices[game] = 0
    key_0, key_1 = int(state.key[0]), int(state.key[1])
    learners.draw_key[game] = random_word(key_1 ^ _DRAW_TAG, key_0, int(state.episode))
    learners.earned[game] = 0.0
    learners.has_begun[game] = True


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
    """Tell the learner of the end of its episode; one in which it had no turn is not worth telling."""
    if learners.has_begun[game]:
        learners.idle[game] += 1
        return
    seat = int(learners.seat[game])
    learners.terminations[game] = True
    learners.rewards[game] = learners.earned[game]
    learners.final_seat[game] = seat
    for number in range(learners.final_observation.shape[1]):
        learners.final_observation[game, number] = buffers.final_observation[game, seat, number]
    for team in range(rules.teams):
        learners.final_score[game, team] = buffers.final_score[game, team]
    learners.won[game] = 0.0
    if not learners.illegal[game]:
        learners.won[game] = rulebook.win_share(state, rules, settings.episode, seat % rules.teams)


@seldom_rule_of_rules
def check_actions(
    rulebook: Rulebook,
    states: StateArray,
    rules: TableRules,
    settings: Settings,
    learners: Learners,
    actions: Int64Array,
    task: int,
) -> int:
    """Check the actions, and before a step forget the last one; the first illegal game, or NO_GAME."""
    learners.fault[0] = NO_FAULT
    if task == EPISODES:
        return NO_GAME
    illegal = first_illegal(rulebook, states, rules, settings, actions, 0, len(states))
    if illegal != NO_GAME:
        learners.fault[0] = ILLEGAL_ACTION if task == LEARNERS_STEP else ILLEGAL_CHOICE
        learners.fault[1] = actions[illegal]
    elif task == LEARNERS_STEP:
        for game in range(len(states)):
            learners.rewards[game] = 0.0
            learners.terminations[game] = False
            learners.has_begun[game] = False
            learners.illegal[game] = False
            if settings.punish_illegal == 1 and not rulebook.is_round_over(states[game]):
                learners.illegal[game] = not rulebook.is_legal(states[game], rules, int(actions[game]))
    return illegal


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
    if action == PUNISHED:
        punish(rulebook, state, rules, settings, buffers, game)
    else:  # whether it is legal has been asked
        unasked = Settings(
            settings.episode, settings.reward, settings.autoreset, settings.observation_spec, 0
        )
        carry_out(rulebook, state, rules, unasked, action, buffers, game)
    learners.earned[game] += float(buffers.rewards[game, learners.seat[game]])
    if not buffers.terminations[game]:
        return TURN
    close_episode(rulebook, state, rules, settings, buffers, learners, game)
    if others.restarts == 0 and learners.terminations[game]:
        return OVER
    if learners.idle[game] > MOST_EPISODES_WITHOUT_A_TURN:
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
    """Write what whoever decides now sees and may do, or of a game that is over its learner."""
    over = rulebook.is_round_over(state)
    viewer = int(learners.seat[game]) if over else int(state.seat)
    rulebook.write_observation(state, rules, viewer, settings.observation_spec, buffers.observation[game])
    rulebook.write_mask(state, rules, buffers.action_mask[game])
    buffers.agent_selection[game] = viewer
    if over and settings.autoreset == NEXT_STEP:
        buffers.action_mask[game, :] = 1


@rule_of_rules
def choose_for(
    seen: Seen, state: State, rules: TableRules, others: Others, learners: Learners, game: int, number: int
) -> int:
    """What a compiled agent does for the seat that is to decide; `seen` is the game's, by `seen_of`."""
    seat = int(state.seat)
    draw = random_word(int(learners.draw_key[game]), _DRAW_TAG, int(learners.choices[game]))
    learners.choices[game] += 1
    memory, options = learners.memories[game, seat], others.options[number]
    return int(decide(seen, others.choose[number], state, rules, seat, memory, options, draw))


PlayOn = Callable[[StateArray, Any, Settings, Others, Learners, Buffers, Int64Array, int], int]


def play_on_of(rulebook: Rulebook) -> PlayOn:
    """The loop for the games of a rulebook, made once for each; it is compiled when it is called.

    Raises:
        RulebookError: the module lacks something that the engine asks for.
    """
    return _play_on_of_module(checked_module(rulebook))


@functools.cache
def _play_on_of_module(module: ModuleType) -> PlayOn:
    rulebook: Any = module
    seen = seen_of(rulebook)

    def play_on(
        states: StateArray,
        rules: TableRules,
        settings: Settings,
        others: Others,
        learners: Learners,
        buffers: Buffers,
        actions: Int64Array,
        task: int,
    ) -> int:
        """Carry out an action in each game, and let the compiled agents play until another is to decide.

        Where it stops, `learners.asks` says whether that is an agent that must be asked, and the buffers have
        what the one who decides sees and may do; where the episode has ended, what the learner sees.

        Args:
            states: the games.
            rules: the table's rules.
            settings: of the environment; with autoreset DISABLED or NEXT_STEP.
            others: who plays the other seats.
            learners: what is kept of the games; overwritten.
            buffers: overwritten.
            actions: int64[N], what `task` says of each game.
            task: LEARNERS_STEP, ANSWERS (which `settings` must not punish) or EPISODES.

        Returns:
            The first game that was stopped, as `learners.fault` says, or NO_GAME.
        """
        illegal = check_actions(rulebook, states, rules, settings, learners, actions, task)
        if illegal != NO_GAME:
            return illegal
        for game in range(len(states)):
            state, action = states[game], int(actions[game])
            if action == SKIP:
                continue
            if task == LEARNERS_STEP and learners.illegal[game]:
                action = PUNISHED
            if action != BEGIN and rulebook.is_round_over(state):  # NEXT_STEP: any action begins an episode
                start_episode(rulebook, state, rules)
                action = BEGIN
            if action == BEGIN:
                take_seat(state, rules.players, others, learners, game)
            learners.asks[game] = NOBODY
            while True:
                if action != BEGIN:
                    went = carry_on(rulebook, state, rules, settings, others, learners, buffers, game, action)
                    if went == NO_TURN:
                        learners.fault[0] = NO_TURN
                        return game
                    if went == OVER:
                        break
                to_the_left = int(state.seat) - int(learners.seat[game])
                if to_the_left == 0:
                    learners.idle[game] = 0
                    break
                number = int(others.agent_at[to_the_left % rules.players])
                if not others.is_compiled[number]:
                    learners.asks[game] = number
                    break
                action = choose_for(seen, state, rules, others, learners, game, number)
                if not rulebook.is_legal(state, rules, action):
                    learners.asks[game] = number
                    learners.fault[0], learners.fault[1] = ILLEGAL_CHOICE, action
                    return game
            write_view(rulebook, state, rules, settings, learners, buffers, game)
            if learners.asks[game] == NOBODY and not learners.has_begun[game]:
                learners.rewards[game] = learners.earned[game]
                learners.earned[game] = 0.0
        return NO_GAME

    return kernel(named_for(rulebook, play_on, seen))


__all__ = ["Learners", "Others", "new_learners", "play_on_of"]
