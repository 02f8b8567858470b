"""Random play of many styles, every law checked at every step.

The laws are those of `games.millebornes.audit` for a record and of `step_laws` for a decision and a step.
The checks of the engine are here.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.batch import new_buffers
from millebornes_env.engine.chance import random_below, random_word
from millebornes_env.engine.kernels import DISABLED, Buffers, Settings, kernels_of, key_of_seed, start_episode
from millebornes_env.engine.laws import NO_VIOLATION, are_equal, require
from millebornes_env.engine.numba.compiling import for_kernels, kernel, rule
from millebornes_env.games.millebornes import rulebook
from millebornes_env.games.millebornes.actions import CLAIM_COUP_FOURRE, EXTEND, num_actions
from millebornes_env.games.millebornes.audit import SCRATCH_SIZE, violation_of
from millebornes_env.games.millebornes.cards import DECK_SIZE
from millebornes_env.games.millebornes.determinize import redeal_hidden_cards
from millebornes_env.games.millebornes.ending import are_hands_played_out
from millebornes_env.games.millebornes.motion import team_of
from millebornes_env.games.millebornes.rulebook import POINTS, WIN, is_episode_over
from millebornes_env.games.millebornes.rules import Rules, RulesRecord
from millebornes_env.games.millebornes.scoring import blank_opponents
from millebornes_env.games.millebornes.sections import DEFAULT_SPEC, sections
from millebornes_env.games.millebornes.state import (
    MAX_TEAMS,
    NO_TEAM,
    ROUND_OVER,
    Int8Array,
    State,
    StateArray,
    new_states,
)
from millebornes_env.games.millebornes.turn import start_next_round, step
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
from millebornes_env.testing.random_players import FINISHER, IDLER, UNIFORM, WEIGHTS
from millebornes_env.testing.step_laws import (
    HIDDEN_CARDS_SHOW,
    OBSERVATION_OUT_OF_BOUNDS,
    REDEAL_IS_NO_GAME,
    WRONG_DEAL,
    WRONG_END_OF_EPISODE,
    WRONG_REWARDS,
    decision_violation,
    is_freshly_dealt,
    step_violation,
)

Int64Array = npt.NDArray[np.int64]

COUNTS: Final = (
    *("games", "rounds", "matches", "steps", "claims", "extensions"),
    *("empty_piles", "play_outs", "shutouts", "violations"),
)
"""Names of the events counted at a table."""
_GAMES, _ROUNDS, _MATCHES, _STEPS, _CLAIMS, _EXTENSIONS, _EMPTY, _PLAY_OUTS, _SHUTOUTS, _VIOLATIONS = range(
    len(COUNTS)
)

_UNIFORM_SHARE: Final = 0.1
_UNIFORM_BELOW: Final = round(_UNIFORM_SHARE * 2**32)
_LONE_DRIVER: Final = 8


class Play(NamedTuple):
    """The games of one table, and scratch arrays.

    Games with an odd number play matches, the others rounds; every fourth pair of them is paid by wins.
    """

    states: StateArray  # [G] the games
    before: StateArray  # [1] the game before the step
    copied: StateArray  # [1] a copy to try something with
    counts: Int64Array  # [len(COUNTS)]
    weights: Int64Array  # [styles, actions]
    styles: Int64Array  # [G, MAX_TEAMS] how each team plays in this round
    steps: Int64Array  # [G] since the beginning
    round_steps: Int64Array  # [G] of the present round
    mask: Int8Array  # [A]
    row: Int8Array  # [D] what the deciding seat sees
    high: Int8Array  # [D] the largest value of each number
    hidden: Int8Array  # [DECK_SIZE]
    scratch: Int64Array  # [SCRATCH_SIZE]
    found: Int64Array  # [MOST_FOUND, len(FOUND)]
    saved: StateArray  # [2 * MOST_FOUND] before and after each violation
    buffers: Buffers  # what the engine writes, for one game


def new_play(games: int, rules: Rules, seed: int) -> Play:
    """Create games of the table that have not been dealt yet; `begin` deals them.

    Args:
        games: how many.
        rules: the table's.
        seed: 0 to 2**64 - 1.
    """
    layout = sections(rules)
    high = np.concatenate([np.full(section.size, section.high, np.int8) for section in layout])
    play = Play(
        states=_records(games),
        before=_records(1),
        copied=_records(1),
        counts=np.zeros(len(COUNTS), np.int64),
        weights=WEIGHTS.copy(),  # an argument: as a constant it would stay in the cache of compiled code
        styles=np.zeros((games, MAX_TEAMS), np.int64),
        steps=np.zeros(games, np.int64),
        round_steps=np.zeros(games, np.int64),
        mask=np.zeros(num_actions(rules.teams), np.int8),
        row=np.zeros(len(high), np.int8),
        high=high,
        hidden=np.zeros(DECK_SIZE, np.int8),
        scratch=np.zeros(SCRATCH_SIZE, np.int64),
        found=np.zeros((MOST_FOUND, len(FOUND)), np.int64),
        saved=_records(2 * MOST_FOUND),
        buffers=new_buffers(rulebook, 1, rules, settings_of(0)),
    )
    kernels_of(rulebook).seed_games(play.states, 0, *key_of_seed(seed))
    return play


def _records(number: int) -> StateArray:
    return for_kernels(new_states(number))


@kernel
def begin(play: Play, rules: RulesRecord) -> None:
    """Deal the first round of every game."""
    for game in range(len(play.states)):
        deal_next(play, rules, game, True)


@kernel
def play_on(play: Play, rules: RulesRecord, steps: int) -> None:
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
                action = chosen_action(play, rules, state, game)
                apply_action(state, rules, action)
                count_step(play, state, game, action)
                violation = judge_state(state, rules, play.scratch)
            if violation == NO_VIOLATION:
                number = int(play.round_steps[game])
                violation = judge_step(play.before[0], state, rules, action, number)
            if violation == NO_VIOLATION and (sampled or int(state.phase) == ROUND_OVER):
                violation = judge_engine(play, rules, game, action)
            if violation != NO_VIOLATION:
                report(play, game, action, violation)
            if violation != NO_VIOLATION or int(state.phase) == ROUND_OVER:
                deal_next(play, rules, game, violation != NO_VIOLATION)


# Each of these is compiled for itself: inlined into one loop they would take minutes to compile.


@kernel
def judge_decision(state: State, rules: RulesRecord, mask: Int8Array, row: Int8Array, high: Int8Array) -> int:
    """`decision_violation`."""
    return decision_violation(state, rules, mask, row, high)


@kernel
def apply_action(state: State, rules: RulesRecord, action: int) -> None:
    """`step`."""
    step(state, rules, action)


@kernel
def judge_state(state: State, rules: RulesRecord, scratch: Int64Array) -> int:
    """`violation_of`."""
    return violation_of(state, rules, scratch)


@kernel
def judge_step(before: State, after: State, rules: RulesRecord, action: int, steps: int) -> int:
    """`step_violation`; the step was the round's `steps`-th."""
    return step_violation(before, after, rules, action, steps)


