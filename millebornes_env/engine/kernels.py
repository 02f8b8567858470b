"""The compiled loops over games, for any rulebook.

Each loop works on a range of games, so that threads can split a batch; a game touches only its own record and
its own rows of the buffers, so the thread count cannot change a result.

Functions take the rulebook (`rulebook.Rulebook`) as their first argument, a constant for the compiler;
`kernels_of` makes the kernels of one rulebook.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.action_sets import Sets, are_in_sets, is_in_set, write_set_of_mask
from millebornes_env.engine.chance import MASK_32, random_below, random_word
from millebornes_env.engine.numba.compiling import (
    call_at,
    kernel,
    parallel_kernel,
    prange,
    rule,
    rule_of_rules,
    seldom_rule_of_rules,
)
from millebornes_env.engine.numba.simd import prefetch
from millebornes_env.engine.rulebook import (
    NO_TEAM,
    Row,
    Rulebook,
    State,
    StateArray,
    TableRules,
    checked_module,
)

P = ParamSpec("P")
R = TypeVar("R")

# Values of `Settings.autoreset`.
SAME_STEP: Final = 0
NEXT_STEP: Final = 1
DISABLED: Final = 2

SKIP: Final = -1
"""In an array of actions: leave this game as it is."""

NO_GAME: Final = -1

_AHEAD: Final = 2  # games: so far ahead of their step, records and rows are fetched from memory

_SHEET_TAG: Final = 0x73686565  # separates the draw of a sheet from the game's other random numbers

# Tasks of `step_range`.
CHECK: Final = 0
STEP: Final = 1
CHECK_AND_STEP: Final = 2
BEGIN: Final = 3


class Settings(NamedTuple):
    """Settings of the environment besides the rules, as ints that compiled code takes by value."""

    episode: int  # kind of episode: an index of `Rulebook.EPISODES`
    reward: int  # kind of reward: an index of `Rulebook.REWARDS`
    autoreset: int  # SAME_STEP, NEXT_STEP or DISABLED
    observation_spec: Any  # contents of an observation: a tuple defined by the rulebook
    punish_illegal: int  # 1: an illegal action ends the game with a penalty; 0: it is an error


@rule
def with_spec(settings: Settings, spec: Any) -> Settings:
    """Return the settings with another observation spec, which may have another type."""
    return Settings(settings.episode, settings.reward, settings.autoreset, spec, settings.punish_illegal)


class Buffers(NamedTuple):
    """The arrays that a step writes; N games, S seats, T teams, D numbers in an observation, A actions.

    The arrays `final_*` are valid for games whose episode ended in this step.
    """

    observation: npt.NDArray[np.int8]  # [N, D] of the seat to act
    action_mask: npt.NDArray[
        np.int8
    ]  # [N, A] of the seat to act; all 1 where the next step begins an episode
    agent_selection: npt.NDArray[np.int32]  # [N] seat to act
    rewards: npt.NDArray[np.float32]  # [N, S] of this step
    terminations: npt.NDArray[np.bool_]  # [N] True where the episode ended in this step
    truncations: npt.NDArray[np.bool_]  # [N] always False: every round ends by itself
    final_observation: npt.NDArray[np.int8]  # [N, S, D] last observation of each seat
    final_score: npt.NDArray[np.int16]  # [N, T] points of the round or match
    final_winner: npt.NDArray[np.int8]  # [N] team, or -1: win shared, or broken off


class GameRules(NamedTuple):
    """The rules of N games: one record for all, or one for each, copied from K sheets when an episode begins.

    Each game has a copy because games are stepped in order: with 4,096 games and 65,536 sheets, a step takes
    twice as long if it reads the records of the sheets.
    """

    records: StateArray  # [1] or [N], records that `Rulebook.rules_array` returns
    sheets: StateArray  # [K] records to draw from
    sheet: npt.NDArray[np.int32]  # [N] index of the game's sheet
    final_sheet: npt.NDArray[np.int32]  # [N] that of the episode that ended in this step


# The parts of a step ---------------------------------------------------------------------------------------


@rule
def rules_of(rules: GameRules, game: int) -> Any:
    """Return the record of a game's rules."""
    return rules.records[game if len(rules.records) > 1 else 0]


@rule
def drawn_sheet(key_0: int, key_1: int, episode: int, sheets: int) -> int:
    """Draw the sheet of a game's episode, one of `sheets`, with the game's key."""
    return random_below(key_1 ^ _SHEET_TAG, key_0, episode, sheets)


@seldom_rule_of_rules
def start_episode(rulebook: Rulebook, state: State, rules: TableRules) -> None:
    """Begin a game's next episode by the given rules."""
    state.episode = int(state.episode) + 1
    rulebook.start(state, rules)


