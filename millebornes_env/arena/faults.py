"""What an agent did wrong, told so that its author can find the decision again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from millebornes_env.agents.protocol import Agent, Table, ask
from millebornes_env.arena.batch import Batch
from millebornes_env.arena.kernels import Rows
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.engine.rulebook import TableRules
from millebornes_env.errors import AgentError, AgentFaultError

MOST_NAMED = 8


def illegal_action(
    roles: Sequence[Agent], batch: Batch, game: int, table: Table, first_deal: int
) -> AgentFaultError:
    """The error of a game that ended with an illegal action.

    Args:
        roles: who played.
        batch: the games.
        game: which.
        table: where they play.
        first_deal: number of the batch's first deal.
    """
    role, _, decision, action = (int(value) for value in batch.faults[game])
    rulebook, rules = table.rulebook, table.rules
    state = batch.states[game]
    seat = int(state["seat"])
    mask = np.zeros(table.num_actions, np.int8)
    rulebook.write_mask(state, for_kernels(rulebook.rules_array(rules))[0], mask)
    names = [rulebook.action_name(int(legal), rules, seat) for legal in np.flatnonzero(mask)]
    listed = ", ".join(names[:MOST_NAMED]) + (" ..." if len(names) > MOST_NAMED else "")
    return AgentFaultError(
        f"{roles[role].name} chose {rulebook.action_name(action, rules, seat)} (action {action}), "
        f"which is illegal, {where(batch, game, rules, first_deal)}, play "
        f"{decision + 1} of the round; legal were: {listed}"
    )


def where(batch: Batch, game: int, rules: TableRules, first_deal: int) -> str:
    """Which game it is, as people count."""
    deals, seat = len(batch.states) // rules.teams, int(batch.states[game]["seat"])
    return (
        f"in deal {first_deal + game % deals}, rotation {game // deals}, seat {seat}, "
        f"round {int(batch.rounds[game]) + 1}"
    )


def rows_of(rows: Rows, chosen: slice) -> Rows:
    """Some of the rows."""
    return Rows(rows.observation[chosen], rows.action_mask[chosen], rows.games[chosen], rows.slot_ids[chosen])


def ask_about(
    agent: Agent, batch: Batch, rows: Rows, rules: TableRules, first_deal: int
) -> npt.NDArray[np.int64]:
    """What an agent chooses, int64[N]; what it raises is told with the game and the play.

    Args:
        agent: which.
        batch: all games.
        rows: those that it is asked about, N of them.
        rules: of the table.
        first_deal: number of the batch's first deal.

    Raises:
        AgentFaultError: it raised, or returned something that is no action for each row.
    """
    try:
        return _ask(agent, batch, rows)
    except Exception as error:
        raise _fault(agent, error, batch, rows, rules, first_deal) from error


def _ask(agent: Agent, batch: Batch, rows: Rows) -> npt.NDArray[np.int64]:
    return ask(agent, rows.observation, rows.action_mask, rows.slot_ids, lambda: batch.states[rows.games])


def _fault(
    agent: Agent, error: Exception, batch: Batch, rows: Rows, rules: TableRules, first_deal: int
) -> AgentFaultError:
    """The error of an agent that raised: if it raises at one row alone, that game is named."""
    place = f"when asked about {len(rows.games)} games"
    for row in range(len(rows.games)):
        one = rows_of(rows, slice(row, row + 1))
        try:
            _ask(agent, batch, one)
        except Exception:
            place = where(batch, int(one.games[0]), rules, first_deal)
            break
    text = " ".join(str(error).split())
    if not isinstance(error, AgentError):
        text = f"{agent.name} raised {type(error).__name__}: {text}"
    return AgentFaultError(f"{text} ({place})")
