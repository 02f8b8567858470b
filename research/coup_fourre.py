"""Is it ever right to decline a coup fourré?

    python -m research.coup_fourre            # some minutes of two cores
    python -m research.coup_fourre --quick

On solved decks, exactly: the gain of claiming over declining at each information set with a possible coup
fourré, if the opponent plays an equilibrium or any legal play and the claiming seat continues optimally; also
with smaller bonuses than the 300 points of the rules.
In full games by rollouts: after claiming and after declining, on the same redeals. Cases in which declining
seems better are repeated with many more redeals, so that chance alone produces no counterexample.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from millebornes_env.errors import MilleBornesError
from millebornes_env.games.millebornes.actions import CLAIM_COUP_FOURRE, PASS
from millebornes_env.games.millebornes.cards import CARD_NAMES, safety_against
from millebornes_env.games.millebornes.state import CLAIM
from millebornes_env.solving.deck import solvable
from millebornes_env.solving.values import Uniform
from research.frame import OnProgress, Question, main
from research.parts import Part, Record
from research.pictures import COLOURS, styled
from research.positions import Float64Array, RolloutOptions, find_decisions, player, roll_out
from research.solved import Solved, continued, solved
from research.tables import Table
from research.tallies import banded, by_number, interval, merged, over, tallied

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DECKS: Final = (
    "mini7",
    "mini7+hand_limit=2",
    "mini7+copies_of_right_of_way=0+copies_of_driving_ace=1+copies_of_stop=1+copies_of_accident=1+copies_of_repairs=1",
    "mini10+extended_target=0",
)
"""Decks without an extension, so that claims are the only decisions besides plays."""
BONUSES: Final = (0, 100, 200)
"""Points for a coup fourré instead of 300, on the first deck."""
OPPONENTS: Final = ("equilibrium", "uniform")
CARDS_LEFT: Final = (0, 1, 20, 40, 60)
DOUBTFUL: Final = 2.0
"""Standard errors above 0 below which a gain is measured again."""
SURE: Final = 3.0
"""Standard errors below 0 from which a gain counts for declining."""
AGAIN: Final = 8
"""Factor of redeals for the second measurement."""
_ANOTHER_SEED: Final = 1 << 32
_REACHED: Final = 1e-8
"""Information sets that the opponent reaches more rarely are counted separately."""
_EVER: Final = 1e-12
_TINY: Final = 1e-6


@dataclass(frozen=True)
class Args(RolloutOptions):
    """Options of the question."""

    edition: str = "parker"
    """rule sheet of the full game"""
    positions: int = 300
    """coups fourrés per seed"""
    redeals: int = 256
    """redeals of each position"""


def parts(options: Args) -> list[Part]:
    """Return a part for each deck and bonus, and for each seed of the full game."""
    config = {"edition": options.edition, **options.rollouts(few=40)}
    bonuses = BONUSES[:1] if options.quick else BONUSES
    decks: tuple[str, ...] = DECKS[:2] if options.quick else DECKS
    decks += tuple(f"{DECKS[0]}+points_per_coup_fourre={bonus}" for bonus in bonuses)
    exact = [Part(f"deck-{number}", options.seed, {"deck": deck}) for number, deck in enumerate(decks)]
    return [*exact, *(Part(f"full-{seed}", seed, config, 4.0) for seed in options.all_seeds)]


def measure(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Measure the gain of claiming over declining."""
    if "deck" in part.config:
        return of_deck(part.config["deck"])
    return of_full_game(part.config, part.seed, on_progress)


# Exactly ----------------------------------------------------------------------------------------------------


def of_deck(deck: str) -> dict[str, Any]:
    """Measure the gains at all information sets of a deck with a possible coup fourré.

    Raises:
        MilleBornesError: the deck has an extension, whose decisions cannot be distinguished from claims here.
    """
    if solvable(deck).rules.extended_target:
        raise MilleBornesError(f"{deck!r} has an extension; override it with extended_target=0")
    result = solved(deck)
    weights = {"equilibrium": result.weights, "uniform": Uniform().weights(result.tree)}
    bonus = result.game.rules.points_per_coup_fourre
    rows = {name: claims_against(result, weights[name]) for name in OPPONENTS}
    return {"deck": deck, "bonus": bonus, "nash_conv": result.nash_conv, **rows}


