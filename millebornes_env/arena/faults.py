"""Errors of agents, with the deal, round and decision at which they happened."""

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
    """Return the error of a game that ended with an illegal action.

    Args:
        roles: agents by role.
        batch: the games.
        game: index of the game.
        table: the table.
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
    """Describe a game by its deal, rotation, seat and round (from 1)."""
    deals, seat = len(batch.states) // rules.teams, int(batch.states[game]["seat"])
    return (
        f"in deal {first_deal + game % deals}, rotation {game // deals}, seat {seat}, "
        f"round {int(batch.rounds[game]) + 1}"
    )


def ask_about(
    agent: Agent, batch: Batch, rows: Rows, rules: TableRules, first_deal: int
) -> npt.NDArray[np.int64]:
    """Return an agent's actions, int64[N].

    Args:
        agent: the agent.
        batch: all games.
        rows: the N rows that the agent is to act on.
        rules: rules of the table.
        first_deal: number of the batch's first deal.

    Raises:
        AgentFaultError: the agent raised, or did not return an action for each row.
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
    """Return the error of an agent that raised; names the game if it raises at a single row, too."""
    context = f"when asked about {len(rows.games)} games"
    for row in range(len(rows.games)):
        one = rows.part(slice(row, row + 1))
        try:
            _ask(agent, batch, one)
        except Exception:
            context = where(batch, int(one.games[0]), rules, first_deal)
            break
    text = " ".join(str(error).split())
    if not isinstance(error, AgentError):
        text = f"{agent.name} raised {type(error).__name__}: {text}"
    return AgentFaultError(f"{text} ({context})")
