"""What an agent did wrong, told so that its author can find the decision again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from millebornes_env import Rules
from millebornes_env.agents.errors import AgentAnswerError
from millebornes_env.agents.protocol import Agent, ask
from millebornes_env.arena.kernels import Batch, Rows
from millebornes_env.errors import MilleBornesError
from millebornes_env.millebornes.actions import action_name, num_actions
from millebornes_env.millebornes.legality import write_mask
from millebornes_env.millebornes.rules import compiled_rules
from millebornes_env.millebornes.state import StateArray

MOST_NAMED = 8


class AgentFaultError(MilleBornesError):
    """An agent raised, or chose what is not legal; the message says in which deal, round and play."""


def illegal_action(
    roles: Sequence[Agent], batch: Batch, game: int, rules: Rules, first_deal: int
) -> AgentFaultError:
    """The error of a game that ended with an illegal action.

    Args:
        roles: who played.
        batch: the games.
        game: which.
        rules: of the table.
        first_deal: number of the batch's first deal.
    """
    role, round_number, decision, action = (int(value) for value in batch.faults[game])
    state = batch.states[game]
    seat = int(state["seat"])
    mask = np.zeros(num_actions_of(rules), np.int8)
    write_mask(state, compiled_rules(rules), mask)
    names = [action_name(int(legal), rules.teams, seat % rules.teams) for legal in np.flatnonzero(mask)]
    listed = ", ".join(names[:MOST_NAMED]) + (" ..." if len(names) > MOST_NAMED else "")
    return AgentFaultError(
        f"{roles[role].name} chose {action_name(action, rules.teams, seat % rules.teams)} (action {action}), "
        f"which is illegal, {where(batch.states, game, rules, first_deal, round_number)}, play "
        f"{decision + 1} of the round; legal were: {listed}"
    )


def num_actions_of(rules: Rules) -> int:
    """Action ids of the table."""
    return int(num_actions(rules.teams))


def where(states: StateArray, game: int, rules: Rules, first_deal: int, round_number: int) -> str:
    """Which game it is, as people count."""
    deals = len(states) // rules.teams
    return (
        f"in deal {first_deal + game % deals}, rotation {game // deals}, seat {int(states[game]['seat'])}, "
        f"round {round_number + 1}"
    )


def rows_of(rows: Rows, chosen: slice) -> Rows:
    """Some of the rows."""
    return Rows(rows.observation[chosen], rows.action_mask[chosen], rows.games[chosen], rows.slot_ids[chosen])


def ask_about(
    agent: Agent, states: StateArray, rows: Rows, rules: Rules, first_deal: int
) -> npt.NDArray[np.int64]:
    """What an agent chooses, int64[N]; what it raises is told with the game and the play.

    Args:
        agent: which.
        states: all games.
        rows: those that it is asked about, N of them.
        rules: of the table.
        first_deal: number of the batch's first deal.

    Raises:
        AgentFaultError: it raised, or returned something that is no action for each row.
    """
    try:
        return _ask(agent, states, rows)
    except Exception as error:
        raise _fault(agent, error, states, rows, rules, first_deal) from error


def _ask(agent: Agent, states: StateArray, rows: Rows) -> npt.NDArray[np.int64]:
    return ask(agent, rows.observation, rows.action_mask, rows.slot_ids, lambda: states[rows.games])


def _fault(
    agent: Agent, error: Exception, states: StateArray, rows: Rows, rules: Rules, first_deal: int
) -> AgentFaultError:
    """The error of an agent that raised: if it raises at one row alone, that game is named."""
    place = f"when asked about {len(rows.games)} games"
    for row in range(len(rows.games)):
        one = rows_of(rows, slice(row, row + 1))
        try:
            _ask(agent, states, one)
        except Exception:
            game = int(one.games[0])
            place = where(states, game, rules, first_deal, int(states[game]["round_number"]))
            break
    text = " ".join(str(error).split())
    if not isinstance(error, AgentAnswerError):
        text = f"{agent.name} raised {type(error).__name__}: {text}"
    return AgentFaultError(f"{text} ({place})")