def claims_against(found: Solved, weights: tuple[Float64Array, Float64Array]) -> dict[str, Any]:
    """Compute the gain of claiming over declining, against an opponent that plays these weights.

    Returns:
        `sets`: number of information sets with the choice; `reached`: those that the opponent reaches; of
        these the `least`, `mean` (weighted by the reach of opponent and chance) and `most` gain, and at how
        many declining is `better`; and `rare`, the same for those that are reached too rarely to count.
    """
    kinds = len(found.game.deck.cards)
    both = 3 << (2 * kinds)
    gains, chances, sets, rare = [], [], 0, 0
    for number, seat in enumerate(found.tree.seats):
        claims = seat.operations.firsts[(seat.choices & both) == both]
        won, chance = continued(found.tree, number, weights, best=True)
        reached = claims[chance[claims] > _REACHED]
        gains.append((won[reached] - won[reached + 1]) / chance[reached])
        chances.append(chance[reached])
        sets += len(claims)
        rarer = claims[(chance[claims] > _EVER) & (chance[claims] <= _REACHED)]
        rare += int((won[rarer] - won[rarer + 1] < -_TINY * chance[rarer]).sum())
    gain, chance = np.concatenate(gains), np.concatenate(chances)
    if not len(gain):
        return {"sets": sets, "reached": 0, "rare": rare}
    return {
        "sets": sets,
        "reached": len(gain),
        "least": float(gain.min()),
        "mean": float(np.average(gain, weights=chance)),
        "most": float(gain.max()),
        "better": int((gain < -_TINY).sum()),
        "rare": rare,
    }


# In full games ----------------------------------------------------------------------------------------------


def of_full_game(config: Mapping[str, Any], seed: int, on_progress: OnProgress) -> dict[str, Any]:
    """Measure the gains by rollouts, in rounds of an agent against itself."""
    who = player(config["agent"], config["edition"], seed)
    count, redeals = config["positions"], config["redeals"]
    result = find_decisions(who, lambda states: states["phase"] == CLAIM, count, 3 * count, seed)
    actions = np.tile(np.array([CLAIM_COUP_FOURRE, PASS]), (len(result.states), 1))
    points = roll_out(who, result.states, actions, redeals, seed, on_progress=on_progress)
    means, errors = gains_of(points)
    doubtful = means < DOUBTFUL * errors
    again = roll_out(who, result.states[doubtful], actions[doubtful], AGAIN * redeals, seed + _ANOTHER_SEED)
    means_again, errors_again = gains_of(again)
    safeties = [CARD_NAMES[safety_against(int(hazard))] for hazard in result.states["pending_hazard"]]
    labels = (safeties, banded(result.states["draw_pile"], CARDS_LEFT))
    return {
        "gains": tallied(labels, means),
        "means": np.round(means, 1).tolist(),
        "declined_by_agent": float((result.chosen == PASS).mean()),
        "least": float(means.min()),
        "looked_at_again": int(doubtful.sum()),
        "better": int((means_again < -SURE * errors_again).sum()),
        "worst_again": float((means_again / errors_again).min()) if doubtful.any() else None,
        "claims_in_a_round": result.per_round,
    }


def gains_of(points: np.ndarray[Any, np.dtype[np.int32]]) -> tuple[Float64Array, Float64Array]:
    """Return the mean gain of the first action over the second in each position, and its standard error."""
    leads = (points[..., 0] - points[..., 1]).astype(np.float64)
    gains = leads[:, 0] - leads[:, 1]
    errors = gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
    return gains.mean(axis=1), np.maximum(errors, _TINY)


# What was found ---------------------------------------------------------------------------------------------


