"""How well does an agent play? It plays against others, every deal once from each team's place.

    python -m millebornes_env evaluate holder --against greedy random
    python -m millebornes_env evaluate runs/first --against holder:pile=30 --players 3 --episode round
    python -m millebornes_env evaluate --run-dir runs/first

Luck decides most games of cards, so every deal (a seed and a number) is played once for each team of the
table with the same cards (or dice) in the same seats: the agent sits in each team in turn, and the opponent
in all the other teams. These episodes form a block, and all intervals are over the means of the blocks: the
luck of the cards cancels out, and far fewer games tell two agents apart.

Prints a table, and writes it as JSON with a picture beside it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Final

import tyro

from millebornes_env import agents
from millebornes_env._util.command_line import complain, run_command, say, sentence, warn
from millebornes_env._util.files import save_picture
from millebornes_env._util.signals import exit_code_of
from millebornes_env.agents.protocol import sees_hidden_cards
from millebornes_env.arena.evaluation import check, play_rows
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.results import Row, caption, draw_win_rates, episodes_word, save_results, table_of
from millebornes_env.cli.console import progress_console, table_console
from millebornes_env.cli.options import (
    MatchArgs,
    match_config,
    parse_options,
    refuse_luck_of_cheats,
    run_folder,
)
from millebornes_env.cli.progress import evaluation_bar
from millebornes_env.errors import MilleBornesError

PIPED_WIDTH: Final = 160  # columns of the table when it goes into a file or a pipe


@dataclass(kw_only=True)
class Args(MatchArgs):
    """Let an agent play against others, every deal once from each team's place with the same cards.

    At a table with more than two teams the agent plays one of them, and the opponent all the others.
    """

    agent: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[AGENT]")] = None
    """The agent to evaluate: `name:option=value`, the path of a run folder, or `my_file.py:Class`."""
    against: tuple[str, ...] | None = None
    """The opponents, one after the other. None: the usual ones, in Mille Bornes random greedy holder."""
    run_dir: Path | None = None
    """Instead of an agent: evaluate the policy in this run folder."""
    deals: int = 1000
    """Deals against each opponent, each played once from each team's place."""
    out: str | None = None
    """Folder, or file name without suffix, of the JSON and the picture. None: the run folder, or results/."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: without the program's name; None for those of the process.

    Returns:
        The exit code: 0; 2 if the arguments make no sense or a file could not be written; 130 after Ctrl-C.
    """
    return run_command(lambda: _command(arguments))


def _command(arguments: Sequence[str] | None) -> int:
    args = parse_options(Args, "evaluate", arguments)
    agent_spec = _agent_of(args)
    config = match_config(args, [agent_spec])
    opponents = config.game.opponents if args.against is None else args.against
    with progress_console().status("Loading; the first time, the rules are compiled ..."):
        teams = check(agent_spec, opponents, config, args.deals).teams
    config = replace(config, teams=teams)
    config.refuse_luck_without_points()
    refuse_luck_of_cheats(_note_cheats([agent_spec, *opponents], config), config)
    rows: list[Row] = []
    try:
        with evaluation_bar(rows, len(opponents), args.deals * teams) as on_progress:
            for row in play_rows(agent_spec, opponents, config, args.deals, on_progress=on_progress):
                rows.append(row)  # noqa: PERF402 - the progress bar and Ctrl-C look at those there are
    except KeyboardInterrupt as stop:
        _print(rows)
        return complain("stopped; no file was written", exit_code_of(stop))
    except MilleBornesError as error:
        _print(rows)
        return complain(sentence(error))
    written, no_results, no_picture = _write(_stem(args.out, agent_spec, rows[0]), rows, config, args.deals)
    _print(rows)  # after the files: standard output may be full
    for path in written:
        print(f"wrote {path}")
    warn(no_picture)
    return complain(no_results) if no_results else 0


def _note_cheats(specs: Sequence[str], config: MatchConfig) -> list[str]:
    """Say who sees hidden cards, and hand them back."""
    cheats = [spec for spec in specs if sees_hidden_cards(agents.make(spec, config.table()))]
    for spec in cheats:
        say(f"note: {spec} sees hidden cards")
    return cheats


def _agent_of(args: Args) -> str:
    if (args.agent is None) == (args.run_dir is None):
        raise ValueError(
            "name either an agent (one of " + ", ".join(agents.AGENTS) + "; my_file.py:Class) or a --run-dir"
        )
    if args.agent is not None:
        return args.agent
    folder = str(args.run_dir)
    return folder if "/" in folder else f"./{folder}"  # so that no agent of that name is meant


def _print(rows: Sequence[Row]) -> None:
    if not rows:
        return
    table_console(PIPED_WIDTH).print(table_of(rows))
    print(caption(rows))


def _stem(out: str | None, agent_spec: str, row: Row) -> Path:
    """Where the results go, without the suffix."""
    named = f"{agent_spec.removeprefix('./')}-{row.edition}-{row.players}-players-{episodes_word(row)}"
    name = re.sub(r"[^A-Za-z0-9.=+]+", "-", named).strip("-.")
    _, search_options = agents.split_search(agent_spec)
    folder = run_folder(agent_spec) if search_options is None else None
    if out is None:
        return Path("results") / name if folder is None else folder / "evaluation"
    if out.endswith("/") or Path(out).is_dir():
        return Path(out) / name
    return Path(re.sub(r"\.(json|png)$", "", out))


def _write(stem: Path, rows: Sequence[Row], config: MatchConfig, deals: int) -> tuple[list[Path], str, str]:
    """Write the results and their picture, the second even if the first fails.

    Returns:
        The files that were written; what is wrong with the results, and with the picture.
    """
    data, picture = (stem.with_name(stem.name + suffix) for suffix in (".json", ".png"))
    against = [row.opponent for row in rows]
    described = {"agent": rows[0].agent, "against": against, "deals": deals, **asdict(config)}
    no_results = ""
    try:
        save_results(data, rows, described)
    except OSError as error:
        no_results = f"could not write {data} ({error.strerror or error}); choose another place with --out"
    no_picture = save_picture(picture, lambda: draw_win_rates(rows, config.seed))
    written = [path for path, problem in ((data, no_results), (picture, no_picture)) if not problem]
    return written, no_results, no_picture
