"""Play the leaderboard: a tournament of fixed agents at every table of a fixed list.

    python -m millebornes_env leaderboard
    python -m millebornes_env leaderboard --list race_leaderboard

Writes docs/agents/leaderboard.md (or the page named in the list), and for each table a page, the pictures
and all figures as JSON. Results are saved in results/leaderboard: the same command continues a stopped run.
"""

from __future__ import annotations

import hashlib
import re
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from millebornes_env._util.command_line import run_command, warn
from millebornes_env._util.files import save_picture, write_text_atomically
from millebornes_env._util.texts import json_of_file, named, text_of_file
from millebornes_env.arena.analysis import Analysis, analyse_tournament
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.pictures import draw_overview
from millebornes_env.arena.report import Grid, markdown_table, notes, save_report, table_name
from millebornes_env.arena.tournament import TournamentConfig, entrants_of, opened, who_sees_hidden_cards
from millebornes_env.cli.clusters import PlayTournament, players_of
from millebornes_env.cli.console import progress_console
from millebornes_env.cli.options import parse_options
from millebornes_env.cli.progress import playing_bar
from millebornes_env.errors import ArenaError

LIST: Final = Path(__file__).with_suffix(".toml")
_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_=+:-]")
"""Characters that may not stand in names of files."""
RESPONSES_FILE: Final = "best_responses.json"
"""File in a table's folder with the results of `train.exploit`."""
POINTS: Final = "points_per_round"
"""Measure of a best response; for editions without points it is `WINS`."""
WINS: Final = "matches_won"

_HEAD: Final = """# Leaderboard

After this page you know which agent is strongest at each table, and by how much.
Written by `python -m millebornes_env leaderboard{list}`; do not edit. {agents} agents at {tables} tables:
whole {episodes}, every deal once from each team's place with the same {chance}, every combination of agents.
Ratings are Elo points (Bradley-Terry), `{anchor}` being 0 at every table; intervals are 95 %, over deals;
"-": it did not play there. The agents: [agents.md](agents.md); how the figures are made:
[arena.md](arena.md). The reports have intervals, points, payoffs and how each agent plays.

![Ratings at all tables]({page}/ratings.png)

## Ratings at all tables

"""


_ENTRIES: Final = {"page": str, "agents": list, "anchor": str, "seed": int, "tables": list}
"""Entries of a list, with their types."""
_ENTRIES_OF_A_TABLE: Final = {"edition": str, "players": int, "teams": int, "guests": list, "deals": int}
_TEXTS: Final = ("agents", "guests")
_KINDS: Final = {
    (str, False): "a text",
    (int, False): "a whole number",
    (list, False): "a list of tables",
    (list, True): "a list of texts",
}
"""Types in words, with True for the entries `_TEXTS`."""

_RESPONSES: Final = """## Best responses

Points per round (where no points are counted, the share of matches) that a policy wins after training
against that agent alone, with the number of decisions in brackets: a lower bound on how far the agent can be
exploited ([training.md](training.md)).

"""
_TABLES: Final = "## Table by table\n"


@dataclass(frozen=True)
class Event:
    """A table with its agents.

    Attributes:
        config: the table, and the number of deals of every lineup.
        agents: specifications of the agents, as for `agents.load`.
    """

    config: TournamentConfig
    agents: tuple[str, ...]


@dataclass(frozen=True)
class Board:
    """The tables and agents of a leaderboard.

    Attributes:
        anchor: name of the agent whose rating is 0; it plays at every table.
        events: one event for each table, all of one game.
        page: name of the page and of its folder.
        name: name of the list, as for the option; "": the default list.
    """

    anchor: str
    events: tuple[Event, ...]
    page: str = LIST.stem
    name: str = ""

    @property
    def agents(self) -> tuple[str, ...]:
        """Agents that play at one table or more."""
        return tuple(dict.fromkeys(agent for event in self.events for agent in event.agents))


@dataclass
class Args:
    """Play the tournaments of a list of tables and agents, and write the leaderboard."""

    list: Path = LIST
    """TOML file with agents and tables, or the name of a shipped list: leaderboard, race_leaderboard."""
    threads: int = 2
    """Threads for compiled agents; it does not change the results."""
    tournaments: Path = Path("results/leaderboard")
    """Folder of the tournament results."""
    out: Path = Path("docs/agents")
    """Output folder for the page, its pictures and its JSON files."""
    fresh: bool = False
    """Delete earlier results first."""
    cluster: str | None = None
    """Address of a Ray cluster to play on, such as auto or 10.0.0.1:6379; it does not change the results."""


