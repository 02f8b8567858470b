"""The arena's compiled loops, which play games to their ends and count events.

The first arguments of these functions are the rulebook and the modules that count events and luck, which are
constants for the compiler; `arena_kernels_of` makes the kernels of a game.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.compiled.agent import FIRST_OF_MATCH, MEMORY
from millebornes_env.agents.decoder import decoder_of
from millebornes_env.arena import plain_counters
from millebornes_env.arena.batch import FAULT, NO_ROLE, Batch, Roles, choose_next, role_of_seat
from millebornes_env.arena.luck import no_luck
from millebornes_env.arena.luck.value_network import ValueNetwork, no_network
from millebornes_env.arena.statistics import GameCounts, GameLuck, Int64Array
from millebornes_env.engine.kernels import Settings, named_for, start_episode
from millebornes_env.engine.numba.compiling import kernel, rule_of_rules, seldom, seldom_rule_of_rules
from millebornes_env.engine.rulebook import Rulebook, StateArray, TableRules
from millebornes_env.errors import OptionError, shown
from millebornes_env.games.registry import Game

Int8Array = npt.NDArray[np.int8]

A_ROUND: Final = 0
"""Index of the single round in `Rulebook.EPISODES`."""


@rule_of_rules
def begin_game(rulebook: Rulebook, batch: Batch, rules: TableRules, game: int) -> None:
    """Deal the game's next episode."""
    state = batch.states[game]
    start_episode(rulebook, state, rules)
    batch.memories[game, :, :] = 0
    batch.decisions[game] = 0
    batch.steps[game] = 0
    batch.live[game] = True
    batch.points[game, :] = 0
    batch.rounds[game] = 0
    batch.first[game] = role_of_seat(batch, rules, game, int(state.seat))
    batch.shares[game, :] = 0.0
    batch.faults[game, 0] = NO_ROLE
    if len(batch.luck) > 0:
        batch.luck[game, :] = 0.0


class Rows(NamedTuple):
    """Observations of agents that are not compiled; capacity for G rows."""

    observation: Int8Array  # [G, D]
    action_mask: Int8Array  # [G, A]
    games: Int64Array  # [G] the game of each row
    slot_ids: Int64Array  # [G] game * players + seat

    def part(self, chosen: slice) -> Rows:
        """Return some of the rows."""
        return Rows(
            self.observation[chosen], self.action_mask[chosen], self.games[chosen], self.slot_ids[chosen]
        )


@rule_of_rules
def apply_action(
    rulebook: Rulebook,
    counts: GameCounts,
    luck: Any,
    batch: Batch,
    rules: TableRules,
    settings: Settings,
    game: int,
    action: int,
) -> None:
    """Apply and count one action; an illegal one ends the game with a fault."""
    state = batch.states[game]
    if not rulebook.is_legal(state, rules, action):
        note_fault(batch, game, role_of_seat(batch, rules, game, int(state.seat)), action)
        return
    counts.count_action(state, rules, action, batch.role_of[game], batch.counters)
    batch.decisions[game] += 1
    batch.steps[game] += 1
    counts_luck = len(batch.luck) > 0
    if counts_luck:
        batch.before[0] = state
    rulebook.step(state, rules, action)
    if counts_luck:
        luck.count_draws(batch, rules, game, action)
    if rulebook.is_round_over(state):
        close_round(rulebook, counts, batch, rules, settings, game)