@rule_of_rules
def start_next_episode(rulebook: Rulebook, state: State, rules: GameRules, game: int) -> None:
    """Draw the sheet of the game's next episode, and begin it."""
    key_0, key_1, episode = int(state.key[0]), int(state.key[1]), int(state.episode) + 1
    if len(rules.sheets) > 1:
        sheet = drawn_sheet(key_0, key_1, episode, len(rules.sheets))
        rules.sheet[game] = sheet
        rules.records[game] = rules.sheets[sheet]
    start_episode(rulebook, state, rules_of(rules, game))


@seldom_rule_of_rules
def write_finals(
    rulebook: Rulebook, state: State, rules: TableRules, settings: Settings, buffers: Buffers, game: int
) -> None:
    """Write the last observations and the score of a game whose episode has ended."""
    for seat in range(rules.players):
        row = buffers.final_observation[game, seat]
        rulebook.write_observation(state, rules, seat, settings.observation_spec, row)
    for team in range(rules.teams):
        score = rulebook.final_score(state, rules, settings.episode, team)
        buffers.final_score[game, team] = score


@rule_of_rules
def write_decision(
    rulebook: Rulebook, state: State, rules: TableRules, settings: Settings, buffers: Buffers, game: int
) -> None:
    """Write the seat to act, its observation and its action mask."""
    seat = int(state.seat)
    buffers.agent_selection[game] = seat
    rulebook.write_observation(state, rules, seat, settings.observation_spec, buffers.observation[game])
    mask = buffers.action_mask[game]
    rulebook.write_mask(state, rules, mask)
    if settings.autoreset == NEXT_STEP and rulebook.is_round_over(state):
        mask[:] = 1


@rule_of_rules
def is_possible(rulebook: Rulebook, state: State, rules: TableRules, settings: Settings, action: int) -> bool:
    """Return True if a game can be stepped with the action.

    An action is impossible if it is illegal, unless illegal actions are punished, or if the game has ended,
    unless the next step begins the next episode.
    """
    if rulebook.is_round_over(state):
        return settings.autoreset == NEXT_STEP
    return settings.punish_illegal == 1 or rulebook.is_legal(state, rules, action)


@seldom_rule_of_rules
def first_illegal(
    rulebook: Rulebook,
    states: StateArray,
    rules: GameRules,
    settings: Settings,
    actions: npt.NDArray[np.int64],
    legal: Sets,
    first: int,
    last: int,
) -> int:
    """Return the first game from `first` to `last` - 1 whose action is impossible, or NO_GAME."""
    if legal.shape[1] == 1 and are_in_sets(legal, actions, first, last):
        return NO_GAME
    for game in range(first, last):
        action = int(actions[game])
        if action == SKIP or is_in_set(legal[game], action):
            continue
        if not is_possible(rulebook, states[game], rules_of(rules, game), settings, action):
            return game
    return NO_GAME


@rule_of_rules
def apply_action(
    rulebook: Rulebook,
    state: State,
    rules: GameRules,
    settings: Settings,
    action: int,
    buffers: Buffers,
    game: int,
) -> None:
    """Apply one action with all its consequences, except for writing the next decision."""
    rewards, own = buffers.rewards[game], rules_of(rules, game)
    if rulebook.is_round_over(state):
        start_next_episode(rulebook, state, rules, game)
    elif settings.punish_illegal == 1 and not rulebook.is_legal(state, own, action):
        rewards[int(state.seat)] = -1.0
        rulebook.break_off(state)
        end_episode(rulebook, state, rules, settings, NO_TEAM, buffers, game)
    else:
        rulebook.step(state, own, action)
        if rulebook.is_round_over(state):
            over = rulebook.is_episode_over(state, own, settings.episode)
            rulebook.write_rewards(state, own, settings.episode, settings.reward, over, rewards)
            if over:
                winner = rulebook.winner(state, own, settings.episode)
                end_episode(rulebook, state, rules, settings, winner, buffers, game)
            else:
                rulebook.start_next_round(state, own)


@seldom_rule_of_rules
def end_episode(
    rulebook: Rulebook,
    state: State,
    rules: GameRules,
    settings: Settings,
    winner: int,
    buffers: Buffers,
    game: int,
) -> None:
    """Write the end of an episode and its sole winner, if any; in SAME_STEP begin the next episode."""
    buffers.terminations[game] = True
    buffers.final_winner[game] = winner
    rules.final_sheet[game] = rules.sheet[game]
    write_finals(rulebook, state, rules_of(rules, game), settings, buffers, game)
    if settings.autoreset == SAME_STEP:
        start_next_episode(rulebook, state, rules, game)


