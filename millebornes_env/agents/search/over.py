"""`X+search`: search with the options that suit the rollout agent and the table."""

from __future__ import annotations

from typing import Any, Final

from millebornes_env.agents.protocol import CompiledFunction, Table
from millebornes_env.agents.search.agent import SearchAgent, can_judge
from millebornes_env.agents.search.beliefs import NETWORK
from millebornes_env.agents.search.hand_files import has_hand_network

OVER_A_JUDGE: Final[dict[str, Any]] = {"rollouts": 140, "z": 1.0, "depth": 24}
"""Options over a policy that can evaluate positions, whose decisions take longer."""

WITH_A_NETWORK: Final[dict[str, Any]] = OVER_A_JUDGE | {"belief": NETWORK, "rollouts": 265}
"""Options over such a policy at tables with a shipped hand network."""


def search_over(rollout: CompiledFunction, table: Table, seed: int = 0, **options: Any) -> SearchAgent:
    """Make a searcher with the options that suit the rollout agent and the table: `X+search`.

    The options given replace the usual ones. With another belief, or with hands that are seen, the usual ones
    are those of a table without a network.

    Raises:
        AgentError: an option is invalid.
    """
    usual: dict[str, Any] = {}
    if can_judge(rollout, table):
        may_ask = not options.get("sees") and options.get("belief", NETWORK) == NETWORK
        usual = WITH_A_NETWORK if may_ask and has_hand_network(table) else OVER_A_JUDGE
    return SearchAgent(table, seed, rollout, **(usual | options))
