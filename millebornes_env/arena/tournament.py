"""Tournaments: all lineups play in turns, until their intervals are narrow enough or all deals are played.

Results are saved on the way; a stopped tournament goes on from there.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np

import millebornes_env.arena.match
from millebornes_env import agents
from millebornes_env._util.files import locked, remove_drafts, write_bytes_atomically, write_text_atomically
from millebornes_env._util.texts import json_of_file, named, shortened
from millebornes_env._util.versions import versions
from millebornes_env.agents.fingerprint import fingerprint
from millebornes_env.agents.protocol import sees_hidden_cards
from millebornes_env.arena.estimates import half_width
from millebornes_env.arena.kernels import counts_of_game, luck_of_game
from millebornes_env.arena.luck.value_files import network_digest
from millebornes_env.arena.match import MatchConfig, OnProgress, play
from millebornes_env.arena.outcome import Lineup, Outcome
from millebornes_env.engine.numba.cache import source_digest, sources_on_top
from millebornes_env.errors import AgentFaultError, ArenaError

TOURNAMENT_FORMAT: Final = 2
TOURNAMENT_FILE: Final = "tournament.json"
LOCK_FILE: Final = "tournament.lock"
FEWEST_DEALS: Final = 100
"""Fewest deals of a lineup with a trusted interval."""

_FIRST_TURN: Final = 16  # deals; a search plays them in some seconds
_LONGEST_TURN: Final = 4096  # deals; more would not be faster
_GROWTH: Final = 1.125  # a killed tournament loses a ninth of each lineup, or a turn if that is more
_BYTES_OF_A_PAIR: Final = 64  # upper bound for the arrays in a file, for each deal and pair of roles
_BYTES_BESIDES: Final = 1 << 20  # upper bound for names, faults and counts
_COMPRESSION: Final = 1  # files are a fifth larger than at the default level, in an eighth of the time


@dataclass(frozen=True)
class Entrant:
    """An agent of the tournament.

    Attributes:
        name: unique name.
        spec: specification, as for `agents.load`.
        fingerprint: fingerprint of its code and network.
        sees_hidden_cards: True if it sees hidden cards.
    """

    name: str
    spec: str
    fingerprint: str = ""
    sees_hidden_cards: bool = False


class Until:
    """The condition to stop a lineup: "ci<10" (points per round) or "ci<1%" (of the episodes won)."""

    def __init__(self, text: str) -> None:
        """Parse the condition.

        Raises:
            ArenaError: the text is invalid.
        """
        match = re.fullmatch(r"\s*ci\s*<\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(%?)\s*", text)
        if match is None or not float(match[1]) > 0:
            raise ArenaError(
                f"until is {text!r}; it may be 'ci<10' (the 95 % interval of every pair within 10 points per "
                "round) or 'ci<1%' (within 1 % of the episodes won)"
            )
        self.limit = float(match[1]) / (100 if match[2] else 1)
        self.measure: Literal["points", "wins"] = "wins" if match[2] else "points"

    def is_met(self, outcome: Outcome) -> bool:
        """Return True if the interval is narrow enough and `FEWEST_DEALS` were played."""
        is_trusted = len(outcome.points) >= FEWEST_DEALS
        return is_trusted and half_width(outcome, self.measure) < self.limit


def check_until(text: str | None, match: MatchConfig) -> Until | None:
    """Parse a condition; return None for an empty one.

    Raises:
        ArenaError: the text is invalid, or about points in an edition without points.
    """
    if text is None:
        return None
    until = Until(text)
    if until.measure == "points" and not match.has_points:
        raise ArenaError(
            f"until is {text!r}, which is about points, and {match.edition} has none: give 'ci<1%', which is "
            "about the share of the episodes won"
        )
    return until


@dataclass(frozen=True)
class TournamentConfig:
    """The configuration of a tournament, which determines its results.

    Attributes:
        match: table and seed.
        deals: deals of every lineup; with `until`, the most.
        until: condition to stop a lineup (`Until`), or None.

    Raises:
        ArenaError: fewer deals than 1, or a condition that is invalid for this table.
    """

    match: MatchConfig
    deals: int = 1000
    until: str | None = None

    def __post_init__(self) -> None:
        if self.deals < 1:
            raise ArenaError(f"deals is {self.deals}; it must be 1 or more")
        check_until(self.until, self.match)
        self.match.refuse_luck_without_points()

    def as_json(self) -> dict[str, Any]:
        """Return all that determines the results (the number of threads does not)."""
        content = asdict(self)
        del content["match"]["threads"]
        network = self.match.network()
        if network is None:  # older saved tournaments lack these entries
            del content["match"]["aivat"], content["match"]["luck_value"]
        else:
            content["match"]["luck_value"] = network_digest(network)
        return content


@dataclass
class Tournament:
    """The state of a tournament.

    Attributes:
        entrants: the agents.
        config: the configuration.
        outcomes: outcomes by lineup.
        kept: number of saved deals by lineup.
        started: time of the start, in UTC.
    """

    entrants: list[Entrant]
    config: TournamentConfig
    outcomes: dict[Lineup, Outcome]
    kept: dict[Lineup, int] = field(default_factory=dict)
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def names(self) -> list[str]:
        """Names of the agents."""
        return [entrant.name for entrant in self.entrants]


OnTurn = Callable[[str, float, float], None]
"""Callback with the name of a lineup, the deals done, and all deals of the tournament."""


def entrants_of(specs: Sequence[str], config: MatchConfig) -> list[Entrant]:
    """Load every agent once.

    Args:
        specs: specifications as for `agents.load`, or `name@spec` for another name.
        config: the table.

    Raises:
        ArenaError: fewer than two agents, or two with the same name.
        ValueError: an unknown agent, or one that cannot play at this table; the message says which.
    """
    pairs = [named(text) for text in specs]
    if len(pairs) < 2:
        raise ArenaError(f"a tournament needs two agents or more; {len(pairs)} given")
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ArenaError(f"two agents have the name {name!r}: rename one of them, such as other@{name}")
    entrants = []
    for name, spec in pairs:
        agent = agents.make(spec, config.table())
        entrants.append(Entrant(name, spec, fingerprint(agent, spec), sees_hidden_cards(agent)))
    return entrants


def who_sees_hidden_cards(entrants: Sequence[Entrant]) -> list[str]:
    """Return the names of the agents that see hidden cards."""
    return [entrant.name for entrant in entrants if entrant.sees_hidden_cards]


def play_tournament(
    tournament: Tournament, folder: Path, only: int | None = None, on_turn: OnTurn | None = None
) -> Tournament:
    """Play the rest of a tournament, saving results on the way.

    Args:
        tournament: tournament from `opened`.
        folder: its folder.
        only: play only the lineups with this agent; None: all.
        on_turn: called after every turn, and about ten times a second if play is slow.

    Returns:
        The tournament, complete.

    Raises:
        ArenaError: another process uses the folder, or the folder was removed.
        OSError: a file could not be written.
    """
    config = tournament.config
    until = check_until(config.until, config.match)
    chosen = lineups(len(tournament.entrants), config.match.rules.teams, only)
    total = float(len(chosen) * config.deals)
    waiting = [lineup for lineup in chosen if is_open(tournament, lineup, until)]
    done = dict.fromkeys(chosen, config.deals)  # deals that need no more play
    done |= {lineup: deals_of(tournament, lineup) for lineup in waiting}
    with rest_kept(tournament, folder):
        while waiting:
            still_open = []
            for lineup in waiting:
                name = " - ".join(tournament.names[agent] for agent in lineup)

                def on_progress(episodes: float, name: str = name) -> None:
                    if on_turn is not None:
                        on_turn(name, sum(done.values()) + episodes / config.match.rules.teams, total)

                deals = min(turn_after(done[lineup]), config.deals - done[lineup])
                _take_turn(tournament, lineup, done[lineup], deals, folder, on_progress)
                if is_open(tournament, lineup, until):
                    done[lineup] += deals
                    still_open.append(lineup)
                else:
                    done[lineup] = config.deals
                on_progress(0.0)
            waiting = still_open
    return tournament


def lineups(num_agents: int, teams: int, opponents_of: int | None = None) -> list[Lineup]:
    """Return every lineup of a tournament, in a fixed order.

    With as many agents as teams or more, these are all choices of different agents; with fewer, all choices
    in which at least two differ (an agent then has several roles).

    Args:
        num_agents: number of agents, 2 or more.
        teams: teams at the table.
        opponents_of: return only the lineups with this agent; None: all.
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