@seldom_rule_of_rules
def apply_each(  # noqa: PLR0913, PLR0917 - the arguments of `step_range`, and the rulebook
    rulebook: Rulebook,
    states: StateArray,
    rules: GameRules,
    settings: Settings,
    actions: npt.NDArray[np.int64],
    buffers: Buffers,
    legal: Sets,
    first: int,
    last: int,
    task: int,
) -> None:
    """Step or begin the games from `first` to `last` - 1; all actions are legal."""
    for game in range(first, last):
        prefetch(states, game + _AHEAD)
        prefetch(buffers.observation, game + _AHEAD)
        buffers.rewards[game, :] = 0.0
        buffers.terminations[game] = False
        action = int(actions[game])
        if task == BEGIN:
            if action == 1:
                start_next_episode(rulebook, states[game], rules, game)
        elif action == SKIP:
            continue
        else:
            apply_action(rulebook, states[game], rules, settings, action, buffers, game)
        write_decision(rulebook, states[game], rules_of(rules, game), settings, buffers, game)
        write_set_of_mask(buffers.action_mask[game], legal[game])


# The kernels of a rulebook ---------------------------------------------------------------------------------


class Kernels(NamedTuple):
    """The loops over games of one rulebook; see the functions below."""

    seed_games: Callable[..., None]
    step_range: Callable[..., int]
    observe_seats: Callable[..., None]
    redeal_games: Callable[..., None]
    full_states: Callable[..., None]


def kernels_of(rulebook: Rulebook) -> Kernels:
    """Return the kernels of a rulebook, made once per rulebook and compiled at their first call.

    Raises:
        GameError: the rulebook is incomplete.
    """
    return _kernels_of_module(checked_module(rulebook))


@functools.cache
def _kernels_of_module(module: ModuleType) -> Kernels:
    rulebook: Any = module
    return Kernels(
        seed_games=_seed_games(rulebook),
        step_range=_step_range(rulebook),
        observe_seats=_observe_seats(rulebook),
        redeal_games=_redeal_games(rulebook),
        full_states=_full_states(rulebook),
    )


def _kernel_of(rulebook: Rulebook, function: Callable[P, R]) -> Callable[P, R]:
    """Compile a loop of a rulebook, under its own name and in the rulebook's cache folder."""
    function.__name__ = function.__qualname__ = f"{rulebook.NAME}_{function.__name__}"
    function.__module__ = rulebook.__name__  # type: ignore[attr-defined] # it is a module
    return kernel(function)


def named_for(rulebook: Rulebook, function: Callable[P, R], *modules: ModuleType) -> Callable[P, R]:
    """Give a function made for a rulebook its own name and cache folder; pass the result to `kernel`.

    Modules reach the function as closure variables, because Numba's cache identifies modules by name. It
    would take a rule in a closure for a different one in each process.

    Args:
        rulebook: the rulebook that the function was made for.
        function: a new function for each rulebook.
        *modules: other modules in the closure; a change of their sources invalidates the cache.
    """
    function.__name__ = function.__qualname__ = f"{rulebook.NAME}_{function.__name__}"
    all_modules = (rulebook, *modules)
    function.compiled_with = tuple(one.__name__ for one in all_modules)  # type: ignore[attr-defined]
    return function


def _seed_games(rulebook: Rulebook) -> Callable[..., None]:
    def seed_games(states: StateArray, first_game: int, seed_0: int, seed_1: int) -> None:
        """Write the key of each game, a function of the seed (two 32-bit words) and the game's number."""
        for game in range(len(states)):
            number = first_game + game
            key_0 = random_word(seed_0, seed_1, number)
            states[game].key[0] = key_0
            states[game].key[1] = random_word(seed_1, key_0, number)
            states[game].episode = -1

    return _kernel_of(rulebook, seed_games)


def _step_range(rulebook: Rulebook) -> Callable[..., int]:
    def step_range(  # noqa: PLR0913, PLR0917 - a loop takes all arrays as arguments
        states: StateArray,
        rules: GameRules,
        settings: Settings,
        actions: npt.NDArray[np.int64],
        buffers: Buffers,
        legal: Sets,
        first: int,
        last: int,
        task: int,
    ) -> int:
        """Step or reset the games from `first` to `last` - 1.

        One kernel does both, since a step can also begin an episode: a separate kernel for resets would
        compile the same code again, for seconds.

        Args:
            states: the games.
            rules: the rules of the games.
            settings: settings of the environment.
            actions: int64[N], an action or SKIP for each game; for BEGIN, 1 begins the game's next episode
                and 0 does not.
            buffers: overwritten; BEGIN writes the decisions of all games.
            legal: int64[N, W], the legal actions of all games, overwritten. A caller may have written to the
                masks, so actions are checked with these.
            first: first game.
            last: one past the last game.
            task: CHECK the actions; STEP with actions known to be legal; CHECK_AND_STEP all games or none;
                BEGIN.

        Returns:
            The first game with an illegal action, or NO_GAME.
        """
        if task in (CHECK, CHECK_AND_STEP):
            illegal = first_illegal(rulebook, states, rules, settings, actions, legal, first, last)
            if illegal != NO_GAME or task == CHECK:
                return illegal
        apply_each(rulebook, states, rules, settings, actions, buffers, legal, first, last, task)
        return NO_GAME

    return _kernel_of(rulebook, step_range)


