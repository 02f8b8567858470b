"""Do partners tell each other what they hold by what they discard and play?

    python -m research.signalling
    python -m research.signalling --agents runs/team-1 runs/team-2 runs/team-3

Four players in two teams, single rounds. Three things are measured:

- **Bits**: information of a discarded or played card about the rest of the hand, given the public state
  (`mutual_information`: corrected for bias, with a permutation null). The public state is stratified, so some
  information comes from differences within a stratum. This part is estimated with a hand redealt from all
  unseen cards, about which the play is not informative, and *told* is the difference.
- **Cross-play**: the loss of two different agents as partners compared with equal partners, against the same
  opponents.
- **Blind**: the loss of a team that sees random cards in place of the partner's discards, and in place of as
  many other cards of the pile.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from millebornes_env.agents import make
from millebornes_env.agents.specs import is_path
from millebornes_env.arena.intervals import NORMAL_QUANTILE
from millebornes_env.arena.match import MatchConfig, agent_seed
from millebornes_env.errors import MilleBornesError
from research.frame import OnProgress, Options, Question, main
from research.intervals import Interval, mean_interval, of_error
from research.measurements.cross_play import lead_of_team
from research.mutual_information import Float64Array, Int64Array
from research.partners import HIDDEN, OTHERS, PARTNER, SEEN, Partners
from research.parts import Part, Record
from research.pictures import COLOURS, plot_groups, styled
from research.tables import Table
from research.tallies import grouped
from research.told_cards import BLOCKS, FEATURES, KINDS, CardRecorder, bits_of_rows
from research.watching import play_watched

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUPS: Final = 100
"""Number of groups of deals whose mean points are recorded; intervals of points are over groups."""

_DEALS_AT_ONCE: Final = 1_000
_ROUNDS_AT_ONCE: Final = 1_000


@dataclass(frozen=True)
class Args(Options):
    """The options of the command line."""

    seeds: int = 1
    """number of seeds"""
    agents: tuple[str, ...] = ("strategist", "arnold", "hoarder")
    """agents to measure, or run folders of networks for four players in two teams"""
    opponent: str = "arnold"
    """agent in both seats of the other team in cross-play"""
    edition: str = "parker"
    """rule sheet"""
    deals: int = 10_000
    """deals of each pair of partners, a multiple of 100; two rounds each"""
    rounds: int = 10_000
    """rounds of each agent for the bits: one discard and one play of each seat count"""
    shuffles: int = 49
    """shuffles of the permutation null"""


def parts(options: Args) -> list[Part]:
    """Return parts for bits (each agent and random play), all pairs of partners and all hidden discards.

    Raises:
        MilleBornesError: an agent, the edition or a number is invalid.
    """
    if not MatchConfig(options.edition, 4, 2).has_points:
        raise MilleBornesError(
            f"--edition {options.edition} counts no points, and partners are compared by them"
        )
    if len(set(options.agents)) != len(options.agents):
        raise MilleBornesError("--agents names an agent twice: name each once")
    deals, rounds = (GROUPS, 400) if options.quick else (options.deals, options.rounds)
    if deals < GROUPS or deals % GROUPS:
        raise MilleBornesError(f"--deals is {deals}; it must be a multiple of {GROUPS}, for the intervals")
    if rounds < BLOCKS:
        raise MilleBornesError(f"--rounds is {rounds}; the intervals need {BLOCKS} or more")
    bits = {"edition": options.edition, "rounds": rounds, "kind": "bits", "shuffles": options.shuffles}
    pair = {"edition": options.edition, "deals": deals, "kind": "pair", "opponent": options.opponent}
    result = []
    for seed in options.all_seeds:
        for number, agent in enumerate((*options.agents, "random")):
            result.append(Part(f"bits-{number}-{seed}", seed, {**bits, "agent": agent}, 3.0))
        for one, first in enumerate(options.agents):
            for other, second in enumerate(options.agents):
                config = {**pair, "agents": [first, second], "hides": SEEN}
                result.append(Part(f"pair-{one}-{other}-{seed}", seed, config))
            for number, hides in enumerate(HIDDEN[1:], 1):
                config = {**pair, "agents": [first, first], "hides": hides}
                result.append(Part(f"blind-{one}-{number}-{seed}", seed, config))
    return result


def measure(part: Part, on_progress: OnProgress) -> dict[str, Any]:
    """Measure the bits of an agent, or the points of a pair of partners."""
    config = MatchConfig(part.config["edition"], 4, 2, episode="round", seed=part.seed, threads=1)
    if part.config["kind"] == "bits":
        return bits_of_agent(part, config, on_progress)
    return {"points": points_of_pair(part, config, on_progress).round(3).tolist()}


# Bits -------------------------------------------------------------------------------------------------------


def bits_of_agent(part: Part, config: MatchConfig, on_progress: OnProgress) -> dict[str, Any]:
    """Measure the bits about an agent's hand in the cards that it uses, with the agent in all seats."""
    rounds, agent = int(part.config["rounds"]), part.config["agent"]
    # With the cards of one deal in all rotations an agent would play the same round against itself twice.
    plain = replace(config, plain=True)
    rng = np.random.default_rng([part.seed, 8])
    noted: list[dict[str, Int64Array]] = []
    for first in range(0, rounds, _ROUNDS_AT_ONCE):
        deals = -(-min(_ROUNDS_AT_ONCE, rounds - first) // config.rules.teams)
        watcher = CardRecorder()
        play_watched([agent, agent], plain, deals, watcher, first_deal=first // config.rules.teams)
        rows = watcher.sample(rng)
        noted.append({**rows, "game": rows["game"] + first})
        on_progress(0.5 * min(1.0, first / rounds))
    rows = {name: np.concatenate([one[name] for one in noted]) for name in noted[0]}
    result = {}
    for kind in KINDS:
        chosen = rows["discarded"] == (kind == "discard")
        if chosen.sum() > BLOCKS:
            of_kind = {name: values[chosen] for name, values in rows.items()}
            result[kind] = bits_of_rows(of_kind, int(part.config["shuffles"]), rng)
        on_progress(0.75 + 0.25 * (kind == KINDS[-1]))
    return result


# Points -----------------------------------------------------------------------------------------------------


def points_of_pair(part: Part, config: MatchConfig, on_progress: OnProgress) -> Float64Array:
    """Return points per round of two partners, means of groups of deals, float64[GROUPS]."""
    table, deals = config.table(), int(part.config["deals"])
    agents = [
        make(spec, table, agent_seed(config.seed, seat)) for seat, spec in enumerate(part.config["agents"])
    ]
    pair = Partners(table, (agents[0], agents[1]), part.config["hides"], config.seed)
    result = []
    for first in range(0, deals, _DEALS_AT_ONCE):
        count = min(_DEALS_AT_ONCE, deals - first)
        result.append(lead_of_team(pair, part.config["opponent"], config, count, first))
        on_progress((first + count) / deals)
    groups: Float64Array = np.concatenate(result).reshape(GROUPS, -1).mean(axis=1)
    return groups


# What was found ---------------------------------------------------------------------------------------------


Told = dict[tuple[str, str], dict[str, Any]]
"""Results of `bits_of_rows` by agent and kind of play, over all seeds."""


def told_by(records: Sequence[Record]) -> Told:
    """Return the bits in the records: means over the seeds."""
    bits = [record for record in records if record.part.config["kind"] == "bits"]
    result: Told = {}
    for agent, of_agent in grouped(bits, lambda record: str(record.part.config["agent"])).items():
        for kind in of_agent[0].result:
            ones = [record.result[kind] for record in of_agent if kind in record.result]
            result[agent, kind] = {"rows": sum(one["rows"] for one in ones)}
            for name in FEATURES:
                told, redealt = (np.mean([one[name][what] for one in ones]) for what in ("told", "redealt"))
                error = math.hypot(*(one[name]["error"] for one in ones)) / len(ones)
                result[agent, kind][name] = {"told": told, "redealt": redealt, "error": error}
    return result


def bits_table(told: Told) -> Table:
    """Build the table of bits by agent, kind of play and feature of the hand."""
    rows = []
    for (agent, kind), result in told.items():
        features = [result[name] for name in FEATURES]
        cells = [
            f"{one['told']:+.4f} ± {NORMAL_QUANTILE * one['error']:.4f} ({one['redealt']:.4f})"
            for one in features
        ]
        rows.append((f"`{agent}`", kind, f"{result['rows']:,}", *cells))
    headings = ("agent", "a card that is", "cards", *FEATURES)
    title = "Bits told about what is left in the hand, ± 95 %; in brackets what a redealt hand gives"
    return Table(headings, rows, title, text_columns=2)


Points = dict[tuple[str, str, str], Float64Array]
"""Points per round of each group of deals, by both partners and the hidden discards."""


def points_of(records: Sequence[Record]) -> Points:
    """Return the points of pairs, with all seeds concatenated."""
    pairs = [record for record in records if record.part.config["kind"] == "pair"]
    by_pair = grouped(pairs, lambda record: (*record.part.config["agents"], record.part.config["hides"]))
    return {key: np.concatenate([one.result["points"] for one in ones]) for key, ones in by_pair.items()}


def losses(points: Points) -> dict[str, Interval]:
    """Compute losses in points per round: of mixed partners, and of partners who see other discards.

    Mixed partners are compared with the mean of both kinds by themselves; their order does not matter.
    """
    agents = list(dict.fromkeys(one for one, _, _ in points))
    lost: dict[tuple[str, str], Float64Array] = {}
    for one, other in itertools.combinations(agents, 2):
        keys = [(one, one, SEEN), (other, other, SEEN), (one, other, SEEN), (other, one, SEEN)]
        if all(key in points for key in keys):
            alone_1, alone_2, mixed_1, mixed_2 = (points[key] for key in keys)
            lost[one, other] = (alone_1 + alone_2 - mixed_1 - mixed_2) / 2
    result = {f"{one} with {other}": mean_interval(more) for (one, other), more in lost.items()}
    return result | means_of("cross-play", lost) | losses_of_blind(points, agents)


def losses_of_blind(points: Points, agents: Sequence[str]) -> dict[str, Interval]:
    """Compute the loss in points per round of agents that see other cards in place of discards."""
    result: dict[str, Interval] = {}
    more: dict[tuple[str, ...], Float64Array] = {}
    for agent in agents:
        for hides in HIDDEN[1:]:
            if {(agent, agent, SEEN), (agent, agent, hides)} <= set(points):
                lost = points[agent, agent, SEEN] - points[agent, agent, hides]
                result[f"{agent}, not seeing {hides}"] = mean_interval(lost)
        others, partner = (points.get((agent, agent, hides)) for hides in (OTHERS, PARTNER))
        if others is not None and partner is not None:
            more[agent,] = others - partner
            result[f"{agent}, the partner's more than others"] = mean_interval(more[agent,])
    return result | means_of("the partner's more than others", more)


def means_of(what: str, lost: Mapping[Any, Float64Array]) -> dict[str, Interval]:
    """Return the means over all agents, and over the run folders among them."""
    learned = [points for agents, points in lost.items() if all(map(is_path, agents))]
    groups = {"all": list(lost.values()), "run folders": learned if len(learned) < len(lost) else []}
    return {
        f"{what}, {name}": mean_interval(np.mean(group, axis=0))
        for name, group in groups.items()
        if len(group) > 1
    }


def tables(records: Sequence[Record]) -> list[Table]:
    """Build the tables of bits, of points of all pairs, and of losses."""
    told, points = told_by(records), points_of(records)
    agents = list(dict.fromkeys(one for one, _, _ in points))
    result = [bits_table(told)] if told else []
    if points:
        means = {key: mean_interval(of_key).text("+.1f") for key, of_key in points.items()}
        opponent = next(filter(None, (record.part.config.get("opponent") for record in records)))
        rows = [(f"`{one}`", *(means.get((one, other, SEEN), "") for other in agents)) for one in agents]
        title = f"Points a round against two `{opponent}`s: first seat in rows, second in columns; ± 95 %"
        result.append(Table(("first seat", *(f"`{agent}`" for agent in agents)), rows, title))
        lost = tuple((name, interval.text("+.1f")) for name, interval in losses(points).items())
        result.append(Table(("partners", "points a round lost, ± 95 %"), lost))
    return result


def plot(figure: Figure, records: Sequence[Record]) -> None:
    """Plot bits of discards on the left, and lost points on the right."""
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    told = told_by(records)
    bars = {
        agent: [of_error(of_agent[name]["told"], of_agent[name]["error"]) for name in FEATURES]
        for (agent, kind), of_agent in told.items()
        if kind == "discard"
    }
    plot_groups(left, list(FEATURES), bars, fontsize=8)
    left.axhline(0, color="#777777", linewidth=0.8)
    styled(left, "What a discard tells about the hand", ylabel="bits")
    left.legend(frameon=False, fontsize=8)
    result = losses(points_of(records))
    indices = list(range(len(result)))[::-1]
    means = [interval.mean for interval in result.values()]
    widths = [interval.half_width for interval in result.values()]
    right.errorbar(means, indices, xerr=widths, fmt="o", color=COLOURS[0], capsize=2)
    right.axvline(0, color="#777777", linewidth=0.8)
    right.set_yticks(indices, list(result), fontsize=8)
    styled(right, "What partners lose", xlabel="points a round")


QUESTION: Final = Question(
    "signalling",
    "Do partners signal by their discards?",
    Args, parts, measure, tables, plot, size=(12.0, 5.0),
)  # fmt: skip

if __name__ == "__main__":
    sys.exit(main(QUESTION))
