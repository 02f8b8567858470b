"""`random`: chooses uniformly among the legal actions, in any game."""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from millebornes_env.agents.compiled.agent import (
    NO_ACTION,
    Choose,
    CompiledAgent,
    Int16Array,
    Int64Array,
    legal_by_masks,
    list_legal,
)
from millebornes_env.agents.protocol import Actions, Masks, Observations, Table, fill_no_ops
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import named_for
from millebornes_env.engine.numba.compiling import stack_array
from millebornes_env.errors import AgentError

MOST_ACTIONS: Final = 4096
"""Largest number of actions in a game."""

_SCRATCH_SIZE: Final = MOST_ACTIONS + 1
_BITS_OF_A_DRAW: Final = 32
_NUM_ACTIONS: Final = 0
"""Index of the number of actions in the options."""


@functools.cache
def _choose_of(rulebook: Any) -> Choose:
    def choose(state: Any, rules: Any, seat: int, memory: Int16Array, options: Int64Array, draw: int) -> int:
        """Sample a legal action (see `agents.compiled.agent.Choose`)."""
        mask = stack_array(np.int8, MOST_ACTIONS)[: int(options[_NUM_ACTIONS])]
        rulebook.write_mask(state, rules, mask)
        actions = stack_array(np.int16, _SCRATCH_SIZE)
        count = list_legal(mask, actions)
        return int(actions[(draw * count) >> _BITS_OF_A_DRAW]) if count > 0 else NO_ACTION

    return named_for(rulebook, choose)


class RandomAgent(CompiledAgent):
    """Chooses uniformly among the legal actions."""

    name = "random"

    def __init__(self, table: Table, seed: int = 0) -> None:
        """Create the agent; the same seed and calls give the same actions.

        Raises:
            AgentError: the table has more than `MOST_ACTIONS` actions.
            OptionError: the seed is invalid.
        """
        count = table.rulebook.action_count(table.rules, None)
        if count > MOST_ACTIONS:
            raise AgentError(
                f"'random' supports at most {MOST_ACTIONS:,} actions; {table.edition} has {count:,}"
            )
        super().__init__(table, seed, (count,), counts_unseen=False)

    def function(self) -> Choose:
        """Return the function for the rulebook of the table."""
        return _choose_of(self._kernels.rulebook)

    def _act_without_decoder(
        self, rows: Observations, action_masks: Masks | None, key: tuple[int, int]
    ) -> Actions:
        legal = legal_by_masks(self, action_masks)
        draws = np.array([random_word(*key, number) for number in range(len(rows))], np.int64)
        numbers = (draws * legal.sum(axis=1)) >> _BITS_OF_A_DRAW
        actions: Actions = (legal.cumsum(axis=1) > numbers[:, np.newaxis]).argmax(axis=1)
        fill_no_ops(action_masks, actions, legal.sum(axis=1) == 0)
        return actions
