"""`equilibrium`: plays a mini deck by a policy that was solved for it, with the probabilities that it says.

The policy says what to do after each public history with each hand. The agent is shown neither histories nor
records, so it keeps, for each slot, a hash of what was public each time it was asked (`solving.nodes`), and
finds its information set by that hash and its hand.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.arguments import checked_seed
from millebornes_env._util.guard import alone
from millebornes_env.agents.checks import check_masks, checked_rows, checked_slot_ids, row_error
from millebornes_env.agents.compiled.agent import clear_rows, with_rows
from millebornes_env.agents.decoder import NO_FAULT
from millebornes_env.agents.millebornes.observation_reader import bounds_of, first_invalid_row, starts_of
from millebornes_env.agents.protocol import (
    Actions,
    BaseAgent,
    Masks,
    Observations,
    SlotIds,
    Table,
    fill_no_ops,
    one_or_many,
)
from millebornes_env.agents.registry import register
from millebornes_env.engine.chance import random_word
from millebornes_env.engine.kernels import SKIP, key_of_seed
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.errors import AgentError, shown
from millebornes_env.games.millebornes.rules import rules_array
from millebornes_env.games.millebornes.state import new_states
from millebornes_env.solving.deck import Solvable, solvable
from millebornes_env.solving.equilibrium.kernels import MEMORY, Context, SeatPolicy, choose_from_rows
from millebornes_env.solving.nodes import MASK_SIZE
from millebornes_env.solving.policies import TablePolicy, read_policy
from millebornes_env.solving.tree import Grower, decisions_by_key

FOLDER: Final = Path(__file__).parent


class EquilibriumAgent(BaseAgent):
    """Plays what was solved.

    Attributes:
        name: what tables of results call it.
        policy: of both seats; `policy.about` says how it was made and its NashConv.
        num_unknown: how often it was asked about a index that it could not find, as it was not asked from the
            beginning of the round on; it then does anything legal.
    """

    name = "equilibrium"
    game: ClassVar[str | None] = "millebornes"
    has_memory = True

    def __init__(self, table: Table, seed: int = 0, file: str = "") -> None:
        """Read a policy and walk the game, which takes some seconds for 10 cards.

        Args:
            table: of a mini deck.
            seed: of its choices, where it plays by chance.
            file: a policy that `python -m millebornes_env solve --out` has written; "": the one that comes
                with the package.

        Raises:
            AgentError: no policy comes with the package for this table.
            SolvingError: the file holds no policy, or one of another game.
        """
        path = Path(file) if file else FOLDER / f"{table.edition}.npz"
        if not file and not path.is_file():
            known = ", ".join(sorted(one.stem for one in FOLDER.glob("*.npz")))
            raise AgentError(
                f"{self.name!r} has no policy for {shown(table.edition)}; it has: {known}. Another one is "
                "made by 'python -m millebornes_env solve DECK --out FILE' and played as equilibrium:file=..."
            )
        solved, self.policy, seat_policies = _solved(table.edition, path.absolute())
        if solved.rules != table.rules:
            raise AgentError(f"{self.name!r} plays {solved.name} at the table for two, and no other rules")
        self.table = table
        self.num_unknown = 0
        self._rules = for_kernels(rules_array(table.rules))
        self._starts, self._bounds = starts_of(table), bounds_of(table)
        self._key, self._calls = key_of_seed(checked_seed(seed)), 0
        self._memories = np.zeros((0, MEMORY), np.int64)
        mask = np.zeros(MASK_SIZE, np.int8)
        self._context = Context(solved.deck, *seat_policies, for_kernels(new_states(1)), mask)

    def policy_of_both_seats(self) -> TablePolicy:
        """The policy itself, to be judged."""
        return self.policy

    def loaded_arrays(self) -> Iterable[npt.NDArray[Any]]:
        """Return the probabilities of both seats."""
        return self.policy.table

    @alone
    def forget(self) -> None:
        """Forget all slots."""
        self._memories = self._memories[:0]

    @alone
    def forget_slots(self, slot_ids: SlotIds) -> None:
        """Forget some slots."""
        clear_rows(self._memories, slot_ids)

    @one_or_many
    def act(self, observations: Observations, action_masks: Masks, slot_ids: Any = None) -> Actions:
        """Choose; see `Agent.act`.

        Args:
            observations: int8[N, D].
            action_masks: int8[N, A] or None.
            slot_ids: int64[N], as `BaseAgent.has_memory` says; None: the number of the row.

        Raises:
            AgentError: one of the arguments has another shape or type; or a row that the table cannot show to
                a seat that is to decide.
        """
        rows = checked_rows(self.name, observations, self._bounds.shape[1])
        if action_masks is not None:
            check_masks(self.name, action_masks, len(rows), self.table.num_actions)
        slots = checked_slot_ids(self.name, slot_ids, len(rows))
        row, fault = first_invalid_row(rows, self._starts, self._bounds, self._rules)
        if fault != NO_FAULT:
            raise row_error(self.name, self.table, rows, row, fault)
        self._memories = with_rows(self._memories, int(slots.max(initial=-1)) + 1)
        self._calls += 1
        key = random_word(*self._key, self._calls), self._key[1]
        draws = np.array([random_word(*key, row) for row in range(len(rows))], np.int64)
        actions = np.full(len(rows), SKIP, np.int64)
        self.num_unknown += choose_from_rows(
            rows, self._starts, self._rules, self._context, slots, draws, self._memories, actions
        )
        fill_no_ops(action_masks, actions, actions == SKIP)
        return actions


@functools.cache
def _solved(edition: str, path: Path) -> tuple[Solvable, TablePolicy, tuple[SeatPolicy, SeatPolicy]]:
    """A policy and where to find what; kept, as the walk takes a while."""
    game = solvable(edition)
    tree = Grower(game).whole(keys=True)
    policy = read_policy(path, tree)
    first, second = (
        SeatPolicy(*decisions_by_key(seat), weights)
        for seat, weights in zip(tree.seats, policy.table, strict=True)
    )
    return game, policy, (first, second)


register("equilibrium", EquilibriumAgent)
