"""Partners who learned apart: what a team loses if its seats are played by policies of different seeds.

    python -m benchmarks.cross_play runs/one runs/two runs/three
    python -m benchmarks.cross_play runs/one runs/two --edition parker --rounds 20000

Two teams of two. For every ordered pair of policies A, B the team of A and B plays against a team of two A,
in single rounds; each deal is played four times, with A in every seat once and the same cards. The mean over
all pairs is what cross-play loses against self-play (Hu et al. 2020): how strong A and B are cancels, since
B and A play against two B as well.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
import numpy.typing as npt
import tyro

from millebornes_env import VectorEnv, agents, vector_env
from millebornes_env.agents.protocol import Agent, ask
from millebornes_env.command_line import carry_out

PLAYERS: Final = 4
TEAMS: Final = 2
AT_ONCE: Final = 2000
"""Rounds that are played at the same time."""

Float64Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Args:
    """Measure cross-play."""

    policies: Annotated[tuple[str, ...], tyro.conf.Positional]
    """agents of the same kind that learned apart: run folders, or names of agents"""
    edition: str = "parker"
    """rule sheet that is played"""
    rounds: int = 10_000
    """deals for each ordered pair, each played four times"""
    seed: int = 1
    """of the deals"""


def played(env: VectorEnv, seats: Sequence[Agent], seed: int) -> Float64Array:
    """The lead of the first team in a round of each game, float64[N]: in points, or in percent of the win.

    Args:
        env: at a table of two teams, with games of one round.
        seats: who plays each seat.
        seed: of the deals.
    """
    shown, _ = env.reset(seed=seed)
    is_by_points = bool(env.rules.count_points)
    leads, live = np.zeros(env.num_envs), np.ones(env.num_envs, np.bool_)
    actions = np.full(env.num_envs, -1, np.int64)
    while live.any():
        actions[:] = -1
        for seat, agent in enumerate(seats):
            turns = np.flatnonzero(live & (shown["agent_selection"] == seat))
            if len(turns):
                rows, masks = shown["observation"][turns], shown["action_mask"][turns]
                actions[turns] = ask(agent, rows, masks, turns)
        shown, _, ended, _, infos = env.step(actions)
        over = live & ended
        results = infos["final_score"].astype(np.float64) if is_by_points else 100.0 * env.games.win_shares()
        leads[over] = (results[:, 0] - results[:, 1])[over]
        live &= ~over
    return leads


def cross_play(first: Agent, second: Agent, env: VectorEnv, seed: int) -> Float64Array:
    """The lead of a team of two agents over a team of two of the first; the mean of each deal, float64[N].

    The first agent sits in every seat of the table once, its partner opposite, the other team between.
    """
    total = np.zeros(env.num_envs)
    for seat in range(PLAYERS):
        seats = [first] * PLAYERS
        seats[(seat + TEAMS) % PLAYERS] = second
        total += played(env, seats, seed) * (1 if seat % TEAMS == 0 else -1)
    mean: Float64Array = total / PLAYERS
    return mean


def all_pairs(args: Args) -> dict[tuple[int, int], Float64Array]:
    """The leads of every ordered pair, by the numbers of their policies; deals are the same for all pairs.

    Raises:
        ValueError: there is no such edition or agent, or none for its table.
    """
    found: dict[tuple[int, int], list[Float64Array]] = {}
    for begun in range(0, args.rounds, AT_ONCE):
        count = min(AT_ONCE, args.rounds - begun)
        env = vector_env(count, args.edition, players=PLAYERS, teams=TEAMS, episode="round")
        who = [agents.load(name, env) for name in args.policies]
        for pair in itertools.permutations(range(len(who)), 2):
            leads = cross_play(who[pair[0]], who[pair[1]], env, args.seed + begun)
            found.setdefault(pair, []).append(leads)
        print(f"{begun + count:,} of {args.rounds:,} deals", file=sys.stderr, flush=True)
    return {pair: np.concatenate(leads) for pair, leads in found.items()}


def main() -> int:
    """The command line; returns the exit status."""
    return carry_out(_command)


def _command() -> None:
    args = tyro.cli(Args, prog="python -m benchmarks.cross_play", description=__doc__)
    if len(args.policies) < 2 or args.rounds < 2:
        raise ValueError("cross-play needs two policies or more, and two --rounds or more")
    found = all_pairs(args)
    for (one, other), leads in found.items():
        names = args.policies[one], args.policies[other]
        print(f"{names[0]} with {names[1]} against two {names[0]}: {_shown(leads)}")
    print(f"cross-play less self-play, all pairs: {_shown(np.mean(list(found.values()), axis=0))} a round")


def _shown(leads: Float64Array) -> str:
    return f"{leads.mean():+.1f} (standard error {leads.std(ddof=1) / np.sqrt(len(leads)):.1f})"


if __name__ == "__main__":
    sys.exit(main())
