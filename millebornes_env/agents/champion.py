"""`champion`: the policies that come with the project, each where it plays best.

A folder of `millebornes_env/agents/champions` is a run folder (see `agents.policy`) with a model card; its
`policy.json` says which game it plays, with how many players, and in how many teams. Of Mille Bornes there is
one for each number of players and teams, which learned all sheets that have such a table, and sees the rules,
so that it plays overridden ones too; for two players there is another:

    parker-2    learned the game of the American sheet alone, and does not see the rules

The better of the two for a table depends on its rules, not its name (`plays_like_parker`): `parker-2` learned
from more decisions, which helps it even if rules that it does not see are different. The page in the browser
calls the same function, compiled (`PREFERRED`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Final

from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.agents.policy.files import DESCRIPTION_FILE, game_of_policy, read_description
from millebornes_env.agents.protocol import Table
from millebornes_env.engine.numba.compiling import rule
from millebornes_env.errors import AgentError, shown
from millebornes_env.games.millebornes.rules import PLAY_OUT, AnyRules
from millebornes_env.games.registry import game as find_game

CHAMPIONS: Final = Path(__file__).with_name("champions")
"""The folder of the champions."""

PARKER_2: Final = "parker-2"
ALL_2: Final = "all-2"
PREFERRED: Final = (ALL_2, PARKER_2)
"""The preferred champions, indexed by `plays_like_parker`; used where they fit the table."""


class ChampionAgent(PolicyAgent):
    """The policy that comes with the project for the table."""

    name = "champion"
    any_edition: ClassVar[bool] = True

    def __init__(self, table: Table, seed: int = 0, which: str = "", mode: str = "best") -> None:
        """Choose a champion, and load it.

        Args:
            table: the table to play at.
            seed: seed of the draws.
            which: a champion for the same number of players and teams, whatever the other rules; by default
                the one that plays better there (for Mille Bornes, see `plays_like_parker`).
            mode: "best" or "sample", as for `PolicyAgent`.

        Raises:
            AgentError: this table has no champion, or not the requested one; the mode is unknown; or the
                observations lack what the policy sees.
        """
        super().__init__(table, seed, str(CHAMPIONS / champion_for(table, which)), mode)


def champion_for(table: Table, which: str = "", preferred: str | None = None) -> str:
    """Return the name of the champion's folder.

    Args:
        table: the table to play at.
        which: name of the champion, if it has been chosen.
        preferred: the champion that the table's rules prefer, if known; None: the game decides.

    Raises:
        AgentError: the champion does not exist, or the table has none.
    """
    known = champions_of(table.game)
    if not known:
        raise AgentError(f"there is no champion of the game {table.game!r} yet")
    if which not in ("", *known):
        raise AgentError(f"there is no champion {shown(which)}; there {_are(known)}")
    fitting = [name for name, description in known.items() if _fits(description, table)]
    if not fitting:
        rules = table.rules
        raise AgentError(f"there is no champion for {_seats(rules.players, rules.teams)}: {who_plays(known)}")
    if which and which not in fitting:
        seats = _seats(table.rules.players, table.rules.teams)
        raise AgentError(f"the champion {which!r} does not play with {seats}: {who_plays(known)}")
    return which or _best_of(fitting, known, table, _preferred_at(table) if preferred is None else preferred)


def champions_of(game: str) -> dict[str, dict[str, Any]]:
    """Return the `policy.json` of each champion of a game, by folder name."""
    folders = sorted(folder for folder in CHAMPIONS.glob("*") if (folder / DESCRIPTION_FILE).is_file())
    result = {folder.name: read_description(folder) for folder in folders}
    return {name: one for name, one in result.items() if game_of_policy(one) == game}


def _fits(description: dict[str, Any], table: Table) -> bool:
    return (description.get("players"), description.get("teams")) == (table.rules.players, table.rules.teams)


def _preferred_at(table: Table) -> str:
    """Return the champion that the game prefers at the table, which may not fit; "": no preference."""
    entry = find_game(table.game)
    prefer = entry.find_hook("agents.champion")
    return "" if prefer is None else str(prefer(table))


def _best_of(fitting: Sequence[str], known: dict[str, dict[str, Any]], table: Table, preferred: str) -> str:
    """Return the preferred champion; else one that was trained on the table's edition."""
    if preferred in fitting:
        return preferred
    trained = [name for name in fitting if table.edition in known[name].get("editions", ())]
    return (trained or list(fitting))[0]


def _are(names: Sequence[str] | dict[str, Any]) -> str:
    listed = list(names)
    return f"{'is' if len(listed) == 1 else 'are'} {' and '.join(listed)}"


def _seats(players: int, teams: int) -> str:
    """Describe the table size."""
    return f"{players} players" + (f" in {teams} teams" if teams != players else "")


def who_plays(known: dict[str, dict[str, Any]]) -> str:
    """List the champions with their numbers of players and teams."""
    by_table: dict[tuple[int, int], list[str]] = {}
    for name, description in known.items():
        players = description.get("players", 0)
        by_table.setdefault((players, description.get("teams", players)), []).append(repr(name))
    return "; ".join(
        f"{' and '.join(names)} {'plays' if len(names) == 1 else 'play'} every edition with {_seats(*table)}"
        for table, names in sorted(by_table.items())
    )


def champion_of_millebornes(table: Table) -> str:
    """Return the name of the champion that plays a table of Mille Bornes better."""
    return PREFERRED[int(plays_like_parker(table.rules))]


@rule
def plays_like_parker(rules: AnyRules) -> bool:
    """Return True if the champion trained on `parker` plays better than the one trained on all sheets.

    This is the case wherever points are counted, hands are played out when the draw pile is empty (always, or
    after an extension), and no hazard may begin a battle pile. Other overrides make no difference (measured,
    docs/agents.md).
    """
    may_be_extended = rules.extended_target > 0 and rules.play_out_after_extension == 1
    is_played_out = rules.when_pile_is_empty == PLAY_OUT or may_be_extended
    return rules.count_points == 1 and is_played_out and rules.hazard_opens_pile == 0
