"""The reward of a win, by the same rule for all rulebooks."""

from __future__ import annotations

from millebornes_env.engine.numba.compiling import rule


@rule
def reward_of_share(share: float, teams: int) -> float:
    """The reward of a share of a win (`Rulebook.win_share`): 1 to a sole winner, -1 shared among the others.

    Who shares a win gets the mean of what the sharers would get if one of them won alone. So rewards add up
    to 0 and rise with the share, and a loss costs the same whoever wins.
    """
    return (teams * share - 1.0) / (teams - 1)
