"""Measure the value of holding a safety instead of playing it at once.

    python -m research.safeties            # some minutes of two cores
    python -m research.safeties --quick

In full games: decisions of the champion against itself at which a seat holds a playable safety. The hidden
cards are redealt, and the round is played to its end by the champion, once after playing the safety and once
after the champion's preferred other play, with the same cards. On solved decks: the rate at which an
equilibrium holds a playable safety.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from millebornes_env.agents.compiled.agent import Int64Array
from millebornes_env.agents.policy.agent import PolicyAgent
from millebornes_env.engine.numba.compiling import for_kernels
from millebornes_env.errors import MilleBornesError
from millebornes_env.games.millebornes.actions import FIRST_DISCARD
from millebornes_env.games.millebornes.cards import (
    CARD_NAMES,
    DRIVING_ACE,
    NUM_SAFETIES,
    RIGHT_OF_WAY,
    safety_against,
)
from millebornes_env.games.millebornes.motion import is_limited, is_moving, is_stopped_by_hazard
from millebornes_env.games.millebornes.rules import compiled_rules
from millebornes_env.games.millebornes.state import PLAY, StateArray
from research.frame import OnProgress, Question, main
from research.parts import Part, Record
from research.pictures import plot_groups, styled
from research.positions import (
    NOTHING,
    BoolArray,
    Decisions,
    Float64Array,
    Player,
    RolloutOptions,
    find_decisions,
    player,
    roll_out,
)
from research.solved import holding_rate, solved
from research.tables import Table
from research.tallies import Labels, Tally, banded, by_number, interval, merged, over, tallied

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SAFETIES: Final = range(DRIVING_ACE, RIGHT_OF_WAY + 1)
DECKS: Final = ("mini7", "mini10")
CARDS_LEFT: Final = (0, 1, 20, 40, 60)
NEEDED, IDLE = "it would help now", "it would not"
_IN_WORDS: Final = {IDLE: "would not help", NEEDED: "would help"}
MOVING, STANDING = "opponent moves", "opponent stands"


@dataclass(frozen=True)
class Args(RolloutOptions):
    """Options of the question; the agent is a policy."""

    edition: str = "parker"
    """rule sheet of the full game"""
    positions: int = 1_500
    """decisions per seed"""


def parts(options: Args) -> list[Part]:
    """Return a part for each seed of the full game and for each deck."""
    config = {"edition": options.edition, **options.rollouts(few=100)}
    full = [Part(f"full-{seed}", seed, config) for seed in options.all_seeds]
    decks = DECKS[:1] if options.quick else DECKS
    return [*full, *(Part(f"deck-{deck}", options.seed, {"deck": deck}, 0.2) for deck in decks)]


def measure(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Measure the gain of holding in full games, or the rate of holding in an equilibrium."""
    if "deck" in part.config:
        return {"deck": part.config["deck"], **holding_rate(solved(part.config["deck"]))}
    who = player(part.config["agent"], part.config["edition"], part.seed)
    count = part.config["positions"]
    result = find_decisions(who, may_lay_a_safety, count, count, part.seed)
    return gains_of_holding(who, result, part.config["redeals"], part.seed, on_progress)


def may_lay_a_safety(states: StateArray) -> BoolArray:
    """Return True for decisions of a seat that holds a safety; it may always play it."""
    hands = states["hand"][np.arange(len(states)), states["seat"]]
    holds: BoolArray = (states["phase"] == PLAY) & (hands[:, DRIVING_ACE : RIGHT_OF_WAY + 1] > 0).any(axis=1)
    return holds


def gains_of_holding(
    who: Player, found: Decisions, redeals: int, seed: int, on_progress: OnProgress
) -> dict[str, Any]:
    """Estimate the gain of the best other play over playing the safety, in points of the round.

    Returns:
        Tallies of the gains by safety, use of it now, cards left and whether the opponent can move; and for
        the same groups, tallies of the agent's own choice to hold it.
    """
    hands = found.of(found.own, "hand")
    actions = np.full((len(hands), NUM_SAFETIES + 1), NOTHING, np.int64)
    actions[:, NUM_SAFETIES] = best_other_plays(who, found.states)
    for index, safety in enumerate(SAFETIES):
        actions[hands[:, safety] > 0, index] = safety
    points = roll_out(who, found.states, actions, redeals, seed, on_progress=on_progress)
    leads = (points[..., 0] - points[..., 1]).mean(axis=2)
    helps = would_help(who, found.states)
    has_other = actions[:, NUM_SAFETIES:] != NOTHING  # not so with safeties only in hand
    rows, indices = np.nonzero((actions[:, :NUM_SAFETIES] != NOTHING) & has_other)
    labels = (
        [CARD_NAMES[SAFETIES[index]] for index in indices.tolist()],
        [NEEDED if needed else IDLE for needed in helps[rows, indices].tolist()],
        banded(found.states["draw_pile"][rows], CARDS_LEFT),
        [MOVING if moves else STANDING for moves in opponent_moves(who, found.states)[rows].tolist()],
    )
    gains: Float64Array = leads[rows, NUM_SAFETIES] - leads[rows, indices]
    held = (found.chosen[rows] != actions[rows, indices]).astype(np.float64)
    return {
        "gains": tallied(labels, gains),
        "held": tallied(labels, held),
        "decisions_in_a_round": found.per_round,
    }


