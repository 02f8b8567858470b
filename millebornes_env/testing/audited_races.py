"""Random races of many styles, every law checked at every step.

The laws are those of `games.wielerspel.audit` for a record and of `race_laws` for a decision and a step. The
checks of the engine are here. `audited_play` does the same for Mille Bornes.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.batch import new_buffers
from millebornes_env.engine.chance import random_below, random_word
from millebornes_env.engine.kernels import DISABLED, Buffers, Settings, kernels_of, key_of_seed, start_episode
from millebornes_env.engine.laws import NO_VIOLATION, are_equal, require
from millebornes_env.engine.numba.compiling import for_kernels, kernel, rule
from millebornes_env.games.wielerspel import rulebook
from millebornes_env.games.wielerspel.actions import (
    ESCAPE,
    EXCHANGE_GREEN,
    EXCHANGE_POLKA_DOT,
    FIRST_RETIRE_FROM,
    GIVE_UP,
    NUM_ACTIONS,
    PASS,
    PAY,
    RETIRE,
    STAY,
    bid_action,
    bid_of,
    is_move,
    is_retirement,
)
from millebornes_env.games.wielerspel.audit import violation_of
from millebornes_env.games.wielerspel.determinize import redeal_hidden
from millebornes_env.games.wielerspel.rules import MAX_PLAYERS, Rules
from millebornes_env.games.wielerspel.sections import DEFAULT_SPEC, sections
from millebornes_env.games.wielerspel.state import (
    BY_EXHAUSTION,
    BY_INNER_TRACK,
    BY_JERSEYS,
    BY_TURNS,
    RACE_OVER,
    STATE,
    Int8Array,
    State,
)
from millebornes_env.games.wielerspel.turn import step
from millebornes_env.testing.auditing import (
    FOUND,
    MOST_FOUND,
    NO_ACTION,
    ROUNDING,
    SAMPLE,
    action_at,
    finals_are_within_bounds,
    note,
    step_by_engine,
    total_weight,
)
from millebornes_env.testing.race_laws import (
    HIDDEN_CARDS_SHOW,
    OBSERVATION_OUT_OF_BOUNDS,
    REDEAL_IS_NO_RACE,
    WRONG_END_OF_EPISODE,
    WRONG_REWARDS,
    decision_violation,
    step_violation,
)

Int64Array = npt.NDArray[np.int64]
StateArray = npt.NDArray[np.void]

COUNTS: Final = (
    *("games", "races", "steps", "escapes", "exchanges", "bids", "moves", "retirements", "shuffles"),
    *("by_jerseys", "by_inner_track", "by_exhaustion", "by_turns", "violations"),
)
"""Names of the events counted at a table."""
_GAMES, _RACES, _STEPS, _ESCAPES, _EXCHANGES, _BIDS, _MOVES, _RETIREMENTS, _SHUFFLES = range(9)
_BY_JERSEYS, _BY_INNER_TRACK, _BY_EXHAUSTION, _BY_TURNS, _VIOLATIONS = range(9, len(COUNTS))

_SETTINGS: Final = Settings(0, 0, DISABLED, DEFAULT_SPEC, 0)

# How seats play --------------------------------------------------------------------------------------------

CHEAP: Final = 8
"""Highest bid of the sober styles, in energy."""

STYLES: Final = ("wild", "sober", "escaper", "miser", "spender")
"""Their names, in the order of `WEIGHTS`: a legal action is chosen in proportion to its weight."""


def _sober() -> Int64Array:
    """No servant retires who need not, bids are low."""
    weights = np.ones(NUM_ACTIONS, np.int64)
    weights[RETIRE] = 0
    weights[FIRST_RETIRE_FROM : FIRST_RETIRE_FROM + (NUM_ACTIONS - FIRST_RETIRE_FROM) // 2] = 0
    weights[bid_action(CHEAP + 1) : FIRST_RETIRE_FROM] = 0
    weights[PASS] = CHEAP
    return weights


def _escaper() -> Int64Array:
    """Escapes and rides on, and saves its energy for that."""
    weights = _sober()
    weights[[ESCAPE, PAY]] = 20
    weights[[STAY, GIVE_UP]] = 1
    weights[PASS] = 20 * CHEAP
    return weights


def _miser() -> Int64Array:
    """Neither bids nor escapes."""
    weights = _sober()
    weights[bid_action(1) : FIRST_RETIRE_FROM] = 0
    weights[[ESCAPE, PAY]] = 0
    return weights


def _spender() -> Int64Array:
    """Bids all that it has, and lets servants retire for more."""
    weights = np.ones(NUM_ACTIONS, np.int64)
    weights[bid_action(20) : FIRST_RETIRE_FROM] = 10
    weights[RETIRE] = 10
    weights[PASS] = 0
    return weights


WEIGHTS: Final = np.stack([np.ones(NUM_ACTIONS, np.int64), _sober(), _escaper(), _miser(), _spender()])
"""int64[styles, actions]."""
WEIGHTS.setflags(write=False)
WILD: Final = STYLES.index("wild")
SOBER: Final = STYLES.index("sober")


# The races of a table --------------------------------------------------------------------------------------


class Play(NamedTuple):
    """The races of one table, and scratch arrays."""

    states: StateArray  # [G] the races
    before: StateArray  # [1] the race before the step
    copied: StateArray  # [1] a copy to try something with
    counts: Int64Array  # [len(COUNTS)]
    weights: Int64Array  # [styles, actions]
    styles: Int64Array  # [G, MAX_PLAYERS] how each seat plays in this race
    steps: Int64Array  # [G] since the beginning
    mask: Int8Array  # [A]
    row: Int8Array  # [D] what the deciding seat sees
    high: Int8Array  # [D] the largest value of each number
    room: Int8Array  # [REDEAL_ROOM]
    found: Int64Array  # [MOST_FOUND, len(FOUND)]
    saved: StateArray  # [2 * MOST_FOUND] before and after each violation
    buffers: Buffers  # what the engine writes, for one race


def new_play(games: int, rules: Rules, seed: int) -> Play:
    """Create races of the table that have not started yet; `begin` starts them.

    Args:
        games: how many.
        rules: the table's.
        seed: 0 to 2**64 - 1.
    """
    high = np.concatenate([np.full(section.size, section.high, np.int8) for section in sections(rules)])
    play = Play(
        states=_records(games),
        before=_records(1),
        copied=_records(1),
        counts=np.zeros(len(COUNTS), np.int64),
        weights=WEIGHTS.copy(),  # an argument: as a constant it would stay in the cache of compiled code
        styles=np.zeros((games, MAX_PLAYERS), np.int64),
        steps=np.zeros(games, np.int64),
        mask=np.zeros(NUM_ACTIONS, np.int8),
        row=np.zeros(len(high), np.int8),
        high=high,
        room=np.zeros(rulebook.REDEAL_ROOM, np.int8),
        found=np.zeros((MOST_FOUND, len(FOUND)), np.int64),
        saved=_records(2 * MOST_FOUND),
        buffers=new_buffers(rulebook, 1, rules, _SETTINGS),
    )
    kernels_of(rulebook).seed_games(play.states, 0, *key_of_seed(seed))
    return play


def _records(number: int) -> StateArray:
    return for_kernels(np.zeros(number, STATE))


@kernel
def begin(play: Play, rules: Any) -> None:
    """Start a race in every game."""
    for game in range(len(play.states)):
        begin_next(play, rules, game)


@kernel
def play_on(play: Play, rules: Any, steps: int) -> None:
    """Play this many steps in every game; check each decision, carry it out, check the result."""
    for game in range(len(play.states)):
        state = play.states[game]
        for _ in range(steps):
            sampled = int(play.steps[game]) & (SAMPLE - 1) == 0
            action = NO_ACTION
            play.before[0] = state
            violation = judge_decision(state, rules, play.mask, play.row, play.high)
            if violation == NO_VIOLATION and sampled:
                violation = judge_redeal(play, rules, game)
            if violation == NO_VIOLATION:
                action = chosen_action(play, state, game)
                apply_action(state, rules, action)
                count_step(play, state, game, action)
                violation = judge_state(state, rules)
            if violation == NO_VIOLATION:
                violation = judge_step(play.before[0], state, rules, action)
            is_over = int(state.phase) == RACE_OVER
            if violation == NO_VIOLATION and (sampled or is_over):
                violation = judge_engine(play, rules, action, is_over)
            if violation != NO_VIOLATION:
                report(play, game, action, violation)
            elif is_over:
                count_race(play, state)
            if violation != NO_VIOLATION or is_over:
                begin_next(play, rules, game)


# Each of these is compiled for itself: inlined into one loop they would take minutes to compile.


@kernel
def judge_decision(state: State, rules: Any, mask: Int8Array, row: Int8Array, high: Int8Array) -> int:
    """`decision_violation`."""
    return decision_violation(state, rules, mask, row, high)


@kernel
def apply_action(state: State, rules: Any, action: int) -> None:
    """`step`."""
    step(state, rules, action)


@kernel
def judge_state(state: State, rules: Any) -> int:
    """`violation_of`."""
    return violation_of(state, rules)


@kernel
def judge_step(before: State, after: State, rules: Any, action: int) -> int:
    """`step_violation`."""
    return step_violation(before, after, rules, action)


# Choosing -------------------------------------------------------------------------------------------------


@rule
def chosen_action(play: Play, state: State, game: int) -> int:
    """Draw a legal action by the weights of the seat's style, or any if all weights are 0."""
    key_0, key_1 = int(state.key[1]), int(state.key[0])  # the race's own numbers have them in this order
    style = int(play.styles[game, int(state.seat)])
    total = total_weight(play.mask, play.weights[style])
    if total == 0:
        style = WILD
        total = total_weight(play.mask, play.weights[style])
    left = random_below(key_0, key_1, int(play.steps[game]), total)
    return action_at(play.mask, play.weights[style], left)


