"""One agent against another, every deal once from each team's place: verdict, table, JSON and caption.

The agent plays each team in turn, the opponent all others; intervals are over the means of these blocks of
episodes, one block for each deal, so that the luck of the cards cancels out.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from millebornes_env import agents
from millebornes_env._util.command_line import sentence
from millebornes_env._util.files import new_figure, write_json_atomically
from millebornes_env._util.versions import versions
from millebornes_env.agents import Spec, name_of
from millebornes_env.agents.protocol import ask_in, is_compiled
from millebornes_env.arena.estimates import VarianceReduction, corrected, luck_reduction
from millebornes_env.arena.intervals import FEW_DEALS, NORMAL_QUANTILE, Interval
from millebornes_env.arena.match import MatchConfig, OnProgress, made_for, play
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.pictures import (
    HEADING_HEIGHT,
    annotate_row,
    draw_heading,
    label_rows,
    without_formulas,
)
from millebornes_env.arena.report import Grid
from millebornes_env.errors import AgentError, ArenaError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS_FORMAT: Final = 2

BATCH_SIZE: Final = 4096
"""Episodes played at the same time; more would not be faster."""

FEWEST_DEALS: Final = 2
"""Fewest deals with an interval."""

_POWER_QUANTILE: Final = 0.84
"""Standard errors beyond the interval's end at which four of five runs find a difference."""


@dataclass(frozen=True)
class Result:
    """The result of one agent against an opponent, which plays all other teams.

    Attributes:
        agent: name of the agent.
        opponent: name of the opponent.
        config: the table.
        outcome: outcome with the agent in role 0.
        seconds: wall-clock time of the play.
    """

    agent: str
    opponent: str
    config: MatchConfig
    outcome: Outcome
    seconds: float = field(default=0.0, compare=False)

    @property
    def num_deals(self) -> int:
        """Number of deals."""
        return self.outcome.num_deals

    @property
    def num_episodes(self) -> int:
        """Number of episodes: one for each deal and team."""
        return self.outcome.rounds.size

    @property
    def win_rate(self) -> Interval:
        """Share of the episodes won, 0 to 1; a win shared by k teams counts 1 / k."""
        return self.outcome.win_rate()

    @property
    def even(self) -> float:
        """Win rate among equals."""
        return 1 / len(self.outcome.lineup)

    @property
    def points_per_round(self) -> Interval | None:
        """Lead in points per round, minus luck with `aivat`; None for editions without points."""
        return corrected(self.outcome).points_per_round() if self.config.has_points else None

    @property
    def points_per_episode(self) -> Interval | None:
        """Lead in points per episode, minus luck with `aivat`; None for editions without points."""
        return corrected(self.outcome).points_per_episode() if self.config.has_points else None

    @property
    def luck(self) -> VarianceReduction | None:
        """Variance reduction by AIVAT; None unless it was requested."""
        return luck_reduction(self.outcome) if self.config.aivat else None

    @property
    def wins_sign(self) -> int:
        """1 if the agent surely wins more often than among equals, -1 if less often, else 0."""
        return _sign(self.win_rate, self.even)

    @property
    def sign(self) -> int:
        """1 if the agent is surely better, -1 if worse, else 0; by points, or by wins without points."""
        return self.wins_sign if self.points_per_round is None else _sign(self.points_per_round)

    def verdict(self) -> str:
        """Say in one sentence which agent is better, by how much, and how sure that is."""
        one, other = self.agent, self.opponent
        figures = f"{', '.join(self._figures())}, {self.num_deals:,} deals"
        by_wins, sign = self.wins_sign, self.sign
        if sign * by_wins < 0:
            ahead, behind = (one, other) if sign > 0 else (other, one)
            return f"{ahead} makes more points than {behind}, but wins less often: {figures}."
        if sign:
            return f"{one} is {'better' if sign > 0 else 'worse'} than {other}: {figures}."
        if by_wins:
            ahead, behind = (one, other) if by_wins > 0 else (other, one)
            return f"{ahead} wins more often than {behind}, but no difference in points was found: {figures}."
        return f"No difference found between {one} and {other}: {figures}{self._advice()}."

    def _figures(self) -> list[str]:
        even = "" if len(self.outcome.lineup) == 2 else f"; even: {100 * self.even:.1f}"
        wins = _in_words(self.win_rate, ".1f", 100, f"% of the {self.config.episodes}", even)
        figures = [f"wins {wins}"]
        if self.points_per_round is not None:
            figures.insert(0, _in_words(self.points_per_round, "+z,.1f", 1, "points a round"))
        return figures

    def _advice(self) -> str:
        """Say how many deals it takes to find a smaller difference."""
        points = self.points_per_round
        half, unit = (
            (100 * self.win_rate.half_width, "% of the wins")
            if points is None
            else (points.half_width, "points a round")
        )
        if not 0 < half < math.inf:
            return ""
        smaller = _rounder_below(half)
        error = half / NORMAL_QUANTILE
        deals = self.num_deals * ((NORMAL_QUANTILE + _POWER_QUANTILE) * error / smaller) ** 2
        return f"; to see one of {smaller:g} {unit} you need some {_two_digits(deals):,} deals"

    def as_json(self) -> dict[str, Any]:
        """Return the result as JSON values; intervals have mean, low and high."""
        points = {"points_per_episode": self.points_per_episode, "points_per_round": self.points_per_round}
        return {
            "agent": self.agent,
            "opponent": self.opponent,
            "num_deals": self.num_deals,
            "num_episodes": self.num_episodes,
            "win_rate": self.win_rate._asdict(),
            "even": self.even,
            **{name: None if value is None else value._asdict() for name, value in points.items()},
            "mean_decisions": float(self.outcome.decisions.mean()),
            "deals_saved_by_aivat": None if self.luck is None else self.luck.ratio,
            "verdict": self.verdict() if self.num_deals >= FEWEST_DEALS else None,
            "seconds": self.seconds,
        }


