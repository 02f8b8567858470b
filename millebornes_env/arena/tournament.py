"""A tournament: every lineup plays, in turns, until all are told apart or the deals are played.

What has been played is on disk after every turn; a tournament that was stopped goes on from there.
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
"""Deals of a lineup before its interval is believed."""

_FIRST_TURN: Final = 16  # deals; what a search plays in some seconds
_LONGEST_TURN: Final = 4096  # deals; more would not be faster
_GROWTH: Final = 1.125  # a killed tournament loses a ninth of each lineup, or a turn, if that is more
_BYTES_OF_A_PAIR: Final = 64  # of roles, for each deal in a file of results: more than all arrays take
_BYTES_BESIDES: Final = 1 << 20  # names, faults and counts
_COMPRESSION: Final = 1  # a fifth larger than usual, in an eighth of the time


@dataclass(frozen=True)
class Entrant:
    """An agent of the tournament.

    Attributes:
        name: what tables call it; no two have one name.
        spec: what it is loaded by, as for `agents.load`.
        fingerprint: of what it is made of.
        sees_hidden_cards: whether it does.
    """

    name: str
    spec: str
    fingerprint: str = ""
    sees_hidden_cards: bool = False


class Until:
    """When a lineup has been played enough: "ci<10" (points per round) or "ci<1%" (of the episodes won)."""

    def __init__(self, text: str) -> None:
        """Read the condition.

        Raises:
            ArenaError: it is none.
        """
        match = re.fullmatch(r"\s*ci\s*<\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(%?)\s*", text)
        if match is None or not float(match[1]) > 0:
            raise ArenaError(
                f"until is {text!r}; it may be 'ci<10' (the 95 % interval of every pair within 10 points per "
                "round) or 'ci<1%' (within 1 % of the episodes won)"
            )
        self.limit = float(match[1]) / (100 if match[2] else 1)
        self.measure: Literal["points", "wins"] = "wins" if match[2] else "points"
        self.less_luck = False

    def is_met(self, outcome: Outcome) -> bool:
        """Whether the lineup's interval is narrow enough; never before `FEWEST_DEALS`."""
        if len(outcome.points) < FEWEST_DEALS:
            return False
        return half_width(outcome, self.measure, less_luck=self.less_luck) < self.limit


def check_until(text: str | None, match: MatchConfig) -> Until | None:
    """The condition, if there is one.

    Raises:
        ArenaError: it is none, or it is about points where none are counted.
    """
    if text is None:
        return None
    until = Until(text)
    if until.measure == "points" and not match.has_points:
        raise ArenaError(
            f"until is {text!r}, which is about points, and {match.edition} has none: give 'ci<1%', which is "
            "about the share of the episodes won"
        )
    until.less_luck = match.aivat
    return until