# Races -----------------------------------------------------------------------------------------------------


@kernel
def begin_next(play: Play, rules: Any, game: int) -> None:
    """Start the game's next race and check the start."""
    state = play.states[game]
    play.counts[_GAMES] += 1
    start_episode(rulebook, state, rules)
    draw_styles(play, rules, game)
    violation = judge_state(state, rules)
    if violation != NO_VIOLATION:
        play.before[0] = state
        report(play, game, NO_ACTION, violation)


@rule
def draw_styles(play: Play, rules: Any, game: int) -> None:
    """Draw each seat's style for this race; one race in three is all wild, one all sober."""
    state = play.states[game]
    key_0, key_1 = int(state.key[1]), int(state.key[0]) ^ 1
    counter = int(state.episode) * (MAX_PLAYERS + 1)
    kind = random_below(key_0, key_1, counter, 3)
    for seat in range(rules.players):
        drawn = random_below(key_0, key_1, counter + 1 + seat, len(play.weights))
        play.styles[game, seat] = kind if kind in (WILD, SOBER) else drawn


@rule
def count_step(play: Play, state: State, game: int, action: int) -> None:
    """Count the step and its events."""
    play.steps[game] += 1
    play.counts[_STEPS] += 1
    play.counts[_ESCAPES] += 1 if action == ESCAPE else 0
    play.counts[_EXCHANGES] += 1 if action in (EXCHANGE_GREEN, EXCHANGE_POLKA_DOT) else 0
    play.counts[_BIDS] += 1 if bid_of(action) > 0 else 0
    play.counts[_MOVES] += 1 if is_move(action) else 0
    play.counts[_RETIREMENTS] += 1 if is_retirement(action) else 0
    play.counts[_SHUFFLES] += int(state.shuffles) - int(play.before[0].shuffles)


