"""The compiled loops over games.

Each loop works on a range of games, so that threads can share a batch; a game touches nothing but its own
record and its own rows of the buffers, which is why the thread count cannot change a result.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.chance import MASK_32, random_below, random_word
from millebornes_env.compile import call_at, kernel, parallel_kernel, prange, rule, seldom
from millebornes_env.millebornes.coup_fourre import drop_pending_hazard
from millebornes_env.millebornes.determinize import redeal_hidden_cards
from millebornes_env.millebornes.legality import is_legal, write_mask
from millebornes_env.millebornes.motion import team_of
from millebornes_env.millebornes.observation import write_hidden_cards, write_observation
from millebornes_env.millebornes.rules import Rules
from millebornes_env.millebornes.scoring import round_score
from millebornes_env.millebornes.sections import ObservationSpec
from millebornes_env.millebornes.state import NO_TEAM, ROUND_OVER, Int8Array, State, StateArray
from millebornes_env.millebornes.turn import start_match, start_next_round, step
from millebornes_env.millebornes.winning import (
    has_won_match,
    has_won_round,
    is_match_over,
    match_winner,
    round_winner,
)

# Values of `Settings.reward`.
POINTS: Final = 0
WIN: Final = 1

# Values of `Settings.autoreset`.
SAME_STEP: Final = 0
NEXT_STEP: Final = 1
DISABLED: Final = 2

POINTS_PER_REWARD: Final = 1000.0
"""A lead of so many points is a reward of 1."""

SKIP: Final = -1
"""In an array of actions: leave this game as it is."""

NO_GAME: Final = -1

# What `step_range` is to do.
CHECK: Final = 0
STEP: Final = 1
CHECK_AND_STEP: Final = 2
BEGIN: Final = 3


class Settings(NamedTuple):
    """What the environment adds to the rules, as ints that compiled code takes by value."""

    match: int  # 1: an episode is a match, 0: a round
    reward: int  # POINTS or WIN
    autoreset: int  # SAME_STEP, NEXT_STEP or DISABLED
    observation_spec: ObservationSpec  # what an observation shows
    punish_illegal: int  # 1: an illegal action ends the game with a penalty, 0: the caller gets an error


def settings_in_array(settings: Settings) -> npt.NDArray[np.int64]:
    """The settings as int64[8], for threads: Numba hands them no tuple within a tuple."""
    plain = settings._replace(observation_spec=0)  # type: ignore[arg-type]
    return np.array([*plain, *settings.observation_spec], np.int64)


@rule
def settings_from(numbers: npt.NDArray[np.int64]) -> Settings:
    """The settings that `settings_in_array` has laid out."""
    spec = ObservationSpec(int(numbers[5]), int(numbers[6]), int(numbers[7]))
    return Settings(int(numbers[0]), int(numbers[1]), int(numbers[2]), spec, int(numbers[4]))


class Buffers(NamedTuple):
    """The arrays that a step writes; N games, S seats, T teams, D numbers in an observation, A actions."""

    observation: npt.NDArray[np.int8]  # [N, D] what the deciding seat sees
    action_mask: npt.NDArray[np.int8]  # [N, A] what it may do; all 1 where the next step begins an episode
    agent_selection: npt.NDArray[np.int32]  # [N] which seat it is
    rewards: npt.NDArray[np.float32]  # [N, S] of this step
    terminations: npt.NDArray[np.bool_]  # [N] whether the episode ended in this step
    truncations: npt.NDArray[np.bool_]  # [N] always False: every round ends by itself
    final_observation: npt.NDArray[np.int8]  # [N, S, D] what each seat saw at the end; valid where it ended
    final_score: npt.NDArray[np.int16]  # [N, T] points of the round or match; valid where it ended
    final_winner: npt.NDArray[np.int8]  # [N] team, or -1: shared, or broken off; valid where it ended


@kernel
def seed_games(states: StateArray, first_game: int, seed_0: int, seed_1: int) -> None:
    """Give each game its key, a function of the seed (two 32-bit words) and of the game's number only."""
    for game in range(len(states)):
        number = first_game + game
        key_0 = random_word(seed_0, seed_1, number)
        states[game].key[0] = key_0
        states[game].key[1] = random_word(seed_1, key_0, number)
        states[game].episode = -1


