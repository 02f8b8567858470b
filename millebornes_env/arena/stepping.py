"""`SteppedGames`: games played one decision at a time, by agents of any kind.

`arena.match.play` is faster with compiled agents, as it plays each game to its end. Here a caller can inspect
and change all games before and after every decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.guard import Guard, alone
from millebornes_env.agents.protocol import Agent, forget, is_compiled
from millebornes_env.arena.batch import Batch
from millebornes_env.arena.dealing import compiled_rules, loops_of, settings_of
from millebornes_env.arena.faults import ask_about
from millebornes_env.arena.kernels import Rows
from millebornes_env.arena.match_config import MatchConfig

Int64Array = npt.NDArray[np.int64]


class SteppedGames:
    """G games and their agents, stepped one decision of all games at a time.

    Attributes:
        batch: the games.
        actions: int64[G], the last chosen actions of running games; overwritten by `choose`.
    """

    def __init__(
        self, batch: Batch, roles: Sequence[Agent], config: MatchConfig, *, first_deal: int = 0
    ) -> None:
        """Take games as they are; `begin` deals them.

        Args:
            batch: games from `arena.dealing.dealt_batch`, or a copy of such games.
            roles: T agents, compiled or not.
            config: the table.
            first_deal: number of the batch's first deal, for error messages.
        """
        self._guard = Guard(kind="batch of games")
        self.batch: Final = batch
        self.actions: Final[Int64Array] = np.zeros(len(batch.states), np.int64)
        self._roles, self._config, self._first_deal = roles, config, first_deal
        self._rules, self._settings = compiled_rules(config), settings_of(config)
        self._loops = loops_of(config)
        all_compiled = all(is_compiled(agent) for agent in roles)
        rows, table = 0 if all_compiled else len(batch.states), config.table()
        self._rows = Rows(
            observation=np.zeros((rows, table.sections[-1].stop), np.int8),
            action_mask=np.zeros((rows, table.num_actions), np.int8),
            games=np.zeros(rows, np.int64),
            slot_ids=np.zeros(rows, np.int64),
        )

    @alone
    def begin(self) -> None:
        """Deal all games and reset the agents' memories."""
        self._loops.begin_games(self.batch, self._rules)
        for agent in self._roles:
            forget(agent)

    @alone
    def choose(self) -> Int64Array:
        """Ask the acting agents of all running games; return `actions`.

        Raises:
            AgentFaultError: an agent raised, or did not return an action for each row.
        """
        for role, agent in enumerate(self._roles):
            if is_compiled(agent):
                self._loops.choose_for_role(
                    self.batch, self._rules, agent.address, agent.options, role, self.actions
                )
            else:
                self._ask(agent, role)
        return self.actions

    def _ask(self, agent: Agent, role: int) -> None:
        """Ask an agent that is not compiled."""
        count = self._loops.write_rows(self.batch, self._rules, self._settings, role, self._rows)
        if count:
            shown = self._rows.part(slice(count))
            answers = ask_about(agent, self.batch, shown, self._config.rules, self._first_deal)
            self.actions[shown.games] = answers

    @alone
    def apply_actions(self) -> int:
        """Apply the chosen actions; return the number of running games.

        An illegal action ends its game and is recorded in `batch.faults`.
        """
        return self._loops.apply_actions(self.batch, self._rules, self._settings, self.actions)