# Choosing -------------------------------------------------------------------------------------------------


@rule
def chosen_action(play: Play, rules: RulesRecord, state: State, game: int) -> int:
    """Draw a legal action by the weights of the team's style; one in ten is uniform."""
    key_0, key_1 = int(state.key[1]), int(state.key[0])  # the rounds' own numbers have them in this order
    counter = 2 * int(play.steps[game])
    style = int(play.styles[game, team_of(rules, int(state.seat))])
    if random_word(key_0, key_1, counter) < _UNIFORM_BELOW:
        style = UNIFORM
    total = total_weight(play.mask, play.weights[style])
    if total == 0:
        style = UNIFORM
        total = total_weight(play.mask, play.weights[style])
    left = random_below(key_0, key_1, counter + 1, total)
    return action_at(play.mask, play.weights[style], left)


# Rounds and episodes --------------------------------------------------------------------------------------


@rule
def settings_of(game: int) -> Settings:
    """Return the engine settings of the game."""
    reward = WIN if (game >> 1) & 3 == 3 else POINTS
    return Settings(game & 1, reward, DISABLED, DEFAULT_SPEC, 0)


@kernel
def deal_next(play: Play, rules: RulesRecord, game: int, is_new: bool) -> None:
    """Deal the game's next round, of the same match or of another episode, and check the deal.

    Args:
        play: the games of the table.
        rules: rules of the table.
        game: index of the game.
        is_new: True if no round that ended by the rules came before.
    """
    state = play.states[game]
    over = True
    if not is_new:
        over = is_episode_over(state, rules, settings_of(game).episode)
        count_round(play, state, rules)
        play.counts[_MATCHES] += game & 1 if over else 0
    if over:
        play.counts[_GAMES] += 1
        start_episode(rulebook, state, rules)
    else:
        start_next_round(state, rules)
    play.round_steps[game] = 0
    draw_styles(play, rules, game)
    violation = judge_state(state, rules, play.scratch)
    violation = require(violation, WRONG_DEAL, is_freshly_dealt(state, rules))
    if violation != NO_VIOLATION:
        play.before[0] = state
        report(play, game, NO_ACTION, violation)


@rule
def count_round(play: Play, state: State, rules: RulesRecord) -> None:
    """Count the round that has ended and how."""
    play.counts[_ROUNDS] += 1
    if int(state.winner) == NO_TEAM and are_hands_played_out(state, rules):
        play.counts[_PLAY_OUTS] += 1
    if is_shutout(state, rules):
        play.counts[_SHUTOUTS] += 1