@rule
def count_race(play: Play, state: State) -> None:
    """Count the race that has ended and how."""
    ending = int(state.ending)
    play.counts[_RACES] += 1
    play.counts[_BY_JERSEYS] += 1 if ending == BY_JERSEYS else 0
    play.counts[_BY_INNER_TRACK] += 1 if ending == BY_INNER_TRACK else 0
    play.counts[_BY_EXHAUSTION] += 1 if ending == BY_EXHAUSTION else 0
    play.counts[_BY_TURNS] += 1 if ending == BY_TURNS else 0


@kernel
def report(play: Play, game: int, action: int, violation: int) -> None:
    """Count a violation, and note it with the race before and after it."""
    number = int(play.counts[_VIOLATIONS])
    play.counts[_VIOLATIONS] += 1
    if number < MOST_FOUND:
        result, saved = play.found[number], play.saved[2 * number : 2 * number + 2]
        step = int(play.steps[game])
        note(result, saved, play.before[0], play.states[game], game, step, action, violation)


# Sampled --------------------------------------------------------------------------------------------------


@kernel
def judge_redeal(play: Play, rules: Any, game: int) -> int:
    """The seat sees and may do the same whatever is hidden, and any redeal makes a race.

    The dice of this turn are public once thrown, but functions of the key, which a redeal changes. So the
    thrown dice are taken back before the laws are checked.
    """
    play.copied[0] = play.states[game]
    redealt = play.copied[0]
    seat, number = int(redealt.seat), int(play.steps[game])
    key_0, key_1 = int(redealt.key[0]) ^ 2, int(redealt.key[1])
    redeal_hidden(redealt, rules, seat, random_word(key_0, key_1, number), key_1, play.room)
    row, mask = play.buffers.observation[0], play.buffers.action_mask[0]
    seen = decision_violation(redealt, rules, mask, row, play.high) == NO_VIOLATION
    same = seen and are_equal(row, play.row) and are_equal(mask, play.mask)
    result = require(NO_VIOLATION, HIDDEN_CARDS_SHOW, same)
    redealt.key[0] = play.states[game].key[0]
    redealt.key[1] = play.states[game].key[1]
    return require(result, REDEAL_IS_NO_RACE, judge_state(redealt, rules) == NO_VIOLATION)


@kernel
def judge_engine(play: Play, rules: Any, action: int, is_over: bool) -> int:
    """Repeat the step with the engine, on a copy of the race before it."""
    play.copied[0] = play.before[0]
    buffers = play.buffers
    step_by_engine(rulebook, play.copied[0], rules, _SETTINGS, action, buffers)
    result = require(NO_VIOLATION, WRONG_REWARDS, rewards_are_right(buffers, rules, is_over))
    result = require(result, WRONG_END_OF_EPISODE, bool(buffers.terminations[0]) == is_over)
    if is_over:
        seen = finals_are_within_bounds(buffers.final_observation[0], rules.players, play.high)
        result = require(result, OBSERVATION_OUT_OF_BOUNDS, seen)
    return result


@rule
def rewards_are_right(buffers: Buffers, rules: Any, is_over: bool) -> bool:
    """Nothing is paid before the end of the race; then all seats together get 0."""
    total, paid = 0.0, 0.0
    for seat in range(rules.players):
        reward = float(buffers.rewards[0, seat])
        paid += abs(reward)
        total += reward
    return (is_over or paid == 0.0) and abs(total) < ROUNDING


__all__ = ["COUNTS", "FOUND", "MOST_FOUND", "NO_ACTION", "STYLES", "Play", "begin", "new_play", "play_on"]
