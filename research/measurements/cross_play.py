"""Measure cross-play: the loss of a team whose seats are played by policies of different seeds.

    python -m research.measurements.cross_play runs/one runs/two runs/three
    python -m research.measurements.cross_play runs/one runs/two --edition parker --rounds 20000

Two teams of two. For every ordered pair of policies A, B the team of A and B plays against a team of two A,
in single rounds; each deal is played four times, with A in every seat once and the same cards. The mean over
all pairs is the loss of cross-play against self-play (Hu et al. 2020); the strengths of A and B cancel, since
B and A also play against two B.
"""

from __future__ import annotations

import itertools
import sys
from dataclasses import dataclass
from typing import Annotated, Any, Final

import numpy as np
import tyro

from millebornes_env._util.command_line import run_command
from millebornes_env.agents import Spec, make
from millebornes_env.agents.protocol import (
    Actions,
    Agent,
    BaseAgent,
    Masks,
    Observations,
    SlotIds,
    Table,
    ask,
)
from millebornes_env.agents.protocol import forget as forget_of
from millebornes_env.arena.intervals import Float64Array
from millebornes_env.arena.match import MatchConfig, agent_seed, play
from millebornes_env.errors import MilleBornesError
from research.intervals import mean_and_error

PLAYERS: Final = 4
TEAMS: Final = 2
AT_ONCE: Final = 2000
"""Deals of a batch."""


@dataclass(frozen=True)
class Args:
    """Measure cross-play."""

    policies: Annotated[tuple[str, ...], tyro.conf.Positional]
    """independently trained policies of the same kind: run folders, or names of agents"""
    edition: str = "parker"
    """rule sheet that is played"""
    rounds: int = 10_000
    """deals for each ordered pair, each played four times"""
    seed: int = 1
    """seed of the deals"""


class Team(BaseAgent):
    """Two agents as a team of two: one in its first seat, another in its second.

    It plays in the arena, where a slot is game * players + seat.

    Attributes:
        name: names of both agents.
        table: the table.
    """

    has_memory = True

    def __init__(self, table: Table, agents: tuple[Agent, Agent]) -> None:
        """Create a team.

        Raises:
            MilleBornesError: the table has other teams than two of two.
        """
        if (table.rules.players, table.rules.teams) != (PLAYERS, TEAMS):
            raise MilleBornesError(
                f"partners are two teams of two; this table has {table.rules.players} players in "
                f"{table.rules.teams} teams: give an edition that is played so"
            )
        self.name = "/".join(agent.name for agent in agents)
        self.table = table
        self._agents = agents

    def forget(self) -> None:
        """Reset the memories for other matches."""
        for agent in self._agents:
            forget_of(agent)

    def act(self, observations: Observations, action_masks: Masks, slot_ids: Any = None) -> Actions:
        """Let each partner choose in its seat; see `Agent.act`.

        Args:
            observations: int8[N, D].
            action_masks: int8[N, A].
            slot_ids: int64[N].
        """
        slots: SlotIds = np.asarray(slot_ids, np.int64)
        second = slots % PLAYERS >= TEAMS
        actions: Actions = np.empty(len(slots), np.int64)
        for agent, rows in zip(self._agents, (~second, second), strict=True):
            if rows.any():
                actions[rows] = ask(agent, observations[rows], action_masks[rows], slots[rows])
        return actions


def lead_of_team(
    team: Team, opponents: Spec, config: MatchConfig, deals: int, first_deal: int = 0
) -> Float64Array:
    """Return the lead of a team over two equal opponents, in points, or in per cent of wins without points.

    Args:
        team: two partners.
        opponents: the agent in both seats of the other team.
        config: the table.
        deals: number of deals, B; each is played in both rotations with the same cards.
        first_deal: index of the first deal.

    Returns:
        float64[B], the mean over both rounds of a deal.
    """
    outcome = play([team, opponents], config, deals, first_deal=first_deal)
    leads = outcome.lead if config.has_points else 100.0 * (2.0 * outcome.wins[..., 0] - 1.0)
    mean: Float64Array = leads.mean(axis=1)
    return mean


def cross_play(
    first: Agent, second: Agent, config: MatchConfig, deals: int, first_deal: int = 0
) -> Float64Array:
    """Return the mean lead in each deal of a team of two agents over two of the first, float64[deals].

    The first agent sits in every seat of the table once, its partner opposite, the other team between.
    """
    table = config.table()
    one, other = (
        lead_of_team(Team(table, pair), first, config, deals, first_deal)
        for pair in ((first, second), (second, first))
    )
    return (one + other) / 2


def all_pairs(args: Args) -> dict[tuple[int, int], Float64Array]:
    """Return the leads of every ordered pair, by the indices of the policies, on the same deals.

    Raises:
        ValueError: there is no such edition or agent, or the agent does not play at the table.
    """
    result: dict[tuple[int, int], list[Float64Array]] = {}
    config = MatchConfig(args.edition, PLAYERS, TEAMS, episode="round", seed=args.seed)
    who = [
        make(name, config.table(), agent_seed(args.seed, number)) for number, name in enumerate(args.policies)
    ]
    for first in range(0, args.rounds, AT_ONCE):
        count = min(AT_ONCE, args.rounds - first)
        for pair in itertools.permutations(range(len(who)), 2):
            leads = cross_play(who[pair[0]], who[pair[1]], config, count, first)
            result.setdefault(pair, []).append(leads)
        print(f"{first + count:,} of {args.rounds:,} deals", file=sys.stderr, flush=True)
    return {pair: np.concatenate(leads) for pair, leads in result.items()}


def main() -> None:
    """Run the command line."""
    args = tyro.cli(Args, prog="python -m research.measurements.cross_play", description=__doc__)
    if len(args.policies) < 2 or args.rounds < 2:
        raise ValueError("cross-play needs two policies or more, and two --rounds or more")
    result = all_pairs(args)
    for (one, other), leads in result.items():
        names = args.policies[one], args.policies[other]
        print(f"{names[0]} with {names[1]} against two {names[0]}: {_shown(leads)}")
    print(f"cross-play less self-play, all pairs: {_shown(np.mean(list(result.values()), axis=0))} a round")


def _shown(leads: Float64Array) -> str:
    return "{:+.1f} (standard error {:.1f})".format(*mean_and_error(leads))


if __name__ == "__main__":
    sys.exit(run_command(main))