def _observe_seats(rulebook: Rulebook) -> Callable[..., None]:
    def observe_seats(
        states: StateArray,
        rules: GameRules,
        settings: Settings,
        seats: npt.NDArray[np.int32],
        observation: npt.NDArray[np.int8],
    ) -> None:
        """Write the observation of one seat of each game, whether it is to act or not.

        Args:
            states: the games.
            rules: the rules of the games.
            settings: settings of the environment.
            seats: int32[N], the observer in each game.
            observation: int8[N, D], overwritten.
        """
        for game in range(len(states)):
            seat = int(seats[game])
            own, row = rules_of(rules, game), observation[game]
            rulebook.write_observation(states[game], own, seat, settings.observation_spec, row)

    return _kernel_of(rulebook, observe_seats)


def _redeal_games(rulebook: Rulebook) -> Callable[..., None]:
    def redeal_games(
        states: StateArray,
        rules: GameRules,
        seats: npt.NDArray[np.int32],
        key_0: int,
        key_1: int,
        scratch: Row,
    ) -> None:
        """Resample everything hidden from one seat of each game, in place.

        Args:
            states: the games.
            rules: the rules of the games.
            seats: int32[N], the seat of each game whose information is kept.
            key_0: first word of the key of the random numbers, which differ from game to game.
            key_1: second word.
            scratch: int8[REDEAL_ROOM], overwritten.
        """
        for game in range(len(states)):
            own_key = random_word(key_0, key_1, game)
            own_rules = rules_of(rules, game)
            rulebook.redeal(states[game], own_rules, int(seats[game]), own_key, key_1, scratch)

    return _kernel_of(rulebook, redeal_games)


def _full_states(rulebook: Rulebook) -> Callable[..., None]:
    def full_states(
        states: StateArray,
        rules: GameRules,
        settings: Settings,
        observation_size: int,
        full: npt.NDArray[np.int8],
    ) -> None:
        """Write the full state of each game, from the point of view of the seat to act.

        Args:
            states: the games.
            rules: the rules of the games.
            settings: settings of the environment.
            observation_size: D, the length of the observation, which comes first.
            full: int8[N, K], all zero, in the layout of `Rulebook.full_state_sections`.
        """
        for game in range(len(states)):
            state, own = states[game], rules_of(rules, game)
            row = full[game]
            seat = int(state.seat)
            rulebook.write_observation(state, own, seat, settings.observation_spec, row[:observation_size])
            rulebook.write_hidden(state, own, seat, settings.observation_spec, row, observation_size)

    return _kernel_of(rulebook, full_states)


# On threads ------------------------------------------------------------------------------------------------


@parallel_kernel
def step_on_threads(  # noqa: PLR0913, PLR0917 - as `step_range`
    states: StateArray,
    rules: GameRules,
    plain_settings: Settings,
    spec: Any,
    actions: npt.NDArray[np.int64],
    buffers: Buffers,
    legal: Sets,
    threads: int,
    step_range_address: int,
) -> int:
    """Run `step_range` with the batch split among threads; one checks the actions, which is quickly done.

    A parallel kernel can pass only arrays and flat tuples to its threads, so the spec comes apart from the
    settings.
    """
    games = len(states)
    whole = with_spec(plain_settings, spec)
    illegal = call_at(step_range_address, (states, rules, whole, actions, buffers, legal, 0, games, CHECK))
    if illegal == NO_GAME:
        for thread in prange(threads):
            first = thread * games // threads
            last = (thread + 1) * games // threads
            settings = with_spec(plain_settings, spec)
            call_at(
                step_range_address,
                (states, rules, settings, actions, buffers, legal, first, last, STEP),
            )
    return int(illegal)


def key_of_seed(seed: int) -> tuple[int, int]:
    """Split a seed from 0 to 2**64 - 1 into two 32-bit words, the low one first."""
    return seed & MASK_32, (seed >> 32) & MASK_32