def turn_after(deals: int) -> int:
    """Return the deals of the next turn; it depends only on `deals`, so that resumed tournaments agree."""
    return min(max(deals, _FIRST_TURN), _LONGEST_TURN)


def deals_of(tournament: Tournament, lineup: Lineup) -> int:
    """Return the number of deals that the lineup has played."""
    outcome = tournament.outcomes.get(lineup)
    return 0 if outcome is None else len(outcome.points)


def is_open(tournament: Tournament, lineup: Lineup, until: Until | None) -> bool:
    """Return True if the lineup has more to play."""
    outcome = tournament.outcomes.get(lineup)
    if outcome is None:
        return True
    is_complete = outcome.faults or len(outcome.points) >= tournament.config.deals
    return not is_complete and (until is None or not until.is_met(outcome))


def _take_turn(
    tournament: Tournament, lineup: Lineup, first: int, deals: int, folder: Path, on_progress: OnProgress
) -> None:
    """Play and save some deals of a lineup."""
    specs = [entrant.spec for entrant in tournament.entrants]
    played: Outcome | AgentFaultError
    try:
        played = play(
            specs, tournament.config.match, deals, first_deal=first, lineup=lineup, on_progress=on_progress
        )
    except AgentFaultError as fault:
        played = fault
    keep_turn(tournament, lineup, played, folder)


