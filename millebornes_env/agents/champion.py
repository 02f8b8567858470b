"""`champion`: the trained policies that ship with the package, each where it plays best.

Each folder in `millebornes_env/agents/champions` is a run folder (see `agents.policy`) with a model card; its
`policy.json` names the game, the number of players and the number of teams. Mille Bornes has one champion for
each table size. It was trained on all rule sheets with such a table, and its observations include the rules,
so it also plays overridden rules. For two players there is a second one:

    parker-2    trained on the American sheet only, without the rules in its observations

The better of the two for a table depends on its rules, not its name (`plays_like_parker`): `parker-2` was
trained on more decisions, which helps even where rules that it does not observe differ. The web page calls
the same function, compiled (`PREFERRED`).
"""

from __future__ import annotations

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
    """The shipped policy for the table."""

    name = "champion"
    any_edition: ClassVar[bool] = True

    def __init__(self, table: Table, seed: int = 0, which: str = "", mode: str = "best") -> None:
        """Load the champion of a table.

        Args:
            table: the table to play at.
            seed: seed of the sampled actions.
            which: name of a champion for this table size, whatever the other rules; by default the stronger
                one (for Mille Bornes, see `plays_like_parker`).
            mode: "best" or "sample", as for `PolicyAgent`.

        Raises:
            AgentError: there is no champion for the table, or not the requested one; the mode is unknown; or
                the observations lack inputs of the policy.
        """
        super().__init__(table, seed, str(CHAMPIONS / champion_for(table, which)), mode)


def champion_for(table: Table, which: str = "", preferred: str | None = None) -> str:
    """Return the name of the champion's folder.

    Args:
        table: the table to play at.
        which: name of a champion; "": the preferred one.
        preferred: champion to prefer; None: as the game's hook `agents.champion` says.

    Raises:
        AgentError: the champion does not exist, or the table has none.
    """
    known = champions_of(table.game)
    if not known:
        raise AgentError(f"there is no champion of the game {table.game!r} yet")
    if which not in ("", *known):
        verb = "is" if len(known) == 1 else "are"
        raise AgentError(f"there is no champion {shown(which)}; there {verb} {' and '.join(known)}")
    size = table.rules.players, table.rules.teams
    fitting = [name for name, one in known.items() if (one.get("players"), one.get("teams")) == size]
    seats = _seats(*size)
    if not fitting:
        raise AgentError(f"there is no champion for {seats}: {describe_champions(known)}")
    if which and which not in fitting:
        raise AgentError(f"the champion {which!r} does not play with {seats}: {describe_champions(known)}")
    if which:
        return which
    if preferred is None:  # the hook's may not fit
        prefer = find_game(table.game).find_hook("agents.champion")
        preferred = "" if prefer is None else str(prefer(table))
    if preferred in fitting:
        return preferred
    trained = [name for name in fitting if table.edition in known[name].get("editions", ())]
    return (trained or fitting)[0]


def champions_of(game: str) -> dict[str, dict[str, Any]]:
    """Return the `policy.json` of each champion of a game, by folder name."""
    folders = sorted(folder for folder in CHAMPIONS.glob("*") if (folder / DESCRIPTION_FILE).is_file())
    result = {folder.name: read_description(folder) for folder in folders}
    return {name: one for name, one in result.items() if game_of_policy(one) == game}


def _seats(players: int, teams: int) -> str:
    """Describe the table size."""
    return f"{players} players" + (f" in {teams} teams" if teams != players else "")


def describe_champions(known: dict[str, dict[str, Any]]) -> str:
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
    """Return the name of the stronger champion at a table of Mille Bornes."""
    return PREFERRED[int(plays_like_parker(table.rules))]


@rule
def plays_like_parker(rules: AnyRules) -> bool:
    """Return True if the champion trained on `parker` is stronger than the one trained on all sheets.

    It is wherever points are counted, hands are played out when the draw pile is empty (always, or after an
    extension), and no hazard may start a battle pile. Other overrides make no difference (measured,
    research/notes/champions.md).
    """
    may_be_extended = rules.extended_target > 0 and rules.play_out_after_extension == 1
    is_played_out = rules.when_pile_is_empty == PLAY_OUT or may_be_extended
    return rules.count_points == 1 and is_played_out and rules.hazard_opens_pile == 0
