"""The learning curve of a policy: duplicate matches against fixed opponents during training.

All measurements use the same deals from all seats, so that points of a curve differ by the policy and not by
the cards. Elo ratings are relative to the opponents, which play each other once; the first one is 0.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from millebornes_env._util.files import new_figure, save_picture, write_text_atomically
from millebornes_env.agents import Spec
from millebornes_env.arena.intervals import NORMAL_QUANTILE, Float64Array, mean_of_ratios, standard_error
from millebornes_env.arena.match import MatchConfig, made_for, play
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.ratings import bradley_terry
from millebornes_env.games.registry import game as find_game
from millebornes_env.games.variants import sheets_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FEWEST_DEALS: Final = 2
_FIRST_WAIT: Final = 5.0  # seconds


@dataclass(frozen=True)
class Score:
    """The result against one opponent.

    Attributes:
        win_rate: share of matches won, 0 to 1; a win shared by k teams counts 1 / k.
        win_error: its standard error, over deals.
        points: lead in points per round.
        points_error: its standard error, over deals.
        matches: number of matches.
    """

    win_rate: float
    win_error: float
    points: float
    points_error: float
    matches: int

    @classmethod
    def of(cls, outcomes: Sequence[Outcome]) -> Score:
        """Return the mean score of role 0 in outcomes of two deals or more, with the same deals in each.

        Tables with the same seed share the cards of a deal, so errors are over deals, not over tables.
        """
        points = mean_of_ratios(
            [(outcome.lead.sum(axis=1), outcome.rounds_of_deals()) for outcome in outcomes]
        )
        assert points.low is not None, "an error needs two deals"
        assert points.high is not None
        won: Float64Array = np.mean([outcome.wins[..., 0].mean(axis=1) for outcome in outcomes], axis=0)
        return cls(
            win_rate=float(won.mean()),
            win_error=standard_error(won),
            points=points.mean,
            points_error=float((points.high - points.low) / (2 * NORMAL_QUANTILE)),
            matches=sum(outcome.rounds.size for outcome in outcomes),
        )


@dataclass(frozen=True)
class Point:
    """A measurement during training.

    Attributes:
        seconds: seconds of training so far.
        decisions: decisions learned from so far.
        elo: rating relative to the opponents.
        elo_low: lower end of its 95 % interval.
        elo_high: upper end.
        scores: scores by opponent, the mean of all tables.
    """

    seconds: float
    decisions: int
    elo: float
    elo_low: float
    elo_high: float
    scores: dict[str, Score]

    def __str__(self) -> str:
        """Return a line for a run's log."""
        rates = ", ".join(f"{name} {100 * score.win_rate:.0f} %" for name, score in self.scores.items())
        return f"{self.seconds:5.0f} s: Elo {self.elo:+.0f}, matches won against {rates}"

    def metrics(self) -> dict[str, float]:
        """Return the metrics under the names of docs/agents/training.md."""
        metrics = {"eval/elo": self.elo}
        for name, score in self.scores.items():
            metrics[f"eval/win_rate_{name}"] = score.win_rate
            metrics[f"eval/points_{name}"] = score.points
        return metrics

    @classmethod
    def of(cls, saved: dict[str, Any]) -> Point:
        """Restore a point from `dataclasses.asdict`."""
        scores = {name: Score(**score) for name, score in saved["scores"].items()}
        return cls(**{**saved, "scores": scores})


