"""Who sits together at a table: the lineups of a tournament, and the deals that make them comparable."""

from __future__ import annotations

from itertools import combinations, combinations_with_replacement

import numpy as np
import numpy.typing as npt

Lineup = tuple[int, ...]
"""Agents by number, one for each team of the table; the place in it is the agent's role."""


def lineups(num_agents: int, teams: int, opponents_of: int | None = None) -> list[Lineup]:
    """Every lineup of a tournament, in a fixed order.

    With as many agents as teams or more, every choice of different agents; with fewer, every choice in which
    at least two differ (an agent then has several roles).

    Args:
        num_agents: 2 or more.
        teams: at the table.
        opponents_of: only the lineups with this agent; None: all.
    """
    if num_agents >= teams:
        chosen = list(combinations(range(num_agents), teams))
    else:
        chosen = [
            lineup
            for lineup in combinations_with_replacement(range(num_agents), teams)
            if len(set(lineup)) > 1
        ]
    return [lineup for lineup in chosen if opponents_of is None or opponents_of in lineup]


def role_of_teams(teams: int, deals: int) -> npt.NDArray[np.int8]:
    """The role that plays each team, for every rotation of every deal.

    In rotation r, role i sits in team (i + r) % teams.

    Args:
        teams: T, and as many rotations.
        deals: B.

    Returns:
        int8[T * B, T]; game r * B + b is rotation r of deal b.
    """
    rotation = np.repeat(np.arange(teams), deals)[:, np.newaxis]
    return ((np.arange(teams)[np.newaxis] - rotation) % teams).astype(np.int8)
