"""Where the luck lies that AIVAT finds and does not find: by the cards that are left in the draw pile.

    python -m benchmarks.aivat_phases
    python -m benchmarks.aivat_phases --deals 20000 --luck-value runs/luck

Deals are played, from both seats, until so many cards are left. Then the cards that neither of a deal's two
games has drawn are shuffled, alike in both, and the games are played on; once with the old order, once with
the new one. Half the mean squared difference of the two results is the variance that the cards to come bring:
of the points, and of the points less luck.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import tyro

from millebornes_env import agents
from millebornes_env.agents.protocol import is_compiled
from millebornes_env.arena.batch import Batch
from millebornes_env.arena.dealing import dealt_batch, deciders_of
from millebornes_env.arena.match import MatchConfig
from millebornes_env.arena.stepping import SteppedGames
from millebornes_env.errors import ArenaError

PILES: Final = (98, 86, 74, 62, 50, 38, 26, 14, 5)
_BOTH: Final = 2  # seats, teams, games of a deal

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Args:
    """Say how much of the variance of the points is still to come, and how much of that AIVAT leaves."""

    pair: tuple[str, str] = ("champion", "arnold")
    """two compiled agents"""
    edition: str = "parker"
    """the rule sheet"""
    deals: int = 8000
    """deals, each played from both seats"""
    piles: tuple[int, ...] = PILES
    """cards left in the draw pile"""
    luck_value: str = ""
    """folder of the network; "": the project's own"""
    aivat_lookahead: bool = False
    """value cards after the next decision, too"""
    seed: int = 1
    """of the deals"""


class Left(NamedTuple):
    """The variance that is still to come, points squared for one deal, and its standard error."""

    pile: int
    plain: tuple[float, float]
    less_luck: tuple[float, float]


class Table:
    """Two agents at their table."""

    def __init__(self, args: Args) -> None:
        """Load them.

        Raises:
            ArenaError: an agent is not compiled, or there is no network.
        """
        config = MatchConfig(
            args.edition,
            _BOTH,
            episode="round",
            seed=args.seed,
            aivat=True,
            luck_value=args.luck_value,
            aivat_lookahead=args.aivat_lookahead,
        )
        self._config = config
        roles = [agents.make(name, config.table(), config.seed) for name in args.pair]
        self._roles = [role for role in roles if is_compiled(role)]
        if len(self._roles) < _BOTH:
            raise ArenaError("only the luck of compiled agents is looked at: choose others with --pair")
        self._deals = args.deals
        self._first = dealt_batch(config, 0, args.deals, deciders=deciders_of(roles, config))

    def dealt(self) -> Batch:
        """All games at their beginning; the two of a deal are as many games apart as there are deals."""
        batch = deepcopy(self._first)
        SteppedGames(batch, self._roles, self._config).begin()
        return batch

    def play_on(self, batch: Batch, pile: int = -1) -> None:
        """Play games to their ends, or until there are so few cards in the pile."""
        games = SteppedGames(batch, self._roles, self._config)
        while True:
            batch.live[batch.states["draw_pile"] <= pile] = False
            if not batch.live.any():
                return
            games.choose()
            games.carry_out()

    def results(self, batch: Batch) -> tuple[Floats, Floats]:
        """The lead of the first agent in each deal, and the same less luck; means over both games."""
        luck = batch.variates[:, 0, 0] - batch.variates[:, 1, 0]
        lead = (batch.points[:, 0] - batch.points[:, 1]).astype(np.float64)
        plain, less = (kind.reshape(_BOTH, self._deals).mean(axis=0) for kind in (lead, lead - luck))
        return plain, less

    def left(self, pile: int, seed: int) -> Left:
        """The variance that is to come when so many cards are left."""
        begun = self.dealt()
        self.play_on(begun, pile)
        begun.live[:] = begun.rounds == 0
        one, other = begun, deepcopy(begun)
        shuffle_undrawn(other.states, self._deals, np.random.default_rng((seed, pile)))
        for batch in (one, other):
            self.play_on(batch)
        pairs = zip(self.results(one), self.results(other), strict=True)
        halves = [(first - second) ** 2 / 2 for first, second in pairs]
        return Left(pile, *((float(half.mean()), float(half.std() / len(half) ** 0.5)) for half in halves))


def shuffle_undrawn(states: Any, deals: int, random: np.random.Generator) -> None:
    """Shuffle what neither game of a deal has drawn, alike in both.

    Args:
        states: STATE[2 * deals], the second games behind the first ones; changed.
        deals: how many.
        random: where chance comes from.
    """
    starts = np.maximum(states["stream_next"][:deals], states["stream_next"][deals:])[:, :_BOTH]
    stops = np.minimum(states["stream_end"][:deals], states["stream_end"][deals:])[:, :_BOTH]
    for deal in range(deals):
        both = zip(starts[deal], stops[deal], strict=True)
        places = np.concatenate([np.arange(start, stop) for start, stop in both])
        order = random.permutation(places)
        for game in (deal, deal + deals):
            deck = states["deck"][game]
            deck[places] = deck[order]


def lines_of(found: Sequence[Left]) -> list[str]:
    """A table in Markdown."""
    lines = ["| cards left | variance to come | less luck | share left |", "|--:|--:|--:|--:|"]
    for pile, plain, less in found:
        values = (f"{value:,.0f} ± {error:,.0f}" for value, error in (plain, less))
        share = f"{less[0] / plain[0]:.2f}" if plain[0] else "-"
        lines.append(f"| {pile} | {' | '.join(values)} | {share} |")
    return lines


def main() -> None:
    """The command line."""
    args = tyro.cli(Args, prog="python -m benchmarks.aivat_phases", description=__doc__)
    table = Table(args)
    found = [table.left(pile, args.seed) for pile in args.piles]
    print("\n".join(lines_of(found)))


if __name__ == "__main__":
    main()