def tables(records: Sequence[Record]) -> list[Table]:
    """Build the tables of the decks and of the full game."""
    decks = [record.result for record in records if "bonus" in record.result]
    full = [record.result for record in records if "gains" in record.result]
    result = [table_of_decks(decks)] if decks else []
    return [*result, table_of_full_game(full), table_of_checks(full)] if full else result


def table_of_decks(decks: Sequence[Mapping[str, Any]]) -> Table:
    """Build the table of the exact gain of claiming."""
    rows = []
    for deck in decks:
        for name in OPPONENTS:
            row = deck[name]
            cells = [f"{row[key]:+.1f}" if key in row else "" for key in ("least", "mean", "most")]
            rows.append(
                (f"`{deck['deck']}`", name, str(deck["bonus"]), f"{row['sets']:,}", f"{row['reached']:,}",
                 *cells, f"{row.get('better', 0):,}", f"{row['rare']:,}")
            )  # fmt: skip
    headings = (
        *("deck", "opponent", "bonus", "sets", "reached", "least", "mean", "most"),
        *("declining better", "... where rare"),
    )
    return Table(headings, rows, "Claiming - declining, points, exact", text_columns=2)


def table_of_full_game(full: Sequence[Mapping[str, Any]]) -> Table:
    """Build the table of the gain of claiming in full games, by safety and by cards left."""
    gains = merged(one["gains"] for one in full)
    groups = [item for index in (0, 1) for item in sorted(over(gains, index).items(), key=by_number)]
    groups.append((("all",), over(gains)[()]))
    rows = [(labels[0], f"{tally[0]:,.0f}", interval(tally).text("+.0f")) for labels, tally in groups]
    return Table(
        ("safety, or cards left", "positions", "claiming - declining"), rows, "Full game, by rollouts"
    )


def table_of_checks(full: Sequence[Mapping[str, Any]]) -> Table:
    """Build the table of the cases in which declining was better."""
    positions = sum(len(one["means"]) for one in full)
    declined = sum(one["declined_by_agent"] * len(one["means"]) for one in full) / positions
    again, better = (sum(one[name] for one in full) for name in ("looked_at_again", "better"))
    rows = (
        ("positions", f"{positions:,}"),
        ("declined by the agent, %", f"{100 * declined:.1f}"),
        ("least mean gain, points", f"{min(one['least'] for one in full):+.0f}"),
        (f"gain below {DOUBTFUL:.0f} standard errors, looked at again", f"{again:,}"),
        (f"of these, declining better by {SURE:.0f} standard errors", f"{better:,}"),
    )  # fmt: skip
    return Table(("full game", ""), rows)


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Plot the gains of claiming in full games, and the least gain on a deck by the bonus."""
    left, right = figure.subplots(1, 2)
    means = [mean for record in records for mean in record.result.get("means", ())]
    styled(left, "Full game", xlabel="claiming - declining, points", ylabel="positions")
    left.hist(means, bins=40, color=COLOURS[0])
    left.axvline(0, color="#555555", linewidth=0.8)
    title, below = f"{DECKS[0]}, by the bonus", "points for a coup fourré"
    styled(right, title, xlabel=below, ylabel="least gain of claiming, points")
    for number, name in enumerate(OPPONENTS):
        shown = sorted(
            (record.result["bonus"], record.result[name]["least"])
            for record in records
            if record.result.get("deck", "").split("+points")[0] == DECKS[0]
            and "least" in record.result[name]
        )
        style = {"marker": "os"[number], "linestyle": ("-", "--")[number], "color": COLOURS[number]}
        right.plot(*zip(*shown, strict=True), label=f"against {name}", **style)
    right.axhline(0, color="#555555", linewidth=0.8)
    right.legend(frameon=False)


QUESTION = Question(
    "coup_fourre",
    "Is it ever right to decline a coup fourré?",
    Args, parts, measure, tables, plot, size=(10.0, 4.0),
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(QUESTION))
