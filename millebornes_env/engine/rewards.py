"""The reward of a win, by the same rule for all rulebooks.

Rewards that belong to one game, such as points, are in its `rulebook.py` (`write_rewards`).
"""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule


@rule
def reward_of_share(share: float, teams: int) -> float:
    """Return the reward of a share of a win (`Rulebook.win_share`).

    A sole winner gets 1, and the others share -1. Teams that share a win each get the mean of their rewards
    if one of them had won alone. So rewards add up to 0 and rise with the share, and a loss costs the same
    whoever wins.
    """
    return (teams * share - 1.0) / (teams - 1)
