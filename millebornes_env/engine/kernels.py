"""The compiled loops over games, for any rulebook.

Each loop works on a range of games, so that threads can share a batch; a game touches nothing but its own
record and its own rows of the buffers, which is why the thread count cannot change a result.

What is played is the rulebook's business (`rulebook.Rulebook`): functions here take it as their first
argument, which the compiler knows, and `kernels_of` makes the kernels of one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, NamedTuple, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt

from millebornes_env.engine.chance import MASK_32, random_word
from millebornes_env.engine.numba.compiling import (
    call_at,
    kernel,
    parallel_kernel,
    prange,
    rule,
    rule_of_rules,
    seldom_rule_of_rules,
)
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

# What `step_range` is to do.
CHECK: Final = 0
STEP: Final = 1
CHECK_AND_STEP: Final = 2
BEGIN: Final = 3


class Settings(NamedTuple):
    """Settings of the environment, beside the rules, as ints that compiled code takes by value."""

    episode: int  # what an episode is: an index of `Rulebook.EPISODES`
    reward: int  # what seats are paid by: an index of `Rulebook.REWARDS`
    autoreset: int  # SAME_STEP, NEXT_STEP or DISABLED
    observation_spec: Any  # what an observation shows: a tuple of the rulebook's own
    punish_illegal: int  # 1: an illegal action ends the game with a penalty, 0: the caller gets an error


@rule
def with_spec(settings: Settings, spec: Any) -> Settings:
    """The settings with another observation spec, which may be of another type."""
    return Settings(settings.episode, settings.reward, settings.autoreset, spec, settings.punish_illegal)


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


# What a step does ------------------------------------------------------------------------------------------


@seldom_rule_of_rules
def start_episode(rulebook: Rulebook, state: State, rules: TableRules) -> None:
    """Begin the game's next episode."""
    state.episode = int(state.episode) + 1
    rulebook.start(state, rules)


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
    """Write who decides next, what it sees and what it may do."""
    seat = int(state.seat)
    buffers.agent_selection[game] = seat
    rulebook.write_observation(state, rules, seat, settings.observation_spec, buffers.observation[game])
    mask = buffers.action_mask[game]
    rulebook.write_mask(state, rules, mask)
    if settings.autoreset == NEXT_STEP and rulebook.is_round_over(state):
        mask[:] = 1