def read_board(path: Path, threads: int = 2) -> Board:
    """Read the list of a leaderboard; raise ArenaError if it is missing or invalid."""
    own = LIST.parent / f"{path.name}.toml"
    name = path.name if str(path) == path.name and own.exists() else ""
    path = own if name else path
    try:
        text = text_of_file(path, ArenaError)
    except FileNotFoundError:
        raise ArenaError(
            f"there is no list {str(path)!r}; the project's own is {str(LIST)!r}, and for the race "
            "'race_leaderboard'"
        ) from None
    try:
        return _board_of(tomllib.loads(text), threads, "" if path == LIST else name or str(path))
    except ArenaError as error:
        raise ArenaError(f"{str(path)!r}: {error}") from None
    except tomllib.TOMLDecodeError as error:
        raise ArenaError(
            f"{str(path)!r} is not TOML: {error}; the project's own list is {str(LIST)!r}"
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise ArenaError(f"{str(path)!r} is not a list of agents and tables: {error!r}") from None


def _board_of(content: Mapping[str, Any], threads: int, name: str) -> Board:
    """Return the board of a list with that content; raise ArenaError, or KeyError for a missing entry."""
    _check_list(content)
    seed = content["seed"]
    everywhere = tuple(content["agents"])
    events = tuple(
        Event(
            TournamentConfig(
                MatchConfig(
                    table["edition"], table["players"], table.get("teams"), seed=seed, threads=threads
                ),
                table["deals"],
            ),
            (*everywhere, *table.get("guests", ())),
        )
        for table in content["tables"]
    )
    board = Board(named(content["anchor"])[0], events, content.get("page", LIST.stem), name)
    if not events:
        raise ArenaError("there must be at least one table")
    if board.anchor not in [named(agent)[0] for agent in everywhere]:
        raise ArenaError(f"the anchor {board.anchor!r} is not among the agents")
    if not board.page or _NOT_IN_A_NAME.search(board.page):
        raise ArenaError(f"page is {board.page!r}; it must be made of letters, digits, '_' and '-'")
    if len(games := sorted({event.config.match.game.name for event in events})) > 1:
        raise ArenaError(f"there are tables of {' and '.join(games)}: write a list for each game")
    return board


def _check_list(content: Mapping[str, Any]) -> None:
    """Raise ArenaError for an entry that a list does not have, or one of the wrong type."""
    _check_entries("", content, _ENTRIES)
    for number, table in enumerate(content.get("tables", ()), 1):
        where = f"table {number}: "
        if not isinstance(table, dict):
            raise ArenaError(f"{where}{table!r} is no table: write [[tables]] above its entries")
        _check_entries(where, table, _ENTRIES_OF_A_TABLE)


def _check_entries(where: str, content: Mapping[str, Any], kinds: Mapping[str, type]) -> None:
    for key, value in content.items():
        if key not in kinds:
            raise ArenaError(
                f"{where}there is no entry {key!r}: correct or remove it; there are {', '.join(kinds)}"
            )
        texts = key in _TEXTS
        holds_others = isinstance(value, list) and texts and not all(isinstance(text, str) for text in value)
        if type(value) is not kinds[key] or holds_others:
            raise ArenaError(f"{where}{key} is {value!r}: it must be {_KINDS[kinds[key], texts]}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (None: the arguments of the process), and return the exit code."""
    stopped = "stopped; give the same command again to continue"
    return run_command(lambda: _command(arguments), prints=False, stopped=stopped)


def _command(arguments: Sequence[str] | None) -> int:
    args = parse_options(Args, "leaderboard", arguments)
    board = read_board(args.list, args.threads)
    with players_of(args.cluster) as play:
        analyses = [_play_event(event, board, args, play) for event in board.events]
    path = args.out / f"{board.page}.md"
    write_text_atomically(path, page(board, analyses, args.out))
    picture = args.out / board.page / "ratings.png"
    print(f"wrote {path}")
    ratings = ratings_everywhere(board, analyses)
    problem = save_picture(picture, lambda: draw_overview(*ratings, board.anchor))
    warn(problem)
    if not problem:
        print(f"wrote {picture}")
    return 0


def short_name(config: MatchConfig) -> str:
    """Return a name for files, such as "parker-2", with the teams if they are not the default.

    In the path of a sheet, what may not stand in a name is replaced by "-", and a digest is added.
    """
    edition, teams = str(config.edition), "" if config.teams is None else f"-in-{config.teams}"
    plain = _NOT_IN_A_NAME.sub("-", edition)
    if plain != edition:
        plain += f"-{hashlib.sha256(edition.encode()).hexdigest()[:8]}"
    return f"{plain}-{config.players}{teams}"


def _play_event(event: Event, board: Board, args: Args, play: PlayTournament) -> Analysis:
    """Play at one table and write its report."""
    config = event.config
    folder = args.tournaments / short_name(config.match)
    start = time.perf_counter()
    with progress_console().status("Loading; the first time, agents are compiled (a minute) ..."):
        entrants = entrants_of(event.agents, config.match)
        if cheats := who_sees_hidden_cards(entrants):
            raise ArenaError(f"{', '.join(cheats)} sees hidden cards: no leaderboard lists it")
        tournament = opened(entrants, config, folder, args.fresh)
    with playing_bar() as on_turn:
        play(tournament, folder, None, on_turn)
    analysis = analyse_tournament(tournament, board.anchor)
    seconds = time.perf_counter() - start
    rounds = sum(int(outcome.rounds.sum()) for outcome in tournament.outcomes.values())
    print(f"{table_name(config.match)}: {rounds:,} rounds, {seconds:.0f} s")
    page_folder = args.out / board.page / short_name(config.match)
    _, no_pictures = save_report(tournament, analysis, page_folder, asdict(config))
    for problem in no_pictures:
        warn(problem)
    return analysis


def page(board: Board, analyses: Sequence[Analysis], out: Path) -> str:
    """Return the text of the page in the folder `out`."""
    match = board.events[0].config.match
    head = _HEAD.format(
        agents=len(board.agents),
        tables=len(board.events),
        anchor=board.anchor,
        list=f" --list {board.name}" if board.name else "",
        episodes=match.episodes,
        chance=match.game.chance,
        page=board.page,
    )
    listed = [notes(analysis)[1:] for analysis in analyses]  # the head of the page has the first note
    everywhere = [note for note in listed[0] if all(note in others for others in listed)]
    parts = [f"{head}{markdown_table(overview(board, analyses))}\n{_listed(everywhere)}"]
    folders = [short_name(event.config.match) for event in board.events]
    responses = [read_responses(out / board.page / folder / RESPONSES_FILE) for folder in folders]
    if any(responses):
        parts.append(f"{_RESPONSES}{markdown_table(best_responses(board, analyses, responses))}")
    parts.append(_TABLES)
    for event, own, folder in zip(board.events, listed, folders, strict=True):
        extra = " ".join(note for note in own if note not in everywhere)
        at, name = f"{board.page}/{folder}", table_name(event.config.match)
        parts.append(
            f"- **{name[0].upper()}{name[1:]}** (`{event.config.match.edition}`, "
            f"{event.config.deals:,} deals of every lineup): [report]({at}/report.md), "
            f"[JSON]({at}/arena.json). {extra}".rstrip()
        )
    return "\n".join(parts) + "\n"


def _listed(sentences: Sequence[str]) -> str:
    return "".join(f"- {sentence}\n" for sentence in sentences)


def read_responses(path: Path) -> dict[str, dict[str, Any]]:
    """Read the results of `train.exploit --leaderboard` at a table, by agent; empty without a file."""
    try:
        result = json_of_file(path, ArenaError)
        for response in result.values():
            gain_of(response), float(response["low"]), int(response["decisions"])
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ArenaError(
            f"{str(path)!r} is damaged ({error!r}): remove it, or write it by train.exploit"
        ) from None
    responses: dict[str, dict[str, Any]] = result
    return responses


def measure_of(response: Mapping[str, Any]) -> str:
    """Return the measure of a best response: `POINTS`, or `WINS` for editions without points."""
    return POINTS if POINTS in response else WINS


def gain_of(response: Mapping[str, Any]) -> float:
    """Return the points per round that a best response wins, or its share of the matches."""
    return float(response[measure_of(response)])


def best_responses(
    board: Board, analyses: Sequence[Analysis], responses: Sequence[dict[str, dict[str, Any]]]
) -> Grid:
    """Return a row for each agent with the gain of a best response to it at each table, or "-".

    `responses` has the best responses by agent, one dict for each table.
    """
    names, tables, _ = ratings_everywhere(board, analyses)
    rows = [
        (name, *(_cell_of(known[name]) if name in known else "-" for known in responses)) for name in names
    ]
    return Grid("Best responses", ("agent", *tables), rows)


def _cell_of(response: Mapping[str, Any]) -> str:
    gain, millions = gain_of(response), response["decisions"] / 1e6
    half = gain - response["low"]
    if measure_of(response) == POINTS:
        return f"{gain:+,.0f} ± {half:.0f} ({millions:,.0f} M)"
    return f"{100 * gain:.1f} % ± {100 * half:.1f} ({millions:,.0f} M)"


def overview(board: Board, analyses: Sequence[Analysis]) -> Grid:
    """Return a row for each agent and a column for each table, sorted by the ratings at the first table."""
    names, tables, elo = ratings_everywhere(board, analyses)
    rows = [
        (name, *("-" if np.isnan(rating) else f"{rating:+z,.0f}" for rating in ratings))
        for name, ratings in zip(names, elo, strict=True)
    ]
    return Grid("Ratings at all tables", ("agent", *tables), rows)


def ratings_everywhere(
    board: Board, analyses: Sequence[Analysis]
) -> tuple[list[str], list[str], npt.NDArray[np.float64]]:
    """Return names of agents, names of tables, and float64[agents, tables] of ratings; NaN: not played."""
    tables = [f"{event.config.match.edition}, {event.config.match.players}" for event in board.events]
    best_first = [analyses[0].names[agent] for agent in analyses[0].ratings.order()]
    names = list(dict.fromkeys((*best_first, *(name for analysis in analyses for name in analysis.names))))
    elo = np.full((len(names), len(tables)), np.nan)
    for table, analysis in enumerate(analyses):
        for name, rating in zip(analysis.names, analysis.ratings.elo, strict=True):
            elo[names.index(name), table] = rating
    return names, tables, elo
