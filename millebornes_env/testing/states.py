"""`check_state`, `check_step` and `perft`: laws and sequence counts for states."""

from __future__ import annotations

from typing import Any

import numpy as np

from millebornes_env._util.arguments import whole_number
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.envs.arrays import checked_states
from millebornes_env.errors import ActionError, ConformanceError, OptionError, StateError, shown
from millebornes_env.games.millebornes.actions import action_name, num_actions
from millebornes_env.games.millebornes.audit import NO_VIOLATION, SCRATCH_SIZE, first_violation, message_of
from millebornes_env.games.millebornes.editions import GAME
from millebornes_env.games.millebornes.legality import write_mask
from millebornes_env.games.millebornes.rules import Rules, compiled_rules
from millebornes_env.games.millebornes.state import STATE, StateArray
from millebornes_env.games.registry import GAMES
from millebornes_env.notation.millebornes.positions import Position
from millebornes_env.testing.audited_play import play_kernels
from millebornes_env.testing.counting import count_sequences
from millebornes_env.testing.millebornes import random_play
from millebornes_env.testing.millebornes.step_laws import ALL_MESSAGES

States = Position | StateArray | np.void
"""A position (`notation.read_position`), `STATE[N]` (`env.get_states()`), or one record of such an array."""


def check_state(states: States, rules: Rules | None = None, *, from_deal: bool = True) -> None:
    """Check that game records obey every law of the audit.

    Args:
        states: a `notation.Position`, a record or `STATE[N]`; they are not changed.
        rules: rules of their table, such as `env.rules`; a `Position` has its own.
        from_deal: True if the games were played from a deal. False: they may have been set up by hand, and
            only need to be playable from here on.

    Raises:
        ConformanceError: a record breaks a law; the message names the game and the law.
        StateError: they are not game records.
        OptionError: the rules are missing.
    """
    records, table = _states_and_rules(states, rules)
    violation = first_violation(records, table)
    if violation is None and from_deal:
        violation = _first_unreachable(records, table)
    if violation is not None:
        game, what = violation
        raise ConformanceError(f"game {game}, seat {records['seat'][game]}: {what}")


def _first_unreachable(records: StateArray, rules: Rules) -> tuple[int, str] | None:
    states, scratch = for_kernels(records), np.zeros(SCRATCH_SIZE, np.int64)
    for game in range(len(records)):
        violation = play_kernels(random_play).judge_state(states[game], compiled_rules(rules), scratch)
        if violation != NO_VIOLATION:
            return game, f"{message_of(violation, rules)}; no play from a deal leads there"
    return None


def check_step(before: States, action: int, after: States, rules: Rules | None = None) -> None:
    """Check that an action changed a game only in the ways that the rules allow.

    The laws are a second implementation, written independently of the rulebook's `step`.

    Args:
        before: one game before the action: a `notation.Position` or one record.
        action: action of the seat.
        after: the game after it, the next round not yet dealt.
        rules: rules of their table; a `Position` has its own.

    Raises:
        ConformanceError: the action was illegal, or the step broke a law.
        StateError: the arguments are not one game record each.
        ActionError: the action does not exist at this table.
        OptionError: the rules are missing.
    """
    first, table = _states_and_rules(before, rules)
    second, _ = _states_and_rules(after, table)
    for name, records in (("before", first), ("after", second)):
        if len(records) != 1:
            raise StateError(
                f"{name} has {len(records)} game records; a step is checked of one, as states[0]"
            )
    check_state(first, table, from_deal=False)
    check_state(second, table, from_deal=False)
    number = whole_number(action)
    mask = np.zeros(num_actions(table.teams), np.int8)
    if number is None or not 0 <= number < len(mask):
        raise ActionError(f"action is {shown(action)}; this table has the actions 0 to {len(mask) - 1}")
    state, later = for_kernels(first)[0], for_kernels(second)[0]
    write_mask(state, compiled_rules(table), mask)
    seat = int(first["seat"][0])
    what = f"seat {seat}: {action_name(number, table.teams, seat % table.teams)} (action {number})"
    if mask[number] == 0:
        raise ConformanceError(f"{what} is illegal before the step")
    violation = play_kernels(random_play).judge_step(state, later, compiled_rules(table), number, 1)
    if violation != NO_VIOLATION:
        raise ConformanceError(f"{what}: {message_of(violation, table, ALL_MESSAGES)}")


def perft(states: States, depth: int, rules: Rules | None = None) -> int:
    """Count the sequences of exactly `depth` legal actions from a position.

    Args:
        states: a `notation.Position`, a record or `STATE[N]`; they are not changed.
        depth: the length of the sequences; there is one of length 0 from each state.
        rules: rules of their table; a `Position` has its own.

    Returns:
        The number of sequences from all states together; see `count_sequences` for what counts.

    Raises:
        StateError: the arguments are not game records, or a record is impossible at this table.
        OptionError: the depth is not a whole number of at least 0, or the rules are missing.
    """
    records, table = _states_and_rules(states, rules)
    number = whole_number(depth)
    if number is None or number < 0:
        raise OptionError(f"depth is {shown(depth)}; it must be a whole number, 0 or more")
    rules_of_all = [(table, np.arange(len(records)))]
    checked = checked_states(records, len(records), GAMES[GAME], lambda _: rules_of_all)
    return count_sequences(checked, table, number)


def _states_and_rules(states: States, rules: Rules | None) -> tuple[StateArray, Rules]:
    """Return the records as `STATE[N]`, and the rules of their table.

    Args:
        states: a position, an array of records, or one record.
        rules: rules of the table; None: those of the position.

    Returns:
        A copy of the records, C-contiguous, and the rules.

    Raises:
        StateError: the states are not game records.
        OptionError: the rules are missing or invalid, or the position is of another game.
    """
    records: Any = states
    table: Any = rules
    if isinstance(states, Position):
        if states.edition.game != GAME:
            raise OptionError(
                f"the position is of the game {states.edition.game!r}; only those of {GAME!r} can be checked"
            )
        records, table = states.state, states.rules if rules is None else rules
    if not isinstance(table, Rules):
        raise OptionError(
            f"rules is {shown(rules)}; records alone do not say which rules they are played by: "
            "pass the rules of the table too, such as env.rules"
        )
    if not isinstance(records, (np.ndarray, np.void)) or records.dtype != STATE or records.ndim > 1:
        raise StateError(
            f"states are {shown(states)}; they must be records of env.get_states(), or a Position"
        )
    copied = np.empty(np.atleast_1d(records).shape, STATE)
    copied[:] = records
    return copied, table
