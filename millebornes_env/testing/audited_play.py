"""Audited play: random games in several styles, with every law checked at every step.

`play_kernels` compiles the loops for a game. The parts that differ between games are in a module of
hooks; `PlayHooks` lists them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.batch import new_buffers, same_rules
from millebornes_env.engine.chance import random_below, random_word
from millebornes_env.engine.kernels import (
    Buffers,
    GameRules,
    Settings,
    apply_action,
    kernels_of,
    key_of_seed,
    named_for,
    start_episode,
    write_decision,
)
from millebornes_env.engine.laws import (
    NO_VIOLATION,
    are_equal,
    is_within_bounds,
    mask_is_what_is_legal,
    require,
)
from millebornes_env.engine.numba.compiling import (
    for_kernels,
    kernel,
    rule,
    rule_of_rules,
    seldom_rule_of_rules,
)

Int8Array = npt.NDArray[np.int8]
Int64Array = npt.NDArray[np.int64]
StateArray = npt.NDArray[np.void]

FOUND: Final = ("game", "step", "seat", "action", "violation")
"""Fields recorded for a violation."""
NO_ACTION: Final = -1
MOST_FOUND: Final = 8
"""Number of violations of a table that are recorded in full; all are counted."""

_SAMPLE: Final = 64
"""Number of decisions for each one that tries a redeal and the engine's step."""
_ROUNDING: Final = 1e-4
"""Tolerance for the sum of rewards, which should be 0."""
_GAMES: Final = 0
"""Index of the count of games."""
_UNIFORM: Final = 0
"""Index of the style that weights all actions equally."""


class PlayHooks(Protocol):
    """The parts of audited play that differ between games: a module with these members.

    Attributes:
        rulebook: module of the game (`engine.rulebook.Rulebook`).
        laws: module that numbers the laws of a decision, of a step and of the engine. It also has
            `choice_violation(state, mask, found)`, for the game's own laws of a mask, and
            `step_violation(before, after, rules, action, steps)`, where `steps` counts those of the round.
        COUNTS: names of the events counted at a table; the first is "games", the last "violations". These
            two are counted here.
        WEIGHTS: int64[styles, actions]. A legal action is chosen with a probability in proportion to its
            weight in the style; style 0 weights all actions equally.
        UNIFORM_BELOW: probability of an action of style 0 whatever the style of the team, times 2**32.
        WORDS_PER_STEP: random words for each choice of an action: 2, or 1 if `UNIFORM_BELOW` is 0.
        SCRATCH_SIZE: length of the scratch array of `record_violation`.
    """

    rulebook: Any
    laws: Any
    COUNTS: tuple[str, ...]
    WEIGHTS: Int64Array
    UNIFORM_BELOW: int
    WORDS_PER_STEP: int
    SCRATCH_SIZE: int

    def message_of(self, violation: int, rules: Any, messages: tuple[str, ...], /) -> str:
        """Return the message of a violation."""

    def settings_of(self, game: int, /) -> Settings:
        """Return the engine settings of the game with this index."""

    def record_violation(self, state: Any, rules: Any, scratch: Int64Array, /) -> int:
        """Return the first law that a record breaks; `scratch` is int64[SCRATCH_SIZE], overwritten."""

    def deal_violation(self, state: Any, rules: Any, /) -> int:
        """Return the first law of a fresh deal that the record breaks."""

    def sample_styles(self, styles: Int64Array, state: Any, rules: Any, steps: int, /) -> None:
        """Sample the style of each team for a round: int64[teams or more], overwritten.

        `steps` counts the steps of the game so far.
        """

    def count_step(self, counts: Int64Array, before: Any, after: Any, action: int, /) -> None:
        """Count a step and its events."""

    def count_round(self, counts: Int64Array, state: Any, rules: Any, episode: int, over: bool, /) -> None:
        """Count a finished round; `over`: True if it ends its episode."""


class Play(NamedTuple):
    """The games of one table, and scratch arrays."""

    states: StateArray  # [G] the games
    before: StateArray  # [1] the game before the step
    copied: StateArray  # [1] a copy to try something with
    counts: Int64Array  # [len(COUNTS)]
    weights: Int64Array  # [styles, actions]
    styles: Int64Array  # [G, teams] the style of each team in this round
    steps: Int64Array  # [G] since the beginning
    round_steps: Int64Array  # [G] of the present round
    mask: Int8Array  # [A]
    row: Int8Array  # [D] observation of the seat to act
    high: Int8Array  # [D] the largest value of each number
    redeal_scratch: Int8Array  # [REDEAL_ROOM]
    scratch: Int64Array  # [SCRATCH_SIZE]
    found: Int64Array  # [MOST_FOUND, len(FOUND)]
    saved: StateArray  # [2 * MOST_FOUND] before and after each violation
    buffers: Buffers  # the engine's output for one game
    engine_rules: GameRules  # of one game, for the engine


