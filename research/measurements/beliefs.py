"""Measure how well the network of beliefs predicts the hidden hands.

    python -m research.measurements.beliefs
    python -m research.measurements.beliefs --opponents champion arnold --rounds 100
    python -m research.measurements.beliefs --belief runs/belief     # written by train.tools.belief
    python -m research.measurements.beliefs --docs

An observer plays rounds against each opponent, and before every play of its own it asks the belief for the
probability of the true hand, and draws hands from it. Two figures are reported:

Bits: log2 of the probability of the true hand relative to uniform redeals, averaged over all decisions.
Uniform redeals have 0; a misled belief is below 0.

Calibration of "it holds this safety": of all cases with a predicted probability of 20 to 30 %, for example,
the share in which the safety was held.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
import tyro
from rich.progress import track

from benchmarks.results import environment_info
from millebornes_env import agents, vector_env
from millebornes_env._util.command_line import run_command, warn
from millebornes_env._util.files import new_figure, save_picture, write_json_atomically
from millebornes_env.agents.protocol import Table as GameTable
from millebornes_env.agents.protocol import ask
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.agents.search.beliefs import NETWORK, KnownCards, NetworkBelief, uniform_chances
from millebornes_env.games.millebornes.cards import DRIVING_ACE, NUM_CARD_TYPES
from millebornes_env.games.millebornes.state import PLAY
from research.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOCS: Final = "beliefs_network"
"""Name of the files that `--docs` writes."""

CARDS_LEFT: Final = (0, 1, 21, 41, 61)
"""Lower bounds of the groups of decisions, by cards in the draw pile."""
BINS: Final = 10
"""Number of bins of the reliability table."""
GAMES: Final = 20
"""Number of parallel rounds."""
NAMES_OF_GROUPS: Final = ("none", "1 to 20", "21 to 40", "41 to 60", "more")

Float64Array = npt.NDArray[np.float64]


@dataclass
class Args:
    """Score a belief."""

    observer: str = "champion"
    """Spec of the agent that plays the observer."""
    opponents: tuple[str, ...] = (
        *("champion", "strategist", "arnold", "holder", "hoarder", "attacker", "racer", "greedy", "random"),
    )
    """Specs of the agents whose hands are predicted."""
    belief: str = "network"
    """The belief: network, or the folder of a network written by train.tools.belief."""
    rounds: int = 200
    """Rounds against each opponent."""
    hands: int = 512
    """Hands drawn for each decision."""
    seed: int = 1
    """Seed of the deals."""
    docs: bool = False
    """Write the figures to docs/benchmarks and the picture to docs/images."""


@dataclass
class Scores:
    """Results, one number per decision or per safety asked about."""

    bits: list[float] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)  # index of the decision's round
    cards_left: list[int] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)  # of CPU time
    said: list[float] = field(default_factory=list)  # probability that the opponent holds a safety
    uniform: list[float] = field(default_factory=list)  # the same by uniform redeals
    holds: list[bool] = field(default_factory=list)
    cards_left_then: list[int] = field(default_factory=list)  # when each safety was asked about


def watched(args: Args, opponent: str) -> Scores:
    """Play the rounds, and score the belief at every play of the observer."""
    scores = Scores()
    env = vector_env(GAMES, episode="round", autoreset_mode="disabled")
    table = GameTable.of(env)
    watcher = agents.make(f"{args.observer}+search:belief={args.belief}", table, args.seed)
    assert isinstance(watcher, SearchAgent)
    belief = watcher.belief
    assert isinstance(belief, NetworkBelief)
    players = [agents.make(name, table, args.seed) for name in (args.observer, opponent)]
    games, own = np.arange(GAMES), np.arange(GAMES) % 2
    for first in track(range(0, args.rounds, GAMES), f"against {opponent}", transient=True):
        observations, _ = env.reset(seed=args.seed + first)
        watcher.forget()
        while observations["action_mask"].any():
            states, seats = env.get_states(), env.agent_selection.astype(np.int32)
            actions = np.full(GAMES, -1, np.int64)
            for role, player in enumerate(players):
                rows = np.flatnonzero(observations["action_mask"].any(axis=1) & ((seats != own) == role))
                if len(rows):
                    shown = observations["observation"][rows], observations["action_mask"][rows]
                    actions[rows] = ask(player, *shown, 2 * rows + seats[rows])
                    if role == 0:
                        deciding = states[rows], seats[rows], games[rows]
                        for known, state in zip(watcher.known(*deciding), states[rows], strict=True):
                            if state["phase"] == PLAY:
                                score(belief, known, state, first + known.slot, args.hands, scores)
                        watcher.note(*deciding, actions[rows])
            observations = env.step(actions).observations
    return scores


def score(
    belief: NetworkBelief, known: KnownCards, state: Any, round_number: int, count: int, scores: Scores
) -> None:
    """Score the belief at a decision in a `STATE`, by the chance of the true hand and by drawn hands."""
    truth, cards_left = state["hand"][1 - int(state["seat"])], int(state["draw_pile"])
    start = time.thread_time()
    hands = belief.sample(known, count, (round_number, 1 + cards_left + 200 * len(scores.bits)))
    scores.milliseconds.append(1000 * (time.thread_time() - start))
    true_hand = np.stack([np.zeros_like(truth), truth])[None]
    scores.bits.append(float(np.log2(max(belief.weigh(known, true_hand)[0], 1e-9))))
    scores.rounds.append(round_number)
    scores.cards_left.append(cards_left)
    unseen = np.array(known.root.hidden, np.int64) - known.root.hand[0]
    uniform = uniform_chances(unseen, int(truth.sum()))
    for safety in range(DRIVING_ACE, NUM_CARD_TYPES):
        if unseen[safety] > 0:
            scores.said.append(float((hands[:, 1, safety] > 0).mean()))
            scores.uniform.append(float(uniform[safety]))
            scores.holds.append(bool(truth[safety] > 0))
            scores.cards_left_then.append(cards_left)


# Results ----------------------------------------------------------------------------------------------------


def clustered(values: Float64Array, groups: npt.NDArray[np.int64]) -> tuple[float, float]:
    """Return the mean and its standard error over rounds: decisions of one round are not independent."""
    mean = float(values.mean())
    sums = np.bincount(groups, values - mean)
    rounds = len(np.unique(groups))
    return mean, float(np.sqrt((sums**2).sum() * rounds / max(rounds - 1, 1)) / len(values))


def summary(scores: Scores) -> dict[str, Any]:
    """Summarize the scores against one opponent."""
    bits, rounds = np.array(scores.bits), np.array(scores.rounds)
    groups, groups_then = (
        np.searchsorted(CARDS_LEFT, np.array(cards), side="right") - 1
        for cards in (scores.cards_left, scores.cards_left_then)
    )
    said, uniform, holds = (np.array(one, np.float64) for one in (scores.said, scores.uniform, scores.holds))
    mean, error = clustered(bits, rounds)
    by_group = {}
    for group, name in enumerate(NAMES_OF_GROUPS):
        here = groups == group
        if here.any():
            of_group, error_of_group = clustered(bits[here], rounds[here])
            then = groups_then == group
            by_group[name] = {
                "bits": of_group,
                "standard_error": error_of_group,
                "decisions": int(here.sum()),
                "calibration_error": calibration_error(said[then], holds[then]),
                "calibration_error_uniform": calibration_error(uniform[then], holds[then]),
            }
    return {
        "bits": mean,
        "standard_error": error,
        "by_cards_left": by_group,
        "decisions": len(bits),
        "ms": float(np.mean(scores.milliseconds)),
        "reliability": reliability(said, holds),
        "calibration_error": calibration_error(said, holds),
        "calibration_error_uniform": calibration_error(uniform, holds),
        "brier": float(((said - holds) ** 2).mean()),
        "brier_uniform": float(((uniform - holds) ** 2).mean()),
    }


def reliability(said: Float64Array, holds: Float64Array) -> list[dict[str, float]]:
    """Return count, mean prediction and observed frequency of each bin of predictions."""
    indices = np.minimum((said * BINS).astype(np.int64), BINS - 1)
    bins = [indices == index for index in np.unique(indices)]
    return [
        {"times": int(rows.sum()), "said": float(said[rows].mean()), "was_so": float(holds[rows].mean())}
        for rows in bins
    ]


def calibration_error(said: Float64Array, holds: Float64Array) -> float:
    """Return the expected calibration error over the bins; 0 without predictions."""
    errors = [one["times"] * abs(one["said"] - one["was_so"]) for one in reliability(said, holds)]
    return float(sum(errors) / max(len(said), 1))


def plot(found: dict[str, dict[str, Any]]) -> Figure:
    """Plot bits by cards left, and reliability."""
    figure = new_figure(11, 4.5, layout="constrained")
    left, right = figure.subplots(1, 2)
    names = NAMES_OF_GROUPS[::-1]
    for opponent, one in found.items():
        groups = [name for name in names if name in one["by_cards_left"]]
        values = [one["by_cards_left"][name] for name in groups]
        style = {"marker": "o", "markersize": 4, "linewidth": 1.2, "label": opponent}
        left.errorbar(
            [names.index(name) for name in groups],
            [value["bits"] for value in values],
            [1.96 * value["standard_error"] for value in values],
            capsize=2,
            **style,
        )
        bins = [one_bin for one_bin in one["reliability"] if one_bin["times"] >= BINS]
        right.plot([each["said"] for each in bins], [each["was_so"] for each in bins], **style)
    left.axhline(0, color="#555555", linewidth=0.8)
    left.set_xticks(range(len(names)), names)
    left.set(xlabel="cards left to draw", ylabel="bits over uniform redeals", title="What it knows of a hand")
    right.plot([0, 1], [0, 1], color="#555555", linewidth=0.8)
    right.set(xlabel="probability given", ylabel="share in which it was so", title="“It holds this safety”")
    right.legend(title="opponent", fontsize=8)
    return figure


def main(args: Args) -> None:
    """Measure, print, and write the docs on request.

    Raises:
        ValueError: `--docs` is given with a network that is not shipped.
    """
    if args.docs and args.belief != NETWORK:
        raise ValueError(f"--docs describes the shipped network, not {args.belief!r}: omit one of them")
    result = {opponent: summary(watched(args, opponent)) for opponent in args.opponents}
    rows = []
    for opponent, one in result.items():
        groups = [one["by_cards_left"].get(name, {"bits": float("nan")})["bits"] for name in NAMES_OF_GROUPS]
        bits = [f"{number:.2f}" for number in (one["bits"], one["standard_error"], *groups)]
        names = ("calibration_error", "calibration_error_uniform", "brier", "brier_uniform")
        rows.append((opponent, *bits, *(f"{one[name]:.3f}" for name in names), f"{one['ms']:.1f}"))
    headings = ("opponent", "bits", "± 1 SE", *NAMES_OF_GROUPS, "calibration error", "uniform")
    title = f"belief={args.belief} of {args.observer}"
    Table((*headings, "Brier", "uniform", "ms"), rows, title).print()
    if args.docs:
        report = {"arguments": asdict(args), "environment": environment_info(), "opponents": result}
        figures = Path("docs/benchmarks", f"{DOCS}.json")
        picture = Path("docs/images", f"{DOCS}.png")
        write_json_atomically(figures, report)
        print(f"wrote {figures} and {picture}")
        warn(save_picture(picture, lambda: plot(result)))


if __name__ == "__main__":
    prog = "python -m research.measurements.beliefs"
    sys.exit(run_command(lambda: main(tyro.cli(Args, prog=prog, description=__doc__))))
