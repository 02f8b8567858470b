"""`champion`: the policies that come with the project, each where it plays best.

A folder of `millebornes_env/agents/champions` is a run folder (see `agents.policy`) with a model card:

    parker-2    learned the game of the American sheet, two players
    all-2       learned two players by every sheet, and sees the rules

Which of them plays a table better is not asked of its name but of its rules (`plays_like_parker`): what
`parker-2` learned from five times as many decisions serves it where rules that it does not see are others.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final

from millebornes_env import Rules
from millebornes_env.agents.policy.agent import PolicyAgent, RunFolderError
from millebornes_env.agents.protocol import Table
from millebornes_env.errors import shown
from millebornes_env.millebornes.rules import PLAY_OUT

CHAMPIONS: Final = Path(__file__).with_name("champions")
"""The folder that they are in."""

PARKER_2: Final = "parker-2"
ALL_2: Final = "all-2"
WHICH: Final = (PARKER_2, ALL_2)

_PLAYERS: Final = 2


class ChampionAgent(PolicyAgent):
    """The policy that comes with the project for the table."""

    name = "champion"
    any_edition: ClassVar[bool] = True

    def __init__(self, table: Table, seed: int = 0, which: str = "", mode: str = "best") -> None:
        """Choose a champion, and read it.

        Args:
            table: the table to play at.
            seed: of the draws.
            which: one of WHICH, whatever the rules of the table for two; left away: the one that plays
                better there, see `plays_like_parker`.
            mode: "best" or "sample", as for `PolicyAgent`.

        Raises:
            RunFolderError: there is no champion for this table, or not the one that was asked for.
            AgentOptionError: an unknown mode.
            AgentArgumentError: the observations do not show what the policy sees.
        """
        super().__init__(table, seed, str(CHAMPIONS / champion_for(table, which)), mode)


def champion_for(table: Table, which: str = "") -> str:
    """The name of the champion's folder.

    Args:
        table: the table to play at.
        which: the name, if it has been chosen.

    Raises:
        RunFolderError: there is no such champion, or none for this table.
    """
    if which not in ("", *WHICH):
        raise RunFolderError(f"there is no champion {shown(which)}; there are {' and '.join(WHICH)}")
    rules = table.rules
    if (rules.players, rules.teams) != (_PLAYERS, _PLAYERS):
        raise RunFolderError(
            f"there is no champion for {rules.players} players in {rules.teams} teams: {PARKER_2!r} and "
            f"{ALL_2!r} play every edition with {_PLAYERS} players"
        )
    return which or (PARKER_2 if plays_like_parker(rules) else ALL_2)


def plays_like_parker(rules: Rules) -> bool:
    """Whether what was learned at `parker` plays better than what was learned by all sheets.

    So it is wherever points are counted, hands are played out when the draw pile is empty, and no hazard may
    begin a battle pile; whatever else is overridden (measured, docs/agents.md).
    """
    is_played_out = rules.when_pile_is_empty == PLAY_OUT
    return rules.count_points == 1 and is_played_out and rules.hazard_opens_pile == 0
