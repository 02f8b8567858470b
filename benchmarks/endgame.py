"""What it gains to play the end of a round exactly, and what that costs.

    python -m benchmarks.endgame
    python -m benchmarks.endgame --agent strategist --rounds 5000

An agent plays rounds against itself. From each first position with an empty draw pile the round is played on
between `X+search` and X, both seats in turn, with and without `endgame=0`.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console
from rich.table import Table

from millebornes_env import agents, vector_env
from millebornes_env.agents.protocol import Observations, ask
from millebornes_env.agents.search.agent import SearchAgent
from millebornes_env.millebornes.state import PLAY, StateArray

GAMES = 500
"""Rounds that are played side by side."""

Float64Array = npt.NDArray[np.float64]


@dataclass
class Args:
    """Measure the end of a round."""

    agent: str = "champion"
    """Who plays, and whom search looks ahead with."""
    edition: str = "parker"
    """The rule sheet; two play."""
    rounds: int = 2_000
    """That the agent plays against itself."""
    seed: int = 10_000
    """Of the deals."""


def ends(args: Args) -> StateArray:
    """The first positions of rounds with an empty draw pile, STATE[N]."""
    env = vector_env(GAMES, args.edition, episode="round", autoreset_mode="disabled")
    player = agents.load(args.agent, env)
    found = []
    for first in range(0, args.rounds, GAMES):
        observations, _ = env.reset(seed=args.seed + first)
        is_found = np.arange(GAMES) >= args.rounds - first
        while observations["action_mask"].any():
            states = env.get_states()
            is_end = (states["draw_pile"] == 0) & (states["phase"] == PLAY) & ~is_found
            found.append(states[is_end])
            is_found |= is_end
            slots = 2 * np.arange(GAMES) + env.agent_selection
            actions = ask(player, observations["observation"], observations["action_mask"], slots)
            observations = env.step(actions).observations
    return np.concatenate(found)


def played_on(args: Args, spec: str, states: StateArray, seat: int) -> tuple[Float64Array, float, int]:
    """The lead of a searcher in a seat, in points of each round; the processor time, and its decisions."""
    env = vector_env(len(states), args.edition, autoreset_mode="disabled")
    env.reset(seed=args.seed)
    observations: dict[str, Observations] = env.set_states(states)
    searcher, other = agents.load(spec, env), agents.load(args.agent, env)
    assert isinstance(searcher, SearchAgent)
    searcher.act_on(states[:1], states["seat"][:1].astype(np.int32), np.zeros(1, np.int64))  # may compile
    spent, decisions = 0.0, 0
    while observations["action_mask"].any():
        seats = env.agent_selection.astype(np.int32)
        goes_on = observations["action_mask"].any(axis=1)
        actions = np.full(len(states), -1, np.int64)
        own, others = np.flatnonzero(goes_on & (seats == seat)), np.flatnonzero(goes_on & (seats != seat))
        if len(own):
            start = time.process_time()
            actions[own] = searcher.act_on(env.get_states()[own], seats[own], own)
            spent, decisions = spent + time.process_time() - start, decisions + len(own)
        if len(others):
            shown = observations["observation"][others], observations["action_mask"][others]
            actions[others] = ask(other, *shown, others)
        observations = env.step(actions).observations
    points = env.get_states()["score_sheet"][:, :2].sum(axis=2).astype(np.float64)
    return points[:, seat] - points[:, 1 - seat], spent, decisions


def main(args: Args) -> None:
    """Measure and print."""
    if not vector_env(1, args.edition).rules.count_points:
        sys.exit(f"--edition {args.edition} counts no points, which this compares: choose another one")
    states = ends(args)
    if not len(states):
        sys.exit(f"none of {args.rounds} rounds came to an empty draw pile: play more, --rounds")
    table = Table(title=f"{len(states)} of {args.rounds} rounds of {args.agent}", title_justify="left")
    for heading in ("", "points", "± 1 SE", "less by redeals", "± 1 SE", "ms a decision"):
        table.add_column(heading, justify="right" if heading else "left")
    first: Float64Array | None = None
    told = ":threads=1,belief=uniform"  # the plays before the position are not known
    for name, options in (("redeals", f"{told},endgame=0"), ("exact", told)):
        both = [played_on(args, f"{args.agent}+search{options}", states, seat) for seat in range(2)]
        leads = (both[0][0] + both[1][0]) / 2
        first = leads if first is None else first
        cells = [
            f"{number:.2f}"
            for values in (leads, leads - first)
            for number in (values.mean(), values.std(ddof=1) / np.sqrt(len(values)))
        ]
        milliseconds = 1000 * sum(one[1] for one in both) / sum(one[2] for one in both)
        table.add_row(name, *cells, f"{milliseconds:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main(tyro.cli(Args, prog="python -m benchmarks.endgame", description=__doc__))