def keep_turn(
    tournament: Tournament, lineup: Lineup, played: Outcome | AgentFaultError, folder: Path
) -> None:
    """Add the deals of a turn to a lineup; an agent's fault closes it.

    The file, which is always written as a whole, is saved when the deals have grown by `_GROWTH`: to save it
    after every turn would take longer than playing. `rest_kept` saves the rest.

    Raises:
        OSError: the file could not be written.
    """
    if isinstance(played, AgentFaultError):
        outcome = Outcome.faulty(lineup, str(played), tournament.config.match.game.name)
    else:
        old = tournament.outcomes.get(lineup)
        outcome = played if old is None else Outcome.joined([old, played])
    tournament.outcomes[lineup] = outcome
    if len(outcome.points) >= _GROWTH * tournament.kept.get(lineup, 0):
        _keep(tournament, lineup, folder)


@contextlib.contextmanager
def rest_kept(tournament: Tournament, folder: Path) -> Iterator[None]:
    """Lock the folder during play, and save all results at the end, even after an error.

    Raises:
        ArenaError: another process uses the folder.
        OSError: a file could not be written.
    """
    with lock_folder(folder):
        try:
            yield
        finally:
            for lineup, outcome in tournament.outcomes.items():
                if outcome.faults or len(outcome.points) > tournament.kept.get(lineup, 0):
                    _keep(tournament, lineup, folder)


def lock_folder(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Return a context that locks a tournament's folder; raise an ArenaError if another process has it."""
    refusal = ArenaError(
        f"{str(folder)!r}: another process plays a tournament here: wait for it, or choose another --out"
    )
    return locked(folder / LOCK_FILE, refusal)


def _keep(tournament: Tournament, lineup: Lineup, folder: Path) -> None:
    if not (folder / TOURNAMENT_FILE).exists():
        raise ArenaError(
            f"{str(folder)!r}, or {TOURNAMENT_FILE} in it, was removed while the tournament was played: it "
            "stops, and nothing more is written there"
        )
    outcome = tournament.outcomes[lineup]
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION) as file:
        for name, array in outcome.arrays().items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, np.asanyarray(array), allow_pickle=False)
    name = "-".join(f"{agent:03}" for agent in lineup)
    write_bytes_atomically(folder / "lineups" / f"{name}.npz", content.getvalue())
    tournament.kept[lineup] = len(outcome.points)


# Files ----------------------------------------------------------------------------------------------------