def new_play(hooks: Any, games: int, rules: Any, seed: int) -> Play:
    """Create games of a table that have not been dealt yet; `PlayKernels.begin` deals them."""
    rulebook, settings = hooks.rulebook, hooks.settings_of(0)
    layout = rulebook.sections(rules, settings.observation_spec)
    high = np.concatenate([np.full(section.size, section.high, np.int8) for section in layout])

    def records(number: int) -> StateArray:
        return for_kernels(np.zeros(number, rulebook.STATE))

    play = Play(
        states=records(games),
        before=records(1),
        copied=records(1),
        counts=np.zeros(len(hooks.COUNTS), np.int64),
        weights=hooks.WEIGHTS.copy(),  # an argument: a constant would stay in the cache of compiled code
        styles=np.zeros((games, rules.teams), np.int64),
        steps=np.zeros(games, np.int64),
        round_steps=np.zeros(games, np.int64),
        mask=np.zeros(rulebook.action_count(rules, None), np.int8),
        row=np.zeros(len(high), np.int8),
        high=high,
        redeal_scratch=np.zeros(rulebook.REDEAL_ROOM, np.int8),
        scratch=np.zeros(hooks.SCRATCH_SIZE, np.int64),
        found=np.zeros((MOST_FOUND, len(FOUND)), np.int64),
        saved=records(2 * MOST_FOUND),
        buffers=new_buffers(rulebook, 1, rules, settings),
        engine_rules=same_rules(rulebook, rules, 1),
    )
    kernels_of(rulebook).seed_games(play.states, 0, *key_of_seed(seed))
    return play


# Kernels --------------------------------------------------------------------------------------------------


class PlayKernels(NamedTuple):
    """The kernels of a game, for `Play`; the `judge_` kernels return a violation, or NO_VIOLATION."""

    begin: Callable[..., None]
    play_on: Callable[..., None]
    judge_decision: Callable[..., int]
    judge_state: Callable[..., int]
    judge_step: Callable[..., int]
    judge_redeal: Callable[..., int]
    judge_engine: Callable[..., int]


@functools.cache
def play_kernels(hooks: Any) -> PlayKernels:
    """Return the kernels for a module of hooks (`PlayHooks`); they are compiled when they are called."""

    def begin(play: Play, rules: Any) -> None:
        """Deal the first round of every game."""
        for game in range(len(play.states)):
            deal_next(hooks, play, rules, game, True)

    def play_on(play: Play, rules: Any, steps: int) -> None:
        """Play this many steps in every game; check each decision, carry it out, check the result."""
        for game in range(len(play.states)):
            for _ in range(steps):
                play_step(hooks, play, rules, game)

    def judge_decision(state: Any, rules: Any, mask: Int8Array, row: Int8Array, high: Int8Array) -> int:
        return decision_violation(hooks, state, rules, mask, row, high)

    def judge_state(state: Any, rules: Any, scratch: Int64Array) -> int:
        return state_violation(hooks, state, rules, scratch)

    def judge_step(before: Any, after: Any, rules: Any, action: int, steps: int) -> int:
        return step_violation(hooks, before, after, rules, action, steps)

    def judge_redeal(play: Play, rules: Any, game: int) -> int:
        return redeal_violation(hooks, play, rules, game)

    def judge_engine(play: Play, rules: Any, game: int, action: int) -> int:
        return engine_violation(hooks, play, rules, game, action)

    loops: list[Callable[..., Any]] = [
        begin,
        play_on,
        judge_decision,
        judge_state,
        judge_step,
        judge_redeal,
        judge_engine,
    ]
    return PlayKernels(*(kernel(named_for(hooks.rulebook, loop, hooks)) for loop in loops))


# Playing --------------------------------------------------------------------------------------------------
# Functions that contain rules of a game are compiled separately (`seldom_rule_of_rules`): inlined into one
# loop they would take minutes to compile.


