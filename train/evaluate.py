"""How well does an agent play? It plays against others, every deal once from each team's place.

    python -m train.evaluate holder --against greedy random
    python -m train.evaluate runs/first --against holder:pile=30 --players 3 --episode round
    python -m train.evaluate --run-dir runs/first

Luck decides most games of cards, so every deal (a seed and a number) is played once for each team of the
table with the same cards in the same seats: the agent sits in each team in turn, and the opponent in all the
other teams. These episodes form a block, and all intervals are over the means of the blocks: the luck of the
cards cancels out, and far fewer games tell two agents apart.

Prints a table, and writes it as JSON with a picture beside it.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Literal

import numpy as np
import numpy.typing as npt
import tyro

import agents
from agents import RunFolderError, Spec, UnknownAgentError
from agents.human import HumanAgent
from agents.policy_files import read_description
from agents.protocol import Agent, ask_in, is_honest
from agents.specs import is_path, split_policy
from arena.kernels import Batch
from arena.match import MatchConfig, agent_seed, by_deal, play_roles
from millebornes_env import VectorEnv, vector_env
from millebornes_env.envs.vector import Observations
from millebornes_env.errors import MilleBornesError
from train.command_line import WRONG, carry_out, complain, one_line, progress_console, say, table_console
from train.progress import OnProgress, evaluation_bar
from train.results import (
    Row,
    caption,
    episodes_word,
    mean_interval,
    save_results,
    save_win_rates,
    share_interval,
    table_of,
)
from train.stopping import exit_code_of

DEFAULT_OPPONENTS: Final = ("random", "greedy", "holder")
PIPED_WIDTH: Final = 160  # columns of the table when it goes into a file or a pipe


@dataclass(frozen=True)
class EvaluationConfig:
    """How to evaluate.

    Attributes:
        edition: name of the rule sheet.
        players: seats at the table.
        teams: teams at the table; None for the sheet's usual way to play with so many.
        episode: "match" or "round".
        num_games: episodes against each opponent; rounded up to whole blocks of one per team.
        seed: of the deals, and of the agents' own random numbers; 0 to 2**64 - 1.
        batch_size: episodes that are played at the same time, at most; changes no deal.
    """

    edition: str = "parker"
    players: int = 2
    teams: int | None = None
    episode: str = "match"
    num_games: int = 2000
    seed: int = 1
    batch_size: int = 4096


@dataclass(frozen=True)
class Blocks:
    """How the episodes ended; B deals, T teams. Row t of an array is of the agent sitting in team t.

    Attributes:
        win_shares: float64[T, B], 1 for a win of the agent's team, 1 / k if k teams share it, else 0.
        points: float64[T, B], points of the agent's team less the mean of the other teams'.
        decisions: int64[T, B], actions of all seats.
    """

    win_shares: npt.NDArray[np.float64]
    points: npt.NDArray[np.float64]
    decisions: npt.NDArray[np.int64]


def evaluate(
    agent_spec: Spec,
    opponent_specs: Sequence[Spec],
    config: EvaluationConfig | None = None,
    on_progress: OnProgress | None = None,
) -> list[Row]:
    """Let an agent play against each opponent, with every deal once from each team's place.

    Where the table has more than two teams, the agent plays one of them and the opponent all the others.

    Args:
        agent_spec: as for `agents.load`: a name, `name:option=value`, the path of a run folder, or an agent.
        opponent_specs: the same, of who plays all other teams; a row for each.
        config: table, episodes and seed; None for the defaults.
        on_progress: called about ten times a second.

    Returns:
        A row for each opponent, in order; the same for the same arguments, but for `seconds`.

    Raises:
        ValueError: unknown agent, run folder, edition or table, or an invalid number; the message says which.
    """
    config = config or EvaluationConfig()
    check(agent_spec, opponent_specs, config)
    return list(play_rows(agent_spec, opponent_specs, config, on_progress))


def check(agent_spec: Spec, opponent_specs: Sequence[Spec], config: EvaluationConfig) -> VectorEnv:
    """Refuse what cannot be played, before anything is: each agent is loaded and makes one decision.

    Returns:
        An environment of the table.

    Raises:
        ValueError: as in `evaluate`.
    """
    if not opponent_specs:
        raise ValueError("there is no opponent: name at least one")
    if config.num_games < 1:
        raise ValueError(f"num_games is {config.num_games}; it must be 1 or more")
    env = _new_env(config, 1)
    if config.batch_size < env.teams:
        raise ValueError(f"batch_size is {config.batch_size}; it must be {env.teams} (the teams) or more")
    for spec in [agent_spec, *opponent_specs]:
        observations, _ = env.reset(seed=config.seed)
        try:
            _try(agents.load(spec, env), env, observations)
        except (UnknownAgentError, RunFolderError):
            raise
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"the agent {agents.name_of(spec)!r} cannot play: {one_line(error)}") from error
    return env


def _try(agent: Agent, env: VectorEnv, observations: Observations) -> None:
    """Let the agent make one decision, unless that would ask a person."""
    if not isinstance(agent, HumanAgent):
        env.step(ask_in(env, agent, observations))


def play_rows(
    agent_spec: Spec,
    opponent_specs: Sequence[Spec],
    config: EvaluationConfig,
    on_progress: OnProgress | None = None,
) -> Iterator[Row]:
    """The rows of `evaluate` one by one, each as soon as it has been played."""
    for opponent_spec in opponent_specs:
        table = _new_env(config, 1)
        agent = agents.load(agent_spec, table, agent_seed(config.seed, 0))
        opponent = agents.load(opponent_spec, table, agent_seed(config.seed, 1))
        start = time.perf_counter()
        blocks = play(agent, opponent, config, on_progress)
        yield make_row(agent.name, opponent.name, config, blocks, time.perf_counter() - start)


def play(
    agent: Agent, opponent: Agent, config: EvaluationConfig, on_progress: OnProgress | None = None
) -> Blocks:
    """Play all deals, as many at the same time as a batch holds.

    Args:
        agent: plays one team, in turn each of them.
        opponent: plays the other teams.
        config: table, episodes and seed.
        on_progress: as in `evaluate`.

    Returns:
        How they ended.
    """
    table = MatchConfig(config.edition, config.players, config.teams, config.episode, config.seed)
    teams = table.rules.teams
    num_deals = -(-config.num_games // teams)
    deals_in_batch = max(config.batch_size // teams, 1)
    roles = [agent] + [opponent] * (teams - 1)
    batches: list[Batch] = []
    for first in range(0, num_deals, deals_in_batch):

        def report(episodes: float, before: int = first * teams) -> None:
            if on_progress is not None:
                on_progress(opponent.name, before + episodes)

        batches += play_roles(roles, table, first, min(deals_in_batch, num_deals - first), report)
        report(min(deals_in_batch, num_deals - first) * float(teams))
    own_points = by_deal(batches, "points", teams).astype(np.float64)
    return Blocks(
        win_shares=by_deal(batches, "shares", teams)[..., 0].T,
        points=(own_points[..., 0] - own_points[..., 1:].mean(axis=2)).T,
        decisions=by_deal(batches, "steps", teams).T,
    )


def make_row(agent: str, opponent: str, config: EvaluationConfig, blocks: Blocks, seconds: float) -> Row:
    """Sum up what was played.

    Args:
        agent: what to call the agent.
        opponent: what to call the opponent.
        config: what was asked for.
        blocks: from `play`.
        seconds: that it took.

    Returns:
        Means, and 95 % intervals over the blocks (the deals).
    """
    win_rate, win_rate_low, win_rate_high = share_interval(blocks.win_shares.mean(axis=0))
    points = mean_interval(blocks.points.mean(axis=0))
    teams, num_deals = blocks.points.shape
    return Row(
        agent=agent,
        opponent=opponent,
        edition=config.edition,
        players=config.players,
        teams=teams,
        episode=config.episode,
        num_episodes=teams * num_deals,
        num_deals=num_deals,
        win_rate=win_rate,
        win_rate_low=win_rate_low,
        win_rate_high=win_rate_high,
        points=points.mean,
        points_low=points.low,
        points_high=points.high,
        mean_decisions=float(blocks.decisions.mean()),
        seconds=seconds,
    )


def _new_env(config: EvaluationConfig, num_envs: int) -> VectorEnv:
    return vector_env(
        num_envs,
        config.edition,
        players=config.players,
        teams=config.teams,
        episode=config.episode,
        autoreset_mode="disabled",
    )


# The command line: what follows reads arguments, prints, and writes files.


@dataclass
class Args:
    """Let an agent play against others, every deal once from each team's place with the same cards.

    At a table with more than two teams the agent plays one of them, and the opponent all the others.
    """

    agent: Annotated[str | None, tyro.conf.Positional, tyro.conf.arg(metavar="[AGENT]")] = None
    """The agent to evaluate: `name:option=value`, the path of a run folder, or `my_file.py:Class`."""
    against: tuple[str, ...] = DEFAULT_OPPONENTS
    """The opponents, named in the same way; the agent plays against one after the other."""
    run_dir: Path | None = None
    """Instead of an agent: evaluate the policy in this run folder."""
    edition: str | None = None
    """The rule sheet to play by. None: the one that the agent's run folder names, else parker."""
    players: int | None = None
    """Seats at the table (parker: 2, 3, 4 or 6). None: as many as the agent's run folder names, else 2."""
    episode: Literal["match", "round"] = "match"
    """Play whole matches, or single rounds."""
    num_games: int = 2000
    """Episodes against each opponent, rounded up to a multiple of the number of teams."""
    seed: int = 1
    """Seed of the deals and of the agents; the same seed gives the same results."""
    out: str | None = None
    """Folder, or file name without suffix, of the JSON and the picture. None: the run folder, or results/."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        arguments: without the program's name; None for those of the process.

    Returns:
        The exit code: 0; 2 if the arguments make no sense or a file could not be written; 130 after Ctrl-C.
    """
    return carry_out(lambda: _command(arguments))