@seldom
def start_episode(state: State, rules: Rules) -> None:
    """Begin the game's next episode."""
    state.episode = int(state.episode) + 1
    start_match(state, rules)


@rule
def is_episode_over(state: State, rules: Rules, settings: Settings) -> bool:
    """Whether the game's episode has ended: a round with its scoring, a match with its decision."""
    if int(state.phase) != ROUND_OVER:
        return False
    return settings.match == 0 or is_match_over(state, rules)


@seldom
def write_rewards(
    state: State, rules: Rules, settings: Settings, over: bool, rewards: npt.NDArray[np.float32]
) -> None:
    """Write what a finished round gives to each seat: all members of a team get the same.

    POINTS: the team's points less the mean of the other teams', in thousands.
    WIN, and where no points are counted: at the end of the episode, 1 to the winner and -1 shared among the
    others. Who shares the win gets the mean of what the sharers would get if one of them won alone, so that
    rewards add up to 0 and rise with the share of the win, and a loss costs the same whoever wins.
    """
    for seat in range(rules.players):
        team = team_of(rules, seat)
        if settings.reward == POINTS and rules.count_points == 1:
            others = 0
            for other in range(rules.teams):
                others += round_score(state, other)
            own = round_score(state, team)
            rewards[seat] = (own - (others - own) / (rules.teams - 1)) / POINTS_PER_REWARD
        elif over:
            share = win_share(state, rules, settings, team)
            rewards[seat] = (rules.teams * share - 1.0) / (rules.teams - 1)


@rule
def win_share(state: State, rules: Rules, settings: Settings, team: int) -> float:
    """The team's share of the win of the finished episode: 1, 1 / k if k teams share it, or 0."""
    if not has_won_episode(state, rules, settings, team):
        return 0.0
    winners = 0
    for other in range(rules.teams):
        winners += 1 if has_won_episode(state, rules, settings, other) else 0
    return 1.0 / winners


@rule
def has_won_episode(state: State, rules: Rules, settings: Settings, team: int) -> bool:
    """Whether the team won the finished episode, alone or together with others."""
    if settings.match == 1:
        return has_won_match(state, rules, team)
    return has_won_round(state, rules, team)


@rule
def episode_winner(state: State, rules: Rules, settings: Settings) -> int:
    """The team that won the finished episode alone, or NO_TEAM."""
    if settings.match == 1:
        return match_winner(state, rules)
    return round_winner(state, rules)


@seldom
def write_finals(state: State, rules: Rules, settings: Settings, buffers: Buffers, game: int) -> None:
    """Write the last observations and the score of a game whose episode has ended."""
    for seat in range(rules.players):
        write_observation(
            state, rules, seat, settings.observation_spec, buffers.final_observation[game, seat]
        )
    for team in range(rules.teams):
        points = int(state.score[team]) if settings.match == 1 else round_score(state, team)
        buffers.final_score[game, team] = points


@rule
def write_decision(state: State, rules: Rules, settings: Settings, buffers: Buffers, game: int) -> None:
    """Write who decides next, what it sees and what it may do."""
    seat = int(state.seat)
    buffers.agent_selection[game] = seat
    write_observation(state, rules, seat, settings.observation_spec, buffers.observation[game])
    mask = buffers.action_mask[game]
    write_mask(state, rules, mask)
    if settings.autoreset == NEXT_STEP and int(state.phase) == ROUND_OVER:
        mask[:] = 1


@seldom
def first_illegal(
    states: StateArray,
    rules: Rules,
    settings: Settings,
    actions: npt.NDArray[np.int64],
    first: int,
    last: int,
) -> int:
    """The first game from `first` to `last` - 1 whose action cannot be carried out, or NO_GAME.

    That is an illegal one, unless those are punished, and any action in a game that has ended, unless the
    next step begins the next episode.
    """
    for game in range(first, last):
        action = int(actions[game])
        if action == SKIP:
            continue
        if int(states[game].phase) == ROUND_OVER:
            if settings.autoreset != NEXT_STEP:
                return game
        elif settings.punish_illegal == 0 and not is_legal(states[game], rules, action):
            return game
    return NO_GAME


