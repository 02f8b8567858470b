"""Evaluate an agent against others, each deal once in each rotation of the agents.

    python -m millebornes_env evaluate holder --against greedy random
    python -m millebornes_env evaluate runs/first --against holder:pile=30 --players 3 --episode round
    python -m millebornes_env evaluate --run-dir runs/first

Luck decides most card games, so each deal (a seed and a number) is played once for each team of the table,
with the same cards (or dice) in the same seats: the agent plays each team in turn, and the opponent all
others. All intervals are over the means of these blocks of episodes: the luck of the cards cancels out, and
far fewer games are needed to tell two agents apart.

Prints a table, and saves it as JSON and as a picture.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Final

import tyro

from millebornes_env import agents
from millebornes_env._util.command_line import print_error, run_command, say, sentence, warn
from millebornes_env._util.files import save_picture
from millebornes_env._util.signals import exit_code_of
from millebornes_env.agents.protocol import sees_hidden_cards
from millebornes_env.arena.evaluation import (
    Result,
    caption,
    check,
    draw_win_rates,
    evaluate_one,
    results_grid,
    save_results,
)
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.report import rich_table
from millebornes_env.cli.console import progress_console, table_console
from millebornes_env.cli.options import (
    MatchArgs,
    match_config,
    parse_options,
    refuse_luck_of_cheats,
    run_folder,
)
from millebornes_env.cli.progress import playing_bar
from millebornes_env.errors import MilleBornesError

PIPED_WIDTH: Final = 160  # columns of the table in a file or a pipe


@dataclass(kw_only=True)
class Args(MatchArgs):
    """Evaluate an agent against others, each deal once in each rotation of the agents, with the same cards.

    At a table of more than two teams the agent plays one team, and the opponent all others.
    """

    agent: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[AGENT]")] = None
    """Agent to evaluate: `name:option=value`, the path of a run folder, or `my_file.py:Class`."""
    against: tuple[str, ...] | None = None
    """Opponents. None: the game's default opponents, in Mille Bornes random, greedy and holder."""
    run_dir: Path | None = None
    """Run folder of the policy to evaluate, instead of AGENT."""
    deals: int = 1000
    """Deals against each opponent, each played in all rotations of the agents."""
    out: str | None = None
    """Output folder, or name of the .json and .png files without suffix. None: the run folder or results/."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line (None: the arguments of the process), and return the exit code."""
    return run_command(lambda: _command(arguments))


def _command(arguments: Sequence[str] | None) -> int:
    args = parse_options(Args, "evaluate", arguments)
    agent_spec = _agent_of(args)
    config = match_config(args, [agent_spec])
    opponents = config.game.opponents if args.against is None else args.against
    with progress_console().status("Loading; the first time, the rules are compiled ..."):
        check(agent_spec, opponents, config, args.deals)
    specs = [agent_spec, *opponents]
    cheats = [spec for spec in specs if sees_hidden_cards(agents.make(spec, config.table()))]
    for spec in cheats:
        say(f"note: {spec} sees hidden cards")
    refuse_luck_of_cheats(cheats, config)
    results: list[Result] = []
    deals, teams = args.deals, config.rules.teams
    try:
        with playing_bar() as on_turn:
            for opponent in opponents:
                before = len(results) * deals

                def on_progress(episodes: float, name: str = opponent, before: int = before) -> None:
                    on_turn(f"against {name}", before + episodes / teams, len(opponents) * deals)

                results.append(evaluate_one(agent_spec, opponent, config, deals, on_progress=on_progress))
    except KeyboardInterrupt as stop:
        _print(results)
        return print_error("stopped; no file was written", exit_code_of(stop))
    except MilleBornesError as error:
        _print(results)
        return print_error(sentence(error))
    written, no_results, no_picture = _write(_stem(args.out, agent_spec, config), results, deals)
    _print(results)  # after the files: standard output may be full
    for path in written:
        print(f"wrote {path}")
    warn(no_picture)
    return print_error(no_results) if no_results else 0


def _agent_of(args: Args) -> str:
    if (args.agent is None) == (args.run_dir is None):
        raise ValueError(
            "name either an agent (one of " + ", ".join(agents.AGENTS) + "; my_file.py:Class) or a --run-dir"
        )
    if args.agent is not None:
        return args.agent
    folder = str(args.run_dir)
    return folder if "/" in folder else f"./{folder}"  # never the name of an agent


def _print(results: Sequence[Result]) -> None:
    if results:
        table_console(PIPED_WIDTH).print(rich_table(results_grid(results)))
        print(caption(results))


def _stem(out: str | None, agent_spec: str, config: MatchConfig) -> Path:
    """Return the path of the results, without the suffix."""
    table = f"{config.edition}-{config.players}-players-{config.episodes}"
    named = f"{agent_spec.removeprefix('./')}-{table}"
    name = re.sub(r"[^A-Za-z0-9.=+]+", "-", named).strip("-.")
    _, search_options = agents.split_search(agent_spec)
    folder = run_folder(agent_spec) if search_options is None else None
    if out is None:
        return Path("results") / name if folder is None else folder / "evaluation"
    if out.endswith("/") or Path(out).is_dir():
        return Path(out) / name
    return Path(re.sub(r"\.(json|png)$", "", out))


def _write(stem: Path, results: Sequence[Result], deals: int) -> tuple[list[Path], str, str]:
    """Write the results and their picture, even if one fails.

    Returns:
        The files written, and the problems with the results and with the picture (or "").
    """
    data, picture = (stem.with_name(stem.name + suffix) for suffix in (".json", ".png"))
    config = {**asdict(results[0].config), "teams": results[0].config.rules.teams, "deals": deals}
    no_results = ""
    try:
        save_results(data, results, config)
    except OSError as error:
        no_results = f"could not write {data} ({error.strerror or error}); choose another path with --out"
    no_picture = save_picture(picture, lambda: draw_win_rates(results))
    written = [path for path, problem in ((data, no_results), (picture, no_picture)) if not problem]
    return written, no_results, no_picture