# Playing --------------------------------------------------------------------------------------------------


def evaluate(
    agent: Spec,
    opponents: Sequence[Spec],
    config: MatchConfig | None = None,
    deals: int = 1000,
    *,
    batch_size: int = BATCH_SIZE,
) -> list[Result]:
    """Let an agent play against each opponent, with every deal once from each team's place.

    At a table of more than two teams the agent plays one of them, and the opponent all the others.

    Args:
        agent: as for `agents.load`: a name, `name:option=value`, the path of a run folder, or an agent.
        opponents: opponents, given in the same ways.
        config: table, kind of episode and seed; None: the defaults.
        deals: deals against each opponent; each gives as many episodes as the table has teams.
        batch_size: most episodes played at the same time. Deals do not depend on it; the play of agents with
            random numbers of their own, and of search, may.

    Returns:
        A result for each opponent, in order; for the same arguments they differ only in `seconds`.

    Raises:
        ValueError: an unknown agent, edition or table, or an invalid number; the message says which.
    """
    config = config or MatchConfig()
    check(agent, opponents, config, deals)
    return [evaluate_one(agent, opponent, config, deals, batch_size) for opponent in opponents]


def check(agent: Spec, opponents: Sequence[Spec], config: MatchConfig, deals: int) -> None:
    """Raise early if something cannot be played: load each agent and let it make one decision.

    Raises:
        ValueError: as in `evaluate`.
    """
    if not opponents:
        raise ArenaError("there is no opponent: name at least one")
    if deals < 1:
        raise ArenaError(f"deals is {deals}; it must be 1 or more")
    config.refuse_luck_without_points()
    env = config.env()
    for spec in [agent, *opponents]:
        observations, _ = env.reset(seed=config.seed)
        loaded = None
        try:
            loaded = agents.load(spec, env)
            needs_kernels = is_compiled(loaded) and not env.game.has("agents.decoder")
            if not getattr(loaded, "is_person", False) and not needs_kernels:
                env.step(ask_in(env, loaded, observations))
        except (KeyError, TypeError, ValueError) as error:
            if loaded is None and isinstance(error, AgentError):
                raise  # its message names the agent
            raise ValueError(f"the agent {name_of(spec)!r} cannot play: {sentence(error)}") from error
        except Exception as error:
            if loaded is None and isinstance(error, OSError):
                raise  # its message names the file
            why = f"it raised {type(error).__name__}: {sentence(error)}"
            raise AgentError(f"the agent {name_of(spec)!r} cannot play: {why}") from error