@rule
def carry_out(
    state: State, rules: Rules, settings: Settings, action: int, buffers: Buffers, game: int
) -> None:
    """Carry out one action and all that follows from it, but for writing the next decision."""
    rewards = buffers.rewards[game]
    if int(state.phase) == ROUND_OVER:
        start_episode(state, rules)
    elif settings.punish_illegal == 1 and not is_legal(state, rules, action):
        rewards[int(state.seat)] = -1.0
        drop_pending_hazard(state)
        end_episode(state, rules, settings, NO_TEAM, buffers, game)
    else:
        step(state, rules, action)
        if int(state.phase) == ROUND_OVER:
            over = is_episode_over(state, rules, settings)
            write_rewards(state, rules, settings, over, rewards)
            if over:
                winner = episode_winner(state, rules, settings)
                end_episode(state, rules, settings, winner, buffers, game)
            else:
                start_next_round(state, rules)


@seldom
def end_episode(
    state: State, rules: Rules, settings: Settings, winner: int, buffers: Buffers, game: int
) -> None:
    """Report the end of an episode and who won it alone, if anybody; in SAME_STEP begin the next."""
    state.phase = ROUND_OVER
    buffers.terminations[game] = True
    buffers.final_winner[game] = winner
    write_finals(state, rules, settings, buffers, game)
    if settings.autoreset == SAME_STEP:
        start_episode(state, rules)


@seldom
def carry_out_each(
    states: StateArray,
    rules: Rules,
    settings: Settings,
    actions: npt.NDArray[np.int64],
    buffers: Buffers,
    first: int,
    last: int,
    task: int,
) -> None:
    """Step or begin the games from `first` to `last` - 1; all actions have been found legal."""
    for game in range(first, last):
        buffers.rewards[game, :] = 0.0
        buffers.terminations[game] = False
        action = int(actions[game])
        if task == BEGIN:
            if action == 1:
                start_episode(states[game], rules)
        elif action == SKIP:
            continue
        else:
            carry_out(states[game], rules, settings, action, buffers, game)
        write_decision(states[game], rules, settings, buffers, game)


@kernel
def step_range(
    states: StateArray,
    rules: Rules,
    settings: Settings,
    actions: npt.NDArray[np.int64],
    buffers: Buffers,
    first: int,
    last: int,
    task: int,
) -> int:
    """All that a step and a reset do, for the games from `first` to `last` - 1.

    One kernel does it all, since whatever takes an action can also begin an episode: another one for a reset
    would be compiled for seconds, to hold the same code again.

    Args:
        states: the games.
        rules: the table's rules.
        settings: of the environment.
        actions: int64[N], an action or SKIP for each game; BEGIN: 1 begins the game's next episode, 0 does
            not.
        buffers: overwritten; BEGIN writes the decisions of all games.
        first: first game.
        last: one past the last game.
        task: CHECK the actions; STEP, the actions being legal; CHECK_AND_STEP: step all games or none; BEGIN.

    Returns:
        The first game with an illegal action, or NO_GAME.
    """
    if task in (CHECK, CHECK_AND_STEP):
        illegal = first_illegal(states, rules, settings, actions, first, last)
        if illegal != NO_GAME or task == CHECK:
            return illegal
    carry_out_each(states, rules, settings, actions, buffers, first, last, task)
    return NO_GAME


@parallel_kernel
def step_on_threads(
    states: StateArray,
    rules_in_array: StateArray,
    settings_numbers: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
    buffers: Buffers,
    threads: int,
    step_range_address: int,
) -> int:
    """`step_range` of all games, shared among threads (which can be handed arrays only, not records)."""
    games = len(states)
    found = np.full(threads, NO_GAME, np.int64)
    for task in (CHECK, STEP):
        for thread in prange(threads):
            first = thread * games // threads
            last = (thread + 1) * games // threads
            settings = settings_from(settings_numbers)
            found[thread] = call_at(
                step_range_address,
                (states, rules_in_array[0], settings, actions, buffers, first, last, task),
            )
        for thread in range(threads):
            if found[thread] != NO_GAME:
                return int(found[thread])
    return NO_GAME