@seldom_rule_of_rules
def first_illegal(
    rulebook: Rulebook,
    states: StateArray,
    rules: TableRules,
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
        if rulebook.is_round_over(states[game]):
            if settings.autoreset != NEXT_STEP:
                return game
        elif settings.punish_illegal == 0 and not rulebook.is_legal(states[game], rules, action):
            return game
    return NO_GAME


@rule_of_rules
def apply_action(
    rulebook: Rulebook,
    state: State,
    rules: TableRules,
    settings: Settings,
    action: int,
    buffers: Buffers,
    game: int,
) -> None:
    """Carry out one action and all that follows from it, but for writing the next decision."""
    rewards = buffers.rewards[game]
    if rulebook.is_round_over(state):
        start_episode(rulebook, state, rules)
    elif settings.punish_illegal == 1 and not rulebook.is_legal(state, rules, action):
        rewards[int(state.seat)] = -1.0
        rulebook.break_off(state)
        end_episode(rulebook, state, rules, settings, NO_TEAM, buffers, game)
    else:
        rulebook.step(state, rules, action)
        if rulebook.is_round_over(state):
            over = rulebook.is_episode_over(state, rules, settings.episode)
            rulebook.write_rewards(state, rules, settings.episode, settings.reward, over, rewards)
            if over:
                winner = rulebook.winner(state, rules, settings.episode)
                end_episode(rulebook, state, rules, settings, winner, buffers, game)
            else:
                rulebook.start_next_round(state, rules)


@seldom_rule_of_rules
def end_episode(
    rulebook: Rulebook,
    state: State,
    rules: TableRules,
    settings: Settings,
    winner: int,
    buffers: Buffers,
    game: int,
) -> None:
    """Report the end of an episode and who won it alone, if anybody; in SAME_STEP begin the next."""
    buffers.terminations[game] = True
    buffers.final_winner[game] = winner
    write_finals(rulebook, state, rules, settings, buffers, game)
    if settings.autoreset == SAME_STEP:
        start_episode(rulebook, state, rules)


@seldom_rule_of_rules
def apply_each(  # noqa: PLR0913, PLR0917 - those of `step_range`, and the rulebook
    rulebook: Rulebook,
    states: StateArray,
    rules: TableRules,
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
                start_episode(rulebook, states[game], rules)
        elif action == SKIP:
            continue
        else:
            apply_action(rulebook, states[game], rules, settings, action, buffers, game)
        write_decision(rulebook, states[game], rules, settings, buffers, game)


# The kernels of a rulebook ---------------------------------------------------------------------------------


class Kernels(NamedTuple):
    """The loops over games of one rulebook; each is described where it is made, below."""

    seed_games: Callable[..., None]
    step_range: Callable[..., int]
    observe_seats: Callable[..., None]
    redeal_games: Callable[..., None]
    full_states: Callable[..., None]


def kernels_of(rulebook: Rulebook) -> Kernels:
    """The kernels of a rulebook, made once for each; they are compiled when they are called.

    Raises:
        GameError: the module lacks something that the engine asks for.
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
    """Compile a loop of a rulebook, under a name and in a cache folder of that rulebook's."""
    function.__name__ = function.__qualname__ = f"{rulebook.NAME}_{function.__name__}"
    function.__module__ = rulebook.__name__  # type: ignore[attr-defined] # it is a module
    return kernel(function)


def named_for(rulebook: Rulebook, function: Callable[P, R], *modules: ModuleType) -> Callable[P, R]:
    """Give a function that was made for a rulebook a name of its own, and a cache folder, for `kernel`.

    Modules reach the function as variables of the function that makes it: Numba's cache knows those by their
    names. (Rules would not do: it would take them for others in each process.)

    Args:
        rulebook: that the function was made for.
        function: made anew for each rulebook.
        *modules: others that it was made with; a change of their sources is one of the function.
    """
    function.__name__ = function.__qualname__ = f"{rulebook.NAME}_{function.__name__}"
    with_them = (rulebook, *modules)
    function.compiled_with = tuple(one.__name__ for one in with_them)  # type: ignore[attr-defined]
    return function


def _seed_games(rulebook: Rulebook) -> Callable[..., None]:
    def seed_games(states: StateArray, first_game: int, seed_0: int, seed_1: int) -> None:
        """Give each game its key, a function of the seed (two 32-bit words) and of the game's number only."""
        for game in range(len(states)):
            number = first_game + game
            key_0 = random_word(seed_0, seed_1, number)
            states[game].key[0] = key_0
            states[game].key[1] = random_word(seed_1, key_0, number)
            states[game].episode = -1

    return _kernel_of(rulebook, seed_games)


def _step_range(rulebook: Rulebook) -> Callable[..., int]:
    def step_range(
        states: StateArray,
        rules: TableRules,
        settings: Settings,
        actions: npt.NDArray[np.int64],
        buffers: Buffers,
        first: int,
        last: int,
        task: int,
    ) -> int:
        """All that a step and a reset do, for the games from `first` to `last` - 1.

        One kernel does it all, since whatever takes an action can also begin an episode: another one for a
        reset would be compiled for seconds, to hold the same code again.

        Args:
            states: the games.
            rules: the table's rules.
            settings: of the environment.
            actions: int64[N], an action or SKIP for each game; BEGIN: 1 begins the game's next episode, 0
                does not.
            buffers: overwritten; BEGIN writes the decisions of all games.
            first: first game.
            last: one past the last game.
            task: CHECK the actions; STEP, the actions being legal; CHECK_AND_STEP: step all games or none;
                BEGIN.

        Returns:
            The first game with an illegal action, or NO_GAME.
        """
        if task in (CHECK, CHECK_AND_STEP):
            illegal = first_illegal(rulebook, states, rules, settings, actions, first, last)
            if illegal != NO_GAME or task == CHECK:
                return illegal
        apply_each(rulebook, states, rules, settings, actions, buffers, first, last, task)
        return NO_GAME

    return _kernel_of(rulebook, step_range)


def _observe_seats(rulebook: Rulebook) -> Callable[..., None]:
    def observe_seats(
        states: StateArray,
        rules: TableRules,
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
            seat = int(seats[game])
            rulebook.write_observation(
                states[game], rules, seat, settings.observation_spec, observation[game]
            )

    return _kernel_of(rulebook, observe_seats)


def _redeal_games(rulebook: Rulebook) -> Callable[..., None]:
    def redeal_games(
        states: StateArray,
        rules: TableRules,
        seats: npt.NDArray[np.int32],
        key_0: int,
        key_1: int,
        room: Row,
    ) -> None:
        """Replace all that one seat of each game cannot see by chance, in place.

        Args:
            states: the games.
            rules: the table's rules.
            seats: int32[N], whose view is kept in each game.
            key_0: first word of the key of the random numbers; each game takes numbers of its own.
            key_1: second word.
            room: int8[REDEAL_ROOM], overwritten.
        """
        for game in range(len(states)):
            own_key = random_word(key_0, key_1, game)
            rulebook.redeal(states[game], rules, int(seats[game]), own_key, key_1, room)

    return _kernel_of(rulebook, redeal_games)


def _full_states(rulebook: Rulebook) -> Callable[..., None]:
    def full_states(
        states: StateArray,
        rules: TableRules,
        settings: Settings,
        observation_size: int,
        full: npt.NDArray[np.int8],
    ) -> None:
        """Write everything there is to know of each game, seen from the seat that decides.

        Args:
            states: the games.
            rules: the table's rules.
            settings: of the environment.
            observation_size: D, the numbers that come first.
            full: int8[N, K], all zero; `Rulebook.full_state_sections` is its layout.
        """
        for game in range(len(states)):
            state = states[game]
            row = full[game]
            seat = int(state.seat)
            rulebook.write_observation(state, rules, seat, settings.observation_spec, row[:observation_size])
            rulebook.write_hidden(state, rules, seat, settings.observation_spec, row, observation_size)

    return _kernel_of(rulebook, full_states)


# On threads ------------------------------------------------------------------------------------------------


@parallel_kernel
def step_on_threads(
    states: StateArray,
    rules_in_array: StateArray,
    plain_settings: Settings,
    spec: Any,
    actions: npt.NDArray[np.int64],
    buffers: Buffers,
    threads: int,
    step_range_address: int,
) -> int:
    """`step_range` of all games, shared among threads.

    Those can be handed arrays and tuples only, no records and no tuples in tuples.
    """
    games = len(states)
    result = np.full(threads, NO_GAME, np.int64)
    for task in (CHECK, STEP):
        for thread in prange(threads):
            first = thread * games // threads
            last = (thread + 1) * games // threads
            settings = with_spec(plain_settings, spec)
            result[thread] = call_at(
                step_range_address,
                (states, rules_in_array[0], settings, actions, buffers, first, last, task),
            )
        for thread in range(threads):
            if result[thread] != NO_GAME:
                return int(result[thread])
    return NO_GAME


def key_of_seed(seed: int) -> tuple[int, int]:
    """The two 32-bit words of a seed from 0 to 2**64 - 1."""
    return seed & MASK_32, (seed >> 32) & MASK_32