def _command(arguments: Sequence[str] | None) -> int:
    args = tyro.cli(Args, prog="python -m train.evaluate", args=arguments)
    agent_spec = _agent_of(args)
    config = _config_of(args, agent_spec)
    with progress_console().status("Loading; the first time, the rules are compiled ..."):
        teams = check(agent_spec, args.against, config).teams
    config = replace(config, teams=teams)
    _note_cheats([agent_spec, *args.against], config)
    if config.num_games % teams:
        say(f"note: {config.num_games} games are rounded up to whole deals of {teams}")
    rows: list[Row] = []
    try:
        with evaluation_bar(rows, len(args.against), -(-config.num_games // teams) * teams) as on_progress:
            for row in play_rows(agent_spec, args.against, config, on_progress):
                rows.append(row)  # noqa: PERF402 - the progress bar and Ctrl-C look at those there are
    except KeyboardInterrupt as stop:
        _print(rows)
        return complain("stopped; no file was written", exit_code_of(stop))
    except MilleBornesError as error:
        _print(rows)
        return complain(one_line(error))
    written, not_written = _write(_stem(args.out, agent_spec, rows[0]), rows, config)
    _print(rows)
    for path in written:
        print(f"wrote {path}")
    for message in not_written:
        complain(message)
    return WRONG if not_written else 0


def _note_cheats(specs: Sequence[str], config: EvaluationConfig) -> None:
    """Say who sees hidden cards."""
    env = _new_env(config, 1)
    for spec in specs:
        if not is_honest(agents.load(spec, env)):
            say(f"note: {spec} sees hidden cards")


def _agent_of(args: Args) -> str:
    if (args.agent is None) == (args.run_dir is None):
        raise ValueError(
            "name either an agent (one of " + ", ".join(agents.AGENTS) + "; my_file.py:Class) or a --run-dir"
        )
    if args.agent is not None:
        return args.agent
    folder = str(args.run_dir)
    return folder if "/" in folder else f"./{folder}"  # so that no agent of that name is meant


def _config_of(args: Args, agent_spec: str) -> EvaluationConfig:
    """The configuration with all defaults filled in; a run folder's policy names its first table."""
    folder = run_folder(agent_spec)
    trained = {} if folder is None else read_description(folder)
    editions = trained.get("editions")
    usual = str(editions[0]) if isinstance(editions, list) and editions else "parker"
    seats = trained.get("players")
    usual_players = seats if type(seats) is int else 2  # of others loading the policy complains
    return EvaluationConfig(
        edition=usual if args.edition is None else args.edition,
        players=args.players if args.players is not None else usual_players,
        episode=args.episode,
        num_games=args.num_games,
        seed=args.seed,
    )


def run_folder(spec: str) -> Path | None:
    """The run folder that an agent's specification names, whether it exists or not; None for other agents.

    Of search over a policy, it is the policy's.
    """
    spec, _ = agents.split_search(spec)
    name, _, rest = spec.partition(":")
    if name == "policy":
        folder, _ = split_policy(rest)
        return Path(folder) if folder else None
    if name in agents.AGENTS or not is_path(spec):
        return None
    return Path(spec)


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


def _write(stem: Path, rows: Sequence[Row], config: EvaluationConfig) -> tuple[list[Path], list[str]]:
    """Write both files, the second even if the first fails.

    Returns:
        Those that were written, and complaints.
    """
    data, picture = (stem.with_name(stem.name + suffix) for suffix in (".json", ".png"))
    described = {"agent": rows[0].agent, "against": [row.opponent for row in rows], **asdict(config)}
    written, not_written = [], []
    for path in (data, picture):
        try:
            if path == data:
                save_results(data, rows, described)
            else:
                save_win_rates(picture, rows, config.seed)
            written.append(path)
        except OSError as error:
            not_written.append(_not_written(path, error))
    return written, not_written


def _not_written(path: Path, error: OSError) -> str:
    return f"could not write {path} ({error.strerror or error}); choose another place with --out"


if __name__ == "__main__":
    sys.exit(main())
