"""Two agents: is one better, by how much, and how sure is that?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from millebornes_env.agents import Spec, name_of
from millebornes_env.arena.estimates import VarianceReduction, corrected, luck_reduction
from millebornes_env.arena.intervals import FEW_DEALS, NORMAL_QUANTILE, Interval
from millebornes_env.arena.match import MatchConfig, OnProgress, play
from millebornes_env.arena.outcome import Outcome
from millebornes_env.arena.tournament import check_until, turn_after
from millebornes_env.errors import ArenaError

FEWEST_DEALS: Final = 2
"""An interval needs two."""

_POWER_QUANTILE: Final = 0.84
"""A difference is found in four runs of five if it is this many standard errors beyond the interval's end."""


@dataclass(frozen=True)
class Comparison:
    """What one agent got against another, which played all other teams.

    Attributes:
        names: of the agent, and of the one that it is compared with.
        config: the table.
        outcome: the agent in role 0.
    """

    names: tuple[str, str]
    config: MatchConfig
    outcome: Outcome

    @property
    def points(self) -> Interval | None:
        """The lead in points per round, with `aivat` less luck; None where the edition counts none."""
        if not self.config.has_points:
            return None
        if self.config.aivat:
            return corrected(self.outcome).per_round()
        return self.outcome.points_per_round()

    @property
    def luck(self) -> VarianceReduction | None:
        """Variance reduction by AIVAT; None unless it was requested."""
        return luck_reduction(self.outcome) if self.config.aivat else None

    @property
    def wins(self) -> Interval:
        """The share of the episodes won, 0 to 1."""
        return self.outcome.win_rate()

    @property
    def even(self) -> float:
        """The share of the wins of agents of one strength."""
        return 1 / len(self.outcome.lineup)

    def sign(self) -> int:
        """1 if the agent is better, -1 if worse, 0: unknown; by points, or by wins where none are counted."""
        return _sign(self.wins, self.even) if self.points is None else _sign(self.points)

    def verdict(self) -> str:
        """One sentence: who is better, by how much, and how sure that is."""
        one, other = self.names
        found = f"{', '.join(self._figures())}, {self.outcome.num_deals:,} deals"
        by_wins, sign = _sign(self.wins, self.even), self.sign()
        if sign * by_wins < 0:
            ahead, behind = (one, other) if sign > 0 else (other, one)
            return f"{ahead} makes more points than {behind}, but wins less often: {found}."
        if sign:
            return f"{one} is {'better' if sign > 0 else 'worse'} than {other}: {found}."
        if by_wins:
            ahead, behind = (one, other) if by_wins > 0 else (other, one)
            return (
                f"{ahead} wins more often than {behind}, though no difference in points was found: {found}."
            )
        return f"No difference found between {one} and {other}: {found}{self._advice()}."

    def warning(self) -> str:
        """Why the interval is worth less than it looks; empty if it is not."""
        if self.outcome.num_deals >= FEW_DEALS:
            return ""
        return f"With fewer than {FEW_DEALS} deals the intervals are too narrow: play more."

    def _figures(self) -> list[str]:
        even = "" if len(self.outcome.lineup) == 2 else f"; even: {100 * self.even:.1f}"
        wins = _in_words(self.wins, ".1f", 100, f"% of the {self.config.episodes}", even)
        points = [] if self.points is None else [_in_words(self.points, "+z,.1f", 1, "points a round")]
        return [*points, f"wins {wins}"]

    def _advice(self) -> str:
        """How many deals it takes to see a smaller difference than this run can."""
        half, unit = (
            (100 * self.wins.half_width, "% of the wins")
            if self.points is None
            else (self.points.half_width, "points a round")
        )
        if not 0 < half < math.inf:
            return ""
        smaller = _rounder_below(half)
        error = half / NORMAL_QUANTILE
        deals = self.outcome.num_deals * ((NORMAL_QUANTILE + _POWER_QUANTILE) * error / smaller) ** 2
        return f"; to see one of {smaller:g} {unit} you need some {_two_digits(deals):,} deals"


def compare(
    agents: Sequence[Spec],
    config: MatchConfig,
    deals: int = 1000,
    *,
    until: str | None = None,
    names: tuple[str, str] | None = None,
    on_progress: OnProgress | None = None,
) -> Iterator[Comparison]:
    """Play two agents against each other, in turns.

    Args:
        agents: the agent, and the one that it is compared with, as for `play`.
        config: the table.
        deals: how many; with `until`, the most.
        until: as for a tournament: "ci<10" (points per round) or "ci<1%" (of the episodes won).
        names: what to call them; None: as they are specified.
        on_progress: is told how many episodes have been played.

    Yields:
        What is known after each turn; the last one is the result.

    Raises:
        ArenaError: fewer deals than two, or a condition that makes no sense.
        ValueError: there is no such table or agent; the message says which.
    """
    condition = check_until(until, config)
    config.refuse_luck_without_points()
    if deals < FEWEST_DEALS:
        raise ArenaError(f"deals is {deals}; an interval needs {FEWEST_DEALS} or more")
    names = names or (name_of(agents[0]), name_of(agents[1]))
    teams, outcome = config.rules.teams, None
    done = 0
    while done < deals:

        def report(episodes: float, before: int = done * teams) -> None:
            if on_progress is not None:
                on_progress(before + episodes)

        count = min(turn_after(done), deals - done)
        new = play(agents, config, count, first_deal=done, on_progress=report)
        outcome = new if outcome is None else outcome.followed_by(new)
        done += count
        if done >= FEWEST_DEALS:
            yield Comparison(names, config, outcome)
        if condition is not None and condition.is_met(outcome):
            return


def _sign(interval: Interval, even: float = 0.0) -> int:
    """1 if the whole interval lies above the even value, -1 if below, else 0."""
    _, low, high = interval
    if low is None or high is None:
        return 0
    return int(low > even + 1e-12) - int(high < even - 1e-12)


def _in_words(interval: Interval, form: str, scale: float, unit: str, more: str = "") -> str:
    """Such as "+43.1 points a round (95 %: +35.0 to +51.2)"."""
    mean, low, high = interval
    assert low is not None, "two deals make an interval"
    assert high is not None
    return f"{scale * mean:{form}} {unit} (95 %: {scale * low:{form}} to {scale * high:{form}}{more})"


def _rounder_below(value: float) -> float:
    """The greatest of ..., 0.5, 1, 2, 5, 10, 20, 50, ... that is less than half of the value."""
    power = 10.0 ** math.floor(math.log10(value / 2))
    return max(step * power for step in (1, 2, 5) if step * power <= value / 2)


def _two_digits(value: float) -> int:
    """Rounded up to two digits."""
    power = 10.0 ** max(math.floor(math.log10(value)) - 1, 0)
    return int(math.ceil(value / power) * power)