def opened(
    entrants: Sequence[Entrant], config: TournamentConfig, folder: Path, fresh: bool = False
) -> Tournament:
    """Start a tournament in a folder, or load the same one from there.

    Args:
        entrants: agents from `entrants_of`.
        config: the configuration.
        folder: folder of the tournament; created if it is missing.
        fresh: delete earlier results.

    Raises:
        ArenaError: the folder holds another or a damaged tournament, or another process uses it.
        OSError: the folder cannot be written to.
    """
    with lock_folder(folder):
        return _opened(entrants, config, folder, fresh)


def _opened(entrants: Sequence[Entrant], config: TournamentConfig, folder: Path, fresh: bool) -> Tournament:
    tournament = Tournament(list(entrants), config, {})
    described = {
        "format": TOURNAMENT_FORMAT,
        "config": config.as_json(),
        "entrants": [asdict(entrant) for entrant in tournament.entrants],
        "rules": config.match.rules._asdict(),
        "sources": source_digest(_sources_of(config.match)),
    }
    path = folder / TOURNAMENT_FILE
    for part in (folder, folder / "lineups"):
        remove_drafts(part)
    if path.exists() and not fresh:
        kept = json_of_file(path, ArenaError)
        _compare(kept, json.loads(json.dumps(described)), folder)
        tournament.started = str(kept.get("started", tournament.started))
        for file in sorted((folder / "lineups").glob("*.npz")):
            outcome = _load_outcome(file, config)
            tournament.outcomes[outcome.lineup] = outcome
            tournament.kept[outcome.lineup] = len(outcome.points)
        return tournament
    kept_files = list((folder / "lineups").glob("*.npz"))
    if kept_files and not fresh:
        raise ArenaError(
            f"{str(folder)!r} has lineups but no {TOURNAMENT_FILE}: choose another --out, or delete them "
            "with --fresh"
        )
    for file in kept_files:
        file.unlink()
    text = json.dumps({**described, "started": tournament.started, "versions": versions()}, indent=2)
    write_text_atomically(path, text + "\n")
    return tournament


def _sources_of(match: MatchConfig) -> frozenset[Path]:
    """Return the source files outside of engine and rulebook that determine the results."""
    game = match.game
    sources = frozenset({Path(millebornes_env.arena.match.__file__)})
    modules: list[Any] = [game.module(), counts_of_game(game)]
    if match.aivat:
        modules.append(luck_of_game(game))
    for module in modules:
        sources = sources_on_top(module.__name__, sources)
    return sources_on_top("millebornes_env.arena.kernels", sources)


def _compare(kept: dict[str, Any], wanted: dict[str, Any], folder: Path) -> None:
    """Raise an ArenaError if the saved tournament is another one."""
    for key, value in wanted.items():
        if kept.get(key) != value:
            place, was, now = _difference(key, kept.get(key), value)
            raise ArenaError(
                f"{str(folder)!r} holds another tournament: its {place} is {was}, here it is {now}; "
                "give the same arguments to go on with it, --fresh to start again there, or another --out"
            )


def _difference(place: str, old: Any, new: Any) -> tuple[str, str, str]:
    """Return the place of the first difference of two JSON values ("config.match.seed"), and both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in new:
            if old.get(key) != new[key]:
                return _difference(f"{place}.{key}", old.get(key), new[key])
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for number, (one, other) in enumerate(zip(old, new, strict=True)):
            if one != other:
                return _difference(f"{place}[{number}]", one, other)
    return place, json.dumps(old), json.dumps(new)


def _load_outcome(file: Path, config: TournamentConfig) -> Outcome:
    teams = config.match.rules.teams
    most = _BYTES_OF_A_PAIR * teams * teams * config.deals + _BYTES_BESIDES
    try:
        with file.open("rb") as stream, zipfile.ZipFile(stream) as archive:
            if (size := sum(part.file_size for part in archive.infolist())) > most:
                raise ValueError(f"{size:,} bytes unpacked; its deals take at most {most:,}")
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as arrays:
                return Outcome.from_arrays(dict(arrays))
    except Exception as error:  # NumPy and zipfile raise many kinds for damaged files
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ArenaError(
            f"{str(file)!r} is damaged ({shortened(reason)}): remove it, and its deals will be played again"
        ) from None