def best_other_plays(who: Player, states: StateArray) -> Int64Array:
    """Return the policy's best play that is not a safety; NOTHING if there is none."""
    agent: object = who.agent
    if not isinstance(agent, PolicyAgent):
        raise MilleBornesError(
            f"--agent {who.agent.name!r} cannot say which of some plays is best; take a policy, such as "
            "'champion'"
        )
    rows, masks = who.shown(states)
    for safety in SAFETIES:
        masks[:, [safety, FIRST_DISCARD + safety]] = 0
    none = ~masks.any(axis=1)
    masks[none] = 1
    actions = agent.probabilities(rows, masks).argmax(axis=1)
    return np.where(none, NOTHING, actions).astype(np.int64)


def would_help(who: Player, states: StateArray) -> BoolArray:
    """Return True for each safety that would remove its holder's hazard or limit: bool[N, NUM_SAFETIES]."""
    rules, helps = compiled_rules(who.table.rules), np.zeros((len(states), NUM_SAFETIES), np.bool_)
    for number, state in enumerate(for_kernels(states)):
        own = int(state["seat"])
        if is_stopped_by_hazard(state, own):
            helps[number, safety_against(int(state["battle"][own])) - DRIVING_ACE] = True
        elif not is_moving(state, rules, own):
            helps[number, -1] = True
        helps[number, -1] |= is_limited(state, own)
    return helps


def opponent_moves(who: Player, states: StateArray) -> BoolArray:
    """Return True if the opponent of the acting seat may play distance cards: bool[N]."""
    rules = compiled_rules(who.table.rules)
    return np.array(
        [is_moving(state, rules, 1 - int(state["seat"])) for state in for_kernels(states)], np.bool_
    )


# What was found ---------------------------------------------------------------------------------------------


def tables(records: Sequence[Record]) -> list[Table]:
    """Build the tables by safety, by tempo, and on solved decks."""
    full = [record.result for record in records if "deck" not in record.result]
    decks = [record.result for record in records if "deck" in record.result]
    result = []
    if full:
        gains, held = merged(one["gains"] for one in full), merged(one["held"] for one in full)
        result += [
            table_of(gains, held, (0, 1), ("safety", "laid now"), "Value of holding, points of the round"),
            table_of(gains, held, (1, 2), ("laid now", "cards left to draw"), "... by the cards left"),
            table_of(gains, held, (1, 3), ("laid now", "tempo"), "... by tempo"),
        ]
    if decks:
        result.append(table_of_decks(decks))
    return result


def table_of(
    gains: Mapping[Labels, Tally],
    held: Mapping[Labels, Tally],
    indices: tuple[int, int],
    headings: tuple[str, ...],
    title: str,
) -> Table:
    """Build a table of the value of holding and the agent's rate of holding, by group."""
    gains, held = over(gains, *indices), over(held, *indices)
    rows = [
        (*labels, f"{gains[labels][0]:,.0f}", interval(gains[labels]).text("+.0f"),
         f"{100 * interval(held[labels]).mean:.0f}")
        for labels, _ in sorted(gains.items(), key=by_number)
    ]  # fmt: skip
    headings += ("decisions", "holding - laying", "held by the agent, %")
    return Table(headings, rows, title, text_columns=2)


def table_of_decks(decks: Sequence[Mapping[str, Any]]) -> Table:
    """Build the table of the rate at which an equilibrium holds a safety."""
    rows = [
        (f"`{deck['deck']}`", f"{deck['sets']:,}", f"{deck['turns']:.3f}", f"{100 * deck['held']:.1f}",
         f"{deck['holding']:+.1f}")
        for deck in decks
    ]  # fmt: skip
    headings = ("deck", "information sets", "turns in a round", "held, %", "best other play - laying, points")
    return Table(headings, rows, "Right of Way in an equilibrium, where it could be laid")


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Plot the value of holding by safety and by the cards left."""
    gains = merged(record.result["gains"] for record in records if "gains" in record.result)
    if not gains:
        return
    both = figure.subplots(1, 2, sharey=True)
    for axes, index, title in zip(both, (0, 2), ("By safety", "By the cards left to draw"), strict=True):
        groups = over(gains, index, 1)
        names = [name for (name,), _ in sorted(over(groups, 0).items(), key=by_number)]
        styled(axes, title)
        bars = {
            label: [interval(groups[name, needed]) if (name, needed) in groups else None for name in names]
            for needed, label in _IN_WORDS.items()
        }
        plot_groups(axes, names, bars, width=0.95, rotation=25, ha="right")
        axes.axhline(0, color="#555555", linewidth=0.8)
    both[0].set_ylabel("holding - laying, points")
    both[1].legend(title="laid now, the safety", frameon=False, loc="lower right")


QUESTION = Question(
    "safeties", "What is it worth to hold a safety?", Args, parts, measure, tables, plot, size=(10.0, 4.5)
)

if __name__ == "__main__":
    sys.exit(main(QUESTION))