def evaluate_one(
    agent: Spec,
    opponent: Spec,
    config: MatchConfig,
    deals: int,
    batch_size: int = BATCH_SIZE,
    on_progress: OnProgress | None = None,
) -> Result:
    """Play all deals against one opponent; arguments as for `evaluate` and `play`."""
    pair = made_for((agent, opponent), config)
    start = time.perf_counter()
    outcome = play(pair, config, deals, batch_size=batch_size, on_progress=on_progress)
    return Result(name_of(pair[0]), name_of(pair[1]), config, outcome, time.perf_counter() - start)


# Showing --------------------------------------------------------------------------------------------------


def results_grid(results: Sequence[Result]) -> Grid:
    """Return the results as a table; they are of the same table and kind of episode."""
    config, teams = results[0].config, len(results[0].outcome.lineup)
    columns: dict[str, list[str]] = {
        "agent": [result.agent for result in results],
        "in all other teams" if teams > 2 else "opponent": [result.opponent for result in results],
        config.episodes: [f"{result.num_episodes:,}" for result in results],
        "win rate, %": [result.win_rate.text(".1f", 100, ends=True) for result in results],
    }
    if config.has_points:
        leads = [result.points_per_episode for result in results]
        columns[f"points per {config.episode}"] = [
            lead.text("+z,.0f", ends=True) for lead in leads if lead is not None
        ]
    columns["decisions"] = [f"{result.outcome.decisions.mean():,.0f}" for result in results]
    columns["seconds"] = [f"{result.seconds:.2f}" for result in results]
    rows = list(zip(*columns.values(), strict=True))
    return Grid(f"{config.described()}, {config.episodes}", tuple(columns), rows, num_names=2)


def caption(results: Sequence[Result]) -> str:
    """Explain the table of the results in a few lines."""
    config, teams, num_deals = results[0].config, len(results[0].outcome.lineup), results[0].num_deals
    deals = f"{num_deals:,} deal{'s' if num_deals > 1 else ''}"
    lines = [
        f"± and [low, high]: 95 % intervals over {deals}, each played {teams} times with the same "
        f"{config.game.chance}, the agent once in each team ({NORMAL_QUANTILE} standard errors, "
        "normal quantile)."
    ]
    if teams > 2:
        lines.append(f"The agent plays one team, the opponent the {teams - 1} others.")
    shared = "a shared win counts 50.0 %" if teams == 2 else "a win shared by k teams counts 1 / k for each"
    others = "the mean of the other teams'" if teams > 2 else "the other's"
    points = f" Points are those of the agent's team less {others}." if config.has_points else ""
    lines.append(f"Even is {100 / teams:.1f} %; {shared}.{points}")
    ratios = [result.luck.ratio for result in results if result.luck is not None]
    saved = [ratio for ratio in ratios if ratio is not None]
    if saved:
        times = " to ".join(dict.fromkeys(f"{ratio:.1f}" for ratio in (min(saved), max(saved))))
        lines.append(
            "Luck was subtracted from the points: without that, the same intervals would have needed "
            f"{times} times as many deals."
        )
    if warning := few_deals_warning(num_deals):
        lines.append(warning)
    return "\n".join(lines)


def few_deals_warning(num_deals: int) -> str:
    """Return a warning if there are too few deals for the normal quantile, else ""."""
    if num_deals >= FEW_DEALS:
        return ""
    return f"With fewer than {FEW_DEALS} deals the intervals are too narrow: play more."