@dataclass(frozen=True)
class TournamentConfig:
    """What is played: the same configuration gives the same results.

    Attributes:
        match: table, deals, seed.
        deals: of every lineup; with `until`, the most.
        until: text of the condition, or None.

    Raises:
        ArenaError: fewer deals than 1, or a condition that makes no sense at this table.
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
        """Everything that decides what is played (the number of threads does not)."""
        content = asdict(self)
        del content["match"]["threads"]
        network = self.match.network()
        if network is None:  # saved tournaments of before say nothing about it
            del content["match"]["aivat"], content["match"]["luck_value"]
        else:
            content["match"]["luck_value"] = network_digest(network)
        return content


@dataclass
class Tournament:
    """What has been played so far.

    Attributes:
        entrants: the agents.
        config: what was asked for.
        outcomes: by lineup.
        kept: deals of each lineup that are on disk.
        started: when, in UTC.
    """

    entrants: list[Entrant]
    config: TournamentConfig
    outcomes: dict[Lineup, Outcome]
    kept: dict[Lineup, int] = field(default_factory=dict)
    started: str = field(default_factory=lambda: datetime.now(UTC).isoformat(timespec="seconds"))

    @property
    def names(self) -> list[str]:
        """Of the agents."""
        return [entrant.name for entrant in self.entrants]


OnTurn = Callable[[str, float, float], None]
"""Is told who plays, how much of the tournament is done and how much there is (in deals)."""


def entrants_of(specs: Sequence[str], config: MatchConfig) -> list[Entrant]:
    """Load every agent once.

    Args:
        specs: as for `agents.load`, or `name@spec` to call it otherwise.
        config: the table.

    Raises:
        ArenaError: fewer than two, or two with one name.
        ValueError: an agent that there is not or that cannot play at this table; the message says which.
    """
    pairs = [named(text) for text in specs]
    if len(pairs) < 2:
        raise ArenaError(f"a tournament needs two agents or more; {len(pairs)} given")
    names = [name for name, _ in pairs]
    for name in names:
        if names.count(name) > 1:
            raise ArenaError(
                f"two agents have the name {name!r}: call one of them otherwise, such as other@{name}"
            )
    entrants = []
    for name, spec in pairs:
        agent = agents.make(spec, config.table())
        entrants.append(Entrant(name, spec, fingerprint(agent, spec), sees_hidden_cards(agent)))
    return entrants


def who_sees_hidden_cards(entrants: Sequence[Entrant]) -> list[str]:
    """The names of those that see hidden cards."""
    return [entrant.name for entrant in entrants if entrant.sees_hidden_cards]


def play_tournament(
    tournament: Tournament, folder: Path, only: int | None = None, on_turn: OnTurn | None = None
) -> Tournament:
    """Play what is left to play, writing it down on the way.

    Args:
        tournament: from `opened`.
        folder: where it is kept.
        only: play only the lineups with this agent; None: all.
        on_turn: called after every turn, and some ten times a second where play is slow.

    Returns:
        The same, complete.

    Raises:
        ArenaError: another process plays into the folder, or the folder was removed meanwhile.
        OSError: a file could not be written.
    """
    config = tournament.config
    until = check_until(config.until, config.match)
    chosen = lineups(len(tournament.entrants), config.match.rules.teams, only)
    total = float(len(chosen) * config.deals)
    waiting = [lineup for lineup in chosen if is_open(tournament, lineup, until)]
    done = dict.fromkeys(chosen, config.deals)  # deals that need not be played any more
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


def turn_after(deals: int) -> int:
    """Deals of the turn that follows so many: a function of them, or a resumed tournament would differ."""
    return min(max(deals, _FIRST_TURN), _LONGEST_TURN)


def deals_of(tournament: Tournament, lineup: Lineup) -> int:
    """How many the lineup has played."""
    outcome = tournament.outcomes.get(lineup)
    return 0 if outcome is None else len(outcome.points)


def is_open(tournament: Tournament, lineup: Lineup, until: Until | None) -> bool:
    """Whether the lineup has more to play, until that condition is met."""
    outcome = tournament.outcomes.get(lineup)
    if outcome is None:
        return True
    if outcome.faults or len(outcome.points) >= tournament.config.deals:
        return False
    return until is None or not until.is_met(outcome)


def _take_turn(
    tournament: Tournament, lineup: Lineup, first: int, deals: int, folder: Path, on_progress: OnProgress
) -> None:
    """Play some deals of a lineup, and keep them."""
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
    """Add the deals of a turn to those before; an agent's fault closes the lineup.

    They are written down when they have grown by `_GROWTH`: each file is written anew, and after every turn
    that would take longer than playing. What is left, `rest_kept` writes.

    Raises:
        OSError: the file could not be written.
    """
    if isinstance(played, AgentFaultError):
        outcome = Outcome.faulty(lineup, str(played), tournament.config.match.game.name)
    else:
        old = tournament.outcomes.get(lineup)
        outcome = played if old is None else old.followed_by(played)
    tournament.outcomes[lineup] = outcome
    if len(outcome.points) >= _GROWTH * tournament.kept.get(lineup, 0):
        _keep(tournament, lineup, folder)


@contextlib.contextmanager
def rest_kept(tournament: Tournament, folder: Path) -> Iterator[None]:
    """Hold the folder while it is played; whatever ends that, what has been played is on disk afterwards.

    Raises:
        ArenaError: another process plays into the folder.
        OSError: a file could not be written.
    """
    with alone_in(folder):
        try:
            yield
        finally:
            for lineup, outcome in tournament.outcomes.items():
                if outcome.faults or len(outcome.points) > tournament.kept.get(lineup, 0):
                    _keep(tournament, lineup, folder)


def alone_in(folder: Path) -> contextlib.AbstractContextManager[None]:
    """Hold the lock of a tournament's folder.

    Raises:
        ArenaError: another process has it.
        OSError: the folder cannot be made or written to.
    """
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
    _save_outcome(folder, tournament.outcomes[lineup])
    tournament.kept[lineup] = len(tournament.outcomes[lineup].points)


# What is kept on disk -------------------------------------------------------------------------------------


def opened(specs: Sequence[str], config: TournamentConfig, folder: Path, fresh: bool = False) -> Tournament:
    """`opened_for` the agents of those specifications.

    Raises:
        ValueError: as in `entrants_of` and in `opened_for`.
        OSError: the folder cannot be written to.
    """
    return opened_for(entrants_of(specs, config.match), config, folder, fresh)


def opened_for(
    entrants: Sequence[Entrant], config: TournamentConfig, folder: Path, fresh: bool = False
) -> Tournament:
    """A new tournament, or what has been played of the same one in that folder.

    Args:
        entrants: from `entrants_of`.
        config: what to play.
        folder: where it is kept; made if it is missing.
        fresh: forget what was played there.

    Raises:
        ArenaError: the folder holds another tournament, or a damaged one, or another process plays there.
        OSError: the folder cannot be written to.
    """
    with alone_in(folder):
        return _opened_for(entrants, config, folder, fresh)


def _opened_for(
    entrants: Sequence[Entrant], config: TournamentConfig, folder: Path, fresh: bool
) -> Tournament:
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
            f"{str(folder)!r} has lineups but no {TOURNAMENT_FILE}: choose another --out, or forget them "
            "with --fresh"
        )
    for file in kept_files:
        file.unlink()
    text = json.dumps({**described, "started": tournament.started, "versions": versions()}, indent=2)
    write_text_atomically(path, text + "\n")
    return tournament


def _sources_of(match: MatchConfig) -> frozenset[Path]:
    """The files outside of engine and rulebook that decide what is played and counted."""
    game = match.game
    found = frozenset({Path(millebornes_env.arena.match.__file__)})
    modules: list[Any] = [game.module(), counts_of_game(game)]
    if match.aivat:
        modules.append(luck_of_game(game))
    for module in modules:
        found = sources_on_top(module.__name__, found)
    return sources_on_top("millebornes_env.arena.kernels", found)


def _compare(kept: dict[str, Any], wanted: dict[str, Any], folder: Path) -> None:
    """Refuse to go on with something else."""
    for key, value in wanted.items():
        if kept.get(key) != value:
            was, now = _difference(kept.get(key), value)
            raise ArenaError(
                f"{str(folder)!r} holds another tournament: its {key} {was}, here {now}; give the same "
                "arguments to go on with it, --fresh to begin anew there, or another --out"
            )


def _difference(old: Any, new: Any) -> tuple[str, str]:
    """The first part in which two JSON values differ, in words."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in new:
            if old.get(key) != new[key]:
                was, now = _difference(old.get(key), new[key])
                return f"{key} {was}", f"{key} {now}"
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for one, other in zip(old, new, strict=True):
            if one != other:
                return _difference(one, other)
    return f"is {json.dumps(old)}", f"it is {json.dumps(new)}"


def _file_of(folder: Path, lineup: Lineup) -> Path:
    return folder / "lineups" / ("-".join(f"{agent:03}" for agent in lineup) + ".npz")


def _save_outcome(folder: Path, outcome: Outcome) -> None:
    """Write one lineup's results, whole or not at all."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED, compresslevel=_COMPRESSION) as file:
        for name, array in outcome.arrays().items():
            with file.open(f"{name}.npy", "w", force_zip64=True) as part:
                np.lib.format.write_array(part, np.asanyarray(array), allow_pickle=False)
    write_bytes_atomically(_file_of(folder, outcome.lineup), content.getvalue())


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
    except Exception as error:  # NumPy and zipfile have many for bytes that are not what they should be
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ArenaError(
            f"{str(file)!r} is damaged ({shortened(reason)}): remove it, and its deals are played again"
        ) from None