@seldom_rule_of_rules
def close_round(
    rulebook: Rulebook,
    counts: GameCounts,
    batch: Batch,
    rules: TableRules,
    settings: Settings,
    game: int,
) -> None:
    """Count a finished round, and begin the next one or end the episode."""
    state = batch.states[game]
    batch.rounds[game] += 1
    for team in range(rules.teams):
        batch.points[game, batch.role_of[game, team]] += rulebook.final_score(state, rules, A_ROUND, team)
    counts.count_round(state, rules, batch.role_of[game], batch.counters)
    if not rulebook.is_episode_over(state, rules, settings.episode):
        rulebook.start_next_round(state, rules)
        batch.decisions[game] = 0
        batch.memories[game, :, :FIRST_OF_MATCH] = 0
        return
    for team in range(rules.teams):
        share = rulebook.win_share(state, rules, settings.episode, team)
        batch.shares[game, batch.role_of[game, team]] = share
    batch.live[game] = False
    counts.count_episode(rules, int(batch.first[game]), batch.shares[game], batch.counters)


@seldom
def note_fault(batch: Batch, game: int, role: int, action: int) -> None:
    """Record an illegal action and end the game."""
    fault = batch.faults[game]
    fault[0] = role
    fault[1] = batch.rounds[game]
    fault[2] = batch.decisions[game]
    fault[3] = action
    batch.live[game] = False


# The kernels of a game -------------------------------------------------------------------------------------


class ArenaKernels(NamedTuple):
    """The kernels of one game; their docstrings are below."""

    begin_games: Callable[..., None]
    play_games: Callable[..., None]
    choose_for_role: Callable[..., None]
    write_rows: Callable[..., int]
    apply_actions: Callable[..., int]


def arena_kernels_of(game: Game, *, aivat: bool = False) -> ArenaKernels:
    """Return the kernels of a game, which are cached and compiled on the first call.

    Args:
        game: the game.
        aivat: measure luck by the game's hook `arena.luck`.

    Raises:
        OptionError: a hook of the game is incomplete.
        GameError: the rulebook is incomplete.
    """
    rulebook: Any = game.module()
    luck = luck_of_game(game) if aivat else no_luck
    return _kernels_of_modules(rulebook, counts_of_game(game), luck, decoder_of(rulebook))


def counts_of_game(game: Game) -> Any:
    """Return the game's counting module; raise an OptionError if it lacks a member of `GameCounts`."""
    counts = game.find_hook("arena.counts") or plain_counters
    return _checked(game, "arena.counts", counts, GameCounts)


def luck_of_game(game: Game) -> Any:
    """Return the game's hook `arena.luck`; raise an OptionError if it lacks a member of `GameLuck`."""
    return _checked(game, "arena.luck", game.hook("arena.luck", "aivat"), GameLuck)


def _checked(game: Game, hook: str, given: object, interface: type) -> ModuleType:
    """Return a hook of the game as a module with all members of an interface."""
    module = given
    missing = [name for name in vars(interface) if not name.startswith("_") and not hasattr(module, name)]
    if not isinstance(module, ModuleType) or missing:
        lacks = f" without {', '.join(missing)}" if isinstance(module, ModuleType) else ", no module"
        raise OptionError(
            f"the hook {hook!r} of the game {game.name!r} is {shown(given)}{lacks}; "
            f"millebornes_env.arena.statistics.{interface.__name__} says what it must have"
        )
    return module


@functools.cache
def _kernels_of_modules(
    rulebook: ModuleType, counts: ModuleType, luck: ModuleType, seen: ModuleType
) -> ArenaKernels:
    """Make the kernels: modules reach them as closure variables (see `named_for`)."""
    given: Any = rulebook
    own: list[Callable[..., Any]] = [
        _begin_games(given),
        _play_games(given, counts, luck, seen),
        _choose_for_role(seen),
        _write_rows(given),
        _apply_actions(given, counts, luck),
    ]
    return ArenaKernels(*(kernel(named_for(given, loop, counts, luck, seen)) for loop in own))


def _begin_games(rulebook: Rulebook) -> Callable[..., None]:
    def begin_games(batch: Batch, rules: TableRules) -> None:
        """Deal the next episode of all games."""
        for game in range(len(batch.states)):
            begin_game(rulebook, batch, rules, game)

    return begin_games