def save_results(path: Path, results: Sequence[Result], config: Mapping[str, object]) -> None:
    """Write the results as JSON, with the configuration, the versions and the time.

    Args:
        path: file to write; its folder is created if it is missing.
        results: results to write.
        config: configuration, with all defaults filled in.

    Raises:
        OSError: the file could not be written; an older one is unchanged.
    """
    content = {
        "format": RESULTS_FORMAT,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "config": dict(config),
        "interval": f"95 %, {NORMAL_QUANTILE} standard errors of the means of the deals (normal quantile)",
        "versions": versions(),
        "results": [result.as_json() for result in results],
    }
    write_json_atomically(path, content)


def _sign(interval: Interval, even: float = 0.0) -> int:
    """Return 1 if the whole interval lies above the even value, -1 if below, else 0."""
    _, low, high = interval
    if low is None or high is None:
        return 0
    return int(low > even + 1e-12) - int(high < even - 1e-12)


def _in_words(interval: Interval, form: str, scale: float, unit: str, more: str = "") -> str:
    """Return a text such as "+43.1 points a round (95 %: +35.0 to +51.2)"."""
    mean, low, high = interval
    assert low is not None, "two deals make an interval"
    assert high is not None
    return f"{scale * mean:{form}} {unit} (95 %: {scale * low:{form}} to {scale * high:{form}}{more})"


def _rounder_below(value: float) -> float:
    """Return the greatest of ..., 0.5, 1, 2, 5, 10, 20, 50, ... that is at most half of the value."""
    power = 10.0 ** math.floor(math.log10(value / 2))
    return max(step * power for step in (1, 2, 5) if step * power <= value / 2)


def _two_digits(value: float) -> int:
    """Round up to two digits."""
    power = 10.0 ** max(math.floor(math.log10(value)) - 1, 0)
    return int(math.ceil(value / power) * power)


def draw_win_rates(results: Sequence[Result]) -> Figure:
    """Draw the win rates as dots with their intervals, and the even share as a line.

    Args:
        results: results of one agent, at the same table and for the same kind of episode.

    Returns:
        A Matplotlib figure, at least 8 inches wide.
    """
    first, config = results[0], results[0].config
    longest = max(len(result.opponent) for result in results)
    width, height = 8.0 + max(0, longest - 24) * 0.075, 1.7 + 0.5 * len(results)
    figure = new_figure(width, height)
    figure.set_layout_engine("constrained", rect=(0, 0, 1, 1 - HEADING_HEIGHT / height))
    played = f"n = {first.num_episodes:,} {config.episodes} per opponent; seed {config.seed}"
    heading = f"How often {without_formulas(first.agent)} wins"
    draw_heading(figure, heading, f"{config.described()}; {played}")
    axes = figure.add_subplot()
    for position, result in enumerate(results):
        mean, low, high = result.win_rate
        colour = {1: "#2f7d4f", -1: "#c8443c", 0: "#5b6b82"}[result.wins_sign]
        ends = [100 * low, 100 * high] if low is not None and high is not None else []
        axes.plot(ends, [position] * len(ends), "|-", color=colour, linewidth=2, markersize=13)
        axes.plot([100 * mean], [position], "o", color=colour, markersize=6)
        text = result.win_rate.text(".1f", 100, ends=True)
        annotate_row(axes, position, text, colour)
    even = 100 * first.even
    axes.axvline(even, color="#222222", linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    axes.set_title(f"dashed: even, {even:.3g} %", fontsize="small", loc="right")
    labels = [f"against {without_formulas(result.opponent)}" for result in results]
    label_rows(axes, labels)
    rates = [100 * end for result in results for end in result.win_rate[1:] if end is not None] + [even]
    margin = max(5.0, 0.12 * (max(rates) - min(rates)))
    axes.set_xlim(max(min(rates) - margin, -2.5), min(max(rates) + margin, 102.5))
    axes.set_xlabel(f"{config.episodes} won, %   (dot: mean, line: 95 % interval)")
    return figure