@rule_of_rules
def play_step(hooks: Any, play: Play, rules: Any, game: int) -> None:
    """Play one step of a game and check it; deal the next round after the last step, or a violation."""
    state = play.states[game]
    sampled = int(play.steps[game]) & (_SAMPLE - 1) == 0
    action = NO_ACTION
    play.before[0] = state
    violation = decision_violation(hooks, state, rules, play.mask, play.row, play.high)
    if violation == NO_VIOLATION and sampled:
        violation = redeal_violation(hooks, play, rules, game)
    if violation == NO_VIOLATION:
        action = chosen_action(hooks, play, rules, game)
        step_game(hooks, state, rules, action)
        play.steps[game] += 1
        play.round_steps[game] += 1
        hooks.count_step(play.counts, play.before[0], state, action)
        violation = state_violation(hooks, state, rules, play.scratch)
    if violation == NO_VIOLATION:
        number = int(play.round_steps[game])
        violation = step_violation(hooks, play.before[0], state, rules, action, number)
    is_over = hooks.rulebook.is_round_over(state)
    if violation == NO_VIOLATION and (sampled or is_over):
        violation = engine_violation(hooks, play, rules, game, action)
    if violation != NO_VIOLATION:
        report(play, game, action, violation)
    if violation != NO_VIOLATION or is_over:
        deal_next(hooks, play, rules, game, violation != NO_VIOLATION)


@rule_of_rules
def chosen_action(hooks: Any, play: Play, rules: Any, game: int) -> int:
    """Sample a legal action by the weights of the team's style, or any if all weights are 0."""
    state = play.states[game]
    key_0, key_1 = int(state.key[1]), int(state.key[0])  # the other way round than for the game's own numbers
    counter = hooks.WORDS_PER_STEP * int(play.steps[game])
    style = int(play.styles[game, int(state.seat) % rules.teams])
    if random_word(key_0, key_1, counter) < hooks.UNIFORM_BELOW:
        style = _UNIFORM
    total = total_weight(play.mask, play.weights[style])
    if total == 0:
        style = _UNIFORM
        total = total_weight(play.mask, play.weights[style])
    left = random_below(key_0, key_1, counter + hooks.WORDS_PER_STEP - 1, total)
    return action_at(play.mask, play.weights[style], left)


@rule
def total_weight(mask: Int8Array, weights: Int64Array) -> int:
    """Return the total weight of all legal actions."""
    total = 0
    for action in range(len(mask)):
        total += int(mask[action]) * int(weights[action])
    return total


@rule
def action_at(mask: Int8Array, weights: Int64Array, left: int) -> int:
    """Return the action for a number from 0 to the total weight - 1; each has as many as its weight."""
    action = -1
    while left >= 0:
        action += 1
        left -= int(mask[action]) * int(weights[action])
    return action


@seldom_rule_of_rules
def step_game(hooks: Any, state: Any, rules: Any, action: int) -> None:
    """Carry out an action by the rulebook alone."""
    hooks.rulebook.step(state, rules, action)


@seldom_rule_of_rules
def deal_next(hooks: Any, play: Play, rules: Any, game: int, is_new: bool) -> None:
    """Deal the game's next round, of the same match or of another episode, and check the deal.

    Args:
        hooks: module of the game.
        play: the games of the table.
        rules: rules of the table.
        game: index of the game.
        is_new: True if no round that ended by the rules came before.
    """
    state = play.states[game]
    over = True
    if not is_new:
        episode = hooks.settings_of(game).episode
        over = hooks.rulebook.is_episode_over(state, rules, episode)
        hooks.count_round(play.counts, state, rules, episode, over)
    if over:
        play.counts[_GAMES] += 1
        start_episode(hooks.rulebook, state, rules)
    else:
        hooks.rulebook.start_next_round(state, rules)
    play.round_steps[game] = 0
    hooks.sample_styles(play.styles[game], state, rules, int(play.steps[game]))
    violation = state_violation(hooks, state, rules, play.scratch)
    if violation == NO_VIOLATION:
        violation = hooks.deal_violation(state, rules)
    if violation != NO_VIOLATION:
        play.before[0] = state
        report(play, game, NO_ACTION, violation)


@rule
def report(play: Play, game: int, action: int, violation: int) -> None:
    """Count a violation, and record it with the game before and after it."""
    last = len(play.counts) - 1
    number = int(play.counts[last])
    play.counts[last] += 1
    if number < MOST_FOUND:
        row = play.found[number]
        row[0], row[1], row[2] = game, play.steps[game], play.before[0].seat
        row[3], row[4] = action, violation
        play.saved[2 * number] = play.before[0]
        play.saved[2 * number + 1] = play.states[game]


# Checking -------------------------------------------------------------------------------------------------