def _play_games(rulebook: Rulebook, counts: Any, luck: Any, seen: Any) -> Callable[..., None]:
    def play_games(batch: Batch, rules: TableRules, settings: Settings, roles: Roles) -> None:
        """Play all games to their ends; all roles are compiled."""
        for game in range(len(batch.states)):
            begin_game(rulebook, batch, rules, game)
            while batch.live[game]:
                role = role_of_seat(batch, rules, game, int(batch.states[game].seat))
                choose, options = roles.choose[role], roles.options[role]
                action = choose_next(seen, batch, rules, game, choose, options)
                apply_action(rulebook, counts, luck, batch, rules, settings, game, action)

    return play_games


def _choose_for_role(seen: Any) -> Callable[..., None]:
    def choose_for_role(
        batch: Batch, rules: TableRules, choose: int, options: Int64Array, role: int, actions: Int64Array
    ) -> None:
        """Let a compiled agent choose in the games where its role is to act.

        Args:
            batch: the games.
            rules: rules of the table.
            choose: address of the agent's function.
            options: int64[MAX_OPTIONS], options of the agent.
            role: role of the agent.
            actions: int64[G], overwritten in those games.
        """
        for game in range(len(batch.states)):
            seat = int(batch.states[game].seat)
            if batch.live[game] and role_of_seat(batch, rules, game, seat) == role:
                actions[game] = choose_next(seen, batch, rules, game, choose, options)

    return choose_for_role


def _write_rows(rulebook: Rulebook) -> Callable[..., int]:
    def write_rows(batch: Batch, rules: TableRules, settings: Settings, role: int, rows: Rows) -> int:
        """Write observations and masks of one role's acting seats; return the number of rows."""
        count = 0
        for game in range(len(batch.states)):
            state = batch.states[game]
            seat = int(state.seat)
            if batch.live[game] and role_of_seat(batch, rules, game, seat) == role:
                row = rows.observation[count]
                rulebook.write_observation(state, rules, seat, settings.observation_spec, row)
                rulebook.write_mask(state, rules, rows.action_mask[count])
                rows.games[count] = game
                rows.slot_ids[count] = game * rules.players + seat
                count += 1
        return count

    return write_rows


def _apply_actions(rulebook: Rulebook, counts: Any, luck: Any) -> Callable[..., int]:
    def apply_actions(batch: Batch, rules: TableRules, settings: Settings, actions: Int64Array) -> int:
        """Apply one action in every running game; return how many games still run."""
        left = 0
        for game in range(len(batch.states)):
            if batch.live[game]:
                apply_action(rulebook, counts, luck, batch, rules, settings, game, int(actions[game]))
                left += 1 if batch.live[game] else 0
        return left

    return apply_actions


def new_batch(
    game: Game,
    rules: TableRules,
    states: StateArray,
    before: StateArray,
    network: ValueNetwork | None = None,
) -> Batch:
    """Return a batch of games with empty results.

    Args:
        game: the game.
        rules: rules of the table.
        states: STATE[G], seeded.
        before: STATE[1], scratch.
        network: value network for AIVAT; None: luck is not measured.
    """
    games, teams = len(states), rules.teams
    return Batch(
        states=states,
        role_of=np.zeros((games, teams), np.int8),
        memories=np.zeros((games, rules.players, MEMORY), np.int16),
        decisions=np.zeros(games, np.int64),
        steps=np.zeros(games, np.int64),
        live=np.zeros(games, np.bool_),
        points=np.zeros((games, teams), np.int32),
        rounds=np.zeros(games, np.int32),
        first=np.zeros(games, np.int8),
        shares=np.zeros((games, teams), np.float64),
        counters=np.zeros((teams, counts_of_game(game).NUM_COUNTERS), np.int64),
        faults=np.full((games, len(FAULT)), NO_ROLE, np.int64),
        before=before,
        luck=np.zeros((0 if network is None else games, teams), np.float64),
        network=no_network() if network is None else network,
    )