@kernel
def sample_range(
    action_mask: npt.NDArray[np.int8],
    key_0: int,
    key_1: int,
    actions: npt.NDArray[np.int64],
    scratch: npt.NDArray[np.int64],
    first: int,
    last: int,
) -> None:
    """Choose an allowed action of each game from `first` to `last` - 1, all equally probable.

    A game that allows none has ended, and gets SKIP.

    Args:
        action_mask: int8[N, A].
        key_0: first 32-bit word of the key of the random numbers.
        key_1: second word; take another for every call.
        actions: int64[N], overwritten.
        scratch: int64[A + 1], overwritten.
        first: first game.
        last: one past the last game.
    """
    num_actions = action_mask.shape[1]
    for game in range(first, last):
        count = 0
        for action in range(num_actions):  # without a branch, which could not be predicted
            scratch[count] = action
            count += int(action_mask[game, action] != 0)  # whatever a caller has written there
        actions[game] = scratch[random_below(key_0, key_1, game, count)] if count > 0 else SKIP


@parallel_kernel
def sample_on_threads(
    action_mask: npt.NDArray[np.int8],
    key_0: int,
    key_1: int,
    actions: npt.NDArray[np.int64],
    scratch: npt.NDArray[np.int64],
    threads: int,
) -> None:
    """`sample_range` with the batch shared among threads; `scratch` is int64[threads, A + 1]."""
    games = len(actions)
    for thread in prange(threads):
        first = thread * games // threads
        last = (thread + 1) * games // threads
        sample_range(action_mask, key_0, key_1, actions, scratch[thread], first, last)


@kernel
def observe_seats(
    states: StateArray,
    rules: Rules,
    settings: Settings,
    seats: npt.NDArray[np.int32],
    observation: npt.NDArray[np.int8],
) -> None:
    """Write what one seat of each game sees, whether it is its turn or not.

    Args:
        states: the games.
        rules: the table's rules.
        settings: of the environment.
        seats: int32[N], the observer in each game.
        observation: int8[N, D], overwritten.
    """
    for game in range(len(states)):
        write_observation(states[game], rules, int(seats[game]), settings.observation_spec, observation[game])


@kernel
def redeal_games(
    states: StateArray,
    rules: Rules,
    seats: npt.NDArray[np.int32],
    key_0: int,
    key_1: int,
    hidden: Int8Array,
) -> None:
    """Deal all cards anew that one seat of each game cannot see, in place.

    Args:
        states: the games.
        rules: the table's rules.
        seats: int32[N], whose view is kept in each game.
        key_0: first word of the key of the random numbers; each game takes numbers of its own.
        key_1: second word.
        hidden: int8[DECK_SIZE], overwritten.
    """
    for game in range(len(states)):
        own_key = random_word(key_0, key_1, game)
        redeal_hidden_cards(states[game], rules, int(seats[game]), own_key, key_1, hidden)


@kernel
def full_states(
    states: StateArray, rules: Rules, settings: Settings, observation_size: int, full: npt.NDArray[np.int8]
) -> None:
    """Write everything there is to know of each game, seen from the seat that decides.

    Args:
        states: the games.
        rules: the table's rules.
        settings: of the environment.
        observation_size: D, the numbers that come first.
        full: int8[N, full_state_size], all zero; `observation.full_state_sections` is its layout.
    """
    for game in range(len(states)):
        state = states[game]
        row = full[game]
        seat = int(state.seat)
        write_observation(state, rules, seat, settings.observation_spec, row[:observation_size])
        write_hidden_cards(state, rules, seat, settings.observation_spec, row, observation_size)


def key_of_seed(seed: int) -> tuple[int, int]:
    """The two 32-bit words of a seed from 0 to 2**64 - 1."""
    return seed & MASK_32, (seed >> 32) & MASK_32