class EvalOpponents:
    """The evaluation opponents of a policy, at all tables that it learns."""

    def __init__(self, configs: Sequence[MatchConfig], opponents: Sequence[str], deals: int) -> None:
        """Let the opponents play each other.

        Args:
            configs: the tables.
            opponents: specifications as for `agents.load`.
            deals: deals for each pair and table.
        """
        self.configs = list(configs)
        self.opponents = list(opponents)
        self.deals = deals
        count = len(self.opponents)
        self._wins = np.zeros((count + 1, count + 1))
        for one in range(count):
            for other in range(one + 1, count):
                score = self._against(self.opponents[one], self.opponents[other])
                self._wins[one, other] = self._of_two(score.win_rate) * score.matches
                self._wins[other, one] = score.matches - self._wins[one, other]

    def measure(self, spec: Spec, seconds: float, decisions: int) -> Point:
        """Play a policy against all opponents.

        Args:
            spec: the policy, as for `agents.load`; a run folder as a `Path`, which may have any name.
            seconds: seconds of training so far.
            decisions: decisions learned from so far.
        """
        scores = {name: self._against(spec, name) for name in self.opponents}
        low, elo, high = (
            self._elo(scores.values(), shift) for shift in (-NORMAL_QUANTILE, 0.0, NORMAL_QUANTILE)
        )
        return Point(seconds, decisions, elo, low, high, scores)

    def _elo(self, scores: Iterable[Score], shift: float) -> float:
        """Return the rating for some scores, each moved by some standard errors."""
        wins = self._wins.copy()
        for opponent, score in enumerate(scores):
            share = self._of_two(min(max(score.win_rate + shift * score.win_error, 0.0), 1.0))
            wins[-1, opponent] = share * score.matches
            wins[opponent, -1] = (1.0 - share) * score.matches
        elo = bradley_terry(wins)
        return float(elo[-1] - elo[0])

    def _of_two(self, rate: float) -> float:
        """Return the win rate between two agents alone, from that of one against several (Luce 1959).

        An agent that wins one match in four against three others is as strong as each of them.
        """
        others = self.configs[0].rules.teams - 1
        return rate if others == 1 else others * rate / (others * rate + 1.0 - rate)

    def _against(self, spec: Spec, opponent: str) -> Score:
        """Return the mean score of all tables."""
        pair = spec, opponent
        return Score.of([play(made_for(pair, config), config, self.deals) for config in self.configs])


def warm_up(spec: Spec, configs: Sequence[MatchConfig], opponents: Sequence[str]) -> None:
    """Play the fewest possible deals, so that everything is compiled before measuring.

    Args:
        spec: specification of a similar policy.
        configs: the tables.
        opponents: opponents as for `EvalOpponents`.
    """
    EvalOpponents(configs[:1], opponents, _FEWEST_DEALS).measure(spec, 0.0, 0)


def check_evaluation(deals: int) -> None:
    """Raise a ValueError for too few deals for an interval."""
    if deals < _FEWEST_DEALS:
        raise ValueError(f"--eval-deals is {deals}; an interval needs {_FEWEST_DEALS} or more")


def seconds_to_next(wanted: float, seconds: float) -> float:
    """Return the seconds to the next point of a curve: fewer than `wanted` early in training."""
    return min(wanted, max(_FIRST_WAIT, 0.5 * seconds))


def curve_title(learner: str, editions: Sequence[str], players: int, decisions: int) -> str:
    """Return the title of a run's picture."""
    table = f"{', '.join(editions)}, {players} players, {decisions / 1e6:.1f} M decisions"
    game = find_game(sheets_of(editions[0]).game)
    return f"{learner} learns {game.title or game.name} ({table})"


def save_curve(points: Sequence[Point], folder: Path, title: str) -> str:
    """Write `learning_curve.json` and `learning_curve.png` into the folder.

    Returns:
        A warning if there is no picture, else "".

    Raises:
        OSError: the JSON could not be written.
    """
    text = json.dumps([dataclasses.asdict(point) for point in points], indent=2)
    write_text_atomically(folder / "learning_curve.json", text + "\n")
    return save_picture(folder / "learning_curve.png", lambda: _drawn(points, title)) if points else ""


def _drawn(points: Sequence[Point], title: str) -> Figure:
    figure = new_figure(8, 7, layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True)
    minutes = np.array([point.seconds / 60 for point in points])
    upper.plot(minutes, [point.elo for point in points], marker=".", color="black")
    upper.fill_between(
        minutes,
        [point.elo_low for point in points],
        [point.elo_high for point in points],
        alpha=0.2,
        color="black",
    )
    upper.set(ylabel=f"Elo ({next(iter(points[0].scores))} = 0)", title=title)
    for name in points[0].scores:
        rates = 100 * np.array([point.scores[name].win_rate for point in points])
        errors = 100 * NORMAL_QUANTILE * np.array([point.scores[name].win_error for point in points])
        (line,) = lower.plot(minutes, rates, marker=".", label=f"against {name}")
        lower.fill_between(minutes, rates - errors, rates + errors, alpha=0.2, color=line.get_color())
    lower.axhline(50, color="grey", linewidth=1, linestyle="--")
    lower.set(xlabel="minutes of training", ylabel="matches won, %", ylim=(0, 102))
    lower.legend(loc="lower right")
    for axes in (upper, lower):
        axes.grid(alpha=0.3)
    return figure