@seldom_rule_of_rules
def decision_violation(
    hooks: Any, state: Any, rules: Any, mask: Int8Array, row: Int8Array, high: Int8Array
) -> int:
    """Return the first law that a decision breaks; write the mask and the observation of its seat.

    Args:
        hooks: module of the game.
        state: the game.
        rules: rules of the table.
        mask: int8[A], overwritten.
        row: int8[D], overwritten.
        high: int8[D], the largest value of each number of the observation.
    """
    laws, rulebook = hooks.laws, hooks.rulebook
    rulebook.write_mask(state, rules, mask)
    agrees = mask_is_what_is_legal(rulebook, state, rules, mask)
    result = require(NO_VIOLATION, laws.MASK_IS_NOT_LEGALITY, agrees)
    result = laws.choice_violation(state, mask, result)
    rulebook.write_observation(state, rules, int(state.seat), hooks.settings_of(0).observation_spec, row)
    return require(result, laws.OBSERVATION_OUT_OF_BOUNDS, is_within_bounds(row, high))


@seldom_rule_of_rules
def state_violation(hooks: Any, state: Any, rules: Any, scratch: Int64Array) -> int:
    """Return the first law that a record breaks."""
    return int(hooks.record_violation(state, rules, scratch))


@seldom_rule_of_rules
def step_violation(hooks: Any, before: Any, after: Any, rules: Any, action: int, steps: int) -> int:
    """Return the first law that a step breaks; it was the round's `steps`-th."""
    return int(hooks.laws.step_violation(before, after, rules, action, steps))


@seldom_rule_of_rules
def redeal_violation(hooks: Any, play: Play, rules: Any, game: int) -> int:
    """Check that hidden cards change neither observation nor mask, and that any redeal makes a game.

    Public dice are functions of the key, which a redeal may change; so the key is restored before the laws
    of the record are checked.
    """
    play.copied[0] = play.states[game]
    redealt = play.copied[0]
    seat, key_0, key_1 = int(redealt.seat), int(redealt.key[0]), int(redealt.key[1])
    word = random_word(key_0 ^ 2, key_1, int(play.steps[game]))
    hooks.rulebook.redeal(redealt, rules, seat, word, key_1, play.redeal_scratch)
    row, mask = play.buffers.observation[0], play.buffers.action_mask[0]
    is_sound = decision_violation(hooks, redealt, rules, mask, row, play.high) == NO_VIOLATION
    same = is_sound and are_equal(row, play.row) and are_equal(mask, play.mask)
    result = require(NO_VIOLATION, hooks.laws.HIDDEN_CARDS_SHOW, same)
    redealt.key[0], redealt.key[1] = key_0, key_1
    is_game = state_violation(hooks, redealt, rules, play.scratch) == NO_VIOLATION
    return require(result, hooks.laws.REDEAL_IS_NO_GAME, is_game)


@seldom_rule_of_rules
def engine_violation(hooks: Any, play: Play, rules: Any, game: int, action: int) -> int:
    """Repeat the step with the engine, on a copy of the game before it, and check all outputs."""
    laws, rulebook, settings, buffers = hooks.laws, hooks.rulebook, hooks.settings_of(game), play.buffers
    play.copied[0] = play.before[0]
    buffers.rewards[0, :] = 0.0
    buffers.terminations[0] = False
    apply_action(rulebook, play.copied[0], play.engine_rules, settings, action, buffers, 0)
    write_decision(rulebook, play.copied[0], rules, settings, buffers, 0)
    state = play.states[game]
    is_over = rulebook.is_round_over(state)
    ended = is_over and rulebook.is_episode_over(state, rules, settings.episode)
    result = require(NO_VIOLATION, laws.WRONG_REWARDS, rewards_are_right(buffers, rules, is_over))
    result = require(result, laws.WRONG_END_OF_EPISODE, bool(buffers.terminations[0]) == ended)
    if ended:
        for seat in range(rules.players):
            inside = is_within_bounds(buffers.final_observation[0, seat], play.high)
            result = require(result, laws.OBSERVATION_OUT_OF_BOUNDS, inside)
    return result


@rule
def rewards_are_right(buffers: Buffers, rules: Any, is_over: bool) -> bool:
    """Nothing is paid before the end of the round; then partners get the same, and all teams together 0."""
    total, paid, apart = 0.0, 0.0, 0.0
    for seat in range(rules.players):
        reward = float(buffers.rewards[0, seat])
        paid += abs(reward)
        apart += abs(reward - float(buffers.rewards[0, seat % rules.teams]))
        total += reward
    return (is_over or paid == 0.0) and apart == 0.0 and abs(total) < _ROUNDING