@rule
def is_shutout(state: State, rules: RulesRecord) -> bool:
    """Return True if a team has won and all others have no km."""
    winner = int(state.winner)
    return winner != NO_TEAM and blank_opponents(state, rules, winner) == rules.teams - 1


@rule
def draw_styles(play: Play, rules: RulesRecord, game: int) -> None:
    """Draw each team's style for this round; in one of eight all but one idle, and are shut out."""
    state = play.states[game]
    key_0, key_1 = int(state.key[1]), int(state.key[0]) ^ 1
    counter = int(play.steps[game]) * (MAX_TEAMS + 1)
    for team in range(rules.teams):
        play.styles[game, team] = random_below(key_0, key_1, counter + team, len(play.weights))
    chosen = random_below(key_0, key_1, counter + MAX_TEAMS, rules.teams * _LONE_DRIVER)
    if chosen < rules.teams:
        for team in range(rules.teams):
            play.styles[game, team] = FINISHER if team == chosen else IDLER


@rule
def count_step(play: Play, state: State, game: int, action: int) -> None:
    """Count the step and its events."""
    play.steps[game] += 1
    play.round_steps[game] += 1
    play.counts[_STEPS] += 1
    play.counts[_CLAIMS] += 1 if action == CLAIM_COUP_FOURRE else 0
    play.counts[_EXTENSIONS] += 1 if action == EXTEND else 0
    play.counts[_EMPTY] += 1 if int(play.before[0].draw_pile) > 0 and int(state.draw_pile) == 0 else 0


@kernel
def report(play: Play, game: int, action: int, violation: int) -> None:
    """Count a violation, and note it with the game before and after it."""
    number = int(play.counts[_VIOLATIONS])
    play.counts[_VIOLATIONS] += 1
    if number < MOST_FOUND:
        result, saved = play.found[number], play.saved[2 * number : 2 * number + 2]
        step = int(play.steps[game])
        note(result, saved, play.before[0], play.states[game], game, step, action, violation)


# Sampled --------------------------------------------------------------------------------------------------


@kernel
def judge_redeal(play: Play, rules: RulesRecord, game: int) -> int:
    """The seat sees and may do the same whatever is hidden; any redeal makes a game."""
    play.copied[0] = play.states[game]
    redealt = play.copied[0]
    seat, number = int(redealt.seat), int(play.steps[game])
    key_0, key_1 = int(redealt.key[0]) ^ 2, int(redealt.key[1])
    redeal_hidden_cards(redealt, rules, seat, random_word(key_0, key_1, number), key_1, play.hidden)
    row, mask = play.buffers.observation[0], play.buffers.action_mask[0]
    seen = decision_violation(redealt, rules, mask, row, play.high) == NO_VIOLATION
    same = seen and are_equal(row, play.row) and are_equal(mask, play.mask)
    result = require(NO_VIOLATION, HIDDEN_CARDS_SHOW, same)
    return require(result, REDEAL_IS_NO_GAME, judge_state(redealt, rules, play.scratch) == NO_VIOLATION)


@kernel
def judge_engine(play: Play, rules: RulesRecord, game: int, action: int) -> int:
    """Repeat the step with the engine, on a copy of the game before it."""
    play.copied[0] = play.before[0]
    settings = settings_of(game)
    buffers = play.buffers
    step_by_engine(rulebook, play.copied[0], rules, settings, action, buffers)
    state = play.states[game]
    is_over = int(state.phase) == ROUND_OVER
    ended = is_over and is_episode_over(state, rules, settings.episode)
    result = require(NO_VIOLATION, WRONG_REWARDS, rewards_are_right(buffers, rules, is_over))
    result = require(result, WRONG_END_OF_EPISODE, bool(buffers.terminations[0]) == ended)
    if ended:
        seen = finals_are_within_bounds(buffers.final_observation[0], rules.players, play.high)
        result = require(result, OBSERVATION_OUT_OF_BOUNDS, seen)
    return result


@rule
def rewards_are_right(buffers: Buffers, rules: RulesRecord, is_over: bool) -> bool:
    """Nothing is paid before the end of the round; then partners get the same, and all teams together 0."""
    total, paid, apart = 0.0, 0.0, 0.0
    for seat in range(rules.players):
        reward = float(buffers.rewards[0, seat])
        paid += abs(reward)
        apart += abs(reward - float(buffers.rewards[0, team_of(rules, seat)]))
        total += reward
    return (is_over or paid == 0.0) and apart == 0.0 and abs(total) < ROUNDING


__all__ = ["COUNTS", "FOUND", "MOST_FOUND", "NO_ACTION", "Play", "begin", "new_play", "play_on"]
