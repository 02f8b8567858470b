"""Conversion of the states and rules that callers pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from millebornes_env.errors import OptionError, StateError, shown
from millebornes_env.games.millebornes.rules import Rules
from millebornes_env.games.millebornes.state import STATE, StateArray
from millebornes_env.notation.millebornes.positions import Position

States = Position | StateArray | np.void
"""A position (`notation.read_position`), `STATE[N]` (`env.get_states()`), or one record of such an array."""


def states_and_rules(states: States, rules: Rules | None) -> tuple[StateArray, Rules]:
    """Return the records as `STATE[N]`, and the rules of their table.

    Args:
        states: a position, an array of records, or one record.
        rules: of the table; None: the position's own.

    Returns:
        A copy of the records, C-contiguous, and the rules.

    Raises:
        StateError: the states are not game records.
        OptionError: the rules are missing or invalid.
    """
    records: Any = states
    table: Any = rules
    if isinstance(states, Position):
        records, table = states.state, states.rules if rules is None else rules
    if not isinstance(table, Rules):
        raise OptionError(
            f"rules is {shown(rules)}; records alone do not say which rules they are played by: "
            "hand over the table's too, such as env.rules"
        )
    if not isinstance(records, (np.ndarray, np.void)) or records.dtype != STATE or records.ndim > 1:
        raise StateError(
            f"states are {shown(states)}; they must be records of env.get_states(), or a Position"
        )
    copied = np.empty(np.atleast_1d(records).shape, STATE)
    copied[:] = records
    return copied, table
